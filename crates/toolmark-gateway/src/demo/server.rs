//! The servers of the demo: each tool is one statement.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use toolmark_mcp::downstream::{About, Answer, Caller, Context, Incoming, Service};
use toolmark_mcp::wire::params::CallParams;
use toolmark_mcp::wire::{Limits, RawObject, codes};

use super::data::Data;

/// One of the demo's servers: its tools, and the data they work on.
pub(super) struct DemoServer {
    tools: &'static str,
    data: Arc<Data>,
}

/// What a tool does.
enum Deed<'a> {
    /// Gives rows.
    Rows(&'a str, Vec<&'a Value>),
    /// Changes rows, then gives some.
    Change(&'a str, Vec<&'a Value>, Option<(&'a str, Vec<&'a Value>)>),
}

impl DemoServer {
    pub(super) fn new(tools: &'static str, data: Arc<Data>) -> Self {
        Self { tools, data }
    }

    async fn run(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let none = Value::Null;
        let of = |key: &str| arguments.get(key).unwrap_or(&none);
        let text = |key: &str| of(key).as_str().unwrap_or_default();
        let found = json!(format!("%{}%", text("query")));
        let limit = of("limit").as_i64().map_or(json!(20), Value::from);
        let empty = json!("");
        let body = if of("body").is_null() { &empty } else { of("body") };
        let is_wiki = self.tools.contains("update_page");
        let deed = match tool {
            "read_query" => Deed::Rows(text("query"), vec![]),
            "write_query" => Deed::Change(text("query"), vec![], None),
            "list_tables" => Deed::Rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", vec![]),
            "describe_table" => {
                Deed::Rows("SELECT name, type, \"notnull\" AS required FROM pragma_table_info(?)", vec![of("table")])
            }
            "search" if is_wiki => {
                Deed::Rows("SELECT title FROM pages WHERE title LIKE ?1 OR body LIKE ?1 ORDER BY title", vec![&found])
            }
            "search" => Deed::Rows(
                "SELECT number, title, state FROM issues WHERE title LIKE ?1 OR body LIKE ?1 ORDER BY number LIMIT ?2",
                vec![&found, &limit],
            ),
            "get_issue" => Deed::Rows("SELECT * FROM issues WHERE number = ?", vec![of("number")]),
            "create_issue" => Deed::Change(
                "INSERT INTO issues (title, body) VALUES (?, ?)",
                vec![of("title"), body],
                Some(("SELECT * FROM issues ORDER BY number DESC LIMIT 1", vec![])),
            ),
            "close_issue" => Deed::Change(
                "UPDATE issues SET state = 'closed' WHERE number = ?",
                vec![of("number")],
                Some(("SELECT * FROM issues WHERE number = ?", vec![of("number")])),
            ),
            "delete_issue" => Deed::Change("DELETE FROM issues WHERE number = ?", vec![of("number")], None),
            "read_page" => Deed::Rows("SELECT * FROM pages WHERE title = ?", vec![of("title")]),
            "update_page" => Deed::Change(
                "INSERT INTO pages VALUES (?1, ?2) ON CONFLICT (title) DO UPDATE SET body = ?2",
                vec![of("title"), of("body")],
                None,
            ),
            "list_messages" => {
                Deed::Rows("SELECT id, sender, subject FROM messages ORDER BY rowid DESC LIMIT ?", vec![&limit])
            }
            "send_message" => Deed::Change(
                "INSERT INTO messages VALUES ('m' || (SELECT count(*) + 1 FROM messages), 'shop@example.com', ?, ?, ?)",
                vec![of("to"), of("subject"), of("body")],
                None,
            ),
            "delete_message" => Deed::Change("DELETE FROM messages WHERE id = ?", vec![of("id")], None),
            _ => return Err("there is no such tool".into()),
        };
        let failed = |error: sqlx::Error| error.to_string();
        match deed {
            Deed::Rows(sql, values) => Ok(json!({"rows": self.data.read(sql, &values).await.map_err(failed)?})),
            Deed::Change(sql, values, then) => {
                let changed = self.data.write(sql, &values).await.map_err(failed)?;
                match then {
                    None => Ok(json!({"changed": changed})),
                    Some((sql, values)) => {
                        let rows = self.data.read(sql, &values).await.map_err(failed)?;
                        Ok(json!({"changed": changed, "rows": rows}))
                    }
                }
            }
        }
    }
}

impl Service for DemoServer {
    async fn call(&self, request: Incoming, _: Context) -> Answer {
        match &*request.method {
            "tools/list" => Answer::Result(object(Bytes::from_static(self.tools.as_bytes()))),
            "tools/call" => {
                let Ok(params) = CallParams::of(&request.params) else {
                    return Answer::fault(codes::INVALID_PARAMS, "this call names no tool");
                };
                let arguments =
                    params.arguments().and_then(|raw| serde_json::from_slice(&raw).ok()).unwrap_or(json!({}));
                let result = match self.run(params.name(), &arguments).await {
                    Ok(value) => json!({
                        "content": [{"type": "text", "text": value.to_string()}],
                        "structuredContent": value,
                        "isError": false,
                    }),
                    Err(why) => json!({"content": [{"type": "text", "text": why}], "isError": true}),
                };
                Answer::Result(object(Bytes::from(result.to_string())))
            }
            _ => Answer::fault(codes::METHOD_NOT_FOUND, "this method is not known here"),
        }
    }

    fn about(&self, _: &Caller) -> Arc<About> {
        Arc::new(About {
            server_info: Bytes::from_static(br#"{"name":"toolmark-demo","version":"1"}"#),
            capabilities: object(Bytes::from_static(br#"{"tools":{}}"#)),
            instructions: None,
            ttl_ms: 60_000,
            public: true,
        })
    }
}

fn object(text: Bytes) -> RawObject {
    RawObject::read(text, Limits { bytes: usize::MAX, depth: Limits::DEEPEST }).unwrap_or_else(|_| RawObject::empty())
}
