//! Routines, prepared statements and blocks: what runs is somewhere else, unless it stands there as a string.

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::glance::Glance;
use super::glance::words::writes_later;
use super::judge::run;
use super::lex::{Kind, lex};
use super::query;
use super::script::Reader;
use super::tokens::Tokens;

/// Procedures of SQL Server that only report.
const REPORTS: &[&str] = &[
    "sp_columns",
    "sp_databases",
    "sp_describe_first_result_set",
    "sp_fkeys",
    "sp_help",
    "sp_helpconstraint",
    "sp_helpdb",
    "sp_helpindex",
    "sp_helptext",
    "sp_pkeys",
    "sp_spaceused",
    "sp_statistics",
    "sp_stored_procedures",
    "sp_tables",
    "sp_who",
    "sp_who2",
];

/// Reads a statement that runs another one.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    match tokens.word(0).to_ascii_lowercase().as_str() {
        "do" => Ok(block(reader, tokens)),
        "declare" => declare(reader, tokens),
        "prepare" => Ok(Effect::mutating(Action::Update, "prepares a statement for later")),
        _ => Ok(routine(reader, tokens)),
    }
}

fn routine(reader: &Reader, tokens: Tokens<'_>) -> Effect {
    // `EXEC ('…')`, `EXECUTE IMMEDIATE '…'`, `EXEC sp_executesql N'…'`.
    let sql = tokens.after(1 + usize::from(tokens.is_one_of(1, &["IMMEDIATE", "sp_executesql"])));
    let sql = if sql.symbol(0, "(") { sql.inside(0) } else { sql };
    if sql.kind(0) == Some(Kind::Text) {
        let whole = sql.len() == 1 || sql.kind(1) == Some(Kind::Comma) || sql.is(1, "USING") || sql.is(1, "INTO");
        return run(reader, "a dynamic statement", sql.literal(0).as_deref().filter(|_| whole));
    }
    let name = tokens.name(1).map(|(name, _)| name);
    let last = name.as_deref().and_then(|name| name.rsplit('.').next()).unwrap_or_default().to_ascii_lowercase();
    if REPORTS.contains(&last.as_str()) && !writes_later(tokens) {
        return Effect::pure(Action::Read, format!("reports with {last}")).on(name);
    }
    let shown = name.as_deref().unwrap_or("something");
    Effect::mutating(Action::Execute, format!("runs `{shown}`, whose effect is not known"))
        .on(name.clone())
        .unbounded()
        .with(Danger::Code)
}

/// `DO $$ … $$` of PostgreSQL, or `DO expression` of MySQL.
fn block(reader: &Reader, tokens: Tokens<'_>) -> Effect {
    let body = (1..tokens.len().min(5)).find(|&at| tokens.kind(at) == Some(Kind::Text));
    let Some(body) = body.filter(|&at| at == 1 || tokens.is(1, "LANGUAGE")) else {
        let nothing = Effect::pure(Action::Read, "computes and forgets");
        return Glance::at(reader, tokens).parts.unwrap_or(nothing);
    };
    let action = tokens.literal(body).and_then(|body| worst(&body, tokens)).unwrap_or(Action::Execute);
    Effect::mutating(action, "runs a block of code").unbounded().with(Danger::Code)
}

/// The worst that a block plainly says it does.
fn worst(body: &str, tokens: Tokens<'_>) -> Option<Action> {
    let lexed = lex(body, tokens.lexis).ok()?;
    let inner = Tokens { text: body, all: &lexed.tokens, ..tokens };
    let says = |words: &[&str]| (0..inner.len()).any(|at| inner.is_one_of(at, words));
    [
        (&["EXECUTE", "COPY"][..], Action::Execute),
        (&["DELETE", "DROP", "TRUNCATE"], Action::Delete),
        (&["UPDATE", "ALTER", "GRANT", "REVOKE"], Action::Update),
        (&["INSERT", "CREATE"], Action::Create),
    ]
    .into_iter()
    .find_map(|(words, action)| says(words).then_some(action))
}

/// `DECLARE name CURSOR FOR query`, or variables of a script.
fn declare(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    if tokens.find(&["CURSOR"]).is_some()
        && let Some(at) = tokens.find(&["FOR"])
    {
        return query::read(reader, tokens.after(at + 1));
    }
    let glance = Glance::at(reader, tokens);
    if glance.writes {
        return Err("it declares variables and does more".into());
    }
    Ok(glance.parts.unwrap_or_else(|| Effect::pure(Action::Read, "declares variables")))
}
