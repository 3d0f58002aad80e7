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
    rows: HashTable<Row>,
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
        let mut rows = HashTable::with_capacity(universe.len());
        for ((at, tool), rules) in universe.all().zip(of_tool) {
            let canonical: Box<str> = tool.canonical().as_str().into();
            let hash = hasher.hash_one(&*canonical);
            let row = Row { canonical, source: tool.source().clone(), digest: tool.digest(), at, rules: rules.into() };
            rows.insert_unique(hash, row, |row: &Row| hasher.hash_one(&*row.canonical));
        }
        Self { hasher, rows, everywhere }
    }

    /// The row of a tool, by its key: source and canonical name.
    pub(crate) fn row(&self, tool: &Tool) -> Option<&Row> {
        let canonical = tool.canonical().as_str();
        let row = self.rows.find(self.hasher.hash_one(canonical), |row| *row.canonical == *canonical)?;
        (row.source == *tool.source()).then_some(row)
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
