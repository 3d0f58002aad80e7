//! A tool that failed. What went wrong is for the program; the model is told only what was written for it.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// Why a tool brought no result of its own.
///
/// It is made of any error by `?`, and then the model is told nothing of it. What the model should read is said with
/// [`ToolError::told`].
pub struct ToolError {
    kind: ToolErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What kind of failure it is. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolErrorKind {
    /// The tool says so; the text is for the program.
    Failed,
    /// The tool says so; the text is for the model.
    Told,
    /// The arguments do not fit; the text is for the model.
    Arguments,
    /// The run lacks a value that the tool needs.
    Context,
    /// The tool panicked.
    Panicked,
    /// The tool took too long.
    TimedOut,
    /// The tool waits for somebody and goes on when it is called again; no failure.
    Unfinished,
}

/// What the model reads is cut here.
const MOST_CHARACTERS: usize = 4_000;

impl ToolError {
    /// A failure for the program's logs. The model is not told what it was.
    #[must_use]
    pub fn new(message: impl fmt::Display) -> Self {
        Self::of(ToolErrorKind::Failed, message.to_string())
    }

    /// A failure whose text is written for the model.
    #[must_use]
    pub fn told(text: impl fmt::Display) -> Self {
        Self::of(ToolErrorKind::Told, text.to_string())
    }

    /// Arguments that do not fit, in words for the model.
    #[must_use]
    pub fn arguments(text: impl fmt::Display) -> Self {
        Self::of(ToolErrorKind::Arguments, text.to_string())
    }

    /// The same with the error behind it, which only the program sees.
    #[must_use]
    pub fn caused_by(mut self, error: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(error));
        self
    }

    /// No failure: the tool cannot go on before somebody decides something, and will be called again with the same call. For tools
    /// that run others, such as an agent in which a call waits for approval. What it has done so far it must keep by itself.
    #[must_use]
    pub fn unfinished() -> Self {
        Self::of(ToolErrorKind::Unfinished, "the tool waits for a decision".into())
    }

    pub(crate) fn without_context(type_name: &str) -> Self {
        Self::of(ToolErrorKind::Context, format!("the run was given no value of type `{type_name}`"))
    }

    pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Self {
        let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message = match said {
            Some(said) => format!("the tool panicked: {said}"),
            None => "the tool panicked".into(),
        };
        Self::of(ToolErrorKind::Panicked, message)
    }

    pub(crate) fn timed_out(after: std::time::Duration) -> Self {
        Self::of(ToolErrorKind::TimedOut, format!("it took longer than {} seconds", after.as_secs_f64()))
    }

    fn of(kind: ToolErrorKind, message: String) -> Self {
        Self { kind, message, source: None }
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// What went wrong, for the program. It may hold secrets.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error it was made of.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.source.as_deref()
    }

    /// What is written for the model, where anything is.
    #[must_use]
    pub fn for_model(&self) -> Option<String> {
        match self.kind {
            ToolErrorKind::Told => Some(clip(&self.message)),
            ToolErrorKind::Arguments => Some(format!("The arguments do not fit: {}", clip(&self.message))),
            ToolErrorKind::TimedOut => Some(clip(&self.message).replacen("it took", "It took", 1)),
            ToolErrorKind::Failed | ToolErrorKind::Context | ToolErrorKind::Panicked | ToolErrorKind::Unfinished => {
                None
            }
        }
    }

    /// The default text: what was written for the model, or that it failed and no more.
    ///
    /// Invariant: nothing of an error that was not written for the model gets here.
    #[must_use]
    pub fn default_text(&self, tool: &str, may_change: bool) -> String {
        let tool = visible(tool, 200);
        let then = match (self.kind, may_change) {
            (ToolErrorKind::Arguments, _) => "Correct them and call again.",
            (_, true) => "It may have had an effect: check before you repeat it.",
            (_, false) => "Try again with other arguments, or go another way.",
        };
        match self.for_model() {
            Some(text) if self.kind == ToolErrorKind::Told => text,
            Some(text) => format!("`{tool}` failed. {text}. {then}"),
            None => format!("`{tool}` failed. {then}"),
        }
    }
}

/// Line breaks stay; whatever hides is written out.
fn clip(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| visible(line, MOST_CHARACTERS)).collect();
    let all = lines.join("\n");
    match all.char_indices().nth(MOST_CHARACTERS) {
        Some((cut, _)) => format!("{}…", all.get(..cut).unwrap_or_default()),
        None => all,
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError").field("kind", &self.kind).field("message", &self.message).finish_non_exhaustive()
    }
}

/// Any error is a failure of the tool. `ToolError` is no `Error` itself, so that `?` takes all of them.
impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self { kind: ToolErrorKind::Failed, message: error.to_string(), source: Some(Box::new(error)) }
    }
}

impl ToolErrorKind {
    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Told => "told",
            Self::Arguments => "arguments",
            Self::Context => "context",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed-out",
            Self::Unfinished => "unfinished",
        }
    }
}

impl Explain for ToolError {
    fn code(&self) -> Code {
        match self.kind {
            ToolErrorKind::Failed | ToolErrorKind::Told => Code::new("tool-failed"),
            ToolErrorKind::Arguments => Code::new("tool-arguments"),
            ToolErrorKind::Context => Code::new("context-missing"),
            ToolErrorKind::Panicked => Code::new("tool-panicked"),
            ToolErrorKind::TimedOut => Code::new("tool-timeout"),
            ToolErrorKind::Unfinished => Code::new("tool-unfinished"),
        }
    }

    fn why(&self) -> String {
        match self.kind {
            ToolErrorKind::Failed | ToolErrorKind::Told => "the tool itself says that it failed".into(),
            ToolErrorKind::Arguments => "the arguments fit the schema, but not the types of the tool".into(),
            ToolErrorKind::Context => "the tool reads a value that the program did not put into the run".into(),
            ToolErrorKind::Panicked => "a panic in a tool ends the call and not the run".into(),
            ToolErrorKind::TimedOut => "the tool has a limit, and a call beyond it is given up".into(),
            ToolErrorKind::Unfinished => "somebody has to decide something before the tool can go on".into(),
        }
    }

    fn fix(&self) -> String {
        match self.kind {
            ToolErrorKind::Failed | ToolErrorKind::Told => {
                "read the message; use `ToolError::told` for what the model should read".into()
            }
            ToolErrorKind::Arguments => "say in the schema what the types accept".into(),
            ToolErrorKind::Context => "add it: `RunContext::new().with(value)`".into(),
            ToolErrorKind::Panicked => "return an error where the tool panics".into(),
            ToolErrorKind::TimedOut => "raise `timeout` of the tool, if it needs that long".into(),
            ToolErrorKind::Unfinished => "decide, and call it again".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("kind", self.kind.as_str().into())])
    }
}

#[cfg(test)]
mod tests;
