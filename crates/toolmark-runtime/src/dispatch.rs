//! What can go wrong while a call runs, told apart by what matters afterwards: may it have had an effect?

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// A call that was sent, or was to be sent, and brought no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DispatchError {
    kind: DispatchErrorKind,
    message: String,
    may_have_run: bool,
}

/// Why there is no result. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DispatchErrorKind {
    /// What would run it is not there.
    Unavailable,
    /// It has as many calls as it takes.
    Busy,
    /// It took too long.
    Timeout,
    /// Whoever called gave up.
    Cancelled,
    /// The result is larger than is passed on.
    TooLarge,
    /// It failed in a way of its own.
    Failed,
    /// It ran, and no record of how it ended could be kept.
    Unrecorded,
}

impl DispatchError {
    /// A call that surely had no effect.
    #[must_use]
    pub fn before_it_ran(kind: DispatchErrorKind, message: &str) -> Self {
        Self { kind, message: visible(message, 1000), may_have_run: false }
    }

    /// A call that may have had an effect; it must not be repeated blindly.
    #[must_use]
    pub fn while_it_ran(kind: DispatchErrorKind, message: &str) -> Self {
        Self { kind, message: visible(message, 1000), may_have_run: true }
    }

    /// Why there is no result.
    #[must_use]
    pub fn kind(&self) -> DispatchErrorKind {
        self.kind
    }

    /// True when nobody can say that it had no effect.
    #[must_use]
    pub fn may_have_run(&self) -> bool {
        self.may_have_run
    }

    /// What the model is told.
    #[must_use]
    pub fn text(&self, tool: &str) -> String {
        let tool = visible(tool, 200);
        let then = if self.may_have_run {
            "It may have had an effect: check before you repeat it."
        } else {
            "It did not run."
        };
        format!("`{tool}` brought no result: {}. {then}", self.message)
    }
}

impl DispatchErrorKind {
    /// The kind in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::TooLarge => "too-large",
            Self::Failed => "failed",
            Self::Unrecorded => "unrecorded",
        }
    }
}

impl Explain for DispatchError {
    fn code(&self) -> Code {
        match self.kind {
            DispatchErrorKind::Unavailable => Code::new("upstream-unavailable"),
            DispatchErrorKind::Busy => Code::new("upstream-busy"),
            DispatchErrorKind::Timeout => Code::new("call-timeout"),
            DispatchErrorKind::Cancelled => Code::new("call-cancelled"),
            DispatchErrorKind::TooLarge => Code::new("result-too-large"),
            DispatchErrorKind::Failed => Code::new("upstream-failed"),
            DispatchErrorKind::Unrecorded => Code::new("audit-unwritable"),
        }
    }

    fn why(&self) -> String {
        match self.may_have_run {
            true => "the call was sent and its outcome is not known; Toolmark never repeats a call by itself".into(),
            false => "the call was not sent, so nothing happened".into(),
        }
    }

    fn fix(&self) -> String {
        match self.kind {
            DispatchErrorKind::Unavailable => {
                "look at the pack's state at `/readyz`, and at what the gateway logged about it".into()
            }
            DispatchErrorKind::Busy => "try again in a moment, or raise `limits.calls` of the pack".into(),
            DispatchErrorKind::Timeout => "raise `limits.timeout` of the pack, if the tool needs that long".into(),
            DispatchErrorKind::Cancelled => "call again, if it was not meant".into(),
            DispatchErrorKind::TooLarge => "ask for less, or raise `limits.result_bytes` of the pack".into(),
            DispatchErrorKind::Failed => "read the message of the server; its standard error may say more".into(),
            DispatchErrorKind::Unrecorded => {
                "make room for the store, or make it writable; the log says what is wrong with it".into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("kind", self.kind.as_str().into()), ("may_have_run", self.may_have_run.into())])
    }
}
