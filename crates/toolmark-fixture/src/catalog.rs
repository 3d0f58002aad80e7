//! Which tools there are, under which names and descriptions; `--rename` and `--describe` change only what is listed, never what is done.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::Tool;

use crate::options::Options;
use crate::tools::{self, Group};

/// The tools of one fixture.
#[derive(Debug)]
pub(crate) struct Catalog {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
    /// Whether the tool that comes and goes is there.
    extra: AtomicBool,
}

/// One tool: how it is listed, and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) tool: Tool,
    /// Its name before any renaming.
    pub(crate) origin: String,
    pub(crate) group: Group,
}

/// Options that ask for what cannot be.
#[derive(Debug, thiserror::Error)]
pub enum BuildCatalogError {
    /// An option names a tool that is not there.
    #[error("there is no tool `{0}` to rename or describe")]
    Unknown(String),
    /// Two tools would have one name.
    #[error("two tools would be named `{0}`")]
    Taken(String),
}

impl Catalog {
    pub(crate) fn new(options: &Options) -> Result<Self, BuildCatalogError> {
        let mut entries: Vec<Entry> = tools::definitions(options.tools)
            .into_iter()
            .map(|(group, tool)| Entry { origin: tool.name.clone().into_owned(), tool, group })
            .collect();
        for pair in &options.describe {
            find(&mut entries, &pair.tool)?.tool.description = Some(pair.value.clone().into());
        }
        for pair in &options.rename {
            find(&mut entries, &pair.tool)?.tool.name = pair.value.clone().into();
        }
        let mut by_name = HashMap::with_capacity(entries.len());
        for (place, entry) in entries.iter().enumerate() {
            if by_name.insert(entry.tool.name.clone().into_owned(), place).is_some() {
                return Err(BuildCatalogError::Taken(entry.tool.name.clone().into_owned()));
            }
        }
        Ok(Self { entries, by_name, extra: AtomicBool::new(false) })
    }

    /// The tools, always in the same order.
    pub(crate) fn list(&self) -> Vec<Tool> {
        self.entries.iter().filter(|entry| self.is_there(entry)).map(|entry| entry.tool.clone()).collect()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        let entry = self.entries.get(*self.by_name.get(name)?)?;
        self.is_there(entry).then_some(entry)
    }

    /// Adds the tool that comes and goes, or takes it away.
    pub(crate) fn toggle_extra(&self) {
        self.extra.fetch_xor(true, Ordering::SeqCst);
    }

    fn is_there(&self, entry: &Entry) -> bool {
        entry.group != Group::Extra || self.extra.load(Ordering::SeqCst)
    }
}

fn find<'e>(entries: &'e mut [Entry], origin: &str) -> Result<&'e mut Entry, BuildCatalogError> {
    entries.iter_mut().find(|entry| entry.origin == origin).ok_or_else(|| BuildCatalogError::Unknown(origin.to_owned()))
}
