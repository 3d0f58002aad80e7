//! `toolmark eval decide`: which tool do models choose? Every prompt of a folder goes to every model with all tools of the folder; nothing
//! is called, and what was chosen is recorded for `toolmark eval`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use serde_json::{Map, Value, json};
use toolmark_core::evaluation::{Decision, ReadRowError, Tools, rows};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::names::PackName;
use toolmark_core::text::visible;
use toolmark_models::{FunctionTool, ModelRequest, ModelResponse, WireTool};

use crate::asking::{Asking, Question, Told};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::models::{ModelsToAsk, Opened};
use crate::workspace::Written;
use crate::{file, input, output};

/// The prompts of a data set, and what is made of them.
const PROMPTS: &str = "prompts.jsonl";
const DECISIONS: &str = "decisions.jsonl";

const INSTRUCTIONS: &str = "Do what the user asks by calling exactly one of the tools, the one that fits best. If none of them fits, call none \
and say so. Nothing is executed.";

#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// A folder with `tools.jsonl` and `prompts.jsonl`: one `{"prompt", "expected", "id"?}` a line
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    #[command(flatten)]
    models: ModelsToAsk,

    /// Definitions to use in place of the folder's `tools.jsonl`
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,

    /// Where to record [default: decisions.jsonl in the folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace a file of decisions that is there
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    asking: Asking,

    /// The configuration with models [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A folder without prompts.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` holds no `prompts.jsonl` with a prompt")]
struct NoPrompts(String);

/// Decisions that are there already.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is there already")]
struct AlreadyDecided(String);

/// A row of `prompts.jsonl`.
struct Prompt {
    id: Value,
    text: String,
    expected: Value,
    server: Option<String>,
}

/// How one model did.
#[derive(Default)]
struct Tried {
    right: usize,
    wrong: usize,
    none: usize,
    unknown: usize,
    unanswered: usize,
}

pub(crate) fn run(arguments: &Decide) -> Result<Exit, Failure> {
    let written = Written::find(arguments.config.as_deref())?;
    let models = arguments.models.open(&written)?;
    input::require_folder(&arguments.folder)?;
    let refused = |error: ReadRowError| Failure::refused(Exit::BadInput, &error);
    let path = arguments.tools.clone().unwrap_or_else(|| arguments.folder.join("tools.jsonl"));
    let tools = Tools::read(input::document(&path)?.text()).map_err(refused)?;
    let prompts = prompts(&arguments.folder)?;
    let target = arguments.output.clone().unwrap_or_else(|| arguments.folder.join(DECISIONS));
    // Before anything is asked: what cost money is not lost to a file that is in the way.
    if target.exists() && !arguments.force {
        let shown = visible(&target.display().to_string(), 300);
        return Err(Failure::refused(Exit::BadInput, &AlreadyDecided(shown)));
    }
    let (offered, ids) = offered(&tools);
    let mut questions = Vec::new();
    for (at, prompt) in prompts.iter().enumerate() {
        let request = ModelRequest {
            instructions: Some(INSTRUCTIONS.to_owned()),
            tools: offered.clone(),
            parallel_tool_calls: Some(false),
            ..ModelRequest::of_text(prompt.text.as_str())
        };
        // A provider that knows no such setting is asked as it is.
        let request = |model: &Opened| match model.model.name().provider() {
            toolmark_models::Provider::OpenAi => request.clone(),
            _ => ModelRequest { parallel_tool_calls: None, ..request.clone() },
        };
        questions.extend(models.iter().enumerate().map(|(model, own)| Question {
            key: at,
            model,
            request: request(own),
        }));
    }
    arguments.asking.confirm(&models, &questions, 0)?;
    let rows: Mutex<Vec<(usize, usize, Value)>> = Mutex::default();
    let failed: Mutex<usize> = Mutex::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let counted = runtime.block_on(arguments.asking.ask(&models, &questions, |question, told, _| {
        let (Some(prompt), Some(model)) = (prompts.get(question.key), models.get(question.model)) else { return false };
        match told {
            Told::Answer(response) => {
                let row = prompt.decided(&response, &ids, &model.label);
                rows.lock().unwrap_or_else(PoisonError::into_inner).push((question.key, question.model, row));
            }
            // A decision that was not made is not recorded as one to call nothing.
            Told::Failed(_) | Told::NotAsked => *failed.lock().unwrap_or_else(PoisonError::into_inner) += 1,
        }
        false
    }));
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by_key(|(prompt, model, _)| (*prompt, *model));
    let text: String = rows.iter().map(|(_, _, row)| format!("{row}\n")).collect();
    // What was written can be read by what reads it.
    Decision::read_all(&text).map_err(refused)?;
    if rows.is_empty() {
        output::warn("nothing was decided, and nothing is recorded");
    } else {
        file::write(&target, &text)?;
    }
    let tried: Vec<Tried> = (0..models.len()).map(|at| Tried::of(&tools, &rows, at, prompts.len())).collect();
    show(arguments, &models, &tried, &target, rows.len(), &counted)?;
    Ok(if failed > 0 { Exit::Failed } else { Exit::Success })
}

fn prompts(folder: &Path) -> Result<Vec<Prompt>, Failure> {
    let none = || Failure::refused(Exit::BadInput, &NoPrompts(visible(&folder.display().to_string(), 300)));
    let path = folder.join(PROMPTS);
    if !path.exists() {
        return Err(none());
    }
    let mut at = 0;
    let read = rows("prompts", input::document(&path)?.text(), |_, row| {
        at += 1;
        Prompt::read(row, at)
    });
    let read = read.map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    if read.is_empty() { Err(none()) } else { Ok(read) }
}

/// Every tool as models see it, in a namespace of its server, with what each of them is called in the data set.
fn offered(tools: &Tools) -> (Vec<WireTool>, Vec<(String, String, Value)>) {
    let (mut offered, mut ids) = (Vec::new(), Vec::new());
    for (id, definition) in tools.iter() {
        let reading = definition.reading();
        let namespace = PackName::slug(id.server()).map_or_else(|_| "tools".to_owned(), |name| name.to_string());
        offered.push(WireTool::Function(FunctionTool {
            namespace: Some(namespace.clone()),
            strict: false,
            ..FunctionTool::new(id.name(), reading.description(), reading.input_schema().to_value())
        }));
        ids.push((namespace, id.name().to_owned(), json!({"server": id.server(), "name": id.name()})));
    }
    (offered, ids)
}

impl Prompt {
    fn read(row: &Value, at: usize) -> Result<Self, String> {
        let text = match row.get("prompt") {
            Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
            Some(Value::String(_)) => return Err("`prompt` is empty".into()),
            Some(_) => return Err("`prompt` must be a string".into()),
            None => return Err("missing field `prompt`".into()),
        };
        let expected =
            row.get("expected").cloned().ok_or("missing field `expected`; `null` means that nothing fits")?;
        let id = match row.get("id") {
            None | Some(Value::Null) => format!("{at}").into(),
            Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
            Some(_) => return Err("`id` must be a string or a number".into()),
        };
        let server = row.get("server").and_then(Value::as_str).map(str::to_owned);
        Ok(Self { id, text, expected, server })
    }

    /// The row that an answer makes.
    fn decided(&self, response: &ModelResponse, ids: &[(String, String, Value)], model: &str) -> Value {
        let mut calls = response.function_calls();
        let first = calls.next();
        let others = calls.count();
        let mut row = facts([("prompt", self.id.clone()), ("expected", self.expected_tool()), ("model", model.into())]);
        let Some(call) = first else {
            row.insert("chosen".into(), Value::Null);
            return Value::Object(row);
        };
        let same = |namespace: &str, name: &str| {
            name == call.name && call.namespace.as_deref().is_none_or(|own| own == namespace || own.is_empty())
        };
        let mut found = ids.iter().filter(|(namespace, name, _)| same(namespace, name));
        match (found.next(), found.next()) {
            (Some((_, _, id)), None) => row.insert("chosen".into(), id.clone()),
            // A tool that is not there cannot be called; what the model wrote is kept beside it.
            _ => {
                row.insert("unknown".into(), visible(&call.name, 200).into());
                row.insert("chosen".into(), Value::Null)
            }
        };
        match serde_json::from_str::<Value>(&call.arguments) {
            Ok(arguments @ Value::Object(_)) => drop(row.insert("arguments".into(), arguments)),
            _ => drop(row.insert("unreadable_arguments".into(), visible(&call.arguments, 500).into())),
        }
        if others > 0 {
            row.insert("further_calls".into(), others.into());
        }
        Value::Object(row)
    }

    /// The expected tool; one that is named in words keeps the server that its row says.
    fn expected_tool(&self) -> Value {
        match (&self.expected, &self.server) {
            (Value::String(name), Some(server)) => json!({"server": server, "name": name}),
            (expected, _) => expected.clone(),
        }
    }
}

impl Tried {
    fn of(tools: &Tools, rows: &[(usize, usize, Value)], model: usize, prompts: usize) -> Self {
        let mut tried = Self::default();
        for (_, _, row) in rows.iter().filter(|(_, own, _)| *own == model) {
            let of = |key: &str| row.get(key).filter(|value| !value.is_null()).map(|value| meant(tools, value));
            match (of("expected"), of("chosen")) {
                _ if row.get("unknown").is_some() => tried.unknown += 1,
                (expected, chosen) if expected == chosen => tried.right += 1,
                (_, None) => tried.none += 1,
                (_, Some(_)) => tried.wrong += 1,
            }
        }
        let answered = tried.right + tried.wrong + tried.none + tried.unknown;
        tried.unanswered = prompts.saturating_sub(answered);
        tried
    }

    fn to_json(&self) -> Map<String, Value> {
        facts([
            ("right", self.right.into()),
            ("wrong", self.wrong.into()),
            ("no_call", self.none.into()),
            ("unknown_tool", self.unknown.into()),
            ("unanswered", self.unanswered.into()),
        ])
    }
}

/// A tool by one spelling, however a row writes it.
fn meant(tools: &Tools, value: &Value) -> String {
    use toolmark_core::evaluation::{Named, ToolId};
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    match value {
        Value::String(words) => match tools.named(words) {
            Named::One(id) => id.to_string(),
            Named::Not(shown) => shown,
        },
        _ => ToolId::new(text("server"), text("name")).to_string(),
    }
}

fn show(
    arguments: &Decide,
    models: &[Opened],
    tried: &[Tried],
    target: &Path,
    rows: usize,
    counted: &[crate::asking::Counted],
) -> Result<(), Failure> {
    let shown = output::safe(&target.display().to_string());
    if arguments.json {
        let models = models.iter().zip(tried).zip(counted).map(|((model, tried), counted)| {
            let mut all = tried.to_json();
            all.insert("model".into(), model.label.as_str().into());
            all.extend(counted.to_json());
            Value::Object(all)
        });
        let written = if rows > 0 { json!(target.display().to_string()) } else { Value::Null };
        output::json(&json!({"models": models.collect::<Vec<_>>(), "decisions": rows, "written": written}))?;
        return Ok(());
    }
    let mut table = output::table(&["model", "right", "wrong", "no call", "unknown tool", "unanswered"]);
    for (model, tried) in models.iter().zip(tried) {
        let numbers =
            [tried.right, tried.wrong, tried.none, tried.unknown, tried.unanswered].map(|own| own.to_string());
        table.add_row(std::iter::once(model.label.clone()).chain(numbers));
    }
    output::line(table.trim_fmt())?;
    for (model, counted) in models.iter().zip(counted) {
        if let Some(failure) = &counted.failure {
            output::warn(&format!(
                "{}: {} were not answered",
                model.label,
                output::count(counted.failed + counted.not_asked, "prompt")
            ));
            output::error(&Report::to_string(failure));
        }
    }
    if rows > 0 {
        output::line(format_args!(
            "\nwrote {shown}: {}; `toolmark eval` measures them",
            output::count(rows, "decision")
        ))?;
    }
    Ok(())
}

impl Explain for NoPrompts {
    fn code(&self) -> Code {
        Code::new("evaluation-no-prompts")
    }

    fn why(&self) -> String {
        "without prompts there is nothing to decide".into()
    }

    fn fix(&self) -> String {
        "add `prompts.jsonl`, one `{\"prompt\": \"…\", \"expected\": \"server/tool\"}` a line; the format is in `docs/evaluation.md`".into()
    }
}

impl Explain for AlreadyDecided {
    fn code(&self) -> Code {
        Code::new("evaluation-decided")
    }

    fn why(&self) -> String {
        "decisions that were recorded cost something, and would be lost".into()
    }

    fn fix(&self) -> String {
        "name another file with `--output FILE`, or replace it with `--force`".into()
    }
}
