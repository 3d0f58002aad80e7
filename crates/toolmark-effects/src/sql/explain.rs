//! `EXPLAIN`, `DESCRIBE` and `ANALYZE`: whether the statement inside is run.

use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::facts::Effect;

use super::Dialect;
use super::glance::Glance;
use super::query;
use super::script::Reader;
use super::tokens::Tokens;
use super::verbs::object;

/// Words that may stand between `EXPLAIN` and the statement.
const OPTIONS: &[&str] = &[
    "VERBOSE",
    "EXTENDED",
    "PARTITIONS",
    "QUERY",
    "PLAN",
    "AST",
    "SYNTAX",
    "TREE",
    "PIPELINE",
    "ESTIMATE",
    "LOGICAL",
    "PHYSICAL",
    "FORMATTED",
    "COST",
    "CODEGEN",
    "DISTSQL",
    "IO",
    "VALIDATE",
    "TYPE",
    "FOR",
    "OPT",
    "CURRENT",
];

/// Reads `EXPLAIN …` and `DESCRIBE …`.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let (analyzes, at) = options(tokens);
    let rest = tokens.after(at);
    // SQLite would explain its own `ANALYZE`.
    if analyzes && reader.dialect != Dialect::Sqlite && rest.len() > 0 {
        let mut effect = reader.inner(rest)?;
        effect.summary.insert_str(0, "runs it to explain it: ");
        return Ok(effect);
    }
    if tokens.is(0, "EXPLAIN") {
        return Ok(Effect::pure(Action::Read, "explains a statement without running it"));
    }
    // DuckDB and ClickHouse open the files that are described; functions that would change something do not run.
    let parts = Glance::at(reader, tokens).parts.filter(|parts| parts.mutability == Mutability::Pure);
    let target = if query::begins(rest) { None } else { object(rest) };
    let mut effect = Effect::pure(Action::Read, "describes").on(target);
    effect.dangers = parts.map(|parts| parts.dangers).unwrap_or_default();
    Ok(effect)
}

/// Whether the statement is run, and where it begins.
fn options(tokens: Tokens<'_>) -> (bool, usize) {
    let mut analyzes = false;
    let mut at = 1;
    loop {
        if tokens.is_one_of(at, &["ANALYZE", "ANALYSE"]) {
            analyzes = true;
            at += 1;
        } else if tokens.is(at, "FORMAT") {
            at += if tokens.symbol(at + 1, "=") { 3 } else { 2 };
        } else if tokens.is_one_of(at, OPTIONS) {
            at += 1;
        } else if tokens.symbol(at, "(") && !query::begins(tokens.after(at)) {
            analyzes |= tokens.inside(at).arguments().into_iter().any(switches_on);
            at = tokens.closing(at) + 1;
        } else {
            return (analyzes, at);
        }
    }
}

/// `ANALYZE`, `ANALYZE true`, `ANALYZE on`, `ANALYZE 1`; not `ANALYZE false`.
fn switches_on(option: Tokens<'_>) -> bool {
    let value = option.unquoted(option.len().saturating_sub(1)).to_ascii_lowercase();
    option.is_one_of(0, &["ANALYZE", "ANALYSE"])
        && !(option.len() > 1 && matches!(value.as_str(), "false" | "off" | "0" | "no" | "f" | "n" | "of" | "fa"))
}

/// Reads `ANALYZE`: statistics of tables, or in MariaDB a statement that is run.
pub(super) fn analyze(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let at = if tokens.is(1, "FORMAT") { if tokens.symbol(2, "=") { 4 } else { 3 } } else { 1 };
    let rest = tokens.after(at);
    if rest.is_one_of(0, &["SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH"]) {
        return reader.inner(rest);
    }
    Ok(Effect::mutating(Action::Update, "gathers statistics").on(object(rest)))
}
