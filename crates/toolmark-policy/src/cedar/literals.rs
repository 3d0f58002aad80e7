//! Settles which tools and packs a policy names. In a policy a tool may be written in any spelling; what means nothing is refused.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy::{Effect, EntityUid, Policy, ResourceConstraint};
use toolmark_core::explain::Explain as _;
use toolmark_core::names::PackName;
use toolmark_core::problem::Problem;

use super::entities::Uids;
use super::source::Parsed;
use crate::pattern::Stance;
use crate::tools::{BindError, ToolAt, Universe};

/// A policy that speaks of identities, and the tools it can apply to.
pub(super) struct Settled {
    pub(super) policy: Policy,
    pub(super) reach: Reach,
}

/// The tools that the scope of a policy admits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of them.
    All,
    /// These.
    Some(BTreeSet<ToolAt>),
}

/// Writes the identities of tools and packs in the place of how the author spelled them.
pub(super) fn settle(
    parsed: &Parsed,
    universe: &Universe<'_>,
    uids: &Uids,
    problems: &mut Vec<Problem>,
) -> Option<Settled> {
    let scope = match parsed.policy.resource_constraint() {
        ResourceConstraint::Any | ResourceConstraint::Is(_) => None,
        ResourceConstraint::Eq(uid) | ResourceConstraint::In(uid) | ResourceConstraint::IsIn(_, uid) => Some(uid),
    };
    let mut written: BTreeMap<EntityUid, EntityUid> = BTreeMap::new();
    let mut reach = Reach::All;
    let before = problems.len();
    for uid in parsed.policy.entity_literals() {
        let in_scope = scope.as_ref() == Some(&uid);
        match meaning(parsed, &uid, in_scope, universe, uids) {
            Ok(None) => {}
            Ok(Some((identity, tools))) => {
                written.extend(identity.map(|identity| (uid, identity)));
                if in_scope {
                    reach = Reach::Some(tools);
                }
            }
            Err(error) => {
                let place = Some(parsed.document.place(parsed.start));
                problems.push(Problem::refused(error.report(), place));
            }
        }
    }
    if problems.len() > before {
        return None;
    }
    match parsed.policy.sub_entity_literals(written) {
        Ok(policy) => Some(Settled { policy, reach }),
        Err(error) => {
            problems.push(parsed.problem(super::error::Kind::Syntax, error.to_string()));
            None
        }
    }
}

/// What a literal means: its identity, if it has one today, and the tools it stands for. `None` for what is no tool and no pack.
type Meaning = Option<(Option<EntityUid>, BTreeSet<ToolAt>)>;

fn meaning(
    parsed: &Parsed,
    uid: &EntityUid,
    in_scope: bool,
    universe: &Universe<'_>,
    uids: &Uids,
) -> Result<Meaning, BindError> {
    let (kind, name) = (uid.type_name().to_string(), uid.id().unescaped());
    match kind.as_str() {
        "Tool" => {
            // Only the scope of a `forbid` is surely restrictive; in a condition the same name may stand for an exception.
            let forbids = in_scope && parsed.policy.effect() == Effect::Forbid;
            let stance = if forbids { Stance::Restrictive } else { Stance::Permissive };
            let tools = universe.bind_one(&parsed.owner(), name, stance)?;
            let tool = tools.first().and_then(|at| universe.tool(*at));
            Ok(Some((tool.map(|tool| uids.tool(tool)), tools)))
        }
        "Pack" => {
            let pack = universe.bind_pack(&parsed.owner(), name)?.map(PackName::as_str);
            let owned =
                |pack: &str| universe.all().filter(|(_, tool)| tool.pack() == Some(pack)).map(|(at, _)| at).collect();
            Ok(Some((pack.map(|pack| uids.pack(pack)), pack.map(owned).unwrap_or_default())))
        }
        _ => Ok(None),
    }
}
