//! A decision as it is written in JSON, read strictly: what cannot be understood decides nothing.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolmark_core::approval::{ArgumentPattern, Ask, Given, Ruling, Scope};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;

/// A decision in JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    decision: Word,
    #[serde(default)]
    scope: Option<Scope>,
    /// Arguments that may differ, for the scope `pattern`.
    #[serde(default)]
    vary: Vec<String>,
    #[serde(default)]
    message: Option<String>,
    /// Other arguments to run with.
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    /// In how many seconds what stays of it ends.
    #[serde(default)]
    expires_in: Option<u64>,
    #[serde(default)]
    uses: Option<u32>,
    /// The digest of the arguments that were shown.
    #[serde(default)]
    arguments_digest: Option<toolmark_core::digest::ArgumentDigest>,
    #[serde(default)]
    any_policy: bool,
    /// Whether the tool as it was shown is the approved one from now on.
    #[serde(default)]
    pin: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Approve,
    Reject,
}

/// A decision that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decision cannot be read: {0}")]
pub(super) struct ReadRulingError(String);

impl Written {
    pub(super) fn read(text: &[u8]) -> Result<Self, ReadRulingError> {
        if !text.trim_ascii_start().starts_with(b"{") {
            return Err(ReadRulingError("it is no object".into()));
        }
        let written: Self =
            serde_json::from_slice(text).map_err(|error| ReadRulingError(visible(&error.to_string(), 300)))?;
        // An answer that reaches less far than somebody believes would be given again and again.
        if !written.vary.is_empty() && written.scope.is_some_and(|scope| scope != Scope::Pattern) {
            return Err(ReadRulingError("`vary` is for the scope `pattern`".into()));
        }
        Ok(written)
    }

    /// What it means for a question.
    pub(super) fn ruling(self, ask: &Ask, given: Given) -> Ruling {
        let scope = self.scope.unwrap_or(if self.vary.is_empty() { Scope::Once } else { Scope::Pattern });
        let until = |seconds: u64| given.at.after(std::time::Duration::from_secs(seconds));
        Ruling {
            allows: self.decision == Word::Approve,
            scope,
            pattern: ArgumentPattern::freeing(&ask.arguments(), &self.vary).filter(|_| scope == Scope::Pattern),
            message: self.message.map(|message| visible(&message, 2000)),
            edited: self.arguments.map(|arguments| Value::Object(arguments).to_string()),
            expires: self.expires_in.map(until),
            uses: self.uses,
            seen: self.arguments_digest,
            any_policy: self.any_policy,
            pin: self.pin,
            given,
        }
    }
}

impl Explain for ReadRulingError {
    fn code(&self) -> Code {
        Code::new("approval-decision-syntax")
    }

    fn why(&self) -> String {
        "an answer that is half understood could approve more than was meant".into()
    }

    fn fix(&self) -> String {
        "send `{\"decision\": \"approve\"}` or `{\"decision\": \"reject\", \"message\": \"…\"}`".into()
    }
}
