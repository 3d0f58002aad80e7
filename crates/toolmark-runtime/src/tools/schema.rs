//! What a tool accepts: the schema of its arguments, made ready for catalogs and providers.

use serde_json::{Map, Value};
use toolmark_core::schema::check::{CompileSchemaError, InputSchema};
use toolmark_core::schema::strict::{OpenObjects, StrictSchemaError, to_strict};

use super::function::Strict;

/// A schema that was checked, with its strict form where that is wanted.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) plain: Value,
    pub(super) strict: Option<Value>,
}

/// Why a schema cannot be used.
pub(super) enum Unusable {
    NotAnObject,
    Compile(Box<CompileSchemaError>),
    Strict(Box<StrictSchemaError>),
}

/// The schema of the arguments of a type. What schemars says about itself is left out: models have no use for it, and some providers
/// refuse formats that they do not know.
pub(super) fn of_type<T: schemars::JsonSchema>() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12()
        .with_transform(schemars::transform::RecursiveTransform(limits_for_formats));
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(all) = schema.as_object_mut() {
        all.remove("$schema");
        all.remove("title");
    }
    schema
}

/// The formats that schemars gives numbers, with the limits that they mean.
const NUMBERS: [(&str, Option<(i64, i64)>); 14] = [
    ("int8", Some((i8::MIN as i64, i8::MAX as i64))),
    ("int16", Some((i16::MIN as i64, i16::MAX as i64))),
    ("int32", Some((i32::MIN as i64, i32::MAX as i64))),
    ("int64", None),
    ("int128", None),
    ("int", None),
    ("uint8", Some((0, u8::MAX as i64))),
    ("uint16", Some((0, u16::MAX as i64))),
    ("uint32", Some((0, u32::MAX as i64))),
    ("uint64", None),
    ("uint128", None),
    ("uint", None),
    ("float", None),
    ("double", None),
];

/// Says the limits of a number in place of its format.
fn limits_for_formats(schema: &mut schemars::Schema) {
    let format = schema.get("format").and_then(Value::as_str);
    let known = NUMBERS.iter().find(|(name, _)| Some(*name) == format);
    if let (Some((_, limits)), Some(all)) = (known, schema.as_object_mut()) {
        all.remove("format");
        if let Some((least, most)) = limits {
            all.entry("minimum").or_insert_with(|| (*least).into());
            all.entry("maximum").or_insert_with(|| (*most).into());
        }
    }
}

/// Checks a schema and makes its strict form. The strict form is all or nothing: where it would say something else, there is none.
pub(super) fn prepare(mut schema: Value, strict: Strict) -> Result<Parameters, Unusable> {
    let Some(all) = schema.as_object_mut() else { return Err(Unusable::NotAnObject) };
    all.entry("type").or_insert_with(|| "object".into());
    if all.get("type").and_then(Value::as_str) != Some("object") {
        return Err(Unusable::NotAnObject);
    }
    // Providers refuse an object that does not say which properties it has.
    all.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    InputSchema::compile(&schema).map_err(|error| Unusable::Compile(Box::new(error)))?;
    let strict = match (strict, to_strict(&schema, OpenObjects::Close)) {
        (Strict::Never, _) | (Strict::WherePossible, Err(_)) => None,
        // Closing an object that takes anything would leave it nothing to take.
        (Strict::WherePossible, Ok(_)) if takes_anything(&schema) => None,
        (Strict::Always, Err(error)) => return Err(Unusable::Strict(Box::new(error))),
        (_, Ok(strict)) => Some(strict),
    };
    Ok(Parameters { plain: schema, strict })
}

/// True when some object inside says nothing about what it holds.
fn takes_anything(schema: &Value) -> bool {
    let mut waiting: Vec<&Value> = schema.as_object().into_iter().flat_map(Map::values).collect();
    while let Some(next) = waiting.pop() {
        match next {
            Value::Array(items) => waiting.extend(items),
            Value::Object(all) => {
                let names = |word: &Value| {
                    word == "object" || word.as_array().is_some_and(|all| all.iter().any(|one| one == "object"))
                };
                if all.get("type").is_some_and(names)
                    && !all.contains_key("properties")
                    && !all.contains_key("additionalProperties")
                {
                    return true;
                }
                waiting.extend(all.values());
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
