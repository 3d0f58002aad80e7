//! Whether two schemas, or two parts of them, are equal aside from their words.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::dialect;
use crate::schema::keywords::{Holds, holds};
use crate::schema::refs;

/// Levels that are followed before two schemas count as different.
const DEPTH: usize = 128;

/// True when the two documents differ in words only, with every other keyword written the same.
pub(super) fn aside_from_words(old: &Value, new: &Value) -> bool {
    dialect::of(old) == dialect::of(new) && Same { documents: None, steps: usize::MAX }.schemas(old, new, 0)
}

/// A comparison of parts of two documents, which follows local references on both sides.
pub(super) struct Same<'o, 'n> {
    documents: Option<Documents<'o, 'n>>,
    steps: usize,
}

struct Documents<'o, 'n> {
    old: &'o Value,
    new: &'n Value,
    /// Pairs of targets that are, or were, compared. Taking an open pair for equal is sound: a difference is found elsewhere.
    seen: HashSet<(*const Value, *const Value)>,
}

impl<'o, 'n> Same<'o, 'n> {
    pub(super) fn following(old: &'o Value, new: &'n Value, steps: usize) -> Self {
        Self { documents: Some(Documents { old, new, seen: HashSet::new() }), steps }
    }

    /// Steps that are left of those it was given.
    pub(super) fn steps_left(&self) -> usize {
        self.steps
    }

    pub(super) fn schemas(&mut self, old: &Value, new: &Value, depth: usize) -> bool {
        let Some(left) = self.steps.checked_sub(1) else {
            return false;
        };
        self.steps = left;
        match (old, new) {
            _ if depth > DEPTH => false,
            (Value::Object(old), Value::Object(new)) => {
                // Below the root, `$schema` sets the dialect of a part.
                let counts = |key: &str| holds(key) != Holds::Words || (key == "$schema" && depth > 0);
                let counted = |entries: &Map<String, Value>| entries.keys().filter(|key| counts(key)).count();
                counted(old) == counted(new)
                    && old
                        .iter()
                        .filter(|(key, _)| counts(key))
                        .all(|(key, old)| new.get(key).is_some_and(|new| self.keyword(key, old, new, depth + 1)))
            }
            _ => old == new,
        }
    }

    fn keyword(&mut self, keyword: &str, old: &Value, new: &Value, depth: usize) -> bool {
        match (holds(keyword), old, new) {
            (Holds::Data, Value::String(one), Value::String(other)) if keyword == "$ref" => {
                self.targets(one, other, depth)
            }
            // Below parts of a document, only what is referred to counts; in whole documents everything does.
            (Holds::Named, ..) if self.documents.is_some() && matches!(keyword, "$defs" | "definitions") => true,
            (Holds::Words | Holds::Data, ..) => old == new,
            (Holds::Schema, ..) => self.schemas(old, new, depth),
            (_, Value::Array(old), Value::Array(new)) => {
                old.len() == new.len() && old.iter().zip(new).all(|(old, new)| self.schemas(old, new, depth))
            }
            (Holds::Named | Holds::NamedOrNames, Value::Object(old), Value::Object(new)) => {
                old.len() == new.len()
                    && old.iter().all(|(name, old)| new.get(name).is_some_and(|new| self.schemas(old, new, depth)))
            }
            (Holds::SchemaOrList, ..) => self.schemas(old, new, depth),
            _ => old == new,
        }
    }

    fn targets(&mut self, one: &str, other: &str, depth: usize) -> bool {
        let Some(documents) = &mut self.documents else {
            return one == other;
        };
        let (Some(old), Some(new)) = (refs::local(documents.old, one), refs::local(documents.new, other)) else {
            return false;
        };
        if !documents.seen.insert((std::ptr::from_ref(old), std::ptr::from_ref(new))) {
            return true;
        }
        self.schemas(old, new, depth)
    }
}
