//! The functions about MCP tools and about schemas.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolmark_core::compat::mcp::{
    Server, all_function_tools, prefixed_base_name, prefixed_tool_names, requires_approval, safe_name_part,
    server_log_name, tool_schema,
};
use toolmark_core::schema::strict::{OpenObjects, to_strict_exact};

use super::input::{Input, unfit};
use super::{Answer, ExactAnswer, Refusal};

pub(super) fn answer(function: &str, input: &Input<'_>) -> Option<Answer> {
    Some(match function {
        "mcp_safe_name_part" => text_pair(input, "value", "fallback", safe_name_part),
        "mcp_prefixed_base_name" => text_pair(input, "server", "tool", prefixed_base_name),
        "mcp_server_log_name" => input.text("name").map(|name| json!(server_log_name(name))),
        "mcp_prefixed_tool_names" => {
            servers(input).and_then(|servers| Ok(json!(prefixed_tool_names(&servers, &reserved(input)?))))
        }
        "mcp_all_function_tools" => all(input),
        "mcp_require_approval" => approval(input),
        "mcp_tool_schema" => schema(input),
        _ => return None,
    })
}

fn text_pair(input: &Input<'_>, first: &str, second: &str, answer: impl Fn(&str, &str) -> String) -> Answer {
    Ok(json!(answer(input.text(first)?, input.text(second)?)))
}

fn servers(input: &Input<'_>) -> Result<Vec<Server>, Refusal> {
    let server = |value: &Value| {
        let tools: Vec<&str> = value.get("tools")?.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
        Some(Server::new(value.get("name")?.as_str()?, tools))
    };
    let servers: Option<_> = input.list("servers")?.iter().map(server).collect();
    servers.ok_or_else(|| unfit("servers", "a list of servers"))
}

fn reserved(input: &Input<'_>) -> Result<HashSet<String>, Refusal> {
    let names: Option<_> =
        input.list("reserved_names")?.iter().map(|name| name.as_str().map(ToOwned::to_owned)).collect();
    names.ok_or_else(|| unfit("reserved_names", "a list of names"))
}

fn all(input: &Input<'_>) -> Answer {
    let tools = all_function_tools(&servers(input)?, input.flag("include_server_in_tool_names")?, &reserved(input)?)
        .map_err(|error| Refusal::Category(error.category()))?;
    let tools = tools.iter().map(|tool| {
        json!({
            "name": tool.name(),
            "server": tool.server(),
            "raw_name": tool.raw_name(),
            "server_index": tool.server_index(),
        })
    });
    Ok(tools.collect())
}

fn approval(input: &Input<'_>) -> Answer {
    let needed = requires_approval(input.value("require_approval")?, input.text("tool_name")?);
    needed.map(Value::from).map_err(|error| Refusal::Category(error.category()))
}

fn schema(input: &Input<'_>) -> Answer {
    let schema = input.value("input_schema")?.as_object().ok_or_else(|| unfit("input_schema", "an object"))?;
    let prepared =
        tool_schema(schema, input.flag("convert_to_strict")?).map_err(|error| Refusal::Category(error.category()))?;
    Ok(json!({ "schema": prepared.schema(), "strict": prepared.is_strict() }))
}

pub(super) fn strict(input: &Input<'_>) -> ExactAnswer {
    let reject = input.optional("reject_open_objects").and_then(Value::as_bool).unwrap_or(false);
    let open = if reject { OpenObjects::Reject } else { OpenObjects::Close };
    to_strict_exact(input.exact("schema")?, open).map_err(|error| Refusal::Category(error.category()))
}
