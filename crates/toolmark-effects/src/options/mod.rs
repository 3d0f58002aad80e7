//! Options that make a call do more than its tool usually does: `force`, `permanent`, `event: APPROVE`, a limit of a billion.
//!
//! They are read from the arguments by their names and values. An option that changes nothing about the call is no fact.

mod amounts;
mod choices;
mod flags;
mod manner;
mod policies;
mod verbs;

use serde_json::Value;
use toolmark_core::facts::{Effect, Part, Reading};

use crate::settings::Settings;
pub(crate) use manner::{Described, Manner};

/// What facts call the language of options.
const LANGUAGE: &str = "option";
/// How deep objects inside arguments are looked at.
const MAX_DEPTH: u8 = 4;
/// How many values are looked at.
const MAX_VALUES: usize = 1_000;
/// The longest name of an argument that can be one of those that are known.
const MAX_NAME: usize = 48;

/// Reads the options among the arguments of a call.
pub(crate) fn read(manner: &Manner, arguments: &Value, settings: &Settings, parts: &mut Vec<Part>) {
    if let Some(effect) = manner.sweeps() {
        parts.push(part(String::new(), effect));
    }
    let mut walk = Walk { manner, settings, pointer: String::new(), name: String::new(), left: MAX_VALUES, parts };
    walk.fields(arguments, 0);
}

fn part(pointer: String, effect: Effect) -> Part {
    Part { pointer, language: LANGUAGE, reading: Reading::Understood(vec![effect]) }
}

/// One argument by its plain name: small letters and digits, nothing else.
struct Argument<'a> {
    name: &'a str,
    value: &'a Value,
    /// It stands at the top.
    top: bool,
}

/// A walk over the arguments.
struct Walk<'a, 'p> {
    manner: &'a Manner,
    settings: &'a Settings,
    pointer: String,
    name: String,
    left: usize,
    parts: &'p mut Vec<Part>,
}

impl Walk<'_, '_> {
    fn fields(&mut self, value: &Value, depth: u8) {
        let Some(fields) = value.as_object() else { return };
        for (key, value) in fields {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let length = self.pointer.len();
            self.pointer.push('/');
            if key.contains(['~', '/']) {
                self.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            } else {
                self.pointer.push_str(key);
            }
            // What the operator says about an argument is not second-guessed.
            if !self.settings.languages.contains_key(&self.pointer) {
                self.field(key, value, depth);
            }
            self.pointer.truncate(length);
        }
    }

    fn field(&mut self, key: &str, value: &Value, depth: u8) {
        let mut name = std::mem::take(&mut self.name);
        plain(key, &mut name);
        let argument = Argument { name: &name, value, top: depth == 0 };
        let effect = flags::read(self.manner, &argument)
            .or_else(|| choices::read(self.manner, &argument))
            .or_else(|| verbs::read(self.manner, key, &argument))
            .or_else(|| policies::read(self.manner, &argument))
            .or_else(|| amounts::read(self.manner, &argument));
        if let Some(effect) = effect {
            self.parts.push(part(self.pointer.clone(), effect));
        }
        let data = holds_data(&name);
        self.name = name;
        if depth < MAX_DEPTH && !data {
            match value {
                Value::Object(_) => self.fields(value, depth + 1),
                Value::Array(items) => self.items(items, depth + 1),
                _ => {}
            }
        }
    }

    fn items(&mut self, items: &[Value], depth: u8) {
        for (index, item) in items.iter().enumerate().take(self.left) {
            if item.is_object() {
                let length = self.pointer.len();
                self.pointer.push_str(&format!("/{index}"));
                self.fields(item, depth);
                self.pointer.truncate(length);
            }
        }
    }
}

/// Brings a name into its plain form: `dropTarget`, `drop_target` and `drop-target` are one.
fn plain(key: &str, out: &mut String) {
    out.clear();
    if key.len() <= MAX_NAME {
        out.extend(key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
    }
}

/// Arguments that hold what somebody stores: what is called `public` in there is a column, not an option.
fn holds_data(name: &str) -> bool {
    matches!(
        name,
        "document"
            | "documents"
            | "record"
            | "records"
            | "row"
            | "rows"
            | "field"
            | "fields"
            | "values"
            | "properties"
            | "data"
            | "content"
            | "contents"
            | "metadata"
            | "payload"
            | "body"
            | "variables"
            | "env"
            | "environment"
            | "labels"
            | "annotations"
            | "message"
            | "messages"
            | "schema"
            | "projection"
            | "update"
            | "filter"
            | "where"
            | "query"
            | "pipeline"
            | "children"
            | "blocks"
    )
}

#[cfg(test)]
mod tests;
