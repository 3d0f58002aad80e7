//! The session: settings, variables and transactions.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::effect::absorb;
use super::glance::Glance;
use super::glance::words::writes_later;
use super::lex::Kind;
use super::script::Reader;
use super::tokens::Tokens;

/// Settings that guard the database: changing one of them gains rights.
const GUARDS: &[&str] = &[
    "allow_ddl",
    "allow_introspection_functions",
    "enable_external_access",
    "local_infile",
    "lo_compat_privileges",
    "lock_configuration",
    "log_bin",
    "log_statement",
    "role",
    "row_security",
    "secure_file_priv",
    "session_authorization",
    "session_preload_libraries",
    "session_replication_role",
    "sql_log_bin",
    "sql_log_off",
];

/// Settings that make a session read-only; only switching them off gains rights.
const READ_ONLY: &[&str] = &[
    "default_transaction_read_only",
    "query_only",
    "readonly",
    "read_only",
    "super_read_only",
    "transaction_read_only",
    "tx_read_only",
];

/// Reads a `SET`.
pub(super) fn set(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let rest = tokens.after(1);
    let assignments = rest.arguments();
    let glance = Glance::at(reader, tokens);
    if glance.writes {
        return Err("it sets something and may do more".into());
    }
    let mut effect = if !assignments.is_empty() && assignments.iter().all(|one| is_user_variable(*one)) {
        Effect::pure(Action::Read, "keeps values in variables of the session")
    } else {
        let target = setting(rest);
        let what = target.as_deref().unwrap_or("the session");
        Effect::mutating(Action::Update, format!("sets {what}")).on(target.clone())
    };
    if assignments.iter().any(|one| gains_rights(*one)) {
        effect = effect.with(Danger::Privilege);
    }
    if let Some(parts) = glance.parts {
        absorb(&mut effect, parts);
    }
    Ok(effect)
}

/// `@name = …` of MySQL and T-SQL, not `@@name`.
fn is_user_variable(assignment: Tokens<'_>) -> bool {
    let raw = assignment.raw(0);
    assignment.kind(0) == Some(Kind::Variable) && raw.starts_with('@') && !raw.starts_with("@@")
}

fn setting(tokens: Tokens<'_>) -> Option<String> {
    let skip = usize::from(tokens.is_one_of(0, &["SESSION", "LOCAL", "GLOBAL", "PERSIST", "PERSIST_ONLY", "VARIABLE"]));
    match tokens.kind(skip)? {
        Kind::Variable => Some(visible(tokens.raw(skip), 120)),
        _ => tokens.name(skip).map(|(name, _)| name),
    }
}

fn gains_rights(tokens: Tokens<'_>) -> bool {
    if tokens.is_one_of(0, &["GLOBAL", "PERSIST", "PERSIST_ONLY", "ROLE", "PASSWORD", "AUTHORIZATION", "RESOURCE"])
        || tokens.starts(&["SESSION", "AUTHORIZATION"])
        || tokens.starts(&["LOCAL", "ROLE"])
        || tokens.starts(&["SESSION", "ROLE"])
        || tokens.starts(&["DEFAULT", "ROLE"])
    {
        return true;
    }
    if tokens.find(&["TRANSACTION"]).is_some_and(|at| tokens.after(at).find(&["WRITE"]).is_some()) {
        return true;
    }
    let raw = tokens.raw(0).to_ascii_lowercase();
    if raw.starts_with("@@global") || raw.starts_with("@@persist") {
        return true;
    }
    let dotted = tokens.raw(2).to_ascii_lowercase();
    let name = setting(tokens).unwrap_or_default().trim_start_matches('@').to_ascii_lowercase();
    let names = [name.rsplit('.').next().unwrap_or(&name), dotted.as_str()];
    if names.iter().any(|name| GUARDS.contains(name)) {
        return true;
    }
    let value =
        tokens.all.len().checked_sub(1).map(|last| tokens.unquoted(last).to_ascii_lowercase()).unwrap_or_default();
    names.iter().any(|name| READ_ONLY.contains(name)) && !matches!(value.as_str(), "on" | "true" | "1" | "2" | "yes")
}

/// Reads what begins or ends a transaction.
pub(super) fn transaction(tokens: Tokens<'_>) -> Option<Effect> {
    // `BEGIN TRANSACTION DELETE …` is two statements to T-SQL.
    if writes_later(tokens) {
        return None;
    }
    let prepared = tokens.find(&["PREPARED"]).is_some();
    let summary = match tokens.word(0).to_ascii_lowercase().as_str() {
        "begin" => "begins a transaction",
        "start" if tokens.is(1, "TRANSACTION") => "begins a transaction",
        "commit" | "end" if prepared => {
            return Some(Effect::mutating(Action::Update, "commits a prepared transaction"));
        }
        "rollback" if prepared => return Some(Effect::mutating(Action::Delete, "rolls a prepared transaction back")),
        "commit" | "end" if !tokens.is_one_of(1, &["TRY", "CATCH", "IF", "LOOP", "WHILE", "CASE"]) => {
            "ends a transaction"
        }
        "rollback" | "abort" => "takes a transaction back",
        "savepoint" | "release" | "save" => "marks a point in a transaction",
        _ => return None,
    };
    Some(Effect::pure(Action::Read, summary))
}

/// True when `BEGIN` opens a block of statements and not a transaction.
pub(super) fn opens_block(tokens: Tokens<'_>) -> bool {
    const MODES: &[&str] = &[
        "TRANSACTION",
        "TRAN",
        "WORK",
        "DEFERRED",
        "IMMEDIATE",
        "EXCLUSIVE",
        "CONCURRENT",
        "READ",
        "ISOLATION",
        "NOT",
        "DEFERRABLE",
    ];
    tokens.len() > 1 && !tokens.is_one_of(1, MODES)
}
