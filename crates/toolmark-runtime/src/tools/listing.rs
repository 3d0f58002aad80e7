//! Everything that toolsets list, as one workspace: made once, kept until somebody lists something else.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::catalog::{BuildCatalogError, Catalog, CatalogBuilder};
use toolmark_core::digest::DefinitionDigest;
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::names::LookupKey;
use toolmark_core::pack::{Pack, PackBuilder};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;
use toolmark_core::tool::{Source, Tool, ToolKind};
use toolmark_policy::LoadPolicyError;

use super::function::{FunctionTool, Namespace};
use super::toolset::{ListToolsError, whats};
use crate::task::UnknownTask;
use crate::workspace::{Workspace, WorkspaceBuilder};

/// A workspace of function tools, with where each of them stands in it.
#[derive(Debug)]
pub(super) struct Listing {
    workspace: Workspace,
    seen: Vec<Seen>,
    /// The pack and the place in it, for each tool in the order of the list.
    places: Vec<(usize, usize)>,
    keys: HashMap<LookupKey, usize>,
    /// By where the tool is in memory: the catalog keeps every tool where it is.
    entries: HashMap<usize, usize>,
}

/// What tells one listed tool from another.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    namespace: usize,
    kind: ToolKind,
    digest: DefinitionDigest,
    deferred: bool,
    flat: bool,
}

/// A turn that cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenTurnError {
    /// A toolset cannot say which tools it has.
    #[error(transparent)]
    List(#[from] ListToolsError),
    /// The tools cannot stand beside one another.
    #[error("{}", together(.0))]
    Catalog(#[from] BuildCatalogError),
    /// The rules do not fit the tools.
    #[error(transparent)]
    Policy(#[from] LoadPolicyError),
    /// The turn is for a task that there is not.
    #[error(transparent)]
    Task(#[from] UnknownTask),
}

fn together(error: &BuildCatalogError) -> String {
    let reports: Vec<Report> = error.problems().iter().map(|problem| problem.report().clone()).collect();
    format!("the tools cannot stand beside one another: {}", whats(&reports))
}

/// Where tools without a pack come from.
const PROGRAM: &str = "rust:program";

impl Seen {
    fn of(tool: &FunctionTool) -> Self {
        Self {
            namespace: tool.namespace.as_ref().map_or(0, |namespace| Arc::as_ptr(namespace).addr()),
            kind: tool.kind,
            digest: tool.definition.digest(),
            deferred: tool.defer_loading,
            flat: tool.flat,
        }
    }
}

impl Listing {
    /// Makes a workspace of tools, or says everything that stands in the way.
    pub(super) fn new(tools: &[FunctionTool], rules: WorkspaceBuilder) -> Result<Self, OpenTurnError> {
        let mut packs: Vec<(Option<Arc<Namespace>>, PackBuilder)> = Vec::new();
        let mut places = Vec::with_capacity(tools.len());
        let mut reserved = Vec::new();
        for tool in tools {
            let same = |own: &Option<Arc<Namespace>>| match (own, &tool.namespace) {
                (None, None) => true,
                (Some(own), Some(other)) => Arc::ptr_eq(own, other),
                _ => false,
            };
            let at = packs.iter().position(|(own, _)| same(own)).unwrap_or_else(|| {
                let pack = match tool.namespace() {
                    Some(namespace) => Pack::builder(namespace.name().clone(), namespace.source().clone()),
                    None => Pack::without_name(Source::new(PROGRAM)),
                };
                packs.push((tool.namespace.clone(), pack));
                packs.len() - 1
            });
            if tool.seen_in().is_some_and(|namespace| namespace.name().as_str() == tool.name().as_str()) {
                let place = tool.definition.slice().place();
                let report = ReservedName(visible(tool.name().as_str(), 200)).report();
                reserved.push(Problem::refused(report, Some(place)));
            }
            if let Some((_, pack)) = packs.get_mut(at) {
                places.push((at, pack.len()));
                pack.push(tool.kind, (*tool.definition).clone());
            }
        }
        let mut keys: HashMap<LookupKey, usize> = HashMap::with_capacity(tools.len());
        for (at, tool) in tools.iter().enumerate() {
            let first = *keys.entry(tool.lookup_key()).or_insert(at);
            // Two of one canonical name are found by the catalog, which names both.
            if let Some(other) = tools.get(first).filter(|other| other.canonical() != tool.canonical()) {
                let name = |tool: &FunctionTool| tool.canonical().map(|name| name.to_string()).unwrap_or_default();
                let called = visible(&tool.called(), 200);
                let report = CalledAlike { called, one: name(other), two: name(tool) }.report();
                reserved.push(Problem::refused(report, Some(tool.definition.slice().place())));
            }
        }
        let packs = packs.into_iter().map(|(_, pack)| pack.build());
        let catalog = reserved.into_iter().fold(Catalog::builder().packs(packs), CatalogBuilder::problem);
        let workspace = rules.build(catalog.build()?)?;
        let seen = tools.iter().map(Seen::of).collect();
        let mut listing = Self { workspace, seen, places, keys, entries: HashMap::new() };
        listing.entries = (0..tools.len()).filter_map(|at| Some((address(listing.tool(at)?), at))).collect();
        Ok(listing)
    }

    /// True when it was made of these tools.
    pub(super) fn is_of(&self, tools: &[FunctionTool]) -> bool {
        self.seen.len() == tools.len() && self.seen.iter().zip(tools).all(|(seen, tool)| *seen == Seen::of(tool))
    }

    pub(super) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The place in the list of the tool with this key.
    pub(super) fn find(&self, key: &LookupKey) -> Option<usize> {
        self.keys.get(key).copied()
    }

    /// The place in the list of an entry of the catalog.
    pub(super) fn place_of(&self, tool: &Tool) -> Option<usize> {
        self.entries.get(&address(tool)).copied()
    }

    /// The tool of the catalog at a place in the list.
    pub(super) fn tool(&self, at: usize) -> Option<&Tool> {
        let (pack, tool) = *self.places.get(at)?;
        self.workspace.catalog().packs().nth(pack)?.0.tools().get(tool)
    }
}

fn address(tool: &Tool) -> usize {
    std::ptr::from_ref(tool).addr()
}

impl Explain for OpenTurnError {
    fn code(&self) -> Code {
        match self {
            Self::List(error) => error.code(),
            Self::Catalog(error) => error.code(),
            Self::Policy(error) => error.code(),
            Self::Task(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::List(error) => error.why(),
            Self::Catalog(error) => error.why(),
            Self::Policy(error) => error.why(),
            Self::Task(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::List(error) => error.fix(),
            Self::Catalog(error) => error.fix(),
            Self::Policy(error) => error.fix(),
            Self::Task(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::List(error) => error.facts(),
            Self::Catalog(error) => error.facts(),
            Self::Policy(error) => error.facts(),
            Self::Task(error) => error.facts(),
        }
    }
}

/// Two tools that models would call by one name.
#[derive(Debug, thiserror::Error)]
#[error("models would call `{one}` and `{two}` by the name `{called}`")]
struct CalledAlike {
    called: String,
    one: String,
    two: String,
}

impl Explain for CalledAlike {
    fn code(&self) -> Code {
        Code::new("tools-called-alike")
    }

    fn why(&self) -> String {
        "a call by that name could mean either of the two".into()
    }

    fn fix(&self) -> String {
        "rename one of them: `.renamed([(\"old\", \"new\")])`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("tools", vec![self.one.as_str(), self.two.as_str()].into()), ("called", self.called.as_str().into())])
    }
}

/// A tool that has the name of its pack.
#[derive(Debug, thiserror::Error)]
#[error("the tool `{0}` has the name of its own pack")]
struct ReservedName(String);

impl Explain for ReservedName {
    fn code(&self) -> Code {
        Code::new("tool-named-like-pack")
    }

    fn why(&self) -> String {
        "on the wire that is how a tool without a pack is called that was loaded late".into()
    }

    fn fix(&self) -> String {
        "rename the tool or the pack".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("tool", self.0.as_str().into())])
    }
}
