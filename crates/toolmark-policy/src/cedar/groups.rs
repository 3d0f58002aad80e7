//! Which policies can apply to which tools, settled at load: tools under the same policies share one set, and a tool that no policy
//! can apply to costs nothing.

use std::collections::{BTreeSet, HashMap};

use cedar_policy::{Effect, PolicySet};

use super::literals::{Reach, Settled};
use super::mentions::Mentions;
use super::source::Says;
use super::{CedarDefault, Info};
use crate::tools::ToolAt;

/// The policies of some tools.
#[derive(Default)]
pub(super) struct Group {
    /// Those that look at neither arguments nor facts; what they say is kept.
    pub(super) fixed: Sets,
    /// The others.
    pub(super) live: Sets,
}

/// Policies that are evaluated together.
#[derive(Default)]
pub(super) struct Sets {
    pub(super) forbids: PolicySet,
    pub(super) permits: PolicySet,
    pub(super) mentions: Mentions,
}

/// All groups. The first is for tools that no policy names.
pub(super) struct Groups {
    groups: Vec<Group>,
    of: HashMap<ToolAt, usize>,
}

impl Sets {
    pub(super) fn is_empty(&self) -> bool {
        self.forbids.is_empty() && self.permits.is_empty()
    }
}

impl Groups {
    /// Sorts the policies.
    ///
    /// # Errors
    /// When Cedar refuses to put them together, which it does only for ids that are taken.
    pub(super) fn new(policies: &[Settled], infos: &[Info], default: CedarDefault) -> Result<Self, String> {
        let named = |policy: &&Settled| matches!(policy.reach, Reach::Some(_));
        let tools: BTreeSet<ToolAt> = policies
            .iter()
            .filter(named)
            .flat_map(|policy| match &policy.reach {
                Reach::Some(tools) => tools.clone(),
                Reach::All => BTreeSet::new(),
            })
            .collect();
        let applying = |tool: Option<ToolAt>| -> Vec<usize> {
            let applies = |policy: &Settled| match (&policy.reach, tool) {
                (Reach::All, _) => true,
                (Reach::Some(tools), Some(tool)) => tools.contains(&tool),
                (Reach::Some(_), None) => false,
            };
            (0..).zip(policies).filter(|(_, policy)| applies(policy)).map(|(at, _)| at).collect()
        };
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut groups = Vec::new();
        let mut of = HashMap::new();
        for tool in [None].into_iter().chain(tools.into_iter().map(Some)) {
            let members = applying(tool);
            let at = match known.get(&members) {
                Some(at) => *at,
                None => {
                    groups.push(Group::new(&members, policies, infos, default)?);
                    known.insert(members, groups.len() - 1);
                    groups.len() - 1
                }
            };
            of.extend(tool.map(|tool| (tool, at)));
        }
        Ok(Self { groups, of })
    }

    /// The policies that can apply to a tool.
    pub(super) fn get(&self, tool: ToolAt) -> Option<&Group> {
        self.groups.get(self.of.get(&tool).copied().unwrap_or(0))
    }
}

impl Group {
    fn new(members: &[usize], policies: &[Settled], infos: &[Info], default: CedarDefault) -> Result<Self, String> {
        let mut group = Self::default();
        for at in members {
            let (Some(settled), Some(info)) = (policies.get(*at), infos.get(*at)) else { continue };
            // Where everything is permitted anyway, a plain `permit` says nothing.
            if info.says == Says::Permit && default == CedarDefault::Permit {
                continue;
            }
            let sets = if info.mentions.depends_on_the_call() { &mut group.live } else { &mut group.fixed };
            sets.mentions = sets.mentions.and(info.mentions);
            let set = match settled.policy.effect() {
                Effect::Forbid => &mut sets.forbids,
                Effect::Permit => &mut sets.permits,
            };
            set.add(settled.policy.clone()).map_err(|error| error.to_string())?;
        }
        Ok(group)
    }
}
