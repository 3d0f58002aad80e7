//! May the provider call a tool of an MCP server that it reaches by itself? It asks (`mcp_approval_request`), and the question goes through
//! the pipeline as a call of that tool: rules judge it, a person or a function answers, and the answer is recorded. What the tool is comes
//! from the list that the provider showed, so that an answer holds for the tool as it was.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use toolmark_core::definition::Definition;
use toolmark_core::digest::ArgumentDigest;
use toolmark_core::json::Json;
use toolmark_core::names::PackName;
use toolmark_core::tool::{Source, ToolKind};
use toolmark_models::{HostedTool, Item, Raw};
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{FunctionTool, ListToolsError, Namespace, Strict, ToolBuilder, Toolset, TurnContext};

/// The pack that the tools of such servers stand in: `hosted_mcp.LABEL.TOOL`.
pub(crate) const PACK: &str = "hosted_mcp";

/// An MCP server that the provider calls by itself, and who says whether it may.
///
/// ```
/// use serde_json::json;
/// use toolmark_agents::{Agent, host::{HostedMcp, McpAnswer}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let wiki = HostedMcp::new(json!({
///     "server_label": "wiki", "server_url": "https://example.com/mcp", "require_approval": "always",
/// }))
/// .on_approval_request(|_, request| async move {
///     if request.tool == "read" { McpAnswer::Approve } else { McpAnswer::Reject(Some("only reading is allowed".into())) }
/// });
/// let agent = Agent::builder("Reader").hosted_mcp(wiki).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HostedMcp {
    pub(crate) config: Map<String, Value>,
    pub(crate) answers: Option<Answers>,
}

/// What the provider wants to call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct McpRequest {
    /// The label of the server, as the program gave it.
    pub server_label: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// What it would be called with.
    pub arguments: Value,
}

/// What the provider hears. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpAnswer {
    /// It may call the tool.
    Approve,
    /// It may not; the model reads why.
    Reject(Option<String>),
}

pub(crate) type Answers = Arc<dyn Fn(TurnContext, McpRequest) -> Later<'static, McpAnswer> + Send + Sync>;

impl HostedMcp {
    /// A server, with the settings as they go over the wire, such as `server_label` and `server_url`. A value that is no object has none.
    #[must_use]
    pub fn new(config: Value) -> Self {
        let config = match config {
            Value::Object(config) => config,
            _ => Map::new(),
        };
        Self { config, answers: None }
    }

    /// Who answers in place of a person. What rules deny stays denied, and nobody is asked about it.
    #[must_use]
    pub fn on_approval_request<F, T>(mut self, answers: F) -> Self
    where
        F: Fn(TurnContext, McpRequest) -> T + Send + Sync + 'static,
        T: Future<Output = McpAnswer> + Send + 'static,
    {
        self.answers = Some(Arc::new(move |turn, request| Box::pin(answers(turn, request))));
        self
    }
}

/// The servers of one agent, as tools that the pipeline judges.
pub(crate) struct Servers {
    servers: BTreeMap<String, Server>,
    namespace: Arc<Namespace>,
    /// What was listed last, so that nothing is built again while nothing changes.
    listed: Mutex<(Vec<Wanted>, Vec<FunctionTool>)>,
}

struct Server {
    /// Where it is: another place is another server, whatever its label.
    place: String,
}

/// What the provider has said about the tools of its servers, for the toolset above.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Heard(pub(crate) Vec<Wanted>);

/// One tool of one server, with what the provider showed of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    label: String,
    tool: String,
    shown: Option<Value>,
}

/// The label of a server of the provider.
pub(crate) fn label(tool: &HostedTool) -> Option<&str> {
    match tool {
        HostedTool::Mcp { config } => config.get("server_label").and_then(Value::as_str),
        _ => None,
    }
}

/// The label and the tool that a request is about.
pub(super) fn about(raw: &Raw) -> Option<(&str, &str)> {
    let text = |field: &str| raw.value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    Some((text("server_label")?, text("name")?))
}

/// What a request asks for.
pub(crate) fn request(raw: &Raw) -> Option<McpRequest> {
    let (label, tool) = about(raw)?;
    let arguments = match raw.value.get("arguments") {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    Some(McpRequest { server_label: label.to_owned(), tool: tool.to_owned(), arguments })
}

/// The name of a tool inside of [`PACK`].
pub(super) fn name(label: &str, tool: &str) -> String {
    format!("{label}.{tool}")
}

impl Heard {
    /// The tools that were asked about in a conversation, each as the provider showed it last.
    pub(crate) fn of<'a>(items: &(impl Iterator<Item = &'a Item> + Clone)) -> Self {
        let raws = || {
            items.clone().filter_map(|item| match item {
                Item::Hosted(raw) => Some(raw),
                _ => None,
            })
        };
        let mut all: Vec<Wanted> = Vec::new();
        for raw in raws().filter(|raw| raw.kind() == "mcp_approval_request") {
            let Some((label, tool)) = about(raw) else { continue };
            if !all.iter().any(|one| one.label == label && one.tool == tool) {
                all.push(Wanted { label: label.to_owned(), tool: tool.to_owned(), shown: None });
            }
        }
        for list in raws().filter(|raw| raw.kind() == "mcp_list_tools") {
            let label = list.value.get("server_label").and_then(Value::as_str);
            let tools = list.value.get("tools").and_then(Value::as_array);
            for tool in tools.into_iter().flatten() {
                let name = tool.get("name").and_then(Value::as_str);
                let own = |one: &&mut Wanted| Some(one.label.as_str()) == label && Some(one.tool.as_str()) == name;
                if let Some(one) = all.iter_mut().find(own) {
                    one.shown = Some(tool.clone());
                }
            }
        }
        Self(all)
    }
}

impl Servers {
    /// Nothing where there is no such server.
    pub(crate) fn new(hosted: &[HostedTool]) -> Option<Self> {
        let mut servers = BTreeMap::new();
        for tool in hosted {
            let (Some(label), HostedTool::Mcp { config }) = (label(tool), tool) else { continue };
            let text = |key: &str| config.get(key).and_then(Value::as_str);
            let place = text("server_url").or_else(|| text("connector_id")).unwrap_or_default().to_owned();
            servers.insert(label.to_owned(), Server { place });
        }
        let name: PackName = PACK.parse().ok().filter(|_| !servers.is_empty())?;
        let description = "Tools of MCP servers that the provider calls";
        let namespace = Arc::new(Namespace::new(name, description, Source::new("hosted-mcp")));
        Some(Self { servers, namespace, listed: Mutex::default() })
    }

    /// What was asked about, of servers that are ours.
    fn wanted(&self, heard: Option<&Heard>) -> Vec<Wanted> {
        let heard = heard.map(|heard| heard.0.as_slice()).unwrap_or_default();
        heard.iter().filter(|one| self.servers.contains_key(&one.label)).cloned().collect()
    }

    /// The pack of its tools.
    pub(crate) fn pack(&self) -> PackName {
        self.namespace.name().clone()
    }

    fn build(&self, wanted: &Wanted) -> Option<FunctionTool> {
        let server = self.servers.get(&wanted.label)?;
        let shown = wanted.shown.as_ref().and_then(|shown| server.tool(wanted, Some(shown)).build().ok());
        // What cannot be used of a definition leaves the name, about which a person can still be asked.
        let tool = shown.or_else(|| server.tool(wanted, None).build().ok())?;
        Some(tool.in_namespace(Arc::clone(&self.namespace)))
    }
}

impl Server {
    fn tool(&self, wanted: &Wanted, shown: Option<&Value>) -> ToolBuilder {
        let name = name(&wanted.label, &wanted.tool);
        let place = format!("hosted-mcp:{}", wanted.label);
        let mut said = json!({ "name": name, "inputSchema": { "type": "object" } });
        if let Some(all) = said.as_object_mut() {
            let fields =
                [("description", "description"), ("input_schema", "inputSchema"), ("annotations", "annotations")];
            for (theirs, ours) in fields {
                if let Some(value) = shown.and_then(|shown| shown.get(theirs)).filter(|value| !value.is_null()) {
                    all.insert(ours.into(), value.clone());
                }
            }
            // Addresses may hold secrets, and what is decided about one server does not hold for another.
            let place = ArgumentDigest::of(&Json::String(self.place.as_str().into())).to_string();
            all.insert("_meta".into(), json!({ "dev.toolmark/server": place }));
        }
        // The call is the provider's: what runs here is the answer that it may be made.
        let builder = FunctionTool::builder(name.as_str())
            .parameters(json!({ "type": "object" }))
            .place(place.as_str())
            .strict(Strict::Never)
            .kind(ToolKind::Hosted)
            .needs_approval(true)
            .run(|_, _| async { Ok("approved") });
        match Definition::of_value(&place, &said) {
            Ok(definition) => builder.definition(definition),
            Err(_) => builder,
        }
    }
}

impl Toolset for Servers {
    fn tools<'a>(&'a self, turn: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>> {
        let wanted = self.wanted(turn.get::<Heard>());
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.0 != wanted {
            let tools = wanted.iter().filter_map(|wanted| self.build(wanted)).collect();
            *listed = (wanted, tools);
        }
        Box::pin(std::future::ready(Ok(listed.1.clone())))
    }
}

impl fmt::Debug for HostedMcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.config.get("server_label").and_then(Value::as_str);
        f.debug_struct("HostedMcp").field("server_label", &label).finish_non_exhaustive()
    }
}
