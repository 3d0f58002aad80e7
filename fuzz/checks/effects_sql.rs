//! SQL from strangers: reading never panics and always ends, and no dialect makes a text safer than nobody knowing it.

use toolmark_core::facts::{Effect, Reading};
use toolmark_effects::sql::{Dialect, read};

fn is_harmless(reading: &Reading) -> bool {
    matches!(reading, Reading::Understood(effects) if effects.iter().all(Effect::is_harmless))
}

/// Holds for every input.
pub(crate) fn check(text: &str) {
    let generic = read(text, Dialect::Generic);
    for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql, Dialect::Duckdb, Dialect::Clickhouse] {
        let reading = read(text, dialect);
        if let Reading::Understood(effects) = &reading {
            assert!(!effects.is_empty());
        }
        // What runs a string that one dialect cannot read is left out: it may well be no SQL there.
        let changes = |effect: &Effect| !effect.bounded && effect.dangers.is_empty();
        let changes = matches!(&reading, Reading::Understood(effects) if effects.iter().any(changes));
        assert!(!(changes && is_harmless(&generic)), "{dialect:?} knows of a change that Generic does not see");
    }
}
