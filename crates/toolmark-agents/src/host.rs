//! Which tools does the provider only know the shape of, and who runs them? Shells, patches and computers: the model calls them in the
//! provider's own words, this program runs them, and every call goes through the pipeline like that of any other tool.

mod computer;
mod diff;
mod files;
mod mcp;
mod process;
mod shell;
mod wire;

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use toolmark_core::explain::facts;
use toolmark_core::tool::ToolKind;
use toolmark_models::HostedTool;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{
    Arguments, Condition, FunctionTool, ToolBuilder, ToolContext, ToolError, ToolOutput, TurnContext,
};

pub use computer::{Button, Computer, ComputerTool, Done, Pointer, SafetyCheck, Screenshot};
pub use diff::{DiffError, apply_diff, create_from_diff};
pub use files::{PatchError, PatchFolder};
pub(crate) use mcp::{Answers, Heard, Servers, label, request};
pub use mcp::{HostedMcp, McpAnswer, McpRequest};
pub use shell::{HostFolderError, LocalShell};
pub(crate) use wire::{answer, as_call, has_concerns, is_of_host, is_request, runs};

/// A tool that the provider has a shape for and this program runs.
///
/// ```no_run
/// use std::time::Duration;
/// use toolmark_agents::{Agent, host::{HostTool, LocalShell, PatchFolder}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = Agent::builder("Coder")
///     .host_tool(HostTool::shell(LocalShell::in_folder("project")?.timeout(Duration::from_secs(20))))
///     .host_tool(HostTool::apply_patch(PatchFolder::at("project")?).needs_approval(true))
///     .build()?;
/// # Ok(())
/// # }
/// ```
pub struct HostTool {
    pub(crate) hosted: HostedTool,
    pub(crate) tool: ToolBuilder,
    /// What else a person is asked about, whatever is said of the tool.
    pub(crate) asks: Condition<ToolContext>,
}

/// Runs commands that may run. Any `Fn(ToolContext, CommandRequest)` that gives a future does too.
pub trait RunCommands: Send + Sync + 'static {
    /// Runs them in their order; one output for each that was begun.
    fn run(&self, context: ToolContext, request: CommandRequest) -> Later<'_, Result<Vec<CommandOutput>, ToolError>>;
}

/// Changes files, where that may be done. Any `Fn(ToolContext, FileOperation)` that gives a future does too.
pub trait EditFiles: Send + Sync + 'static {
    /// Does it, whole or not at all, and says what was done.
    fn edit(&self, context: ToolContext, operation: FileOperation) -> Later<'_, Result<String, ToolError>>;
}

/// What a model wants to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandRequest {
    /// The commands.
    pub commands: Commands,
    /// How long one of them may take, as far as the model is concerned.
    pub timeout: Option<Duration>,
    /// How many characters of output the model wants at most.
    pub max_output: Option<usize>,
    /// The folder that the model wants to be in.
    pub folder: Option<String>,
    /// The variables that the model wants to set.
    pub env: BTreeMap<String, String>,
    /// The user that the model wants to be.
    pub user: Option<String>,
}

/// How commands are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Commands {
    /// Each is a program for a shell.
    Shell(Vec<String>),
    /// A program and its arguments, without a shell.
    Program(Vec<String>),
}

/// What came of one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandOutput {
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
    /// How it ended.
    pub outcome: CommandOutcome,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// With this code; 128 and the number of the signal where one ended it.
    Exited(i32),
    /// It took too long, and was ended with everything that it had started.
    TimedOut,
}

/// What a model wants to be done to a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FileOperation {
    /// A file that is not there yet.
    CreateFile {
        /// Where.
        path: String,
        /// What is in it: a V4A diff of nothing but `+` lines.
        #[serde(default)]
        diff: String,
    },
    /// A file that is there.
    UpdateFile {
        /// Which.
        path: String,
        /// What changes, as a V4A diff. It may begin with `*** Move to: PATH`, which moves the file.
        #[serde(default)]
        diff: String,
        /// Where the file is to be afterwards, where that is another place.
        #[serde(default)]
        move_to: Option<String>,
    },
    /// A file that is to go.
    DeleteFile {
        /// Which.
        path: String,
    },
}

impl FileOperation {
    /// The same, with the place that the diff itself names (`*** Move to:`) beside it, for editors that do not read diffs for it. Where
    /// the two contradict each other, everything stays as it is.
    fn with_its_place(self) -> Self {
        match self {
            Self::UpdateFile { path, diff, move_to } => {
                let (said, rest) = diff::moved(&diff);
                match (said, move_to) {
                    (Some(said), given) if given.as_deref().is_none_or(|given| given == said) => {
                        let (said, rest) = (said.to_owned(), rest.to_owned());
                        Self::UpdateFile { path, diff: rest, move_to: Some(said) }
                    }
                    (_, move_to) => Self::UpdateFile { path, diff, move_to },
                }
            }
            other => other,
        }
    }
}

impl Default for CommandOutcome {
    fn default() -> Self {
        Self::Exited(0)
    }
}

impl HostTool {
    /// `shell`: commands for a shell.
    #[must_use]
    pub fn shell(runs: impl RunCommands) -> Self {
        let runs: Arc<dyn RunCommands> = Arc::new(runs);
        let tool = FunctionTool::builder("shell")
            .description("Runs shell commands on this machine.")
            .parameters(json!({
                "type": "object",
                "properties": {
                    "commands": { "type": "array", "items": { "type": "string" }, "minItems": 1, "description": "Shell commands" },
                    "timeout_ms": { "type": "integer", "minimum": 0 },
                    "max_output_length": { "type": "integer", "minimum": 0 },
                },
                "required": ["commands"],
            }))
            .behavior_of("MUTATES|EXECUTE|DATA|TEXT")
            .run(move |context, arguments| run_shell(Arc::clone(&runs), context, arguments));
        Self::of(HostedTool::Shell { environment: None }, tool)
    }

    /// `local_shell`: a program with its arguments, the older form.
    #[must_use]
    pub fn local_shell(runs: impl RunCommands) -> Self {
        let runs: Arc<dyn RunCommands> = Arc::new(runs);
        let tool = FunctionTool::builder("local_shell")
            .description("Runs a command on this machine, without a shell.")
            .parameters(json!({
                "type": "object",
                "properties": {
                    "type": { "type": "string", "enum": ["exec"] },
                    "command": { "type": "array", "items": { "type": "string" }, "minItems": 1, "description": "The command to run" },
                    "env": { "type": "object", "additionalProperties": { "type": "string" } },
                    "timeout_ms": { "type": "integer", "minimum": 0 },
                    "user": { "type": "string" },
                    "working_directory": { "type": "string" },
                },
                "required": ["command"],
            }))
            .behavior_of("MUTATES|EXECUTE|DATA|TEXT")
            .run(move |context, arguments| run_local_shell(Arc::clone(&runs), context, arguments));
        Self::of(HostedTool::LocalShell, tool)
    }

    /// `computer_use_preview`: a screen, a mouse and a keyboard. [`ComputerTool`] has more to say.
    #[must_use]
    pub fn computer(computer: impl Computer) -> Self {
        ComputerTool::new(computer).into()
    }

    /// `apply_patch`: files that are created, changed, moved and deleted.
    #[must_use]
    pub fn apply_patch(edits: impl EditFiles) -> Self {
        let edits: Arc<dyn EditFiles> = Arc::new(edits);
        let tool = FunctionTool::builder("apply_patch")
            .description("Creates, changes, moves or deletes a file on this machine.")
            .parameters(json!({
                "type": "object",
                "properties": {
                    "type": { "type": "string", "enum": ["create_file", "update_file", "delete_file"] },
                    "path": { "type": "string", "minLength": 1, "description": "Path of the file" },
                    "diff": { "type": "string", "description": "What changes" },
                    "move_to": { "type": "string", "minLength": 1, "description": "Where an updated file is moved to" },
                },
                "required": ["type", "path"],
            }))
            .behavior_of("MUTATES|UPDATE|DIFF|TEXT")
            .run(move |context, arguments: Arguments| {
                let edits = Arc::clone(&edits);
                async move {
                    let operation: FileOperation = arguments.read()?;
                    edits.edit(context, operation.with_its_place()).await
                }
            });
        Self::of(HostedTool::ApplyPatch, tool)
    }

    fn of(hosted: HostedTool, tool: ToolBuilder) -> Self {
        let place = format!("host:{}", hosted.kind());
        Self { hosted, tool: tool.kind(ToolKind::Hosted).place(place), asks: Condition::fixed(false) }
    }

    /// Whether a person must agree, beside what rules and analyzers say.
    #[must_use]
    pub fn needs_approval(self, condition: impl Into<Condition<ToolContext>>) -> Self {
        let condition = condition.into();
        self.tool(move |tool| tool.needs_approval(condition))
    }

    /// Whether it is offered, asked in every turn.
    #[must_use]
    pub fn enabled(self, condition: impl Into<Condition<TurnContext>>) -> Self {
        let condition = condition.into();
        self.tool(move |tool| tool.enabled(condition))
    }

    /// Whatever else can be said of a tool. Its name, its arguments and what runs stay what they are.
    #[must_use]
    pub fn tool(mut self, change: impl FnOnce(ToolBuilder) -> ToolBuilder) -> Self {
        self.tool = change(self.tool);
        self
    }
}

#[derive(Deserialize)]
struct ShellAction {
    commands: Vec<String>,
    timeout_ms: Option<u64>,
    max_output_length: Option<usize>,
}

async fn run_shell(
    runs: Arc<dyn RunCommands>,
    context: ToolContext,
    arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    let action: ShellAction = arguments.read()?;
    let request = CommandRequest {
        commands: Commands::Shell(action.commands),
        timeout: action.timeout_ms.map(Duration::from_millis),
        max_output: action.max_output_length,
        folder: None,
        env: BTreeMap::new(),
        user: None,
    };
    let outputs = runs.run(context, request).await?;
    let outputs = cut(outputs, action.max_output_length);
    Ok(ToolOutput::Json(Value::Object(wire::shell_output(&outputs, action.max_output_length))))
}

#[derive(Deserialize)]
struct LocalShellAction {
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    user: Option<String>,
    working_directory: Option<String>,
}

async fn run_local_shell(
    runs: Arc<dyn RunCommands>,
    context: ToolContext,
    arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    let action: LocalShellAction = arguments.read()?;
    let request = CommandRequest {
        commands: Commands::Program(action.command),
        timeout: action.timeout_ms.map(Duration::from_millis),
        max_output: None,
        folder: action.working_directory,
        env: action.env,
        user: action.user,
    };
    let output = runs.run(context, request).await?.into_iter().next().unwrap_or_default();
    let (how, ended) = match output.outcome {
        CommandOutcome::Exited(code) => ("exit_code", Value::from(code)),
        CommandOutcome::TimedOut => ("timed_out", Value::Bool(true)),
    };
    let all = facts([("stdout", output.stdout.into()), ("stderr", output.stderr.into()), (how, ended)]);
    Ok(ToolOutput::text(Value::Object(all).to_string()))
}

/// At most so many characters of all outputs together, the first ones.
fn cut(mut outputs: Vec<CommandOutput>, most: Option<usize>) -> Vec<CommandOutput> {
    let Some(mut left) = most else { return outputs };
    for output in &mut outputs {
        for text in [&mut output.stdout, &mut output.stderr] {
            let count = text.chars().count();
            if count > left {
                *text = text.chars().take(left).collect();
            }
            left = left.saturating_sub(count);
        }
    }
    outputs
}

impl<F, T> RunCommands for F
where
    F: Fn(ToolContext, CommandRequest) -> T + Send + Sync + 'static,
    T: Future<Output = Result<Vec<CommandOutput>, ToolError>> + Send + 'static,
{
    fn run(&self, context: ToolContext, request: CommandRequest) -> Later<'_, Result<Vec<CommandOutput>, ToolError>> {
        Box::pin(self(context, request))
    }
}

impl<F, T> EditFiles for F
where
    F: Fn(ToolContext, FileOperation) -> T + Send + Sync + 'static,
    T: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    fn edit(&self, context: ToolContext, operation: FileOperation) -> Later<'_, Result<String, ToolError>> {
        Box::pin(self(context, operation))
    }
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTool").field("kind", &self.hosted.kind()).finish_non_exhaustive()
    }
}
