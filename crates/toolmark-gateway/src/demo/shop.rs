//! The shop: a database that anybody may send SQL to, as its servers in the wild do.

use serde::Deserialize;
use serde_json::json;
use toolmark_core::text::visible;

use super::database::Database;
use super::outcome::{Failure, Outcome, read};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    query: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    table: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

pub(super) async fn run(database: &Database, tool: &str, arguments: &[u8]) -> Option<Outcome> {
    Some(match tool {
        "read_query" => read_query(database, arguments).await,
        "write_query" => write_query(database, arguments).await,
        "list_tables" => list_tables(database, arguments).await,
        "describe_table" => describe_table(database, arguments).await,
        _ => return None,
    })
}

/// Executes anything, whatever its name says: this server is as careless as those it stands for.
async fn read_query(database: &Database, arguments: &[u8]) -> Outcome {
    let Query { query } = read(arguments)?;
    let found = database.anything(query).await?;
    Ok(json!({"count": found.rows.len(), "truncated": found.cut, "rows": found.rows}))
}

async fn write_query(database: &Database, arguments: &[u8]) -> Outcome {
    let Query { query } = read(arguments)?;
    Ok(json!({"rows_changed": database.change(query).await?}))
}

async fn list_tables(database: &Database, arguments: &[u8]) -> Outcome {
    let Nothing {} = read(arguments)?;
    let sql =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    Ok(json!({"tables": database.ask(sql, Vec::new()).await?}))
}

async fn describe_table(database: &Database, arguments: &[u8]) -> Outcome {
    let Table { table } = read(arguments)?;
    let sql =
        r#"SELECT name, type, "notnull" AS required, dflt_value AS "default", pk AS key FROM pragma_table_info(?)"#;
    let columns = database.ask(sql, vec![table.as_str().into()]).await?;
    if columns.is_empty() {
        return Err(Failure::Missing(format!("there is no table `{}`", visible(&table, 100))));
    }
    Ok(json!({"table": table, "columns": columns}))
}
