//! Why arguments are refused, in words that whoever sent them can act on.

use std::fmt;

use serde_json::{Map, Value};

use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// Violations that are told one by one; the others are counted.
pub(super) const SHOWN: usize = 20;
/// Violations that fit into one line.
const IN_ONE_LINE: usize = 3;

/// Arguments that do not fit the schema, with everything that is wrong with them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{problem}")]
pub struct InvalidArguments {
    problem: Problem,
}

/// One thing that is wrong with the arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub(super) path: String,
    pub(super) keyword: String,
    pub(super) problem: String,
    pub(super) names: Vec<String>,
    pub(super) allowed: Vec<Value>,
    /// How many branches this one was the closest of.
    pub(super) alternatives: usize,
}

/// The violations of one check: those that are shown, and how many more there are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Violations {
    shown: Vec<Violation>,
    more: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Problem {
    Violations(Violations),
    NotAnObject(&'static str),
    TooDeep(usize),
    TooLarge { what: &'static str, limit: usize },
    TooCostly,
}

impl From<Problem> for InvalidArguments {
    fn from(problem: Problem) -> Self {
        Self { problem }
    }
}

impl InvalidArguments {
    /// What is wrong, one by one; at most twenty. Empty when the arguments were refused as a whole.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        match &self.problem {
            Problem::Violations(violations) => &violations.shown,
            _ => &[],
        }
    }

    /// How many violations there are beyond those that are told.
    #[must_use]
    pub fn more(&self) -> usize {
        match &self.problem {
            Problem::Violations(violations) => violations.more,
            _ => 0,
        }
    }
}

impl Violation {
    /// Where, as a JSON pointer into the arguments; empty for the arguments themselves.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The keyword of the schema that is violated.
    #[must_use]
    pub fn keyword(&self) -> &str {
        &self.keyword
    }

    /// What is wrong with the value there, as the rest of a sentence that starts with the path.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The properties that are missing, or that are not taken.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values, or the names, that would be accepted, where they can be listed.
    #[must_use]
    pub fn allowed(&self) -> &[Value] {
        &self.allowed
    }

    fn to_json(&self) -> Value {
        let mut fact = facts([
            ("path", self.path.as_str().into()),
            ("keyword", self.keyword.as_str().into()),
            ("problem", self.problem.as_str().into()),
        ]);
        if !self.names.is_empty() {
            fact.insert("names".into(), self.names.clone().into());
        }
        if !self.allowed.is_empty() {
            fact.insert("allowed".into(), self.allowed.clone().into());
        }
        Value::Object(fact)
    }

    /// Whether another missing name at this path belongs to this violation. Branches of different unions stay apart.
    pub(super) fn is_about_missing(&self, path: &str, alternatives: usize) -> bool {
        self.keyword == "required" && self.path == path && self.alternatives == alternatives
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "the argument object {}", self.problem)
        } else {
            write!(f, "`{}` {}", visible(&self.path, 120), self.problem)
        }
    }
}

impl Violations {
    pub(super) fn shown(&self) -> &[Violation] {
        &self.shown
    }

    pub(super) fn shown_mut(&mut self) -> &mut [Violation] {
        &mut self.shown
    }

    pub(super) fn is_full(&self) -> bool {
        self.shown.len() >= SHOWN
    }

    pub(super) fn push(&mut self, violation: Violation) {
        if self.is_full() {
            self.count();
        } else {
            self.shown.push(violation);
        }
    }

    /// Counts a violation that is not told.
    pub(super) fn count(&mut self) {
        self.more += 1;
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Violations(Violations { shown, more }) => {
                f.write_str("the arguments do not fit the schema: ")?;
                for (index, violation) in shown.iter().take(IN_ONE_LINE).enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}{violation}")?;
                }
                match shown.len().saturating_sub(IN_ONE_LINE) + more {
                    0 => Ok(()),
                    rest => write!(f, "; and {rest} more"),
                }
            }
            Self::NotAnObject(found) => write!(f, "the arguments are {found}, not an object"),
            Self::TooDeep(limit) => write!(f, "the arguments nest more than {limit} levels"),
            Self::TooLarge { what, limit } => write!(f, "the arguments have more than {limit} {what}"),
            Self::TooCostly => f.write_str("checking the arguments against the schema would take too many steps"),
        }
    }
}

impl Explain for InvalidArguments {
    fn code(&self) -> Code {
        match self.problem {
            Problem::Violations(_) => Code::new("arguments-invalid"),
            Problem::NotAnObject(_) => Code::new("arguments-not-an-object"),
            Problem::TooDeep(_) => Code::new("arguments-too-deep"),
            Problem::TooLarge { .. } => Code::new("arguments-too-large"),
            Problem::TooCostly => Code::new("arguments-too-costly"),
        }
    }

    fn why(&self) -> String {
        match self.problem {
            Problem::Violations(_) | Problem::NotAnObject(_) => {
                "what a tool does with arguments it did not declare is its own guess, and no rule or grant was written for it".into()
            }
            Problem::TooDeep(_) | Problem::TooLarge { .. } | Problem::TooCostly => {
                "arguments of this shape are used to exhaust the programs that check them, and what cannot be checked is not run"
                    .into()
            }
        }
    }

    fn fix(&self) -> String {
        match &self.problem {
            Problem::Violations(Violations { shown, more }) => {
                let mut lines = vec!["send the call again with these corrected:".to_owned()];
                lines.extend(shown.iter().map(|violation| format!("- {violation}")));
                if *more > 0 {
                    lines.push(format!("- and {more} more, told once these are corrected"));
                }
                lines.join("\n")
            }
            Problem::NotAnObject(_) => "send the arguments as a JSON object, such as `{\"name\": \"value\"}`".into(),
            Problem::TooDeep(_) => "send flatter arguments".into(),
            Problem::TooLarge { .. } => "send less in one call, or a reference to the data in place of the data".into(),
            Problem::TooCostly => {
                "send flatter or fewer values; if that is not possible, the tool's schema has to lose some of its nested \
                 alternatives or long patterns"
                    .into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match &self.problem {
            Problem::Violations(Violations { shown, more }) => {
                let shown: Vec<Value> = shown.iter().map(Violation::to_json).collect();
                facts([("violations", shown.into()), ("more", (*more).into())])
            }
            Problem::NotAnObject(found) => facts([("found", (*found).into())]),
            Problem::TooDeep(limit) => facts([("limit", (*limit).into())]),
            Problem::TooLarge { what, limit } => facts([("what", (*what).into()), ("limit", (*limit).into())]),
            Problem::TooCostly => Map::new(),
        }
    }
}
