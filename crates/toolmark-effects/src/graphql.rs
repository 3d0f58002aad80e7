//! GraphQL: what a document does, operation by operation. Queries read; what a mutation does is in the names of its fields.
//!
//! Without the schema, a name is all there is: `deleteUser(id: 1)` deletes one thing, `wipe` deletes without a limit. A
//! mutation whose name says nothing is an update.

mod fields;
mod verbs;

use apollo_parser::Parser;
use apollo_parser::cst::{Definition, Field, OperationDefinition, Selection, SelectionSet};
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect, Reading};
use toolmark_core::text::visible;

use self::fields::{Fragments, Walk};
use crate::sql::effect::{join, name};

/// Longer documents are not read.
const LONGEST: usize = 256 * 1024;

/// Documents of more tokens are not read.
const TOKENS: usize = 20_000;

/// How deep selections may nest.
const RECURSION: usize = 100;

/// How many fields of a mutation are told apart.
const FIELDS: usize = 100;

/// What `document` does when the operation of this name is run; all of its operations when none is named.
#[must_use]
pub fn read(document: &str, operation: Option<&str>) -> Reading {
    match understand(document, operation.filter(|name| !name.is_empty())) {
        Ok(effects) => Reading::Understood(effects),
        Err(reason) => Reading::CannotTell { reason },
    }
}

fn understand(document: &str, wanted: Option<&str>) -> Result<Vec<Effect>, String> {
    if document.len() > LONGEST {
        return Err("it is longer than 256 KiB".into());
    }
    let tree = Parser::new(document).recursion_limit(RECURSION).token_limit(TOKENS).parse();
    if let Some(error) = tree.errors().next() {
        return Err(format!("it cannot be parsed: {}", visible(error.message(), 160)));
    }
    let mut operations = Vec::new();
    let mut fragments = Fragments::default();
    for definition in tree.document().definitions() {
        match definition {
            Definition::OperationDefinition(operation) => operations.push(operation),
            Definition::FragmentDefinition(fragment) if fragments.add(&fragment) => {}
            Definition::FragmentDefinition(_) => return Err("a fragment is defined twice, or not at all".into()),
            _ => return Err("it defines a schema and runs nothing that is known here".into()),
        }
    }
    if let Some(wanted) = wanted {
        operations.retain(|operation| operation.name().is_some_and(|name| name.text() == wanted));
    }
    if operations.is_empty() {
        return Err("it contains no operation that could be run".into());
    }
    let mut effects = Vec::new();
    for operation in &operations {
        effects.extend(read_operation(operation, &fragments)?);
    }
    Ok(effects)
}

fn read_operation(operation: &OperationDefinition, fragments: &Fragments) -> Result<Vec<Effect>, String> {
    let selections = operation.selection_set().ok_or("an operation selects nothing")?;
    let mut roots = Vec::new();
    root_fields(&selections, fragments, 0, &mut roots)?;
    if roots.is_empty() {
        return Err("an operation selects nothing".into());
    }
    let kind = operation.operation_type();
    if kind.is_none_or(|kind| kind.mutation_token().is_none()) {
        return Ok(vec![query(&roots, fragments)]);
    }
    let all: Vec<Effect> = roots.iter().map(|field| mutation(field, fragments)).collect();
    if all.len() <= FIELDS {
        return Ok(all);
    }
    let mut whole = Effect::mutating(Action::Update, "many changes at once").unbounded().with(Danger::Exhaustion);
    all.into_iter().for_each(|one| join(&mut whole, one));
    Ok(vec![whole])
}

fn query(roots: &[Field], fragments: &Fragments) -> Effect {
    let names: Vec<String> = roots.iter().filter_map(field_name).collect();
    let searches = names.iter().any(|name| verbs::searches(name));
    let action = if searches { Action::Search } else { Action::Read };
    let mut effect = Effect::pure(action, format!("reads {}", visible(&names.join(", "), 120)));
    name(&mut effect, names);
    let mut walk = Walk::new(fragments);
    roots.iter().for_each(|field| walk.field(field, "", 0));
    walk.dangers(roots.len() > FIELDS).into_iter().fold(effect, Effect::with)
}

fn mutation(field: &Field, fragments: &Fragments) -> Effect {
    let called = field_name(field).unwrap_or_default();
    let verb = verbs::read(&called);
    let mut effect = Effect::mutating(verb.action, format!("{called} {}", verb.does)).on([called.clone()]);
    if verb.action == Action::Execute {
        effect = effect.with(Danger::Code);
    }
    if verb.action == Action::Execute || verb.everything || !fields::is_limited(field, verb.action) {
        effect = effect.unbounded();
    }
    if verbs::concerns_rights(&called) {
        effect = effect.with(Danger::Privilege);
    }
    let mut walk = Walk::new(fragments);
    walk.field(field, "", 0);
    walk.dangers(false).into_iter().fold(effect, Effect::with)
}

/// The fields at the top, also those that stand in fragments.
fn root_fields(set: &SelectionSet, fragments: &Fragments, depth: usize, out: &mut Vec<Field>) -> Result<(), String> {
    if depth > fields::DEPTH || out.len() > TOKENS {
        return Err("its fragments never end".into());
    }
    for selection in set.selections() {
        match selection {
            Selection::Field(field) => out.push(field),
            Selection::InlineFragment(inline) => {
                let inner = inline.selection_set().ok_or("a fragment selects nothing")?;
                root_fields(&inner, fragments, depth + 1, out)?;
            }
            Selection::FragmentSpread(spread) => {
                let inner = fragments.find(&spread).ok_or("a fragment is not defined")?;
                root_fields(&inner, fragments, depth + 1, out)?;
            }
        }
    }
    Ok(())
}

fn field_name(field: &Field) -> Option<String> {
    field.name().map(|name| visible(&name.text(), 120))
}

#[cfg(test)]
mod tests;
