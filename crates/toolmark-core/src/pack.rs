//! A pack: the tools of one owner, prepared once and shared by every catalog that includes it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::definition::Definition;
use crate::explain::Explain as _;
use crate::exposure::Mode;
use crate::names::{CanonicalName, PackName, RawName};
use crate::problem::{Owner, Problem};
use crate::tool::{Source, Tool, ToolKind};

/// The tools of one owner. Cheap to clone; never changes.
#[derive(Clone, Debug)]
pub struct Pack(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: Option<PackName>,
    source: Source,
    prefix: Option<String>,
    exposure: Option<Mode>,
    tools: Box<[Tool]>,
    /// Names that somebody claims although the tool behind them was refused.
    refused: Vec<RawName>,
    problems: Vec<Problem>,
}

/// What a pack is made of, before it is prepared.
#[derive(Debug)]
pub struct PackBuilder {
    name: Option<PackName>,
    source: Source,
    prefix: Option<String>,
    exposure: Option<Mode>,
    tools: Vec<(ToolKind, Definition)>,
    refused: Vec<RawName>,
    problems: Vec<Problem>,
}

impl Pack {
    /// The most tools in one pack. The largest of 150 real servers has a few hundred.
    pub const MAX_TOOLS: usize = 20_000;

    /// Begins a pack.
    #[must_use]
    pub fn builder(name: PackName, source: Source) -> PackBuilder {
        Self::begin(Some(name), source)
    }

    /// Begins the tools that no pack owns.
    #[must_use]
    pub fn without_name(source: Source) -> PackBuilder {
        Self::begin(None, source)
    }

    fn begin(name: Option<PackName>, source: Source) -> PackBuilder {
        PackBuilder {
            name,
            source,
            prefix: None,
            exposure: None,
            tools: Vec::new(),
            refused: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Its name, unless it holds the tools that no pack owns.
    #[must_use]
    pub fn name(&self) -> Option<&PackName> {
        self.0.name.as_ref()
    }

    /// Where its tools come from.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.0.source
    }

    /// The prefix that exposed names use in place of the pack's name.
    #[must_use]
    pub fn prefix(&self) -> Option<&str> {
        self.0.prefix.as_deref()
    }

    /// How the names of its tools are exposed, where that is not as everywhere.
    #[must_use]
    pub fn exposure(&self) -> Option<Mode> {
        self.0.exposure
    }

    /// Its tools, in the order in which they were listed.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.0.tools
    }

    /// The names of tools that were refused: a short name is not free because one of its owners was left out.
    #[must_use]
    pub fn refused(&self) -> &[RawName] {
        &self.0.refused
    }

    /// What was refused while it was prepared.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// True when both hold the same definitions.
    #[must_use]
    pub fn says_the_same_as(&self, other: &Pack) -> bool {
        let digests = |pack: &Pack| {
            let mut all: Vec<_> = pack.tools().iter().map(Tool::digest).collect();
            all.sort_unstable();
            all
        };
        digests(self) == digests(other)
    }
}

impl PackBuilder {
    /// Uses another word than the pack's name where exposed names need a prefix.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Exposes the names of its tools in another way than those of other packs.
    #[must_use]
    pub fn exposure(mut self, mode: Mode) -> Self {
        self.exposure = Some(mode);
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, kind: ToolKind, definition: Definition) -> Self {
        self.push(kind, definition);
        self
    }

    /// Adds a tool.
    pub fn push(&mut self, kind: ToolKind, definition: Definition) {
        self.tools.push((kind, definition));
    }

    /// Notes something that was refused before it became a tool.
    pub fn refuse(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Notes the name of a tool that was refused.
    pub fn refuse_name(&mut self, name: RawName) {
        self.refused.push(name);
    }

    /// How many tools it has so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// True when it has no tools yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Prepares the pack. What cannot stand in it is left out and listed in [`Pack::problems`]; of tools that share a name,
    /// all are left out, because none of them is the one that was meant.
    #[must_use]
    pub fn build(self) -> Pack {
        let Self { name, source, prefix, exposure, tools: listed, mut refused, mut problems } = self;
        if listed.len() > Pack::MAX_TOOLS {
            let place = listed.get(Pack::MAX_TOOLS).map(|(_, definition)| definition.slice().place());
            problems.push(Problem::pack_too_large(name.as_ref(), &source, listed.len(), place));
            refused.extend(listed.into_iter().map(|(_, definition)| definition.name().clone()));
            return Pack(Arc::new(Inner { name, source, prefix, exposure, tools: Box::default(), refused, problems }));
        }
        let mut tools = Vec::with_capacity(listed.len());
        for (kind, definition) in listed {
            match canonical(name.as_ref(), &definition) {
                Ok(canonical) => tools.push(Tool::new(canonical, source.clone(), kind, definition)),
                Err(error) => problems.push(Problem::refused(error.report(), Some(definition.slice().place()))),
            }
        }
        let repeated = repeated_names(&tools);
        if !repeated.is_empty() {
            for owners in &repeated {
                refused.extend(owners.first().and_then(|&at| tools.get(at)).map(|tool| tool.raw().clone()));
                problems.push(Problem::duplicate_tool(
                    owners.iter().filter_map(|&at| tools.get(at)).map(Owner::of).collect(),
                ));
            }
            let mut left_out: Vec<usize> = repeated.into_iter().flatten().collect();
            left_out.sort_unstable();
            let mut at = 0;
            tools.retain(|_| {
                let keep = left_out.binary_search(&at).is_err();
                at += 1;
                keep
            });
        }
        Pack(Arc::new(Inner { name, source, prefix, exposure, tools: tools.into(), refused, problems }))
    }
}

fn canonical(
    pack: Option<&PackName>,
    definition: &Definition,
) -> Result<CanonicalName, crate::names::ParseCanonicalNameError> {
    match pack {
        Some(pack) => Ok(CanonicalName::in_pack(pack, definition.name())),
        None => CanonicalName::without_pack(definition.name()),
    }
}

/// The positions of tools that share a name, grouped, in the order of their first appearance.
fn repeated_names(tools: &[Tool]) -> Vec<Vec<usize>> {
    let mut first = HashMap::with_capacity(tools.len());
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of: HashMap<&str, usize> = HashMap::new();
    for (at, tool) in tools.iter().enumerate() {
        let name = tool.raw().as_str();
        let Some(&before) = first.get(name) else {
            first.insert(name, at);
            continue;
        };
        let group = *group_of.entry(name).or_insert_with(|| {
            groups.push(vec![before]);
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(group) {
            group.push(at);
        }
    }
    groups.sort_unstable();
    groups
}
