//! `GET /api/catalog/NAME`: everything that is known of one tool. What its publisher says is passed on as it is said.

use serde_json::{Map, Value, json};
use toolmark_core::behavior::Behavior;
use toolmark_core::drift::{Drift, PartChange, PartTexts, exactly};
use toolmark_core::explain::Explain as _;
use toolmark_core::exposure::{ExposedTable, Profile, ProfileName, Published};
use toolmark_core::json::Json;
use toolmark_core::lock::Pinned;
use toolmark_core::names::LookupKey;
use toolmark_core::pins::Standing;
use toolmark_core::tool::Tool;
use toolmark_policy::{Author, Rule};
use toolmark_store::DefinitionKind;

use super::calls::hex;
use super::catalog::standing;
use super::error::ConsoleError;
use super::look::Look;
use super::{Asked, Console};
use crate::approvals::extras;
use crate::card::Known;
use crate::snapshot::Snapshot;

/// How many earlier digests are shown.
const HISTORY: usize = 32;
/// How many tools with the same name or arguments are shown.
const OTHERS: usize = 200;

impl Console {
    pub(super) async fn card(&self, name: &str, asked: &Asked) -> Result<Value, ConsoleError> {
        let look = &asked.look;
        let snapshot = &look.snapshot;
        let tool = snapshot.workspace().catalog().find(name, |_| true)?;
        let mut card = known(tool, look);
        let mut put = |key: &str, value: Value| card.insert(key.to_owned(), value);
        put("rules", rules(snapshot, tool));
        put("expected_by", expected_by(snapshot, tool));
        let own_task = snapshot.workspace().prepared(tool).and_then(toolmark_runtime::Prepared::task);
        put("task", own_task.map(|task| task.name().as_str()).into());
        put("calls", self.gateway.metrics().of_tool(tool.canonical().as_str()));
        let canonical = tool.canonical().as_str();
        if let Some(store) = self.gateway.store() {
            let pins = store.pins().await?;
            let pin = pins.iter().find(|pin| pin.tool == canonical).map(|pin| {
                json!({"how": pin.how.as_str(), "by": pin.by, "at": pin.at.to_string(), "mark": pin.pinned.mark()})
            });
            put("pin", pin.into());
            let history = match tool.pack() {
                Some(pack) => store.history(pack).await?,
                None => Vec::new(),
            };
            let own = history.iter().filter(|one| one.kind == DefinitionKind::Tool && one.name == tool.raw().as_str());
            let own = own.take(HISTORY).map(|one| {
                json!({
                    "digest": hex(&one.digest),
                    "first_seen": one.first_seen.to_string(),
                    "replaced": one.replaced.map(|at| at.to_string()),
                })
            });
            put("history", own.collect());
            let grants = store.grants(false).await?;
            let grants = grants.iter().filter(|grant| grant.canonical == canonical);
            put("grants", grants.map(|grant| extras::grant(grant, look)).collect());
        } else {
            for key in ["history", "grants"] {
                put(key, json!([]));
            }
            put("pin", Value::Null);
        }
        Ok(Value::Object(card))
    }
}

/// What the definition and the snapshot say.
fn known(tool: &Tool, look: &Look) -> Map<String, Value> {
    let workspace = look.snapshot.workspace();
    let catalog = workspace.catalog();
    let reading = tool.definition().reading();
    let known = Known::of(tool, &reading, said(&look.snapshot, tool));
    let exposed: Map<String, Value> = ProfileName::ALL
        .iter()
        .filter_map(|&name| {
            let profile = Profile::new(name);
            let mode = look.snapshot.config().names.exposure;
            let (table, _) = ExposedTable::build_partly(catalog, &profile, mode, &Published::default());
            let row = table.listed().find(|row| std::ptr::eq(row.tool, tool))?;
            Some((name.to_string(), profile.as_seen(row.name.as_str()).into()))
        })
        .collect();
    let lookup = match tool.lookup_key() {
        LookupKey::Bare(name) => json!(["bare", name]),
        LookupKey::Namespaced(namespace, name) => json!(["namespaced", namespace, name]),
        LookupKey::DeferredTopLevel(name) => json!(["deferred_top_level", name]),
    };
    let same_name = catalog.tools().filter(|other| other.raw() == tool.raw() && !std::ptr::eq(*other, tool));
    let stands = workspace.standing(tool);
    let pinned = workspace.pins().get(tool.canonical().as_str()).filter(|_| stands == Standing::Changed);
    let value = json!({
        "canonical": tool.canonical(),
        "raw": tool.raw(),
        "pack": tool.pack(),
        "kind": tool.kind(),
        "source": tool.source(),
        "lookup_key": lookup,
        "exposed": exposed,
        "approval_key": tool.approval_key(),
        "trace_name": tool.trace_name(),
        "digest": tool.digest(),
        "mark": tool.mark(),
        "title": reading.title(),
        "description": reading.description(),
        "annotations": reading.get("annotations").map(Json::to_value),
        "icons": reading.get("icons").map(Json::to_value),
        "input_schema": reading.input_schema().to_value(),
        "output_schema": reading.get("outputSchema").map(Json::to_value),
        "schema_problem": tool.input_schema().err().map(|error| error.report().what().to_owned()),
        "shown": look.tool(tool),
        "names": look.names(tool),
        "display": look.layers(tool),
        "same_name": same_name.take(OTHERS).map(|other| other.canonical().as_str()).collect::<Vec<_>>(),
        "standing": standing(stands),
        "diff": pinned.map_or_else(Vec::new, |pinned| diff(pinned, tool)),
    });
    let mut card = match value {
        Value::Object(card) => card,
        _ => Map::new(),
    };
    let mut behavior = known.to_json(catalog, tool, |other| workspace.known(other));
    if let Some(Value::Array(siblings)) = behavior.get_mut("siblings") {
        siblings.truncate(OTHERS);
        for sibling in siblings.iter_mut().filter_map(Value::as_object_mut) {
            let name = sibling.get("tool").and_then(Value::as_str).map(|name| look.canonical(name));
            sibling.insert("shown".into(), name.into());
        }
    }
    card.extend(behavior);
    card
}

/// What the operator says that a tool does.
pub(super) fn said(snapshot: &Snapshot, tool: &Tool) -> Option<Behavior> {
    let (_, pack) = snapshot.config().packs.iter().find(|(name, _)| Some(name.as_str()) == tool.pack())?;
    pack.tools.get(tool.raw())?.behavior
}

/// The parts in which a tool is not the one that was pinned, as they were and as they are.
pub(crate) fn diff(pinned: &Pinned, tool: &Tool) -> Vec<Value> {
    let parts = Drift::since(pinned, tool);
    let graded = |name: &str| parts.iter().find(|part| part.part() == name);
    let texts = exactly(Some(pinned), tool);
    let part = |text: &PartTexts| {
        let graded = graded(text.part());
        json!({
            "part": text.part(),
            "severity": graded.map(|part| part.severity().as_str()),
            "summary": graded.map(PartChange::summary),
            "details": graded.map(PartChange::details),
            "was": text.was().to_string(),
            "is": text.is().to_string(),
        })
    };
    texts.iter().take(100).map(part).collect()
}

/// The rules and policies that can apply to a tool.
fn rules(snapshot: &Snapshot, tool: &Tool) -> Value {
    let policy = snapshot.workspace().policy();
    let applying = policy.applying_to(tool);
    let rule = |author: &Author| match author {
        Author::Rule(id) => {
            let written = policy.rules().find(|(own, _)| *own == &**id).map(|(_, rule)| rule);
            json!({
                "id": &**id, "kind": "rule", "verdict": written.map(|rule| rule.verdict().as_str()),
                "reason": written.and_then(Rule::reason), "written": written.map(Rule::to_json),
            })
        }
        Author::Cedar(id) => json!({"id": &**id, "kind": "cedar", "verdict": null}),
    };
    applying.iter().map(rule).collect()
}

/// The tasks that a tool fits by what it is known to do.
fn expected_by(snapshot: &Snapshot, tool: &Tool) -> Value {
    let workspace = snapshot.workspace();
    let Some(behavior) = workspace.known(tool).behavior() else { return json!([]) };
    let fits = workspace.tasks().iter().filter(|task| {
        let patterns = task.expectation().patterns();
        !patterns.is_empty() && patterns.iter().any(|pattern| pattern.matches(&behavior))
    });
    fits.map(|task| Value::from(task.name().as_str())).collect()
}
