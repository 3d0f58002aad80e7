//! What an agent may call: names that are resolved when it is built, and nothing else when it runs.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::{Catalog, Resolution};
use crate::explain::{Code, Explain, Report, facts};
use crate::text::visible;
use crate::tool::Tool;

/// The tools that somebody declared, resolved. A call can reach no other.
#[derive(Clone, Debug)]
pub struct Declared {
    catalog: Catalog,
    names: BTreeSet<String>,
}

/// Declared names that do not mean exactly one tool each, all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclareToolsError {
    reports: Vec<Report>,
}

/// A call of something that was not declared, although it may exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{lookup}` is not one of the declared tools")]
pub struct UnknownTool {
    lookup: String,
    declared: Vec<String>,
}

/// How many declared tools an error lists.
const SHOWN: usize = 6;

impl Catalog {
    /// Resolves what an agent declares: canonical names, unique short names, or `pack.*` for all of a pack.
    ///
    /// # Errors
    /// [`DeclareToolsError`] with every name that is ambiguous, unknown or matches nothing.
    pub fn declare<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<Declared, DeclareToolsError> {
        let mut declared = BTreeSet::new();
        let mut reports = Vec::new();
        for name in names {
            match name.strip_suffix(".*") {
                Some(pack) => {
                    let before = declared.len();
                    let of_pack = self.tools().filter(|tool| tool.pack() == Some(pack));
                    declared.extend(of_pack.map(|tool| tool.canonical().to_string()));
                    if declared.len() == before && !declared.iter().any(|known| known.starts_with(&format!("{pack}.")))
                    {
                        reports.push(MatchesNothing(visible(name, 200)).report());
                    }
                }
                None => match self.find(name, |_| true) {
                    Ok(tool) => {
                        declared.insert(tool.canonical().to_string());
                    }
                    Err(error) => reports.push(error.report()),
                },
            }
        }
        if reports.is_empty() {
            Ok(Declared { catalog: self.clone(), names: declared })
        } else {
            Err(DeclareToolsError { reports })
        }
    }
}

impl Declared {
    /// The declared tool that a call means.
    ///
    /// # Errors
    /// [`UnknownTool`] for everything else, whether it exists or not: the asker is told only what it declared.
    pub fn resolve(&self, lookup: &str) -> Result<&Tool, UnknownTool> {
        let unknown = || UnknownTool { lookup: visible(lookup, 200), declared: self.names.iter().cloned().collect() };
        let is_declared = |tool: &&Tool| self.names.contains(tool.canonical().as_str());
        match self.catalog.resolve(lookup) {
            Resolution::Found(tool) => Some(tool).filter(is_declared).ok_or_else(unknown),
            // A short name stays ambiguous even when only one of its owners was declared.
            Resolution::Ambiguous(_) | Resolution::NotFound => Err(unknown()),
        }
    }

    /// The declared tools, by canonical name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.names.iter().filter_map(|name| self.catalog.find(name, |_| true).ok())
    }
}

impl DeclareToolsError {
    /// One report for each name.
    #[must_use]
    pub fn reports(&self) -> &[Report] {
        &self.reports
    }
}

impl fmt::Display for DeclareToolsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reports.as_slice() {
            [only] => f.write_str(only.what()),
            many => write!(f, "{} declared names do not each mean one tool", many.len()),
        }
    }
}

impl std::error::Error for DeclareToolsError {}

impl Explain for DeclareToolsError {
    fn code(&self) -> Code {
        Code::new("declared-tools-invalid")
    }

    fn why(&self) -> String {
        "a declared name is a promise about one tool; it is kept when the agent is built, not when a model calls".into()
    }

    fn fix(&self) -> String {
        self.reports.iter().map(Report::fix).collect::<Vec<_>>().join("\n")
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("names", self.reports.iter().map(Report::to_json).collect())])
    }
}

impl Explain for UnknownTool {
    fn code(&self) -> Code {
        Code::new("unknown-tool")
    }

    fn why(&self) -> String {
        "only tools that were declared for this run can be called in it".into()
    }

    fn fix(&self) -> String {
        let mut shown: Vec<String> = self.declared.iter().take(SHOWN).cloned().collect();
        if self.declared.len() > SHOWN {
            shown.push(format!("(+{} more)", self.declared.len() - SHOWN));
        }
        match shown.as_slice() {
            [] => "no tool is declared".into(),
            _ => format!("call one of the declared tools:\n{}", shown.join("\n")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("lookup", self.lookup.as_str().into()), ("declared", self.declared.as_slice().into())])
    }
}

/// A pattern for tools that no tool matches.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` matches no tool")]
struct MatchesNothing(String);

impl Explain for MatchesNothing {
    fn code(&self) -> Code {
        Code::new("matches-nothing")
    }

    fn why(&self) -> String {
        "a pattern that matches nothing is a spelling mistake or a pack that is gone".into()
    }

    fn fix(&self) -> String {
        "list the packs with `toolmark inspect`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("pattern", self.0.as_str().into())])
    }
}
