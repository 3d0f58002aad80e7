//! `toolmark names`: what people call tools, as a file for translators, and back.

mod csv;
mod export;
mod import;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use toolmark_config::locale::{Offered, Subject, message_id, offer_id};
use toolmark_core::display::{Kind, LanguageTag, Layer, Names};
use toolmark_gateway::{demo, labels::Labels};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Tools;
use crate::place::StoreName;
use crate::workspace::Written;
use crate::{input, output, place};

/// What to do with names.
#[derive(Debug, Subcommand)]
pub(crate) enum NamesCommand {
    /// Write every tool, pack and agent with its texts in every language, for translators; what is missing is empty
    Export(export::Export),
    /// Take translations over into the files of the workspace, all of them or none
    Import(import::Import),
}

/// How a file for translators is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table with one line for each text and language
    Csv,
    /// Fluent, one language a file
    Ftl,
}

/// Whose names.
#[derive(Debug, Args)]
pub(crate) struct Whose {
    #[command(flatten)]
    pub(crate) tools: Tools,

    /// The configuration with the names [default: toolmark.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) store: StoreName,
}

/// Everything that has names, and what is known of them.
pub(crate) struct Workspace {
    pub(crate) written: Written,
    pub(crate) labels: Labels,
    /// Each thing with its names, in the order that people read them.
    pub(crate) things: BTreeMap<Subject, Names>,
}

impl NamesCommand {
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Export(arguments) => arguments.json,
            Self::Import(arguments) => arguments.json,
        }
    }
}

pub(crate) fn run(command: &NamesCommand) -> Result<Exit, Failure> {
    match command {
        NamesCommand::Export(arguments) => export::run(arguments),
        NamesCommand::Import(arguments) => import::run(arguments),
    }
}

impl Workspace {
    fn find(whose: &Whose) -> Result<Self, Failure> {
        let mut written = Written::find(whose.config.as_deref())?;
        let demo = written.path.is_none();
        if demo {
            written.config = demo::config();
        }
        let mut offers = Vec::new();
        let catalog = match whose.tools.paths.as_slice() {
            [] if !demo => {
                let known = place::recalled(&written, whose.store.name.as_deref())?;
                offers = known.offers;
                for pack in known.unseen {
                    output::warn(&format!(
                        "nobody has seen the tools of `{pack}`; start `toolmark up` once, or name them with `--tools`"
                    ));
                }
                known.catalog
            }
            paths => input::catalog(paths)?,
        };
        let labels = written.labels()?;
        let table = labels.table(catalog.tools());
        let mut things = BTreeMap::new();
        for tool in catalog.tools() {
            if let Some(names) = table.names(tool) {
                things.insert(Subject::Tool(tool.canonical().to_string()), names.clone());
            }
        }
        for (name, _) in &written.config.packs {
            things.insert(Subject::Pack(name.to_string()), labels.pack(name.as_str()));
        }
        for (name, agent) in &written.config.agents {
            things.insert(Subject::Agent(name.to_string()), labels.agent(name.as_str()));
            let handed = written.config.agents.iter().any(|(_, other)| other.handoffs.contains(name));
            if handed || agent.handoff_name.is_some() {
                let tool = toolmark_core::compat::Handoff::to_agent(name.as_str(), None);
                let tool = tool.tool_name().unwrap_or_default().to_owned();
                things.insert(Subject::Handoff(name.to_string()), labels.handoff(name.as_str(), &tool));
            }
        }
        for offer in offers {
            let names = labels.offer(offer.kind, offer.pack.as_str(), &offer.key, &offer.definition);
            things.insert(Subject::Offer(offer.kind, format!("{}.{}", offer.pack, offer.key)), names);
        }
        Ok(Self { written, labels, things })
    }

    /// What a file calls a thing, as this workspace knows it; nothing for what is not here.
    fn subject(&self, subject: &Subject) -> Option<Subject> {
        match subject {
            Subject::Message(id) => {
                let is_meant = |known: &&Subject| match known {
                    Subject::Tool(name) => message_id(name) == *id,
                    Subject::Offer(kind, name) => {
                        name.split_once('.').is_some_and(|(pack, key)| offer_id(*kind, pack, key) == *id)
                    }
                    _ => false,
                };
                self.things.keys().find(is_meant).cloned()
            }
            other => self.things.contains_key(other).then(|| other.clone()),
        }
    }

    /// The languages that the workspace uses, the default first.
    fn languages(&self) -> Vec<LanguageTag> {
        let default = self.labels.default_language();
        let mut all = vec![default.clone()];
        for names in self.things.values() {
            for (_, language, _) in
                [Kind::Name, Kind::Spoken, Kind::Category].into_iter().flat_map(|kind| names.texts(kind))
            {
                all.extend(language.filter(|language| !all.contains(language)).cloned());
            }
        }
        all.get_mut(1..).unwrap_or_default().sort();
        all
    }
}

/// The text of a thing in exactly this language, and who gave it. What has no language is in the default one.
fn own<'n>(names: &'n Names, kind: Kind, language: &LanguageTag, default: &LanguageTag) -> Option<(Layer, &'n str)> {
    let find = |wanted: Option<&LanguageTag>| names.texts(kind).find(|(_, own, _)| *own == wanted);
    let found = find(Some(language)).or_else(|| if language == default { find(None) } else { None });
    found.map(|(layer, _, text)| (layer, text))
}

/// True for what is worth a translator's time. A resource that nobody gave a title is shown by its name, which is mostly that of a file.
fn is_translated(subject: &Subject, names: &Names) -> bool {
    !matches!(subject, Subject::Offer(Offered::Resource, _)) || names.texts(Kind::Name).next().is_some()
}

/// A kind in one word.
fn field(kind: Kind) -> &'static str {
    match kind {
        Kind::Name => "name",
        Kind::Spoken => "spoken",
        Kind::Category => "category",
    }
}

/// What a thing is, in one word.
fn word(subject: &Subject) -> &'static str {
    match subject {
        Subject::Tool(_) | Subject::Message(_) => "tool",
        Subject::Pack(_) => "pack",
        Subject::Agent(_) => "agent",
        Subject::Handoff(_) => "handoff",
        Subject::Offer(kind, _) => kind.as_str(),
    }
}
