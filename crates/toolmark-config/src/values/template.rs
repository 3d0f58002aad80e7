//! Text with variables: `Bearer ${TOKEN}`. It has no value until an environment is given, and a missing variable is never the empty text.

use std::fmt;
use std::ops::Range;

use super::Secret;
use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// A text in which `${NAME}`, `${NAME:-default}` and `${env:NAME}` stand for variables, and `$${` for `${`.
///
/// Its literal parts may be secret, so it is shown with its variables only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Template(Vec<Part>);

/// A part of a template.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    /// Text that stands for itself.
    Literal(Secret),
    /// Text that the environment gives.
    Variable {
        /// The name.
        name: String,
        /// What holds when the variable is not set or empty.
        default: Option<Secret>,
    },
}

/// A text with every variable replaced, which still knows what of it the environment gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// The text.
    pub text: Secret,
    /// Where in it the value of which variable stands, from front to back.
    pub variables: Vec<(Range<usize>, String)>,
}

impl Template {
    /// Text without variables.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        if text.is_empty() { Self::default() } else { Self(vec![Part::Literal(Secret::new(text))]) }
    }

    /// Puts parts together. Texts beside each other become one.
    #[must_use]
    pub fn from_parts(parts: Vec<Part>) -> Self {
        let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
        for part in parts {
            match (merged.last_mut(), part) {
                (Some(Part::Literal(before)), Part::Literal(text)) => {
                    *before = Secret::new(format!("{}{}", before.expose(), text.expose()));
                }
                (_, part) => merged.push(part),
            }
        }
        Self(merged)
    }

    /// Its parts.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The text, if it holds no variable.
    #[must_use]
    pub fn as_literal(&self) -> Option<Secret> {
        let mut whole = String::new();
        for part in &self.0 {
            match part {
                Part::Literal(text) => whole.push_str(text.expose()),
                Part::Variable { .. } => return None,
            }
        }
        Some(Secret::new(whole))
    }

    /// The names of its variables.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Variable { name, .. } => Some(name.as_str()),
        })
    }

    /// True when such a character is written in it, whatever the environment gives.
    pub(crate) fn holds(&self, is: impl Fn(char) -> bool) -> bool {
        self.0.iter().any(|part| match part {
            Part::Literal(text) | Part::Variable { default: Some(text), .. } => text.expose().contains(&is),
            Part::Variable { default: None, .. } => false,
        })
    }

    /// The text with every variable replaced.
    ///
    /// # Errors
    /// The names of the variables that are not set and have no default, in order.
    pub fn expand(&self, environment: &impl Fn(&str) -> Option<String>) -> Result<Secret, Vec<String>> {
        self.fill(environment).map(|filled| filled.text)
    }

    /// The same, for whoever has to tell what is written from what the environment gave.
    ///
    /// # Errors
    /// The names of the variables that are not set and have no default, in order.
    pub fn fill(&self, environment: &impl Fn(&str) -> Option<String>) -> Result<Filled, Vec<String>> {
        let mut whole = String::new();
        let (mut variables, mut missing) = (Vec::new(), Vec::new());
        for part in &self.0 {
            match part {
                Part::Literal(text) => whole.push_str(text.expose()),
                Part::Variable { name, default } => {
                    let start = whole.len();
                    match (environment(name).filter(|value| !value.is_empty()), default) {
                        (Some(value), _) => whole.push_str(&value),
                        (None, Some(default)) => whole.push_str(default.expose()),
                        (None, None) => missing.push(name.clone()),
                    }
                    variables.push((start..whole.len(), name.clone()));
                }
            }
        }
        if missing.is_empty() { Ok(Filled { text: Secret::new(whole), variables }) } else { Err(missing) }
    }

    /// The text with variables by their names only, for whoever must not read what they hold; nothing where there are none.
    #[must_use]
    pub fn named(&self) -> Option<String> {
        self.variables().next()?;
        let part = |part: &Part| match part {
            Part::Literal(text) => text.expose().to_owned(),
            Part::Variable { name, .. } => format!("${{{name}}}"),
        };
        Some(self.0.iter().map(part).collect())
    }

    /// The text as it is written in `toolmark.toml`.
    #[must_use]
    pub fn written(&self) -> Secret {
        let mut whole = String::new();
        for (at, part) in self.0.iter().enumerate() {
            match part {
                Part::Literal(text) => {
                    let variable = matches!(self.0.get(at + 1), Some(Part::Variable { .. }));
                    escape(text.expose(), variable, &mut whole);
                }
                Part::Variable { name, default: None } => whole.push_str(&format!("${{{name}}}")),
                Part::Variable { name, default: Some(default) } => {
                    whole.push_str(&format!("${{{name}:-{}}}", default.expose()));
                }
            }
        }
        Secret::new(whole)
    }

    /// Reads a text.
    pub(crate) fn parse(text: &str) -> Result<Self, Refused> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, after) = (rest.get(..at).unwrap_or_default(), rest.get(at + 2..).unwrap_or_default());
            // Of a run of `$` before `{`, two stand for one; an odd one begins a variable.
            let plain = before.trim_end_matches('$');
            let dollars = before.len() - plain.len() + 1;
            literal.push_str(plain);
            literal.extend(std::iter::repeat_n('$', dollars / 2));
            if dollars.is_multiple_of(2) {
                literal.push('{');
                rest = after;
                continue;
            }
            let Some((inside, after)) = after.split_once('}') else {
                return Err(wrong("a `${` has no `}`".into()));
            };
            if !literal.is_empty() {
                parts.push(Part::Literal(Secret::new(std::mem::take(&mut literal))));
            }
            parts.push(variable(inside)?);
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Literal(Secret::new(literal)));
        }
        Ok(Self(parts))
    }
}

/// Doubles every `$` that would otherwise begin a variable.
fn escape(literal: &str, before_variable: bool, out: &mut String) {
    let mut rest = literal;
    while let Some(at) = rest.find('$') {
        let (before, from) = (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default());
        let after = from.trim_start_matches('$');
        let dollars = from.len() - after.len();
        let doubled = after.starts_with('{') || (after.is_empty() && before_variable);
        out.push_str(before);
        out.extend(std::iter::repeat_n('$', if doubled { dollars * 2 } else { dollars }));
        rest = after;
    }
    out.push_str(rest);
}

/// What stands between `${` and `}`.
fn variable(inside: &str) -> Result<Part, Refused> {
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(Secret::new(default))),
        None => (inside, None),
    };
    // The `}` of the inner one would end the outer one, and the rest be sent as it stands.
    if default.as_ref().is_some_and(|default| default.expose().contains("${")) {
        return Err(wrong("a default holds no variable, and no `${`".into()));
    }
    if is_variable(name) {
        Ok(Part::Variable { name: name.into(), default })
    } else {
        Err(wrong(format!("`${{{}}}` is no variable", toolmark_core::text::visible(name, 40))))
    }
}

/// True for what the environment of a program can hold; more than what can stand between braces.
pub(crate) fn is_environment_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|character| character == '=' || character.is_control())
}

/// True for what an environment calls a variable.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn wrong(message: String) -> Refused {
    Refused::Variable { key: String::new(), message }
}

impl FromToml for Template {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a text", reader, Self::parse)
    }
}

/// The variables by name, everything else masked.
impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            write!(f, "{part:?}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(secret) => write!(f, "{secret:?}"),
            Self::Variable { name, .. } => write!(f, "${{{name}}}"),
        }
    }
}
