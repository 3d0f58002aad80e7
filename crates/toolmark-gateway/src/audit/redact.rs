//! What of a call may be kept: secrets are blacked out before anything is written, what is too long is cut off, and both show.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};
use toolmark_config::values::Redact;
use toolmark_policy::pattern::Glob;

/// What stands where something was blacked out.
pub(crate) const BLACK: &str = "[redacted]";

/// What secrets are called, in lower case and without separators. Says yes too often rather than too rarely.
const NAMES: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "authorization",
    "credential",
    "cookie",
    "connectionstring",
];

/// What secrets look like, whatever they are called: keys of well-known services, bearer tokens, JWTs, private keys, passwords in
/// addresses and in assignments.
const PATTERNS: [&str; 9] = [
    r"\b(?:sk|pk|rk)-(?:[A-Za-z]+-)*[A-Za-z0-9_-]{16,}",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{10,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}",
    r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{12,}=*",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    r"(?i)[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]+@",
    r#"(?i)\b(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key)\b\s*[=:]\s*(?:'[^']*'|"[^"]*"|[^\s'",;&)]+)"#,
];

static BUILT_IN: LazyLock<Vec<Regex>> =
    LazyLock::new(|| PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect());

/// Blacks out what the operator's rules and ours name.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    names: Vec<Glob>,
    pointers: Vec<Vec<String>>,
    patterns: Vec<Regex>,
}

impl Redactor {
    /// With these rules beside ours. Patterns were compiled once when they were read, so none is left out.
    pub(crate) fn new(rules: &[Redact]) -> Self {
        let mut redactor = Self::default();
        for rule in rules {
            match rule {
                Redact::Name(name) => redactor.names.push(Glob::new(&name.to_lowercase())),
                Redact::Pointer(pointer) => redactor.pointers.push(pointer.split('/').skip(1).map(unescaped).collect()),
                Redact::Pattern(pattern) => redactor.patterns.extend(RegexBuilder::new(pattern).build()),
            }
        }
        redactor
    }

    /// A value without what must not be kept.
    pub(crate) fn value(&self, value: &Value) -> Value {
        let live: Vec<&[String]> = self.pointers.iter().map(Vec::as_slice).collect();
        self.below(value, &live)
    }

    /// A text without what looks like a secret.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for pattern in BUILT_IN.iter().chain(&self.patterns) {
            if let Cow::Owned(replaced) = pattern.replace_all(&text, BLACK) {
                text = Cow::Owned(replaced);
            }
        }
        text
    }

    /// `live` are the rules for places that lead through here, without the steps that were taken.
    fn below(&self, value: &Value, live: &[&[String]]) -> Value {
        if live.iter().any(|rest| rest.is_empty()) {
            return BLACK.into();
        }
        let through = |step: &str| -> Vec<&[String]> {
            let leads = |rest: &&[String]| rest.split_first().is_some_and(|(first, _)| first == "*" || first == step);
            live.iter().copied().filter(leads).filter_map(|rest| rest.get(1..)).collect()
        };
        match value {
            Value::Object(members) => {
                let member = |(key, value): (&String, &Value)| {
                    let kept = if self.is_named(key, value) { BLACK.into() } else { self.below(value, &through(key)) };
                    (key.clone(), kept)
                };
                Value::Object(members.iter().map(member).collect::<Map<_, _>>())
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(at, item)| self.below(item, &through(&at.to_string()))).collect()
            }
            Value::String(text) => Value::String(self.text(text).into_owned()),
            other => other.clone(),
        }
    }

    fn is_named(&self, key: &str, value: &Value) -> bool {
        let lower = key.to_lowercase();
        if self.names.iter().any(|name| name.matches(&lower)) {
            return true;
        }
        let plain: String = lower.chars().filter(|character| character.is_alphanumeric()).collect();
        // `max_tokens: 100` and `has_password: true` are no secrets.
        let harmless = value.is_boolean() || value.is_null() || (value.is_number() && plain.ends_with("tokens"));
        !harmless && (plain == "pwd" || plain == "pin" || NAMES.iter().any(|secret| plain.contains(secret)))
    }
}

/// Cut off where it is too long, with a word about how long it was.
pub(crate) fn cut(mut text: String, most: usize) -> String {
    let bytes = text.len();
    if bytes > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str(&format!("…[cut: {bytes} bytes]"));
    }
    text
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules() -> Redactor {
        Redactor::new(&[
            Redact::Name("IBAN".into()),
            Redact::Name("*_pin".into()),
            Redact::Pointer("/users/*/email".into()),
            Redact::Pointer("/a~1b".into()),
            Redact::Pattern("[0-9]{16}".into()),
        ])
    }

    #[test]
    fn all_built_in_patterns_compile() {
        assert_eq!(BUILT_IN.len(), PATTERNS.len());
    }

    #[test]
    fn what_is_called_like_a_secret_is_blacked_out_at_any_depth() {
        let value = json!({"deep": [{"apiKey": "x", "Access-Token": ["a"], "max_tokens": 5, "has_password": true, "name": "n"}]});
        let kept = json!({"deep": [{"apiKey": BLACK, "Access-Token": BLACK, "max_tokens": 5, "has_password": true, "name": "n"}]});
        assert_eq!(Redactor::default().value(&value), kept);
    }

    #[test]
    fn what_looks_like_a_secret_is_blacked_out_wherever_it_stands() {
        for (text, kept) in [
            ("use sk-proj-abcdefghijklmnop1234 now", "use [redacted] now"),
            ("ghp_0123456789abcdefghijABCDEFGHIJ", "[redacted]"),
            ("curl -H 'Authorization: Bearer abcdef0123456789'", "curl -H 'Authorization: [redacted]'"),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "[redacted]"),
            ("postgres://me:hunter2@db/x", "[redacted]db/x"),
            ("UPDATE users SET password = 'hunter2' WHERE id = 1", "UPDATE users SET [redacted] WHERE id = 1"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[redacted]"),
            ("SELECT * FROM tokens", "SELECT * FROM tokens"),
            ("a plain text about a secret", "a plain text about a secret"),
        ] {
            assert_eq!(Redactor::default().text(text), kept, "{text}");
        }
    }

    #[test]
    fn rules_of_the_operator_come_on_top() {
        let value = json!({
            "iban": "DE1", "sim_pin": 1234, "users": [{"email": "a@b", "name": "n"}], "a/b": {"c": 1},
            "note": "card 1234567890123456", "email": "kept@x",
        });
        let kept = json!({
            "iban": BLACK, "sim_pin": BLACK, "users": [{"email": BLACK, "name": "n"}], "a/b": BLACK,
            "note": "card [redacted]", "email": "kept@x",
        });
        assert_eq!(rules().value(&value), kept);
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("äöü".into(), 3), "ä…[cut: 6 bytes]");
        assert_eq!(cut("abc".into(), 3), "abc");
    }
}
