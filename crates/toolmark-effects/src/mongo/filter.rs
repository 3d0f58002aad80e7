//! What stands in filters and expressions: code that runs on the server, conditions that limit nothing, fields that hold secrets.

use serde_json::{Map, Value};
use toolmark_core::facts::{Danger, Effect};

use crate::sql::secrets;

/// Adds the dangers of everything below this value: `$where`, `$function` and `$accumulator` run JavaScript.
pub(super) fn examine(mut effect: Effect, value: &Value) -> Effect {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => {
                for (key, inner) in fields {
                    match key.as_str() {
                        "$where" | "$function" | "$accumulator" => {
                            effect = effect.with(Danger::Code);
                            if never_ends(inner) {
                                effect = effect.with(Danger::Exhaustion);
                            }
                        }
                        // What is below is data.
                        "$literal" => continue,
                        _ => {}
                    }
                    left.push(inner);
                }
            }
            _ => {}
        }
    }
    effect
}

/// `while(true){}`, `for(;;){}`, `sleep(…)`.
fn never_ends(code: &Value) -> bool {
    let mut left = vec![code];
    while let Some(value) = left.pop() {
        match value {
            Value::String(code) => {
                let code: String = code.chars().filter(|character| !character.is_whitespace()).collect();
                if ["while(true)", "while(1)", "while(!0)", "for(;;)", "sleep("]
                    .iter()
                    .any(|loops| code.contains(loops))
                {
                    return true;
                }
            }
            Value::Array(items) => left.extend(items),
            Value::Object(fields) => left.extend(fields.values()),
            _ => {}
        }
    }
    false
}

/// True when a filter lets every document through.
pub(super) fn covers_everything(filter: &Value) -> bool {
    covers(filter, 16)
}

fn covers(filter: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match filter {
        Value::Null => true,
        Value::Object(fields) => fields.iter().all(|(key, value)| match (key.as_str(), value) {
            ("$comment" | "$alwaysTrue", _) => true,
            ("$and", Value::Array(items)) => items.iter().all(|item| covers(item, depth)),
            ("$or", Value::Array(items)) => items.iter().any(|item| covers(item, depth)) || complement(items),
            ("$nor", Value::Array(items)) => items.is_empty(),
            ("$expr", value) => is_true(value),
            ("$where", Value::String(code)) => {
                matches!(code.trim().trim_end_matches(';'), "true" | "1" | "return true")
            }
            ("_id" | "id", Value::Object(condition)) => {
                condition.iter().all(|(operator, value)| every_key(operator, value))
            }
            (_, Value::Object(condition)) => {
                matches!(condition.get("$regex").and_then(Value::as_str), Some("" | ".*" | "^" | "."))
                    && condition.keys().all(|key| key == "$regex" || key == "$options")
            }
            _ => false,
        }),
        _ => false,
    }
}

/// Keys exist, are not null and are not negative.
fn every_key(operator: &str, value: &Value) -> bool {
    match operator {
        "$exists" => is_true(value),
        "$ne" | "$gt" | "$gte" => {
            value.is_null() || value.as_f64().is_some_and(|number| number <= 0.0) || value.as_str() == Some("")
        }
        "$nin" => value.as_array().is_some_and(|items| items.is_empty() || items.iter().all(Value::is_null)),
        _ => false,
    }
}

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_f64().is_some_and(|number| number != 0.0)
}

/// `{x: {$exists: true}}` beside `{x: {$exists: false}}`.
fn complement(items: &[Value]) -> bool {
    let exists = |item: &Value| {
        let fields = item.as_object()?;
        let (name, condition) = fields.iter().next()?;
        Some((name.clone(), is_true(condition.get("$exists")?)))
    };
    let all: Vec<(String, bool)> = items.iter().filter_map(exists).collect();
    all.iter().any(|(name, flag)| all.contains(&(name.clone(), !flag)))
}

/// True when a projection asks for a credential: `{"password": 1}`.
pub(super) fn projects_secrets(projection: &Value) -> bool {
    let fields: Option<&Map<String, Value>> = projection.as_object();
    fields.into_iter().flatten().any(|(name, value)| {
        let wanted = !matches!(value, Value::Bool(false)) && value.as_f64() != Some(0.0);
        let path = value.as_str().and_then(|path| path.strip_prefix('$')).unwrap_or(name);
        wanted && path.rsplit('.').next().is_some_and(secrets::is_secret_column)
    })
}
