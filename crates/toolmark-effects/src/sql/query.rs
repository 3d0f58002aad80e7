//! Queries and changes of data: at a glance where that is enough, with the parsed tree where it is not.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::effect::{absorb, join, name};
use super::glance::Glance;
use super::lex::Kind;
use super::place::Place;
use super::script::Reader;
use super::tokens::Tokens;
use super::tree;

const EXCESS: &str = "one statement names more tables or calls more functions than are looked at";

/// Reads a statement that begins like a query. It may still write: in a `WITH`, with `INTO`, through a function.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    // Invariant: a glance takes the first word for granted, so it must be one that reads.
    if !begins(tokens) {
        return Err("a query was expected".into());
    }
    let glance = Glance::at(reader, tokens);
    if glance.excess {
        return Err(EXCESS.into());
    }
    let summary =
        if glance.relations.is_empty() { "reads".into() } else { format!("reads {}", listed(&glance.relations)) };
    let mut effect = Effect::pure(Action::Read, summary);
    name(&mut effect, glance.relations.iter().cloned());
    if let Some(file) = into_file(tokens) {
        join(&mut effect, file);
        return Ok(finish(effect, glance));
    }
    if !glance.is_plain() {
        match tree::read(reader, tokens) {
            Ok(found) => join(&mut effect, found),
            // Invariant: no word that writes stands in it, so it does not write, whatever it is.
            Err(_) if !glance.writes => {
                if glance.secrets && tree::words_promise_secrets(tokens) {
                    effect = effect.with(Danger::Secret);
                }
                if tokens.find(&["RECURSIVE"]).is_some() && !has_limit(tokens) {
                    effect = effect.with(Danger::Exhaustion);
                }
            }
            Err(reason) => return Err(reason),
        }
    }
    if glance.locks {
        join(&mut effect, Effect::mutating(Action::Update, "locks what it reads"));
    }
    Ok(finish(effect, glance))
}

/// Reads an `INSERT`, `UPDATE`, `DELETE`, `MERGE` or `REPLACE`.
pub(super) fn change(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let glance = Glance::at(reader, tokens);
    if glance.excess {
        return Err(EXCESS.into());
    }
    let mut effect = match tree::read(reader, tokens) {
        Ok(effect) => effect,
        Err(reason) => by_words(tokens).ok_or(reason)?,
    };
    name(&mut effect, glance.relations.iter().cloned());
    if tokens.is(0, "INSERT") && tokens.is_one_of(2, &["FUNCTION", "TABLE"]) && tokens.find(&["FUNCTION"]).is_some() {
        let out = Effect::mutating(Action::Send, "writes to an address").with(Danger::Outward);
        join(&mut effect, out);
    }
    Ok(finish(effect, glance))
}

fn finish(mut effect: Effect, glance: Glance) -> Effect {
    if let Some(danger) = glance.vault_danger() {
        effect = effect.with(danger);
    }
    if let Some(parts) = glance.parts {
        absorb(&mut effect, parts);
    }
    effect
}

/// A change that the parser does not know is known by its verb, but not by its limits.
fn by_words(tokens: Tokens<'_>) -> Option<Effect> {
    let verb = tokens.word(0).to_ascii_lowercase();
    let effect = match verb.as_str() {
        "insert" if tokens.find(&["OVERWRITE"]).is_some() => {
            Effect::mutating(Action::Overwrite, "overwrites").unbounded()
        }
        "insert" | "replace" | "upsert" => {
            let rest = tokens.after(1);
            // Two statements without a semicolon between them are two statements in T-SQL.
            if rest
                .find(&["DROP", "DELETE", "TRUNCATE", "EXEC", "EXECUTE", "ALTER", "GRANT", "SHUTDOWN", "CREATE"])
                .is_some()
            {
                return None;
            }
            let replaces = verb != "insert" || rest.find(&["UPDATE", "REPLACE"]).is_some();
            Effect::mutating(if replaces { Action::Overwrite } else { Action::Create }, "inserts")
        }
        // T-SQL limits a change before it says what to change.
        "update" if tokens.is(1, "TOP") => Effect::mutating(Action::Update, "updates some rows"),
        "delete" if tokens.is(1, "TOP") => Effect::mutating(Action::Delete, "deletes some rows"),
        "update" => Effect::mutating(Action::Update, "updates, without a limit that could be read").unbounded(),
        "delete" => Effect::mutating(Action::Delete, "deletes, without a limit that could be read").unbounded(),
        "merge" => Effect::mutating(Action::Update, "merges, without a limit that could be read").unbounded(),
        _ => return None,
    };
    Some(effect)
}

/// `INTO OUTFILE 'name'` and `INTO DUMPFILE 'name'`, wherever they stand.
fn into_file(tokens: Tokens<'_>) -> Option<Effect> {
    let at =
        (0..tokens.len()).find(|&at| tokens.is(at, "INTO") && tokens.is_one_of(at + 1, &["OUTFILE", "DUMPFILE"]))?;
    let file = tokens.literal(at + 2).unwrap_or_default();
    let effect = Effect::mutating(Action::Create, "writes the result into a file").with(Danger::Escape);
    let remote = Place::of(&file) == Place::Remote;
    Some(if remote { effect.with(Danger::Outward) } else { effect }.on([file.into_owned()]))
}

fn has_limit(tokens: Tokens<'_>) -> bool {
    (0..tokens.len()).any(|at| tokens.is_one_of(at, &["WHERE", "LIMIT", "FETCH", "TOP", "JOIN"]))
}

/// A few names in one phrase.
pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > shown.len() { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// True when a query begins here.
pub(super) fn begins(tokens: Tokens<'_>) -> bool {
    let mut at = 0;
    while tokens.kind(at) == Some(Kind::Open) && tokens.symbol(at, "(") {
        at += 1;
    }
    tokens.is_one_of(at, &["SELECT", "WITH", "VALUES", "FROM", "TABLE", "PIVOT", "UNPIVOT", "SUMMARIZE"])
}
