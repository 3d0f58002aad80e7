//! The JSON schema of `toolmark.toml`, for editors. It is generated from the same declarations that the reader uses.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::config::Config;

/// The schema, as it is checked in at `docs/schema/toolmark.schema.json`.
#[must_use]
pub fn schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Config>().to_value();
    tidy(&mut schema);
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), "toolmark.toml".into());
    }
    schema
}

/// TOML knows no null: what may be left out is not required, and that is all that is said.
fn tidy(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(object) => {
            object.retain(|key, value| !(key == "default" && (value.is_null() || is_empty(value))));
            if let Some(seconds) = object.get("default").and_then(|default| default.get("secs")).and_then(Value::as_u64)
            {
                object.insert("default".into(), format!("{seconds}s").into());
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(words)) = object.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
                if let [Value::Object(only)] = choices.as_mut_slice() {
                    let only = std::mem::take(only);
                    object.remove("anyOf");
                    object.extend(only);
                }
            }
            object.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}
