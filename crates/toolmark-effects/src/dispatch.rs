//! One match from language to reader. Readers that live on another branch answer that they cannot tell, until they are here.

use serde_json::Value;
use toolmark_core::facts::Reading;

use crate::language::{Dialect, Language};
use crate::paths::Scope;
use crate::shell::{Embedded, Found};
use crate::{code, http, kubernetes, paths, shell};

/// Reads one text in a language.
pub(crate) fn text(language: Language, text: &str, roots: &[String]) -> Vec<Reading> {
    match language {
        // ---- plugged in on merge: `sql`, `mongo`, `redis`, `cypher`, `graphql` ----
        Language::Sql(dialect) => sql(text, dialect),
        Language::Redis => later("redis"),
        Language::Cypher => later("cypher"),
        Language::GraphQl => graphql(text, None),
        Language::MongoPipeline | Language::MongoCommand | Language::MongoOperation => match serde_json::from_str(text)
        {
            Ok(document) => mongo(language, "", &document),
            Err(_) => cannot_tell("it is no document of MongoDB"),
        },
        // ---- ours ----
        Language::Shell | Language::Argv => resolved(shell::find(text), roots),
        Language::Kubernetes => resolved(kubernetes::command_line(text), roots),
        Language::Code => vec![code::read(text)],
        Language::Http | Language::Url => vec![http::read_url(text)],
        Language::Path(scope) => vec![path(text, scope, roots)],
    }
}

/// Plug: `crate::sql::read(text, dialect)`.
fn sql(_text: &str, _dialect: Dialect) -> Vec<Reading> {
    later("sql")
}

/// Plug: `crate::graphql::read(text, operation)`.
pub(crate) fn graphql(_text: &str, _operation: Option<&str>) -> Vec<Reading> {
    later("graphql")
}

/// Plug: `crate::mongo::{read_pipeline, read_command, read_operation}`.
pub(crate) fn mongo(_language: Language, _name: &str, _document: &Value) -> Vec<Reading> {
    later("mongo")
}

fn later(language: &str) -> Vec<Reading> {
    cannot_tell(&format!("{language} is not read yet"))
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
