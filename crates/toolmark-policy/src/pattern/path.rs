//! Where in the arguments a rule looks: a JSON pointer or a dotted name, both going through lists without being asked to.

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// A place in the arguments: `branch`, `options.force`, `/options/force`, `/files/*/path`.
///
/// A list is entered at every element unless the path names an index, so `/files/path` means the same as `/files/*/path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentPath {
    written: Box<str>,
    segments: Box<[Segment]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Key(Box<str>),
    Each,
}

/// Text that names no place in the arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` names no argument")]
pub struct ParsePathError {
    shown: String,
}

impl ArgumentPath {
    /// Reads a path: a JSON pointer when it begins with `/`, else names joined by dots.
    ///
    /// # Errors
    /// When a name is empty, or `~` stands before anything but `0` and `1` in a pointer.
    pub fn parse(text: &str) -> Result<Self, ParsePathError> {
        let error = || ParsePathError { shown: visible(text, 80) };
        let segment = |name: &str| if name == "*" { Segment::Each } else { Segment::Key(name.into()) };
        let segments: Option<Box<[Segment]>> = match text.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(|name| unescape(name).map(|name| segment(&name))).collect(),
            None => text.split('.').map(|name| (!name.is_empty()).then(|| segment(name))).collect(),
        };
        Ok(Self { written: text.into(), segments: segments.ok_or_else(error)? })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// The argument it begins with, unless that may be any.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        match self.segments.first()? {
            Segment::Key(name) => Some(name),
            Segment::Each => None,
        }
    }

    /// Shows `see` every single value at this place, and `None` wherever nothing stands.
    ///
    /// `null` and an empty list count as nothing. Stops when `see` returns false.
    pub fn visit<'v>(&self, arguments: &'v Value, see: &mut impl FnMut(Option<&'v Value>) -> bool) {
        descend(arguments, &self.segments, see);
    }
}

fn descend<'v>(value: &'v Value, segments: &[Segment], see: &mut impl FnMut(Option<&'v Value>) -> bool) -> bool {
    let Some((first, rest)) = segments.split_first() else { return leaves(value, see) };
    match (first, value) {
        (Segment::Key(name), Value::Object(members)) => match members.get(&**name) {
            Some(member) => descend(member, rest, see),
            None => see(None),
        },
        (Segment::Key(name), Value::Array(items)) => match name.parse::<usize>() {
            Ok(index) => match items.get(index) {
                Some(item) => descend(item, rest, see),
                None => see(None),
            },
            Err(_) if items.is_empty() => see(None),
            Err(_) => items.iter().all(|item| descend(item, segments, see)),
        },
        (Segment::Each, Value::Array(items)) if !items.is_empty() => items.iter().all(|item| descend(item, rest, see)),
        (Segment::Each, Value::Object(members)) if !members.is_empty() => {
            members.values().all(|member| descend(member, rest, see))
        }
        _ => see(None),
    }
}

fn leaves<'v>(value: &'v Value, see: &mut impl FnMut(Option<&'v Value>) -> bool) -> bool {
    match value {
        Value::Null => see(None),
        Value::Array(items) if items.is_empty() => see(None),
        Value::Array(items) => items.iter().all(|item| leaves(item, see)),
        single => see(Some(single)),
    }
}

/// `~1` is a slash and `~0` a tilde; anything else after a tilde is a mistake.
fn unescape(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '~' => match characters.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(out)
}

impl fmt::Display for ArgumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl Explain for ParsePathError {
    fn code(&self) -> Code {
        Code::new("rule-syntax")
    }

    fn why(&self) -> String {
        "a condition on an argument that is never there would never hold".into()
    }

    fn fix(&self) -> String {
        "name the argument, such as `branch`, `options.force` or `/files/*/path`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("path", self.shown.as_str().into())])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(path: &str, arguments: &Value) -> Vec<Option<Value>> {
        let mut all = Vec::new();
        ArgumentPath::parse(path).unwrap().visit(arguments, &mut |value| {
            all.push(value.cloned());
            true
        });
        all
    }

    #[test]
    fn pointers_and_names_find_the_same_values() {
        let arguments = json!({"a": {"b": 1, "c.d": 2, "e/f": 3}, "n": null});
        for (path, value) in [("a.b", json!(1)), ("/a/b", json!(1)), ("/a/c.d", json!(2)), ("/a/e~1f", json!(3))] {
            assert_eq!(seen(path, &arguments), [Some(value)], "{path}");
        }
        for path in ["a.x", "x", "n", "a.b.c", "/a/c/d"] {
            assert_eq!(seen(path, &arguments), [None], "{path}");
        }
    }

    #[test]
    fn lists_are_entered_at_every_element() {
        let arguments = json!({"files": [{"path": "a"}, {"path": ["b", "c"]}, {}], "none": []});
        let all = [Some(json!("a")), Some(json!("b")), Some(json!("c")), None];
        for path in ["files.path", "/files/path", "/files/*/path", "files.*.path"] {
            assert_eq!(seen(path, &arguments), all, "{path}");
        }
        assert_eq!(seen("/files/1/path/0", &arguments), [Some(json!("b"))]);
        assert_eq!(seen("none", &arguments), [None]);
        assert_eq!(seen("none.x", &arguments), [None]);
        assert_eq!(seen("/files/7", &arguments), [None]);
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for bad in ["", "a..b", ".a", "a.", "/a~2", "/a~"] {
            assert_eq!(ArgumentPath::parse(bad).unwrap_err().code().as_str(), "rule-syntax", "{bad}");
        }
        assert_eq!(ArgumentPath::parse("/").unwrap().argument(), Some(""));
    }
}
