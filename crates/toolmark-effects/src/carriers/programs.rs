//! Arguments that hold statements for a database or a service: SQL, Cypher, GraphQL, MongoDB, Redis.

use super::clues::{Clues, Kind, Parameter};
use super::{Carrier, With};
use crate::language::{Dialect, Language};

/// Names of servers that speak SQL, with the dialect.
const ENGINES: &[(&str, Dialect)] = &[
    ("sqlite", Dialect::Sqlite),
    ("libsql", Dialect::Sqlite),
    ("turso", Dialect::Sqlite),
    ("postgresql", Dialect::Postgres),
    ("postgres", Dialect::Postgres),
    ("neon", Dialect::Postgres),
    ("supabase", Dialect::Postgres),
    ("cockroach", Dialect::Postgres),
    ("timescale", Dialect::Postgres),
    ("redshift", Dialect::Postgres),
    ("alloydb", Dialect::Postgres),
    ("mysql", Dialect::Mysql),
    ("mariadb", Dialect::Mysql),
    ("tidb", Dialect::Mysql),
    ("planetscale", Dialect::Mysql),
    ("singlestore", Dialect::Mysql),
    ("duckdb", Dialect::Duckdb),
    ("motherduck", Dialect::Duckdb),
    ("clickhouse", Dialect::Clickhouse),
    ("bigquery", Dialect::Generic),
    ("snowflake", Dialect::Generic),
    ("mssql", Dialect::Generic),
    ("sqlserver", Dialect::Generic),
    ("oracle", Dialect::Generic),
    ("trino", Dialect::Generic),
    ("presto", Dialect::Generic),
    ("athena", Dialect::Generic),
    ("databricks", Dialect::Generic),
    ("alchemy", Dialect::Generic),
    ("dbt", Dialect::Generic),
    ("databend", Dialect::Generic),
    ("dremio", Dialect::Generic),
    ("database", Dialect::Generic),
    ("sql", Dialect::Generic),
    ("dbhub", Dialect::Generic),
];

/// Words that say a query is written in another language, or in none.
const OTHER_LANGUAGES: &[&str] = &[
    "promql",
    "logql",
    "traceql",
    "natural language",
    "search query",
    "cql",
    "jql",
    "groq",
    "flux",
    "gremlin",
    "kql",
    "graphql",
    "cypher",
    "tree-sitter",
    "search term",
    "keyword",
    "free text",
    "free-text",
    "semantic",
    "substring",
    "query dsl",
    "jsonlogic",
    "lucene",
];

pub(super) fn find(clues: &Clues, out: &mut Vec<Carrier>) {
    mongo(clues, out);
    redis(clues, out);
    cypher(clues, out);
    graphql(clues, out);
    sql(clues, out);
    unread(clues, out);
}

fn sql(clues: &Clues, out: &mut Vec<Carrier>) {
    // A tool that turns statements into something else runs none of them.
    if clues.description.trim_start().starts_with("convert")
        || clues.named(&["format", "lint", "translate", "validate"])
    {
        return;
    }
    for parameter in clues
        .parameters
        .iter()
        .filter(|parameter| matches!(parameter.kind, Kind::Text | Kind::Texts) && parameter.choices.is_empty())
    {
        let Some(evidence) = sql_evidence(clues, parameter) else { continue };
        let dialect = dialect(clues, parameter);
        let pointer =
            if parameter.kind == Kind::Texts { format!("{}/*", parameter.pointer) } else { parameter.pointer.clone() };
        let explains = clues.named(&["explain", "advisor", "plan"]);
        let with = if explains { With::Before("EXPLAIN ") } else { With::Nothing };
        out.push(Carrier::new(pointer, Language::Sql(dialect), evidence).with(with));
    }
}

/// How descriptions speak of SQL without saying so.
const STATEMENTS: &[&str] = &[
    "select quer",
    "select statement",
    "insert quer",
    "insert statement",
    "insert, update",
    "insert/update",
    "update or delete",
    "update/delete",
];

fn sql_evidence(clues: &Clues, parameter: &Parameter) -> Option<String> {
    let named_sql = parameter.words.iter().any(|word| word == "sql");
    let holds = matches!(
        parameter.words.last().map(String::as_str),
        Some("sql" | "query" | "queries" | "statement" | "statements" | "text" | "script")
    );
    let says_sql = |text: &str| {
        has_word(text, "sql")
            || text.contains("select ") && text.contains(" from ")
            || STATEMENTS.iter().any(|statement| text.contains(statement))
    };
    if named_sql && holds {
        return Some(format!("it is called `{}`", parameter.name()));
    }
    if !matches!(parameter.key.as_str(), "query" | "queries" | "statement" | "statements" | "stmt" | "q")
        || parameter.says(OTHER_LANGUAGES)
    {
        return None;
    }
    if says_sql(&parameter.description) {
        return Some("its description speaks of SQL".into());
    }
    // What the tool says of itself counts when nothing says that it searches or speaks another language.
    if clues.named(&["search", "lookup", "find", "ask"])
        || clues.says(&["promql", "graphql", "cypher", "gremlin", "tree-sitter", "natural language", "flux query"])
    {
        return None;
    }
    if says_sql(&clues.description) {
        return Some("the tool speaks of SQL".into());
    }
    // `read_query` and `write_query` have no other meaning.
    if clues.named(&["read", "write", "select", "insert", "update", "delete"])
        && clues.named(&["query", "queries", "statement", "statements"])
    {
        return Some(format!("the tool is called `{}`", clues.raw));
    }
    let runs = clues.named(&[
        "query",
        "execute",
        "run",
        "read",
        "write",
        "select",
        "insert",
        "update",
        "delete",
        "exec",
        "statement",
    ]);
    if runs && ENGINES.iter().any(|(name, _)| clues.served_by(&[name])) {
        return Some("the server is a database that speaks SQL".into());
    }
    let speaks = |engine: &str| clues.description.contains(engine) || parameter.description.contains(engine);
    let of_its_own = ENGINES.iter().filter(|(_, dialect)| *dialect != Dialect::Generic);
    (runs && of_its_own.into_iter().any(|(engine, _)| speaks(engine)))
        .then(|| "the tool speaks of a database that speaks SQL".into())
}

fn dialect(clues: &Clues, parameter: &Parameter) -> Dialect {
    let named = ENGINES
        .iter()
        .find(|(name, dialect)| *dialect != Dialect::Generic && (clues.served_by(&[name]) || clues.named(&[name])));
    let said = || {
        ENGINES.iter().find(|(name, dialect)| {
            *dialect != Dialect::Generic && (parameter.description.contains(name) || clues.description.contains(name))
        })
    };
    named.or_else(said).map_or(Dialect::Generic, |(_, dialect)| *dialect)
}

/// True when a text has a word, and not only as part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|tail| tail.chars().next());
        let joins = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !joins(before) && !joins(after)
    })
}

fn mongo(clues: &Clues, out: &mut Vec<Carrier>) {
    if !clues.served_by(&["mongodb", "mongo", "documentdb", "atlas"]) && !clues.says(&["mongodb", "documentdb"]) {
        return;
    }
    let evidence = "the server is MongoDB";
    if let Some(command) =
        clues.parameter(&["command", "commanddocument"]).filter(|command| command.kind == Kind::Object)
    {
        out.push(Carrier::new(&command.pointer, Language::MongoCommand, evidence));
        return;
    }
    let documents =
        ["filter", "query", "pipeline", "update", "documents", "document", "droptarget", "method", "exporttarget"];
    let holds = |parameter: &&Parameter| {
        parameter.top
            && documents.contains(&parameter.key.as_str())
            && (parameter.kind != Kind::Text || parameter.says(&["pipeline", "filter", "bson"]))
    };
    if clues.parameters.iter().any(|parameter| holds(&parameter))
        && clues.parameter(&["collection", "database", "db"]).is_some()
    {
        out.push(Carrier::new("", Language::MongoOperation, evidence).with(With::Name(clues.raw.clone())));
    }
}

/// Tools of Redis servers that are commands, with the arguments that belong to them.
const REDIS: &[(&str, &str, &[&str])] = &[
    ("expire", "EXPIRE", &["name", "expireseconds"]),
    ("set", "SET", &["key", "value"]),
    ("delete", "DEL", &["key"]),
    ("rename", "RENAME", &["oldkey", "newkey"]),
    ("list", "KEYS", &["pattern"]),
];

fn redis(clues: &Clues, out: &mut Vec<Carrier>) {
    if !clues.served_by(&["redis", "valkey", "keydb", "dragonfly"]) {
        return;
    }
    if let Some(command) = clues.parameter(&["command", "cmd", "query"]).filter(|command| command.kind == Kind::Text) {
        let arguments = clues.parameter(&["args", "arguments", "parameters"]);
        if arguments.is_some() || command.key != "query" {
            let with = arguments.map_or(With::Nothing, |arguments| With::Arguments(arguments.name()));
            out.push(Carrier::new(&command.pointer, Language::Redis, "the server is Redis").with(with));
        }
        return;
    }
    let known = REDIS
        .iter()
        .find(|(name, _, keys)| clues.raw == *name && keys.iter().all(|key| clues.parameter(&[key]).is_some()));
    if let Some((_, command, keys)) = known {
        let names: Vec<String> = keys.iter().filter_map(|key| clues.parameter(&[key])).map(Parameter::name).collect();
        let with = With::Name(format!("{command} {}", names.join(" ")));
        out.push(Carrier::new("", Language::Redis, "the tool is a command of Redis").with(with));
    }
}

fn cypher(clues: &Clues, out: &mut Vec<Carrier>) {
    let speaks = |parameter: &Parameter| {
        parameter.key.contains("cypher")
            || parameter.says(&["cypher"])
            || clues.says(&["cypher"])
            || clues.named(&["cypher", "opencypher"])
            || clues.served_by(&["neo4j", "memgraph"])
    };
    for parameter in clues.parameters.iter().filter(|parameter| parameter.is_text()) {
        let holds = matches!(parameter.key.as_str(), "query" | "cypher" | "cypherquery" | "statement");
        if holds && speaks(parameter) && !clues.named(&["search"]) {
            out.push(Carrier::new(&parameter.pointer, Language::Cypher, "the tool speaks of Cypher"));
        }
    }
}

fn graphql(clues: &Clues, out: &mut Vec<Carrier>) {
    for parameter in clues.parameters.iter().filter(|parameter| parameter.is_text() && parameter.top) {
        let holds = matches!(
            parameter.key.as_str(),
            "query" | "mutation" | "document" | "graphql" | "graphqlquery" | "operation"
        );
        let speaks = parameter.key.contains("graphql")
            || parameter.says(&["graphql"])
            || clues.named(&["graphql"])
            || (clues.says(&["graphql"]) && !clues.named(&["search", "docs"]));
        if holds && speaks {
            let operation = clues.parameter(&["operationname"]).map(Parameter::name);
            out.push(
                Carrier::new(&parameter.pointer, Language::GraphQl, "the tool speaks of GraphQL")
                    .with(With::Operation(operation)),
            );
        }
    }
}

/// Languages of queries that can write and that nobody here reads.
fn unread(clues: &Clues, out: &mut Vec<Carrier>) {
    let speaks =
        clues.named(&["gremlin", "flux", "sparql"]) || clues.says(&["gremlin against", "flux query", "sparql update"]);
    if let Some(parameter) =
        clues.parameter(&["query", "gremlin", "flux"]).filter(|parameter| parameter.is_text() && speaks)
    {
        out.push(Carrier::new(&parameter.pointer, Language::Code, "the tool takes a query that can write"));
    }
}
