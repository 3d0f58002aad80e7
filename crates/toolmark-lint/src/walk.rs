//! Every text in a definition, with the place where it stands as a JSON pointer.

use std::fmt;

use toolmark_core::json::Json;

/// Where something stands in a definition. Lives on the stack and is written out only when there is something to report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

/// The longest part of a place, in characters.
const LONGEST: usize = 80;

impl<'p> Path<'p> {
    pub(crate) fn of(field: &'p str) -> Self {
        Self { parent: None, step: Step::Key(field) }
    }

    pub(crate) fn key(&'p self, key: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Key(key) }
    }

    pub(crate) fn index(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }
}

/// A JSON pointer (RFC 6901).
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Key(key) => {
                // Longer keys are cut: a place is for people, and a thousand places must not cost a thousand long names.
                let shown = key.char_indices().nth(LONGEST).map_or(key, |(end, _)| key.get(..end).unwrap_or_default());
                write!(f, "/{}", shown.replace('~', "~0").replace('/', "~1"))?;
                if shown.len() < key.len() { f.write_str("…") } else { Ok(()) }
            }
            Step::Index(index) => write!(f, "/{index}"),
        }
    }
}

/// Shows every string in `json`, keys included, with its place.
pub(crate) fn texts<'j>(json: &'j Json<'_>, path: &Path<'_>, visit: &mut dyn FnMut(&Path<'_>, &'j str)) {
    match json {
        Json::String(text) => visit(path, text),
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, &path.index(index), visit);
            }
        }
        Json::Object(entries) => {
            for (key, value) in entries {
                let inside = path.key(key);
                visit(&inside, key);
                texts(value, &inside, visit);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
