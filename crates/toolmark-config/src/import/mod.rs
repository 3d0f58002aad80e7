//! What people have already: the servers of another client's file, as packs. Nothing is started, nothing is changed, nothing is dropped
//! without being said.

mod error;
mod server;
mod variables;

use std::collections::HashSet;
use std::sync::Arc;

use toolmark_core::document::{Document, Place};
use toolmark_core::explain::Explain;
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

use crate::clients::Client;
use crate::sections::Pack;
use crate::tree::{Entry, Tree, Value};
pub use error::ImportError;
use error::Refused;
pub use variables::Names;

/// More servers than anybody has, and more notes than anybody reads.
const MOST_SERVERS: usize = 2_000;
const MOST_NOTES: usize = 500;

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
    import_among(client, text, label, surroundings, &mut Names::default())
}

/// The same for one of several files, whose variables are to differ wherever they stand for something else.
///
/// # Errors
/// As [`import`].
pub fn import_among(
    client: Client,
    text: &str,
    label: &str,
    surroundings: &Surroundings,
    names: &mut Names,
) -> Result<Imported, ImportError> {
    let document = Document::new(label, text.to_owned());
    let tree = if client.writes_toml() { Tree::toml(&document) } else { Tree::json(&document) };
    let tree = tree.map_err(|problem| ImportError::new(label, vec![*problem]))?;
    let mut file = File {
        client,
        document,
        surroundings,
        found: Imported::default(),
        inputs: Vec::new(),
        roots: Vec::new(),
        names,
        mentioned: variables::mentioned(text),
    };
    if !matches!(tree.value, Value::Table(_)) {
        file.refuse(tree.span.start, &Refused::NotATable);
        return Err(ImportError::new(label, file.found.problems));
    }
    let servers: usize = roots(&tree, surroundings).iter().map(|root| root.servers.entries().len()).sum();
    if servers > MOST_SERVERS {
        file.refuse(tree.span.start, &Refused::TooMany { servers });
        return Err(ImportError::new(label, file.found.problems));
    }
    for (number, root) in roots(&tree, surroundings).into_iter().enumerate() {
        file.inputs.clear();
        if let Some(inputs) = root.inputs {
            file.read_inputs(inputs);
        }
        for entry in root.servers.entries() {
            file.read_server(number, entry);
        }
        if !matches!(root.servers.value, Value::Table(_) | Value::Null) {
            file.refuse(root.servers.span.start, &Refused::ServersNotATable);
        }
    }
    match client {
        Client::GeminiCli => file.switch_off(&tree),
        Client::ClaudeCode => file.switch_off_in_project(&tree),
        _ => {}
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
    let of_project = project(tree, surroundings).and_then(|project| project.get("mcpServers"));
    all.extend(of_project.map(|servers| Root { servers, inputs: None }));
    all
}

/// What `~/.claude.json` keeps for the project that the surroundings name.
fn project<'t>(tree: &'t Tree, surroundings: &Surroundings) -> Option<&'t Tree> {
    let (path, projects) = surroundings.project.as_deref().zip(tree.get("projects"))?;
    projects.entries().iter().find(|entry| same_path(&entry.key, path)).map(|entry| &entry.value)
}

/// Servers that are listed as not to be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchedOff {
    keys: Vec<String>,
    /// A list cannot be read, so nobody knows which servers it names.
    all: bool,
}

impl SwitchedOff {
    /// Whether a server is among them, by its name in the client's file.
    #[must_use]
    pub fn holds(&self, key: &str) -> bool {
        self.all || self.keys.iter().any(|known| known == key)
    }

    fn add(&mut self, list: Option<&Tree>) {
        match list.map(|list| (&list.value, texts(list))) {
            None | Some((Value::Null, _)) => {}
            Some((_, Some(keys))) => self.keys.extend(keys),
            Some((_, None)) => self.all = true,
        }
    }
}

/// The servers of a project's `.mcp.json` that Claude Code does not use; it keeps that in `~/.claude.json`, whose text this is. Of a
/// text that cannot be read, none.
#[must_use]
pub fn switched_off(text: &str, surroundings: &Surroundings) -> SwitchedOff {
    let mut off = SwitchedOff::default();
    if let Ok(tree) = Tree::json(&Document::new("", text.to_owned())) {
        for key in ["disabledMcpjsonServers", "disabledMcpServers"] {
            off.add(project(&tree, surroundings).and_then(|project| project.get(key)));
        }
    }
    off
}

/// The texts of a list of nothing else.
fn texts(value: &Tree) -> Option<Vec<String>> {
    let Value::List(items) = &value.value else { return None };
    items.iter().map(|item| item.text().map(ToOwned::to_owned)).collect()
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
    /// The inputs that are described for the servers being read: id, description, default.
    inputs: Vec<Input>,
    /// The root of each pack.
    roots: Vec<usize>,
    /// The variables that stand for inputs.
    names: &'s mut Names,
    /// Variables of the environment that the file names itself.
    mentioned: HashSet<String>,
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
        for item in items.iter().take(MOST_SERVERS) {
            let text = |key: &str| item.get(key).and_then(Tree::text).map(ToOwned::to_owned);
            let secret = item.get("password").is_some_and(|value| matches!(value.value, Value::Bool(true)));
            let Some(id) = text("id") else { continue };
            let default = text("default").filter(|default| !secret && !default.is_empty());
            self.inputs.push(Input { id, description: text("description"), default });
        }
    }

    fn read_server(&mut self, root: usize, entry: &Entry) {
        let name = match PackName::slug(&entry.key) {
            Ok(name) => name,
            Err(error) => return self.refuse(entry.at, &Refused::Name { key: entry.key.clone(), error }),
        };
        if !matches!(entry.value.value, Value::Table(_)) {
            return self.refuse(entry.at, &Refused::NotAServer { key: entry.key.clone(), what: "it is no table" });
        }
        if let Some(pack) = server::read(self, &entry.key, &entry.value) {
            let place = self.document.place(entry.at);
            self.roots.push(root);
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
                let path = visible(&entry.key, 120);
                (entry.at, format!("{servers} servers hold only in the project `{path}` and were left out"))
            })
            .collect();
        self.found.elsewhere = elsewhere;
        for (at, text) in notes {
            self.note(at, text);
        }
    }

    fn refuse(&mut self, at: usize, error: &dyn Explain) {
        let place = self.document.place(at);
        self.found.problems.push(Problem::refused(error.report(), Some(place)));
    }

    fn note(&mut self, at: usize, text: impl Into<String>) {
        let note = Note { place: self.document.place(at), text: text.into() };
        if self.found.notes.len() < MOST_NOTES && !self.found.notes.contains(&note) {
            self.found.notes.push(note);
        }
    }

    /// Gemini CLI lists servers that are not used, or the only ones that are, apart from the servers.
    fn switch_off(&mut self, tree: &Tree) {
        let list = |key: &str| tree.get("mcp").and_then(|mcp| mcp.get(key));
        let allowed = list("allowed").filter(|list| !matches!(list.value, Value::Null));
        let mut off = SwitchedOff::default();
        off.add(list("excluded"));
        match allowed.map(texts) {
            None => {}
            Some(None) => off.all = true,
            Some(Some(allowed)) => {
                let others = self.found.packs.iter().filter(|pack| !allowed.contains(&pack.key));
                off.keys.extend(others.map(|pack| pack.key.clone()));
            }
        }
        self.leave_off(&off, tree.span.start);
    }

    /// Claude Code keeps for each project which servers are not used in it.
    fn switch_off_in_project(&mut self, tree: &Tree) {
        let Some(project) = project(tree, self.surroundings) else { return };
        let mut off = SwitchedOff::default();
        off.add(project.get("disabledMcpServers"));
        self.leave_off(&off, project.span.start);
    }

    fn leave_off(&mut self, off: &SwitchedOff, at: usize) {
        if off.all && !self.found.packs.is_empty() {
            self.note(at, "the list of servers that are not used cannot be read, so all are switched off");
        }
        for pack in &mut self.found.packs {
            pack.pack.enabled &= !off.holds(&pack.key);
        }
    }

    /// Two servers with one name are an error, and none of them is the one that was meant; but a server of a project stands for one
    /// of the user that is called the same, as it does in the client.
    fn finish(mut self, label: &str) -> Result<Imported, ImportError> {
        let packs: Vec<(usize, ImportedPack)> = self.roots.drain(..).zip(self.found.packs.drain(..)).collect();
        let mut kept: Vec<(usize, ImportedPack)> = Vec::new();
        let mut collisions: Vec<(PackName, Vec<String>, Place)> = Vec::new();
        for (root, pack) in packs {
            let Some(before) = kept.iter_mut().find(|(_, known)| known.name == pack.name) else {
                kept.push((root, pack));
                continue;
            };
            if before.0 != root && before.1.key == pack.key {
                if before.1.pack != pack.pack {
                    let text =
                        format!("`{}` stands here twice; the one of the project is used", visible(&pack.key, 80));
                    self.found.notes.push(Note { place: before.1.place.clone(), text });
                }
                *before = (root, pack);
            } else if let Some((_, keys, _)) = collisions.iter_mut().find(|(name, ..)| *name == pack.name) {
                keys.push(pack.key);
            } else {
                collisions.push((pack.name, vec![before.1.key.clone(), pack.key], before.1.place.clone()));
            }
        }
        if collisions.is_empty() {
            self.found.packs = kept.into_iter().map(|(_, pack)| pack).collect();
            return Ok(self.found);
        }
        let problem = |(name, keys, place)| Problem::refused(Refused::SameName { name, keys }.report(), Some(place));
        Err(ImportError::new(label, collisions.into_iter().map(problem).collect()))
    }
}

#[cfg(test)]
mod tests;
