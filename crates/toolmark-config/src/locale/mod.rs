//! A file with names in one language, for translators: Fluent (`nl.ftl`) or TOML (`nl.toml`). Every mistake has its line.
//!
//! Fluent knows no dots in names: `github.merge_pull_request` is written `github--merge_pull_request` there, a pack `-github`, an agent
//! `agent--NAME`, a prompt `prompt--PACK--NAME`. What is said while a tool works is its attribute `.spoken`.

mod fluent;
mod tables;
mod write;

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::display::{self, Kind, LanguageTag, ParseLanguageTagError};
use toolmark_core::document::{Document, Place};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

pub use fluent::{message_id, offer_id};
pub use write::{EditLocaleError, edit};

/// A file of names.
#[derive(Clone, Debug)]
pub struct LocaleFile {
    language: LanguageTag,
    entries: Vec<LocaleEntry>,
}

/// One text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocaleEntry {
    /// What it is for.
    pub of: Subject,
    /// What kind of text it is.
    pub kind: Kind,
    /// The text.
    pub text: String,
    /// Where it stands.
    pub place: Place,
}

/// What a text is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// The tool of this canonical name.
    Tool(String),
    /// The tool whose canonical name is written like this in Fluent.
    Message(String),
    /// A pack.
    Pack(String),
    /// An agent.
    Agent(String),
    /// Handing over to an agent.
    Handoff(String),
    /// Something that a pack offers beside tools: the pack, a dot, and what the pack calls it.
    Offer(Offered, String),
}

/// What packs offer beside tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Offered {
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A template of resources.
    Template,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocaleFormat {
    /// Project Fluent.
    Fluent,
    /// TOML.
    Toml,
}

/// A file name that says no language.
#[derive(Debug, thiserror::Error)]
#[error("the name of `{path}` says no language: {error}")]
pub struct LocaleFileNameError {
    path: String,
    error: ParseLanguageTagError,
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("{0}")]
    Syntax(String),
    #[error("`{0}` is not known here")]
    Unknown(String),
    #[error("`{0}` has this text already")]
    Twice(String),
    #[error("the text of `{0}` is not plain")]
    NotPlain(String),
    #[error("the text of `{0}` cannot be shown: {1}")]
    Unsafe(String, &'static str),
    #[error("the file has {0} bytes, and {MAX_BYTES} are read")]
    TooLarge(usize),
}

/// The largest file that is read.
pub const MAX_BYTES: usize = 4 << 20;

/// How many problems of a file are told.
const MOST_PROBLEMS: usize = 200;

impl LocaleFormat {
    /// The format of a file, by the end of its name.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "ftl" => Some(Self::Fluent),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

impl LocaleFile {
    /// The language of a file: the last part of its name before the ending, such as `nl` of `nl.ftl` and of `agora.nl.ftl`.
    ///
    /// # Errors
    /// [`LocaleFileNameError`] when that is no language.
    pub fn language_of(path: &Path) -> Result<LanguageTag, LocaleFileNameError> {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let last = stem.rsplit('.').next().unwrap_or(stem);
        let read = last.parse().and_then(LanguageTag::known);
        read.map_err(|error| LocaleFileNameError { path: visible(&path.display().to_string(), 300), error })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its line.
    pub fn read(text: &str, label: &str, language: LanguageTag, format: LocaleFormat) -> Result<Self, Vec<Problem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::new(label, text);
        if text.len() > MAX_BYTES {
            reader.refuse(0, &Refused::TooLarge(text.len()));
        } else {
            match format {
                LocaleFormat::Fluent => fluent::read(text, &mut reader),
                LocaleFormat::Toml => tables::read(text, &mut reader),
            }
        }
        let Reader { entries, problems, .. } = reader;
        if problems.is_empty() { Ok(Self { language, entries }) } else { Err(problems) }
    }

    /// The language of its texts.
    #[must_use]
    pub fn language(&self) -> &LanguageTag {
        &self.language
    }

    /// Its texts, in their order.
    #[must_use]
    pub fn entries(&self) -> &[LocaleEntry] {
        &self.entries
    }
}

impl Subject {
    /// What people call it in a message.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Tool(name)
            | Self::Message(name)
            | Self::Pack(name)
            | Self::Agent(name)
            | Self::Handoff(name)
            | Self::Offer(_, name) => name,
        }
    }
}

impl Offered {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Prompt, Self::Resource, Self::Template];

    /// The word for one of them.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "template",
        }
    }

    /// The table of a file that holds them.
    const fn table(self) -> &'static str {
        match self {
            Self::Prompt => "prompts",
            Self::Resource => "resources",
            Self::Template => "templates",
        }
    }
}

/// What was read so far, and what is wrong.
pub(crate) struct Reader {
    document: Arc<Document>,
    entries: Vec<LocaleEntry>,
    problems: Vec<Problem>,
}

impl Reader {
    fn new(label: &str, text: &str) -> Self {
        Self { document: Document::new(label, text.to_owned()), entries: Vec::new(), problems: Vec::new() }
    }

    pub(crate) fn refuse(&mut self, at: usize, error: &Refused) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(Problem::refused(error.report(), Some(self.document.place(at))));
        }
    }

    /// Takes a text in, unless nobody could see it or it is there already. `key` is what the file calls it.
    pub(crate) fn put(&mut self, at: usize, key: &str, of: Subject, kind: Kind, text: &str) {
        let shown = || visible(key, 120);
        let text = display::composed(text.trim());
        if let Some(problem) = unsafe_text(&text, kind) {
            self.refuse(at, &Refused::Unsafe(shown(), problem));
            return;
        }
        if self.entries.iter().any(|known| known.of == of && known.kind == kind) {
            self.refuse(at, &Refused::Twice(shown()));
            return;
        }
        self.entries.push(LocaleEntry { of, kind, text, place: self.document.place(at) });
    }
}

/// What keeps a text from being shown as it is.
#[must_use]
pub fn unsafe_text(text: &str, kind: Kind) -> Option<&'static str> {
    if text.trim().is_empty() || display::safe(text, kind.limit()).is_empty() {
        return Some("there is nothing to see");
    }
    if display::safe(text, usize::from(u16::MAX)) != text {
        return Some("it holds characters that hide, reorder or break lines");
    }
    if !display::is_safe(text, kind.limit()) {
        return Some(if kind == Kind::Spoken {
            "it is longer than 240 characters"
        } else {
            "it is longer than 80 characters"
        });
    }
    None
}

impl Explain for LocaleFileNameError {
    fn code(&self) -> Code {
        Code::new("locale-file-name")
    }

    fn why(&self) -> String {
        "nobody who asks for a language would ever be shown what stands in the file".into()
    }

    fn fix(&self) -> String {
        "name the file after its language: `nl.ftl`, `pt-BR.toml`, `agora.nl.ftl`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("path", self.path.as_str().into())])
    }
}

impl Explain for Refused {
    fn code(&self) -> Code {
        Code::new("locale-file")
    }

    fn why(&self) -> String {
        match self {
            Self::Syntax(_) | Self::TooLarge(_) => "a file that is half understood would be half in force",
            Self::Unknown(_) => "a text that is misspelled would silently not be shown",
            Self::Twice(_) => "which of the two is shown would depend on their order",
            Self::NotPlain(_) => "a name is the same wherever it stands: it counts nothing and refers to nothing",
            Self::Unsafe(..) => "what people see would not be what was written",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Syntax(_) => "write `PACK--TOOL = Name`, with `.spoken = …` indented below it; in TOML, `[tools.\"PACK.TOOL\"]` with `name = \"…\"`",
            Self::TooLarge(_) => "split it into several files of the same language: `one.nl.ftl`, `two.nl.ftl`",
            Self::Unknown(_) => "texts are `name`, `spoken` and `category`, and `handoff` for agents; in Fluent, the value of a message is the name",
            Self::Twice(_) => "remove one of them",
            Self::NotPlain(_) => "write it out, without variables, choices or references",
            Self::Unsafe(..) => "write it in one line, in characters that can be seen",
        }
        .into()
    }
}

#[cfg(test)]
mod tests;
