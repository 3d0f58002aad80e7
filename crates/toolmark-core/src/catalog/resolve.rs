//! Which tool a name means: canonical names strictly, short names only while they are unique, nothing by likeness.

use serde_json::{Map, Value};

use super::{Catalog, Owners, ToolRef};
use crate::explain::{Code, Explain, facts};
use crate::text::visible;
use crate::tool::Tool;

/// What a name means. Exhaustive on purpose: a caller that ignores a case runs the wrong tool.
#[derive(Clone, Debug)]
#[must_use]
pub enum Resolution<'c> {
    /// Exactly one tool.
    Found(&'c Tool),
    /// A short name with several owners.
    Ambiguous(Candidates<'c>),
    /// No tool.
    NotFound,
}

/// The owners of an ambiguous name, in load order.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'c> {
    catalog: &'c Catalog,
    owners: &'c [ToolRef],
}

/// A name that does not mean exactly one tool, told to somebody who may see some of the tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// Several tools have this short name.
    #[error("`{lookup}` is ambiguous: {} tools have that name", candidates.len())]
    Ambiguous {
        /// What was looked up.
        lookup: String,
        /// The canonical names of those that the asker may see.
        candidates: Vec<String>,
    },
    /// No tool has this name.
    #[error("there is no tool `{lookup}`")]
    NotFound {
        /// What was looked up.
        lookup: String,
        /// Canonical names that look like it, among those that the asker may see.
        suggestions: Vec<String>,
    },
}

/// Suggestions differ by at most this many edits.
const DISTANCE: usize = 2;
/// At most this many suggestions.
const SUGGESTIONS: usize = 3;
/// Longer lookups get no suggestions.
const LONGEST: usize = 256;

impl Catalog {
    /// What `lookup` means. With a dot it is canonical: that tool or none. Without, it is short: its one owner, or ambiguous.
    ///
    /// Case counts, nothing is trimmed, nothing is allocated.
    pub fn resolve(&self, lookup: &str) -> Resolution<'_> {
        let Some(entry) = self.0.find(lookup) else { return Resolution::NotFound };
        match entry.owners {
            Owners::One => self.tool(entry.tool).map_or(Resolution::NotFound, Resolution::Found),
            Owners::Several(list) => Resolution::Ambiguous(Candidates {
                catalog: self,
                owners: self.0.shared.get(list as usize).map(Vec::as_slice).unwrap_or_default(),
            }),
        }
    }

    /// The one tool that `lookup` means, or an error to show to somebody who may see the tools that `may_see` admits.
    ///
    /// # Errors
    /// [`ResolveError`] with the candidates or suggestions among the visible tools.
    pub fn find(&self, lookup: &str, may_see: impl Fn(&Tool) -> bool) -> Result<&Tool, ResolveError> {
        match self.resolve(lookup) {
            Resolution::Found(tool) => Ok(tool),
            Resolution::Ambiguous(candidates) => Err(ResolveError::Ambiguous {
                lookup: visible(lookup, 200),
                candidates: candidates.iter().filter(|tool| may_see(tool)).map(shown).collect(),
            }),
            Resolution::NotFound => Err(ResolveError::NotFound {
                lookup: visible(lookup, 200),
                suggestions: self.suggest(lookup, may_see).into_iter().map(shown).collect(),
            }),
        }
    }

    /// Tools with a name close to `lookup`, nearest first, at most three, only visible ones. For people; never resolved.
    pub fn suggest(&self, lookup: &str, may_see: impl Fn(&Tool) -> bool) -> Vec<&Tool> {
        if lookup.is_empty() || lookup.len() > LONGEST {
            return Vec::new();
        }
        let canonical = lookup.contains('.');
        let mut near: Vec<(usize, &Tool)> = Vec::new();
        for tool in self.tools() {
            let name = if canonical { tool.canonical().as_str() } else { tool.raw().as_str() };
            // Every edit changes the length in bytes by at most four.
            if name.len().abs_diff(lookup.len()) > DISTANCE * 4 {
                continue;
            }
            let distance = strsim::levenshtein(name, lookup);
            if distance <= DISTANCE && may_see(tool) {
                near.push((distance, tool));
            }
        }
        near.sort_by(|(one, a), (other, b)| one.cmp(other).then_with(|| a.canonical().cmp(b.canonical())));
        near.into_iter().take(SUGGESTIONS).map(|(_, tool)| tool).collect()
    }
}

/// A canonical name, with whatever hides in it made visible.
fn shown(tool: &Tool) -> String {
    visible(tool.canonical().as_str(), 300)
}

impl<'c> Candidates<'c> {
    /// The owners, in load order.
    pub fn iter(&self) -> impl Iterator<Item = &'c Tool> + use<'c> {
        let catalog = self.catalog;
        self.owners.iter().filter_map(move |&owner| catalog.tool(owner))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.owners.len()
    }

    /// Never true: an ambiguous name has at least two owners.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }
}

impl Explain for ResolveError {
    fn code(&self) -> Code {
        match self {
            Self::Ambiguous { .. } => Code::new("ambiguous-tool"),
            Self::NotFound { .. } => Code::new("tool-not-found"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Ambiguous { .. } => "picking one of them silently could run the wrong tool".into(),
            Self::NotFound { lookup, .. } if lookup.contains('.') => {
                "a name with a dot is canonical and matches exactly or not at all".into()
            }
            Self::NotFound { .. } => {
                "names are case-sensitive and matched exactly; a likely tool is not the tool that was meant".into()
            }
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Ambiguous { candidates, .. } if candidates.is_empty() => "use the canonical name `pack.tool`".into(),
            Self::Ambiguous { candidates, .. } => {
                format!("use one of these canonical names:\n{}", candidates.join("\n"))
            }
            Self::NotFound { suggestions, .. } if suggestions.is_empty() => {
                "list what exists with `toolmark inspect`".into()
            }
            Self::NotFound { suggestions, .. } => format!("did you mean one of these?\n{}", suggestions.join("\n")),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Ambiguous { lookup, candidates } => {
                facts([("lookup", lookup.as_str().into()), ("candidates", candidates.as_slice().into())])
            }
            Self::NotFound { lookup, suggestions } => {
                facts([("lookup", lookup.as_str().into()), ("suggestions", suggestions.as_slice().into())])
            }
        }
    }
}
