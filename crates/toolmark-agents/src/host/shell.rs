//! How are commands run on this machine? In one folder, with an environment that is written down, for as long as they may.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::process::Command;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{ToolContext, ToolError};

use super::process::run;
use super::{CommandOutcome, CommandOutput, CommandRequest, Commands, RunCommands};

/// Runs commands in a folder of this machine. This is no cage: what a command may do is what this process may do, which is why each call
/// is analyzed, judged and, where that is needed, approved. Cheap to clone.
#[derive(Clone)]
pub struct LocalShell(Arc<Settings>);

#[derive(Clone)]
struct Settings {
    folder: PathBuf,
    shell: PathBuf,
    env: BTreeMap<String, String>,
    settable: BTreeSet<String>,
    timeout: Duration,
    output: usize,
}

/// A folder that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the folder `{path}` cannot be used: {reason}")]
pub struct HostFolderError {
    path: String,
    reason: String,
}

impl HostFolderError {
    pub(super) fn new(path: &Path, reason: impl fmt::Display) -> Self {
        Self { path: visible(&path.to_string_lossy(), 500), reason: reason.to_string() }
    }

    /// Where a folder really is.
    pub(super) fn real(path: &Path) -> Result<PathBuf, Self> {
        let real = path.canonicalize().map_err(|error| Self::new(path, error))?;
        if real.is_dir() { Ok(real) } else { Err(Self::new(path, "it is no folder")) }
    }
}

impl LocalShell {
    /// In a folder that is there, for at most two minutes a command, with at most a mebibyte of each stream. Commands see `PATH`, `HOME`
    /// (the folder) and `LANG`, and nothing of this process.
    ///
    /// # Errors
    /// [`HostFolderError`] when it is none.
    pub fn in_folder(folder: impl AsRef<Path>) -> Result<Self, HostFolderError> {
        let folder = HostFolderError::real(folder.as_ref())?;
        let env = [
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned()),
            ("HOME", folder.to_string_lossy().into_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ];
        Ok(Self(Arc::new(Settings {
            folder,
            shell: PathBuf::from("/bin/sh"),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            settable: BTreeSet::new(),
            timeout: Duration::from_secs(120),
            output: 1 << 20,
        })))
    }

    /// The shell that runs commands, with `-c`.
    #[must_use]
    pub fn shell(mut self, program: impl Into<PathBuf>) -> Self {
        Arc::make_mut(&mut self.0).shell = program.into();
        self
    }

    /// A variable that commands see.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).env.insert(name.into(), value.into());
        self
    }

    /// Variables that the model may set. There are none unless this says so: some of them decide what a program runs.
    #[must_use]
    pub fn settable<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        Arc::make_mut(&mut self.0).settable.extend(names.into_iter().map(Into::into));
        self
    }

    /// How long a command may take. The model may ask for less.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        Arc::make_mut(&mut self.0).timeout = timeout;
        self
    }

    /// How many bytes are kept of each stream of a command. The model may ask for less.
    #[must_use]
    pub fn output_limit(mut self, bytes: usize) -> Self {
        Arc::make_mut(&mut self.0).output = bytes;
        self
    }
}

impl Settings {
    /// The folder that a model asks for: our own, or one below it, links followed.
    fn folder(&self, asked: Option<&str>) -> Result<PathBuf, ToolError> {
        let Some(asked) = asked.filter(|asked| !asked.is_empty()) else { return Ok(self.folder.clone()) };
        let refuse =
            |why: &str| Err(ToolError::told(format!("Nothing was run: the folder `{}` {why}.", visible(asked, 500))));
        match self.folder.join(asked).canonicalize() {
            Ok(real) if !real.starts_with(&self.folder) => refuse("is outside of the one that commands run in"),
            Ok(real) if real.is_dir() => Ok(real),
            _ => refuse("is not there"),
        }
    }

    fn command(&self, program: &Path, folder: &Path, own: &BTreeMap<String, String>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.env).envs(own).current_dir(folder);
        command
    }

    async fn run(&self, request: CommandRequest) -> Result<Vec<CommandOutput>, ToolError> {
        if let Some(user) = request.user.filter(|user| !user.is_empty()) {
            let user = visible(&user, 100);
            return Err(ToolError::told(format!("Nothing was run: commands cannot run as the user `{user}`.")));
        }
        if let Some(name) = request.env.keys().find(|name| !self.settable.contains(*name)) {
            let name = visible(name, 100);
            return Err(ToolError::told(format!("Nothing was run: the variable `{name}` may not be set.")));
        }
        let folder = self.folder(request.folder.as_deref())?;
        let timeout = request.timeout.map_or(self.timeout, |asked| asked.min(self.timeout));
        let commands: Vec<Command> = match request.commands {
            Commands::Shell(texts) => {
                let one = |text: String| {
                    let mut command = self.command(&self.shell, &folder, &request.env);
                    command.arg("-c").arg(text);
                    command
                };
                texts.into_iter().map(one).collect()
            }
            Commands::Program(words) => {
                let mut words = words.into_iter();
                let Some(program) = words.next().filter(|program| !program.is_empty()) else {
                    return Err(ToolError::told("Nothing was run: there is no command."));
                };
                let mut command = self.command(Path::new(&program), &folder, &request.env);
                command.args(words);
                vec![command]
            }
        };
        let mut outputs = Vec::with_capacity(commands.len());
        for command in commands {
            let output = match run(command, timeout, self.output).await {
                Ok(output) => output,
                // As a shell says it.
                Err(error) => CommandOutput {
                    stderr: format!("the command cannot be started: {error}"),
                    outcome: CommandOutcome::Exited(127),
                    ..CommandOutput::default()
                },
            };
            let late = output.outcome == CommandOutcome::TimedOut;
            outputs.push(output);
            // What comes after a command that never ended was not meant for what it left behind.
            if late {
                break;
            }
        }
        Ok(outputs)
    }
}

impl RunCommands for LocalShell {
    fn run(&self, _: ToolContext, request: CommandRequest) -> Later<'_, Result<Vec<CommandOutput>, ToolError>> {
        Box::pin(self.0.run(request))
    }
}

impl Explain for HostFolderError {
    fn code(&self) -> Code {
        Code::new("host-folder")
    }

    fn why(&self) -> String {
        "commands and patches are kept to one folder, which has to be there".into()
    }

    fn fix(&self) -> String {
        "make the folder, or name another".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("folder", self.path.as_str().into())])
    }
}

/// Variables may hold secrets: only their names are shown.
impl fmt::Debug for LocalShell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalShell")
            .field("folder", &self.0.folder)
            .field("env", &self.0.env.keys())
            .finish_non_exhaustive()
    }
}
