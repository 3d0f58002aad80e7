//! `toolmark eval`: measures the classifier, the identities and the gate on labelled data. Labels are read for scoring only.

mod calls;
pub(crate) mod decide;
mod paper;
mod print;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value};
use toolmark_core::evaluation::{DataSet, Decision, Evaluation, Label, Pair, ReadRowError, Tools};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{input, output};
use calls::{Call, Verdicts};
use decide::Decide;

/// The data set that is built in.
const PAPER: &str = "paper";
/// From so many tools on, measuring shows a progress bar.
const LONG: usize = 2_000;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Eval {
    #[command(subcommand)]
    command: Option<EvalCommand>,

    /// A folder with `tools.jsonl` and any of `labels.jsonl`, `pairs.jsonl`, `calls.jsonl`, `decisions.jsonl`; or `paper`,
    /// for what the paper behind the identities reports, on the real definitions of its four servers
    #[arg(required = true)]
    pub(crate) dir: Option<PathBuf>,

    /// Definitions to use in place of the folder's `tools.jsonl`
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    /// Let models choose a tool for every prompt of a folder, and record what they choose in `decisions.jsonl`
    Decide(Box<Decide>),
}

impl Eval {
    pub(crate) fn wants_json(&self) -> bool {
        match &self.command {
            Some(EvalCommand::Decide(arguments)) => arguments.json,
            None => self.json,
        }
    }
}

/// A folder that holds nothing to measure.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` holds none of the files of a data set")]
struct NothingToMeasure(String);

/// Rows about tools, and no tools.
#[derive(Debug, thiserror::Error)]
#[error("`{folder}` has `{file}`, but no `tools.jsonl`")]
struct NoDefinitions {
    folder: String,
    file: &'static str,
}

/// The text of a data set, file by file.
#[derive(Debug, Default)]
pub(crate) struct Files {
    tools: Option<String>,
    labels: Option<String>,
    pairs: Option<String>,
    calls: Option<String>,
    decisions: Option<String>,
}

/// What is measured, and everything it was measured on.
struct Measured {
    data: DataSet,
    evaluation: Evaluation,
    calls: Option<Verdicts>,
}

pub(crate) fn run(arguments: &Eval) -> Result<Exit, Failure> {
    if let Some(EvalCommand::Decide(arguments)) = &arguments.command {
        return decide::run(arguments);
    }
    // The command line demands one.
    let folder = arguments.dir.as_deref().unwrap_or(Path::new(""));
    let built_in = folder.as_os_str() == PAPER;
    let files = if built_in { paper::files() } else { Files::read(folder, arguments.tools.as_deref())? };
    let measured = Measured::of(&files).map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    let report = built_in.then(|| paper::Report::of(&measured.data, &measured.evaluation));
    if arguments.json {
        let mut all = measured.to_json();
        if let Some(report) = &report {
            all.insert("paper".into(), report.to_json());
        }
        output::json(&Value::Object(all))?;
    } else {
        if let Some(report) = &report {
            report.print()?;
        }
        print::all(&measured)?;
    }
    Ok(Exit::Success)
}

impl Files {
    fn read(folder: &Path, tools: Option<&Path>) -> Result<Self, Failure> {
        let text = |path: &Path| input::document(path).map(|document| document.text().to_owned());
        // A folder that cannot be opened is told apart from one that is empty.
        input::require_folder(folder)?;
        let file = |name: &str| {
            let path = folder.join(name);
            if path.exists() { text(&path).map(Some) } else { Ok(None) }
        };
        let files = Self {
            tools: tools.map_or_else(|| file("tools.jsonl"), |path| text(path).map(Some))?,
            labels: file("labels.jsonl")?,
            pairs: file("pairs.jsonl")?,
            calls: file("calls.jsonl")?,
            decisions: file("decisions.jsonl")?,
        };
        let shown = || visible(&folder.display().to_string(), 300);
        let rows = [
            ("labels.jsonl", &files.labels),
            ("pairs.jsonl", &files.pairs),
            ("calls.jsonl", &files.calls),
            ("decisions.jsonl", &files.decisions),
        ];
        match (&files.tools, rows.iter().find(|(_, text)| text.is_some())) {
            (Some(_), _) => Ok(files),
            (None, Some((file, _))) => Err(Failure::refused(Exit::BadInput, &NoDefinitions { folder: shown(), file })),
            (None, None) => Err(Failure::refused(Exit::BadInput, &NothingToMeasure(shown()))),
        }
    }
}

impl Measured {
    fn of(files: &Files) -> Result<Self, ReadRowError> {
        let data = DataSet {
            tools: Tools::read(files.tools.as_deref().unwrap_or_default())?,
            labels: files.labels.as_deref().map(Label::read_all).transpose()?,
            pairs: files.pairs.as_deref().map(Pair::read_all).transpose()?,
            decisions: files.decisions.as_deref().map(Decision::read_all).transpose()?,
        };
        let calls = files.calls.as_deref().map(Call::read_all).transpose()?;
        let bar = progress(data.tools.len() + calls.as_ref().map_or(0, Vec::len));
        let evaluation = Evaluation::of(&data, &|| bar.inc(1));
        let calls = calls.map(|calls| Verdicts::of(&data.tools, &calls, &|| bar.inc(1)));
        bar.finish_and_clear();
        Ok(Self { data, evaluation, calls })
    }

    fn to_json(&self) -> Map<String, Value> {
        let mut all = self.evaluation.to_json();
        if let Some(calls) = &self.calls {
            all.insert("calls".into(), calls.to_json());
        }
        all
    }
}

fn progress(steps: usize) -> ProgressBar {
    if steps < LONG || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("measuring {wide_bar} {pos}/{len}") {
        bar.set_style(style);
    }
    bar
}

impl Explain for NothingToMeasure {
    fn code(&self) -> Code {
        Code::new("evaluation-empty")
    }

    fn why(&self) -> String {
        "figures over nothing would look like figures".into()
    }

    fn fix(&self) -> String {
        "name a folder with `tools.jsonl` and any of `labels.jsonl`, `pairs.jsonl`, `calls.jsonl`, `decisions.jsonl`, \
         or `paper` for the data set that is built in"
            .into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("folder", self.0.as_str().into())])
    }
}

impl Explain for NoDefinitions {
    fn code(&self) -> Code {
        Code::new("evaluation-no-tools")
    }

    fn why(&self) -> String {
        "identities and verdicts come from the definitions of tools, never from labels".into()
    }

    fn fix(&self) -> String {
        "add `tools.jsonl` to the folder, or name the definitions: `--tools FILE`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("folder", self.folder.as_str().into()), ("file", self.file.into())])
    }
}
