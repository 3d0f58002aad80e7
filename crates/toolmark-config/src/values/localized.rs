//! What people read, in one language or in several: `"Merge"`, or `{ en = "Merge", nl = "Samenvoegen" }`.

use toml::de::DeValue;
use toolmark_core::text::{is_hidden, visible};

use crate::read::{FromToml, Node, Reader, Refused, below, in_order};

/// A text, by language.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Localized(Vec<(Option<String>, String)>);

impl Localized {
    /// The texts with their languages, as written; `None` stands for every language that has no text of its own.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        self.0.iter().map(|(locale, text)| (locale.as_deref(), text.as_str()))
    }

    /// The text for a language: its own, that of the same language elsewhere (`nl` for `nl-BE`), or the one for all.
    #[must_use]
    pub fn get(&self, locale: &str) -> Option<&str> {
        let exact = |wanted: &str| {
            self.0.iter().find(|(name, _)| name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(wanted)))
        };
        let broad = locale.split(['-', '_']).next().unwrap_or(locale);
        let found = exact(locale).or_else(|| exact(broad)).or_else(|| self.0.iter().find(|(name, _)| name.is_none()));
        found.map(|(_, text)| text.as_str())
    }
}

impl FromToml for Localized {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node.value {
            DeValue::String(text) => readable(text, node, reader).map(|text| Self(vec![(None, text)])),
            DeValue::Table(table) => {
                let mut all = Vec::new();
                for (key, value) in in_order(table) {
                    let at = value.span().start;
                    let value = Node { value: value.get_ref(), at, path: below(&node.path, key.get_ref()) };
                    if !is_locale(key.get_ref()) {
                        let message = format!("`{}` is no language", visible(key.get_ref(), 40));
                        let error = Refused::value(message, "write `en`, `nl`, `pt-BR` or the like");
                        reader.refuse(key.span().start, &error.at_key(&value.path));
                    }
                    let text = value.text("a text", reader).and_then(|text| readable(text, &value, reader));
                    all.extend(text.map(|text| (Some(key.get_ref().to_string()), text)));
                }
                Some(Self(all))
            }
            _ => {
                node.expected("a text, or a table of languages and texts", reader);
                None
            }
        }
    }
}

/// A name that nobody can see, or that runs backwards, would make two tools look like one.
fn readable(text: &str, node: &Node<'_>, reader: &mut Reader) -> Option<String> {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed.chars().count() > 80 || trimmed.chars().any(is_hidden) {
        let message = format!("`{}` cannot be shown as a name", visible(text, 40));
        let error = Refused::value(message, "write 1 to 80 characters that can be seen, in one line");
        reader.refuse(node.at, &error.at_key(&node.path));
        return None;
    }
    Some(trimmed.to_owned())
}

/// True for what looks like a BCP 47 tag: `en`, `pt-BR`, `zh-Hant-TW`.
pub(crate) fn is_locale(text: &str) -> bool {
    let mut parts = text.split(['-', '_']);
    let language = parts
        .next()
        .is_some_and(|first| (2..=8).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic()));
    language && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}
