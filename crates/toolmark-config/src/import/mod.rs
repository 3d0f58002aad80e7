//! What people have already: the servers of another client's file, as packs. Nothing is started, nothing is changed, nothing is dropped
//! without being said.

mod error;
mod server;
mod variables;

use std::sync::Arc;

use toolmark_core::document::{Document, Place};
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;

use crate::clients::Client;
use crate::sections::Pack;
use crate::tree::{Entry, Tree, Value};
pub use error::ImportError;
use error::Refused;

/// What is known about the machine and the project that a file belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The user's home directory: what `${userHome}` stands for.
    pub home: Option<String>,
    /// The directory of the project: what `${workspaceFolder}` stands for, and which project of `~/.claude.json` is meant.
    pub project: Option<String>,
    /// Whether paths are written with `\`.
    pub windows: bool,
}

/// The servers of a file.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// The servers that can be used.
    pub packs: Vec<ImportedPack>,
    /// Variables that somebody must set before they can be started.
    pub required: Vec<Required>,
    /// What was understood but has no counterpart here.
    pub notes: Vec<Note>,
    /// Servers that cannot be used, and why.
    pub problems: Vec<Problem>,
    /// How many servers hold only in other projects, and were left out.
    pub elsewhere: usize,
}

/// One server.
#[derive(Clone, Debug)]
pub struct ImportedPack {
    /// Its name here.
    pub name: PackName,
    /// Its name there.
    pub key: String,
    /// Where it stands.
    pub place: Place,
    /// What it is.
    pub pack: Pack,
}

/// A variable that a client would have asked the user for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    /// The variable.
    pub variable: String,
    /// What the client would have asked.
    pub description: Option<String>,
}

/// Something that has no counterpart here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where it stands.
    pub place: Place,
    /// What it is, in one line.
    pub text: String,
}

/// Reads the servers of a client's file. The label is what people know the file by, usually its path.
///
/// All places in which clients keep servers are looked at, whatever the client: `mcpServers`, `servers`, `mcp.servers`,
/// `mcp_servers`, and the project of `~/.claude.json` that the surroundings name. The client decides what its texts mean.
///
/// # Errors
/// [`ImportError`] when the text cannot be read at all, or when two servers would have one name.
pub fn import(client: Client, text: &str, label: &str, surroundings: &Surroundings) -> Result<Imported, ImportError> {
    let document = Document::new(label, text.to_owned());
    let tree = if client.writes_toml() { Tree::toml(&document) } else { Tree::json(&document) };
    let tree = tree.map_err(|problem| ImportError::new(label, vec![*problem]))?;
    let mut file = File { client, document, surroundings, found: Imported::default(), inputs: Vec::new() };
    if !matches!(tree.value, Value::Table(_)) {
        file.refuse(tree.span.start, &Refused::NotATable);
        return Err(ImportError::new(label, file.found.problems));
    }
    for root in roots(&tree, surroundings) {
        if let Some(inputs) = root.inputs {
            file.read_inputs(inputs);
        }
        for entry in root.servers.entries() {
            file.read_server(entry);
        }
        if !matches!(root.servers.value, Value::Table(_) | Value::Null) {
            file.refuse(root.servers.span.start, &Refused::ServersNotATable);
        }
    }
    file.note_other_projects(&tree);
    file.finish(label)
}

/// A table of servers and where the inputs that it uses are described.
pub(crate) struct Root<'t> {
    pub(crate) servers: &'t Tree,
    inputs: Option<&'t Tree>,
}

/// Every place of a file in which servers stand.
pub(crate) fn roots<'t>(tree: &'t Tree, surroundings: &Surroundings) -> Vec<Root<'t>> {
    let inputs = tree.get("inputs");
    let mut all: Vec<Root<'t>> = ["mcpServers", "servers", "mcp_servers", "mcp.servers"]
        .iter()
        .filter_map(|key| tree.get(key))
        .map(|servers| Root { servers, inputs })
        .collect();
    if let Some(mcp) = tree.get("mcp") {
        all.extend(mcp.get("servers").map(|servers| Root { servers, inputs: mcp.get("inputs") }));
    }
    let project = surroundings.project.as_deref().zip(tree.get("projects"));
    let project =
        project.and_then(|(path, projects)| projects.entries().iter().find(|entry| same_path(&entry.key, path)));
    all.extend(project.and_then(|entry| entry.value.get("mcpServers")).map(|servers| Root { servers, inputs: None }));
    all
}

/// Paths as two programs write them.
fn same_path(one: &str, other: &str) -> bool {
    let plain = |path: &str| path.replace('\\', "/").trim_end_matches('/').to_owned();
    plain(one) == plain(other)
}

/// A file that is being read.
struct File<'s> {
    client: Client,
    document: Arc<Document>,
    surroundings: &'s Surroundings,
    found: Imported,
    /// The inputs that the file describes: id, description, default.
    inputs: Vec<Input>,
}

/// An input of VS Code.
struct Input {
    id: String,
    description: Option<String>,
    default: Option<String>,
}

impl File<'_> {
    fn read_inputs(&mut self, inputs: &Tree) {
        let Value::List(items) = &inputs.value else { return };
        for item in items {
            let text = |key: &str| item.get(key).and_then(Tree::text).map(ToOwned::to_owned);
            let secret = item.get("password").is_some_and(|value| matches!(value.value, Value::Bool(true)));
            let Some(id) = text("id") else { continue };
            let default = text("default").filter(|default| !secret && !default.is_empty());
            self.inputs.push(Input { id, description: text("description"), default });
        }
    }

    fn read_server(&mut self, entry: &Entry) {
        let name = match PackName::slug(&entry.key) {
            Ok(name) => name,
            Err(error) => return self.refuse(entry.at, &error),
        };
        if !matches!(entry.value.value, Value::Table(_)) {
            return self.refuse(entry.at, &Refused::NotAServer { key: entry.key.clone(), what: "it is no table" });
        }
        if let Some(pack) = server::read(self, &entry.key, &entry.value) {
            let place = self.document.place(entry.at);
            self.found.packs.push(ImportedPack { name, key: entry.key.clone(), place, pack });
        }
    }

    /// Servers of other projects hold elsewhere, and are not silently taken along.
    fn note_other_projects(&mut self, tree: &Tree) {
        let Some(projects) = tree.get("projects") else { return };
        let here = |key: &str| self.surroundings.project.as_deref().is_some_and(|path| same_path(key, path));
        let count = |entry: &Entry| entry.value.get("mcpServers").map_or(0, |servers| servers.entries().len());
        let others: Vec<(&Entry, usize)> =
            projects.entries().iter().filter(|entry| !here(&entry.key)).map(|entry| (entry, count(entry))).collect();
        let elsewhere = others.iter().map(|(_, servers)| servers).sum();
        let notes: Vec<(usize, String)> = others
            .into_iter()
            .filter(|(_, servers)| *servers > 0)
            .map(|(entry, servers)| {
                let path = toolmark_core::text::visible(&entry.key, 120);
                (entry.at, format!("{servers} servers hold only in the project `{path}` and were left out"))
            })
            .collect();
        self.found.elsewhere = elsewhere;
        for (at, text) in notes {
            self.note(at, text);
        }
    }

    fn refuse(&mut self, at: usize, error: &dyn toolmark_core::explain::Explain) {
        let place = self.document.place(at);
        self.found.problems.push(Problem::refused(error.report(), Some(place)));
    }

    fn note(&mut self, at: usize, text: impl Into<String>) {
        let note = Note { place: self.document.place(at), text: text.into() };
        if !self.found.notes.contains(&note) {
            self.found.notes.push(note);
        }
    }

    /// Two servers with one name are an error, and none of them is the one that was meant.
    fn finish(self, label: &str) -> Result<Imported, ImportError> {
        let Self { found, document, .. } = self;
        let mut collisions = Vec::new();
        for (at, pack) in found.packs.iter().enumerate() {
            let same: Vec<&ImportedPack> = found.packs.iter().filter(|other| other.name == pack.name).collect();
            let first = found.packs.iter().position(|other| other.name == pack.name) == Some(at);
            // A server that stands in two places of one file with the same settings is one server.
            if first && same.len() > 1 && same.iter().any(|other| other.pack != pack.pack || other.key != pack.key) {
                let keys = same.iter().map(|other| other.key.clone()).collect();
                let error = Refused::SameName { name: pack.name.clone(), keys };
                collisions
                    .push(Problem::refused(toolmark_core::explain::Explain::report(&error), Some(pack.place.clone())));
            }
        }
        drop(document);
        if !collisions.is_empty() {
            return Err(ImportError::new(label, collisions));
        }
        let mut found = found;
        let mut seen = Vec::new();
        found.packs.retain(|pack| {
            let new = !seen.contains(&pack.name);
            seen.push(pack.name.clone());
            new
        });
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
