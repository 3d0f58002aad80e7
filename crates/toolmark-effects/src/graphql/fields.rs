//! What stands below the root fields: names that promise secrets, pages without end, and fragments that multiply.

use std::collections::HashMap;

use apollo_parser::cst::{
    Argument, CstNode as _, Field, FragmentDefinition, FragmentSpread, Selection, SelectionSet, Value,
};
use toolmark_core::behavior::Action;
use toolmark_core::facts::Danger;

use crate::sql::secrets;

/// Selections deeper than this can use up a server.
pub(super) const DEPTH: usize = 40;

/// How many selections are followed, fragments included.
const SELECTIONS: usize = 10_000;

/// Pages larger than this are as good as endless.
const PAGE: f64 = 1_000_000.0;

/// The fragments of a document, by name.
#[derive(Default)]
pub(super) struct Fragments(HashMap<String, SelectionSet>);

impl Fragments {
    /// Adds a fragment. False when it has no name or no content, or is there already.
    pub(super) fn add(&mut self, fragment: &FragmentDefinition) -> bool {
        let name = fragment.fragment_name().and_then(|name| name.name());
        name.zip(fragment.selection_set())
            .is_some_and(|(name, set)| self.0.insert(name.text().to_string(), set).is_none())
    }

    pub(super) fn find(&self, spread: &FragmentSpread) -> Option<SelectionSet> {
        let name = spread.fragment_name()?.name()?;
        self.0.get(name.text().as_str()).cloned()
    }
}

/// A walk over everything that is selected.
pub(super) struct Walk<'a> {
    fragments: &'a Fragments,
    left: usize,
    secret: bool,
    bomb: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(fragments: &'a Fragments) -> Self {
        Self { fragments, left: SELECTIONS, secret: false, bomb: false }
    }

    /// What was found.
    pub(super) fn dangers(&self, bomb: bool) -> Vec<Danger> {
        let secret = self.secret.then_some(Danger::Secret);
        secret.into_iter().chain((self.bomb || bomb).then_some(Danger::Exhaustion)).collect()
    }

    /// Looks at a field and below it.
    pub(super) fn field(&mut self, field: &Field, parent: &str, depth: usize) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || depth > DEPTH {
            self.bomb = true;
            return;
        }
        let Some(name) = field.name() else { return };
        let name = name.text();
        let arguments = field.arguments().into_iter().flat_map(|all| all.arguments());
        self.bomb |= arguments.into_iter().any(|argument| is_large_page(&argument));
        match field.selection_set() {
            Some(set) => self.set(&set, name.as_str(), depth + 1),
            None => self.secret |= secrets::is_secret_column_of(name.as_str(), parent),
        }
    }

    fn set(&mut self, set: &SelectionSet, parent: &str, depth: usize) {
        for selection in set.selections() {
            if self.left == 0 || depth > DEPTH {
                self.bomb = true;
                return;
            }
            match selection {
                Selection::Field(field) => self.field(&field, parent, depth),
                Selection::InlineFragment(inline) => {
                    if let Some(inner) = inline.selection_set() {
                        self.left = self.left.saturating_sub(1);
                        self.set(&inner, parent, depth + 1);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    if let Some(inner) = self.fragments.find(&spread) {
                        self.left = self.left.saturating_sub(1);
                        self.set(&inner, parent, depth + 1);
                    }
                }
            }
        }
    }
}

/// True when a mutation says what it concerns: by a key, or by a condition that is not empty.
pub(super) fn is_limited(field: &Field, action: Action) -> bool {
    if matches!(action, Action::Create | Action::Append | Action::Send) {
        return true;
    }
    let arguments: Vec<Argument> = field.arguments().into_iter().flat_map(|all| all.arguments()).collect();
    let conditions: Vec<&Argument> = arguments
        .iter()
        .filter(|argument| matches!(name_of(argument).as_str(), "where" | "filter" | "condition"))
        .collect();
    if !conditions.is_empty() {
        return !conditions.into_iter().any(is_empty);
    }
    !arguments.is_empty()
}

fn name_of(argument: &Argument) -> String {
    argument.name().map(|name| name.text().to_ascii_lowercase()).unwrap_or_default()
}

/// `{}`, `null` and `{_and: []}` limit nothing.
fn is_empty(argument: &Argument) -> bool {
    match argument.value() {
        None | Some(Value::NullValue(_)) => true,
        Some(Value::ObjectValue(object)) => object.object_fields().all(|field| match field.value() {
            None | Some(Value::NullValue(_)) => true,
            Some(Value::ObjectValue(inner)) => inner.object_fields().next().is_none(),
            Some(Value::ListValue(list)) => list.values().next().is_none(),
            Some(_) => false,
        }),
        Some(_) => false,
    }
}

fn is_large_page(argument: &Argument) -> bool {
    let page =
        matches!(name_of(argument).as_str(), "first" | "last" | "limit" | "take" | "pagesize" | "perpage" | "count");
    let large = |value: Value| match value {
        Value::IntValue(number) => {
            number.syntax().text().to_string().trim().parse::<f64>().is_ok_and(|number| number >= PAGE)
        }
        _ => false,
    };
    page && argument.value().is_some_and(large)
}
