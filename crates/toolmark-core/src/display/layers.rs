//! Everything that anybody calls one tool, and what of it is shown to whom.
//!
//! A language that was asked for goes before a stronger layer: the operator's English name does not hide a Dutch one from who reads Dutch. A
//! name that the operator gives without a language is for everybody and hides all others.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::accept::Languages;
use super::icon::Icon;
use super::in_words;
use super::safe::{self, Category, SpokenText, safe};
use super::tag::{Direction, LanguageTag};
use crate::names::DisplayName;

/// Who gives a name, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The operator, in the configuration.
    Config,
    /// A file of translations.
    Locale,
    /// The tool itself.
    Declared,
    /// Nobody: the tool's own name in words.
    Humanized,
}

/// What a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The name that is read.
    Name,
    /// What is said while the tool works.
    Spoken,
    /// The group that it is shown in.
    Category,
}

/// Everything that anybody calls one tool.
#[derive(Clone, Debug)]
pub struct Names {
    in_words: Arc<str>,
    name: Phrases,
    spoken: Phrases,
    category: Phrases,
    icon: Option<(Layer, Icon)>,
}

/// What one person is shown of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// What is read in place of its name.
    pub name: DisplayName,
    /// Who gave that name.
    pub layer: Layer,
    /// The language of the name, where somebody told it.
    pub lang: Option<LanguageTag>,
    /// The direction of the name.
    pub dir: Direction,
    /// What is said while it works.
    pub spoken: Option<Spoken>,
    /// A small picture.
    pub icon: Option<Icon>,
    /// The group that it is shown in.
    pub category: Option<Category>,
}

/// What is said while a tool works, with its own language: it need not be that of the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The text.
    pub text: SpokenText,
    /// Who gave it.
    pub layer: Layer,
    /// Its language, where somebody told it.
    pub lang: Option<LanguageTag>,
    /// Its direction.
    pub dir: Direction,
}

/// The texts of one kind, by layer, then language. Their languages stand together: most are passed over, and never looked at otherwise.
#[derive(Clone, Debug, Default)]
struct Phrases {
    /// Zero for a text without a language.
    languages: Vec<u64>,
    all: Vec<Phrase>,
}

/// One text of one layer.
#[derive(Clone, Debug)]
struct Phrase {
    layer: Layer,
    lang: Option<LanguageTag>,
    text: Arc<str>,
}

impl Layer {
    /// The layer in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Locale => "locale",
            Self::Declared => "declared",
            Self::Humanized => "humanized",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Layer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Kind {
    /// The most graphemes of such a text.
    #[must_use]
    pub const fn limit(self) -> usize {
        match self {
            Self::Name | Self::Category => safe::NAME,
            Self::Spoken => safe::SPOKEN,
        }
    }
}

impl Names {
    /// A tool that nobody gave a name yet: its own is shown in words.
    #[must_use]
    pub fn of(name: &str) -> Self {
        let in_words = in_words(name).into();
        let none = Phrases::default;
        Self { in_words, name: none(), spoken: none(), category: none(), icon: None }
    }

    /// Adds a text, made safe; the first of a layer and language stays. False for one of which nothing can be seen: it counts as
    /// absent.
    pub fn put(&mut self, layer: Layer, kind: Kind, lang: Option<LanguageTag>, text: &str) -> bool {
        let text = safe(text, kind.limit());
        if text.is_empty() {
            return false;
        }
        // `und` is the tag of what has no language.
        let lang = lang.filter(|lang| lang.as_str() != "und");
        let phrases = self.phrases_mut(kind);
        if let Err(place) = phrases.all.binary_search_by(|known| (known.layer, &known.lang).cmp(&(layer, &lang))) {
            phrases.languages.insert(place, lang.as_ref().map_or(0, LanguageTag::language));
            phrases.all.insert(place, Phrase { layer, lang, text: text.into() });
        }
        true
    }

    /// Adds an icon; that of the strongest layer is shown.
    pub fn put_icon(&mut self, layer: Layer, icon: Icon) {
        if self.icon.as_ref().is_none_or(|(own, _)| layer < *own) {
            self.icon = Some((layer, icon));
        }
    }

    /// What somebody is shown who wants these languages.
    #[must_use]
    pub fn shown(&self, languages: &Languages, default: &LanguageTag) -> Shown {
        let (name, layer, lang) = match choose(&self.name, languages, default) {
            Some(phrase) => (Arc::clone(&phrase.text), phrase.layer, phrase.lang.clone()),
            None => (Arc::clone(&self.in_words), Layer::Humanized, None),
        };
        let spoken = choose(&self.spoken, languages, default).map(|phrase| Spoken {
            text: SpokenText::new(Arc::clone(&phrase.text)),
            layer: phrase.layer,
            dir: direction(phrase.lang.as_ref()),
            lang: phrase.lang.clone(),
        });
        let category = choose(&self.category, languages, default);
        Shown {
            name: DisplayName::new(name),
            layer,
            dir: direction(lang.as_ref()),
            lang,
            spoken,
            icon: self.icon.as_ref().map(|(_, icon)| icon.clone()),
            category: category.map(|phrase| Category::new(Arc::clone(&phrase.text))),
        }
    }

    /// The name of each language that has one, of the strongest layer. `und` is the operator's name for all other languages.
    #[must_use]
    pub fn by_language(&self) -> BTreeMap<&str, &str> {
        let mut all = BTreeMap::new();
        for phrase in considered(&self.name.all) {
            let tag = match &phrase.lang {
                Some(lang) => lang.as_str(),
                None if phrase.layer == Layer::Declared => continue,
                None => "und",
            };
            all.entry(tag).or_insert(&*phrase.text);
        }
        all
    }

    /// Every text of a kind, strongest layer first, with its language where it has one.
    pub fn texts(&self, kind: Kind) -> impl Iterator<Item = (Layer, Option<&LanguageTag>, &str)> {
        self.phrases(kind).all.iter().map(|phrase| (phrase.layer, phrase.lang.as_ref(), &*phrase.text))
    }

    /// The icon and who gave it.
    #[must_use]
    pub fn icon(&self) -> Option<(Layer, &Icon)> {
        self.icon.as_ref().map(|(layer, icon)| (*layer, icon))
    }

    /// The tool's own name in words.
    #[must_use]
    pub fn in_words(&self) -> &str {
        &self.in_words
    }

    fn phrases(&self, kind: Kind) -> &Phrases {
        match kind {
            Kind::Name => &self.name,
            Kind::Spoken => &self.spoken,
            Kind::Category => &self.category,
        }
    }

    fn phrases_mut(&mut self, kind: Kind) -> &mut Phrases {
        match kind {
            Kind::Name => &mut self.name,
            Kind::Spoken => &mut self.spoken,
            Kind::Category => &mut self.category,
        }
    }
}

impl Shown {
    /// As it stands in JSON beside a tool: `displayName`, `lang`, `dir`, `layer`, and what else there is.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut all = Map::new();
        all.insert("displayName".into(), self.name.as_str().into());
        all.insert("layer".into(), self.layer.as_str().into());
        all.insert("lang".into(), self.lang.as_ref().map(LanguageTag::as_str).into());
        all.insert("dir".into(), self.dir.as_str().into());
        let more = [
            ("spoken", self.spoken.as_ref().map(|spoken| spoken.text.as_str())),
            ("icon", self.icon.as_ref().map(Icon::as_str)),
            ("category", self.category.as_ref().map(Category::as_str)),
        ];
        all.extend(more.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?.into()))));
        all
    }
}

/// The texts that count: all, or only the operator's if one of them is for everybody.
fn considered(phrases: &[Phrase]) -> &[Phrase] {
    // Sorted by layer, then language, and none sorts first.
    match phrases.first() {
        Some(first) if first.layer == Layer::Config && first.lang.is_none() => {
            let end = phrases.iter().position(|phrase| phrase.layer != Layer::Config).unwrap_or(phrases.len());
            phrases.get(..end).unwrap_or(phrases)
        }
        _ => phrases,
    }
}

/// Each wanted language in turn: in the strongest layer that has it, its closest text; then the default language; then what has none.
fn choose<'p>(texts: &'p Phrases, languages: &Languages, default: &LanguageTag) -> Option<&'p Phrase> {
    if texts.all.is_empty() {
        return None;
    }
    let phrases = considered(&texts.all);
    let in_language = |wanted: &LanguageTag| {
        let mut best: Option<(&Phrase, u8)> = None;
        let language = wanted.language();
        for (_, phrase) in texts.languages.iter().zip(phrases).filter(|(own, _)| **own == language) {
            let Some(score) = phrase.lang.as_ref().and_then(|lang| lang.answers(wanted)) else { continue };
            let weaker = best.is_some_and(|(known, most)| known.layer < phrase.layer || score <= most);
            if !weaker && phrase.lang.as_ref().is_some_and(|lang| !languages.refuses(lang)) {
                best = Some((phrase, score));
            }
        }
        best.map(|(phrase, _)| phrase)
    };
    let wanted = languages.wanted().iter().find_map(in_language);
    wanted.or_else(|| in_language(default)).or_else(|| phrases.iter().find(|phrase| phrase.lang.is_none()))
}

fn direction(lang: Option<&LanguageTag>) -> Direction {
    lang.map_or(Direction::Auto, LanguageTag::direction)
}

#[cfg(test)]
mod tests;
