//! Which rules can apply to which tool, settled at load, so that judging a call looks at those and at no other.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use toolmark_core::digest::DefinitionDigest;
use toolmark_core::tool::{Source, Tool};

use crate::tools::{ToolAt, Universe};

/// Every tool of the catalog with the rules that name it.
pub(crate) struct Plan {
    hasher: RandomState,
    rows: Vec<Row>,
    /// Places in `rows`, by canonical name.
    index: HashTable<u32>,
    /// Rules for every tool.
    everywhere: Vec<u32>,
}

/// One tool.
pub(crate) struct Row {
    canonical: Box<str>,
    source: Source,
    digest: DefinitionDigest,
    pub(crate) at: ToolAt,
    rules: Box<[u32]>,
}

impl Plan {
    /// Takes in the tools, and for each rule those it names; `None` for a rule about every tool.
    pub(crate) fn new(universe: &Universe<'_>, bound: &[Option<Vec<ToolAt>>]) -> Self {
        let hasher = RandomState::new();
        let mut of_tool: Vec<Vec<u32>> = vec![Vec::new(); universe.len()];
        let mut everywhere = Vec::new();
        for (rule, tools) in (0..).zip(bound) {
            match tools {
                None => everywhere.push(rule),
                Some(tools) => {
                    for at in tools {
                        if let Some(rules) = of_tool.get_mut(at.0 as usize) {
                            rules.push(rule);
                        }
                    }
                }
            }
        }
        let row = |((at, tool), rules): ((ToolAt, &Tool), Vec<u32>)| Row {
            canonical: tool.canonical().as_str().into(),
            source: tool.source().clone(),
            digest: tool.digest(),
            at,
            rules: rules.into(),
        };
        let rows: Vec<Row> = universe.all().zip(of_tool).map(row).collect();
        let mut index = HashTable::with_capacity(rows.len());
        let hash = |at: &u32| rows.get(*at as usize).map_or(0, |row| hasher.hash_one(&*row.canonical));
        for at in (0..).take(rows.len()) {
            index.insert_unique(hash(&at), at, hash);
        }
        Self { hasher, rows, index, everywhere }
    }

    /// Where the row of a tool is, by its key: source and canonical name.
    pub(crate) fn find(&self, tool: &Tool) -> Option<u32> {
        let canonical = tool.canonical().as_str();
        let is_named = |at: &u32| self.rows.get(*at as usize).is_some_and(|row| *row.canonical == *canonical);
        let at = *self.index.find(self.hasher.hash_one(canonical), is_named)?;
        self.rows.get(at as usize).filter(|row| row.source == *tool.source()).map(|_| at)
    }

    /// The row that was found for a tool before.
    pub(crate) fn at(&self, at: u32) -> Option<&Row> {
        self.rows.get(at as usize)
    }

    /// The row of a tool.
    pub(crate) fn row(&self, tool: &Tool) -> Option<&Row> {
        self.find(tool).and_then(|at| self.at(at))
    }

    /// The rules that can apply to a tool: those for every tool first, then those that name it.
    pub(crate) fn rules<'p>(&'p self, row: &'p Row) -> impl Iterator<Item = usize> + 'p {
        self.everywhere.iter().chain(&row.rules).map(|at| *at as usize)
    }
}

impl Row {
    /// True when this is the version of the tool that the policy was loaded for.
    pub(crate) fn is_same_version(&self, tool: &Tool) -> bool {
        self.digest == tool.digest()
    }
}
