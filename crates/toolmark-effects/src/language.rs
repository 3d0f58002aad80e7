//! What an argument may be written in. One value for each reader.

use std::fmt;
use std::str::FromStr;

use crate::paths::Scope;

/// What an argument is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// SQL in a dialect.
    Sql(Dialect),
    /// A MongoDB aggregation pipeline.
    MongoPipeline,
    /// A MongoDB command document.
    MongoCommand,
    /// The arguments of a MongoDB operation, whose name is the tool's.
    MongoOperation,
    /// A Redis or Valkey command line.
    Redis,
    /// Cypher.
    Cypher,
    /// A GraphQL document.
    GraphQl,
    /// A shell program.
    Shell,
    /// A program and its arguments, run without a shell.
    Argv,
    /// A program in a general language.
    Code,
    /// An HTTP request: method, address, headers and body.
    Http,
    /// An address that is fetched.
    Url,
    /// A path.
    Path(Scope),
    /// A `kubectl` command line, or the arguments of a tool that is one.
    Kubernetes,
}

/// A dialect of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL and what speaks like it.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// DuckDB.
    Duckdb,
    /// ClickHouse.
    Clickhouse,
    /// Any other.
    Generic,
}

/// A word that names no language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLanguage(pub String);

/// Every language with the word that names it in settings. The first word of a language is the one it is shown with.
const WORDS: &[(&str, Language)] = &[
    ("sql", Language::Sql(Dialect::Generic)),
    ("sql:sqlite", Language::Sql(Dialect::Sqlite)),
    ("sql:postgres", Language::Sql(Dialect::Postgres)),
    ("sql:mysql", Language::Sql(Dialect::Mysql)),
    ("sql:duckdb", Language::Sql(Dialect::Duckdb)),
    ("sql:clickhouse", Language::Sql(Dialect::Clickhouse)),
    ("mongo-pipeline", Language::MongoPipeline),
    ("mongo-command", Language::MongoCommand),
    ("mongo", Language::MongoOperation),
    ("redis", Language::Redis),
    ("cypher", Language::Cypher),
    ("graphql", Language::GraphQl),
    ("shell", Language::Shell),
    ("argv", Language::Argv),
    ("code", Language::Code),
    ("http", Language::Http),
    ("url", Language::Url),
    ("path", Language::Path(Scope::Local)),
    ("remote-path", Language::Path(Scope::Remote)),
    ("kubernetes", Language::Kubernetes),
];

impl Language {
    /// The family in one word, as facts show it: dialects and scopes are left out.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sql(_) => "sql",
            Self::MongoPipeline | Self::MongoCommand | Self::MongoOperation => "mongo",
            Self::Redis => "redis",
            Self::Cypher => "cypher",
            Self::GraphQl => "graphql",
            Self::Shell | Self::Argv => "shell",
            Self::Code => "code",
            Self::Http => "http",
            Self::Url => "url",
            Self::Path(_) => "path",
            Self::Kubernetes => "kubernetes",
        }
    }

    /// The words that settings may use.
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(word, _)| *word)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        let found = WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, language)| *language).ok_or_else(|| UnknownLanguage(text.to_owned()))
    }
}

impl fmt::Display for UnknownLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = Language::words().collect();
        write!(f, "`{}` is no language; there are {}", self.0, words.join(", "))
    }
}

impl std::error::Error for UnknownLanguage {}
