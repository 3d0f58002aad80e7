//! `toolmark.lock`: the marks of all tools as somebody approved them, one line a tool, made for version control.
//!
//! The mark decides whether a tool is the pinned one. The digests beside it say *which* part changed when the old text is gone;
//! a lock may keep the text too, so that tools can be listed before their server is there.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::canonical;
use crate::catalog::Catalog;
use crate::definition::{Definition, Form};
use crate::digest::{BodyDigest, DefinitionDigest, Mark, ParseDigestError};
use crate::document::{Document, Place, Slice};
use crate::explain::{Code, Explain, facts};
use crate::json::{self, Json, Limits, ReadJsonError};
use crate::text::visible;
use crate::tool::Tool;

/// The pinned tools, by canonical name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    tools: BTreeMap<String, Pinned>,
}

/// One pinned tool. Cheap to clone: a gateway keeps thousands of them, each in more than one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned(Arc<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    source: Box<str>,
    mark: Mark,
    digest: DefinitionDigest,
    body: BodyDigest,
    behavior: Option<Box<str>>,
    /// The digests of its parts, shortened, in the order of their names.
    parts: Box<[(Box<str>, Box<str>)]>,
    /// Everything the publisher said, as canonical JSON: it has the digest above.
    definition: Option<Arc<str>>,
}

/// How a tool stands to the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinState {
    /// It is the tool that was pinned.
    Pinned,
    /// A tool of that name was pinned, but not this one.
    Changed,
    /// No tool of that name was pinned.
    New,
}

/// A lock file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no usable lock: {kind}", visible(&place.file, 200))]
pub struct ReadLockError {
    kind: ReadLockErrorKind,
    place: Place,
}

/// What is wrong with a lock file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadLockErrorKind {
    /// Not strict JSON.
    #[error(transparent)]
    Json(#[from] ReadJsonError),
    /// Not a lock file.
    #[error("it has no `\"lockfile\": 1` and `\"tools\": […]`")]
    NotALock,
    /// A version that this program does not know.
    #[error("the lock file has version {0}, and this program reads version 1")]
    Version(String),
    /// An entry that lacks a field or has a wrong one.
    #[error("the entry of `{tool}` has no usable `{field}`")]
    Entry {
        /// The tool.
        tool: String,
        /// The field.
        field: &'static str,
    },
    /// A digest that is none.
    #[error(transparent)]
    Digest(#[from] ParseDigestError),
    /// Two entries for one tool.
    #[error("`{0}` is pinned twice")]
    Repeated(String),
}

/// The version of the format that is written.
const VERSION: &str = "1";

impl Lock {
    /// Pins every tool of a catalog.
    #[must_use]
    pub fn of(catalog: &Catalog) -> Self {
        Self { tools: catalog.tools().map(|tool| (tool.canonical().to_string(), Pinned::of(tool))).collect() }
    }

    /// Pins every tool of a catalog and keeps what their publishers said.
    #[must_use]
    pub fn with_definitions(catalog: &Catalog) -> Self {
        Self { tools: catalog.tools().map(|tool| (tool.canonical().to_string(), Pinned::whole(tool))).collect() }
    }

    /// True when it keeps what publishers said.
    #[must_use]
    pub fn has_definitions(&self) -> bool {
        self.tools.values().any(|pinned| pinned.definition().is_some())
    }

    /// Reads a lock file.
    ///
    /// # Errors
    /// [`ReadLockError`] with the place, where it is known.
    pub fn read(document: &Arc<Document>) -> Result<Self, ReadLockError> {
        let at = |kind: ReadLockErrorKind, offset: Option<usize>| ReadLockError {
            kind,
            place: document.place(offset.unwrap_or(0)),
        };
        let usual = Limits::default();
        // A definition may be as deep as it may be elsewhere, and stands inside an entry of the list of the file.
        let limits = Limits { values: 50_000_000, depth: usual.depth + 3 };
        let json = json::read_with(document.text(), limits).map_err(|error| {
            let offset = error.offset();
            at(error.into(), Some(offset))
        })?;
        match json.get("lockfile") {
            Some(Json::Number(version)) if version == VERSION => {}
            Some(Json::Number(version)) => return Err(at(ReadLockErrorKind::Version(version.to_string()), None)),
            _ => return Err(at(ReadLockErrorKind::NotALock, None)),
        }
        let entries = json.get("tools").and_then(Json::items).ok_or_else(|| at(ReadLockErrorKind::NotALock, None))?;
        let mut tools = BTreeMap::new();
        for entry in entries {
            let (name, pinned) = Pinned::read(entry).map_err(|kind| at(kind, None))?;
            if tools.insert(name.clone(), pinned).is_some() {
                return Err(at(ReadLockErrorKind::Repeated(visible(&name, 200)), None));
            }
        }
        Ok(Self { tools })
    }

    /// Whether a text looks like a lock file, so that a command can take either a lock or a snapshot.
    #[must_use]
    pub fn looks_like(text: &str) -> bool {
        let start: String = text.chars().take(200).filter(|character| !character.is_whitespace()).collect();
        start.starts_with("{\"lockfile\":")
    }

    /// What was pinned under a canonical name.
    #[must_use]
    pub fn get(&self, tool: &str) -> Option<&Pinned> {
        self.tools.get(tool)
    }

    /// Pins a tool; returns what was pinned before.
    pub fn insert(&mut self, tool: impl Into<String>, pinned: Pinned) -> Option<Pinned> {
        self.tools.insert(tool.into(), pinned)
    }

    /// How a tool stands to this lock.
    #[must_use]
    pub fn state(&self, tool: &Tool) -> PinState {
        match self.tools.get(tool.canonical().as_str()) {
            None => PinState::New,
            Some(pinned) if pinned.mark() == tool.mark() => PinState::Pinned,
            Some(_) => PinState::Changed,
        }
    }

    /// The pinned tools, by canonical name.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Pinned)> {
        self.tools.iter().map(|(name, pinned)| (name.as_str(), pinned))
    }

    /// How many tools are pinned.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// True when nothing is pinned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl FromIterator<(String, Pinned)> for Lock {
    fn from_iter<T: IntoIterator<Item = (String, Pinned)>>(pins: T) -> Self {
        Self { tools: pins.into_iter().collect() }
    }
}

impl Pinned {
    /// A tool as it is, with what its publisher said.
    #[must_use]
    pub fn whole(tool: &Tool) -> Self {
        Self(Arc::new(Entry { definition: Some(canonical_text(tool)), ..Entry::of(tool) }))
    }

    /// A tool as it is, without the text of its definition.
    #[must_use]
    pub fn of(tool: &Tool) -> Self {
        Self(Arc::new(Entry::of(tool)))
    }

    fn read(entry: &Json<'_>) -> Result<(String, Self), ReadLockErrorKind> {
        let text = |field: &'static str| entry.get(field).and_then(Json::as_str);
        let tool = text("tool").unwrap_or_default();
        let need = |field: &'static str| {
            text(field).ok_or_else(|| ReadLockErrorKind::Entry { tool: visible(tool, 200), field })
        };
        let mut parts = BTreeMap::new();
        for (part, digest) in entry.get("parts").and_then(Json::entries).unwrap_or_default() {
            let digest = digest.as_str();
            let digest = digest.ok_or_else(|| ReadLockErrorKind::Entry { tool: visible(tool, 200), field: "parts" })?;
            parts.insert(part.as_ref(), digest);
        }
        let digest = need("digest")?.parse()?;
        let definition = match entry.get("definition") {
            None => None,
            Some(said) => {
                let wrong = || ReadLockErrorKind::Entry { tool: visible(tool, 200), field: "definition" };
                Some(definition(said, tool, digest).ok_or_else(wrong)?)
            }
        };
        let pinned = Entry {
            source: need("source")?.into(),
            mark: need("mark")?.parse()?,
            digest,
            body: need("body")?.parse()?,
            behavior: text("behavior").map(Into::into),
            parts: parts.into_iter().map(|(part, digest)| (part.into(), digest.into())).collect(),
            definition,
        };
        Ok((need("tool")?.to_owned(), Self(Arc::new(pinned))))
    }

    /// Where the tool came from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The mark that was approved.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.0.mark
    }

    /// The digest of what the publisher said.
    #[must_use]
    pub fn digest(&self) -> DefinitionDigest {
        self.0.digest
    }

    /// The same without the name.
    #[must_use]
    pub fn body(&self) -> BodyDigest {
        self.0.body
    }

    /// The behavior that was declared.
    #[must_use]
    pub fn behavior(&self) -> Option<&str> {
        self.0.behavior.as_deref()
    }

    /// The digests of its parts, shortened, in the order of their names.
    pub fn parts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.parts.iter().map(|(part, digest)| (&**part, &**digest))
    }

    /// The digest of one part, shortened.
    #[must_use]
    pub fn part(&self, name: &str) -> Option<&str> {
        let at = self.0.parts.binary_search_by(|(part, _)| (**part).cmp(name)).ok()?;
        self.0.parts.get(at).map(|(_, digest)| &**digest)
    }

    /// What the publisher said, as canonical JSON, if the lock keeps it.
    #[must_use]
    pub fn definition(&self) -> Option<&Arc<str>> {
        self.0.definition.as_ref()
    }

    /// One tool as a line of a lock file.
    #[must_use]
    pub fn to_text(&self, tool: &str) -> String {
        self.line(tool)
    }

    /// Reads such a line: the canonical name of the tool, and what was pinned. The label is what people know the text by.
    ///
    /// # Errors
    /// [`ReadLockError`] when it is none.
    pub fn read_text(text: &str, label: &str) -> Result<(String, Self), ReadLockError> {
        let document = Document::new(label, text.to_owned());
        let refuse = |kind: ReadLockErrorKind| ReadLockError { kind, place: document.place(0) };
        let usual = Limits::default();
        let json = json::read_with(document.text(), Limits { depth: usual.depth + 1, ..usual });
        Self::read(&json.map_err(|error| refuse(error.into()))?).map_err(refuse)
    }

    fn line(&self, tool: &str) -> String {
        let mut line = self.to_json(tool).to_string();
        if let Some(definition) = &self.0.definition {
            // The text is JSON already, and stays as it is digested.
            line.pop();
            line.push_str(",\"definition\":");
            line.push_str(definition);
            line.push('}');
        }
        line
    }

    fn to_json(&self, tool: &str) -> Value {
        let mut line = json!({
            "tool": tool,
            "source": self.0.source,
            "mark": self.0.mark,
            "digest": self.0.digest,
            "body": self.0.body,
            "parts": self.parts().map(|(part, digest)| (part.to_owned(), digest.into())).collect::<Map<_, _>>(),
        });
        if let (Some(behavior), Some(line)) = (self.behavior(), line.as_object_mut()) {
            line.insert("behavior".into(), behavior.into());
        }
        line
    }
}

impl Entry {
    fn of(tool: &Tool) -> Self {
        let reading = tool.definition().reading();
        let parts: BTreeMap<String, String> =
            reading.part_digests().into_iter().map(|(part, digest)| (part, digest.short())).collect();
        Self {
            source: tool.source().to_string().into(),
            mark: tool.mark(),
            digest: tool.digest(),
            body: reading.body_digest(),
            behavior: tool.behavior().map(|behavior| behavior.to_string().into()),
            parts: parts.into_iter().map(|(part, digest)| (part.into(), digest.into())).collect(),
            definition: None,
        }
    }
}

/// The file: the same lock always makes the same bytes.
impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{\n  \"lockfile\": {VERSION},\n  \"tools\": [")?;
        for (index, (name, pinned)) in self.tools.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}\n    {}", pinned.line(name))?;
        }
        f.write_str("\n  ]\n}\n")
    }
}

/// What the publisher of a tool said.
fn canonical_text(tool: &Tool) -> Arc<str> {
    let reading = tool.definition().reading();
    let mut text = Vec::new();
    canonical::write_object(reading.fields().iter().map(|(key, value)| (key.as_ref(), value)), &mut text);
    // Every part that is written is UTF-8.
    String::from_utf8(text).unwrap_or_default().into()
}

/// What an entry says that the publisher said, if it is what was pinned: it will be shown as the tool itself.
fn definition(said: &Json<'_>, tool: &str, digest: DefinitionDigest) -> Option<Arc<str>> {
    let text = canonical::to_canonical(said);
    let read = Definition::read(&Slice::of("toolmark.lock", text.clone()), Form::Tool).ok()?;
    let name = read.name().as_str();
    let named = tool == name || tool.split_once('.').is_some_and(|(_, raw)| raw == name);
    (named && read.digest() == digest).then(|| text.into())
}

impl PinState {
    /// The state in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Changed => "changed",
            Self::New => "new",
        }
    }
}

impl ReadLockError {
    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ReadLockErrorKind {
        &self.kind
    }

    /// Where it is wrong.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl Explain for ReadLockError {
    fn code(&self) -> Code {
        match &self.kind {
            ReadLockErrorKind::Json(error) => error.code(),
            ReadLockErrorKind::Version(_) => Code::new("lock-version"),
            ReadLockErrorKind::Digest(error) => error.code(),
            ReadLockErrorKind::NotALock | ReadLockErrorKind::Entry { .. } | ReadLockErrorKind::Repeated(_) => {
                Code::new("lock-syntax")
            }
        }
    }

    fn why(&self) -> String {
        match &self.kind {
            ReadLockErrorKind::Version(_) => {
                "a newer format may hold conditions that this program would overlook".into()
            }
            _ => "a lock that is read in part would let changed tools pass".into(),
        }
    }

    fn fix(&self) -> String {
        match &self.kind {
            ReadLockErrorKind::Version(_) => "use a newer toolmark".into(),
            _ => {
                "take the file from version control again, or remove it, review the tools and write a new one with `toolmark pin`"
                    .into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("place", json!(self.place))])
    }
}

#[cfg(test)]
mod tests;
