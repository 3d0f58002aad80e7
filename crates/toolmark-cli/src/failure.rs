//! Why a command could not do its work, told in four parts or as JSON.

use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

use crate::exit::Exit;
use crate::output;

/// Everything that ends a command early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// One explained refusal.
    Refused(Exit, Box<Report>),
    /// Several problems of the input.
    Problems(Vec<Problem>),
    /// Standard output went away or cannot be written.
    Output(io::Error),
}

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} `{path}`: {error}")]
pub(crate) struct FileError {
    verb: &'static str,
    path: String,
    error: String,
    code: Code,
}

impl Failure {
    pub(crate) fn refused(exit: Exit, error: &impl Explain) -> Self {
        Self::Refused(exit, Box::new(error.report()))
    }

    /// Prints it and gives the exit code.
    pub(crate) fn show(self, json: bool) -> Exit {
        let (exit, reports, whole) = match self.told() {
            Ok(told) => told,
            Err(exit) => return exit,
        };
        if json {
            // Nothing can be reported about a standard output that is gone.
            let _ = output::json(&whole);
        } else {
            for report in reports {
                output::error(&report);
            }
        }
        exit
    }

    /// The same as one line of JSON, the last of those that say what happened.
    pub(crate) fn show_as_event(self) -> Exit {
        let (exit, _, mut whole) = match self.told() {
            Ok(told) => told,
            Err(exit) => return exit,
        };
        if let Some(all) = whole.as_object_mut() {
            all.insert("event".into(), "error".into());
        }
        let _ = output::line(whole);
        exit
    }

    /// What there is to say: to people, and to programs. Nothing where it was said, or nobody is left to hear it.
    fn told(self) -> Result<(Exit, Vec<String>, Value), Exit> {
        Ok(match self {
            // A reader that has seen enough, such as `head`, is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return Err(Exit::Success),
            Self::Output(error) => {
                output::warn(&format!("cannot write to standard output: {error}"));
                return Err(Exit::Failed);
            }
            Self::Refused(exit, report) => (exit, vec![report.to_string()], json!({"error": report.to_json()})),
            Self::Problems(problems) => {
                let texts = problems.iter().map(ToString::to_string).collect();
                let all: Vec<Value> = problems.iter().map(Problem::to_json).collect();
                (Exit::BadInput, texts, json!({"error": {"code": "catalog-invalid", "problems": all}}))
            }
        })
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl FileError {
    pub(crate) fn reading(path: &Path, error: &dyn std::fmt::Display) -> Self {
        Self { verb: "read", path: shown(path), error: error.to_string(), code: Code::new("file-unreadable") }
    }

    pub(crate) fn writing(path: &Path, error: &dyn std::fmt::Display) -> Self {
        Self { verb: "write", path: shown(path), error: error.to_string(), code: Code::new("file-unwritable") }
    }

    pub(crate) fn too_large(path: &Path, bytes: u64, most: u64) -> Self {
        let error = format!("it has {bytes} bytes, more than {most}");
        Self { verb: "read", path: shown(path), error, code: Code::new("file-too-large") }
    }
}

impl Explain for FileError {
    fn code(&self) -> Code {
        self.code
    }

    fn why(&self) -> String {
        match self.code.as_str() {
            "file-unwritable" => "what was asked for would be lost",
            "file-too-large" => "reading it could take all the memory of this machine",
            _ => "what stands in it would silently not count",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self.code.as_str() {
            "file-unwritable" => "choose a place that you may write to".into(),
            "file-too-large" => "split it into one file a server, and name the folder".into(),
            _ if self.error.ends_with("is not UTF-8") => "save it as UTF-8".into(),
            _ => "check the path, and that you may read it".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("path", self.path.as_str().into()), ("error", self.error.as_str().into())])
    }
}

fn shown(path: &Path) -> String {
    visible(&path.display().to_string(), 300)
}
