//! Cypher: what a query does to a graph, from its clauses when the grammar of openCypher reads it, from its words when not.
//!
//! Neo4j knows more than openCypher does. A query that the grammar rejects is scanned: without a word that writes, in any
//! position, and without a procedure, it writes nothing; with one, it is taken to write.

mod clauses;
mod limits;
mod procedures;
mod scan;

use open_cypher::{TokenKind, lex};
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Effect, Reading};

use self::scan::Words;

/// Longer queries are not read.
const LONGEST: usize = 256 * 1024;

/// Queries of more words, and texts of more statements, are not read.
const WORDS: usize = 100_000;
const STATEMENTS: usize = 1_000;

/// Deeper parentheses are not read.
const DEPTH: usize = 100;

/// Queries of more words are scanned, not parsed.
const PARSED: usize = 5_000;

/// Longer runs without a comma are scanned, not parsed: their tree is as deep as they are long.
const RUN: usize = 1_000;

/// How many strings are read as Cypher.
const NESTED: usize = 2;

/// What `query` does.
///
/// ```
/// use toolmark_core::facts::Reading;
/// use toolmark_effects::cypher::read;
///
/// let Reading::Understood(effects) = read("MATCH (n:Delete)-[:SET]->(m) RETURN n.create, m") else { panic!() };
/// assert!(effects[0].is_harmless());
/// ```
#[must_use]
pub fn read(query: &str) -> Reading {
    match statements(query, NESTED) {
        Ok(effects) => Reading::Understood(effects),
        Err(reason) => Reading::CannotTell { reason },
    }
}

/// Reads every statement of a text.
fn statements(text: &str, nested: usize) -> Result<Vec<Effect>, String> {
    if text.len() > LONGEST {
        return Err("it is longer than 256 KiB".into());
    }
    let lexed = lex(text);
    if !lexed.diagnostics.is_empty() || lexed.tokens.iter().any(|token| token.kind == TokenKind::Invalid) {
        return Err("it cannot be cut into words".into());
    }
    let words = Words::of(text, &lexed.tokens);
    if words.len() > WORDS || words.statements().count() > STATEMENTS {
        return Err("it has more than 100,000 words, or more than 1,000 statements".into());
    }
    if words.deepest() > DEPTH {
        return Err("it nests deeper than 100 parentheses".into());
    }
    let effects: Vec<Effect> = words.statements().map(|one| statement(&one, nested)).collect::<Result<_, _>>()?;
    if effects.is_empty() { Err("it contains no statement".into()) } else { Ok(effects) }
}

fn statement(words: &Words<'_>, nested: usize) -> Result<Effect, String> {
    // Planning a query does not run it; profiling does.
    if words.is(0, "EXPLAIN") {
        return Ok(Effect::pure(Action::Read, "explains a query without running it"));
    }
    let parsed = (words.len() <= PARSED && words.longest_run() <= RUN)
        .then(|| open_cypher::parse(words.source()).ok())
        .flatten();
    let effect = match &parsed {
        Some(parsed) => clauses::read(&parsed.program, nested),
        None => scan::read(words, nested)?,
    };
    Ok(limits::dangers(words).into_iter().fold(effect, Effect::with))
}

#[cfg(test)]
mod tests;
