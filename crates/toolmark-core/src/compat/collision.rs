//! Tools and handoffs that answer to one bare name: who wins, who is dropped, and what the SDK says about it.

mod text;

use std::collections::HashMap;

use super::lookup::{LookupConfigurationError, validate_lookup_configuration};
use super::tool::{Handoff, Tool};
use crate::names::LookupKey;

/// What to do about a name that several answer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionPolicy {
    /// Keep one of them and say so.
    #[default]
    Warn,
    /// Refuse the whole list.
    Error,
}

/// One bare name that several tools or handoffs answer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    name: Box<str>,
    kind: CollisionKind,
}

/// Who collides, which decides what the message advises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollisionKind {
    /// Function tools only.
    Tools,
    /// Handoffs only.
    Handoffs,
    /// A function tool and a handoff.
    ToolAndHandoff,
    /// Two agents used as tools whose names come out the same.
    DerivedTools([Box<str>; 2]),
    /// Handoffs to two agents whose names come out the same.
    DerivedHandoffs([Box<str>; 2]),
    /// An agent used as a tool and a handoff to another whose names come out the same.
    DerivedRouting([Box<str>; 2]),
}

/// What is left of the lists, as positions in them, and what was said on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ResolvedCollisions {
    tools: Vec<usize>,
    handoffs: Vec<usize>,
    warnings: Vec<Collision>,
}

/// Lists that the policy refuses, or that cannot be dispatched whatever the policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveCollisionsError {
    /// The list of tools is wrong in itself.
    #[error(transparent)]
    Configuration(#[from] LookupConfigurationError),
    /// Names collide and the policy is [`CollisionPolicy::Error`]. All of them, in the order in which they were met.
    #[error("{}", text::several(.0))]
    Collisions(Vec<Collision>),
}

/// Decides which of the tools and handoffs that share a bare name the model sees: the last handoff, or the last tool.
///
/// Tools in a namespace, deferred tools, custom and built-in tools take no part.
///
/// # Errors
/// [`ResolveCollisionsError`] when the lists cannot be dispatched, or when names collide and the policy refuses that.
pub fn resolve_tool_name_collisions(
    tools: &[Tool],
    handoffs: &[Handoff],
    policy: CollisionPolicy,
) -> Result<ResolvedCollisions, ResolveCollisionsError> {
    validate_lookup_configuration(tools)?;
    let mut kept_tools = vec![true; tools.len()];
    let mut kept_handoffs = vec![true; handoffs.len()];
    let mut warnings = Vec::new();
    for group in groups(tools, handoffs) {
        if group.entries.len() < 2 {
            continue;
        }
        let winner = group.entries.iter().rev().find(|entry| entry.handoff).or(group.entries.last()).map(Entry::place);
        for loser in group.entries.iter().filter(|entry| Some(entry.place()) != winner) {
            let kept = if loser.handoff { &mut kept_handoffs } else { &mut kept_tools };
            kept.get_mut(loser.index).into_iter().for_each(|kept| *kept = false);
        }
        warnings.push(Collision { name: group.name.into(), kind: kind(&group.entries) });
    }
    if policy == CollisionPolicy::Error && !warnings.is_empty() {
        return Err(ResolveCollisionsError::Collisions(warnings));
    }
    Ok(ResolvedCollisions { tools: positions(&kept_tools), handoffs: positions(&kept_handoffs), warnings })
}

/// Everything that answers to one name, in the order of the lists.
struct Group<'a> {
    name: &'a str,
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    handoff: bool,
    index: usize,
    derived_from: Option<&'a str>,
}

impl Entry<'_> {
    fn place(&self) -> (bool, usize) {
        (self.handoff, self.index)
    }
}

fn groups<'a>(tools: &'a [Tool], handoffs: &'a [Handoff]) -> Vec<Group<'a>> {
    let tools = tools.iter().enumerate().filter_map(|(index, tool)| {
        let tool = tool.as_function()?;
        let name = tool.public_name().filter(|_| matches!(tool.lookup_key(), Some(LookupKey::Bare(_))))?;
        Some((name, Entry { handoff: false, index, derived_from: tool.derived_from() }))
    });
    let handoffs = handoffs.iter().enumerate().filter_map(|(index, handoff)| {
        Some((handoff.tool_name()?, Entry { handoff: true, index, derived_from: handoff.derived_from() }))
    });
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (name, entry) in tools.chain(handoffs) {
        let place = *places.entry(name).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.entries.push(entry),
            None => groups.push(Group { name, entries: vec![entry] }),
        }
    }
    groups
}

fn kind(entries: &[Entry<'_>]) -> CollisionKind {
    if let [one, other] = entries
        && let (Some(first), Some(second)) = (one.derived_from, other.derived_from)
        && first != second
    {
        let agents = [first.into(), second.into()];
        return match (one.handoff, other.handoff) {
            (false, false) => CollisionKind::DerivedTools(agents),
            (true, true) => CollisionKind::DerivedHandoffs(agents),
            _ => CollisionKind::DerivedRouting(agents),
        };
    }
    let handoffs = entries.iter().filter(|entry| entry.handoff).count();
    match handoffs {
        0 => CollisionKind::Tools,
        _ if handoffs == entries.len() => CollisionKind::Handoffs,
        _ => CollisionKind::ToolAndHandoff,
    }
}

fn positions(kept: &[bool]) -> Vec<usize> {
    kept.iter().enumerate().filter_map(|(index, kept)| kept.then_some(index)).collect()
}

impl ResolvedCollisions {
    /// Positions of the tools that the model sees.
    #[must_use]
    pub fn tools(&self) -> &[usize] {
        &self.tools
    }

    /// Positions of the handoffs that the model sees.
    #[must_use]
    pub fn handoffs(&self) -> &[usize] {
        &self.handoffs
    }

    /// What collided, in the order in which the names first appear.
    #[must_use]
    pub fn warnings(&self) -> &[Collision] {
        &self.warnings
    }
}

impl Collision {
    /// The name that is not unique.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Who collides.
    #[must_use]
    pub fn kind(&self) -> &CollisionKind {
        &self.kind
    }
}

#[cfg(test)]
mod tests;
