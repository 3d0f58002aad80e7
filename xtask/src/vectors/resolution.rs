//! Resolution vectors: lookups in catalogs, by canonical and by short name.
//!
//! Cases of `kind: behavior` look up agents by the same rule; they are entered as agents.

use std::path::Path;

use serde_json::{Value, json};
use toolmark_core::catalog::{Catalog, Resolution};
use toolmark_core::definition::Definition;
use toolmark_core::explain::Explain as _;
use toolmark_core::json::Json;
use toolmark_core::names::PackName;
use toolmark_core::pack::{Pack, PackBuilder};
use toolmark_core::tool::{Source, Tool, ToolKind};

use super::document::ReadVectorsError;
use super::{Outcome, Verdict};

/// Runs every case of a document.
pub(crate) fn run(path: &Path, document: &Json<'_>) -> Result<Vec<Outcome>, ReadVectorsError> {
    let fail = |problem: String| ReadVectorsError::new(path, problem);
    let list = |key: &str| document.get(key).and_then(Json::items).ok_or_else(|| fail(format!("has no list `{key}`")));
    let catalogs = list("catalogs")?.iter().map(catalog).collect::<Result<Vec<_>, _>>().map_err(fail)?;
    list("cases")?
        .iter()
        .map(|case| outcome(case, &catalogs).ok_or_else(|| fail(format!("cannot run {}", case.to_value()))))
        .collect()
}

fn outcome(case: &Json<'_>, catalogs: &[Catalog]) -> Option<Outcome> {
    let Json::Number(index) = case.get("catalog")? else { return None };
    let catalog = catalogs.get(index.parse::<usize>().ok()?)?;
    let expected = case.get("expect")?.to_value();
    let got = answer(catalog, case.get("lookup")?.as_str()?);
    let verdict = if got == expected { Verdict::Passed } else { Verdict::Missed { expected, got } };
    Some(Outcome { id: case.get("id")?.as_str()?.to_owned(), function: "resolution".into(), verdict })
}

/// What the catalog says, in the words of the vectors.
fn answer(catalog: &Catalog, lookup: &str) -> Value {
    match catalog.resolve(lookup) {
        Resolution::Found(tool) => json!({"kind": "ok", "canonical": tool.canonical()}),
        Resolution::NotFound => json!({"kind": "not_found"}),
        Resolution::Ambiguous(owners) => {
            let packs: Vec<&str> = owners.iter().filter_map(Tool::pack).collect();
            let mut answer = json!({"kind": "ambiguous", "packs": packs});
            if let (true, Some(object)) = (owners.iter().any(|tool| tool.pack().is_none()), answer.as_object_mut()) {
                object.insert("global".into(), true.into());
            }
            answer
        }
    }
}

fn catalog(entry: &Json<'_>) -> Result<Catalog, String> {
    let kind =
        if entry.get("kind").and_then(Json::as_str) == Some("behavior") { ToolKind::Agent } else { ToolKind::Function };
    let mut builder = Catalog::builder();
    for pack in entry.get("packs").and_then(Json::items).ok_or("a catalog has no `packs`")? {
        let name = pack_name(pack.get("name"))?;
        let source = Source::new(&format!("vector:{name}"));
        builder = builder.pack(with_tools(Pack::builder(name, source), kind, pack.get("tools"))?);
    }
    builder = builder.pack(with_tools(Pack::without_name(Source::new("vector")), kind, entry.get("globals"))?);
    for name in entry.get("disabled").and_then(Json::items).unwrap_or_default() {
        builder = builder.disable(&pack_name(Some(name))?);
    }
    Ok(builder.build_partly())
}

fn with_tools(mut builder: PackBuilder, kind: ToolKind, tools: Option<&Json<'_>>) -> Result<Pack, String> {
    for name in tools.and_then(Json::items).unwrap_or_default() {
        let definition = Definition::of_value("vector", &json!({"name": name.as_str()}));
        builder.push(kind, definition.map_err(|error| error.report().to_string())?);
    }
    Ok(builder.build())
}

fn pack_name(name: Option<&Json<'_>>) -> Result<PackName, String> {
    let name = name.and_then(Json::as_str).ok_or("a pack has no name")?;
    name.parse().map_err(|error: toolmark_core::names::ParsePackNameError| error.report().to_string())
}
