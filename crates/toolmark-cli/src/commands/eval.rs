//! `toolmark eval`: measures the classifier, the identities and the gate on labelled data. Labels are read for scoring only.

use std::path::Path;

use serde_json::{Map, Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::evaluation::{Evaluation, Label, Pair, Tools};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::gate::Preset;
use toolmark_core::json;
use toolmark_core::schema::check::InputSchema;
use toolmark_core::verdict::Decision;

use crate::cli::Eval;
use crate::commands::explain;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{input, output};

/// A row of labelled data that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{file}`: {problem}")]
struct WrongRow {
    file: &'static str,
    problem: String,
}

/// How the gate decided calls of one kind.
#[derive(Debug, Default)]
struct Decided {
    total: usize,
    denied: usize,
    asked: usize,
    allowed: usize,
}

pub(crate) fn run(arguments: &Eval) -> Result<Exit, Failure> {
    let folder = &arguments.dir;
    let tools_file = folder.join("tools.jsonl");
    let catalog = input::catalog(std::slice::from_ref(&tools_file))?;
    let mut result = definitions(folder)?;
    if let Some(text) = text(folder, "calls.jsonl")? {
        result.insert("calls".into(), calls(&catalog, &text)?);
    }
    if arguments.json {
        output::json(&Value::Object(result))?;
    } else {
        print(&result)?;
    }
    Ok(Exit::Success)
}

fn text(folder: &Path, name: &str) -> Result<Option<String>, Failure> {
    let path = folder.join(name);
    if path.is_file() { input::document(&path).map(|document| Some(document.text().to_owned())) } else { Ok(None) }
}

/// The classifier and the pairs.
fn definitions(folder: &Path) -> Result<Map<String, Value>, Failure> {
    let wrong = |file: &'static str, problem: String| Failure::refused(Exit::BadInput, &WrongRow { file, problem });
    let read = |name: &'static str| text(folder, name).map(Option::unwrap_or_default);
    let tools = Tools::read(&read("tools.jsonl")?).map_err(|error| wrong("tools.jsonl", error.to_string()))?;
    let labels = Label::read_all(&read("labels.jsonl")?).map_err(|error| wrong("labels.jsonl", error.to_string()))?;
    let pairs = Pair::read_all(&read("pairs.jsonl")?).map_err(|error| wrong("pairs.jsonl", error.to_string()))?;
    let fits = |schema: &Value, arguments: &Value| {
        InputSchema::compile(schema).is_ok_and(|schema| schema.check(arguments).is_ok())
    };
    Ok(Evaluation::of(&tools, &labels, &pairs, &fits).to_json())
}

/// The verdicts on calls. What they are labelled is looked at after the verdict.
fn calls(catalog: &Catalog, text: &str) -> Result<Value, Failure> {
    let wrong = |problem: String| Failure::refused(Exit::BadInput, &WrongRow { file: "calls.jsonl", problem });
    let (mut dangerous, mut harmless) = (Decided::default(), Decided::default());
    let (mut misses, mut false_alarms) = (Vec::new(), Vec::new());
    let mut invalid = 0;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let row = json::read(line).map_err(|error| wrong(format!("row {}: {error}", at + 1)))?.to_value();
        let field = |key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default();
        let lookup = format!("{}.{}", field("server"), field("name"));
        let tool = catalog.find(&lookup, |_| true).map_err(|error| wrong(format!("row {}: {error}", at + 1)))?;
        let arguments = row.get("arguments").cloned().unwrap_or_default();
        let trace = explain::trace(catalog, tool, &arguments, None, Preset::Balanced);
        // The gate is measured by itself: some recorded calls do not fit the schema of the version in the data.
        let decision = trace.gate;
        invalid += usize::from(trace.invalid.is_some());
        let id =
            row.get("id").and_then(Value::as_str).map_or_else(|| format!("{lookup}#{}", at + 1), ToOwned::to_owned);
        if row.get("dangerous").and_then(Value::as_bool).unwrap_or(false) {
            dangerous.count(decision);
            if decision == Decision::Allow {
                misses.push(id);
            }
        } else {
            harmless.count(decision);
            if decision != Decision::Allow {
                false_alarms.push(id);
            }
        }
    }
    Ok(
        json!({"dangerous": dangerous.to_json(), "harmless": harmless.to_json(), "misses": misses, "false_alarms": false_alarms, "invalid": invalid}),
    )
}

impl Decided {
    fn count(&mut self, decision: Decision) {
        self.total += 1;
        match decision {
            Decision::Deny => self.denied += 1,
            Decision::Ask => self.asked += 1,
            Decision::Allow => self.allowed += 1,
        }
    }

    fn to_json(&self) -> Value {
        json!({"total": self.total, "denied": self.denied, "asked": self.asked, "allowed": self.allowed})
    }
}

fn print(result: &Map<String, Value>) -> Result<(), Failure> {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or(0);
    let share = |part: u64, whole: u64| {
        if whole == 0 { "–".into() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
    };
    for name in ["classifier", "classifier_without_hints", "classifier_schema_only"] {
        let Some(score) = result.get(name) else { continue };
        output::line(output::painted(output::BOLD, name))?;
        let mut table = output::table(&["field", "labelled", "answered", "agree", "of unambiguous"]);
        for field in ["mutability", "action", "output_domain", "content_type"] {
            let get = |key: &str| number(score.get(field).and_then(|field| field.get(key)));
            table.add_row([
                field.to_owned(),
                get("labelled").to_string(),
                share(get("answered"), get("labelled")),
                share(get("agree"), get("answered")),
                share(get("agree_unambiguous"), get("unambiguous")),
            ]);
        }
        output::line(table.trim_fmt())?;
        output::line(format_args!(
            " mutating tools called PURE: {} of {}\n",
            number(score.get("false_pure")),
            number(score.get("mutating"))
        ))?;
    }
    if let Some(pairs) = result.get("pairs") {
        output::line(output::painted(output::BOLD, "pairs separated"))?;
        let mut table = output::table(&["identity", "critical", "high", "medium", "low", "same stay together"]);
        for form in ["v1", "v2", "v3"] {
            let cell = |severity: &str, key: &str| {
                let score = pairs.get(form).and_then(|form| form.get(severity));
                let get = |key: &str| number(score.and_then(|score| score.get(key)));
                format!("{} of {}", get(key), get("total"))
            };
            let severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"].map(|severity| cell(severity, "separated"));
            let [critical, high, medium, low] = severities;
            table.add_row([form.to_owned(), critical, high, medium, low, cell("same", "together")]);
        }
        output::line(table.trim_fmt())?;
        output::line("")?;
    }
    if let Some(calls) = result.get("calls") {
        output::line(output::painted(output::BOLD, "calls"))?;
        let mut table = output::table(&["calls", "total", "denied", "asked", "allowed"]);
        for kind in ["dangerous", "harmless"] {
            let get = |key: &str| number(calls.get(kind).and_then(|kind| kind.get(key)));
            let with_share = |key: &str| format!("{} ({})", get(key), share(get(key), get("total")));
            table.add_row([
                kind.to_owned(),
                get("total").to_string(),
                with_share("denied"),
                with_share("asked"),
                with_share("allowed"),
            ]);
        }
        output::line(table.trim_fmt())?;
    }
    Ok(())
}

impl Explain for WrongRow {
    fn code(&self) -> Code {
        Code::new("evaluation-row")
    }

    fn why(&self) -> String {
        "a row that is skipped would make the figures look better or worse than they are".into()
    }

    fn fix(&self) -> String {
        "correct the row; the format is described in `corpus/README.md`".into()
    }
}
