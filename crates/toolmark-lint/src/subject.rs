//! What the rules that compare tools need to know of each, kept from the one reading of its definition.

use toolmark_core::definition::Reading;
use toolmark_core::digest::SchemaDigest;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;

use crate::doing::Doing;

/// One tool of the catalog.
#[derive(Debug)]
pub(crate) struct Subject<'c> {
    pub(crate) tool: &'c Tool,
    pub(crate) doing: Doing,
    pub(crate) shape: SchemaDigest,
    /// It takes no parameters at all.
    pub(crate) parameterless: bool,
    /// It has a `readOnlyHint` or a declared behavior.
    pub(crate) annotated: bool,
}

impl<'c> Subject<'c> {
    pub(crate) fn new(tool: &'c Tool, reading: &Reading<'_>) -> Self {
        let schema = reading.input_schema();
        let has = |key: &str| schema.get(key).and_then(|value| value.entries()).is_some_and(|all| !all.is_empty());
        let composed = ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| schema.get(key).is_some());
        Self {
            tool,
            doing: Doing::of(tool, reading),
            shape: SchemaDigest::of_schema(&schema),
            parameterless: !has("properties") && !has("patternProperties") && !composed,
            annotated: tool.behavior().is_some() || reading.hint("readOnlyHint").is_some(),
        }
    }

    pub(crate) fn name(&self) -> &'c str {
        self.tool.raw().as_str()
    }

    /// What it does and how we know, as JSON.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "tool": self.tool.canonical(),
            "does": self.doing.says(),
            "action": self.doing.action(),
            "evidence": self.doing.evidence().map(super::doing::Evidence::as_str),
        })
    }
}

/// A name as it may be printed, in backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", visible(name, 100))
}

/// The first names in backticks, and how many more there are.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>, shown: usize) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let mut text = names.iter().take(shown).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if names.len() > shown {
        text.push_str(&format!(" (+{} more)", names.len() - shown));
    }
    text
}
