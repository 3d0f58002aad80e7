//! Keywords that speak of the parts of a value: its properties and its items.

use serde_json::{Map, Value};

use super::bounds;
use super::change::{ChangeKind, Direction};
use super::walk::{ANYTHING, Walk, named};
use crate::schema::refs;

impl<'o, 'n> Walk<'o, 'n> {
    pub(super) fn properties(&mut self, old: &'o Map<String, Value>, new: &'n Map<String, Value>, path: &str) {
        let (before, now) = (named(old, "properties"), named(new, "properties"));
        let (old_rest, new_rest) = (rest_of(old, "additionalProperties"), rest_of(new, "additionalProperties"));
        let (old_patterns, new_patterns) = (named(old, "patternProperties"), named(new, "patternProperties"));
        let has_patterns = [old_patterns, new_patterns].into_iter().flatten().any(|patterns| !patterns.is_empty());
        let here = refs::step(path, "properties");
        for (name, new) in now.into_iter().flatten() {
            let path = refs::step(&here, name);
            match before.and_then(|before| before.get(name)) {
                Some(old) => self.schemas(old, new, &path),
                None => self.tell(&path, ChangeKind::NewParameter(name.clone()), Direction::Wider),
            }
        }
        for (name, old) in before.into_iter().flatten() {
            if now.is_some_and(|now| now.contains_key(name)) {
                continue;
            }
            // What was declared falls to the rest now.
            let direction = match new_rest {
                Value::Bool(false) if !has_patterns => Direction::Narrower,
                _ if has_patterns => Direction::Other,
                rest if self.same(old, rest) => Direction::Wording,
                _ => Direction::Wider,
            };
            self.tell(&refs::step(&here, name), ChangeKind::RemovedParameter(name.clone()), direction);
        }
        self.pattern_properties(old_patterns, new_patterns, accepts_all(old_rest) && accepts_all(new_rest), path);
        self.schemas(old_rest, new_rest, &refs::step(path, "additionalProperties"));
    }

    /// `open` says that names which match no pattern are accepted on both sides, so that a pattern only ever takes away.
    pub(super) fn pattern_properties(
        &mut self,
        old: Option<&'o Map<String, Value>>,
        new: Option<&'n Map<String, Value>>,
        open: bool,
        path: &str,
    ) {
        let here = refs::step(path, "patternProperties");
        for (pattern, new) in new.into_iter().flatten() {
            let path = refs::step(&here, pattern);
            match old.and_then(|old| old.get(pattern)) {
                Some(old) => self.schemas(old, new, &path),
                None if open => self.added(new, &path),
                None => self.constraint(&path, Direction::Other),
            }
        }
        for (pattern, _) in old.into_iter().flatten() {
            if new.is_none_or(|new| !new.contains_key(pattern)) {
                let direction = if open { Direction::Wider } else { Direction::Other };
                self.constraint(&refs::step(&here, pattern), direction);
            }
        }
    }

    pub(super) fn items(&mut self, old: &'o Map<String, Value>, new: &'n Map<String, Value>, path: &str) {
        let is_tuple = |schema: &Map<String, Value>| {
            schema.get("items").is_some_and(Value::is_array) || schema.contains_key("additionalItems")
        };
        let here = refs::step(path, "items");
        if is_tuple(old) || is_tuple(new) {
            let equal = ["items", "additionalItems", "prefixItems"].into_iter().all(|keyword| {
                match (old.get(keyword), new.get(keyword)) {
                    (None, None) => true,
                    (Some(Value::Array(old)), Some(Value::Array(new))) => {
                        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| self.same(old, new))
                    }
                    (Some(old), Some(new)) => self.same(old, new),
                    _ => false,
                }
            });
            if !equal {
                self.constraint(&here, Direction::Other);
            }
            return;
        }
        let leading = refs::step(path, "prefixItems");
        match (list(old, "prefixItems"), list(new, "prefixItems")) {
            (before, now) if before.len() == now.len() => {
                for (index, (old, new)) in before.iter().zip(now).enumerate() {
                    self.schemas(old, new, &format!("{leading}/{index}"));
                }
            }
            // Where the list ends, `items` begins.
            _ => self.constraint(&leading, Direction::Other),
        }
        self.schemas(rest_of(old, "items"), rest_of(new, "items"), &here);
    }

    pub(super) fn contains(&mut self, old: &'o Map<String, Value>, new: &'n Map<String, Value>, path: &str) {
        let here = refs::step(path, "contains");
        let (Some(before), Some(now)) = (old.get("contains"), new.get("contains")) else {
            if let Some(direction) = bounds::presence(old.get("contains"), new.get("contains")) {
                self.constraint(&here, direction);
            }
            return;
        };
        // With a most, items that no longer match make room.
        if old.contains_key("maxContains") || new.contains_key("maxContains") {
            if !self.same(before, now) {
                self.constraint(&here, Direction::Other);
            }
        } else {
            self.schemas(before, now, &here);
        }
        let one = Value::from(1);
        let (before, now) = (old.get("minContains").unwrap_or(&one), new.get("minContains").unwrap_or(&one));
        if let Some(direction) = bounds::limits(before, now, bounds::Larger::AcceptsLess) {
            self.constraint(&refs::step(path, "minContains"), direction);
        }
        let direction = match (old.get("maxContains"), new.get("maxContains")) {
            (Some(old), Some(new)) => bounds::limits(old, new, bounds::Larger::AcceptsMore),
            (old, new) => bounds::presence(old, new),
        };
        if let Some(direction) = direction {
            self.constraint(&refs::step(path, "maxContains"), direction);
        }
    }

    pub(super) fn required(&mut self, old: Option<&Value>, new: Option<&Value>, path: &str) {
        let (Some(before), Some(now)) = (bounds::names(old), bounds::names(new)) else {
            if old != new {
                self.constraint(path, Direction::Other);
            }
            return;
        };
        for name in sorted(now.difference(&before)) {
            self.tell(path, ChangeKind::NewlyRequired(name.to_owned()), Direction::Narrower);
        }
        for name in sorted(before.difference(&now)) {
            self.tell(path, ChangeKind::NoLongerRequired(name.to_owned()), Direction::Wider);
        }
    }

    /// Conditions by the name of a property: each a list of names or a schema.
    pub(super) fn named(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        let (before, now) = (old.and_then(Value::as_object), new.and_then(Value::as_object));
        for (name, new) in now.into_iter().flatten() {
            let path = refs::step(path, name);
            match (before.and_then(|before| before.get(name)), new) {
                (None, new) => self.added(new, &path),
                (Some(old @ Value::Array(_)), Value::Array(_)) => self.required(Some(old), Some(new), &path),
                (Some(Value::Array(_)), _) | (Some(_), Value::Array(_)) => self.constraint(&path, Direction::Other),
                (Some(old), new) => self.schemas(old, new, &path),
            }
        }
        for (name, _) in before.into_iter().flatten() {
            if now.is_none_or(|now| !now.contains_key(name)) {
                self.constraint(&refs::step(path, name), Direction::Wider);
            }
        }
    }
}

fn list<'v>(schema: &'v Map<String, Value>, keyword: &str) -> &'v [Value] {
    schema.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn rest_of<'v>(schema: &'v Map<String, Value>, keyword: &str) -> &'v Value {
    schema.get(keyword).unwrap_or(&ANYTHING)
}

fn accepts_all(schema: &Value) -> bool {
    schema == &ANYTHING || schema.as_object().is_some_and(Map::is_empty)
}

fn sorted<'n>(names: impl Iterator<Item = &'n &'n str>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.copied().collect();
    names.sort_unstable();
    names
}
