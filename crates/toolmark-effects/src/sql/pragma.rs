//! `PRAGMA`, which `sqlparser` does not read: asking for a setting is a read, giving it a value is not.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::tokens::Tokens;

/// Pragmas whose argument says what to look at. Sorted.
const LOOKS: &[&str] = &[
    "collation_list",
    "collations",
    "compile_options",
    "data_version",
    "database_list",
    "database_size",
    "foreign_key_check",
    "foreign_key_list",
    "freelist_count",
    "function_list",
    "functions",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "metadata_info",
    "module_list",
    "page_count",
    "platform",
    "pragma_list",
    "quick_check",
    "show",
    "show_databases",
    "show_tables",
    "show_tables_expanded",
    "stats",
    "storage_info",
    "table_info",
    "table_list",
    "table_xinfo",
    "user_agent",
    "version",
];

/// Pragmas that act without being given a value. Sorted.
const ACTS: &[&str] = &[
    "add_parquet_key",
    "checkpoint_fullfsync_now",
    "create_fts_index",
    "disable_checkpoint_on_shutdown",
    "disable_logging",
    "disable_object_cache",
    "disable_optimizer",
    "disable_print_progress_bar",
    "disable_profile",
    "disable_profiling",
    "disable_progress_bar",
    "disable_verification",
    "drop_fts_index",
    "enable_checkpoint_on_shutdown",
    "enable_logging",
    "enable_object_cache",
    "enable_optimizer",
    "enable_print_progress_bar",
    "enable_profile",
    "enable_profiling",
    "enable_progress_bar",
    "enable_verification",
    "force_checkpoint",
    "incremental_vacuum",
    "optimize",
    "shrink_memory",
    "verify_external",
    "verify_parallelism",
    "wal_checkpoint",
];

/// Pragmas that take guards down, or hold keys.
const GUARDS: &[&str] = &[
    "cell_size_check",
    "defensive",
    "hexkey",
    "hexrekey",
    "ignore_check_constraints",
    "key",
    "query_only",
    "rekey",
    "trusted_schema",
    "writable_schema",
];

/// Reads a `PRAGMA`.
pub(super) fn read(tokens: Tokens<'_>) -> Result<Effect, String> {
    let Some((name, end)) = tokens.name(1) else { return Err("the pragma has no name".into()) };
    let lower = name.to_ascii_lowercase();
    let pragma = lower.rsplit('.').next().unwrap_or(&lower);
    let given = end < tokens.len();
    let acts = given || ACTS.binary_search(&pragma).is_ok();
    if !acts || LOOKS.binary_search(&pragma).is_ok() {
        return Ok(Effect::pure(Action::Read, format!("reads the pragma `{name}`")).on([name]));
    }
    let guards = GUARDS.contains(&pragma);
    let effect = Effect::mutating(Action::Update, format!("sets or runs the pragma `{name}`")).on([name]);
    Ok(if guards { effect.with(Danger::Privilege) } else { effect })
}

/// What it means to call a pragma like a table, as in `SELECT * FROM pragma_table_info('t')`.
pub(super) fn called(pragma: &str) -> Option<Effect> {
    let acts = ACTS.binary_search(&pragma).is_ok();
    acts.then(|| Effect::mutating(Action::Update, format!("runs the pragma `{pragma}`")).on([pragma.to_owned()]))
}
