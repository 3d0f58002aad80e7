//! The names of all tools of a workspace, prepared: what is shown to whom is found without reading a definition again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use hashbrown::HashMap;

use super::accept::Languages;
use super::declared::declare;
use super::icon::Icon;
use super::layers::{Kind, Layer, Names, Shown};
use super::tag::LanguageTag;
use crate::names::CanonicalName;
use crate::tool::Tool;

/// What is given to tools from outside: by the operator and by files of translations.
#[derive(Clone, Debug, Default)]
pub struct Given {
    texts: Vec<(Layer, Kind, Option<LanguageTag>, Box<str>)>,
    icons: Vec<(Layer, Icon)>,
}

/// The names of all tools.
#[derive(Debug)]
pub struct NameTable {
    default: LanguageTag,
    tools: HashMap<CanonicalName, Entry>,
}

/// One tool. Its declaration is read when somebody first asks.
#[derive(Debug, Default)]
struct Entry {
    given: Given,
    names: OnceLock<Names>,
}

impl Given {
    /// Adds a text.
    pub fn put(&mut self, layer: Layer, kind: Kind, lang: Option<LanguageTag>, text: &str) {
        self.texts.push((layer, kind, lang, text.into()));
    }

    /// Adds an icon.
    pub fn put_icon(&mut self, layer: Layer, icon: Icon) {
        self.icons.push((layer, icon));
    }

    /// The names of a thing that is called `name` and got these.
    #[must_use]
    pub fn names(&self, name: &str) -> Names {
        let mut names = Names::of(name);
        for (layer, kind, lang, text) in &self.texts {
            names.put(*layer, *kind, lang.clone(), text);
        }
        for (layer, icon) in &self.icons {
            names.put_icon(*layer, icon.clone());
        }
        names
    }

    /// Every text with its kind and language.
    pub fn texts(&self) -> impl Iterator<Item = (Kind, Option<&LanguageTag>, &str)> {
        self.texts.iter().map(|(_, kind, language, text)| (*kind, language.as_ref(), &**text))
    }

    /// True when anything is said while the tool works.
    #[must_use]
    pub fn speaks(&self) -> bool {
        self.texts.iter().any(|(_, kind, ..)| *kind == Kind::Spoken)
    }

    /// Adds what another one holds.
    pub fn extend(&mut self, other: Option<&Self>) {
        if let Some(other) = other {
            self.texts.extend_from_slice(&other.texts);
            self.icons.extend_from_slice(&other.icons);
        }
    }

    fn languages(&self) -> impl Iterator<Item = &LanguageTag> {
        self.texts.iter().filter_map(|(_, _, lang, _)| lang.as_ref())
    }
}

impl NameTable {
    /// A table of these tools, with what each was given. Names fall back to `default`.
    #[must_use]
    pub fn new<'t>(
        default: LanguageTag,
        tools: impl IntoIterator<Item = &'t Tool>,
        mut given: impl FnMut(&Tool) -> Given,
    ) -> Self {
        let entry = |tool: &Tool| (tool.canonical().clone(), Entry { given: given(tool), names: OnceLock::new() });
        Self { default, tools: tools.into_iter().map(entry).collect() }
    }

    /// What somebody is shown of a tool who wants these languages.
    #[must_use]
    pub fn shown(&self, tool: &Tool, languages: &Languages) -> Shown {
        match self.tools.get(tool.canonical()) {
            Some(entry) => entry.names(tool).shown(languages, &self.default),
            None => Entry::default().names(tool).shown(languages, &self.default),
        }
    }

    /// Everything that a tool is called.
    #[must_use]
    pub fn names(&self, tool: &Tool) -> Option<&Names> {
        self.tools.get(tool.canonical()).map(|entry| entry.names(tool))
    }

    /// The name of a tool in each language that has one.
    #[must_use]
    pub fn by_language(&self, tool: &Tool) -> BTreeMap<String, String> {
        let names = self.names(tool).map(Names::by_language).unwrap_or_default();
        names.into_iter().map(|(tag, text)| (tag.to_owned(), text.to_owned())).collect()
    }

    /// The language that names fall back to.
    #[must_use]
    pub fn default_language(&self) -> &LanguageTag {
        &self.default
    }

    /// The languages in which any of these tools has a name, whoever gave it.
    #[must_use]
    pub fn all_languages<'t>(&self, tools: impl IntoIterator<Item = &'t Tool>) -> BTreeSet<LanguageTag> {
        let names = tools.into_iter().filter_map(|tool| self.names(tool));
        names
            .flat_map(|names| names.texts(Kind::Name).filter_map(|(_, lang, _)| lang.cloned()).collect::<Vec<_>>())
            .collect()
    }

    /// The languages that the operator and the files of translations use, and the default.
    #[must_use]
    pub fn languages(&self) -> BTreeSet<LanguageTag> {
        let given = self.tools.values().flat_map(|entry| entry.given.languages());
        given.chain([&self.default]).filter(|tag| tag.as_str() != "und").cloned().collect()
    }
}

impl Entry {
    fn names(&self, tool: &Tool) -> &Names {
        self.names.get_or_init(|| {
            let mut names = self.given.names(tool.raw().as_str());
            declare(&mut names, &tool.definition().reading());
            names
        })
    }
}
