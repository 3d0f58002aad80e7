//! The JSON document. Keys are stable; `version` changes when one of them changes its meaning.

use serde_json::{Map, Value, json};
use toolmark_core::severity::Severity;

use crate::{Finding, Lint};

pub(crate) fn document(lint: &Lint) -> Value {
    let counts: Map<String, Value> =
        Severity::ALL.iter().rev().map(|severity| (severity.to_string(), lint.count(*severity).into())).collect();
    json!({
        "version": 1,
        "tools": lint.tools(),
        "packs": lint.packs(),
        "counts": counts,
        "findings": lint.findings().iter().map(Finding::to_json).collect::<Vec<_>>(),
    })
}
