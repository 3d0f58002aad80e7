//! SQL: what a text of statements does to a database, in six dialects or in whichever it may be.
//!
//! A text is cut into tokens as its dialect spells them and split into statements. Statements that administer are read by
//! their first words. Queries are read at a glance; those that show something worth a closer look, and all changes of
//! data, are parsed by `sqlparser` and walked whole, because a `SELECT` on top says nothing about what is below.
//!
//! Choices that a reader may wonder about:
//! - a locking read (`FOR UPDATE`) is a bounded `UPDATE`: others wait for its locks, and a read-only transaction refuses it;
//! - `SET`, `RESET`, `USE`, advisory locks and `LISTEN` are bounded `UPDATE`s of the session; a user variable (`@v`) is not;
//! - `BEGIN`, `COMMIT` and `ROLLBACK` are harmless reads, but a `COMMIT` among other statements that did not begin the
//!   transaction is an [`Escape`](toolmark_core::facts::Danger::Escape): it ends the one that a tool put around the text;
//! - `EXPLAIN` does nothing unless it also analyzes; in SQLite it never does;
//! - whatever drops, truncates or covers a whole table is unbounded, and so is whatever runs code.

mod copy;
mod create;
pub(crate) mod effect;
mod execute;
mod explain;
mod functions;
mod glance;
mod judge;
mod lex;
mod lexis;
pub(crate) mod place;
mod pragma;
mod query;
mod script;
pub(crate) mod secrets;
mod session;
mod split;
mod statement;
mod tokens;
mod tree;
mod verbs;

use toolmark_core::facts::{Effect, Reading};

use self::effect::badness;
use self::lex::lex;
use self::script::{Reader, Script};

/// Longer texts are not read.
const LONGEST: usize = 256 * 1024;

/// Longer texts are not tried in several spellings.
const LONGEST_DOUBTFUL: usize = 64 * 1024;

/// Which database a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL and what speaks its dialect.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// DuckDB.
    Duckdb,
    /// ClickHouse.
    Clickhouse,
    /// Nobody knows: the worst of what any database would make of it.
    Generic,
}

/// What `text` does, statement by statement.
///
/// ```
/// use toolmark_core::behavior::{Action, Mutability};
/// use toolmark_core::facts::Reading;
/// use toolmark_effects::sql::{Dialect, read};
///
/// let text = "WITH gone AS (DELETE FROM orders WHERE id = 7 RETURNING *) SELECT count(*) FROM gone";
/// let Reading::Understood(effects) = read(text, Dialect::Postgres) else { panic!() };
/// assert_eq!((effects[0].mutability, effects[0].action), (Mutability::Mutates, Action::Delete));
/// ```
#[must_use]
pub fn read(text: &str, dialect: Dialect) -> Reading {
    if text.len() > LONGEST {
        return Reading::CannotTell { reason: "it is longer than 256 KiB".into() };
    }
    let script = best(&Reader::new(dialect), text.strip_prefix('\u{feff}').unwrap_or(text));
    match script.unread {
        None => Reading::Understood(script.effects),
        Some(reason) => Reading::CannotTell { reason },
    }
}

/// The worst that comes out of every spelling in which the text may be meant.
fn best(reader: &Reader, text: &str) -> Script {
    let lexis = reader.dialect.lexis();
    let first = lex(text, lexis);
    let (mut worst, others) = match &first {
        Ok(lexed) => (reader.script(text, lexed, lexis), reader.dialect.others(Some(lexed.doubts))),
        Err(reason) => (Script { effects: Vec::new(), unread: Some((*reason).into()) }, reader.dialect.others(None)),
    };
    if others.is_empty() {
        return worst;
    }
    if text.len() > LONGEST_DOUBTFUL {
        return Script {
            effects: Vec::new(),
            unread: Some("databases disagree on what it says, and it is long".into()),
        };
    }
    let mut seen: Vec<_> = first.into_iter().map(|lexed| (reader.dialect, lexed.tokens)).collect();
    for &(lexis, dialect) in others {
        let Ok(lexed) = lex(text, lexis) else { continue };
        // The same words mean the same to the same dialect, and no less to `Generic` than to any other.
        if seen
            .iter()
            .any(|(known, tokens)| (*known == dialect || *known == Dialect::Generic) && *tokens == lexed.tokens)
        {
            continue;
        }
        let other = reader.in_dialect(dialect);
        worst = worse(worst, other.script(text, &lexed, lexis));
        reader.charge(&other);
        seen.push((dialect, lexed.tokens));
    }
    worst
}

/// The worse of two. A spelling that is not understood counts only if something in it is not harmless: what is no SQL in a
/// dialect does nothing there.
fn worse(one: Script, other: Script) -> Script {
    let harmless = |script: &Script| script.effects.iter().all(Effect::is_harmless);
    match (&one.unread, &other.unread) {
        (None, None) => {
            let worst = |script: &Script| script.effects.iter().map(badness).max();
            if worst(&other) > worst(&one) { other } else { one }
        }
        (Some(_), None) if harmless(&one) => other,
        (None, Some(_)) if harmless(&other) => one,
        (Some(_), None) => one,
        (None, Some(_)) => other,
        (Some(_), Some(_)) => one,
    }
}

#[cfg(test)]
mod tests;
