//! What people call a tool: a name for everybody, one for each language, and one to be spoken.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolmark_core::display::{LanguageTag, Languages};

/// The names that a tool's author gives it. None of them identifies it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisplayNames {
    pub(super) everywhere: Option<String>,
    pub(super) locales: BTreeMap<String, String>,
    pub(super) spoken: Option<String>,
    pub(super) spoken_in: BTreeMap<String, String>,
    pub(super) icon: Option<String>,
    pub(super) category: Option<String>,
}

/// The locale of a name that is of no language.
const ANY: &str = "und";

impl DisplayNames {
    /// The name where no other fits.
    #[must_use]
    pub fn everywhere(&self) -> Option<&str> {
        self.everywhere.as_deref()
    }

    /// The name in a language: `nl-BE` is also found as `nl`, `zh-Hant` never as `zh-Hans`.
    #[must_use]
    pub fn in_locale(&self, locale: &str) -> Option<&str> {
        let known: Vec<(LanguageTag, &str)> =
            self.locales.iter().filter_map(|(tag, name)| Some((tag.parse().ok()?, name.as_str()))).collect();
        let wanted = Languages::of(locale.parse());
        let best = wanted.lookup(known.iter().map(|(tag, _)| tag));
        let found = best.and_then(|best| known.iter().find(|(tag, _)| tag == best)).map(|(_, name)| *name);
        found.or(self.everywhere())
    }

    /// What is said while it works.
    #[must_use]
    pub fn spoken(&self) -> Option<&str> {
        self.spoken.as_deref()
    }

    /// As it stands in `_meta["dev.toolmark/names"]`; nothing where there is no name.
    pub(super) fn to_json(&self) -> Option<Value> {
        by_locale(self.everywhere.as_deref(), &self.locales)
    }

    /// As it stands in `_meta["dev.toolmark/spoken"]`: one text, or one for each language.
    pub(super) fn spoken_json(&self) -> Option<Value> {
        match (&self.spoken, self.spoken_in.is_empty()) {
            (Some(text), true) => Some(text.as_str().into()),
            (text, _) => by_locale(text.as_deref(), &self.spoken_in),
        }
    }

    /// The first language that is none.
    pub(super) fn no_language(&self) -> Option<&str> {
        let mut all = self.locales.keys().chain(self.spoken_in.keys());
        all.find(|locale| locale.parse::<LanguageTag>().is_err()).map(String::as_str)
    }
}

fn by_locale(any: Option<&str>, locales: &BTreeMap<String, String>) -> Option<Value> {
    let own = any.into_iter().map(|text| (ANY.to_owned(), Value::from(text)));
    let others = locales.iter().map(|(locale, text)| (locale.clone(), Value::from(text.as_str())));
    let all: Map<String, Value> = own.chain(others).collect();
    (!all.is_empty()).then_some(Value::Object(all))
}
