//! Arguments for Cedar, which knows no JSON: each value by its dotted path, as text, number, flag, and as a set of texts.
//!
//! Whatever a server may read as a number is one here too, so that a `forbid` over numbers is not passed by writing `"1000"`.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{Entity, RestrictedExpression};
use serde_json::{Number, Value};

use super::entities::Uids;
use super::evaluate::Unevaluable;

/// The arguments of one call, flattened.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Flat {
    text: BTreeMap<String, String>,
    number: BTreeMap<String, i64>,
    flag: BTreeMap<String, bool>,
    list: BTreeMap<String, BTreeSet<String>>,
    values: usize,
}

/// More values than this are not looked at; such a call is not judged but denied.
const MOST_VALUES: usize = 10_000;
/// Deeper nesting is not looked at either.
const DEEPEST: usize = 64;

impl Flat {
    /// Flattens the arguments of a call.
    ///
    /// # Errors
    /// When they hold more than a policy could look at: a value that is not seen could be the one that is forbidden.
    pub(super) fn of(arguments: &Value) -> Result<Self, Unevaluable> {
        let mut flat = Self::default();
        flat.enter(arguments, &mut String::new(), false, 0)?;
        Ok(flat)
    }

    fn enter(&mut self, value: &Value, path: &mut String, in_list: bool, depth: usize) -> Result<(), Unevaluable> {
        self.values += 1;
        if self.values > MOST_VALUES || depth > DEEPEST {
            return Err(Unevaluable::new("the arguments hold more than a policy can look at"));
        }
        match value {
            Value::Null => {}
            Value::Object(members) => {
                for (key, member) in members {
                    let length = path.len();
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(key);
                    self.enter(member, path, in_list, depth + 1)?;
                    path.truncate(length);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.enter(item, path, true, depth + 1)?;
                }
            }
            Value::String(text) => self.single(path, text.clone(), in_list)?,
            Value::Bool(flag) => {
                if !in_list {
                    self.flag.insert(path.clone(), *flag);
                }
                self.single(path, flag.to_string(), in_list)?;
            }
            Value::Number(number) => self.single(path, number.to_string(), in_list)?,
        }
        Ok(())
    }

    fn single(&mut self, path: &str, text: String, in_list: bool) -> Result<(), Unevaluable> {
        if !in_list {
            if let Some(number) = number(text.trim()) {
                self.number.insert(path.to_owned(), number);
            }
            // Invariant: of `{"a.b": 1, "a": {"b": 2}}` neither value hides the other from a policy.
            if self.text.insert(path.to_owned(), text.clone()).is_some() {
                return Err(Unevaluable::new("two arguments stand at one dotted path"));
            }
        }
        self.list.entry(path.to_owned()).or_default().insert(text);
        Ok(())
    }

    /// The four entities whose tags are the arguments.
    pub(super) fn into_entities(self, uids: &Uids) -> Result<Vec<Entity>, Unevaluable> {
        let texts = self.text.into_iter().map(|(path, text)| (path, RestrictedExpression::new_string(text)));
        let numbers = self.number.into_iter().map(|(path, number)| (path, RestrictedExpression::new_long(number)));
        let flags = self.flag.into_iter().map(|(path, flag)| (path, RestrictedExpression::new_bool(flag)));
        let lists = self.list.into_iter().map(|(path, texts)| (path, set(texts)));
        let entities = [
            Entity::new_with_tags(uids.text.clone(), [], [], texts),
            Entity::new_with_tags(uids.number.clone(), [], [], numbers),
            Entity::new_with_tags(uids.flag.clone(), [], [], flags),
            Entity::new_with_tags(uids.list.clone(), [], [], lists),
        ];
        entities.into_iter().map(|entity| entity.map_err(|error| Unevaluable::new(error.to_string()))).collect()
    }
}

/// The record that stands as `context.arguments`.
pub(super) fn record(uids: &Uids, json: Option<String>) -> Result<RestrictedExpression, Unevaluable> {
    let parts = [("text", &uids.text), ("number", &uids.number), ("flag", &uids.flag), ("list", &uids.list)];
    let parts = parts.map(|(name, uid)| (name.to_owned(), RestrictedExpression::new_entity_uid(uid.clone())));
    let json = json.map(|json| ("json".to_owned(), RestrictedExpression::new_string(json)));
    RestrictedExpression::new_record(parts.into_iter().chain(json)).map_err(|error| Unevaluable::new(error.to_string()))
}

pub(super) fn set(texts: impl IntoIterator<Item = String>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.into_iter().map(RestrictedExpression::new_string))
}

/// A whole number, or a fraction rounded away from zero; what is too large becomes the largest.
fn number(text: &str) -> Option<i64> {
    if let Ok(whole) = text.parse() {
        return Some(whole);
    }
    let rounded = Number::from_f64(text.parse().ok()?)?.as_f64()?;
    let outward = if rounded < 0.0 { rounded.floor() } else { rounded.ceil() };
    // Invariant: casting a float saturates, so that 1e30 is larger than every limit and not zero.
    Some(outward as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn flat(arguments: &Value) -> Flat {
        Flat::of(arguments).unwrap()
    }

    #[test]
    fn every_value_stands_at_its_path() {
        let flat = flat(&json!({"a": {"b": "x"}, "n": 3, "f": true, "none": null, "l": ["p", {"q": 1}]}));
        assert_eq!(
            flat.text,
            BTreeMap::from([("a.b", "x"), ("f", "true"), ("n", "3")].map(|(a, b)| (a.into(), b.into())))
        );
        assert_eq!(flat.number, BTreeMap::from([("n".into(), 3)]));
        assert_eq!(flat.flag, BTreeMap::from([("f".into(), true)]));
        assert_eq!(flat.list["l"], BTreeSet::from(["p".into()]));
        assert_eq!(flat.list["l.q"], BTreeSet::from(["1".into()]));
        assert_eq!(flat.list["a.b"], BTreeSet::from(["x".into()]));
    }

    #[test]
    fn numbers_are_found_however_they_are_written_and_never_shrink() {
        let limits = [
            ("1000", 1000),
            (" 7 ", 7),
            ("1e3", 1000),
            ("1000.2", 1001),
            ("-0.5", -1),
            ("1e30", i64::MAX),
            ("-1e30", i64::MIN),
        ];
        for (text, expected) in limits {
            assert_eq!(flat(&json!({ "n": text })).number["n"], expected, "{text}");
        }
        assert_eq!(flat(&json!({"n": u64::MAX})).number["n"], i64::MAX);
        assert!(flat(&json!({"n": "ten", "m": "nan", "i": "inf"})).number.is_empty());
    }

    #[test]
    fn two_arguments_at_one_path_are_not_judged() {
        assert!(Flat::of(&json!({"a.b": 1, "a": {"b": 2}})).is_err());
    }

    #[test]
    fn more_than_can_be_looked_at_is_not_judged() {
        assert!(Flat::of(&json!({ "a": vec![0; MOST_VALUES] })).is_err());
        let mut deep = json!(1);
        for _ in 0..=DEEPEST {
            deep = json!([deep]);
        }
        assert!(Flat::of(&deep).is_err());
    }
}
