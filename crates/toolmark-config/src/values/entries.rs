//! Tables whose keys are names that people choose. Their order in the file is kept: of two packs whose names collide, the later yields.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;
use toolmark_core::names::{PackName, RawName};

use super::Name;
use crate::read::{FromToml, Node, Reader, Refused, in_order};

/// Values by name, in the order in which they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<K, V>(Vec<(K, V)>);

/// A name that people choose.
pub trait Key: Sized + PartialEq {
    /// What it looks like, as a pattern of JSON Schema.
    const PATTERN: Option<&'static str>;

    #[doc(hidden)]
    fn read(text: &str) -> Result<Self, Box<dyn toolmark_core::explain::Explain>>;
}

impl<K, V> Entries<K, V> {
    /// Takes over a list. Names must differ; of two that are the same, [`get`](Self::get) finds the first.
    #[must_use]
    pub fn new(entries: Vec<(K, V)>) -> Self {
        Self(entries)
    }

    /// The entries, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: PartialEq, V> Entries<K, V> {
    /// The value of a name.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'e, K, V> IntoIterator for &'e Entries<K, V> {
    type Item = &'e (K, V);
    type IntoIter = std::slice::Iter<'e, (K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Key for PackName {
    const PATTERN: Option<&'static str> = Some("^[a-z][a-z0-9_-]{0,63}$");

    fn read(text: &str) -> Result<Self, Box<dyn toolmark_core::explain::Explain>> {
        text.parse().map_err(|error| Box::new(error) as _)
    }
}

impl Key for RawName {
    const PATTERN: Option<&'static str> = None;

    fn read(text: &str) -> Result<Self, Box<dyn toolmark_core::explain::Explain>> {
        text.parse().map_err(|error| Box::new(error) as _)
    }
}

impl Key for Name {
    const PATTERN: Option<&'static str> = Some("^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$");

    fn read(text: &str) -> Result<Self, Box<dyn toolmark_core::explain::Explain>> {
        text.parse().map_err(|error| Box::new(error) as _)
    }
}

/// Names of variables, headers, scopes and arguments: each is checked where it is used.
impl Key for String {
    const PATTERN: Option<&'static str> = None;

    fn read(text: &str) -> Result<Self, Box<dyn toolmark_core::explain::Explain>> {
        Ok(text.to_owned())
    }
}

impl<K: Key, V: FromToml> FromToml for Entries<K, V> {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        let DeValue::Table(table) = node.value else {
            node.expected("a table", reader);
            return None;
        };
        let mut read = Vec::new();
        for (key, value) in in_order(table) {
            let path = crate::read::below(&node.path, key.get_ref());
            let name = K::read(key.get_ref());
            if let Err(error) = &name {
                reader.refuse(key.span().start, &Refused::inner(&**error).at_key(&path));
            }
            let value = V::from_toml(&Node { value: value.get_ref(), at: value.span().start, path }, reader);
            read.extend(name.ok().zip(value));
        }
        Some(Self(read))
    }
}

impl<K: Key, V: JsonSchema> JsonSchema for Entries<K, V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("EntriesOf{}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<V>();
        match K::PATTERN {
            Some(pattern) => json_schema!({
                "type": "object",
                "additionalProperties": value,
                "propertyNames": {"pattern": pattern},
            }),
            None => json_schema!({"type": "object", "additionalProperties": value}),
        }
    }
}

impl<K, V> IntoIterator for Entries<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
