//! `toolmark explain`: the pure part of the pipeline for one call, without calling: what is identified, validated, analyzed and judged.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::facts::Reading;
use toolmark_core::gate::Preset;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::Decision;
use toolmark_policy::Caller;
use toolmark_runtime::{Examination, Outcome, Refusal, Request, UnknownTask, Workspace};

use crate::commands::resolve;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::StoreName;
use crate::workspace::Written;
use crate::{input, output, place};

#[derive(Debug, Args)]
pub(crate) struct ExplainCall {
    /// The call: a file with `{"name", "namespace"?, "arguments"}`
    #[arg(value_name = "CALL.json")]
    pub(crate) call: PathBuf,

    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The task that the call belongs to: one of the configuration, or the built-in read-only
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// The configuration with tasks, rules and behaviors [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,

    /// The lock file that says what was approved [default: toolmark.lock, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,

    /// Who calls, for rules that name callers [default: local]
    #[arg(long, value_name = "NAME")]
    pub(crate) caller: Option<String>,

    /// How strict the gate is: observe, balanced, careful or read-only [default: as configured, or balanced]
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<Preset>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A file that is not a call.
#[derive(Debug, thiserror::Error)]
#[error("this is not a call: {0}")]
struct NotACall(String);

/// A call as it was written.
pub(crate) struct Call {
    pub(crate) lookup: String,
    pub(crate) arguments: Value,
}

pub(crate) fn run(arguments: &ExplainCall) -> Result<Exit, Failure> {
    let written = Written::find(arguments.config.as_deref())?;
    let call = Call::read(input::document(&arguments.call)?.text())?;
    let catalog = place::tools(&written, &arguments.tools.paths, arguments.store.name.as_deref())?;
    let workspace = written.workspace(catalog, arguments.lock.as_deref(), arguments.preset)?;
    let refuse = |error: &UnknownTask| Failure::refused(Exit::BadInput, error);
    let task = arguments.task.as_deref().map(|name| workspace.tasks().find(name)).transpose();
    let task = task.map_err(|error| refuse(&error))?.map(|task| &**task);
    let tool = workspace.catalog().find(&call.lookup, |_| true).map_err(|error| resolve::failure(&error))?;
    let caller = Caller::new(arguments.caller.as_deref().unwrap_or("local"));
    let request = Request { tool, arguments: &call.arguments, task, caller };
    let found = workspace.examine(&request).map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let trace = Trace::of(&workspace, &request, found);
    if arguments.json {
        output::json(&trace.to_json())?;
    } else {
        trace.print()?;
    }
    Ok(Exit::Success)
}

/// What became of a call, stage by stage.
struct Trace<'w> {
    workspace: &'w Workspace,
    tool: &'w Tool,
    found: Examination<'w>,
    fitting: Vec<&'w Tool>,
    /// What the model is told, when the call does not run.
    told: Option<Refusal>,
}

impl<'w> Trace<'w> {
    fn of(workspace: &'w Workspace, request: &Request<'w>, found: Examination<'w>) -> Self {
        let tool = request.tool;
        let denied = found.verdict().decision() == Decision::Deny && found.invalid().is_none();
        let fitting = if denied { workspace.fitting(request, found.facts(), |_| true) } else { Vec::new() };
        let told = (!found.outcome().runs())
            .then(|| Refusal::of(tool, &found, request.task, &fitting, |tool| tool.canonical().to_string()));
        Self { workspace, tool, found, fitting, told }
    }

    fn to_json(&self) -> Value {
        let mut all = json!({
            "tool": self.tool.identity_json(),
            "policy": self.workspace.policy().version().to_string(),
            "preset": self.workspace.preset(),
            "fitting": self.fitting.iter().map(|tool| tool.canonical().to_string()).collect::<Vec<_>>(),
            "told": self.told.as_ref().map(Refusal::text),
        });
        if let (Value::Object(all), Value::Object(found)) = (&mut all, self.found.to_json()) {
            all.extend(found);
        }
        all
    }

    fn print(&self) -> Result<(), Failure> {
        let shown = |label: &str, text: &str| output::line(format_args!("{label:<9} {text}"));
        shown("identify", &output::safe(self.tool.canonical().as_str()))?;
        match self.found.invalid() {
            None => shown("validate", "the arguments fit the schema")?,
            Some(error) => shown("validate", &output::safe(&error.to_string()))?,
        }
        let known = self.found.known();
        let behavior = known.behavior().map_or_else(|| "unknown".into(), |behavior| behavior.short());
        shown("behavior", &format!("{behavior} ({})", known.agreement().as_str()))?;
        self.print_facts()?;
        for reason in self.found.verdict().reasons() {
            shown("judge", &format!("{} [{}] {}", reason.decision, reason.code, output::safe(&reason.message)))?;
        }
        for permission in self.found.permissions() {
            shown("judge", &format!("allow {}", output::safe(&permission.by.to_string())))?;
        }
        match self.found.outcome() {
            Outcome::Run | Outcome::Refuse => {}
            Outcome::Answered(answered) => {
                shown("approve", &format!("{} answers for a person", output::safe(&answered.by().to_string())))?;
            }
            Outcome::Observed(_) => shown("approve", "nothing is stopped: this workspace only observes")?,
            Outcome::Ask => shown("approve", "a person is asked")?,
        }
        for tool in &self.fitting {
            shown("fits", &output::safe(tool.canonical().as_str()))?;
        }
        for line in self.told.iter().flat_map(|told| told.text().lines()) {
            shown("told", &output::safe(line))?;
        }
        Ok(output::line(format_args!("verdict: {}", self.found.verdict().decision()))?)
    }

    fn print_facts(&self) -> Result<(), Failure> {
        let shown = |text: &str| output::line(format_args!("{:<9} {text}", "analyze"));
        if self.found.facts().is_empty() {
            shown("no program in the arguments")?;
        }
        for part in self.found.facts().parts() {
            match &part.reading {
                Reading::Understood(effects) => {
                    for effect in effects {
                        let bound = if effect.bounded { "" } else { ", without a limit" };
                        shown(&format!(
                            "{} ({}): {} {}{bound}: {}",
                            part.pointer,
                            part.language,
                            effect.mutability,
                            effect.action,
                            output::safe(&effect.summary)
                        ))?;
                    }
                }
                Reading::CannotTell { reason } => {
                    shown(&format!("{} ({}): cannot tell: {reason}", part.pointer, part.language))?;
                }
            }
        }
        Ok(())
    }
}

impl Call {
    /// Reads one call.
    fn read(text: &str) -> Result<Self, Failure> {
        let refuse = |text: String| Failure::refused(Exit::BadInput, &NotACall(text));
        let call: Value = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let name = text("name").ok_or_else(|| refuse("it has no `name`".into()))?;
        let lookup = text("namespace").map_or_else(|| name.to_owned(), |namespace| format!("{namespace}.{name}"));
        let arguments = call.get("arguments").cloned().unwrap_or_else(|| json!({}));
        Ok(Self { lookup, arguments })
    }

    /// Reads one call a line, with the number of the line.
    pub(crate) fn read_lines(path: &Path) -> Result<Vec<(usize, Self)>, Failure> {
        let document = input::document(path)?;
        let lines = document.text().lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines.map(|(at, line)| Ok((at + 1, Self::read(line)?))).collect()
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
