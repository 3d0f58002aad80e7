//! Statements that are known by their first words alone: what they do does not depend on the rest.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::glance::Glance;
use super::glance::words::writes_later;
use super::script::Reader;
use super::tokens::Tokens;

/// What such a statement does.
struct Verb {
    /// The first words.
    words: &'static [&'static str],
    does: &'static str,
    /// Nothing when it only reads.
    action: Option<Action>,
    bounded: bool,
    danger: Option<Danger>,
}

const fn reads(words: &'static [&'static str], does: &'static str) -> Verb {
    Verb { words, does, action: None, bounded: true, danger: None }
}

const fn changes(words: &'static [&'static str], action: Action, does: &'static str) -> Verb {
    Verb { words, does, action: Some(action), bounded: true, danger: None }
}

impl Verb {
    const fn without_limit(mut self) -> Self {
        self.bounded = false;
        self
    }

    const fn with(mut self, danger: Danger) -> Self {
        self.danger = Some(danger);
        self
    }
}

/// Longer beginnings come before shorter ones.
const VERBS: &[Verb] = &[
    reads(&["SHOW", "CREATE", "USER"], "shows how a user logs in").with(Danger::Secret),
    reads(&["SHOW"], "shows"),
    reads(&["LIST"], "lists"),
    reads(&["LS"], "lists"),
    reads(&["HELP"], "shows help"),
    reads(&["EXISTS"], "asks whether something exists"),
    reads(&["HANDLER"], "reads a table"),
    reads(&["CHECK", "TABLE"], "checks a table"),
    reads(&["CHECKSUM"], "checks a table"),
    reads(&["FETCH"], "reads from a cursor"),
    reads(&["MOVE"], "moves a cursor"),
    reads(&["CLOSE"], "closes a cursor"),
    reads(&["OPEN"], "opens a cursor"),
    reads(&["PRINT"], "prints"),
    reads(&["WAITFOR"], "waits").with(Danger::Exhaustion),
    changes(&["GRANT"], Action::Update, "grants rights").with(Danger::Privilege),
    changes(&["REVOKE"], Action::Update, "takes rights away").with(Danger::Privilege),
    changes(&["DENY"], Action::Update, "takes rights away").with(Danger::Privilege),
    changes(&["REASSIGN"], Action::Update, "gives everything to another owner").without_limit().with(Danger::Privilege),
    changes(&["SECURITY", "LABEL"], Action::Update, "changes rights").with(Danger::Privilege),
    changes(&["TRUNCATE"], Action::Delete, "empties").without_limit(),
    changes(&["REINDEX"], Action::Update, "rebuilds indexes"),
    changes(&["CLUSTER"], Action::Update, "rewrites tables"),
    changes(&["REFRESH"], Action::Update, "refreshes"),
    changes(&["OPTIMIZE"], Action::Update, "rewrites tables"),
    changes(&["REPAIR"], Action::Update, "repairs tables"),
    changes(&["MSCK"], Action::Update, "repairs tables"),
    changes(&["CACHE"], Action::Update, "caches"),
    changes(&["UNCACHE"], Action::Update, "forgets a cache"),
    changes(&["RENAME", "USER"], Action::Update, "renames a user").with(Danger::Privilege),
    changes(&["RENAME"], Action::Update, "renames"),
    changes(&["EXCHANGE"], Action::Update, "exchanges tables"),
    changes(&["COMMENT"], Action::Update, "comments"),
    changes(&["UNDROP"], Action::Create, "restores"),
    changes(&["CHECKPOINT"], Action::Update, "writes a checkpoint"),
    changes(&["FORCE", "CHECKPOINT"], Action::Update, "writes a checkpoint"),
    changes(&["FLUSH", "TABLES"], Action::Update, "closes and may lock tables").without_limit(),
    changes(&["FLUSH"], Action::Update, "reloads or resets the server's state").with(Danger::Privilege),
    changes(&["KILL"], Action::Delete, "ends a session"),
    changes(&["SHUTDOWN"], Action::Delete, "stops the server").without_limit().with(Danger::Privilege),
    changes(&["RESTART"], Action::Update, "restarts the server").without_limit().with(Danger::Privilege),
    changes(&["SYSTEM"], Action::Update, "changes how the server works").without_limit().with(Danger::Privilege),
    changes(&["PURGE"], Action::Delete, "purges").without_limit(),
    changes(&["RESET", "MASTER"], Action::Delete, "deletes the logs").without_limit(),
    changes(&["RESET", "BINARY"], Action::Delete, "deletes the logs").without_limit(),
    changes(&["RESET", "REPLICA"], Action::Delete, "forgets replication").without_limit(),
    changes(&["RESET", "SLAVE"], Action::Delete, "forgets replication").without_limit(),
    changes(&["RESET", "ROLE"], Action::Update, "changes the role").with(Danger::Privilege),
    changes(&["RESET", "SESSION"], Action::Update, "changes the role").with(Danger::Privilege),
    changes(&["RESET", "PERSIST"], Action::Update, "changes how the server works").with(Danger::Privilege),
    changes(&["RESET"], Action::Update, "resets settings of the session"),
    changes(&["USE", "ROLE"], Action::Update, "changes the role").with(Danger::Privilege),
    changes(&["USE", "SECONDARY"], Action::Update, "changes the role").with(Danger::Privilege),
    changes(&["USE"], Action::Update, "switches the database of the session"),
    changes(&["DISCARD"], Action::Update, "resets the session"),
    changes(&["DEALLOCATE"], Action::Update, "forgets a prepared statement"),
    changes(&["LISTEN"], Action::Update, "listens"),
    changes(&["UNLISTEN"], Action::Update, "stops listening"),
    changes(&["NOTIFY"], Action::Send, "notifies other sessions"),
    changes(&["LOCK"], Action::Update, "locks tables").without_limit(),
    changes(&["UNLOCK"], Action::Update, "unlocks tables"),
    changes(&["CHANGE"], Action::Update, "changes replication").without_limit().with(Danger::Privilege),
    changes(&["START"], Action::Update, "starts replication").with(Danger::Privilege),
    changes(&["STOP"], Action::Update, "stops replication").with(Danger::Privilege),
    changes(&["CLONE"], Action::Create, "copies the server's data").with(Danger::Escape),
    changes(&["XA"], Action::Update, "changes a distributed transaction"),
    changes(&["DBCC"], Action::Update, "administers the server").without_limit().with(Danger::Privilege),
    changes(&["RECONFIGURE"], Action::Update, "changes how the server works").without_limit().with(Danger::Privilege),
    changes(&["INSTALL"], Action::Execute, "installs code").without_limit().with(Danger::Code),
    changes(&["FORCE", "INSTALL"], Action::Execute, "installs code").without_limit().with(Danger::Code),
    changes(&["UNINSTALL"], Action::Delete, "removes code").with(Danger::Code),
    changes(&["UPDATE", "EXTENSIONS"], Action::Execute, "installs code").without_limit().with(Danger::Code),
    changes(&["ADD", "JAR"], Action::Execute, "loads code").without_limit().with(Danger::Code),
    changes(&["ADD", "FILE"], Action::Execute, "loads files").without_limit().with(Danger::Code),
    changes(&["BINLOG"], Action::Execute, "applies logged events").without_limit().with(Danger::Code),
];

/// Words between the verb and the name of what it acts on.
const NOISE: &[&str] = &[
    "TABLE",
    "TABLES",
    "ONLY",
    "IF",
    "EXISTS",
    "NOT",
    "CONCURRENTLY",
    "MATERIALIZED",
    "VIEW",
    "INDEX",
    "DATABASE",
    "SCHEMA",
    "SYSTEM",
    "LOCAL",
    "CREATE",
    "COLUMNS",
    "FROM",
    "ON",
    "COLUMN",
    "VERBOSE",
    "FULL",
];

/// Reads a statement by its first words.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Option<Effect> {
    let verb = VERBS.iter().find(|verb| tokens.starts(verb.words))?;
    // T-SQL needs no semicolon before the next statement.
    if tokens.is_one_of(0, &["USE", "PRINT", "WAITFOR", "FETCH", "CLOSE", "OPEN", "MOVE", "KILL"])
        && writes_later(tokens)
    {
        return None;
    }
    let rest = tokens.after(verb.words.len());
    let target = match (verb.danger, rest.find(&["ON"])) {
        (Some(Danger::Privilege), Some(at)) => object(rest.after(at + 1)),
        (Some(_), _) => None,
        (None, _) => object(rest),
    };
    let summary = target.as_ref().map_or_else(|| verb.does.to_owned(), |target| format!("{}: `{target}`", verb.does));
    let mut effect = match verb.action {
        None => Effect::pure(Action::Read, summary),
        Some(action) => Effect::mutating(action, summary),
    };
    if verb.action.is_none() && Glance::at(reader, tokens).vault_danger().is_some() {
        effect = effect.with(Danger::Secret);
    }
    let all = tokens.is(0, "KILL") && tokens.find(&["WHERE"]).is_some_and(|at| tokens.after(at + 1).is_tautology());
    if !verb.bounded || all {
        effect = effect.unbounded();
    }
    if let Some(danger) = verb.danger {
        effect = effect.with(danger);
    }
    Some(effect.on(target))
}

/// The name of what a statement acts on, past words that only introduce it.
pub(super) fn object(tokens: Tokens<'_>) -> Option<String> {
    let at = (0..tokens.len().min(8)).find(|&at| !tokens.is_one_of(at, NOISE))?;
    tokens.name(at).map(|(name, _)| name)
}
