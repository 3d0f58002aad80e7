//! What do the operator and the files of translations call tools, packs, agents, and what packs offer beside tools?

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use toolmark_config::Config;
use toolmark_config::locale::{LocaleEntry, LocaleFile, LocaleFormat, Offered, Subject, message_id, offer_id};
use toolmark_config::values::{Localized, Sentences};
use toolmark_core::catalog::Catalog;
use toolmark_core::display::{Given, Icon, Kind, LanguageTag, Layer, NameTable, Names, declare_offer};
use toolmark_core::document::Place;
use toolmark_core::explain::Explain as _;
use toolmark_core::json;
use toolmark_core::names::{CanonicalName, PackName};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;

use crate::assemble::{self, NoLocaleFile};

/// Names from outside, by what they are for.
#[derive(Debug)]
pub struct Labels {
    default: LanguageTag,
    /// Texts of files for tools, by canonical name and by message.
    messages: HashMap<Subject, Given>,
    files: Vec<LabelFile>,
    tools: HashMap<CanonicalName, Given>,
    /// Prompts, resources and templates, as messages.
    offers: HashMap<String, Given>,
    packs: HashMap<String, Given>,
    /// What is said for tools of a pack that have nothing of their own.
    spoken: HashMap<String, Given>,
    agents: HashMap<String, Given>,
    handoffs: HashMap<String, Given>,
}

/// A file of names, as it was read.
#[derive(Clone, Debug)]
pub struct LabelFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it says.
    pub file: LocaleFile,
}

impl Labels {
    /// What the configuration and the files say that it names.
    ///
    /// # Errors
    /// Everything that is wrong with the files, each with its line.
    pub fn read(config: &Config, directory: &Path) -> Result<Self, Vec<Problem>> {
        let mut labels = Self::of(config);
        let mut problems = Vec::new();
        for path in locale_files(config, directory, &mut problems) {
            match read(directory, &path) {
                Ok((text, file)) => labels.take_in(LabelFile { path, text, file }),
                Err(more) => problems.extend(more),
            }
        }
        if problems.is_empty() { Ok(labels) } else { Err(problems) }
    }

    /// What the configuration alone says.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let (mut tools, mut packs, mut spoken) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut offers = HashMap::new();
        for (name, pack) in &config.packs {
            packs.insert(name.to_string(), written(pack.display_name.as_ref(), None, None, None));
            if let Some(text) = &pack.spoken {
                spoken.insert(name.to_string(), written(None, Some(text), None, None));
            }
            for (raw, tool) in &pack.tools {
                let Ok(canonical) = format!("{name}.{raw}").parse::<CanonicalName>() else { continue };
                let names = (tool.display_name.as_ref(), tool.spoken.as_ref());
                tools.insert(canonical, written(names.0, names.1, tool.category.as_ref(), tool.icon.as_ref()));
            }
            let all = [
                (Offered::Prompt, &pack.prompts),
                (Offered::Resource, &pack.resources),
                (Offered::Template, &pack.templates),
            ];
            for (kind, (key, offer)) in all.into_iter().flat_map(|(kind, own)| own.iter().map(move |one| (kind, one))) {
                let given = written(offer.display_name.as_ref(), None, None, None);
                offers.insert(offer_id(kind, name.as_str(), key), given);
            }
        }
        let (mut agents, mut handoffs) = (HashMap::new(), HashMap::new());
        for (name, agent) in &config.agents {
            let names = (agent.display_name.as_ref(), agent.spoken.as_ref());
            agents.insert(name.to_string(), written(names.0, names.1, None, agent.icon.as_ref()));
            handoffs.insert(name.to_string(), written(agent.handoff_name.as_ref(), None, None, agent.icon.as_ref()));
        }
        let default = config.names.default_language();
        Self { default, messages: HashMap::new(), files: Vec::new(), tools, offers, packs, spoken, agents, handoffs }
    }

    /// Adds the texts of a file. Of two files of one language that have the same text, the first counts.
    fn take_in(&mut self, file: LabelFile) {
        let language = file.file.language();
        for LocaleEntry { of, kind, text, .. } in file.file.entries() {
            let given = match of {
                Subject::Tool(_) | Subject::Message(_) | Subject::Offer(..) => {
                    self.messages.entry(of.clone()).or_default()
                }
                Subject::Pack(name) => self.packs.entry(name.clone()).or_default(),
                Subject::Agent(name) => self.agents.entry(name.clone()).or_default(),
                Subject::Handoff(name) => self.handoffs.entry(name.clone()).or_default(),
            };
            given.put(Layer::Locale, *kind, Some(language.clone()), text);
        }
        self.files.push(file);
    }

    /// The files that were read.
    #[must_use]
    pub fn files(&self) -> &[LabelFile] {
        &self.files
    }

    /// The names of these tools, prepared.
    pub fn table<'t>(&self, tools: impl IntoIterator<Item = &'t Tool>) -> NameTable {
        NameTable::new(self.default.clone(), tools, |tool| self.given(tool))
    }

    /// What a tool is given.
    #[must_use]
    pub fn given(&self, tool: &Tool) -> Given {
        let mut given = self.tools.get(tool.canonical()).cloned().unwrap_or_default();
        if !given.speaks() {
            given.extend(tool.pack().and_then(|pack| self.spoken.get(pack)));
        }
        if !self.messages.is_empty() {
            let canonical = tool.canonical().as_str();
            for subject in [Subject::Tool(canonical.to_owned()), Subject::Message(message_id(canonical))] {
                given.extend(self.messages.get(&subject));
            }
        }
        given
    }

    /// Everything that something is called which a pack offers beside tools; its definition says the rest.
    #[must_use]
    pub fn offer(&self, kind: Offered, pack: &str, key: &str, definition: &[u8]) -> Names {
        let id = offer_id(kind, pack, key);
        let mut given = self.offers.get(&id).cloned().unwrap_or_default();
        if !self.messages.is_empty() {
            for subject in [Subject::Offer(kind, format!("{pack}.{key}")), Subject::Message(id)] {
                given.extend(self.messages.get(&subject));
            }
        }
        let mut names = given.names(key);
        if let Some(definition) = std::str::from_utf8(definition).ok().and_then(|text| json::read(text).ok()) {
            declare_offer(&mut names, &definition);
        }
        names
    }

    /// What a pack is called.
    #[must_use]
    pub fn pack(&self, name: &str) -> Names {
        named(&self.packs, name, name)
    }

    /// What an agent is called.
    #[must_use]
    pub fn agent(&self, name: &str) -> Names {
        named(&self.agents, name, name)
    }

    /// What handing over to an agent is called; `tool` is the name that models call.
    #[must_use]
    pub fn handoff(&self, agent: &str, tool: &str) -> Names {
        named(&self.handoffs, agent, tool)
    }

    /// The languages that packs, agents and handoffs have names in; those of tools are in their table.
    pub(crate) fn languages(&self) -> impl Iterator<Item = &LanguageTag> {
        let all = self.packs.values().chain(self.agents.values()).chain(self.handoffs.values());
        all.flat_map(Given::texts).filter_map(|(_, language, _)| language)
    }

    /// The language that names fall back to.
    #[must_use]
    pub fn default_language(&self) -> &LanguageTag {
        &self.default
    }
}

/// A text for what is not there, with tools that could be meant by it.
#[derive(Clone, Debug)]
pub struct Dead {
    /// What it is for, as it is written.
    pub key: String,
    /// Tools that could be meant.
    pub near: Vec<String>,
    /// Where it stands, where it stands in a file.
    pub place: Option<Place>,
}

/// A text that another one of the same language goes before.
#[derive(Clone, Debug)]
pub struct Shadowed {
    /// What it is for, as it is written.
    pub key: String,
    /// The language.
    pub language: LanguageTag,
    /// The text.
    pub text: String,
    /// The one that is shown.
    pub shown: String,
    /// Where it stands.
    pub place: Place,
}

/// Whether a text is for something that is there.
struct There<'c> {
    tools: HashMap<Subject, &'c Tool>,
    /// Packs whose tools are known, and those that are only configured.
    listed: Vec<&'c str>,
    awaited: Vec<&'c str>,
}

impl<'c> There<'c> {
    fn new(config: &'c Config, catalog: &'c Catalog) -> Self {
        let mut tools = HashMap::new();
        for tool in catalog.tools() {
            let canonical = tool.canonical().as_str();
            tools.insert(Subject::Tool(canonical.to_owned()), tool);
            tools.insert(Subject::Message(message_id(canonical)), tool);
        }
        let listed: Vec<&str> = catalog.packs().filter_map(|(pack, _)| pack.name()).map(PackName::as_str).collect();
        let awaited =
            config.packs.iter().map(|(name, _)| name.as_str()).filter(|name| !listed.contains(name)).collect();
        Self { tools, listed, awaited }
    }

    fn packs(&self) -> impl Iterator<Item = &str> {
        self.listed.iter().chain(&self.awaited).copied()
    }

    fn is_dead(&self, subject: &Subject, config: &Config) -> bool {
        let of = |text: &str, first: &str, between: &str| {
            text.strip_prefix(first).is_some_and(|rest| rest.starts_with(between))
        };
        let of_awaited = |text: &str, between: &str| self.awaited.iter().any(|pack| of(text, pack, between));
        match subject {
            Subject::Tool(name) => !self.tools.contains_key(subject) && !of_awaited(name, "."),
            // Which of them there are is not known here; whose they would be is.
            Subject::Offer(_, name) => !self.packs().any(|pack| of(name, pack, ".")),
            Subject::Message(id) if Offered::ALL.iter().any(|kind| of(id, kind.as_str(), "--")) => {
                let ours = |pack: &str| Offered::ALL.iter().any(|kind| id.starts_with(&offer_id(*kind, pack, "")));
                !self.packs().any(ours)
            }
            Subject::Message(id) => !self.tools.contains_key(subject) && !of_awaited(id, "--"),
            Subject::Pack(name) => !self.listed.contains(&name.as_str()) && !self.awaited.contains(&name.as_str()),
            Subject::Agent(name) | Subject::Handoff(name) => config.agents.iter().all(|(own, _)| own.as_str() != name),
        }
    }

    /// Tools that have the name that was written, in some pack.
    fn near(&self, subject: &Subject) -> Vec<String> {
        let written = subject.as_str();
        let short = written.rsplit_once("--").or_else(|| written.rsplit_once('.')).map_or(written, |(_, short)| short);
        let named =
            self.tools.iter().filter(|(key, tool)| matches!(key, Subject::Tool(_)) && tool.raw().as_str() == short);
        let mut near: Vec<String> = named.map(|(_, tool)| tool.canonical().to_string()).collect();
        near.sort();
        near.truncate(3);
        near
    }
}

impl Labels {
    /// Texts for what is not there. What belongs to a configured pack that was never listed is not counted.
    #[must_use]
    pub fn dead(&self, config: &Config, catalog: &Catalog) -> Vec<Dead> {
        let there = There::new(config, catalog);
        let mut dead = Vec::new();
        for (name, pack) in &config.packs {
            for (raw, tool) in &pack.tools {
                let subject = Subject::Tool(format!("{name}.{raw}"));
                let named = tool.display_name.is_some() || tool.spoken.is_some() || tool.category.is_some();
                if named && there.is_dead(&subject, config) {
                    dead.push(Dead { key: subject.as_str().to_owned(), near: there.near(&subject), place: None });
                }
            }
        }
        for entry in self.files.iter().flat_map(|file| file.file.entries()) {
            if entry.kind == Kind::Name && there.is_dead(&entry.of, config) {
                let (key, near) = (entry.of.as_str().to_owned(), there.near(&entry.of));
                dead.push(Dead { key, near, place: Some(entry.place.clone()) });
            }
        }
        dead
    }

    /// Texts that are never shown, because the configuration or another file has another text for the same thing in the same language.
    #[must_use]
    pub fn shadowed(&self, catalog: &Catalog) -> Vec<Shadowed> {
        let names: HashMap<String, &Tool> =
            catalog.tools().map(|tool| (message_id(tool.canonical().as_str()), tool)).collect();
        let mut first: HashMap<(String, Kind, LanguageTag), String> = HashMap::new();
        for (canonical, given) in &self.tools {
            for (kind, language, text) in given.texts() {
                let language = language.cloned().unwrap_or_else(|| self.default.clone());
                first.insert((message_id(canonical.as_str()), kind, language), text.to_owned());
            }
        }
        for (id, given) in &self.offers {
            for (kind, language, text) in given.texts() {
                let language = language.cloned().unwrap_or_else(|| self.default.clone());
                first.insert((id.clone(), kind, language), text.to_owned());
            }
        }
        let mut shadowed = Vec::new();
        for file in &self.files {
            let language = file.file.language();
            for entry in file.file.entries() {
                let id = match &entry.of {
                    Subject::Tool(name) => message_id(name),
                    Subject::Message(id) => id.clone(),
                    Subject::Offer(kind, name) => {
                        let (pack, key) = name.split_once('.').unwrap_or((name, ""));
                        offer_id(*kind, pack, key)
                    }
                    _ => continue,
                };
                let key =
                    names.get(&id).map_or_else(|| entry.of.as_str().to_owned(), |tool| tool.canonical().to_string());
                match first.entry((id, entry.kind, language.clone())) {
                    Entry::Occupied(known) if *known.get() != entry.text => shadowed.push(Shadowed {
                        key,
                        language: language.clone(),
                        text: entry.text.clone(),
                        shown: known.get().clone(),
                        place: entry.place.clone(),
                    }),
                    Entry::Occupied(_) => {}
                    Entry::Vacant(place) => {
                        place.insert(entry.text.clone());
                    }
                }
            }
        }
        shadowed
    }
}

/// The files of names, in the order of the configuration.
pub fn locale_files(config: &Config, directory: &Path, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for pattern in &config.names.locales {
        let paths = assemble::matching(directory, pattern);
        if paths.is_empty() {
            problems.push(Problem::refused(NoLocaleFile(visible(pattern, 300)).report(), None));
        }
        let fresh: Vec<PathBuf> = paths.into_iter().filter(|path| !all.contains(path)).collect();
        all.extend(fresh);
    }
    all
}

fn read(directory: &Path, path: &Path) -> Result<(String, LocaleFile), Vec<Problem>> {
    let refused = |report| vec![Problem::refused(report, None)];
    let label = path.strip_prefix(directory).unwrap_or(path).display().to_string();
    let language = LocaleFile::language_of(path).map_err(|error| refused(error.report()))?;
    let text = assemble::read_file(directory, "`[names]`", &label).map_err(|error| refused(error.report()))?;
    let format = LocaleFormat::of(path).unwrap_or(LocaleFormat::Fluent);
    let file = LocaleFile::read(&text, &label, language, format)?;
    Ok((text, file))
}

fn named(all: &HashMap<String, Given>, key: &str, name: &str) -> Names {
    all.get(key).map_or_else(|| Names::of(name), |given| given.names(name))
}

/// What the operator wrote about one thing.
fn written(
    names: Option<&Localized>,
    spoken: Option<&Sentences>,
    category: Option<&Localized>,
    icon: Option<&Icon>,
) -> Given {
    let mut given = Given::default();
    let mut put =
        |kind: Kind, tag: Option<&LanguageTag>, text: &str| given.put(Layer::Config, kind, tag.cloned(), text);
    names.into_iter().flat_map(Localized::iter).for_each(|(tag, text)| put(Kind::Name, tag, text));
    spoken.into_iter().flat_map(Sentences::iter).for_each(|(tag, text)| put(Kind::Spoken, tag, text));
    category.into_iter().flat_map(Localized::iter).for_each(|(tag, text)| put(Kind::Category, tag, text));
    if let Some(icon) = icon {
        given.put_icon(Layer::Config, icon.clone());
    }
    given
}
