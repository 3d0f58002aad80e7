//! One invocation: its id, what it says, and the rule that one id means one call.

use std::collections::HashMap;
use std::str::FromStr;

use serde_json::{Map, Value};

use crate::canonical;
use crate::digest::{self, ArgumentDigest, CallFingerprint};
use crate::explain::{Code, Explain, facts};
use crate::json::Json;
use crate::names::{CanonicalName, text_name};
use crate::text::visible;

/// The id a provider gave one call. A non-empty string; nothing else is ever turned into one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(Box<str>);

text_name!(CallId);

/// A call id that is empty, missing or not a string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call id is {found}, not a non-empty string")]
pub struct ParseCallIdError {
    found: &'static str,
}

/// Which calls were seen in one run: the same id with the same content is the same call, with other content an error.
#[derive(Clone, Debug, Default)]
pub struct CallLedger {
    seen: HashMap<CallId, CallFingerprint>,
}

/// What the ledger says about a call that is allowed to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Entered {
    /// The first time this id is seen.
    New,
    /// The same call again: answer it from what is known, do not run it twice.
    Again,
}

/// An id that was used before for a call with other content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call id `{id}` was already used for another call")]
pub struct ReusedCallIdError {
    id: String,
    before: CallFingerprint,
    now: CallFingerprint,
}

impl FromStr for CallId {
    type Err = ParseCallIdError;

    fn from_str(text: &str) -> Result<Self, ParseCallIdError> {
        if text.is_empty() { Err(ParseCallIdError { found: "an empty string" }) } else { Ok(Self(text.into())) }
    }
}

impl TryFrom<&Value> for CallId {
    type Error = ParseCallIdError;

    /// Takes a string and nothing else: `5` and `"5"` are not one id.
    fn try_from(value: &Value) -> Result<Self, ParseCallIdError> {
        match value {
            Value::String(text) => text.parse(),
            Value::Null => Err(ParseCallIdError { found: "null" }),
            Value::Bool(_) => Err(ParseCallIdError { found: "a boolean" }),
            Value::Number(_) => Err(ParseCallIdError { found: "a number" }),
            Value::Array(_) => Err(ParseCallIdError { found: "an array" }),
            Value::Object(_) => Err(ParseCallIdError { found: "an object" }),
        }
    }
}

impl CallFingerprint {
    /// What a call of `tool` with these arguments says.
    ///
    /// Take the arguments from their text with [`crate::json::read`] where there is one: `serde_json::Value` has already rounded
    /// integers beyond 64 bits, and two calls that differ there would look the same.
    #[must_use]
    pub fn of(tool: &CanonicalName, arguments: &Json<'_>) -> Self {
        let mut text = Vec::new();
        canonical::write_string(tool.as_str(), &mut text);
        canonical::write(arguments, &mut text);
        Self::of_bytes(digest::CALL, &text)
    }
}

impl ArgumentDigest {
    /// The digest of a call's arguments, taken from their text as for [`CallFingerprint::of`].
    #[must_use]
    pub fn of(arguments: &Json<'_>) -> Self {
        Self::of_bytes(digest::ARGUMENTS, &canonical::to_canonical_bytes(arguments))
    }
}

impl CallLedger {
    /// Enters a call before it has any effect.
    ///
    /// # Errors
    /// [`ReusedCallIdError`] when the id stands for a call with other content.
    pub fn enter(&mut self, id: &CallId, fingerprint: CallFingerprint) -> Result<Entered, ReusedCallIdError> {
        match self.seen.get(id) {
            None => {
                self.seen.insert(id.clone(), fingerprint);
                Ok(Entered::New)
            }
            Some(before) if *before == fingerprint => Ok(Entered::Again),
            Some(before) => Err(ReusedCallIdError { id: visible(id.as_str(), 80), before: *before, now: fingerprint }),
        }
    }
}

impl Explain for ParseCallIdError {
    fn code(&self) -> Code {
        Code::new("call-id-invalid")
    }

    fn why(&self) -> String {
        "a call without an id of its own cannot be approved, answered or kept from running twice; turning a number into a \
         string would make two providers' ids one"
            .into()
    }

    fn fix(&self) -> String {
        "send the provider's call id unchanged, such as `\"call_id\": \"call_1\"`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("found", self.found.into())])
    }
}

impl Explain for ReusedCallIdError {
    fn code(&self) -> Code {
        Code::new("call-id-reused")
    }

    fn why(&self) -> String {
        "a decision or a result that belongs to the first call would be given to the second".into()
    }

    fn fix(&self) -> String {
        "give every call an id of its own; repeat an id only to repeat exactly the same call".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([
            ("call_id", self.id.as_str().into()),
            ("before", self.before.to_string().into()),
            ("now", self.now.to_string().into()),
        ])
    }
}

#[cfg(test)]
mod tests;
