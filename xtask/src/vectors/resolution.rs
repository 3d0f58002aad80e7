//! Resolution vectors: lookups in catalogs, by canonical and by short name.
//!
//! TO BE FILLED IN with the catalog: build one for each entry of `catalogs`, look up each of `cases`, and compare with `expect`.

use toolmark_core::json::Json;

use super::{Outcome, Verdict};

/// Runs every case of a document. For now each of them waits.
pub(crate) fn run(document: &Json<'_>) -> Vec<Outcome> {
    let cases = document.get("cases").and_then(Json::items).unwrap_or_default();
    let id = |case: &Json<'_>| case.get("id").and_then(Json::as_str).unwrap_or("(no id)").to_owned();
    cases
        .iter()
        .map(|case| Outcome {
            id: id(case),
            function: "resolution".to_owned(),
            verdict: Verdict::Pending { waits_for: "resolution vectors need the catalog" },
        })
        .collect()
}
