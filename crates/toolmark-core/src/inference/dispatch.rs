//! Tools that do several things: a documented argument selects which, and each of its values has a behavior of its own.

use std::collections::BTreeMap;

use super::clues::Clues;
use super::lexicon::{self, Sense, Usage};
use super::parameters::Parameters;
use super::phrase::Phrase;
use super::{Inference, Inferred};
use crate::behavior::{Action, Annotations, Behavior, ByArgument, Mutability};
use crate::json::Json;

/// Parameters that select what a tool does.
const SELECTORS: &[&str] = &[
    "method",
    "action",
    "operation",
    "op",
    "command",
    "subcommand",
    "sub_command",
    "subCommand",
    "verb",
    "mode",
    "actionType",
    "action_type",
];

/// Adds what each value of a selecting argument does, and makes the worst of them the tool's own behavior.
pub(crate) fn by_argument(inferred: Inference, clues: &Clues, schema: &Json<'_>) -> Inference {
    let Some((pointer, Values { values, closed })) = selector(schema) else { return inferred };
    if !dispatches(clues, &values) {
        return inferred;
    }
    let mut known = BTreeMap::new();
    let mut understood = 0;
    for value in &values {
        let phrase = Phrase::of_name(value);
        let sure = phrase.verb.is_some_and(|verb| verb.usage == Usage::Verb || phrase.words.len() == 1);
        understood += usize::from(sure && phrase.verb.is_some_and(|verb| verb.sense != Sense::Light));
        if let Some(behavior) = of_value(phrase, clues) {
            known.insert(value.clone(), behavior);
        }
    }
    // An enumeration of modes or formats selects no action.
    if understood < 2 || understood * 2 < values.len() {
        return inferred;
    }
    let complete = closed && known.len() == values.len();
    let http = values.iter().filter(|value| HTTP.contains(&value.as_str())).count() * 2 > values.len();
    let Some(by_argument) = ByArgument::new(pointer, known) else { return inferred };
    let vague = clues.name.verb.is_some_and(|verb| verb.sense == Sense::Manage);
    settle(inferred, by_argument, Trust { complete, vague, http })
}

/// The documented values of an argument, and whether the schema admits no others.
struct Values {
    values: Vec<String>,
    closed: bool,
}

/// How far the values speak for the whole tool.
#[derive(Clone, Copy)]
struct Trust {
    /// Each value that the schema admits is understood.
    complete: bool,
    /// The name says nothing by itself.
    vague: bool,
    /// The values are methods of HTTP.
    http: bool,
}

const HTTP: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// A tool whose name says what it does is not selected by an argument: `create_request` with a `method` makes a request.
fn dispatches(clues: &Clues, values: &[String]) -> bool {
    let Some(verb) = clues.name.verb.filter(|verb| verb.usage == Usage::Verb) else { return true };
    let open = matches!(verb.sense, Sense::Manage | Sense::Light | Sense::Run | Sense::Read | Sense::Compute)
        || verb.word == "write";
    open || values.iter().any(|value| Phrase::of_name(value).verb.is_some_and(|own| own.word == verb.word))
}

fn settle(mut inferred: Inference, by_argument: ByArgument, trust: Trust) -> Inference {
    let floor = by_argument.floor();
    let writes = floor.mutability() == Mutability::Mutates;
    let harmless = trust.complete && (trust.vague || inferred.mutability.value() != Some(Mutability::Mutates));
    // Invariant: the values may show that a tool is worse than its name; that it is better only where the name says nothing.
    if writes || harmless {
        // A free request may do anything that the other side offers.
        let action = if trust.http && writes { Action::Execute } else { floor.action() };
        let because = format!("the worst of what `{}` selects", by_argument.pointer());
        inferred.mutability = Inferred::new(floor.mutability(), 85, because.as_str());
        inferred.action = Inferred::new(action, 80, because);
    }
    // Invariant: a value that nobody understands is not covered by what the others do.
    let floor = if writes || trust.complete { floor } else { floor.guarded() };
    let whole = inferred.behavior().filter(|whole| whole.mutability() >= floor.mutability()).unwrap_or(floor);
    inferred.by_argument = Some(by_argument.with_floor(whole));
    inferred
}

/// What the tool does with one value: the value is read like a name, with the tool's own nouns behind it.
fn of_value(mut phrase: Phrase, clues: &Clues) -> Option<Behavior> {
    if phrase.words.len() == 1 && phrase.words.at(0) == "post" {
        phrase.verb = lexicon::verb("create");
    }
    let copies = phrase.verb.is_some_and(|verb| verb.sense == Sense::CopyOut);
    if copies && !clues.parameters.store {
        phrase.verb = lexicon::verb("get");
    }
    if phrase.objects.is_empty() && phrase.before.is_empty() {
        phrase.objects = clues.name.before.iter().chain(&clues.name.objects).copied().collect();
        phrase.tail = clues.name.tail.clone();
    }
    let nothing = Phrase::of_name("");
    let one = Clues {
        name: phrase,
        lead: nothing,
        text: String::new(),
        // One value is one thing to do, however generic the tool is.
        parameters: Parameters { generic: false, actions: false, ..clues.parameters.clone() },
        hints: Annotations::default(),
    };
    super::of_clues(&one).behavior()
}

/// The first parameter that selects, with its documented values.
fn selector(schema: &Json<'_>) -> Option<(String, Values)> {
    let properties = schema.get("properties")?.entries()?;
    SELECTORS.iter().find_map(|name| {
        let (_, property) = properties.iter().find(|(own, _)| own == name)?;
        let values = values(property)?;
        (values.values.len() > 1).then(|| (format!("/{name}"), values))
    })
}

/// The values of an `enum`, of alternatives that are constants, or those that the description quotes.
fn values(property: &Json<'_>) -> Option<Values> {
    let texts =
        |items: &[Json<'_>]| -> Vec<String> { items.iter().filter_map(Json::as_str).map(ToOwned::to_owned).collect() };
    if let Some(items) = property.get("enum").and_then(Json::items) {
        return Some(Values { values: texts(items), closed: true });
    }
    if let Some(alternatives) = property.get("anyOf").or_else(|| property.get("oneOf")).and_then(Json::items) {
        let constant = |one: &Json<'_>| one.get("const").and_then(Json::as_str).map(ToOwned::to_owned);
        let constants = alternatives.iter().filter_map(constant);
        let enums = alternatives.iter().filter_map(|one| one.get("enum").and_then(Json::items)).flat_map(texts);
        let closed = alternatives.iter().all(|one| one.get("const").is_some() || one.get("enum").is_some());
        return Some(Values { values: constants.chain(enums).collect(), closed });
    }
    let described = property.get("description").and_then(Json::as_str)?;
    let quoted = quoted(described);
    // A description also quotes other things: it lists values only when each of them is something to do.
    quoted.iter().all(|value| is_action(value)).then_some(Values { values: quoted, closed: false })
}

fn is_action(value: &str) -> bool {
    let phrase = Phrase::of_name(value);
    phrase.verb.is_some_and(|verb| verb.usage == Usage::Verb && phrase.words.at(0) == verb.word)
}

/// Single words in quotes, each once.
fn quoted(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for quote in ['"', '\'', '`'] {
        for value in text.split(quote).skip(1).step_by(2).take(32) {
            let plain = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if plain && value.len() <= 40 && !found.iter().any(|own| own == value) {
                found.push(value.to_owned());
            }
        }
    }
    found
}
