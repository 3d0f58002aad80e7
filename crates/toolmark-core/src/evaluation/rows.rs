//! The rows of a labelled data set, read strictly: a line that cannot be scored is an error with its number, never skipped.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::behavior::{Action, ContentType, Mutability, OutputDomain};
use crate::definition::{Definition, Form};
use crate::document::Slice;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// Which tool a row means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub struct ToolId {
    server: String,
    name: String,
}

/// The definitions of a data set.
#[derive(Clone, Debug, Default)]
pub struct Tools(BTreeMap<ToolId, Definition>);

/// What a careful reader says about one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The tool.
    pub tool: ToolId,
    /// Whether it changes anything.
    pub mutability: Mutability,
    /// What it does.
    pub action: Action,
    /// What it acts on or returns.
    pub output_domain: OutputDomain,
    /// The kind of its payload, where the set has it.
    pub content_type: Option<ContentType>,
    /// Whether another answer could be defended.
    pub ambiguous: bool,
    /// The `readOnlyHint` of its publisher.
    pub read_only_hint: Option<bool>,
}

/// Two tools that are easily taken for each other, or that are one and the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The one that was meant.
    pub a: ToolId,
    /// The one that was called.
    pub b: ToolId,
    /// How bad it is to confuse them; `None` when they do the same and must not be separated.
    pub severity: Option<PairSeverity>,
}

/// How bad a confusion is, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PairSeverity {
    /// Reading for destroying.
    Critical,
    /// One write for another.
    High,
    /// One object for another.
    Medium,
    /// Nearly the same.
    Low,
}

/// A line that is no row of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the {kind} is not a row: {problem}")]
pub struct ReadRowError {
    kind: &'static str,
    line: usize,
    problem: String,
}

#[derive(Deserialize)]
struct LabelRow {
    server: String,
    name: String,
    mutability: String,
    action: String,
    output_domain: String,
    content_type: Option<String>,
    #[serde(default)]
    ambiguous: bool,
    #[serde(default)]
    declared: Declared,
}

#[derive(Default, Deserialize)]
struct Declared {
    #[serde(rename = "readOnlyHint")]
    read_only_hint: Option<bool>,
}

#[derive(Deserialize)]
struct PairRow {
    a: ToolId,
    b: ToolId,
    severity: Option<PairSeverity>,
    #[serde(default)]
    same: bool,
}

impl ToolId {
    /// Names a tool of a server.
    #[must_use]
    pub fn new(server: &str, name: &str) -> Self {
        Self { server: server.to_owned(), name: name.to_owned() }
    }
}

impl Tools {
    /// Reads `tools.jsonl`.
    ///
    /// # Errors
    /// [`ReadRowError`] with the first line that is not the definition of a tool.
    pub fn read(text: &str) -> Result<Self, ReadRowError> {
        let tool = |line: &str| {
            let id: ToolId = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let definition = Definition::read(&Slice::of("tools.jsonl", line.to_owned()), Form::Row);
            definition.map(|definition| (id, definition)).map_err(|error| error.to_string())
        };
        rows("tools", text, tool).map(|all| Self(all.into_iter().collect()))
    }

    /// The definition of a tool.
    #[must_use]
    pub fn get(&self, tool: &ToolId) -> Option<&Definition> {
        self.0.get(tool)
    }

    /// Every tool with its definition.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolId, &Definition)> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Label {
    /// Reads `labels.jsonl`.
    ///
    /// # Errors
    /// [`ReadRowError`] with the first line that is not a label.
    pub fn read_all(text: &str) -> Result<Vec<Self>, ReadRowError> {
        rows("labels", text, |line| {
            let row: LabelRow = serde_json::from_str(line).map_err(|error| error.to_string())?;
            let content_type = row.content_type.map(|content| content.parse()).transpose();
            Ok(Self {
                tool: ToolId { server: row.server, name: row.name },
                mutability: row.mutability.parse().map_err(shown)?,
                action: row.action.parse().map_err(shown)?,
                output_domain: row.output_domain.parse().map_err(shown)?,
                content_type: content_type.map_err(shown)?,
                ambiguous: row.ambiguous,
                read_only_hint: row.declared.read_only_hint,
            })
        })
    }
}

impl Pair {
    /// Reads `pairs.jsonl`.
    ///
    /// # Errors
    /// [`ReadRowError`] with the first line that is not a pair: neither a severity nor `same`.
    pub fn read_all(text: &str) -> Result<Vec<Self>, ReadRowError> {
        rows("pairs", text, |line| {
            let row: PairRow = serde_json::from_str(line).map_err(|error| error.to_string())?;
            if row.same == row.severity.is_some() {
                return Err("it must have either `severity` or `same: true`".into());
            }
            Ok(Self { a: row.a, b: row.b, severity: row.severity })
        })
    }
}

impl PairSeverity {
    /// Every severity, worst first.
    pub const ALL: &[Self] = &[Self::Critical, Self::High, Self::Medium, Self::Low];

    /// The severity as it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "CRITICAL",
            Self::High => "HIGH",
            Self::Medium => "MEDIUM",
            Self::Low => "LOW",
        }
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.name)
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
        "correct the line, or remove it from the data set; the formats are in `corpus/README.md`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("kind", self.kind.into()), ("line", self.line.into()), ("problem", self.problem.as_str().into())])
    }
}

fn rows<T>(kind: &'static str, text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, ReadRowError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            read(line).map_err(|problem| ReadRowError { kind, line: at + 1, problem: visible(&problem, 200) })
        })
        .collect()
}

fn shown(error: impl fmt::Display) -> String {
    error.to_string()
}
