//! Which policy is tried: a whole configuration, the rules of one over the packs and tasks of the current one, or Cedar files in place of
//! the current ones.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use toolmark_config::Config;
use toolmark_config::sections::Task;
use toolmark_config::values::{Entries, Name};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::workspace::Written;

/// A configuration to try, and where its paths start.
pub(super) struct New {
    pub(super) config: Config,
    pub(super) directory: PathBuf,
}

/// Files that are no policy together.
#[derive(Debug, thiserror::Error)]
enum PolicyFileError {
    #[error("there is no policy at `{0}`")]
    Missing(String),
    #[error("there are no Cedar files in `{0}`")]
    Empty(String),
    #[error("`{0}` and other files are not one policy")]
    Several(String),
}

impl New {
    /// Reads what was named on the command line.
    pub(super) fn read(paths: &[PathBuf], written: &Written) -> Result<Self, Failure> {
        if let Some(path) = paths.iter().find(|path| !path.exists()) {
            return Err(refused(PolicyFileError::Missing(shown(path))));
        }
        let is_cedar = |path: &&PathBuf| path.is_dir() || path.extension().is_some_and(|end| end == "cedar");
        match paths {
            all if all.iter().filter(is_cedar).count() == all.len() => Self::of_cedar(all, written),
            [one] => Self::of_file(one, written),
            [one, ..] => {
                Err(refused(PolicyFileError::Several(shown(paths.iter().find(|path| !is_cedar(path)).unwrap_or(one)))))
            }
            [] => Ok(Self { config: written.config.clone(), directory: written.directory().to_owned() }),
        }
    }

    /// The current configuration with other Cedar policies.
    fn of_cedar(paths: &[PathBuf], written: &Written) -> Result<Self, Failure> {
        let mut config = written.config.clone();
        config.policy.cedar.0.clear();
        for path in paths {
            let whole = std::path::absolute(path)?;
            if !path.is_dir() {
                config.policy.cedar.0.push(whole.display().to_string());
                continue;
            }
            let ends = |file: &PathBuf| file.extension().is_some_and(|end| end == "cedar");
            let found =
                std::fs::read_dir(&whole)?.filter_map(Result::ok).map(|entry| entry.path()).any(|file| ends(&file));
            if !found {
                return Err(refused(PolicyFileError::Empty(shown(path))));
            }
            config.policy.cedar.0.push(whole.join("*.cedar").display().to_string());
        }
        Ok(Self { config, directory: written.directory().to_owned() })
    }

    /// A file that is a whole configuration, or only the part of one that decides.
    fn of_file(path: &Path, written: &Written) -> Result<Self, Failure> {
        let new = Written::read(path.to_owned())?;
        let directory = new.directory().to_owned();
        if !new.config.packs.is_empty() || written.path.is_none() {
            return Ok(Self { config: new.config, directory });
        }
        output::note("the file describes no packs; those of the current configuration are used");
        let mut config = written.config.clone();
        config.rules = new.config.rules;
        config.policy = new.config.policy;
        let from = std::path::absolute(&directory)?;
        for pattern in &mut config.policy.cedar.0 {
            *pattern = from.join(&*pattern).display().to_string();
        }
        let mut tasks: Vec<(Name, Task)> = Vec::new();
        for (name, task) in &new.config.tasks {
            let baseline = task.baseline.as_ref().map(|file| from.join(file).display().to_string());
            tasks.push((name.clone(), Task { baseline, ..task.clone() }));
        }
        tasks.extend(config.tasks.iter().filter(|(name, _)| new.config.tasks.get(name).is_none()).cloned());
        config.tasks = Entries::new(tasks);
        Ok(Self { config, directory: written.directory().to_owned() })
    }
}

fn shown(path: &Path) -> String {
    visible(&path.display().to_string(), 300)
}

#[expect(clippy::needless_pass_by_value, reason = "every caller makes it on the spot")]
fn refused(error: PolicyFileError) -> Failure {
    Failure::refused(Exit::BadInput, &error)
}

impl Explain for PolicyFileError {
    fn code(&self) -> Code {
        Code::new("replay-policy")
    }

    fn why(&self) -> String {
        "calls judged by something else than what was meant would say nothing about it".into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Missing(_) => "check the path".into(),
            Self::Empty(_) => "name the folder with the policies, or the files themselves".into(),
            Self::Several(_) => "name one `toolmark.toml`, or one or more Cedar files".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        let (Self::Missing(path) | Self::Empty(path) | Self::Several(path)) = self;
        facts([("path", json!(path))])
    }
}
