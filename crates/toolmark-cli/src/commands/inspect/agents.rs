//! Every agent of a configuration with the tools that it names, and what each name means.

use serde_json::{Value, json};
use toolmark_config::Config;
use toolmark_config::sections::Agent;
use toolmark_config::values::Name;
use toolmark_core::catalog::Catalog;
use toolmark_core::display::{Languages, NameTable};
use toolmark_core::explain::Explain as _;
use toolmark_core::exposure::ExposedTable;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_gateway::agents::{self, Meant, ToolNameError};
use toolmark_gateway::demo;
use toolmark_gateway::labels::Labels;

use super::{Inspect, behavior_in_short};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{input, output, place};

/// What is shown beside names.
struct Shown<'w> {
    written: &'w Written,
    labels: &'w Labels,
    names: NameTable,
    languages: Languages,
}

/// One name, and what it means.
type Named = Result<Meant, ToolNameError>;

pub(super) fn show(arguments: &Inspect) -> Result<Exit, Failure> {
    let mut written = Written::find(arguments.config.as_deref())?;
    let demo = written.path.is_none();
    if demo {
        written.config.agents = demo::config().agents;
    }
    let catalog = match arguments.tools.paths.as_slice() {
        // The tools of the packs that are configured, as their gateway last saw them.
        [] if !demo => {
            let (catalog, unseen) = place::remembered(&written, arguments.store.name.as_deref())?;
            for pack in unseen {
                output::warn(&format!(
                    "nobody has seen the tools of `{pack}`; start `toolmark up` once, or name them with `--tools`"
                ));
            }
            catalog
        }
        paths => input::catalog(paths)?,
    };
    let catalog = input::without(catalog, &arguments.disable)?;
    let table = agents::table(&catalog, &written.config).map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let labels = written.labels()?;
    let shown = Shown {
        written: &written,
        labels: &labels,
        names: labels.table(catalog.tools()),
        languages: arguments.languages(),
    };
    let all: Vec<(&str, &Agent, Vec<Named>)> = written
        .config
        .agents
        .iter()
        .map(|(name, agent)| (name.as_str(), agent, named(&catalog, &table, name.as_str(), agent)))
        .collect();
    let wrong = all.iter().flat_map(|(_, _, named)| named).filter_map(|named| named.as_ref().err());
    if arguments.json {
        let agents: Vec<Value> =
            all.iter().map(|(name, agent, named)| to_json(&shown, &catalog, name, agent, named)).collect();
        output::json(&json!({"agents": agents, "problems": input::problems_json(&catalog)}))?;
    } else {
        print(&shown, &catalog, &all)?;
        wrong.clone().for_each(|error| output::error(&error.report().to_string()));
    }
    let left_out = if arguments.json { input::exit_of(&catalog) } else { input::show_problems(&catalog) };
    Ok(if wrong.count() > 0 { Exit::BadInput } else { left_out })
}

fn named(catalog: &Catalog, table: &ExposedTable, name: &str, agent: &Agent) -> Vec<Named> {
    let one = |tool: &String| match agents::tools_of(catalog, table, name, std::slice::from_ref(tool)) {
        Ok(meant) => meant.into_iter().map(Ok).collect::<Vec<_>>(),
        Err(errors) => errors.into_iter().map(Err).collect(),
    };
    agent.tools.iter().flat_map(one).collect()
}

fn print(shown: &Shown<'_>, catalog: &Catalog, all: &[(&str, &Agent, Vec<Named>)]) -> Result<(), Failure> {
    let config: &Config = &shown.written.config;
    if all.is_empty() {
        output::note("the configuration has no `[agents.NAME]`");
    }
    for (at, (name, agent, names)) in all.iter().enumerate() {
        if at > 0 {
            output::line("")?;
        }
        output::line(output::painted(output::BOLD, output::safe(name)))?;
        let model = agent.model.as_ref().map(|text| match text.named().and_then(|name| config.models.get(name)) {
            Some(model) => format!("{text} ({})", model.model.as_ref().map(ToString::to_string).unwrap_or_default()),
            None => text.to_string(),
        });
        let handoffs: Vec<&str> = agent.handoffs.iter().map(Name::as_str).collect();
        let called = shown.labels.agent(name).shown(&shown.languages, shown.labels.default_language());
        let rows = [
            ("display name", called.name.to_string()),
            ("model", model.unwrap_or_else(|| "–".into())),
            ("task", agent.task.as_ref().map_or_else(|| "–".into(), ToString::to_string)),
            ("hands over to", if handoffs.is_empty() { "–".into() } else { handoffs.join(", ") }),
        ];
        for (label, text) in rows {
            output::line(format_args!("  {label:<14} {}", output::safe(&text)))?;
        }
        if names.is_empty() {
            output::line("  no tools")?;
            continue;
        }
        let mut table = output::table(&["written", "spelled as", "means", "display name", "behavior"]);
        for (written_as, named) in agent.tools.iter().zip(names) {
            match named {
                Ok(meant) => {
                    for (row, tool) in tools(catalog, meant).into_iter().enumerate() {
                        let first = |text: &str| if row == 0 { text.to_owned() } else { String::new() };
                        table.add_row([
                            first(&shortened(written_as)),
                            first(meant.spelling.as_str()),
                            output::safe(tool.canonical().as_str()),
                            shown.names.shown(tool, &shown.languages).name.to_string(),
                            behavior_in_short(&shown.written.known(tool)),
                        ]);
                    }
                }
                Err(error) => {
                    let why = if error.is_ambiguous() { "several" } else { "nothing" };
                    let row = [shortened(written_as), "–".into(), why.into(), String::new(), String::new()];
                    table.add_row(row);
                }
            }
        }
        for line in table.trim_fmt().lines() {
            output::line(format_args!("  {line}"))?;
        }
    }
    Ok(())
}

/// A mark is long, and its beginning tells it from others here.
fn shortened(written: &str) -> String {
    visible(written, 40)
}

fn tools<'c>(catalog: &'c Catalog, meant: &Meant) -> Vec<&'c Tool> {
    let find = |name| catalog.tools().find(|tool| tool.canonical() == name);
    meant.tools.iter().filter_map(find).collect()
}

fn to_json(shown: &Shown<'_>, catalog: &Catalog, name: &str, agent: &Agent, named: &[Named]) -> Value {
    let one = |(text, named): (&String, &Named)| match named {
        Ok(meant) => {
            let tools = tools(catalog, meant).into_iter().map(|tool| {
                let mut json = tool.identity_json();
                json.insert("display".into(), json!(shown.names.shown(tool, &shown.languages).name));
                json.insert("behavior".into(), json!(shown.written.known(tool).behavior()));
                Value::Object(json)
            });
            json!({"written": text, "spelling": meant.spelling.as_str(), "tools": tools.collect::<Vec<_>>()})
        }
        Err(error) => json!({"written": text, "error": error.report().to_json(), "tools": []}),
    };
    json!({
        "agent": name,
        "display": shown.labels.agent(name).shown(&shown.languages, shown.labels.default_language()).name,
        "model": agent.model.as_ref().map(ToString::to_string),
        "task": agent.task.as_ref().map(ToString::to_string),
        "handoffs": agent.handoffs.iter().map(Name::as_str).collect::<Vec<_>>(),
        "max_turns": agent.max_turns,
        "tools": agent.tools.iter().zip(named).map(one).collect::<Vec<_>>(),
    })
}
