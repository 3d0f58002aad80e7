//! `toolmark tools`: what a running gateway shows to its clients.

use clap::Args;
use serde_json::{Value, json};
use toolmark_core::definition::Definition;
use toolmark_core::display::{LanguageTag, Languages, Names, declare};
use toolmark_core::explain::{Code, Explain};
use toolmark_mcp::upstream::ListKind;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::remote::Remote;

#[derive(Debug, Args)]
pub(crate) struct ListTools {
    #[command(flatten)]
    gateway: Remote,

    /// Show display names in these languages, the best first, such as `nl` or `nl-BE, en;q=0.5`
    #[arg(long, value_name = "LANGUAGES", value_parser = Languages::accept)]
    lang: Option<Languages>,

    /// Print JSON: the definitions as clients get them
    #[arg(long)]
    pub(crate) json: bool,
}

/// A gateway that lists something that is no tool.
#[derive(Debug, thiserror::Error)]
#[error("the gateway lists something that is no tool: {0}")]
struct NotATool(String);

pub(crate) fn run(arguments: &ListTools) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tools = runtime.block_on(list(arguments))?;
    if arguments.json {
        output::json(&json!({ "tools": tools }))?;
        return Ok(Exit::Success);
    }
    // Most lists have nothing to say there.
    let stated = tools.iter().any(|tool| state(tool).is_some());
    let mut columns = vec!["name", "pack", "behavior", "known by"];
    columns.extend(stated.then_some("state"));
    if arguments.lang.is_some() {
        columns.splice(1..1, ["display name", "language"]);
    }
    let mut table = output::table(&columns);
    for tool in &tools {
        let text = |pointer: &str| tool.pointer(pointer).and_then(Value::as_str).map(output::safe);
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        let mut row = vec![
            or_none(text("/name")),
            or_none(text("/_meta/dev.toolmark~1identity/pack")),
            behavior(tool),
            or_none(text("/_meta/dev.toolmark~1behavior/source")),
        ];
        row.extend(stated.then(|| or_none(state(tool))));
        if let Some(languages) = &arguments.lang {
            row.splice(1..1, displayed(tool, languages));
        }
        table.add_row(row);
    }
    output::line(table)?;
    output::line(output::count(tools.len(), "tool"))?;
    let changed: Vec<String> = tools.iter().filter(|tool| pin(tool) == Some("changed")).filter_map(name).collect();
    if !changed.is_empty() {
        let all = output::count(changed.len(), "tool");
        output::warn(&format!("{all} changed, and calls ask: {}; see `toolmark pins diff`", changed.join(", ")));
    }
    Ok(Exit::Success)
}

async fn list(arguments: &ListTools) -> Result<Vec<Value>, Failure> {
    let gateway = arguments.gateway.connect("{}").await?;
    // A long list says less of each tool unless it is asked for.
    let listing = gateway.list_with(ListKind::Tools, Some(br#"{"dev.toolmark/list":{"meta":"full"}}"#)).await;
    let listing = listing.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let read = |item: &bytes::Bytes| serde_json::from_slice(item);
    let tools: Result<Vec<Value>, _> = listing.items.iter().map(read).collect();
    gateway.close().await;
    tools.map_err(|error| Failure::refused(Exit::Failed, &NotATool(error.to_string())))
}

/// What people who want these languages call a tool, by what the list says, and in which language that is.
fn displayed(tool: &Value, languages: &Languages) -> [String; 2] {
    let Ok(definition) = Definition::of_value("list", tool) else { return ["–".to_owned(), "–".to_owned()] };
    let mut names = Names::of(definition.name().as_str());
    declare(&mut names, &definition.reading());
    let shown = names.shown(languages, &LanguageTag::english());
    [output::safe(shown.name.as_str()), shown.lang.map_or_else(|| "–".to_owned(), |lang| lang.to_string())]
}

fn name(tool: &Value) -> Option<String> {
    tool.get("name").and_then(Value::as_str).map(|name| format!("`{}`", output::safe(name)))
}

/// How it stands to what was pinned, where that is worth saying.
fn pin(tool: &Value) -> Option<&str> {
    tool.pointer("/_meta/dev.toolmark~1pin/state").and_then(Value::as_str)
}

/// Why a call of it may not simply run: it changed, or its server is not there.
fn state(tool: &Value) -> Option<String> {
    let away = tool.pointer("/_meta/dev.toolmark~1pack/state").and_then(Value::as_str);
    let states: Vec<String> = [pin(tool), away].into_iter().flatten().map(output::safe).collect();
    (!states.is_empty()).then(|| states.join(", "))
}

/// `PURE|READ|DATA`, or that it is not known.
fn behavior(tool: &Value) -> String {
    let part = |name: &str| tool.pointer(&format!("/_meta/dev.toolmark~1behavior/{name}")).and_then(Value::as_str);
    match (part("mutability"), part("action"), part("output_domain")) {
        (Some(mutability), Some(action), Some(domain)) => output::safe(&format!("{mutability}|{action}|{domain}")),
        _ => "unknown".to_owned(),
    }
}

impl Explain for NotATool {
    fn code(&self) -> Code {
        Code::new("gateway-answer")
    }

    fn why(&self) -> String {
        "what cannot be read cannot be shown".to_owned()
    }

    fn fix(&self) -> String {
        "see that `--url` leads to a gateway of Toolmark".to_owned()
    }
}
