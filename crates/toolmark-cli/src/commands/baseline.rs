//! `toolmark baseline learn | show | diff`: what approved runs of a task do, as a file that later runs are held against.

use std::path::Path;

use serde_json::{Value, json};
use toolmark_config::values::Entries;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::gate::{Baseline, Learned};
use toolmark_policy::Caller;
use toolmark_runtime::{Request, TaskName};

use crate::cli::{self, BaselineDiff, BaselineLearn, BaselineShow};
use crate::commands::explain::Call;
use crate::commands::resolve;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{file, input, output};

/// A file with the baseline of another task.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` is the baseline of the task `{}`", output::safe(.task))]
struct OtherTask {
    path: String,
    task: String,
}

pub(crate) fn run(command: &cli::Baseline) -> Result<Exit, Failure> {
    match command {
        cli::Baseline::Learn(arguments) => learn(arguments),
        cli::Baseline::Show(arguments) => show(arguments),
        cli::Baseline::Diff(arguments) => diff(arguments),
    }
}

fn learn(arguments: &BaselineLearn) -> Result<Exit, Failure> {
    let task: TaskName = arguments.task.parse().map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let calls = Call::read_lines(&arguments.calls)?;
    let catalog = input::catalog(&arguments.tools.paths)?;
    let mut written = Written::find(arguments.config.as_deref())?;
    // What is learned is what was approved, not what a task expects; and its baseline may be the one to be written.
    written.config.tasks = Entries::default();
    let workspace = written.workspace(catalog, None, None)?;
    let mut baseline = match arguments.output.exists() {
        true => read(&arguments.output)?,
        false => Baseline::new(task.as_str()),
    };
    if baseline.task() != task.as_str() {
        let error =
            OtherTask { path: output::safe(&arguments.output.display().to_string()), task: baseline.task().into() };
        return Err(Failure::refused(Exit::BadInput, &error));
    }
    let (mut taken, mut left) = (0_usize, Vec::new());
    for (line, call) in calls {
        let tool = workspace.catalog().find(&call.lookup, |_| true).map_err(|error| resolve::failure(&error))?;
        let request = Request { tool, arguments: &call.arguments, task: None, caller: Caller::new("local") };
        let Some(found) = workspace.examine(&request) else { continue };
        let behavior = found.known().behavior_of(&call.arguments);
        if found.invalid().is_none() && baseline.learn(tool.canonical(), behavior, found.facts()) {
            taken += 1;
        } else {
            left.push(line);
        }
    }
    file::write(&arguments.output, &baseline.to_text())?;
    if arguments.json {
        output::json(
            &json!({"task": baseline.task(), "learned": taken, "left_out": left, "tools": baseline.tools().count()}),
        )?;
    } else {
        for line in &left {
            output::note(&format!("line {line} teaches nothing: its arguments do not fit, or were not understood"));
        }
        output::line(format_args!(
            "{} learned for the task `{}`: {} known",
            output::count(taken, "call"),
            output::safe(baseline.task()),
            output::count(baseline.tools().count(), "tool")
        ))?;
    }
    Ok(Exit::Success)
}

fn show(arguments: &BaselineShow) -> Result<Exit, Failure> {
    let baseline = read(&arguments.file)?;
    if arguments.json {
        let tools: Vec<Value> = baseline.tools().map(|(name, learned)| to_json(name, learned)).collect();
        output::json(&json!({"task": baseline.task(), "tools": tools}))?;
        return Ok(Exit::Success);
    }
    let mut table = output::table(&["tool", "calls", "does", "its arguments do"]);
    for (name, learned) in baseline.tools() {
        table.add_row([
            output::safe(name),
            learned.calls().to_string(),
            learned.behaviors().map(short).collect::<Vec<_>>().join(", "),
            effects(learned).join(", "),
        ]);
    }
    output::line(format_args!("task `{}`", output::safe(baseline.task())))?;
    output::line(table)?;
    Ok(Exit::Success)
}

fn diff(arguments: &BaselineDiff) -> Result<Exit, Failure> {
    let (old, new) = (read(&arguments.old)?, read(&arguments.new)?);
    let mut lines = Vec::new();
    for (sign, one, other) in [("-", &old, &new), ("+", &new, &old)] {
        for (name, learned) in one.tools() {
            let Some((_, twin)) = other.tools().find(|(twin, _)| *twin == name) else {
                lines.push((sign, name, "the tool".to_owned()));
                continue;
            };
            let known: Vec<&str> = twin.behaviors().collect();
            lines
                .extend(learned.behaviors().filter(|one| !known.contains(one)).map(|one| (sign, name, one.to_owned())));
            let known = effects(twin);
            lines.extend(effects(learned).into_iter().filter(|one| !known.contains(one)).map(|one| (sign, name, one)));
        }
    }
    if arguments.json {
        let all: Vec<Value> =
            lines.iter().map(|(sign, tool, what)| json!({"change": sign, "tool": tool, "what": what})).collect();
        output::json(&json!({"changes": all}))?;
    } else {
        for (sign, tool, what) in &lines {
            output::line(format_args!("{sign} {}: {what}", output::safe(tool)))?;
        }
        output::line(output::count(lines.len(), "difference"))?;
    }
    Ok(if lines.is_empty() { Exit::Success } else { Exit::Findings })
}

fn read(path: &Path) -> Result<Baseline, Failure> {
    Baseline::read(input::document(path)?.text()).map_err(|error| Failure::refused(Exit::BadInput, &error))
}

/// The three fields that people read.
fn short(behavior: &str) -> String {
    behavior.split('|').take(3).collect::<Vec<_>>().join("|")
}

fn effects(learned: &Learned) -> Vec<String> {
    learned.effects().map(|(mutability, action)| format!("{mutability}|{action}")).collect()
}

fn to_json(name: &str, learned: &Learned) -> Value {
    json!({
        "tool": name,
        "calls": learned.calls(),
        "behaviors": learned.behaviors().collect::<Vec<_>>(),
        "effects": effects(learned),
    })
}

impl Explain for OtherTask {
    fn code(&self) -> Code {
        Code::new("baseline-other-task")
    }

    fn why(&self) -> String {
        "what one task does would be expected of the other".into()
    }

    fn fix(&self) -> String {
        format!("name another file with `--output`, or learn for `--task {}`", output::safe(&self.task))
    }
}
