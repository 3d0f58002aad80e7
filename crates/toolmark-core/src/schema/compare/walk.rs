//! The walk through two schemas side by side, and what each keyword's difference means.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::change::{Change, ChangeKind, Direction};
use super::same::Same;
use super::{bounds, dialect};
use crate::schema::keywords::{Holds, holds};
use crate::schema::refs;

/// Schemas that are looked at before the comparison is given up.
const STEPS: usize = 500_000;
/// Schemas inside one another that are followed.
const DEPTH: usize = 100;
/// Differences that are told.
const CHANGES: usize = 1_000;

/// What stands for a keyword that is absent and would accept everything.
pub(super) static ANYTHING: Value = Value::Bool(true);

pub(super) struct Walk<'o, 'n> {
    old: &'o Value,
    pub(super) new: &'n Value,
    changes: Vec<Change>,
    /// Pairs of reference targets that are, or were, compared. When all differences only narrow, an open pair does too.
    seen: HashSet<(*const Value, *const Value)>,
    steps: usize,
    pub(super) depth: usize,
}

/// Every difference between two schemas.
pub(super) fn all(old: &Value, new: &Value) -> Vec<Change> {
    let mut walk = Walk::between(old, new);
    if dialect::of(old) != dialect::of(new) {
        let direction = if dialect::read_alike(old, new) { Direction::Wording } else { Direction::Other };
        walk.tell("/$schema", ChangeKind::Dialect, direction);
    }
    if let Some(keyword) = dialect::needs_the_whole(old).or_else(|| dialect::needs_the_whole(new)) {
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

    pub(super) fn tell(&mut self, path: &str, kind: ChangeKind, direction: Direction) {
        match self.changes.len() {
            len if len < CHANGES => self.changes.push(Change::new(path.to_owned(), kind, direction)),
            // Said once: what is left out may be anything.
            CHANGES => self.changes.push(Change::new(String::new(), ChangeKind::TooLarge, Direction::Other)),
            _ => {}
        }
    }

    pub(super) fn constraint(&mut self, path: &str, direction: Direction) {
        self.tell(path, ChangeKind::Constraint, direction);
    }

    /// Takes one step; false when none is left, which is told.
    pub(super) fn step(&mut self, path: &str) -> bool {
        if self.steps == 0 || self.depth > DEPTH {
            self.tell(path, ChangeKind::TooLarge, Direction::Other);
            return false;
        }
        self.steps -= 1;
        true
    }

    /// Whether two parts are equal aside from words, references included.
    pub(super) fn same(&mut self, old: &Value, new: &Value) -> bool {
        let mut same = Same::following(self.old, self.new, self.steps);
        let result = same.schemas(old, new, 1);
        self.steps = same.steps_left();
        result
    }

    pub(super) fn schemas(&mut self, old: &'o Value, new: &'n Value, path: &str) {
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

pub(super) fn named<'v>(schema: &'v Map<String, Value>, keyword: &str) -> Option<&'v Map<String, Value>> {
    schema.get(keyword)?.as_object()
}

fn is_true(value: Option<&Value>) -> bool {
    value == Some(&ANYTHING)
}
