//! How every refusal in Toolmark explains itself: a stable code, what failed, why we refuse, how to fix it, where to read more.

use std::fmt;

use serde_json::{Map, Value};

/// A stable, kebab-case name for one kind of refusal. Each has a page in `docs/errors/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

/// Something that can say, in four parts, why Toolmark refused it.
///
/// What failed is the `Display` text: lower case, one line, no full stop, user input in backticks.
pub trait Explain: fmt::Display {
    /// The stable code; machines match on this and on nothing else.
    fn code(&self) -> Code;

    /// Why Toolmark refuses rather than guesses.
    fn why(&self) -> String;

    /// How to fix it, with something to paste where that is possible.
    fn fix(&self) -> String;

    /// Machine-readable fields. Keys are stable.
    fn facts(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The whole explanation as owned data.
    fn report(&self) -> Report {
        Report { code: self.code(), what: self.to_string(), why: self.why(), fix: self.fix(), facts: self.facts() }
    }
}

/// An explanation as data: what the CLI prints, HTTP sends and a model reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    code: Code,
    what: String,
    why: String,
    fix: String,
    facts: Map<String, Value>,
}

impl Code {
    /// Names a code. Codes are constants beside the error they belong to.
    #[must_use]
    pub const fn new(code: &'static str) -> Self {
        Self(code)
    }

    /// The code as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// Where this code is documented, relative to the root of the project.
    #[must_use]
    pub fn page(self) -> String {
        format!("docs/errors/{}.md", self.0)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Report {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.code
    }

    /// What failed, in one line.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Why Toolmark refuses.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// How to fix it.
    #[must_use]
    pub fn fix(&self) -> &str {
        &self.fix
    }

    /// Machine-readable fields.
    #[must_use]
    pub fn facts(&self) -> &Map<String, Value> {
        &self.facts
    }

    /// The report as one JSON object: `code`, `what`, `why`, `fix`, `more`, `facts`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::json!({
            "code": self.code.as_str(),
            "what": self.what,
            "why": self.why,
            "fix": self.fix,
            "more": self.code.page(),
            "facts": self.facts,
        })
    }
}

/// The fixed four-part text, the same in every place that shows plain text.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error[{}]: {}", self.code, self.what)?;
        writeln!(f, "  why: {}", indent(&self.why))?;
        writeln!(f, "  fix: {}", indent(&self.fix))?;
        write!(f, "  more: {}", self.code.page())
    }
}

fn indent(text: &str) -> String {
    text.replace('\n', "\n       ")
}

/// Builds a map of facts from pairs, so that errors can state theirs in one expression.
#[must_use]
pub fn facts<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
