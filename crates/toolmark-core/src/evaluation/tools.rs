//! The definitions of a data set, by server and name. What two rows say differently is not used by anybody.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{ReadRowError, ToolId, rows};
use crate::definition::{Definition, Form};
use crate::document::Slice;

/// The definitions of a data set.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    definitions: BTreeMap<ToolId, Definition>,
    contradictory: BTreeSet<ToolId>,
}

/// What a name that was written in words means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// One tool.
    One(ToolId),
    /// Several, or none; with what to call it in a list of what is missing.
    Not(String),
}

impl Tools {
    /// Reads `tools.jsonl`. A definition that is there twice counts once; of two that differ under one name, neither is used.
    ///
    /// # Errors
    /// [`ReadRowError`] with the first line that is not the definition of a tool.
    pub fn read(text: &str) -> Result<Self, ReadRowError> {
        let all = rows("tools", text, |line, row| {
            let id = ToolId::of_row(row)?;
            let definition = Definition::read(&Slice::of("tools.jsonl", line.to_owned()), Form::Row);
            definition.map(|definition| (id, definition)).map_err(|error| error.to_string())
        })?;
        let mut tools = Self::default();
        for (id, definition) in all {
            let before = tools.definitions.get(&id);
            if before.is_some_and(|before| before.digest() != definition.digest()) {
                tools.contradictory.insert(id.clone());
            }
            tools.definitions.insert(id, definition);
        }
        for id in &tools.contradictory {
            tools.definitions.remove(id);
        }
        Ok(tools)
    }

    /// The definition of a tool.
    #[must_use]
    pub fn get(&self, tool: &ToolId) -> Option<&Definition> {
        self.definitions.get(tool)
    }

    /// The tool that is called `server/name`, `server.name`, or by a name that no other server has.
    #[must_use]
    pub fn named(&self, text: &str) -> Named {
        let cuts = text.char_indices().filter(|(_, cut)| matches!(cut, '/' | '.' | ':'));
        let whole = cuts.filter_map(|(at, cut)| {
            let (server, name) = (text.get(..at)?, text.get(at + cut.len_utf8()..)?);
            Some(ToolId::new(server, name)).filter(|id| self.definitions.contains_key(id))
        });
        let bare = self.definitions.keys().filter(|id| id.name() == text).cloned();
        let mut found: BTreeSet<ToolId> = whole.chain(bare).collect();
        match (found.pop_first(), found.len()) {
            (Some(one), 0) => Named::One(one),
            (Some(_), others) => Named::Not(format!("{text} ({} tools have that name)", others + 1)),
            (None, _) => Named::Not(text.to_owned()),
        }
    }

    /// Every tool with its definition.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolId, &Definition)> {
        self.definitions.iter()
    }

    /// Names under which two rows say different things.
    #[must_use]
    pub fn contradictory(&self) -> &BTreeSet<ToolId> {
        &self.contradictory
    }

    /// How many servers there are.
    #[must_use]
    pub fn servers(&self) -> usize {
        self.definitions.keys().map(ToolId::server).collect::<BTreeSet<_>>().len()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.definitions.len()
    }

    /// True without any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }
}
