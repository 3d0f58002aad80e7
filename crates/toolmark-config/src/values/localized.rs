//! What people read, in one language or in several: `"Merge"`, or `{ en = "Merge", nl = "Samenvoegen" }`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toml::de::DeValue;
use toolmark_core::display::{self, Icon, LanguageTag, Languages};
use toolmark_core::text::visible;

use crate::read::{FromToml, Node, Reader, Refused, below, in_order, parsed};

/// A text of at most `MAX` characters, by language.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Localized<const MAX: usize = { display::NAME }>(Vec<(Option<LanguageTag>, String)>);

/// What is said while a tool works, by language.
pub type Sentences = Localized<{ display::SPOKEN }>;

impl<const MAX: usize> Localized<MAX> {
    /// The texts with their languages; `None` stands for every language that has no text of its own.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&LanguageTag>, &str)> {
        self.0.iter().map(|(locale, text)| (locale.as_ref(), text.as_str()))
    }

    /// The text for somebody who wants these languages: the closest, or the one for all.
    #[must_use]
    pub fn get(&self, languages: &Languages) -> Option<&str> {
        let best = languages.lookup(self.0.iter().filter_map(|(tag, _)| tag.as_ref()));
        let exact = |wanted: Option<&LanguageTag>| self.0.iter().find(|(tag, _)| tag.as_ref() == wanted);
        best.and_then(|best| exact(Some(best))).or_else(|| exact(None)).map(|(_, text)| text.as_str())
    }

    /// A text for each language, such as another client's file has it; what cannot be shown is left out.
    pub(crate) fn of(texts: impl IntoIterator<Item = (Option<LanguageTag>, String)>) -> Option<Self> {
        let mut all: Vec<(Option<LanguageTag>, String)> = Vec::new();
        for (tag, text) in texts {
            let text = text.trim();
            if display::is_safe(text, MAX) && !all.iter().any(|(known, _)| *known == tag) {
                all.push((tag, text.to_owned()));
            }
        }
        (!all.is_empty()).then_some(Self(all))
    }
}

impl<const MAX: usize> FromToml for Localized<MAX> {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        match node.value {
            DeValue::String(text) => readable(text, MAX, node, reader).map(|text| Self(vec![(None, text)])),
            DeValue::Table(table) => {
                let mut all: Vec<(Option<LanguageTag>, String)> = Vec::new();
                for (key, value) in in_order(table) {
                    let at = value.span().start;
                    let value = Node { value: value.get_ref(), at, path: below(&node.path, key.get_ref()) };
                    let text = value.text("a text", reader).and_then(|text| readable(text, MAX, &value, reader));
                    match key.get_ref().parse::<LanguageTag>().and_then(LanguageTag::known) {
                        Ok(tag) if all.iter().any(|(known, _)| known.as_ref() == Some(&tag)) => {
                            let error = Refused::value(format!("`{tag}` has a text already"), "remove one of them");
                            reader.refuse(key.span().start, &error.at_key(&value.path));
                        }
                        Ok(tag) => all.extend(text.map(|text| (Some(tag), text))),
                        Err(error) => reader.refuse(key.span().start, &Refused::inner(&error).at_key(&value.path)),
                    }
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

impl<const MAX: usize> JsonSchema for Localized<MAX> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Localized".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]})
    }
}

impl FromToml for Icon {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "an emoji, or a picture as `data:` address", reader, |text| {
            text.parse().map_err(|error: display::ParseIconError| Refused::inner(&error))
        })
    }
}

impl FromToml for LanguageTag {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a language, such as `en`", reader, |text| {
            text.parse().and_then(LanguageTag::known).map_err(|error| Refused::inner(&error))
        })
    }
}

/// A name that nobody can see, or that runs backwards, would make two tools look like one.
fn readable(text: &str, max: usize, node: &Node<'_>, reader: &mut Reader) -> Option<String> {
    let trimmed = text.trim();
    // A letter and its mark are one letter, however they are written; everything else has to be what is shown.
    let composed = display::safe(trimmed, max);
    if display::is_safe(&composed, max) && composed == display::composed(trimmed) {
        return Some(composed);
    }
    let message = format!("`{}` cannot be shown as a name", visible(text, 40));
    let error = Refused::value(message, format!("write 1 to {max} characters that can be seen, in one line"));
    reader.refuse(node.at, &error.at_key(&node.path));
    None
}
