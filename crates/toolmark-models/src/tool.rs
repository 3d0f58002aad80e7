//! What is a model told about a tool? Functions, tools that take free text, and those that a provider brings along.
//!
//! This is a description only: what runs behind it is decided elsewhere, by the identity of the tool and never by this.

mod hosted;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use hosted::{Computer, FileSearch, HostedTool, ToolSearch, WebSearch};

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WireTool {
    /// A tool with a schema.
    Function(FunctionTool),
    /// A tool that takes free text.
    Custom(CustomTool),
    /// A tool that the provider brings along, or has a fixed shape for.
    Hosted(HostedTool),
}

/// A tool with a schema.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionTool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
    /// Whether the provider must hold the model to the schema.
    pub strict: bool,
    /// The namespace it stands in. Empty is none.
    pub namespace: Option<String>,
    /// What the namespace is for; the same for all tools in it.
    pub namespace_description: Option<String>,
    /// Whether the model sees it only after it searched for it.
    pub defer_loading: bool,
    /// Who may call it, such as `direct` or `programmatic`; the provider's default if left out.
    pub allowed_callers: Option<Vec<String>>,
    /// The JSON schema of what it gives back.
    pub output_schema: Option<Value>,
}

/// A tool that takes free text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CustomTool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// What the text looks like, such as `{"type": "grammar", …}`.
    pub format: Option<Value>,
    /// Whether the model sees it only after it searched for it.
    pub defer_loading: bool,
    /// Who may call it.
    pub allowed_callers: Option<Vec<String>>,
}

impl FunctionTool {
    /// A strict tool without a namespace.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        let (name, description) = (name.into(), description.into());
        Self { name, description, parameters, strict: true, ..Self::default() }
    }

    /// The namespace, unless it is empty.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|namespace| !namespace.is_empty())
    }

    /// A schema that every provider takes: where there is none, an object without properties.
    pub(crate) fn parameters(&self) -> Value {
        match &self.parameters {
            Value::Null => json!({ "type": "object", "properties": {} }),
            schema => schema.clone(),
        }
    }
}

impl WireTool {
    /// The name under which the model calls it; a hosted tool has the name of its kind.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Function(tool) => &tool.name,
            Self::Custom(tool) => &tool.name,
            Self::Hosted(tool) => tool.kind(),
        }
    }
}

#[cfg(test)]
mod tests;
