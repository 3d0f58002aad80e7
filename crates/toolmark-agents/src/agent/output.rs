//! What shape must the final answer have? A schema for the provider, and a check of what the model then says.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolmark_core::schema::check::{CompileSchemaError, InputSchema};
use toolmark_core::schema::strict::{OpenObjects, to_strict};
use toolmark_core::text::visible;
use toolmark_models::OutputSchema;

/// The shape of a final answer. Cheap to clone.
#[derive(Clone)]
pub struct OutputType {
    pub(crate) schema: Arc<OutputSchema>,
    check: Arc<dyn Fn(Value) -> Result<Value, String> + Send + Sync>,
}

/// The key under which an answer stands that is no object: providers take objects only.
const WRAPPED: &str = "response";

impl OutputType {
    /// The shape of a type. One that is no object, such as a list, is put into one on the way and taken out again.
    #[must_use]
    pub fn of<T: DeserializeOwned + schemars::JsonSchema>() -> Self {
        let mut schema = schemars::SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        if let Some(all) = schema.as_object_mut() {
            all.remove("$schema");
            all.remove("title");
        }
        let wrapped = schema.get("type").and_then(Value::as_str) != Some("object");
        let schema = if wrapped { wrap(schema) } else { schema };
        let check = move |value: Value| {
            let value = match value {
                Value::Object(mut all) if wrapped => {
                    all.remove(WRAPPED).ok_or_else(|| format!("it has no `{WRAPPED}`"))?
                }
                value if wrapped => return Err(format!("it is {value}, not an object with `{WRAPPED}`")),
                value => value,
            };
            match serde_json::from_value::<T>(value.clone()) {
                Ok(_) => Ok(value),
                Err(error) => Err(visible(&error.to_string(), 400)),
            }
        };
        Self::new(&T::schema_name(), schema, Arc::new(check))
    }

    /// A shape that is written down.
    ///
    /// # Errors
    /// [`CompileSchemaError`] when it is no JSON schema.
    pub fn schema(name: &str, schema: Value) -> Result<Self, CompileSchemaError> {
        let compiled = InputSchema::compile(&schema)?;
        let check = move |value: Value| match compiled.check(&value) {
            Ok(()) => Ok(value),
            Err(error) => Err(error.to_string()),
        };
        Ok(Self::new(name, schema, Arc::new(check)))
    }

    fn new(name: &str, schema: Value, check: Arc<dyn Fn(Value) -> Result<Value, String> + Send + Sync>) -> Self {
        let plain = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
        let name: String = name.chars().map(plain).take(64).collect();
        // The strict form is all or nothing; where there is none, the provider gets the schema as it is.
        let (schema, strict) = match to_strict(&schema, OpenObjects::Close) {
            Ok(strict) => (strict, true),
            Err(_) => (schema, false),
        };
        Self { schema: Arc::new(OutputSchema { name, schema, strict }), check }
    }

    /// Reads an answer; says what is wrong with it otherwise.
    pub(crate) fn read(&self, text: &str) -> Result<Value, String> {
        let value = serde_json::from_str(text.trim()).map_err(|error| format!("it is no JSON: {error}"))?;
        (self.check)(value)
    }
}

/// The schema of an object with this in it. Definitions stay at the root, where references look for them.
fn wrap(mut schema: Value) -> Value {
    let definitions = schema.as_object_mut().and_then(|all| all.remove("$defs"));
    let mut outer = Map::new();
    outer.insert("type".into(), "object".into());
    outer.insert("properties".into(), json!({ WRAPPED: schema }));
    outer.insert("required".into(), json!([WRAPPED]));
    outer.insert("additionalProperties".into(), false.into());
    if let Some(definitions) = definitions {
        outer.insert("$defs".into(), definitions);
    }
    Value::Object(outer)
}

impl fmt::Debug for OutputType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputType").field("schema", &self.schema).finish_non_exhaustive()
    }
}
