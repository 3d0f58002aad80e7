//! What a reference can name other than by a pointer: schemas with an identifier, and anchors.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Everything in a document that a reference can name other than by a pointer.
pub(super) struct Index<'s> {
    is_draft_4: bool,
    resources: Vec<(&'s str, &'s Value)>,
    anchors: HashMap<&'s str, Vec<&'s Value>>,
}

impl<'s> Index<'s> {
    pub(super) fn of(schema: &'s Value) -> Self {
        let dialect = schema.get("$schema").and_then(Value::as_str);
        let is_draft_4 = dialect.is_some_and(|dialect| dialect.contains("draft-04"));
        let mut index = Self { is_draft_4, resources: Vec::new(), anchors: HashMap::new() };
        index.add(schema);
        index
    }

    /// How many schemas inside `schema` have an identifier of their own.
    pub(super) fn resources_inside(&self, schema: &Value) -> usize {
        self.resources.iter().filter(|(_, resource)| !std::ptr::eq(*resource, schema)).count()
    }

    /// Everything that has this anchor. Which of them is meant can depend on the way there.
    pub(super) fn anchored(&self, name: &str) -> Vec<&'s Value> {
        self.anchors.get(name).cloned().unwrap_or_default()
    }

    fn add(&mut self, schema: &'s Value) {
        match schema {
            Value::Object(entries) => {
                if let Some(name) = self.identifier(entries) {
                    self.resources.push((name, schema));
                }
                for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
                    if let Some(name) = entries.get(keyword).and_then(Value::as_str) {
                        self.anchors.entry(name.trim_start_matches('#')).or_default().push(schema);
                    }
                }
                for (keyword, value) in entries {
                    match (keyword.as_str(), value) {
                        // Data, in which an `$id` identifies nothing.
                        ("enum" | "const" | "default" | "examples" | "example", _) => {}
                        (
                            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                            | "dependencies",
                            Value::Object(named),
                        ) => named.values().for_each(|schema| self.add(schema)),
                        _ => self.add(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            _ => {}
        }
    }

    /// The identifier that makes a schema a document of its own.
    pub(super) fn identifier(&self, entries: &'s Map<String, Value>) -> Option<&'s str> {
        let keyword = if self.is_draft_4 { "id" } else { "$id" };
        entries.get(keyword)?.as_str().filter(|name| !name.starts_with('#'))
    }

    /// The identified schemas that a reference may mean. Relative references resolve in many ways that all keep the last part.
    pub(super) fn resources_named(&self, document: &str) -> Vec<&'s Value> {
        let last = |text: &'_ str| text.rsplit(['/', ':']).next().unwrap_or_default().to_owned();
        let wanted = last(document);
        let same = |name: &str| name == document || (!wanted.is_empty() && last(name.trim_end_matches('#')) == wanted);
        self.resources.iter().filter(|(name, _)| same(name)).map(|(_, value)| *value).collect()
    }
}
