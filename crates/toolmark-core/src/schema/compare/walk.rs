//! The walk through two schemas side by side, and what each keyword's difference means.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::bounds;
use super::change::{Change, ChangeKind, Direction};
use super::same::{Same, dialect};
use crate::schema::keywords::{Holds, holds};
use crate::schema::refs;

/// Schemas that are looked at before the comparison is given up.
const STEPS: usize = 500_000;
/// Schemas inside one another that are followed.
const DEPTH: usize = 100;
/// Differences that are told.
const CHANGES: usize = 1_000;

/// Pairs of branches that are looked through for equal ones.
const BRANCH_PAIRS: usize = 10_000;

/// What stands for a keyword that is absent and would accept everything.
static ANYTHING: Value = Value::Bool(true);

struct Walk<'o, 'n> {
    old: &'o Value,
    new: &'n Value,
    changes: Vec<Change>,
    /// Pairs of reference targets that are, or were, compared. When all differences only narrow, an open pair does too.
    seen: HashSet<(*const Value, *const Value)>,
    steps: usize,
    depth: usize,
}

/// Every difference between two schemas.
pub(super) fn all(old: &Value, new: &Value) -> Vec<Change> {
    let mut walk = Walk::between(old, new);
    if dialect(old) != dialect(new) {
        walk.tell("/$schema", ChangeKind::Dialect, Direction::Other);
    }
    if let Some(keyword) = depends_on_everything(old).or_else(|| depends_on_everything(new)) {
        walk.constraint(&keyword, Direction::Other);
    }
    walk.schemas(old, new, "");
    walk.changes
}

/// The differences in words between two schemas that are otherwise equal.
pub(super) fn words(old: &Value, new: &Value) -> Vec<Change> {
    let mut walk = Walk::between(old, new);
    walk.words_below(old, new, "");
    walk.changes
}

impl<'o, 'n> Walk<'o, 'n> {
    fn between(old: &'o Value, new: &'n Value) -> Self {
        Self { old, new, changes: Vec::new(), seen: HashSet::new(), steps: STEPS, depth: 0 }
    }

    fn tell(&mut self, path: &str, kind: ChangeKind, direction: Direction) {
        match self.changes.len() {
            len if len < CHANGES => self.changes.push(Change::new(path.to_owned(), kind, direction)),
            // Said once: what is left out may be anything.
            CHANGES => self.changes.push(Change::new(String::new(), ChangeKind::TooLarge, Direction::Other)),
            _ => {}
        }
    }

    fn constraint(&mut self, path: &str, direction: Direction) {
        self.tell(path, ChangeKind::Constraint, direction);
    }

    /// Takes one step; false when none is left, which is told.
    fn step(&mut self, path: &str) -> bool {
        if self.steps == 0 || self.depth > DEPTH {
            self.tell(path, ChangeKind::TooLarge, Direction::Other);
            return false;
        }
        self.steps -= 1;
        true
    }

    /// Whether two parts are equal aside from words, references included.
    fn same(&mut self, old: &Value, new: &Value) -> bool {
        let mut same = Same::following(self.old, self.new, self.steps);
        let result = same.schemas(old, new, 1);
        self.steps = same.steps_left();
        result
    }

    fn schemas(&mut self, old: &'o Value, new: &'n Value, path: &str) {
        if !self.step(path) {
            return;
        }
        self.depth += 1;
        self.compare_here(old, new, path);
        self.depth -= 1;
    }

    fn compare_here(&mut self, old: &'o Value, new: &'n Value, path: &str) {
        match (mere_reference(old), mere_reference(new)) {
            (None, None) => {}
            (before, now) => {
                self.words_of(old, new, path);
                return self.targets(before, old, now, new, path);
            }
        }
        match (old, new) {
            (Value::Bool(old), Value::Bool(new)) if old == new => {}
            (Value::Bool(false), Value::Bool(true) | Value::Object(_)) => self.constraint(path, Direction::Wider),
            (Value::Bool(true) | Value::Object(_), Value::Bool(false)) => self.constraint(path, Direction::Narrower),
            (Value::Bool(true) | Value::Object(_), Value::Bool(true) | Value::Object(_)) => {
                static NOTHING: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
                let (old, new) = (old.as_object().unwrap_or(&NOTHING), new.as_object().unwrap_or(&NOTHING));
                self.keywords(old, new, path);
            }
            (old, new) if old == new => {}
            _ => self.constraint(path, Direction::Other),
        }
    }

    /// Compares what references lead to, or what stands in their place.
    fn targets(&mut self, before: Option<&'o str>, old: &'o Value, now: Option<&'n str>, new: &'n Value, path: &str) {
        let (Some((_, old)), Some((place, new))) = (followed(self.old, before, old), followed(self.new, now, new))
        else {
            return self.tell(path, ChangeKind::Unresolved, Direction::Other);
        };
        if self.seen.insert((std::ptr::from_ref(old), std::ptr::from_ref(new))) {
            self.schemas(old, new, place.unwrap_or(path));
        }
    }

    fn keywords(&mut self, old: &'o Map<String, Value>, new: &'n Map<String, Value>, path: &str) {
        self.entry_words(old, new, path);
        self.properties(old, new, path);
        self.items(old, new, path);
        self.contains(old, new, path);
        let before = bounds::values(old);
        let now = bounds::values(new);
        if let Some((kind, direction)) = bounds::value_change(before.as_deref(), now.as_deref()) {
            let keyword = if new.contains_key("const") || old.contains_key("const") { "const" } else { "enum" };
            self.tell(&refs::step(path, keyword), kind, direction);
        }
        for keyword in new.keys().chain(old.keys().filter(|key| !new.contains_key(*key))) {
            self.keyword(keyword, old.get(keyword), new.get(keyword), &refs::step(path, keyword));
        }
    }

    fn keyword(&mut self, keyword: &str, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        match keyword {
            // Compared by `keywords` together, found through references, or without a part in what is accepted.
            "properties"
            | "patternProperties"
            | "additionalProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "enum"
            | "const"
            | "$defs"
            | "definitions"
            | "$id"
            | "id" => {}
            "type" => {
                if let Some(direction) = bounds::types(old, new) {
                    self.constraint(path, direction);
                }
            }
            "required" => self.required(old, new, path),
            "dependentRequired" | "dependentSchemas" | "dependencies" => self.named(old, new, path),
            "allOf" => self.all_of(old, new, path),
            "anyOf" => self.any_of(old, new, path),
            "not" => self.not(old, new, path),
            "oneOf" | "if" => self.all_or_nothing(keyword, old, new, path),
            "then" | "else" | "propertyNames" => self.conjunct(old, new, path),
            "$ref" => match (old.and_then(Value::as_str), new.and_then(Value::as_str)) {
                (Some(before), Some(now)) => {
                    self.targets(Some(before), &ANYTHING, Some(now), &ANYTHING, path);
                }
                // Older dialects ignore what stands beside a reference, so one that comes can widen and one that goes can narrow.
                _ => self.constraint(path, Direction::Other),
            },
            "uniqueItems" => match (is_true(old), is_true(new)) {
                (false, true) => self.constraint(path, Direction::Narrower),
                (true, false) => self.constraint(path, Direction::Wider),
                _ => {}
            },
            _ if holds(keyword) == Holds::Words => {}
            _ => self.value(keyword, old, new, path),
        }
    }

    /// A keyword with a value that is compared as it is.
    fn value(&mut self, keyword: &str, old: Option<&Value>, new: Option<&Value>, path: &str) {
        let is_constraint =
            matches!(keyword, "pattern" | "format" | "multipleOf" | "contentEncoding" | "contentMediaType");
        let direction = match (old, new) {
            (Some(old), Some(new)) if old == new => None,
            (Some(old), Some(new)) => match bounds::limit(keyword) {
                Some(larger) => bounds::limits(old, new, larger),
                None if keyword == "multipleOf" => bounds::multiples(old, new),
                None => Some(Direction::Other),
            },
            // In draft 4 these are flags on another keyword.
            _ if old.or(new).is_some_and(Value::is_boolean) => Some(Direction::Other),
            _ if is_constraint || bounds::limit(keyword).is_some() => bounds::presence(old, new),
            _ => Some(Direction::Other),
        };
        if let Some(direction) = direction {
            self.constraint(path, direction);
        }
    }

    fn properties(&mut self, old: &'o Map<String, Value>, new: &'n Map<String, Value>, path: &str) {
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
    fn pattern_properties(
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

    fn items(&mut self, old: &'o Map<String, Value>, new: &'n Map<String, Value>, path: &str) {
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

    fn contains(&mut self, old: &'o Map<String, Value>, new: &'n Map<String, Value>, path: &str) {
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

    fn required(&mut self, old: Option<&Value>, new: Option<&Value>, path: &str) {
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
    fn named(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
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

    /// A schema that has to be fulfilled beside the others.
    fn conjunct(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
        match (old, new) {
            (Some(old), Some(new)) => self.schemas(old, new, path),
            (None, Some(new)) => self.added(new, path),
            (Some(_), None) => self.constraint(path, Direction::Wider),
            (None, None) => {}
        }
    }

    fn all_of(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
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

    fn any_of(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
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
    fn unmatched(
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

    fn not(&mut self, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
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
    fn all_or_nothing(&mut self, keyword: &str, old: Option<&'o Value>, new: Option<&'n Value>, path: &str) {
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
    fn added(&mut self, new: &'n Value, path: &str) {
        self.constraint(path, Direction::Narrower);
        self.parameters_in(new, path);
    }

    /// Tells every parameter that a schema declares, for the value it applies to.
    fn parameters_in(&mut self, schema: &'n Value, path: &str) {
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

    fn words_of(&mut self, old: &Value, new: &Value, path: &str) {
        if let (Value::Object(old), Value::Object(new)) = (old, new) {
            self.entry_words(old, new, path);
        }
    }

    fn entry_words(&mut self, old: &Map<String, Value>, new: &Map<String, Value>, path: &str) {
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
    fn words_below(&mut self, old: &Value, new: &Value, path: &str) {
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

/// Where a schema uses a keyword whose meaning depends on the whole of it, so that no part can be compared alone.
fn depends_on_everything(document: &Value) -> Option<String> {
    fn find(schema: &Value, path: &str, depth: usize) -> Option<String> {
        if depth > DEPTH {
            return Some(path.to_owned());
        }
        match schema {
            Value::Array(items) => {
                items.iter().enumerate().find_map(|(index, item)| find(item, &format!("{path}/{index}"), depth + 1))
            }
            Value::Object(entries) => entries.iter().find_map(|(keyword, value)| {
                let here = refs::step(path, keyword);
                let is_identifier = matches!(keyword.as_str(), "$id" | "id" | "$schema") && value.is_string();
                match keyword.as_str() {
                    "unevaluatedProperties"
                    | "unevaluatedItems"
                    | "$dynamicRef"
                    | "$dynamicAnchor"
                    | "$recursiveRef"
                    | "$recursiveAnchor" => Some(here),
                    _ if is_identifier && depth > 0 => Some(here),
                    _ => match holds(keyword) {
                        Holds::Words | Holds::Data => None,
                        Holds::Named | Holds::NamedOrNames => value
                            .as_object()?
                            .iter()
                            .find_map(|(name, schema)| find(schema, &refs::step(&here, name), depth + 1)),
                        Holds::Schema | Holds::List | Holds::SchemaOrList => find(value, &here, depth + 1),
                    },
                }
            }),
            _ => None,
        }
    }
    find(document, "", 0)
}

/// Where a reference ends, with its pointer, after references to references; `None` when that is nowhere.
fn followed<'v>(
    document: &'v Value,
    reference: Option<&'v str>,
    schema: &'v Value,
) -> Option<(Option<&'v str>, &'v Value)> {
    let (mut place, mut here) = (None, schema);
    let mut next = reference;
    for _ in 0..DEPTH {
        let Some(reference) = next else {
            return Some((place, here));
        };
        here = refs::local(document, reference)?;
        place = reference.strip_prefix('#');
        next = mere_reference(here);
    }
    None
}

/// The reference, if a schema is nothing else: words and definitions beside it do not count.
fn mere_reference(schema: &Value) -> Option<&str> {
    let entries = schema.as_object()?;
    let reference = entries.get("$ref")?.as_str()?;
    let is_beside = |key: &str| matches!(key, "$ref" | "$defs" | "definitions") || holds(key) == Holds::Words;
    entries.keys().all(|key| is_beside(key)).then_some(reference)
}

fn named<'v>(schema: &'v Map<String, Value>, keyword: &str) -> Option<&'v Map<String, Value>> {
    schema.get(keyword)?.as_object()
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

fn is_true(value: Option<&Value>) -> bool {
    value == Some(&ANYTHING)
}

fn sorted<'n>(names: impl Iterator<Item = &'n &'n str>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.copied().collect();
    names.sort_unstable();
    names
}
