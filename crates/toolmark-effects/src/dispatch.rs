//! One match from language to reader.

use serde_json::Value;
use toolmark_core::facts::Reading;

use crate::language::{Dialect, Language};
use crate::paths::Scope;
use crate::shell::{Embedded, Found};
use crate::{code, cypher, graphql, http, kubernetes, mongo, paths, redis, shell, sql};

/// Reads one text in a language.
pub(crate) fn text(language: Language, text: &str, roots: &[String]) -> Vec<Reading> {
    match language {
        Language::Sql(dialect) => sql(text, dialect),
        Language::Redis => vec![redis::read(text)],
        Language::Cypher => vec![cypher::read(text)],
        Language::GraphQl => graphql(text, None),
        Language::MongoPipeline | Language::MongoCommand | Language::MongoOperation => match serde_json::from_str(text)
        {
            Ok(document) => mongo(language, "", &document),
            Err(_) => cannot_tell("it is no document of MongoDB"),
        },
        Language::Shell | Language::Argv => resolved(shell::find(text), roots),
        Language::Kubernetes => resolved(kubernetes::command_line(text), roots),
        Language::Code => vec![code::read(text)],
        Language::Http | Language::Url => vec![http::read_url(text)],
        Language::Path(scope) => vec![path(text, scope, roots)],
    }
}

fn sql(text: &str, dialect: Dialect) -> Vec<Reading> {
    let dialect = match dialect {
        Dialect::Sqlite => sql::Dialect::Sqlite,
        Dialect::Postgres => sql::Dialect::Postgres,
        Dialect::Mysql => sql::Dialect::Mysql,
        Dialect::Duckdb => sql::Dialect::Duckdb,
        Dialect::Clickhouse => sql::Dialect::Clickhouse,
        Dialect::Generic => sql::Dialect::Generic,
    };
    vec![sql::read(text, dialect)]
}

pub(crate) fn graphql(text: &str, operation: Option<&str>) -> Vec<Reading> {
    vec![graphql::read(text, operation)]
}

pub(crate) fn mongo(language: Language, name: &str, document: &Value) -> Vec<Reading> {
    vec![match language {
        Language::MongoPipeline => mongo::read_pipeline(document),
        Language::MongoCommand => mongo::read_command(document),
        _ => mongo::read_operation(name, document),
    }]
}

fn path(text: &str, scope: Scope, roots: &[String]) -> Reading {
    paths::read(text, scope, roots)
}

/// Reads the programs in other languages that were found inside a program.
pub(crate) fn resolved(found: Found, roots: &[String]) -> Vec<Reading> {
    found.resolve(|Embedded { language, text: inner }| text(*language, inner, roots)).into_readings()
}

/// The answer when nobody can tell.
pub(crate) fn cannot_tell(reason: &str) -> Vec<Reading> {
    vec![Reading::CannotTell { reason: reason.to_owned() }]
}
