//! The tracker: issues with their comments.

use serde::Deserialize;
use serde_json::{Value, json};

use super::database::Database;
use super::outcome::{Outcome, only, read};

/// How many issues a search gives that does not say.
const USUAL: u32 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    number: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    title: String,
    #[serde(default)]
    body: String,
}

pub(super) async fn run(database: &Database, tool: &str, arguments: &[u8]) -> Option<Outcome> {
    Some(match tool {
        "search" => search(database, arguments).await,
        "get_issue" => get(database, arguments).await,
        "create_issue" => create(database, arguments).await,
        "close_issue" => close(database, arguments).await,
        "delete_issue" => delete(database, arguments).await,
        _ => return None,
    })
}

/// Issues that have every word of the query.
async fn search(database: &Database, arguments: &[u8]) -> Outcome {
    let Search { query, limit } = read(arguments)?;
    let words: Value = query.split_whitespace().collect();
    let sql = "SELECT number, title, state FROM issues WHERE NOT EXISTS (SELECT 1 FROM json_each(?) AS word \
               WHERE instr(lower(title || ' ' || body), lower(word.value)) = 0) ORDER BY number LIMIT ?";
    let issues = database.ask(sql, vec![words, limit.unwrap_or(USUAL).into()]).await?;
    Ok(json!({"issues": issues}))
}

async fn get(database: &Database, arguments: &[u8]) -> Outcome {
    let Number { number } = read(arguments)?;
    let mut issue = find(database, number).await?;
    let sql = "SELECT author, body FROM comments WHERE issue = ? ORDER BY id";
    let comments = database.ask(sql, vec![number.into()]).await?;
    if let Value::Object(issue) = &mut issue {
        issue.insert("comments".into(), comments.into());
    }
    Ok(issue)
}

async fn create(database: &Database, arguments: &[u8]) -> Outcome {
    let New { title, body } = read(arguments)?;
    let sql = "INSERT INTO issues (title, body, opened) VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) \
               RETURNING number, title, body, state, opened";
    only(database.ask(sql, vec![title.into(), body.into()]).await?, || "the issue was not created".into())
}

async fn close(database: &Database, arguments: &[u8]) -> Outcome {
    let Number { number } = read(arguments)?;
    let sql = "UPDATE issues SET state = 'closed' WHERE number = ? RETURNING number, title, state";
    only(database.ask(sql, vec![number.into()]).await?, || missing(number))
}

async fn delete(database: &Database, arguments: &[u8]) -> Outcome {
    let Number { number } = read(arguments)?;
    let sql = "DELETE FROM issues WHERE number = ? RETURNING number AS deleted";
    only(database.ask(sql, vec![number.into()]).await?, || missing(number))
}

async fn find(database: &Database, number: i64) -> Outcome {
    let sql = "SELECT number, title, body, state, opened FROM issues WHERE number = ?";
    only(database.ask(sql, vec![number.into()]).await?, || missing(number))
}

fn missing(number: i64) -> String {
    format!("there is no issue {number}")
}
