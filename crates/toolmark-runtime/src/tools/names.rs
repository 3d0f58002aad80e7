//! What people call a tool: a name for everybody, one for each language, and one to be spoken.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The names that a tool's author gives it. None of them identifies it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DisplayNames {
    pub(super) everywhere: Option<String>,
    pub(super) locales: BTreeMap<String, String>,
    pub(super) spoken: Option<String>,
}

/// The locale of a name that is of no language.
const ANY: &str = "und";

impl DisplayNames {
    /// The name where no other fits.
    #[must_use]
    pub fn everywhere(&self) -> Option<&str> {
        self.everywhere.as_deref()
    }

    /// The name in a language: `nl-BE` is also found as `nl`.
    #[must_use]
    pub fn in_locale(&self, locale: &str) -> Option<&str> {
        let exact = |locale: &str| {
            self.locales.iter().find(|(known, _)| known.eq_ignore_ascii_case(locale)).map(|(_, name)| name.as_str())
        };
        let broad = locale.split(['-', '_']).next().unwrap_or(locale);
        exact(locale).or_else(|| exact(broad)).or(self.everywhere())
    }

    /// The name as it is spoken.
    #[must_use]
    pub fn spoken(&self) -> Option<&str> {
        self.spoken.as_deref()
    }

    /// As it stands in `_meta["dev.toolmark/names"]`; nothing where there is no name.
    pub(super) fn to_json(&self) -> Option<Value> {
        let own = self.everywhere.iter().map(|name| (ANY.to_owned(), Value::from(name.as_str())));
        let others = self.locales.iter().map(|(locale, name)| (locale.clone(), Value::from(name.as_str())));
        let all: Map<String, Value> = own.chain(others).collect();
        (!all.is_empty()).then_some(Value::Object(all))
    }
}

/// True for what BCP 47 calls a language tag, as far as letters, digits and lengths go.
pub(super) fn is_locale(text: &str) -> bool {
    let mut parts = text.split('-');
    let language = parts.next().unwrap_or_default();
    let letters = |part: &str| part.chars().all(|c| c.is_ascii_alphabetic());
    (2..=8).contains(&language.len())
        && letters(language)
        && parts.all(|part| (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric()))
}
