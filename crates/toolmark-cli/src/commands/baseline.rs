//! `toolmark baseline learn | show | diff`: what approved runs of a task do, kept in a file or in the store, for later runs to be held
//! against.

pub(crate) mod arguments;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use toolmark_config::values::Entries;
use toolmark_core::behavior::Behavior;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::facts::Facts;
use toolmark_core::gate::{Baseline, Learned};
use toolmark_core::names::CanonicalName;
use toolmark_gateway::baselines::in_store;
use toolmark_policy::Caller;
use toolmark_runtime::{Judged, Request, TaskName};
use toolmark_store::audit::{AuditFilter, Outcome};
use toolmark_store::{Store, StoreError};

use self::arguments::{BaselineCommand, BaselineDiff, BaselineLearn, BaselineShow};
use crate::commands::audit::when::When;
use crate::commands::audit::{existing, failed};
use crate::commands::explain::Call;
use crate::commands::resolve;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::workspace::Written;
use crate::{file, input, output, place};

/// A file with the baseline of another task.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` is the baseline of the task `{}`", output::safe(.task))]
struct OtherTask {
    path: String,
    task: String,
}

/// A task of which nothing was learned.
#[derive(Debug, thiserror::Error)]
#[error("the store keeps no baseline of the task `{0}`")]
struct NoBaseline(String);

pub(crate) fn run(command: &BaselineCommand) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            BaselineCommand::Learn(arguments) => learn(arguments).await,
            BaselineCommand::Show(arguments) => show(arguments).await,
            BaselineCommand::Diff(arguments) => diff(arguments).await,
        }
    })
}

async fn learn(arguments: &BaselineLearn) -> Result<Exit, Failure> {
    let task: TaskName = arguments.task.parse().map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let written = Written::find(arguments.config.as_deref())?;
    let place = Place { config: arguments.config.clone(), store: arguments.store.clone() };
    let needs_store = arguments.from_audit || arguments.output.is_none();
    let store = if needs_store { Some(existing(&place, &written, 1).await?) } else { None };
    let lessons = match (&arguments.calls, &store) {
        (Some(calls), _) => Lessons::of_file(calls, arguments, written)?,
        (None, Some(store)) => Lessons::of_audit(store, &task, arguments).await?,
        (None, None) => Lessons::default(),
    };
    let (baseline, taken) = match (&arguments.output, &store) {
        (Some(file), _) => {
            let before = file.exists().then(|| read_file(file)).transpose()?;
            let (baseline, taken) = lessons.teach(before, &task, &output::safe(&file.display().to_string()))?;
            file::write(file, &baseline.to_text())?;
            (baseline, taken)
        }
        (None, Some(store)) => {
            let teach = |before: Option<&str>| {
                let before = before.map(read_text).transpose()?;
                lessons.teach(before, &task, &format!("store:{task}"))
            };
            let text = store.learn_baseline(task.as_str(), |before| Ok::<_, Taught>(teach(before)?.0.to_text())).await;
            let baseline = read_text(&text.map_err(|Taught(failure)| *failure)?)?;
            (baseline, lessons.teach(None, &task, "")?.1)
        }
        (None, None) => (Baseline::new(task.as_str()), 0),
    };
    if let Some(store) = store {
        store.close().await.map_err(failed)?;
    }
    let left = &lessons.left;
    if arguments.json {
        output::json(
            &json!({"task": baseline.task(), "learned": taken, "left_out": left, "tools": baseline.tools().count()}),
        )?;
    } else {
        let what = if arguments.from_audit { "call" } else { "line" };
        for one in left.iter().take(MOST_SHOWN) {
            let one = one.as_str().map_or_else(|| one.to_string(), str::to_owned);
            output::note(&format!("{what} {one} teaches nothing: its arguments do not fit, or were not understood"));
        }
        if lessons.left_count > MOST_SHOWN {
            output::note(&format!("and {} more", lessons.left_count - MOST_SHOWN));
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

/// How many calls that teach nothing are printed, and how many are listed as JSON.
const MOST_SHOWN: usize = 20;
const MOST_LEFT: usize = 1_000;

/// What calls did that were approved.
#[derive(Default)]
struct Lessons {
    calls: Vec<Lesson>,
    /// Those that teach nothing: lines of a file, or ids of calls.
    left: Vec<Value>,
    left_count: usize,
}

/// Calls that did the same.
struct Lesson {
    tool: CanonicalName,
    behavior: Option<Behavior>,
    facts: Facts,
    count: u64,
}

/// Why nothing was learned, carried through the store.
struct Taught(Box<Failure>);

impl From<StoreError> for Taught {
    fn from(error: StoreError) -> Self {
        Self(Box::new(failed(error)))
    }
}

impl From<Failure> for Taught {
    fn from(failure: Failure) -> Self {
        Self(Box::new(failure))
    }
}

impl Lessons {
    fn of_file(path: &Path, arguments: &BaselineLearn, mut written: Written) -> Result<Self, Failure> {
        let calls = Call::read_lines(path)?;
        let catalog = place::tools(&written, &arguments.tools.paths, arguments.store.name.as_deref())?;
        // What is learned is what was approved, not what a task expects; and its baseline may be the one to be written.
        written.config.tasks = Entries::default();
        let workspace = written.workspace(catalog, None, None)?;
        let mut lessons = Self::default();
        for (line, call) in calls {
            let tool = workspace.catalog().find(&call.lookup, |_| true).map_err(|error| resolve::failure(&error))?;
            let request = Request { tool, arguments: &call.arguments, task: None, caller: Caller::new("local") };
            let found = workspace.examine(&request).map_err(|error| Failure::refused(Exit::Failed, &error))?;
            let behavior = found.known().behavior_of(&call.arguments);
            let facts = found.facts();
            if found.invalid().is_none() && facts.unclear().next().is_none() {
                let (tool, facts) = (tool.canonical().clone(), facts.clone());
                lessons.calls.push(Lesson { tool, behavior, facts, count: 1 });
            } else {
                lessons.leave(line.into());
            }
        }
        Ok(lessons)
    }

    /// Calls for the task that were allowed, by a rule or a person where not by default, and that succeeded.
    async fn of_audit(store: &Store, task: &TaskName, arguments: &BaselineLearn) -> Result<Self, Failure> {
        let filter = AuditFilter {
            since: arguments.since.map(When::time),
            until: arguments.until.map(When::time),
            task: Some(task.to_string()),
            ..AuditFilter::default()
        };
        let mut calls = store.calls(filter);
        let mut lessons = Self::default();
        // What did the same is one lesson, however often: memory grows with what was done, not with how often.
        let mut known: HashMap<(Arc<str>, Arc<str>), Option<usize>> = HashMap::new();
        while let Some(call) = calls.next().await.map_err(failed)? {
            let approved = matches!(call.outcome, Outcome::Ok | Outcome::Approved);
            let Some((canonical, _)) = call.tool.filter(|_| approved) else { continue };
            let Some(judged) = call.judged else {
                lessons.leave(call.id.to_string().into());
                continue;
            };
            let calls = &mut lessons.calls;
            let at = *known.entry((canonical, judged)).or_insert_with_key(|(canonical, judged)| {
                let tool = canonical.parse::<CanonicalName>().ok()?;
                let Judged { behavior, invalid, facts, .. } = Judged::read(judged)?;
                let clear = !invalid && facts.unclear().next().is_none();
                clear.then(|| calls.push(Lesson { tool, behavior, facts, count: 0 })).map(|()| calls.len() - 1)
            });
            match at.and_then(|at| lessons.calls.get_mut(at)) {
                Some(lesson) => lesson.count += 1,
                None => lessons.leave(call.id.to_string().into()),
            }
        }
        Ok(lessons)
    }

    fn leave(&mut self, one: Value) {
        self.left_count += 1;
        if self.left.len() < MOST_LEFT {
            self.left.push(one);
        }
    }

    /// What was known with what these calls did, and how many of them taught something.
    fn teach(&self, before: Option<Baseline>, task: &TaskName, place: &str) -> Result<(Baseline, usize), Failure> {
        let mut baseline = before.unwrap_or_else(|| Baseline::new(task.as_str()));
        if baseline.task() != task.as_str() {
            let error = OtherTask { path: place.to_owned(), task: baseline.task().into() };
            return Err(Failure::refused(Exit::BadInput, &error));
        }
        let mut learned = 0;
        for lesson in &self.calls {
            for _ in 0..lesson.count {
                learned += usize::from(baseline.learn(&lesson.tool, lesson.behavior, &lesson.facts));
            }
        }
        Ok((baseline, learned))
    }
}

async fn show(arguments: &BaselineShow) -> Result<Exit, Failure> {
    let baseline = read(&arguments.file, &arguments.place).await?;
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

async fn diff(arguments: &BaselineDiff) -> Result<Exit, Failure> {
    let (old, new) = (read(&arguments.old, &arguments.place).await?, read(&arguments.new, &arguments.place).await?);
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

/// A baseline in a file, or in the store.
async fn read(name: &str, place: &Place) -> Result<Baseline, Failure> {
    let Some(task) = in_store(name) else { return read_file(Path::new(name)) };
    let store = existing(place, &Written::find(place.config.as_deref())?, 1).await?;
    let text = store.baseline(task).await.map_err(failed)?;
    store.close().await.map_err(failed)?;
    let missing = || Failure::refused(Exit::NotFound, &NoBaseline(output::safe(task)));
    read_text(&text.ok_or_else(missing)?)
}

fn read_file(path: &Path) -> Result<Baseline, Failure> {
    read_text(input::document(path)?.text())
}

fn read_text(text: &str) -> Result<Baseline, Failure> {
    Baseline::read(text).map_err(|error| Failure::refused(Exit::BadInput, &error))
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

impl Explain for NoBaseline {
    fn code(&self) -> Code {
        Code::new("baseline-missing")
    }

    fn why(&self) -> String {
        "an empty baseline would make every call look unusual".into()
    }

    fn fix(&self) -> String {
        format!("learn one: `toolmark baseline learn --task {} --from-audit`", self.0)
    }
}
