//! What a tool is called with: JSON that was read strictly, fits the schema and was judged.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::ToolError;

/// The arguments of one call. Cheap to clone.
#[derive(Clone, PartialEq)]
pub struct Arguments(Arc<Inner>);

#[derive(PartialEq)]
struct Inner {
    text: String,
    value: Value,
}

impl Arguments {
    pub(crate) fn new(text: String, value: Value) -> Self {
        Self(Arc::new(Inner { text, value }))
    }

    /// The JSON text as it came.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The same as a value: always an object.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// One argument; nothing where it was left out.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.value.get(name)
    }

    /// Reads them as a type.
    ///
    /// # Errors
    /// [`ToolError`] with a text for the model that says what does not fit.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        T::deserialize(&self.0.value).map_err(|error| ToolError::arguments(error.to_string()))
    }
}

/// Arguments may hold secrets: only how large they are is shown.
impl fmt::Debug for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} bytes)", self.0.text.len())
    }
}
