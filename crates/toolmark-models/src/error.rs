//! Why is there no answer, and would it help to ask again? No text here ever holds a key.

mod explain;

use std::fmt;
use std::time::Duration;

use crate::unsendable::UnsendableError;

/// There is no answer, or no whole one.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    model: String,
    kind: Box<ModelErrorKind>,
    attempts: u32,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum ModelErrorKind {
    /// The request was not sent.
    #[error(transparent)]
    Unsendable(#[from] UnsendableError),
    /// The provider does not accept the key, or does not let it do this. What it says about a key that it does not know is not
    /// repeated, since it may hold a part of it.
    #[error("the provider does not accept the key (status {status}){}", said(message.as_deref()))]
    Auth { status: u16, message: Option<String> },
    /// Too many requests.
    #[error("too many requests: {message}")]
    RateLimited { message: String, retry_after: Option<Duration> },
    /// Nothing is left to spend.
    #[error("the account has nothing left to spend: {message}")]
    Quota { message: String },
    /// The provider does not accept the request.
    #[error("the provider refuses the request (status {status}): {message}")]
    BadRequest { status: u16, message: String },
    /// The provider has too much to do.
    #[error("the provider is overloaded: {message}")]
    Overloaded { message: String, retry_after: Option<Duration> },
    /// The provider failed.
    #[error("the provider failed (status {status}): {message}")]
    ServerFailed { status: u16, message: String, retry_after: Option<Duration> },
    /// The provider began to answer and then said that it failed.
    #[error("the provider gave up on its answer: {message}")]
    AnswerFailed { message: String, temporary: bool },
    /// Something took too long.
    #[error("{waited} took longer than {limit:?}")]
    Timeout { waited: Waited, limit: Duration },
    /// Nobody is there, or the connection broke.
    #[error("the provider cannot be reached: {reason}")]
    Unreachable { reason: String, sent: bool },
    /// The server is not who it should be, as far as its certificate says. Nothing was said to it.
    #[error("the server's certificate is not accepted: {reason}")]
    Certificate { reason: String },
    /// The provider sends us elsewhere. The key is not taken there.
    #[error("the provider redirects to another address (status {status})")]
    Redirected { status: u16 },
    /// A page for people, from a proxy or a login.
    #[error("the answer is a web page, not JSON (status {status}): {title}")]
    Html { status: u16, title: String },
    /// An answer that cannot be read.
    #[error("the answer cannot be read: {problem}")]
    Malformed { problem: String },
    /// A stream that ended before the answer did.
    #[error("the stream ended before the answer did")]
    Truncated,
    /// More than is allowed.
    #[error("the answer has more than {limit} bytes")]
    TooLarge { limit: usize },
    /// A script that has no answer to this.
    #[error("the script has no answer: {problem}")]
    Script { problem: String },
}

/// What took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Connecting.
    Connect,
    /// The whole answer.
    Whole,
    /// The next piece of a stream.
    Idle,
}

impl ModelError {
    /// An error of this model.
    #[must_use]
    pub fn new(model: impl fmt::Display, kind: impl Into<ModelErrorKind>) -> Self {
        Self { model: model.to_string(), kind: Box::new(kind.into()), attempts: 1 }
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ModelErrorKind {
        &self.kind
    }

    /// The model that was asked.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How often it was asked.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// True when the same question may get an answer later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        self.kind.is_temporary()
    }

    pub(crate) fn after(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }
}

impl ModelErrorKind {
    /// True when the same question may get an answer later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Overloaded { .. } | Self::ServerFailed { .. } => true,
            Self::Unreachable { .. } | Self::Timeout { .. } | Self::Truncated => true,
            Self::Unsendable(_) | Self::Auth { .. } | Self::Quota { .. } | Self::BadRequest { .. } => false,
            Self::AnswerFailed { temporary, .. } => *temporary,
            Self::Certificate { .. } | Self::Redirected { .. } | Self::Html { .. } | Self::Malformed { .. } => false,
            Self::TooLarge { .. } | Self::Script { .. } => false,
        }
    }

    pub(crate) fn malformed(problem: impl Into<String>) -> Self {
        Self::Malformed { problem: problem.into() }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the model `{}` gave no answer: {}", self.model, self.kind)?;
        if self.attempts > 1 {
            write!(f, " (asked {} times)", self.attempts)?;
        }
        Ok(())
    }
}

impl std::error::Error for ModelError {}

fn said(message: Option<&str>) -> String {
    message.map(|message| format!(": {message}")).unwrap_or_default()
}

impl fmt::Display for Waited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::Whole => "the whole answer",
            Self::Idle => "the next piece of the stream",
        })
    }
}
