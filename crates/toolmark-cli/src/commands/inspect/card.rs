//! The identity card: every layer of one tool, and the tools it can be confused with.

use super::Inspect;
use serde_json::{Value, json};
use toolmark_core::catalog::{Catalog, ResolveError};
use toolmark_core::display::NameTable;
use toolmark_core::exposure::{ExposedTable, Profile, ProfileName, Published};
use toolmark_core::lock::Lock;
use toolmark_core::names::LookupKey;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_gateway::card::Known;

use super::behavior;
use crate::commands::resolve;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{input, output};

/// The longest description that is shown whole.
const DESCRIPTION: usize = 2000;

pub(super) fn show(
    arguments: &Inspect,
    written: &Written,
    names: &NameTable,
    catalog: &Catalog,
    table: &ExposedTable,
    lock: Option<&Lock>,
    name: &str,
) -> Result<Exit, Failure> {
    // People paste what they see; an exposed name is looked up in the table, never taken apart.
    let tool = match catalog.find(name, |_| true) {
        Ok(tool) => tool,
        Err(error @ ResolveError::Ambiguous { .. }) => return Err(resolve::failure(&error)),
        Err(error @ ResolveError::NotFound { .. }) => match table.resolve(name) {
            Some(exposed) => exposed.tool,
            None => return Err(resolve::failure(&error)),
        },
    };
    let card = card(arguments, written, names, catalog, lock, tool);
    if arguments.json {
        output::json(&card)?;
        Ok(input::exit_of(catalog))
    } else {
        print(&card)?;
        Ok(input::show_problems(catalog))
    }
}

fn card(
    arguments: &Inspect,
    written: &Written,
    names: &NameTable,
    catalog: &Catalog,
    lock: Option<&Lock>,
    tool: &Tool,
) -> Value {
    let shown = names.shown(tool, &arguments.languages());
    let reading = tool.definition().reading();
    let exposed: Vec<(String, Value)> = ProfileName::ALL
        .iter()
        .filter_map(|&name| {
            let profile = Profile::with_server(name, &arguments.server).ok()?;
            let table = ExposedTable::build(catalog, &profile, arguments.exposure, &Published::default()).ok()?;
            let row = table.listed().find(|row| std::ptr::eq(row.tool, tool))?;
            Some((name.to_string(), profile.as_seen(row.name.as_str()).into()))
        })
        .collect();
    let known = Known::of(tool, &reading, written.said(tool));
    let behavior = known.known().behavior();
    let mut card = json!({
        "raw": tool.raw(),
        "pack": tool.pack(),
        "canonical": tool.canonical(),
        "kind": tool.kind(),
        "source": tool.source(),
        "lookup_key": lookup_key(&tool.lookup_key()),
        "exposed": Value::Object(exposed.into_iter().collect()),
        "approval_key": tool.approval_key(),
        "trace_name": tool.trace_name(),
        "display_name": shown.name,
        "display": shown.to_json(),
        "names": names.by_language(tool),
        "digest": tool.digest(),
        "behavior": behavior,
        "behavior_identity": behavior.map(|behavior| behavior.identity().to_string()),
        "behavior_identity_v2": behavior.and_then(|behavior| behavior.identity_v2()).map(|identity| identity.to_string()),
        "behavior_identity_v3": behavior.and_then(|behavior| behavior.identity_v3()).map(|identity| identity.to_string()),
        "mark": tool.mark(),
        "state": lock.map_or("unpinned", |lock| lock.state(tool).as_str()),
        "title": reading.title(),
        "description": reading.description(),
        "annotations": reading.get("annotations").map(toolmark_core::json::Json::to_value),
        "input_schema": reading.input_schema().to_value(),
        "same_name": same_name(catalog, tool),
        "place": tool.place(),
        "problems": input::problems_json(catalog),
    });
    if let Some(keys) = card.as_object_mut() {
        let behavior = known.to_json(catalog, tool, |other| written.known(other));
        let names = behavior.get("siblings").and_then(Value::as_array).into_iter().flatten();
        let names = names.filter_map(|sibling| sibling.get("tool")).cloned().collect::<Value>();
        keys.insert("same_schema".into(), names);
        keys.extend(behavior);
    }
    card
}

fn lookup_key(key: &LookupKey) -> Value {
    match key {
        LookupKey::Bare(name) => json!(["bare", name]),
        LookupKey::Namespaced(namespace, name) => json!(["namespaced", namespace, name]),
        LookupKey::DeferredTopLevel(name) => json!(["deferred_top_level", name]),
    }
}

fn same_name(catalog: &Catalog, tool: &Tool) -> Vec<String> {
    let others = catalog.tools().filter(|other| other.raw() == tool.raw() && !std::ptr::eq(*other, tool));
    others.map(|other| other.canonical().to_string()).collect()
}

/// Who gave the display name, and in which language it is.
fn told_by(card: &Value) -> String {
    let part = |key: &str| card.pointer(key).and_then(Value::as_str);
    match (part("/display/layer"), part("/display/lang")) {
        (Some("humanized") | None, _) => String::new(),
        (Some(layer), None) => format!(" ({layer})"),
        (Some(layer), Some(lang)) => format!(" ({layer}, {lang})"),
    }
}

fn print(card: &Value) -> Result<(), Failure> {
    let text = |key: &str| match card.get(key) {
        Some(Value::String(text)) => visible(text, 400),
        Some(Value::Null) | None => "–".into(),
        Some(Value::Array(items)) if items.is_empty() => "–".into(),
        Some(Value::Array(items)) => {
            items.iter().map(|item| visible(item.as_str().unwrap_or_default(), 300)).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    };
    output::line(output::painted(output::BOLD, text("canonical")))?;
    let rows: [(&str, &str); 12] = [
        ("raw name", "raw"),
        ("pack", "pack"),
        ("kind", "kind"),
        ("source", "source"),
        ("lookup key", "lookup_key"),
        ("approval key", "approval_key"),
        ("trace name", "trace_name"),
        ("display name", "display_name"),
        ("definition", "digest"),
        ("behavior", "behavior"),
        ("mark", "mark"),
        ("state", "state"),
    ];
    for (label, key) in rows {
        match key {
            "display_name" => output::line(format_args!("  {label:<18} {}{}", text(key), told_by(card)))?,
            _ => output::line(format_args!("  {label:<18} {}", text(key)))?,
        }
    }
    for (label, key) in [("spoken", "/display/spoken"), ("category", "/display/category"), ("icon", "/display/icon")] {
        if let Some(text) = card.pointer(key).and_then(Value::as_str) {
            // An emoji is joined by characters that are written out elsewhere; it was checked to be one.
            let shown = if key.ends_with("icon") { text.chars().take(64).collect() } else { visible(text, 300) };
            output::line(format_args!("  {label:<18} {shown}"))?;
        }
    }
    for (language, name) in card.get("names").and_then(Value::as_object).into_iter().flatten() {
        output::line(format_args!(
            "  {:<18} {}",
            format!("  in {language}"),
            visible(name.as_str().unwrap_or_default(), 300)
        ))?;
    }
    output::line(format_args!("  {:<18} {}", "same name", text("same_name")))?;
    output::line(format_args!("  {:<18} {}", "same schema", text("same_schema")))?;
    behavior::print(card)?;
    if let Some(exposed) = card.get("exposed").and_then(Value::as_object) {
        output::line(output::painted(output::DIM, "\n  what each client sees"))?;
        for (profile, name) in exposed {
            output::line(format_args!("  {profile:<18} {}", name.as_str().unwrap_or_default()))?;
        }
    }
    output::line(output::painted(output::DIM, "\n  what its publisher says"))?;
    let description = card.get("description").and_then(Value::as_str).unwrap_or_default();
    for line in description.lines() {
        output::line(format_args!("  {}", visible(line, DESCRIPTION)))?;
    }
    if let Some(schema) = card.get("input_schema") {
        output::line(output::painted(output::DIM, "\n  arguments"))?;
        for line in format!("{schema:#}").lines() {
            output::line(format_args!("  {}", visible(line, DESCRIPTION)))?;
        }
    }
    Ok(())
}
