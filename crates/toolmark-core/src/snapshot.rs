//! Reads tools from what people have on disk: a `tools/list` result, a JSON-RPC answer, an array of tools, rows of JSON Lines, or
//! declarations in the form of the paper. Everything that is wrong is reported with its place; what is right is kept.

mod envelope;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::definition::{Definition, Form, ReadDefinitionError};
use crate::document::{Document, Place, Slice};
use crate::explain::{Code, Explain, facts};
use crate::json::{self, Json, ReadJsonError, Skim};
use crate::names::PackName;
use crate::pack::{Pack, PackBuilder};
use crate::problem::Problem;
use crate::text::visible;
use crate::tool::{Source, ToolKind};

/// The packs that were read, and what could not be.
#[derive(Debug, Default)]
pub struct Snapshot {
    packs: Vec<Pack>,
    problems: Vec<Problem>,
    notes: Vec<String>,
}

/// Collects packs from one document after another.
#[derive(Debug, Default)]
pub struct SnapshotReader {
    drafts: Vec<Draft>,
    by_owner: HashMap<Owner, usize>,
    problems: Vec<Problem>,
    notes: Vec<String>,
    documents: usize,
    /// Problems that are counted but no longer kept.
    more: usize,
}

#[derive(Debug)]
struct Draft {
    key: String,
    name: PackName,
    builder: PackBuilder,
}

/// Whose tools these are: rows of one server and package in one document belong together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Owner {
    document: usize,
    key: String,
    package: String,
}

/// A document that holds no tools, or not in a form that we know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadSnapshotError {
    /// Not strict JSON.
    #[error(transparent)]
    Json(#[from] ReadJsonError),
    /// Nothing but white space.
    #[error("`{0}` is empty")]
    Empty(String),
    /// JSON, but no tools.
    #[error("this is not a list of tools: {0}")]
    NotTools(&'static str),
    /// One tool that is too long to be read as one.
    #[error("one tool of {0} bytes")]
    LoneTool(usize),
    /// The answer of a server that refused to list its tools.
    #[error("this is an error that a server answered, not a list of tools: {0}")]
    ServerError(String),
}

/// After so many problems in one reading, the rest is counted only.
const MOST_PROBLEMS: usize = 100;

impl SnapshotReader {
    /// Reads one document. `key` names the pack of tools that do not say whose they are, usually the file's name.
    pub fn read(&mut self, document: &Arc<Document>, key: &str) {
        self.documents += 1;
        let text = document.text();
        let mut skim = Skim::new(text, if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 });
        let mut lines = 0;
        let mut any = false;
        while let Some(first) = skim.next_byte() {
            any = true;
            let start = skim.at();
            let range = match skim.value() {
                Ok(range) => range,
                Err(error) => {
                    self.refuse(&ReadSnapshotError::Json(error), document.place(skim.at()));
                    skim = Skim::new(text, start);
                    // In JSON Lines a broken line does not spoil the others.
                    if lines == 0 || !skim.next_line() {
                        break;
                    }
                    continue;
                }
            };
            if !text.get(range.clone()).unwrap_or_default().contains('\n') {
                lines += 1;
            }
            match first {
                b'[' => self.read_list(document, range, &Owner::of(self.documents, key, None)),
                b'{' => self.read_object(document, range, key),
                _ => self.refuse(&ReadSnapshotError::NotTools("a tool is an object"), document.place(start)),
            }
        }
        if !any {
            self.refuse(&ReadSnapshotError::Empty(visible(document.label(), 200)), document.place(0));
        }
    }

    /// The packs that came together.
    #[must_use]
    pub fn finish(self) -> Snapshot {
        let Self { mut drafts, mut problems, mut notes, more, .. } = self;
        let mut keys: HashMap<PackName, Vec<String>> = HashMap::new();
        for draft in &drafts {
            let same = keys.entry(draft.name.clone()).or_default();
            if !same.contains(&draft.key) {
                same.push(draft.key.clone());
            }
        }
        let mut collided: Vec<(PackName, Vec<String>)> = keys.into_iter().filter(|(_, keys)| keys.len() > 1).collect();
        collided.sort();
        for (name, keys) in &collided {
            problems.push(Problem::slug_collision(name, keys));
            drafts.retain(|draft| draft.name != *name);
        }
        if more > 0 {
            notes.push(format!("{more} more problems were found and are not listed"));
        }
        Snapshot { packs: drafts.into_iter().map(|draft| draft.builder.build()).collect(), problems, notes }
    }

    fn read_object(&mut self, document: &Arc<Document>, range: Range<usize>, key: &str) {
        let slice = Slice::new(document, range.clone());
        // Anything longer than one definition can only be a list; do not build it in memory to find out.
        if range.len() <= Definition::MAX_BYTES {
            match json::read(slice.text()) {
                Ok(json) if is_tool(&json) => return self.read_single(&json, &slice, key),
                // One bad tool must not spoil a list: look for the list, and report the mistake only if there is none.
                Err(error) if envelope::open(document, range.clone()).is_err() => {
                    let place = slice.place_of(error.offset());
                    return self.refuse(&ReadSnapshotError::Json(error.seen_in(&slice)), place);
                }
                Ok(_) | Err(_) => {}
            }
        }
        match envelope::open(document, range) {
            Ok(list) => {
                if list.has_more {
                    self.notes.push(format!(
                        "{}: the list has more pages, which are not here",
                        visible(document.label(), 200)
                    ));
                }
                let owner = match (&list.server, &list.package) {
                    (Some(server), package) => Owner::of(self.documents, server, package.as_deref()),
                    (None, Some(package)) => Owner::of(self.documents, package, Some(package)),
                    (None, None) => Owner::of(self.documents, key, None),
                };
                self.read_list(document, list.tools, &owner);
            }
            Err((ReadSnapshotError::LoneTool(bytes), place)) => {
                self.keep(Problem::refused(ReadDefinitionError::TooLarge { bytes }.report(), Some(place)));
            }
            Err((error, place)) => self.refuse(&error, place),
        }
    }

    /// One object that is one tool: a row that says whose it is, or a declaration.
    fn read_single(&mut self, json: &Json<'_>, slice: &Slice, key: &str) {
        let field = |name: &str| json.get(name).and_then(Json::as_str);
        let (form, owner) = match field("server") {
            Some(server) => (Form::Row, Owner::of(self.documents, server, field("package"))),
            None => (Form::Tool, Owner::of(self.documents, key, None)),
        };
        let definition = Definition::of_json(json, slice, form);
        self.add(&owner, definition, slice);
    }

    fn read_list(&mut self, document: &Arc<Document>, range: Range<usize>, owner: &Owner) {
        // A server without tools is still a pack.
        if self.draft(owner).is_none() {
            return self.refuse_pack(owner, document.place(range.start));
        }
        let mut skim = Skim::new(document.text(), range.start);
        skim.take(b'[');
        if skim.take(b']') {
            return;
        }
        loop {
            match skim.value() {
                Ok(part) => {
                    let slice = Slice::new(document, part);
                    self.add(owner, Definition::read(&slice, Form::Tool), &slice);
                }
                Err(error) => return self.refuse(&ReadSnapshotError::Json(error), document.place(skim.at())),
            }
            if skim.take(b']') {
                return;
            }
            if !skim.take(b',') {
                let error = ReadSnapshotError::NotTools("a comma is missing between two tools");
                return self.refuse(&error, document.place(skim.at()));
            }
        }
    }

    fn add(&mut self, owner: &Owner, definition: Result<Definition, ReadDefinitionError>, slice: &Slice) {
        match definition {
            Ok(definition) => match self.draft(owner) {
                Some(draft) => draft.builder.push(ToolKind::Mcp, definition),
                None => self.refuse_pack(owner, slice.place()),
            },
            Err(error) => {
                let place = match &error {
                    ReadDefinitionError::Json(error) => slice.place_of(error.offset()),
                    _ => slice.place(),
                };
                self.keep(Problem::refused(error.report(), Some(place)));
            }
        }
    }

    /// The pack of an owner, begun if need be; none when no pack name can be made of its key.
    fn draft(&mut self, owner: &Owner) -> Option<&mut Draft> {
        let at = match self.by_owner.get(owner) {
            Some(&at) => at,
            None => {
                let name = PackName::slug(&owner.key).ok()?;
                let source = match owner.package.as_str() {
                    "" => Source::new(&format!("snapshot:{name}")),
                    package => Source::new(package),
                };
                let builder = Pack::builder(name.clone(), source);
                self.drafts.push(Draft { key: owner.key.clone(), name, builder });
                self.by_owner.insert(owner.clone(), self.drafts.len() - 1);
                self.drafts.len() - 1
            }
        };
        self.drafts.get_mut(at)
    }

    fn refuse_pack(&mut self, owner: &Owner, place: Place) {
        if let Err(error) = PackName::slug(&owner.key) {
            self.keep(Problem::refused(error.report(), Some(place)));
        }
    }

    fn refuse(&mut self, error: &ReadSnapshotError, place: Place) {
        self.keep(Problem::refused(error.report(), Some(place)));
    }

    fn keep(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more += 1;
        }
    }
}

impl Snapshot {
    /// Reads a single document.
    #[must_use]
    pub fn of(document: &Arc<Document>, key: &str) -> Self {
        let mut reader = SnapshotReader::default();
        reader.read(document, key);
        reader.finish()
    }

    /// The packs, in the order in which they first appeared.
    #[must_use]
    pub fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// What could not be read.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What a reader should know although nothing is wrong.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// A catalog to be, with these packs and problems.
    #[must_use]
    pub fn into_builder(self) -> crate::catalog::CatalogBuilder {
        let builder = crate::catalog::Catalog::builder().packs(self.packs);
        self.problems.into_iter().fold(builder, crate::catalog::CatalogBuilder::problem)
    }
}

/// A tool has a name; a server that lists its tools may have one too.
fn is_tool(json: &Json<'_>) -> bool {
    json.get("name").is_some() && json.get("tools").is_none_or(|tools| tools.items().is_none())
}

impl Owner {
    fn of(document: usize, key: &str, package: Option<&str>) -> Self {
        Self { document, key: key.into(), package: package.unwrap_or_default().into() }
    }
}

impl Explain for ReadSnapshotError {
    fn code(&self) -> Code {
        match self {
            Self::Json(error) => error.code(),
            Self::Empty(_) => Code::new("snapshot-empty"),
            Self::NotTools(_) | Self::LoneTool(_) => Code::new("snapshot-not-tools"),
            Self::ServerError(_) => Code::new("snapshot-is-an-error"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Json(error) => error.why(),
            Self::Empty(_) | Self::NotTools(_) | Self::LoneTool(_) => {
                "an empty catalog would look like one in which nothing is wrong".into()
            }
            Self::ServerError(_) => "the server's tools are not known".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Json(error) => error.fix(),
            Self::Empty(_) | Self::NotTools(_) | Self::LoneTool(_) => {
                "save the result of `tools/list`: `{\"tools\": [{\"name\": \"…\", \"inputSchema\": {…}}]}`".into()
            }
            Self::ServerError(_) => "ask the server again and save its result".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Json(error) => error.facts(),
            Self::Empty(label) => facts([("file", label.as_str().into())]),
            Self::NotTools(found) => facts([("problem", (*found).into())]),
            Self::LoneTool(bytes) => facts([("bytes", (*bytes).into())]),
            Self::ServerError(message) => facts([("message", message.as_str().into())]),
        }
    }
}

#[cfg(test)]
mod tests;
