//! Files with variables, one `NAME=value` a line, as `envFile` of VS Code and `env_file` of a pack name them.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::values::{Secret, is_variable};

/// Lines of an environment file that say nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadEnvFileError {
    label: String,
    lines: Vec<usize>,
}

/// Reads a file of variables.
///
/// Empty lines and lines that begin with `#` are skipped, `export` in front is allowed. A value in single quotes is taken as it is;
/// in double quotes, `\n`, `\t`, `\"` and `\\` are replaced; without quotes, ` #` begins a comment. Of two lines with one name, the
/// later counts.
///
/// # Errors
/// [`ReadEnvFileError`] with the numbers of all lines that are no such thing. What stands in them is not shown.
pub fn read(text: &str, label: &str) -> Result<Vec<(String, Secret)>, ReadEnvFileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut read: BTreeMap<String, (usize, Secret)> = BTreeMap::new();
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        match line.split_once('=').and_then(|(name, value)| Some((name.trim(), value_of(value.trim())?))) {
            Some((name, value)) if is_variable(name) => {
                read.insert(name.to_owned(), (at, Secret::new(value)));
            }
            _ => lines.push(at + 1),
        }
    }
    if !lines.is_empty() {
        return Err(ReadEnvFileError { label: visible(label, 200), lines });
    }
    let mut read: Vec<(usize, String, Secret)> =
        read.into_iter().map(|(name, (at, value))| (at, name, value)).collect();
    read.sort_by_key(|(at, ..)| *at);
    Ok(read.into_iter().map(|(_, name, value)| (name, value)).collect())
}

fn value_of(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('\'') {
        let (value, rest) = rest.split_once('\'')?;
        return is_end(rest).then(|| value.to_owned());
    }
    let Some(rest) = text.strip_prefix('"') else {
        let end = text.find(" #").or_else(|| text.starts_with('#').then_some(0)).unwrap_or(text.len());
        return Some(text.get(..end)?.trim_end().to_owned());
    };
    let mut value = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return is_end(characters.as_str()).then_some(value),
            '\\' => match characters.next()? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                escaped @ ('"' | '\\' | '$') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
}

fn is_end(rest: &str) -> bool {
    let rest = rest.trim();
    rest.is_empty() || rest.starts_with('#')
}

impl fmt::Display for ReadEnvFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.lines.iter().take(8).map(ToString::to_string).collect();
        write!(f, "`{}` has {} lines that are no `NAME=value`: {}", self.label, self.lines.len(), lines.join(", "))
    }
}

impl std::error::Error for ReadEnvFileError {}

impl Explain for ReadEnvFileError {
    fn code(&self) -> Code {
        Code::new("env-file-syntax")
    }

    fn why(&self) -> String {
        "a variable that is silently left out would be missed by the server only when it is called".into()
    }

    fn fix(&self) -> String {
        "write `NAME=value`, one a line; a value with spaces at its ends stands in quotes".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("file", self.label.as_str().into()), ("lines", self.lines.as_slice().into())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(String, String)> {
        read(text, ".env").unwrap().into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect()
    }

    #[test]
    fn every_way_to_write_a_value_is_understood() {
        let text = "\u{feff}# a comment\r\nA=1\r\nexport B = two words # no\nC='x # \\n'\nD=\"a\\nb \\\"q\\\"\" # c\nE=\nF=a#b\nA=2\n";
        let expected = [("B", "two words"), ("C", "x # \\n"), ("D", "a\nb \"q\""), ("E", ""), ("F", "a#b"), ("A", "2")];
        assert_eq!(pairs(text), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn lines_that_say_nothing_are_all_named_and_never_shown() {
        let error = read("A=1\nsecret-without-name\nB='open\n2X=3\n", ".env").unwrap_err();
        assert_eq!(error.to_string(), "`.env` has 3 lines that are no `NAME=value`: 2, 3, 4");
        assert!(!format!("{:?}", error.report()).contains("secret-without-name"));
    }
}
