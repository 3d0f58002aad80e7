//! All suggested declarations at once, ready to paste: TOML for the operator, JSON for the publishers.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::Lint;

/// Writes every suggestion as a part of `toolmark.toml`, one table a tool.
#[must_use]
pub fn render_toml(lint: &Lint) -> String {
    let mut out = String::new();
    for (suggestion, rules) in lint.suggestions() {
        let Some(toml) = suggestion.toml() else { continue };
        let rules: Vec<&str> = rules.iter().map(|rule| rule.as_str()).collect();
        let _ = writeln!(out, "\n# {}\n{}", rules.join(", "), toml.trim_end());
    }
    if out.is_empty() {
        return "# nothing to declare\n".into();
    }
    format!(
        "# What lint would declare. It is worked out from names, descriptions and hints: read each before you keep it.\n{out}"
    )
}

/// Every suggestion as what its publisher would put into the definition, by canonical name.
#[must_use]
pub fn declarations_json(lint: &Lint) -> Value {
    let all = lint.suggestions().into_iter();
    let all: Map<String, Value> = all.map(|(one, _)| (one.tool().to_string(), one.definition())).collect();
    serde_json::json!({"version": 1, "tools": all})
}
