//! What a schema accepts, without the words around it: one digest for schemas that no arguments can tell apart by their text.
//!
//! It is the canonical form of the schema with these differences, and nothing else is evened out:
//! * titles, descriptions, examples, defaults, comments, `$schema`, `deprecated`, `readOnly`, `writeOnly` and `x-…` are left out,
//!   where they are keywords: a parameter called `title` stays, and so does a `title` inside a value of an enum;
//! * `required`, `type`, `enum` and lists of names in dependencies are sorted, without repetitions; one type in a list is that type;
//! * empty `properties` (and other maps of schemas), an empty `required` and `additionalProperties` that accept everything are
//!   left out; a schema without keywords is `true`;
//! * the schema itself has the type `object` when it names none, since arguments are objects.
//!
//! Without its `$schema`, a text that two dialects read in two ways has one digest: compare dialects beside it.

use std::borrow::Cow;

use serde_json::Value;

use super::keywords::{Holds, holds};
use crate::canonical;
use crate::digest::{self, SchemaDigest};
use crate::json::Json;

static OBJECT: Json<'static> = Json::String(Cow::Borrowed("object"));

impl SchemaDigest {
    /// The digest of what a schema accepts.
    ///
    /// ```
    /// use toolmark_core::digest::SchemaDigest;
    /// use toolmark_core::json::read;
    ///
    /// let one = read(r#"{"title": "A", "properties": {"title": {"type": "string"}}, "required": []}"#).unwrap();
    /// let other = read(r#"{"type": "object", "properties": {"title": {"type": "string", "description": "a name"}}}"#).unwrap();
    /// assert_eq!(SchemaDigest::of_schema(&one), SchemaDigest::of_schema(&other));
    /// ```
    #[must_use]
    pub fn of_schema(schema: &Json<'_>) -> Self {
        let mut text = Vec::with_capacity(1024);
        write(schema, &mut text);
        Self::of_bytes(digest::SCHEMA, &text)
    }

    /// The same for a schema that `serde_json` holds.
    #[must_use]
    pub fn of_value(schema: &Value) -> Self {
        Self::of_schema(&Json::from(schema))
    }
}

/// Appends the text that the digest is made of.
///
/// Recursion is bounded by the depth that the reader allows.
pub fn write(schema: &Json<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    let mut shape = Shape { out, depends_on_everything: false, exact: false };
    shape.root(schema);
    if shape.depends_on_everything {
        // `unevaluated…` tells a keyword that accepts everything from one that is absent. Rare, so found out on the way.
        shape.out.truncate(start);
        shape.exact = true;
        shape.root(schema);
    }
}

struct Shape<'b> {
    out: &'b mut Vec<u8>,
    /// An `unevaluated…` keyword was met.
    depends_on_everything: bool,
    /// Nothing that accepts everything is left out.
    exact: bool,
}

impl Shape<'_> {
    fn root(&mut self, schema: &Json<'_>) {
        match schema {
            Json::Object(entries) => {
                let is_untyped = !entries.iter().any(|(keyword, _)| keyword == "type");
                self.entries(entries, is_untyped.then_some(("type", &OBJECT)));
            }
            Json::Bool(true) => self.entries(&[], Some(("type", &OBJECT))),
            other => canonical::write(other, self.out),
        }
    }

    fn schema(&mut self, schema: &Json<'_>) {
        match schema {
            Json::Object(entries) => self.entries(entries, None),
            other => canonical::write(other, self.out),
        }
    }

    fn entries<'j, 'v: 'j>(&mut self, entries: &'j [(Cow<'v, str>, Json<'v>)], added: Option<(&'j str, &'j Json<'v>)>) {
        let kept = entries.iter().map(|(keyword, value)| (keyword.as_ref(), value));
        let mut kept: Vec<(&str, &Json<'_>)> =
            kept.filter(|(keyword, value)| self.counts(keyword, value)).chain(added).collect();
        if kept.is_empty() {
            return self.out.extend_from_slice(b"true");
        }
        kept.sort_unstable_by(|(one, _), (other, _)| canonical::utf16_order(one, other));
        self.out.push(b'{');
        for (index, (keyword, value)) in kept.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            canonical::write_string(keyword, self.out);
            self.out.push(b':');
            self.keyword(keyword, value);
        }
        self.out.push(b'}');
    }

    /// Whether a keyword has a part in what the schema accepts.
    fn counts(&mut self, keyword: &str, value: &Json<'_>) -> bool {
        if matches!(keyword, "unevaluatedProperties" | "unevaluatedItems") {
            self.depends_on_everything = true;
        }
        match (holds(keyword), value) {
            (Holds::Words, _) => false,
            (Holds::Named | Holds::NamedOrNames, Json::Object(entries)) => !entries.is_empty(),
            (Holds::Data, Json::Array(names)) if keyword == "required" => !names.is_empty(),
            (Holds::Schema, value) if keyword == "additionalProperties" => {
                self.exact || !self.accepts_everything(value)
            }
            _ => true,
        }
    }

    fn accepts_everything(&mut self, schema: &Json<'_>) -> bool {
        match schema {
            Json::Bool(flag) => *flag,
            Json::Object(entries) => !entries.iter().any(|(keyword, value)| self.counts(keyword, value)),
            _ => false,
        }
    }

    fn keyword(&mut self, keyword: &str, value: &Json<'_>) {
        match (holds(keyword), value) {
            (Holds::Schema | Holds::SchemaOrList, Json::Object(_)) => self.schema(value),
            (Holds::List | Holds::SchemaOrList, Json::Array(schemas)) => self.list(schemas),
            (Holds::Named | Holds::NamedOrNames, Json::Object(schemas)) => self.named(schemas),
            (Holds::Data, Json::Object(names)) if keyword == "dependentRequired" => self.named(names),
            (Holds::Data, Json::Array(values)) if matches!(keyword, "required" | "enum") => self.sorted(values),
            (Holds::Data, Json::Array(types)) if keyword == "type" => match types.as_slice() {
                [one] => canonical::write(one, self.out),
                several => self.sorted(several),
            },
            _ => canonical::write(value, self.out),
        }
    }

    fn list(&mut self, schemas: &[Json<'_>]) {
        self.out.push(b'[');
        for (index, schema) in schemas.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.schema(schema);
        }
        self.out.push(b']');
    }

    /// Schemas, or lists of names, by name. All names stay.
    fn named(&mut self, schemas: &[(Cow<'_, str>, Json<'_>)]) {
        let mut sorted: Vec<&(Cow<'_, str>, Json<'_>)> = schemas.iter().collect();
        sorted.sort_unstable_by(|(one, _), (other, _)| canonical::utf16_order(one, other));
        self.out.push(b'{');
        for (index, (name, value)) in sorted.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            canonical::write_string(name, self.out);
            self.out.push(b':');
            match value {
                Json::Array(names) => self.sorted(names),
                schema => self.schema(schema),
            }
        }
        self.out.push(b'}');
    }

    /// Values whose order and repetition say nothing, in the order of their canonical text.
    fn sorted(&mut self, values: &[Json<'_>]) {
        let mut text = Vec::with_capacity(values.len() * 16);
        let mut places = Vec::with_capacity(values.len());
        for value in values {
            let start = text.len();
            canonical::write(value, &mut text);
            places.push(start..text.len());
        }
        let mut written: Vec<&[u8]> = places.into_iter().filter_map(|place| text.get(place)).collect();
        written.sort_unstable();
        written.dedup();
        self.out.push(b'[');
        for (index, value) in written.into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.out.extend_from_slice(value);
        }
        self.out.push(b']');
    }
}

#[cfg(test)]
mod tests;
