//! Tools that say something before they answer: log messages, progress, changed lists, a stream that ends too early.

#![expect(deprecated, reason = "logging is on its way out of the protocol, but clients still have it")]

use std::time::Duration;

use rmcp::model::{ErrorData, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, Tool};
use rmcp::service::ServiceError;
use serde::Deserialize;
use serde_json::json;

use super::{Call, Outcome, plain, text, tool};
use crate::ask::is_modern;
use crate::changes::Change;
use crate::sessions::{AnswerStream, RETRY};

/// Between two messages of one tool.
const PAUSE: Duration = Duration::from_millis(50);

/// More notifications than this in one call is a mistake of the caller.
const FLOOD: u32 = 1_000_000;

pub(super) fn definitions() -> Vec<Tool> {
    let milliseconds = json!({ "type": "integer", "minimum": 0, "description": "Milliseconds between two steps" });
    vec![
        plain("test_tool_with_logging", "Logs three messages"),
        plain("test_logging_tool", "Logs three messages, for those who asked for them"),
        plain("test_tool_with_progress", "Reports progress three times"),
        plain("test_reconnection", "Closes its stream before it answers, so that the client has to come back"),
        plain("test_trigger_tool_change", "Adds or removes a tool"),
        plain("test_trigger_prompt_change", "Adds or removes a prompt"),
        plain("test_trigger_resource_change", "Adds or removes a resource"),
        tool(
            "touch_resource",
            "Announces that a resource has changed",
            json!({ "uri": { "type": "string" } }),
            &["uri"],
        ),
        tool(
            "slow_progress",
            "Reports progress step by step",
            json!({ "steps": { "type": "integer", "minimum": 0 }, "delay_ms": milliseconds }),
            &["steps"],
        ),
        tool(
            "flood",
            "Sends many notifications as fast as it can: progress if that was asked for, log messages otherwise",
            json!({ "count": { "type": "integer", "minimum": 0, "maximum": FLOOD } }),
            &["count"],
        ),
    ]
}

pub(super) async fn run(call: &Call<'_>) -> Outcome {
    match call.tool {
        "test_tool_with_logging" | "test_logging_tool" => {
            log(call, "Tool execution started").await?;
            tokio::time::sleep(PAUSE).await;
            log(call, "Tool processing data").await?;
            tokio::time::sleep(PAUSE).await;
            log(call, "Tool execution completed").await?;
            // To old clients messages go on a stream of their own; the answer must not overtake the last of them.
            tokio::time::sleep(PAUSE * 4).await;
            text("Tool with logging executed successfully")
        }
        "test_tool_with_progress" => {
            for (step, done) in [0, 50, 100].into_iter().enumerate() {
                if step > 0 {
                    tokio::time::sleep(PAUSE).await;
                }
                progress(call, done, 100).await?;
            }
            text("Tool with progress executed successfully")
        }
        "test_reconnection" => {
            if let Some(stream) = call.context.extensions.get::<AnswerStream>() {
                stream.close().await.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                // `rmcp` keeps nothing for a client that is not back yet, so it gets the time that it was asked to wait, and more.
                tokio::time::sleep(RETRY * 3).await;
            }
            text("Reconnection test completed")
        }
        "test_trigger_tool_change" => {
            call.fixture.catalog().toggle_extra();
            call.fixture.changes().announce(Change::Tools);
            text("The list of tools has changed")
        }
        "test_trigger_prompt_change" => {
            call.fixture.prompts().toggle_extra();
            call.fixture.changes().announce(Change::Prompts);
            text("The list of prompts has changed")
        }
        "test_trigger_resource_change" => {
            call.fixture.resources().toggle_extra();
            call.fixture.changes().announce(Change::Resources);
            text("The list of resources has changed")
        }
        "touch_resource" => touch(call),
        "slow_progress" => slow_progress(call).await,
        "flood" => flood(call).await,
        _ => Err(call.unknown()),
    }
}

fn touch(call: &Call<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments {
        uri: String,
    }
    let Arguments { uri } = call.read()?;
    call.fixture.changes().announce(Change::Resource(uri.clone()));
    text(format!("Announced a change of {uri}"))
}

async fn slow_progress(call: &Call<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments {
        steps: u32,
        #[serde(default)]
        delay_ms: u64,
    }
    let Arguments { steps, delay_ms } = call.read()?;
    for step in 1..=steps {
        call.sleep(Duration::from_millis(delay_ms)).await?;
        progress(call, step, steps).await?;
    }
    text(format!("Took {steps} steps"))
}

async fn flood(call: &Call<'_>) -> Outcome {
    #[derive(Deserialize)]
    struct Arguments {
        count: u32,
    }
    let Arguments { count } = call.read()?;
    if count > FLOOD {
        return Err(ErrorData::invalid_params(format!("`count` is above {FLOOD}"), None));
    }
    let mut sent = 0_u32;
    for number in 1..=count {
        let said = if call.context.meta.get_progress_token().is_some() {
            progress(call, number, count).await?
        } else {
            log(call, &format!("flood {number} of {count}")).await?
        };
        sent += u32::from(said);
    }
    text(format!("Sent {sent} notifications"))
}

/// Reports progress, if the caller asked for it; tells whether it did.
async fn progress(call: &Call<'_>, done: u32, total: u32) -> Result<bool, ErrorData> {
    let Some(token) = call.context.meta.get_progress_token() else { return Ok(false) };
    let progress = ProgressNotificationParam::new(token, f64::from(done)).with_total(f64::from(total));
    said(call.context.peer.notify_progress(progress).await)
}

/// Logs a message, if the caller wants to hear of it; tells whether it did.
async fn log(call: &Call<'_>, message: &str) -> Result<bool, ErrorData> {
    let level = LoggingLevel::Info;
    // A new client that names no level wants no messages at all.
    let wanted = if is_modern(call.context) { call.context.meta.log_level() } else { Some(call.fixture.peer_level()) };
    if wanted.is_none_or(|wanted| (level as u8) < (wanted as u8)) {
        return Ok(false);
    }
    let message = LoggingMessageNotificationParam::new(level, json!(message)).with_logger("toolmark-fixture");
    said(call.context.peer.notify_logging_message(message).await)
}

fn said(result: Result<(), ServiceError>) -> Result<bool, ErrorData> {
    result.map(|()| true).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
