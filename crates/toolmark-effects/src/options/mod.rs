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
    let mut walk = Walk { manner, settings, left: MAX_VALUES, parts };
    walk.fields(arguments, Place::Top, 0);
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
    left: usize,
    parts: &'p mut Vec<Part>,
}

/// Where a value stands. Written out only when something is found there.
#[derive(Clone, Copy)]
enum Place<'p> {
    Top,
    Field(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Self::Top => String::new(),
            Self::Field(above, key) => format!("{}/{}", above.pointer(), key.replace('~', "~0").replace('/', "~1")),
            Self::Item(above, index) => format!("{}/{index}", above.pointer()),
        }
    }
}

impl Walk<'_, '_> {
    fn fields(&mut self, value: &Value, above: Place<'_>, depth: u8) {
        let Some(fields) = value.as_object() else { return };
        for (key, value) in fields {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let place = Place::Field(&above, key);
            // What the operator says about an argument is not second-guessed.
            let languages = &self.settings.languages;
            if languages.is_empty() || !languages.contains_key(&place.pointer()) {
                self.field(key, value, place, depth);
            }
        }
    }

    fn field(&mut self, key: &str, value: &Value, place: Place<'_>, depth: u8) {
        let mut letters = [0; MAX_NAME];
        let name = plain(key, &mut letters);
        let argument = Argument { name, value, top: depth == 0 };
        let effect = flags::read(self.manner, &argument)
            .or_else(|| choices::read(self.manner, &argument))
            .or_else(|| verbs::read(self.manner, key, &argument))
            .or_else(|| policies::read(self.manner, &argument))
            .or_else(|| amounts::read(self.manner, &argument));
        if let Some(effect) = effect {
            self.parts.push(part(place.pointer(), effect));
        }
        if depth < MAX_DEPTH && (value.is_object() || value.is_array()) && !holds_data(name) {
            match value {
                Value::Object(_) => self.fields(value, place, depth + 1),
                Value::Array(items) => self.items(items, place, depth + 1),
                _ => {}
            }
        }
    }

    fn items(&mut self, items: &[Value], above: Place<'_>, depth: u8) {
        for (index, item) in items.iter().enumerate().take(self.left) {
            if item.is_object() {
                self.fields(item, Place::Item(&above, index), depth);
            }
        }
    }
}

/// Brings a name into its plain form: `dropTarget`, `drop_target` and `drop-target` are one. Nothing for a name that is too long.
fn plain<'l>(key: &str, letters: &'l mut [u8; MAX_NAME]) -> &'l str {
    if key.len() > MAX_NAME {
        return "";
    }
    let mut length = 0;
    let kept = key.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    for (slot, byte) in letters.iter_mut().zip(kept) {
        *slot = byte;
        length += 1;
    }
    letters.get(..length).and_then(|letters| std::str::from_utf8(letters).ok()).unwrap_or_default()
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
