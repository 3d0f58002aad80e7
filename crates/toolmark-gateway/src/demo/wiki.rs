//! The wiki: pages that keep their history.

use serde::Deserialize;
use serde_json::{Value, json};
use toolmark_core::text::visible;

use super::database::Database;
use super::outcome::{Outcome, only, read};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Title {
    title: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    title: String,
    body: String,
}

pub(super) async fn run(database: &Database, tool: &str, arguments: &[u8]) -> Option<Outcome> {
    Some(match tool {
        "search" => search(database, arguments).await,
        "read_page" => read_page(database, arguments).await,
        "update_page" => update_page(database, arguments).await,
        _ => return None,
    })
}

/// Pages that have every word of the query.
async fn search(database: &Database, arguments: &[u8]) -> Outcome {
    let Search { query } = read(arguments)?;
    let words: Value = query.split_whitespace().collect();
    let sql = "SELECT title, substr(body, 1, 120) AS excerpt FROM pages WHERE NOT EXISTS (SELECT 1 FROM json_each(?) AS word \
               WHERE instr(lower(title || ' ' || body), lower(word.value)) = 0) ORDER BY title";
    Ok(json!({"pages": database.ask(sql, vec![words]).await?}))
}

async fn read_page(database: &Database, arguments: &[u8]) -> Outcome {
    let Title { title } = read(arguments)?;
    let sql = "SELECT title, body, revision, updated FROM pages WHERE title = ?";
    only(database.ask(sql, vec![title.as_str().into()]).await?, || missing(&title))
}

/// A trigger keeps the old text, so that neither happens without the other.
async fn update_page(database: &Database, arguments: &[u8]) -> Outcome {
    let Page { title, body } = read(arguments)?;
    let sql = "UPDATE pages SET body = ?, revision = revision + 1, updated = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') \
               WHERE title = ? RETURNING title, revision, updated";
    only(database.ask(sql, vec![body.into(), title.as_str().into()]).await?, || missing(&title))
}

fn missing(title: &str) -> String {
    format!("there is no page `{}`", visible(title, 100))
}
