//! Differences in words: titles, descriptions, examples, and defaults, which are more than words.

use serde_json::{Map, Value};

use super::change::{ChangeKind, Direction};
use super::walk::Walk;
use crate::schema::keywords::{Holds, holds};
use crate::schema::refs;

impl<'o, 'n> Walk<'o, 'n> {
    pub(super) fn words_of(&mut self, old: &Value, new: &Value, path: &str) {
        if let (Value::Object(old), Value::Object(new)) = (old, new) {
            self.entry_words(old, new, path);
        }
    }

    pub(super) fn entry_words(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, path: &str) {
        for keyword in new.keys().chain(old.keys().filter(|key| !new.contains_key(*key))) {
            let is_words = holds(keyword) == Holds::Words && keyword != "$schema";
            let is_identifier = matches!(keyword.as_str(), "$id" | "id") && path.is_empty();
            if (is_words || is_identifier) && old.get(keyword) != new.get(keyword) {
                let (kind, direction) = match keyword.as_str() {
                    "default" => (ChangeKind::Default, Direction::Default),
                    _ => (ChangeKind::Words, Direction::Wording),
                };
                self.tell(&refs::step(path, keyword), kind, direction);
            }
        }
    }

    /// Words in two schemas that are equal in everything else, so that each part has its counterpart.
    pub(super) fn words_below(&mut self, old: &Value, new: &Value, path: &str) {
        let (Value::Object(before), Value::Object(now)) = (old, new) else {
            return;
        };
        if !self.step(path) {
            return;
        }
        self.depth += 1;
        self.entry_words(before, now, path);
        for (keyword, new) in now {
            let here = refs::step(path, keyword);
            match (holds(keyword), before.get(keyword), new) {
                (Holds::Words | Holds::Data, ..) | (_, None, _) => {}
                (Holds::Named | Holds::NamedOrNames, Some(Value::Object(old)), Value::Object(new)) => {
                    for (name, new) in new {
                        if let Some(old) = old.get(name) {
                            self.words_below(old, new, &refs::step(&here, name));
                        }
                    }
                }
                (_, Some(Value::Array(old)), Value::Array(new)) => {
                    for (index, (old, new)) in old.iter().zip(new).enumerate() {
                        self.words_below(old, new, &format!("{here}/{index}"));
                    }
                }
                (_, Some(old), new) => self.words_below(old, new, &here),
            }
        }
        self.depth -= 1;
    }
}
