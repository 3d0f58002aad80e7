//! `toolmark explain`: the pure part of the pipeline for one call, without calling: what is identified, validated, analyzed and judged.

use std::path::Path;

use serde_json::{Value, json};
use toolmark_core::behavior::KnownBehavior;
use toolmark_core::catalog::Catalog;
use toolmark_core::explain::{Code, Explain, Report};
use toolmark_core::facts::{Facts, Reading};
use toolmark_core::gate::{self, Expectation, OnMismatch};
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Reason, Verdict};
use toolmark_effects::settings::Settings;

use crate::cli::Explain as Arguments;
use crate::commands::resolve;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{input, output};

/// A file that is not a call.
#[derive(Debug, thiserror::Error)]
#[error("this is not a call: {0}")]
struct NotACall(String);

/// The built-in tasks; others come with the configuration of the gateway.
#[derive(Debug, thiserror::Error)]
#[error("there is no task `{0}`")]
struct UnknownTask(String);

/// A call as it was written.
struct Written {
    lookup: String,
    arguments: Value,
}

/// What became of a call, stage by stage.
struct Trace<'c> {
    tool: &'c Tool,
    known: KnownBehavior,
    invalid: Option<Report>,
    facts: Facts,
    verdict: Verdict,
    fitting: Vec<&'c Tool>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let catalog = input::catalog(&arguments.tools.paths)?;
    let call = read(&arguments.call)?;
    let task = arguments.task.as_deref().map(task).transpose()?;
    let tool = catalog.find(&call.lookup, |_| true).map_err(|error| resolve::failure(&error))?;
    let trace = trace(&catalog, tool, &call.arguments, task.as_ref(), arguments.preset);
    if arguments.json {
        output::json(&trace.to_json())?;
    } else {
        trace.print()?;
    }
    Ok(Exit::Success)
}

/// Sends one call through identify (done), validate, analyze and judge.
fn trace<'c>(
    catalog: &'c Catalog,
    tool: &'c Tool,
    arguments: &Value,
    expectation: Option<&Expectation>,
    preset: gate::Preset,
) -> Trace<'c> {
    let known = KnownBehavior::of(tool.definition(), None);
    let invalid = tool.check_arguments(arguments).err().map(|error| error.report());
    let facts = toolmark_effects::analyze(tool, arguments, &Settings::default());
    let call = gate::Call { known: &known, arguments, facts: &facts, expectation, changed: false, preset };
    let mut verdict = gate::judge(&call);
    if let Some(report) = &invalid {
        verdict = verdict.and(Reason::new(Decision::Deny, "arguments-invalid", report.what()));
    }
    let fitting = match verdict.decision() {
        Decision::Deny => {
            gate::fitting(catalog, tool, &facts, |_| true, |other| KnownBehavior::of(other.definition(), None))
        }
        Decision::Allow | Decision::Ask => Vec::new(),
    };
    Trace { tool, known, invalid, facts, verdict, fitting }
}

impl Trace<'_> {
    fn to_json(&self) -> Value {
        json!({
            "tool": self.tool.identity_json(),
            "behavior": self.known.to_json(),
            "invalid": self.invalid.as_ref().map(Report::to_json),
            "facts": self.facts.to_json(),
            "verdict": self.verdict.decision(),
            "reasons": self.verdict.to_json().get("reasons"),
            "fitting": self.fitting.iter().map(|tool| tool.canonical().to_string()).collect::<Vec<_>>(),
        })
    }

    fn print(&self) -> Result<(), Failure> {
        let shown = |label: &str, text: &str| output::line(format_args!("{label:<9} {text}"));
        shown("identify", &output::safe(self.tool.canonical().as_str()))?;
        match &self.invalid {
            None => shown("validate", "the arguments fit the schema")?,
            Some(report) => shown("validate", report.what())?,
        }
        let behavior = self.known.behavior().map_or_else(|| "unknown".into(), |behavior| behavior.to_string());
        shown(
            "behavior",
            &format!("{behavior} ({:?})", self.known.agreement())
                .to_lowercase()
                .replace(&behavior.to_lowercase(), &behavior),
        )?;
        if self.facts.is_empty() {
            shown("analyze", "no program in the arguments")?;
        }
        for part in self.facts.parts() {
            match &part.reading {
                Reading::Understood(effects) => {
                    for effect in effects {
                        let bound = if effect.bounded { "" } else { ", without a limit" };
                        let text = format!(
                            "{} ({}): {} {}{bound}: {}",
                            part.pointer,
                            part.language,
                            effect.mutability,
                            effect.action,
                            output::safe(&effect.summary)
                        );
                        shown("analyze", &text)?;
                    }
                }
                Reading::CannotTell { reason } => {
                    shown("analyze", &format!("{} ({}): cannot tell: {reason}", part.pointer, part.language))?;
                }
            }
        }
        for reason in self.verdict.reasons() {
            shown("judge", &format!("{} [{}] {}", reason.decision, reason.code, output::safe(&reason.message)))?;
        }
        for tool in &self.fitting {
            shown("fits", &output::safe(tool.canonical().as_str()))?;
        }
        Ok(output::line(format_args!("verdict: {}", self.verdict.decision()))?)
    }
}

fn read(path: &Path) -> Result<Written, Failure> {
    let refuse = |text: String| Failure::refused(Exit::BadInput, &NotACall(text));
    let document = input::document(path)?;
    let call: Value = serde_json::from_str(document.text()).map_err(|error| refuse(error.to_string()))?;
    let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("name").ok_or_else(|| refuse("it has no `name`".into()))?;
    let lookup = text("namespace").map_or_else(|| name.to_owned(), |namespace| format!("{namespace}.{name}"));
    let arguments = call.get("arguments").cloned().unwrap_or_else(|| json!({}));
    Ok(Written { lookup, arguments })
}

fn task(name: &str) -> Result<Expectation, Failure> {
    let refuse = || Failure::refused(Exit::BadInput, &UnknownTask(output::safe(name)));
    match name {
        "read-only" => Ok(Expectation::new(name, vec!["PURE|*|*".parse().map_err(|_| refuse())?], OnMismatch::Deny)),
        _ => Err(refuse()),
    }
}

impl Explain for NotACall {
    fn code(&self) -> Code {
        Code::new("call-syntax")
    }

    fn why(&self) -> String {
        "only a call with a name and arguments can be judged".into()
    }

    fn fix(&self) -> String {
        "write it as `{\"name\": \"read_query\", \"arguments\": {\"query\": \"SELECT 1\"}}`".into()
    }
}

impl Explain for UnknownTask {
    fn code(&self) -> Code {
        Code::new("task-unknown")
    }

    fn why(&self) -> String {
        "a task that nobody described expects nothing, and would let everything through".into()
    }

    fn fix(&self) -> String {
        "use the built-in task `read-only`".into()
    }
}
