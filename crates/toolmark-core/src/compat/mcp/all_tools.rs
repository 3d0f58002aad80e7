//! All tools of all servers in one list: under their own names while no two servers share one, or with the server in front.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value};

use super::log_name::server_log_name;
use super::prefix::prefixed_tool_names;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// An MCP server: what it is called here, and what it calls its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    name: Box<str>,
    tools: Vec<Box<str>>,
}

/// A tool of a server under the name that the model sees. The server is always called with the raw name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExposedTool {
    name: Box<str>,
    server: Box<str>,
    raw_name: Box<str>,
    server_index: usize,
}

/// Names that two servers give to their tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server `{server}` has tool names that an earlier server has too: {}", listed(.names))]
pub struct McpDuplicateNamesError {
    server: String,
    names: Vec<String>,
}

/// Lists the tools of all servers. With `prefixed`, names are made by [`prefixed_tool_names`] around `reserved`.
///
/// A name that one server uses twice is not found here; it falls to the collision policy.
///
/// # Errors
/// [`McpDuplicateNamesError`] when two servers share a name and names are not prefixed.
pub fn all_function_tools(
    servers: &[Server],
    prefixed: bool,
    reserved: &HashSet<String>,
) -> Result<Vec<ExposedTool>, McpDuplicateNamesError> {
    let public: Vec<Vec<String>> = if prefixed {
        prefixed_tool_names(servers, reserved)
    } else {
        refuse_shared_names(servers)?;
        servers.iter().map(|server| server.tools.iter().map(ToString::to_string).collect()).collect()
    };
    let mut tools = Vec::new();
    for (server_index, (server, names)) in servers.iter().zip(public).enumerate() {
        let label = server.log_name();
        tools.extend(server.tools.iter().zip(names).map(|(raw_name, name)| ExposedTool {
            name: name.into(),
            server: label.as_str().into(),
            raw_name: raw_name.clone(),
            server_index,
        }));
    }
    Ok(tools)
}

fn refuse_shared_names(servers: &[Server]) -> Result<(), McpDuplicateNamesError> {
    let mut earlier: HashSet<&str> = HashSet::new();
    for server in servers {
        let own: BTreeSet<&str> = server.tools.iter().map(AsRef::as_ref).collect();
        let shared: Vec<String> =
            own.iter().filter(|name| earlier.contains(**name)).map(|name| visible(name, 80)).collect();
        if !shared.is_empty() {
            return Err(McpDuplicateNamesError { server: visible(&server.log_name(), 120), names: shared });
        }
        earlier.extend(own);
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Server {
    /// A server and its tools.
    #[must_use]
    pub fn new<'a>(name: &str, tools: impl IntoIterator<Item = &'a str>) -> Self {
        Self { name: name.into(), tools: tools.into_iter().map(Into::into).collect() }
    }

    /// What it calls its tools.
    #[must_use]
    pub fn tools(&self) -> &[Box<str>] {
        &self.tools
    }

    /// What logs and prefixed names call it.
    #[must_use]
    pub fn log_name(&self) -> String {
        server_log_name(&self.name)
    }
}

impl ExposedTool {
    /// The name that the model sees.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The log name of its server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What the server calls it.
    #[must_use]
    pub fn raw_name(&self) -> &str {
        &self.raw_name
    }

    /// The position of its server; two servers may have one log name.
    #[must_use]
    pub fn server_index(&self) -> usize {
        self.server_index
    }
}

impl McpDuplicateNamesError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        "mcp_duplicate_names"
    }
}

impl Explain for McpDuplicateNamesError {
    fn code(&self) -> Code {
        Code::new("compat-mcp-duplicate-names")
    }

    fn why(&self) -> String {
        "a call names a tool and no server, so it could reach the wrong one".into()
    }

    fn fix(&self) -> String {
        "put the server into the names (`include_server_in_tool_names`), or leave one of the tools out with a filter"
            .into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("server", self.server.as_str().into()), ("names", self.names.clone().into())])
    }
}
