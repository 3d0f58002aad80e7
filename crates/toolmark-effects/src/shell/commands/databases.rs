//! Clients of databases: the statement they are given is handed on to the reader of its language.

use toolmark_core::behavior::Action;

use super::Reader;
use crate::language::{Dialect, Language};
use crate::shell::arg::Arg;
use crate::shell::call::Call;
use crate::shell::options::{Flag, Spec, options};
use crate::shell::walk::{Input, Walk};

pub(super) fn find(name: &str) -> Option<Reader> {
    Some(match name {
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "duckdb" | "clickhouse-client" | "clickhouse"
        | "cockroach" | "sqlcmd" | "bq" => sql,
        "redis-cli" | "valkey-cli" | "keydb-cli" => redis,
        "cypher-shell" => cypher,
        "pg_dump" | "pg_dumpall" | "mysqldump" | "mongodump" | "mongoexport" => dump,
        "pg_restore" | "mongorestore" | "mongoimport" | "mysqlimport" | "dropdb" | "createdb" | "createuser"
        | "dropuser" | "mysqladmin" => change,
        "mongosh" | "mongo" => script,
        _ => return None,
    })
}

/// How a client is called: options with values, the option with the statement, and how many operands stand before one.
fn shape(name: &str) -> (Spec, &'static str, &'static str, usize) {
    match name {
        "psql" => (
            Spec {
                short: "chpUdfvoPFRLT",
                long: &["command", "host", "port", "username", "dbname", "file", "set", "output", "variable"],
                stops: false,
            },
            "c",
            "command",
            usize::MAX,
        ),
        "mysql" | "mariadb" => (
            Spec { short: "ehuPDS", long: &["execute", "host", "user", "port", "database", "socket"], stops: false },
            "e",
            "execute",
            usize::MAX,
        ),
        "clickhouse-client" | "clickhouse" => (
            Spec {
                short: "qhudm",
                long: &["query", "host", "user", "database", "port", "password", "format"],
                stops: false,
            },
            "q",
            "query",
            usize::MAX,
        ),
        "cockroach" => (
            Spec { short: "e", long: &["execute", "host", "url", "database"], stops: false },
            "e",
            "execute",
            usize::MAX,
        ),
        "sqlcmd" => (Spec { short: "SUPdQqio", long: &[], stops: false }, "Qq", "query", usize::MAX),
        "duckdb" => (Spec { short: "c", long: &["cmd", "init"], stops: false }, "c", "cmd", 1),
        _ => (
            Spec { short: "", long: &["separator", "newline", "nullvalue", "cmd", "init"], stops: false },
            "",
            "cmd",
            1,
        ),
    }
}

fn dialect(name: &str) -> Dialect {
    match name {
        "psql" | "cockroach" => Dialect::Postgres,
        "mysql" | "mariadb" => Dialect::Mysql,
        "sqlite3" | "sqlite" => Dialect::Sqlite,
        "duckdb" => Dialect::Duckdb,
        "clickhouse-client" | "clickhouse" => Dialect::Clickhouse,
        _ => Dialect::Generic,
    }
}

/// Commands of the clients that only look.
const LOOKS: &[&str] = &[
    ".tables",
    ".schema",
    ".databases",
    ".indexes",
    ".indices",
    ".headers",
    ".mode",
    ".dbinfo",
    ".show",
    ".fullschema",
    "\\d",
    "\\dt",
    "\\l",
    "\\dn",
    "\\du",
    "\\di",
    "\\dv",
    "\\df",
    "\\x",
    "\\conninfo",
    "\\d+",
    "\\dt+",
    "\\l+",
    "\\timing",
];

fn sql(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let (spec, short, long, before) = shape(call.name);
    let args =
        if call.name == "sqlite3" || call.name == "sqlite" { single_dashes(call.args) } else { call.args.to_vec() };
    let found = options(&args, spec);
    let from_file = found.has("f", "file") && call.name == "psql"
        || found.has_any(&["init", "queries-file"])
        || found.has("i", "") && call.name == "sqlcmd";
    if from_file || found.uncertain {
        walk.found.unclear(format!("`{}` runs a file or a text that is computed", call.name));
    }
    if matches!(call.name, "cockroach" | "bq")
        && !found.operands.first().is_some_and(|arg| matches!(arg.text.as_str(), "sql" | "query"))
    {
        walk.found.unclear(format!("`{}` is called in a way that is not known", call.name));
        return Input::Output;
    }
    if found.has("oL", "output") && call.name == "psql" {
        walk.found.effect(call.mutating(Action::Overwrite));
    }
    let runs = found.has_any(&[
        "pager",
        "tee",
        "init-command",
        "defaults-file",
        "defaults-extra-file",
        "plugin-dir",
        "histfile",
    ]) || found.value("o", "output").is_some_and(|target| target.starts_with('|'));
    if runs {
        walk.found.unclear(format!("`{}` runs or writes something of its own", call.name));
    }
    let statement = |flag: &&Flag<'_>| flag.is(short, long);
    let mut texts: Vec<String> =
        found.flags.iter().filter(statement).filter_map(|flag| flag.value.map(str::to_owned)).collect();
    texts.extend(found.operands.iter().skip(before).map(|arg| arg.text.clone()));
    if call.name == "bq" {
        texts.extend(found.operands.get(1).map(|arg| arg.text.clone()));
    }
    if call.args.iter().any(|arg| !arg.exact && texts.contains(&arg.text)) {
        walk.found.unclear(format!("the statement of `{}` is computed", call.name));
        return Input::Output;
    }
    match call.input {
        Input::Text(text) if texts.is_empty() => texts.push(text.clone()),
        Input::Inherit => {}
        _ if texts.is_empty() => walk.found.unclear(format!("`{}` runs what it reads", call.name)),
        _ => {}
    }
    if texts.is_empty() {
        let lists = found.has("l", "list") && call.name == "psql";
        if lists {
            walk.found.effect(call.pure(Action::Read));
        } else if *call.input == Input::Inherit {
            walk.found.unclear(format!("`{}` waits for statements", call.name));
        }
    }
    for text in texts {
        let trimmed = text.trim();
        let first = trimmed.split_whitespace().next().unwrap_or_default();
        if first.starts_with(['.', '\\']) {
            if LOOKS.contains(&first) && !trimmed.contains(['|', '!', '\n', '`']) {
                walk.found.effect(call.pure(Action::Read));
            } else {
                walk.found.unclear(format!("`{first}` is a command of `{}` that is not known", call.name));
            }
        } else if (trimmed.contains('\\') && !call.name.starts_with("sqlite"))
            || trimmed.contains("\n.")
            || has_client_command(call.name, trimmed)
        {
            walk.found.unclear(format!("a command of `{}` stands among statements", call.name));
        } else {
            walk.found.embedded(Language::Sql(dialect(call.name)), text);
        }
    }
    Input::Output
}

/// Words with which the client of MySQL does something itself.
fn has_client_command(client: &str, text: &str) -> bool {
    let words = ["system", "source", "tee", "pager", "edit", "delimiter", "connect", "nopager", "notee"];
    let mut statements = text.split([';', '\n']);
    matches!(client, "mysql" | "mariadb")
        && statements.any(|statement| {
            statement.split_whitespace().next().is_some_and(|word| words.contains(&word.to_ascii_lowercase().as_str()))
        })
}

/// SQLite writes its long options with one dash.
fn single_dashes(args: &[Arg]) -> Vec<Arg> {
    let mut args = args.to_vec();
    for arg in &mut args {
        if arg.exact && arg.text.len() > 2 && arg.text.starts_with('-') && !arg.text.starts_with("--") {
            arg.text.insert(0, '-');
        }
    }
    args
}

fn redis(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(
        call.args,
        Spec { short: "hpsaunriD", long: &["user", "pass", "sni", "cacert", "eval", "rdb", "pattern"], stops: true },
    );
    if found.has_any(&["eval", "rdb", "functions-rdb", "pipe", "cluster"]) || found.has("x", "") {
        walk.found.unclear(format!("`{}` runs a script or writes a file", call.name));
    }
    if found.operands.iter().any(|arg| arg.floating) {
        walk.found.unclear(format!("a command of `{}` is computed", call.name));
    }
    let words: Vec<String> = found.operands.iter().map(|arg| quoted(&arg.text)).collect();
    match (words.is_empty(), call.input) {
        (false, _) => walk.found.embedded(Language::Redis, words.join(" ")),
        (true, Input::Text(text)) => walk.found.embedded(Language::Redis, text.clone()),
        (true, _) if found.has_any(&["scan"]) => walk.found.effect(call.pure(Action::Search)),
        (true, _) if found.has_any(&["bigkeys", "stat", "latency", "memkeys", "hotkeys"]) => {
            walk.found.effect(call.pure(Action::Read));
        }
        (true, _) => walk.found.unclear(format!("`{}` waits for commands", call.name)),
    }
    Input::Output
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '\t', '"', '\'']) {
        format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        word.to_owned()
    }
}

fn cypher(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(
        call.args,
        Spec { short: "aupdfP", long: &["address", "username", "password", "database", "file", "param"], stops: false },
    );
    match (found.operands.first(), call.input) {
        (Some(query), _) if query.exact && !found.has("f", "file") => {
            walk.found.embedded(Language::Cypher, query.text.clone());
        }
        (None, Input::Text(text)) if !found.has("f", "file") => walk.found.embedded(Language::Cypher, text.clone()),
        _ => walk.found.unclear("`cypher-shell` runs what is not seen here"),
    }
    Input::Output
}

fn dump(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let found = options(
        call.args,
        Spec { short: "fhpUdrouc", long: &["file", "host", "port", "result-file", "out", "tab"], stops: false },
    );
    let writes = found.has("fro", "file") || found.has_any(&["result-file", "out", "tab"]) || call.name == "mongodump";
    walk.found.effect(if writes { call.mutating(Action::Overwrite) } else { call.pure(Action::Read) });
    Input::Output
}

fn change(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    let words: Vec<&str> = call.args.iter().map(|arg| arg.text.as_str()).collect();
    let looks = call.name == "mysqladmin"
        && words.iter().any(|word| {
            matches!(*word, "status" | "ping" | "version" | "processlist" | "variables" | "extended-status")
        });
    let effect = match call.name {
        _ if looks => call.pure(Action::Read),
        "dropdb" | "dropuser" => call.mutating(Action::Delete).unbounded(),
        "createdb" | "createuser" => call.mutating(Action::Create),
        _ => call.mutating(Action::Overwrite).unbounded(),
    };
    walk.found.effect(effect);
    Input::Output
}

fn script(call: &Call<'_>, walk: &mut Walk<'_>) -> Input {
    walk.found.unclear(format!("`{}` runs a program in JavaScript", call.name));
    Input::Output
}
