//! One statement: its first word says who reads it.

use toolmark_core::facts::Effect;
use toolmark_core::text::visible;

use super::lex::Kind;
use super::script::Reader;
use super::tokens::Tokens;
use super::{copy, create, execute, explain, pragma, query, session, verbs};

/// Reads one statement. The error says why that could not be done.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    if tokens.kind(0) == Some(Kind::Open) {
        return if query::begins(tokens) { query::read(reader, tokens) } else { Err(unknown(tokens)) };
    }
    // A block that is opened in the middle of a script: what counts is what it holds.
    if tokens.is(0, "BEGIN") && session::opens_block(tokens) {
        return reader.inner(tokens.after(1));
    }
    let verb = tokens.word(0).to_ascii_lowercase();
    match verb.as_str() {
        "select" | "with" | "values" | "table" | "from" | "pivot" | "unpivot" | "summarize" => {
            query::read(reader, tokens)
        }
        "insert" | "update" | "delete" | "merge" | "upsert" if !tokens.is(1, "EXTENSIONS") => {
            query::change(reader, tokens)
        }
        "replace" => query::change(reader, tokens),
        "explain" | "describe" | "desc" => explain::read(reader, tokens),
        "analyze" | "analyse" => explain::analyze(reader, tokens),
        "pragma" => pragma::read(tokens),
        "set" => session::set(reader, tokens),
        "create" | "alter" | "drop" => create::read(reader, tokens),
        "call" | "exec" | "execute" | "do" | "prepare" | "declare" => execute::read(reader, tokens),
        "copy" | "unload" | "export" | "import" | "attach" | "detach" | "vacuum" | "load" | "backup" | "restore"
        | "put" | "get" | "bulk" => copy::read(reader, tokens),
        _ => session::transaction(tokens).or_else(|| verbs::read(reader, tokens)).ok_or_else(|| unknown(tokens)),
    }
}

fn unknown(tokens: Tokens<'_>) -> String {
    format!("`{}` begins no statement that is known here", visible(tokens.raw(0), 40))
}
