//! Which other tool fits what a refused call wanted to do. Named to the model; never called for it.

use crate::behavior::{Action, KnownBehavior, Mutability, OutputDomain};
use crate::catalog::Catalog;
use crate::facts::{Effect, Facts};
use crate::tool::Tool;

/// At most so many are named.
const MOST: usize = 3;
/// And so many are looked at, which may take a while for each.
const LOOKED_AT: usize = 16;

/// Tools of the same pack that take the same arguments and are known to do what this call would have done, best first.
pub fn fitting<'c>(
    catalog: &'c Catalog,
    tool: &Tool,
    facts: &Facts,
    fits: impl Fn(&Tool) -> bool,
    known: impl Fn(&Tool) -> KnownBehavior,
) -> Vec<&'c Tool> {
    let Some(effect) = facts.effects().find(|effect| effect.mutability == Mutability::Mutates) else {
        return Vec::new();
    };
    let (schema, domain) = (tool.schema_digest(), domain(&known(tool)));
    let siblings = catalog.tools().filter(|other| other.pack() == tool.pack() && other.canonical() != tool.canonical());
    let mut found: Vec<(u8, &Tool)> = siblings
        .filter(|other| other.schema_digest() == schema)
        .filter_map(|other| Some((fitness(&known(other), effect, domain)?, other)))
        .collect();
    found.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.canonical().cmp(b.canonical())));
    found.into_iter().map(|(_, tool)| tool).take(LOOKED_AT).filter(|other| fits(other)).take(MOST).collect()
}

/// What a tool gives back, where that says what it is about.
fn domain(known: &KnownBehavior) -> Option<OutputDomain> {
    known.behavior().map(|behavior| behavior.output_domain()).filter(|domain| *domain != OutputDomain::Ack)
}

fn fitness(known: &KnownBehavior, effect: &Effect, about: Option<OutputDomain>) -> Option<u8> {
    if known.mutability() != Some(Mutability::Mutates) {
        return None;
    }
    let action = known.behavior().map(|behavior| behavior.action());
    // What creates tables creates no rows: one that is about the same counts for more than one that is called the same.
    let same = if about.is_some() && domain(known) == about { 2 } else { 0 };
    let fits = match action {
        Some(action) if action == effect.action => 3,
        Some(Action::Update | Action::Overwrite | Action::Execute) => 2,
        Some(Action::Create | Action::Append)
            if matches!(effect.action, Action::Delete | Action::Update | Action::Overwrite) =>
        {
            return None;
        }
        _ => 1,
    };
    Some(fits + same)
}
