//! Lines of a labelled data set: which tool a row means, and the one way in which rows are read and refused.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::explain::{Code, Explain, facts};
use crate::json;
use crate::text::visible;

/// Which tool a row means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct ToolId {
    server: String,
    name: String,
}

/// A line that is no row of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the {kind} is not a row: {problem}")]
pub struct ReadRowError {
    kind: &'static str,
    line: usize,
    problem: String,
}

impl ToolId {
    /// Names a tool of a server.
    #[must_use]
    pub fn new(server: &str, name: &str) -> Self {
        Self { server: server.to_owned(), name: name.to_owned() }
    }

    /// The server, as the data set calls it.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The tool's own name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the tool that stands in a row itself.
    pub(super) fn of_row(row: &Value) -> Result<Self, String> {
        Ok(Self { server: text(row, "server")?.to_owned(), name: text(row, "name")?.to_owned() })
    }

    /// Reads the tool that stands under a key of a row.
    pub(super) fn under(row: &Value, key: &str) -> Result<Self, String> {
        let own = row.get(key).ok_or_else(|| format!("missing field `{key}`"))?;
        Self::of_row(own).map_err(|problem| format!("`{key}`: {problem}"))
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names are a stranger's, and end up on a terminal.
        f.write_str(&visible(&format!("{}/{}", self.server, self.name), 300))
    }
}

impl Explain for ReadRowError {
    fn code(&self) -> Code {
        Code::new("evaluation-row")
    }

    fn why(&self) -> String {
        "a figure over the rows that happen to be readable would look like a figure over all of them".into()
    }

    fn fix(&self) -> String {
        "correct the line, or remove it from the data set; the formats are in `docs/evaluation.md`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("kind", self.kind.into()), ("line", self.line.into()), ("problem", self.problem.as_str().into())])
    }
}

/// Reads every line that is not blank. The first that is no row ends it.
pub fn rows<T>(
    kind: &'static str,
    text: &str,
    mut read: impl FnMut(&str, &Value) -> Result<T, String>,
) -> Result<Vec<T>, ReadRowError> {
    // Editors leave a mark of the byte order at the start of some files.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let row = json::read(line).map_err(|error| error.to_string()).map(|json| json.to_value());
            row.and_then(|row| if row.is_object() { Ok(row) } else { Err("it is not an object".into()) })
                .and_then(|row| read(line, &row))
                .map_err(|problem| ReadRowError { kind, line: at + 1, problem: visible(&problem, 300) })
        })
        .collect()
}

/// A string that must be there.
pub(super) fn text<'r>(row: &'r Value, key: &str) -> Result<&'r str, String> {
    match row.get(key) {
        None | Some(Value::Null) => Err(format!("missing field `{key}`")),
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{key}` must be a string")),
    }
}

/// A truth value that may be absent.
pub(super) fn flag(row: &Value, key: &str) -> Result<Option<bool>, String> {
    match row.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("`{key}` must be true or false")),
    }
}
