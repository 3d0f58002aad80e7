//! Functions that do more than compute, of every dialect in one table: a call looks like a plain expression and writes, waits or reaches out.
//!
//! Dialects share one table because a name that is dangerous in one of them has no innocent meaning of note in another.

mod table;

use self::Where::{Anywhere, Relation};
use self::table::TABLE;

/// What a function does besides computing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// Takes as long as it is told to.
    Waits,
    /// Returns as much as this argument says.
    Grows(usize),
    /// Returns everything between two arguments.
    Spans,
    /// Never stops returning.
    Endless,
    /// Reads a file of the server's.
    ReadsFile,
    /// Lists directories of the server's.
    ListsFiles,
    /// Writes a file of the server's.
    WritesFile,
    /// Takes a file of the server's into the database.
    LoadsFile,
    /// Reads a data file or address, which is fine where data files are kept.
    Scans,
    /// Asks an address for something.
    Fetches,
    /// Opens a connection to another database.
    Connects,
    /// Runs the SQL in this argument.
    Runs(usize),
    /// Runs the SQL in its last textual argument, in another database.
    RunsElsewhere,
    /// Runs what cannot be seen.
    Code,
    /// Delivers to an address.
    Sends,
    /// Wakes other sessions.
    Notifies,
    Creates,
    Updates,
    Deletes,
    /// Changes how the server works.
    Configures,
    /// Returns a secret.
    Reveals,
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    /// In any expression, or in place of a table.
    Anywhere,
    /// Only in place of a table.
    Relation,
}

/// What the function of this name does, if it does more than compute. `name` is in lower case, qualified or not.
pub(super) fn find(name: &str, position: Where) -> Option<Does> {
    let last = name.rsplit('.').next().unwrap_or(name);
    [name, last].into_iter().find_map(|name| {
        let (_, at, does) =
            TABLE.binary_search_by(|(known, ..)| (*known).cmp(name)).ok().and_then(|at| TABLE.get(at))?;
        (*at == Anywhere || position == Relation).then_some(*does)
    })
}

/// True when a function of somebody's own is named after something that changes things, such as `delete_user`.
pub(super) fn is_named_after_a_change(name: &str) -> bool {
    const VERBS: &[&str] = &[
        "archive",
        "cancel",
        "clear",
        "create",
        "deactivate",
        "delete",
        "disable",
        "drop",
        "enable",
        "exec",
        "execute",
        "grant",
        "insert",
        "kill",
        "perform",
        "purge",
        "rebuild",
        "refresh",
        "remove",
        "reset",
        "restore",
        "revoke",
        "send",
        "terminate",
        "truncate",
        "update",
        "upsert",
        "wipe",
    ];
    let last = name.rsplit('.').next().unwrap_or(name);
    let known =
        matches!(last, "create_sort_key" | "remove_diacritics" | "remove_nulls" | "create_date" | "create_time");
    !known && last.split_once('_').is_some_and(|(verb, rest)| !rest.is_empty() && VERBS.contains(&verb))
}

/// The names in the order of the table.
#[cfg(test)]
pub(super) fn names() -> Vec<&'static str> {
    TABLE.iter().map(|(name, ..)| *name).collect()
}
