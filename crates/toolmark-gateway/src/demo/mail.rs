//! The mail: messages that came, and an outbox that nothing leaves.

use serde::Deserialize;
use serde_json::json;
use toolmark_core::text::visible;

use super::database::Database;
use super::outcome::{Failure, Outcome, only, read};

/// How many messages are listed when nobody says.
const USUAL: u32 = 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Newest {
    limit: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Letter {
    to: String,
    subject: String,
    body: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageId {
    id: String,
}

pub(super) async fn run(database: &Database, tool: &str, arguments: &[u8]) -> Option<Outcome> {
    Some(match tool {
        "list_messages" => list(database, arguments).await,
        "send_message" => send(database, arguments).await,
        "delete_message" => delete(database, arguments).await,
        _ => return None,
    })
}

async fn list(database: &Database, arguments: &[u8]) -> Outcome {
    let Newest { limit } = read(arguments)?;
    let sql = "SELECT id, sender, subject, body, received FROM messages ORDER BY received DESC, id LIMIT ?";
    Ok(json!({"messages": database.ask(sql, vec![limit.unwrap_or(USUAL).into()]).await?}))
}

async fn send(database: &Database, arguments: &[u8]) -> Outcome {
    let Letter { to, subject, body } = read(arguments)?;
    let whole = to.split_once('@').is_some_and(|(who, place)| !who.is_empty() && !place.is_empty());
    if !whole || to.contains(char::is_whitespace) {
        return Err(Failure::Missing(format!("`{}` is not one address", visible(&to, 100))));
    }
    let sql = "INSERT INTO outbox (recipient, subject, body, sent) VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')) \
               RETURNING number, recipient, subject, sent";
    only(database.ask(sql, vec![to.into(), subject.into(), body.into()]).await?, || "nothing was sent".into())
}

async fn delete(database: &Database, arguments: &[u8]) -> Outcome {
    let MessageId { id } = read(arguments)?;
    let sql = "DELETE FROM messages WHERE id = ? RETURNING id AS deleted";
    let missing = || format!("there is no message `{}`", visible(&id, 100));
    only(database.ask(sql, vec![id.as_str().into()]).await?, missing)
}
