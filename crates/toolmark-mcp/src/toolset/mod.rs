//! Which tools does a server have, for an agent in this program? One [`McpServer`] is one server as a pack of tools: it is started or
//! reached when it is first needed, listed again when its list changed, and started again when it is gone. Calls come through the
//! pipeline like those of every other tool; what was judged is what is called, or nothing is.

mod builder;
mod call;
mod connection;
mod content;
mod error;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use toolmark_core::definition::{Definition, Form};
use toolmark_core::digest::DefinitionDigest;
use toolmark_core::document::Slice;
use toolmark_core::explain::{Explain as _, Report};
use toolmark_core::names::PackName;
use toolmark_core::tool::ToolKind;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{FunctionTool, ListToolsError, Namespace, Strict, Toolset, TurnContext};

pub use builder::McpServerBuilder;
pub use call::{Sent, Still, send};
pub use error::{McpCallError, McpServerError};

use crate::upstream::{ConnectOptions, Listing, Target, Upstream};
use crate::wire::headers::ParamHeaders;
use connection::{Connection, Signals};

/// An MCP server as a pack of tools. Cheap to clone; all clones are one connection, which ends with the last of them or with
/// [`close`](Self::close).
///
/// ```no_run
/// use toolmark_mcp::toolset::McpServer;
///
/// # fn main() -> Result<(), toolmark_mcp::toolset::McpServerError> {
/// let github = McpServer::program("github", "github-mcp-server").arg("stdio").env("GITHUB_TOKEN", "…").build()?;
/// let docs = McpServer::at("docs", "https://docs.example.com/mcp").bearer("…").build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct McpServer(Arc<Inner>);

pub(crate) struct Inner {
    namespace: Arc<Namespace>,
    target: Target,
    options: ConnectOptions,
    settings: Settings,
    /// Held while the server is started or listed, so that many turns do it once.
    connection: tokio::sync::Mutex<Connection>,
    /// The connection that calls go through while nothing changed.
    live: RwLock<Option<(Upstream, Signals)>>,
}

/// What the program wants of the server's tools.
pub(crate) struct Settings {
    timeout: Duration,
    only: Option<Vec<String>>,
    without: Vec<String>,
    strict: Strict,
    structured: bool,
}

/// A tool as the server listed it: what a call is sent to.
pub(crate) struct Known {
    /// The name that the server knows it by, whatever models call it.
    raw: String,
    digest: DefinitionDigest,
    headers: ParamHeaders,
}

impl McpServer {
    /// A server that is a program, which is started with pipes to its standard input and output. The name is that of the pack: models
    /// see it as a namespace.
    #[must_use]
    pub fn program(pack: impl Into<String>, command: impl Into<String>) -> McpServerBuilder {
        McpServerBuilder::program(pack.into(), command.into())
    }

    /// A server at an address, behind streamable HTTP.
    #[must_use]
    pub fn at(pack: impl Into<String>, url: impl Into<String>) -> McpServerBuilder {
        McpServerBuilder::at(pack.into(), url.into())
    }

    /// The name of the pack.
    #[must_use]
    pub fn name(&self) -> &PackName {
        self.0.namespace.name()
    }

    /// Starts or reaches the server and lists its tools now, for those who want to know before a run begins.
    ///
    /// # Errors
    /// [`McpServerError`] when it cannot be reached or its tools cannot be used.
    pub async fn connect(&self) -> Result<Vec<FunctionTool>, McpServerError> {
        self.0.tools().await.map(|tools| tools.to_vec())
    }

    /// The last lines that a program wrote to its standard error; empty for other servers.
    #[must_use]
    pub fn stderr_tail(&self) -> Vec<String> {
        self.0.live().map(|(upstream, _)| upstream.stderr_tail()).unwrap_or_default()
    }

    /// Ends the connection, and the program with all that it started. Its tools cannot be listed or called afterwards.
    pub async fn close(&self) {
        self.0.close().await;
    }
}

impl Toolset for McpServer {
    fn tools<'a>(&'a self, _: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>> {
        Box::pin(async move {
            let listed = self.0.tools().await;
            listed.map(|tools| tools.to_vec()).map_err(|error| ListToolsError::new(self.name().as_str(), error))
        })
    }
}

impl Inner {
    fn live(&self) -> Option<(Upstream, Signals)> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_live(&self, live: Option<(Upstream, Signals)>) {
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = live;
    }

    /// Makes tools of what a server listed. Tools that are listed as before stay the same; all mistakes are said at once.
    fn read(self: &Arc<Self>, listing: &Listing, before: &[FunctionTool]) -> Result<Vec<FunctionTool>, McpServerError> {
        let label = format!("{} (tools/list)", self.namespace.name());
        let (mut tools, mut reports): (Vec<FunctionTool>, Vec<Report>) = (Vec::new(), Vec::new());
        let mut seen = Vec::new();
        for item in &listing.items {
            let text = Slice::of(label.as_str(), String::from_utf8_lossy(item).into_owned());
            let definition = match Definition::read(&text, Form::Tool) {
                Ok(definition) => definition,
                // What the program leaves out need not be readable.
                Err(error) if !self.settings.admits(error.tool().map_or("", |name| name.as_str())) => continue,
                Err(error) => {
                    reports.push(error.report());
                    continue;
                }
            };
            seen.push(definition.name().as_str().to_owned());
            if !self.settings.admits(definition.name().as_str()) {
                continue;
            }
            let same = before.iter().find(|tool| tool.definition().digest() == definition.digest());
            match same {
                Some(tool) => tools.push(tool.clone()),
                None => match self.tool(definition) {
                    Ok(tool) => tools.push(tool),
                    Err(report) => reports.push(*report),
                },
            }
        }
        if !reports.is_empty() {
            return Err(McpServerError::Definitions { server: self.name(), reports });
        }
        let wanted = self.settings.only.iter().flatten();
        let absent: Vec<String> = wanted.filter(|name| !seen.contains(name)).cloned().collect();
        if !absent.is_empty() {
            return Err(McpServerError::Absent { server: self.name(), tools: absent });
        }
        Ok(tools)
    }

    fn tool(self: &Arc<Self>, definition: Definition) -> Result<FunctionTool, Box<Report>> {
        let headers = ParamHeaders::read(&definition.reading().input_schema().to_value())
            .map_err(|error| Box::new(error.report()))?;
        let raw = definition.name().as_str().to_owned();
        let known = Arc::new(Known { raw: raw.clone(), digest: definition.digest(), headers });
        // Tools do not keep the server alive: it holds them.
        let server = Arc::downgrade(self);
        let tool = FunctionTool::builder(raw)
            .kind(ToolKind::Mcp)
            .definition(definition)
            .strict(self.settings.strict)
            .timeout(self.settings.timeout)
            .run(move |context, arguments| call::call(server.clone(), Arc::clone(&known), context, arguments))
            .build()
            .map_err(|error| Box::new(error.report()))?;
        Ok(tool.in_namespace(Arc::clone(&self.namespace)))
    }

    fn name(&self) -> String {
        self.namespace.name().as_str().to_owned()
    }
}

impl Settings {
    fn admits(&self, name: &str) -> bool {
        let wanted = self.only.as_ref().is_none_or(|only| only.iter().any(|one| one == name));
        wanted && !self.without.iter().any(|one| one == name)
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("name", &self.name().as_str()).field("target", &self.0.target).finish()
    }
}

#[cfg(test)]
mod tests;
