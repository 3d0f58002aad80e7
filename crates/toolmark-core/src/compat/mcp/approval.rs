//! `require_approval` of a server: a word, a flag, a map by tool, or two lists of tools, read in exactly one way.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// A setting that cannot be read. Every part is checked, also those about other tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{place}` of the approval setting {problem}")]
pub struct RequireApprovalError {
    place: String,
    problem: &'static str,
}

/// True when a call of `tool`, the server's own name for it, needs an approval. A tool that is not mentioned needs none.
///
/// # Errors
/// [`RequireApprovalError`] when the setting is anything but what is described above.
pub fn requires_approval(setting: &Value, tool: &str) -> Result<bool, RequireApprovalError> {
    match setting {
        Value::Null => Ok(false),
        Value::Object(entries) if is_grouped(entries) => grouped(entries, tool),
        Value::Object(entries) => by_tool(entries, tool),
        other => word_or_flag(other).ok_or_else(|| error("require_approval", NOT_A_WORD)),
    }
}

const NOT_A_WORD: &str = "is neither `always`, `never`, true nor false";

/// Lists are meant when one of the two keys holds an object with `tool_names`; a tool of that name cannot be meant then.
fn is_grouped(entries: &Map<String, Value>) -> bool {
    ["always", "never"].iter().any(|key| entries.get(*key).is_some_and(|entry| entry.get("tool_names").is_some()))
}

fn grouped(entries: &Map<String, Value>, tool: &str) -> Result<bool, RequireApprovalError> {
    if let Some(key) = entries.keys().find(|key| !matches!(key.as_str(), "always" | "never")) {
        return Err(error(key, "stands beside lists of tools, where only `always` and `never` may stand"));
    }
    let always = tool_names(entries, "always")?;
    let never = tool_names(entries, "never")?;
    match always.intersection(&never).next() {
        Some(name) => Err(error(name, "is both in `always` and in `never`")),
        None => Ok(always.contains(tool)),
    }
}

fn tool_names<'a>(entries: &'a Map<String, Value>, key: &str) -> Result<BTreeSet<&'a str>, RequireApprovalError> {
    let Some(entry) = entries.get(key) else {
        return Ok(BTreeSet::new());
    };
    let entry = entry.as_object().ok_or_else(|| error(key, "is no object with `tool_names`"))?;
    let Some(names) = entry.get("tool_names") else {
        return Ok(BTreeSet::new());
    };
    names
        .as_array()
        .and_then(|names| names.iter().map(Value::as_str).collect())
        .ok_or_else(|| error(&format!("{key}.tool_names"), "is no list of names"))
}

fn by_tool(entries: &Map<String, Value>, tool: &str) -> Result<bool, RequireApprovalError> {
    let mut found = false;
    for (name, value) in entries {
        let needed = word_or_flag(value).ok_or_else(|| error(name, NOT_A_WORD))?;
        found |= needed && name == tool;
    }
    Ok(found)
}

fn word_or_flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(word) if word == "always" => Some(true),
        Value::String(word) if word == "never" => Some(false),
        _ => None,
    }
}

fn error(place: &str, problem: &'static str) -> RequireApprovalError {
    RequireApprovalError { place: visible(place, 80), problem }
}

impl RequireApprovalError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        "require_approval_invalid"
    }
}

impl Explain for RequireApprovalError {
    fn code(&self) -> Code {
        Code::new("compat-require-approval")
    }

    fn why(&self) -> String {
        "a setting that is half understood would let a call through that somebody meant to be asked about".into()
    }

    fn fix(&self) -> String {
        r#"write "always", "never", {"delete": "always"}, or {"always": {"tool_names": ["delete"]}}"#.into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("place", self.place.as_str().into())])
    }
}
