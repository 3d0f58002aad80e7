//! Which argument values may not be repeated in a message: those that are secret by name or by schema.

use serde_json::Value;

use crate::schema::refs;

/// What secrets are called, in lower case and without separators.
const NAMES: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "credential",
    "cookie",
];

/// True when a step of the path is called like a secret. Says yes too often rather than too rarely: `max_tokens` is hidden too.
pub(super) fn is_named_like_one(path: &str) -> bool {
    path.split('/').any(|step| {
        let name: String =
            refs::unescaped(step).chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        name == "pwd" || NAMES.iter().any(|secret| name.contains(secret))
    })
}

/// True when the schema says that a value is written and never shown.
pub(super) fn is_declared_one(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str).is_some_and(|format| format.eq_ignore_ascii_case("password"))
}
