//! Which log lines are wanted: a level for all, and others for some modules. What is none of that is refused, since a filter that is
//! misread is noticed when a line is missed.

use std::str::FromStr;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// A filter such as `info` or `warn,toolmark_mcp=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter {
    parts: Vec<(Option<String>, &'static str)>,
}

/// A text that is no filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{filter}` is no filter for log lines: {why}")]
pub struct ParseLogFilterError {
    filter: String,
    why: String,
}

impl LogFilter {
    /// Modules with their levels, in the order of the text; without a module, the level of all others.
    pub fn parts(&self) -> impl Iterator<Item = (Option<&str>, &'static str)> {
        self.parts.iter().map(|(module, level)| (module.as_deref(), *level))
    }
}

impl FromStr for LogFilter {
    type Err = ParseLogFilterError;

    fn from_str(text: &str) -> Result<Self, ParseLogFilterError> {
        let refuse = |why: String| ParseLogFilterError { filter: visible(text, 200), why };
        let level = |word: &str| LEVELS.into_iter().find(|level| level.eq_ignore_ascii_case(word.trim()));
        let mut parts: Vec<(Option<String>, &'static str)> = Vec::new();
        for part in text.split(',') {
            let (module, word) = match part.split_once('=') {
                Some((module, word)) => (Some(module.trim()), word),
                None => (None, part),
            };
            let shown = visible(word.trim(), 60);
            let found = level(word).ok_or_else(|| match module {
                _ if shown.is_empty() => refuse("a level is missing".to_owned()),
                Some(_) => refuse(format!("`{shown}` is no level")),
                None => refuse(format!("`{shown}` is no level, nor a module with one, such as `{shown}=debug`")),
            })?;
            let plain = |module: &str| {
                !module.is_empty()
                    && module.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'-'))
            };
            if let Some(module) = module
                && !plain(module)
            {
                return Err(refuse(format!("`{}` is no module", visible(module, 60))));
            }
            let module = module.map(str::to_owned);
            if parts.iter().any(|(earlier, _)| *earlier == module) {
                return Err(refuse(match module {
                    Some(module) => format!("`{module}` has two levels"),
                    None => "there are two levels for everything".to_owned(),
                }));
            }
            parts.push((module, found));
        }
        Ok(Self { parts })
    }
}

impl Explain for ParseLogFilterError {
    fn code(&self) -> Code {
        Code::new("log-filter")
    }

    fn why(&self) -> String {
        "a filter that is misread hides lines, which is noticed when they are needed".into()
    }

    fn fix(&self) -> String {
        format!("write one of {}, or modules with levels, such as `warn,toolmark_mcp=debug`", LEVELS.join(", "))
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("filter", self.filter.as_str().into())])
    }
}
