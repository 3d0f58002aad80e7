//! What does the text look like that a tool takes? A grammar that the provider holds the model to; what can be told to be wrong with it is
//! found when the tool is built.

use serde_json::{Value, json};

/// What the text looks like that a tool of the kind [`Custom`](toolmark_core::tool::ToolKind::Custom) takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    syntax: Syntax,
    definition: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Lark,
    Regex,
}

/// The longest grammar, in bytes.
const LONGEST: usize = 64 << 10;
/// How much a regular expression may take when it is compiled, in bytes.
const LARGEST: usize = 4 << 20;

impl Grammar {
    /// A Lark grammar, which begins at its rule `start`.
    #[must_use]
    pub fn lark(definition: impl Into<String>) -> Self {
        Self { syntax: Syntax::Lark, definition: definition.into() }
    }

    /// A regular expression in the syntax of Rust's `regex`, which is the one that OpenAI documents.
    #[must_use]
    pub fn regex(definition: impl Into<String>) -> Self {
        Self { syntax: Syntax::Regex, definition: definition.into() }
    }

    /// The format of a tool as it goes over the wire.
    #[must_use]
    pub fn to_wire(&self) -> Value {
        let syntax = match self.syntax {
            Syntax::Lark => "lark",
            Syntax::Regex => "regex",
        };
        json!({ "type": "grammar", "syntax": syntax, "definition": self.definition })
    }

    /// What is wrong with it, as far as that can be told.
    pub(super) fn problem(&self) -> Option<String> {
        if self.definition.trim().is_empty() {
            return Some("it is empty".into());
        }
        if self.definition.len() > LONGEST {
            return Some(format!("it has {} bytes, more than {LONGEST}", self.definition.len()));
        }
        match self.syntax {
            Syntax::Regex => {
                let compiled = regex::RegexBuilder::new(&self.definition).size_limit(LARGEST).build();
                compiled.err().map(|error| match error {
                    regex::Error::CompiledTooBig(_) => format!("compiled, it takes more than {LARGEST} bytes"),
                    // The last line says what it is; those before draw where.
                    other => other.to_string().lines().last().unwrap_or_default().replace("error: ", ""),
                })
            }
            Syntax::Lark => {
                let starts = self.definition.lines().any(is_start);
                (!starts).then(|| "it has no rule `start`".into())
            }
        }
    }
}

/// True for the first line of the rule `start`, with whatever Lark lets stand around the name.
fn is_start(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches(['?', '!']);
    let Some(rest) = line.strip_prefix("start") else { return false };
    let rest = rest.trim_start();
    let rest = rest
        .strip_prefix('.')
        .map_or(rest, |rest| rest.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '-'));
    rest.trim_start().starts_with(':')
}
