//! The keywords whose value alone decides: types, values, numbers and lists of names.

use std::collections::HashSet;

use serde_json::Value;

use super::change::{ChangeKind, Direction};
use crate::canonical::to_canonical;
use crate::json::Json;

/// Whether a larger number accepts more.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Larger {
    AcceptsMore,
    AcceptsLess,
}

/// How a keyword relates that only one side has: a constraint that comes narrows, one that goes widens.
pub(super) fn presence(old: Option<&Value>, new: Option<&Value>) -> Option<Direction> {
    match (old, new) {
        (None, Some(_)) => Some(Direction::Narrower),
        (Some(_), None) => Some(Direction::Wider),
        _ => None,
    }
}

/// The keywords that set a limit, and which way it works.
pub(super) fn limit(keyword: &str) -> Option<Larger> {
    match keyword {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => Some(Larger::AcceptsLess),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => Some(Larger::AcceptsMore),
        _ => None,
    }
}

/// How a limit that both sides have relates; `None` when it is the same.
pub(super) fn limits(old: &Value, new: &Value, larger: Larger) -> Option<Direction> {
    if old == new {
        return None;
    }
    let (Some(before), Some(now)) = (old.as_f64(), new.as_f64()) else {
        return Some(Direction::Other);
    };
    // Large integers can differ where their doubles do not.
    if exactly(old) == exactly(new) {
        return None;
    }
    match (now > before, now < before, larger) {
        (true, _, Larger::AcceptsMore) | (_, true, Larger::AcceptsLess) => Some(Direction::Wider),
        (true, _, Larger::AcceptsLess) | (_, true, Larger::AcceptsMore) => Some(Direction::Narrower),
        _ => Some(Direction::Other),
    }
}

/// How `multipleOf` relates when both sides have it.
pub(super) fn multiples(old: &Value, new: &Value) -> Option<Direction> {
    if exactly(old) == exactly(new) {
        return None;
    }
    Some(match (old.as_u64(), new.as_u64()) {
        (Some(old), Some(new)) if old > 0 && new % old == 0 => Direction::Narrower,
        (Some(old), Some(new)) if new > 0 && old % new == 0 => Direction::Wider,
        _ => Direction::Other,
    })
}

/// How the types relate; absent means every type.
pub(super) fn types(old: Option<&Value>, new: Option<&Value>) -> Option<Direction> {
    let all = || Some(ALL_TYPES);
    let (Some(old), Some(new)) = (old.map_or_else(all, type_set), new.map_or_else(all, type_set)) else {
        return (old != new).then_some(Direction::Other);
    };
    if old == new {
        None
    } else if old | new == old {
        Some(Direction::Narrower)
    } else if old | new == new {
        Some(Direction::Wider)
    } else {
        Some(Direction::Other)
    }
}

const ALL_TYPES: u8 = 0b111_1111;

/// The types as bits. A number may be an integer, so `number` holds both.
fn type_set(value: &Value) -> Option<u8> {
    let one = |name: &Value| {
        Some(match name.as_str()? {
            "null" => 0b1,
            "boolean" => 0b10,
            "integer" => 0b100,
            "number" => 0b1100,
            "string" => 0b1_0000,
            "array" => 0b10_0000,
            "object" => 0b100_0000,
            _ => return None,
        })
    };
    match value {
        Value::Array(names) => names.iter().map(one).try_fold(0, |all, one| Some(all | one?)),
        name => one(name),
    }
}

/// The values that `enum` and `const` leave; `None` when they leave all.
pub(super) fn values(schema: &serde_json::Map<String, Value>) -> Option<Vec<&Value>> {
    let constant = schema.get("const");
    let Some(listed) = schema.get("enum") else {
        return constant.map(|value| vec![value]);
    };
    let listed = listed.as_array().into_iter().flatten();
    Some(listed.filter(|value| constant.is_none_or(|constant| exactly(constant) == exactly(value))).collect())
}

/// How the accepted values relate; `None` when they are the same.
pub(super) fn value_change(old: Option<&[&Value]>, new: Option<&[&Value]>) -> Option<(ChangeKind, Direction)> {
    let (old, new) = match (old, new) {
        (None, None) => return None,
        (None, Some(_)) => return Some((ChangeKind::Constraint, Direction::Narrower)),
        (Some(_), None) => return Some((ChangeKind::Constraint, Direction::Wider)),
        (Some(old), Some(new)) => (old, new),
    };
    let only_in = |some: &[&Value], others: &[&Value]| -> Vec<Value> {
        let others: HashSet<String> = others.iter().map(|value| exactly(value)).collect();
        some.iter().filter(|value| !others.contains(&exactly(value))).map(|&value| value.clone()).collect()
    };
    let (added, removed) = (only_in(new, old), only_in(old, new));
    let direction = match (added.is_empty(), removed.is_empty()) {
        (true, true) => return None,
        (false, true) => Direction::Wider,
        (true, false) => Direction::Narrower,
        (false, false) => Direction::Other,
    };
    Some((ChangeKind::Values { added, removed }, direction))
}

/// One spelling for one value: `1` and `1.0` are equal in JSON Schema.
fn exactly(value: &Value) -> String {
    to_canonical(&Json::from(value))
}

/// The names in a list of names; `None` when it is none.
pub(super) fn names(value: Option<&Value>) -> Option<HashSet<&str>> {
    match value {
        None => Some(HashSet::new()),
        Some(value) => value.as_array()?.iter().map(Value::as_str).collect(),
    }
}
