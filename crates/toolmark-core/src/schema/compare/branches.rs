//! Keywords that combine schemas for one value: all of them, any, one, none, or one after another.

use serde_json::{Map, Value};

use super::bounds;
use super::change::{ChangeKind, Direction};
use super::walk::{Walk, named};
use crate::schema::refs;

/// Pairs of branches that are looked through for equal ones.
const BRANCH_PAIRS: usize = 10_000;

impl<'o, 'n> Walk<'o, 'n> {
    /// A schema that has to be fulfilled beside the others.
    pub(super) fn conjunct(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        match (old, new) {
            (Some(old), Some(new)) => self.schemas(old, new, path),
            (None, Some(new)) => self.added(new, path),
            (Some(_), None) => self.constraint(path, Direction::Wider),
            (None, None) => {}
        }
    }

    pub(super) fn all_of(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        let Some((old, new)) = self.unmatched(old, new) else {
            return self.constraint(path, Direction::Other);
        };
        let pairs = old.len().min(new.len());
        for (old, (index, new)) in old.iter().zip(&new) {
            self.schemas(old, new, &format!("{path}/{index}"));
        }
        for (index, new) in new.get(pairs..).unwrap_or_default() {
            self.added(new, &format!("{path}/{index}"));
        }
        if old.len() > pairs {
            self.constraint(path, Direction::Wider);
        }
    }

    pub(super) fn any_of(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        match (old, new) {
            (None, Some(new)) => return self.added(new, path),
            (Some(_), None) => return self.constraint(path, Direction::Wider),
            _ => {}
        }
        let Some((old, new)) = self.unmatched(old, new) else {
            return self.constraint(path, Direction::Other);
        };
        let pairs = old.len().min(new.len());
        for (old, (index, new)) in old.iter().zip(&new) {
            self.schemas(old, new, &format!("{path}/{index}"));
        }
        for (index, new) in new.get(pairs..).unwrap_or_default() {
            let path = format!("{path}/{index}");
            self.constraint(&path, Direction::Wider);
            self.parameters_in(new, &path);
        }
        if old.len() > pairs {
            self.constraint(path, Direction::Narrower);
        }
    }

    /// The branches without an equal on the other side, the new ones with their place; `None` for what is no list.
    #[expect(clippy::type_complexity, reason = "a name for it would say less")]
    pub(super) fn unmatched(
        &mut self,
        old: Option<&'o Value>,
        new: Option<&'n Value>,
    ) -> Option<(Vec<&'o Value>, Vec<(usize, &'n Value)>)> {
        let empty: &'static [Value] = &[];
        let old = old.map_or(Some(empty), |old| old.as_array().map(Vec::as_slice))?;
        let new = new.map_or(Some(empty), |new| new.as_array().map(Vec::as_slice))?;
        let in_place: Vec<bool> = old.iter().zip(new).map(|(old, new)| self.same(old, new)).collect();
        let is_left = |index: usize| !in_place.get(index).copied().unwrap_or(false);
        let mut old: Vec<&'o Value> = (0..).zip(old).filter(|(index, _)| is_left(*index)).map(|(_, old)| old).collect();
        let mut left: Vec<(usize, &'n Value)> = (0..).zip(new).filter(|(index, _)| is_left(*index)).collect();
        // Each with each: only where that is not many.
        if old.len().saturating_mul(left.len()) <= BRANCH_PAIRS {
            left.retain(|(_, new)| match old.iter().position(|old| self.same(old, new)) {
                Some(equal) => {
                    old.remove(equal);
                    false
                }
                None => true,
            });
        }
        Some((old, left))
    }

    pub(super) fn not(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        let (Some(before), Some(now)) = (old, new) else {
            if let Some(direction) = bounds::presence(old, new) {
                self.constraint(path, direction);
            }
            return;
        };
        if !self.same(before, now) {
            self.constraint(path, Direction::Other);
        }
    }

    /// A keyword under which a part that narrows can widen the whole.
    pub(super) fn all_or_nothing(&mut self, keyword: &str, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        match (old, new) {
            (None, Some(new)) => self.added(new, path),
            (Some(_), None) => self.constraint(path, Direction::Wider),
            (Some(old), Some(new)) => {
                let equal = match (old, new) {
                    (Value::Array(old), Value::Array(new)) if keyword == "oneOf" => {
                        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| self.same(old, new))
                    }
                    _ => self.same(old, new),
                };
                if !equal {
                    self.constraint(path, Direction::Other);
                    self.parameters_in(new, path);
                }
            }
            (None, None) => {}
        }
    }

    /// A constraint that was not there. It narrows, but the parameters that it declares are new all the same.
    pub(super) fn added(&mut self, new: &'n Value, path: &str) {
        self.constraint(path, Direction::Narrower);
        self.parameters_in(new, path);
    }

    /// Tells every parameter that a schema declares, for the value it applies to.
    pub(super) fn parameters_in(&mut self, schema: &'n Value, path: &str) {
        if !self.step(path) {
            return;
        }
        self.depth += 1;
        match schema {
            Value::Array(branches) => {
                for (index, branch) in branches.iter().enumerate() {
                    self.parameters_in(branch, &format!("{path}/{index}"));
                }
            }
            Value::Object(entries) => {
                let here = refs::step(path, "properties");
                for name in named(entries, "properties").into_iter().flat_map(Map::keys) {
                    self.tell(&refs::step(&here, name), ChangeKind::NewParameter(name.clone()), Direction::Wider);
                }
                for keyword in ["allOf", "anyOf", "oneOf", "if", "then", "else"] {
                    if let Some(inner) = entries.get(keyword) {
                        self.parameters_in(inner, &refs::step(path, keyword));
                    }
                }
                let reference = entries.get("$ref").and_then(Value::as_str);
                if let Some(target) = reference.and_then(|reference| refs::local(self.new, reference)) {
                    self.parameters_in(target, path);
                }
            }
            _ => {}
        }
        self.depth -= 1;
    }
}
