//! What one call of a function in the table does, given its arguments: a relative file is data, `/etc/passwd` is not.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::effect::{join, name};
use super::functions::Does;
use super::lex::Kind;
use super::place::Place;
use super::script::Reader;
use super::tokens::Tokens;

/// Rows, bytes or repetitions past which a statement counts as a bomb.
pub(super) const MANY: f64 = 10_000_000.0;

/// The effect of calling `function`, which does `does`, with what stands between its parentheses.
pub(super) fn judge(reader: &Reader, function: &str, does: Does, inside: Tokens<'_>) -> Option<Effect> {
    let arguments = inside.arguments();
    let text = |at: usize| arguments.get(at).and_then(|argument| argument.only_literal());
    let first = text(0).map(|literal| visible(&literal, 120));
    let read = |summary: &str| Effect::pure(Action::Read, format!("{function} {summary}")).on(first.clone());
    let write =
        |action: Action, summary: &str| Effect::mutating(action, format!("{function} {summary}")).on(first.clone());
    let effect = match does {
        Does::Waits => read("waits").with(Danger::Exhaustion),
        Does::Grows(at) if arguments.get(at).is_some_and(|argument| number(*argument) > MANY) => {
            read("returns a very large value").with(Danger::Exhaustion)
        }
        Does::Spans if spans(&arguments) > MANY => read("returns very many rows").with(Danger::Exhaustion),
        Does::Grows(_) | Does::Spans => return None,
        Does::Endless => read("never ends").with(Danger::Exhaustion),
        Does::ReadsFile => read("reads a file of the server").with(Danger::Escape),
        Does::ListsFiles => read("looks at the server's files").with(Danger::Escape),
        Does::WritesFile => write(Action::Create, "writes a file of the server").with(Danger::Escape),
        Does::LoadsFile => write(Action::Create, "loads a file of the server").with(Danger::Escape),
        Does::Scans => scan(function, arguments.first().copied().unwrap_or(inside)),
        Does::Fetches => read("asks an address").with(Danger::Escape),
        Does::Connects => read("opens a connection elsewhere").with(Danger::Escape),
        Does::Runs(at) => return Some(run(reader, function, text(at).as_deref())),
        Does::RunsElsewhere => {
            let last = arguments.iter().rev().find_map(|argument| argument.only_literal());
            let mut effect = run(reader, function, last.as_deref()).with(Danger::Escape);
            name(&mut effect, first);
            effect
        }
        Does::Code => write(Action::Execute, "runs code").unbounded().with(Danger::Code),
        Does::Sends => write(Action::Send, "sends to an address").with(Danger::Outward),
        Does::Notifies => write(Action::Send, "notifies other sessions"),
        Does::Creates => write(Action::Create, "creates something"),
        Does::Updates => write(Action::Update, "changes state"),
        Does::Configures => write(Action::Update, "changes how the server works").with(Danger::Privilege),
        Does::Deletes => {
            let effect = write(Action::Delete, "ends something");
            // A literal names one victim; a column may name all of them.
            let literal = |argument: &Tokens<'_>| argument.len() == 1 && argument.kind(0) != Some(Kind::Word);
            if arguments.first().is_some_and(literal) { effect } else { effect.unbounded() }
        }
        Does::Reveals => read("returns a secret").with(Danger::Secret),
    };
    Some(effect)
}

/// How many rows a function that counts from one number to another returns.
pub(super) fn rows(inside: Tokens<'_>) -> f64 {
    spans(&inside.arguments())
}

/// A series that, together with others in the same statement, returns very many rows.
pub(super) fn many_rows(function: &str) -> Effect {
    Effect::pure(Action::Read, format!("{function} returns very many rows")).with(Danger::Exhaustion)
}

/// A function of somebody's own that is named after a change.
pub(super) fn named_after_a_change(function: &str) -> Effect {
    Effect::mutating(Action::Execute, format!("calls {function}, which by its name changes something"))
        .on([visible(function, 120)])
        .unbounded()
        .with(Danger::Code)
}

/// Every place in the first argument, which is a file or a list of files.
fn scan(function: &str, files: Tokens<'_>) -> Effect {
    let mut effect = Effect::pure(Action::Read, format!("{function} reads files"));
    for at in 0..files.len() {
        let danger = match files.literal(at) {
            Some(place) => {
                name(&mut effect, [visible(&place, 120)]);
                Place::of(&place).read_danger()
            }
            // A file name that is computed may be any.
            None if matches!(files.kind(at), Some(Kind::Open | Kind::Close | Kind::Comma)) => None,
            None => Some(Danger::Escape),
        };
        effect = danger.into_iter().fold(effect, Effect::with);
    }
    effect
}

/// SQL that is handed over as a string.
pub(super) fn run(reader: &Reader, function: &str, sql: Option<&str>) -> Effect {
    let unseen = || {
        Effect::mutating(Action::Execute, format!("{function} runs SQL that cannot be seen"))
            .unbounded()
            .with(Danger::Code)
    };
    let Some(effects) = sql.and_then(|sql| reader.nested(sql)) else { return unseen() };
    let mut whole = Effect::pure(Action::Read, format!("{function} runs SQL"));
    for effect in effects {
        join(&mut whole, effect);
    }
    whole
}

/// How much lies between two literals.
fn spans(arguments: &[Tokens<'_>]) -> f64 {
    let [from, to, rest @ ..] = arguments else { return arguments.first().map_or(0.0, |only| number(*only)) };
    let step = rest.first().map_or(1.0, |step| number(*step).abs());
    let distance = (number(*to) - number(*from)).abs();
    if step > 0.0 { distance / step } else { distance }
}

/// The number that this is; products and powers of literals count too. Zero when it cannot be told.
fn number(argument: Tokens<'_>) -> f64 {
    let negative = argument.symbol(0, "-");
    let mut value = 1.0;
    let mut seen = false;
    for at in usize::from(negative)..argument.len() {
        match argument.kind(at) {
            Some(Kind::Number) => {
                value *= argument.raw(at).replace('_', "").parse::<f64>().unwrap_or(0.0);
                seen = true;
            }
            Some(Kind::Symbol) if argument.symbol(at, "*") => {}
            // `1e9::int` and other casts keep the value.
            Some(Kind::Symbol) if argument.symbol(at, ":") => break,
            _ => return 0.0,
        }
    }
    match (seen, negative) {
        (false, _) => 0.0,
        (true, true) => -value,
        (true, false) => value,
    }
}
