//! Cedar policies: read, held against a schema, settled on identities, and asked about calls. The only place that knows Cedar.

mod arguments;
mod cache;
mod check;
mod context;
mod entities;
mod error;
mod evaluate;
mod groups;
mod literals;
mod mentions;
mod source;

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use cedar_policy::Entities;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

use self::cache::Cache;
use self::entities::Uids;
use self::error::{CedarError, Kind};
use self::groups::Groups;
use self::literals::{Reach, Settled};
use self::mentions::Mentions;
use self::source::{Parsed, Says};
use crate::answer::Named;
use crate::tools::{ToolAt, Universe};

pub(crate) use self::evaluate::UNEVALUABLE;
pub use self::source::CedarText;

/// The schema that every policy is held against.
pub const SCHEMA: &str = include_str!("toolmark.cedarschema");

/// What holds for a call that no policy permits and none forbids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CedarDefault {
    /// It is permitted; rules and the preset still apply.
    #[default]
    Permit,
    /// It is denied, as in Cedar itself.
    Deny,
}

/// Text that is no default.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is neither `permit` nor `deny`")]
pub struct ParseCedarDefaultError {
    found: String,
}

/// All Cedar policies, ready to be asked.
pub(crate) struct Cedar {
    default: CedarDefault,
    infos: Vec<Info>,
    by_id: HashMap<Arc<str>, usize>,
    groups: Groups,
    uids: Uids,
    actions: Entities,
    around: Box<[OnceLock<Entities>]>,
    cache: Cache,
}

/// What is known about one policy.
struct Info {
    id: Arc<str>,
    says: Says,
    reason: Option<Box<str>>,
    mentions: Mentions,
    names: Named,
}

impl Cedar {
    /// Reads and checks all policies; `None` when something is wrong, which stands in `problems` then.
    pub(crate) fn load(
        texts: &[CedarText],
        default: CedarDefault,
        universe: &Universe<'_>,
        problems: &mut Vec<Problem>,
        notes: &mut Vec<Problem>,
    ) -> Option<Self> {
        let before = problems.len();
        let (schema, uids, actions) = match prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                let report = CedarError::new(Kind::Type, "the schema of Toolmark", error).report();
                problems.push(Problem::refused(report, None));
                return None;
            }
        };
        let policies = source::read(texts, problems);
        let mentions = check::check(&policies, &schema, default, problems, notes);
        let settled: Vec<Settled> =
            policies.iter().filter_map(|policy| literals::settle(policy, universe, &uids, problems)).collect();
        if problems.len() > before {
            return None;
        }
        let infos: Vec<Info> = policies.into_iter().zip(mentions).zip(&settled).map(Info::of).collect();
        let groups = match Groups::new(&settled, &infos, default) {
            Ok(groups) => groups,
            Err(error) => {
                let report = CedarError::new(Kind::DuplicateId, "the policies", error).report();
                problems.push(Problem::refused(report, None));
                return None;
            }
        };
        let by_id = infos.iter().zip(0..).map(|(info, at)| (Arc::clone(&info.id), at)).collect();
        let around = (0..universe.len()).map(|_| OnceLock::new()).collect();
        Some(Self { default, infos, by_id, groups, uids, actions, around, cache: Cache::new() })
    }

    /// The policies that can apply to a tool, in their order.
    pub(crate) fn applying_to(&self, at: ToolAt) -> Vec<Arc<str>> {
        let sets = self.groups.get(at).into_iter().flat_map(|group| [&group.fixed, &group.live]);
        let policies = sets.flat_map(|sets| sets.forbids.policies().chain(sets.permits.policies()));
        let mut all: Vec<usize> =
            policies.filter_map(|policy| self.by_id.get::<str>(policy.id().as_ref())).copied().collect();
        all.sort_unstable();
        all.into_iter().filter_map(|at| self.infos.get(at)).map(|info| Arc::clone(&info.id)).collect()
    }

    /// How many policies there are.
    pub(crate) fn len(&self) -> usize {
        self.infos.len()
    }
}

fn prepare() -> Result<(cedar_policy::Schema, Uids, Entities), String> {
    let schema = check::schema()?;
    let actions = schema.action_entities().map_err(|error| error.to_string())?;
    Ok((schema, Uids::new()?, actions))
}

impl Info {
    fn of(((parsed, mentions), settled): ((Parsed, Mentions), &Settled)) -> Self {
        let names = Named {
            tools: matches!(settled.reach, Reach::Some(_)),
            behavior: mentions.behavior,
            effect: mentions.facts,
            arguments: mentions.arguments,
        };
        Self { id: parsed.id, says: parsed.says, reason: parsed.reason, mentions, names }
    }
}

impl CedarDefault {
    /// The default in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Permit => "permit",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for CedarDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for CedarDefault {
    type Err = ParseCedarDefaultError;

    fn from_str(text: &str) -> Result<Self, ParseCedarDefaultError> {
        match text {
            "permit" => Ok(Self::Permit),
            "deny" => Ok(Self::Deny),
            _ => Err(ParseCedarDefaultError { found: visible(text, 60) }),
        }
    }
}

impl Explain for ParseCedarDefaultError {
    fn code(&self) -> Code {
        Code::new("policy-default-unknown")
    }

    fn why(&self) -> String {
        "it decides every call that no policy mentions; guessing it could let all of them through".into()
    }

    fn fix(&self) -> String {
        "write `default = \"permit\"` or `default = \"deny\"` under `[policy]`".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("found", self.found.as_str().into())])
    }
}

#[cfg(test)]
mod tests;
