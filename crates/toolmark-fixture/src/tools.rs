//! The tools, in groups of one file each, and what a call hands to them.

mod content;
mod gateway;
mod notify;
mod questions;
mod tasks;

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputResponses, JsonObject, Tool};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::ask::Asker;
use crate::fixture::Fixture;

/// Which file knows what a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    Content,
    Notify,
    Questions,
    Tasks,
    Gateway,
    /// A tool among many that all do the same.
    Generic,
    /// The tool that comes and goes.
    Extra,
}

/// One call of a tool.
pub(crate) struct Call<'a> {
    pub(crate) fixture: &'a Fixture,
    /// The tool's name before any renaming.
    pub(crate) tool: &'a str,
    pub(crate) arguments: JsonObject,
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
    pub(crate) context: &'a RequestContext<RoleServer>,
}

/// What a tool returns.
pub(crate) type Outcome = Result<CallToolResponse, ErrorData>;

impl Call<'_> {
    pub(crate) async fn run(&self, group: Group) -> Outcome {
        match group {
            Group::Content => content::run(self),
            Group::Notify => notify::run(self).await,
            Group::Questions => questions::run(self).await,
            Group::Tasks => tasks::run(self).await,
            Group::Gateway => gateway::run(self).await,
            Group::Generic => text(format!("{} {}", self.tool, Value::Object(self.arguments.clone()))),
            Group::Extra => text("This tool comes and goes."),
        }
    }

    pub(crate) fn asker(&self) -> Asker<'_> {
        Asker {
            name: self.tool,
            context: self.context,
            responses: self.responses.as_ref(),
            state: self.state.as_deref(),
            seal: self.fixture.seal(),
        }
    }

    /// The arguments as a type; what does not fit is refused.
    fn read<T: DeserializeOwned>(&self) -> Result<T, ErrorData> {
        serde_json::from_value(Value::Object(self.arguments.clone()))
            .map_err(|error| ErrorData::invalid_params(format!("the arguments cannot be read: {error}"), None))
    }

    /// Sleeps, unless the caller gives up.
    async fn sleep(&self, time: Duration) -> Result<(), ErrorData> {
        tokio::select! {
            () = tokio::time::sleep(time) => Ok(()),
            () = self.context.ct.cancelled() => Err(ErrorData::invalid_request("the call was cancelled", None)),
        }
    }

    /// A tool that is listed but that no file knows is a mistake of this crate.
    fn unknown(&self) -> ErrorData {
        ErrorData::internal_error(format!("nobody knows what `{}` does", self.tool), None)
    }
}

/// Every tool in the order it is listed.
pub(crate) fn definitions(generic: usize) -> Vec<(Group, Tool)> {
    let groups = [
        (Group::Content, content::definitions()),
        (Group::Notify, notify::definitions()),
        (Group::Questions, questions::definitions()),
        (Group::Tasks, tasks::definitions()),
        (Group::Gateway, gateway::definitions()),
        (Group::Generic, (1..=generic).map(generic_tool).collect()),
        (Group::Extra, vec![tool("test_extra_tool", "A tool that comes and goes", json!({}), &[])]),
    ];
    groups.into_iter().flat_map(|(group, tools)| tools.into_iter().map(move |tool| (group, tool))).collect()
}

fn generic_tool(number: usize) -> Tool {
    let properties = json!({ "text": { "type": "string", "description": "Anything" } });
    let description = format!("Generic tool number {number}: returns its name and its arguments");
    Tool::new(format!("generic_{number:04}"), description, schema(properties, &[]))
}

fn tool(name: &'static str, description: &'static str, properties: Value, required: &[&str]) -> Tool {
    Tool::new(name, description, schema(properties, required))
}

fn plain(name: &'static str, description: &'static str) -> Tool {
    tool(name, description, json!({}), &[])
}

fn schema(properties: Value, required: &[&str]) -> Arc<JsonObject> {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Arc::new(schema)
}

fn text(text: impl Into<String>) -> Outcome {
    contents(vec![ContentBlock::text(text)])
}

fn contents(contents: Vec<ContentBlock>) -> Outcome {
    Ok(CallToolResult::success(contents).into())
}
