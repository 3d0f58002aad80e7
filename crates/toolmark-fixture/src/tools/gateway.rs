//! Tools that tests of a gateway need: one that returns what it is given, and several that misbehave on purpose.

use std::process;
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, ErrorData, MetaObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, Outcome, plain, schema, text, tool};

/// The largest blob that is made.
const BLOB: usize = 64 << 20;

pub(super) fn definitions() -> Vec<Tool> {
    let number = |description: &str| json!({ "type": "integer", "minimum": 0, "description": description });
    let reading = || ToolAnnotations::new().read_only(true).open_world(false);
    let mut meta = MetaObject::new();
    meta.0.insert("dev.toolmark.fixture/note".to_owned(), json!({ "kept": true }));
    vec![
        tool("echo", "Returns its arguments", json!({ "text": { "type": "string", "description": "Anything" } }), &[])
            .with_title("Echo")
            .with_annotations(reading().idempotent(true))
            .with_meta(meta),
        tool("sleep_ms", "Answers after a while", json!({ "ms": number("How long to sleep") }), &["ms"])
            .with_annotations(reading()),
        tool("blob", "Returns a text of a given size", json!({ "bytes": number("How many bytes") }), &["bytes"])
            .with_annotations(reading()),
        tool("fail", "Always fails, in the way a tool does", json!({ "message": { "type": "string" } }), &[]),
        tool("crash", "Ends the server's process without an answer", json!({ "code": number("The exit code") }), &[])
            .with_annotations(ToolAnnotations::new().destructive(true)),
        plain("env", "Returns the names, not the values, of the server's environment variables")
            .with_annotations(reading()),
        plain("meta", "Returns the metadata that it was called with").with_annotations(reading()),
        plain("stats", "Returns how often each tool was called and how many calls were cancelled")
            .with_annotations(reading())
            .with_raw_output_schema(schema(
                json!({
                    "calls": { "type": "object", "additionalProperties": { "type": "integer" } },
                    "cancelled": { "type": "integer" },
                }),
                &["calls", "cancelled"],
            )),
    ]
}

pub(super) async fn run(call: &Call<'_>) -> Outcome {
    match call.tool {
        "echo" => match call.arguments.get("text").and_then(Value::as_str) {
            Some(given) => text(given),
            None => text(Value::Object(call.arguments.clone()).to_string()),
        },
        "sleep_ms" => {
            #[derive(Deserialize)]
            struct Arguments {
                ms: u64,
            }
            let Arguments { ms } = call.read()?;
            call.sleep(Duration::from_millis(ms)).await?;
            text(format!("Slept {ms} ms"))
        }
        "blob" => {
            #[derive(Deserialize)]
            struct Arguments {
                bytes: usize,
            }
            let Arguments { bytes } = call.read()?;
            if bytes > BLOB {
                return Err(ErrorData::invalid_params(format!("`bytes` is above {BLOB}"), None));
            }
            text("x".repeat(bytes))
        }
        "fail" => {
            let message = call.arguments.get("message").and_then(Value::as_str).unwrap_or("This tool always fails");
            Ok(CallToolResult::error(vec![ContentBlock::text(message)]).into())
        }
        "crash" => process::exit(call.arguments.get("code").and_then(Value::as_i64).map_or(1, |code| code as i32)),
        "env" => {
            let mut names: Vec<String> =
                std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            names.sort();
            text(json!(names).to_string())
        }
        "meta" => text(json!(call.context.meta).to_string()),
        "stats" => Ok(CallToolResult::structured(call.fixture.stats()).into()),
        _ => Err(call.unknown()),
    }
}
