//! The tools of a chat: functions, and nothing that would change which tool a name means.

use serde_json::{Value, json};
use toolmark_core::text::visible;

use super::{Dialect, WIRE};
use crate::body::add;
use crate::plain::plain_function;
use crate::request::ToolChoice;
use crate::tool::{HostedTool, WireTool};
use crate::unsendable::UnsendableError;

pub(super) fn tools(tools: &[WireTool], dialect: Dialect) -> Result<Value, UnsendableError> {
    tools.iter().map(|tool| self::tool(tool, dialect)).collect()
}

fn tool(tool: &WireTool, dialect: Dialect) -> Result<Value, UnsendableError> {
    match tool {
        WireTool::Function(tool) => {
            let tool = plain_function(WIRE, tool)?;
            let mut function =
                json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters() });
            // Other servers do not know the field, and some refuse what they do not know.
            let strict = tool.strict && dialect == Dialect::OpenAi;
            add(&mut function, "strict", strict.then_some(true));
            Ok(json!({ "type": "function", "function": function }))
        }
        WireTool::Custom(tool) => Err(UnsendableError::tool(WIRE, &tool.name, "the free text")),
        WireTool::Hosted(HostedTool::Other(raw)) if raw.wire == WIRE => Ok(raw.value.clone()),
        WireTool::Hosted(tool) => Err(UnsendableError::tool(WIRE, tool.kind(), "the hosting")),
    }
}

pub(super) fn choice(choice: &ToolChoice, tools: &[WireTool]) -> Result<Value, UnsendableError> {
    Ok(match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Named(name) if tools.iter().any(|tool| tool.name() == name) => {
            json!({ "type": "function", "function": { "name": name } })
        }
        ToolChoice::Named(name) => {
            return Err(UnsendableError::Choice { name: visible(name, 80), problem: "there is no such tool" });
        }
    })
}
