//! The gateway's tools for an agent: the definitions of the snapshot as they are now, and the way to the packs that own them.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use toolmark_core::digest::DefinitionDigest;
use toolmark_core::names::CanonicalName;
use toolmark_core::text::visible;
use toolmark_core::tool::{Tool, ToolKind};
use toolmark_mcp::toolset::{McpCallError, Sent, Still, send};
use toolmark_mcp::wire::headers::ParamHeaders;
use toolmark_policy::pattern::Glob;
use toolmark_runtime::approve::Later;
use toolmark_runtime::tools::{
    Arguments, FunctionTool, ListToolsError, ToolContext, ToolError, ToolOutput, Tools, Toolset, TurnContext,
};

use super::names::{Meant, Spelling, running};
use crate::gateway::Gateway;
use crate::service::call::{note, reach, still_there, timeout};
use crate::snapshot::Snapshot;
use crate::telemetry;
use crate::view::Listed;

/// The tools of one agent.
pub(super) struct GatewayTools {
    gateway: Arc<Gateway>,
    named: BTreeSet<CanonicalName>,
    patterns: Vec<Glob>,
    /// Tasks may show fewer tools.
    task: Option<String>,
    /// What was made last, and of what: tools that did not change stay the same.
    made: Mutex<Option<(Arc<Snapshot>, Vec<FunctionTool>)>>,
}

/// A tool as it was judged.
struct Judged {
    canonical: CanonicalName,
    digest: DefinitionDigest,
    headers: ParamHeaders,
}

impl GatewayTools {
    pub(super) fn new(gateway: Arc<Gateway>, meant: &[Meant], task: Option<String>) -> Self {
        let patterns = meant.iter().filter(|one| one.spelling == Spelling::Pattern);
        let named = meant.iter().filter(|one| one.spelling != Spelling::Pattern);
        Self {
            gateway,
            named: named.flat_map(|one| one.tools.iter().cloned()).collect(),
            patterns: patterns.map(|one| Glob::new(&one.written)).collect(),
            task,
            made: Mutex::default(),
        }
    }

    fn list(&self) -> Result<Vec<FunctionTool>, ListToolsError> {
        let snapshot = self.gateway.snapshot();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, tools)) = &*made
            && Arc::ptr_eq(of, &snapshot)
        {
            return Ok(tools.clone());
        }
        let tools = self.make(&snapshot)?;
        *made = Some((snapshot, tools.clone()));
        Ok(tools)
    }

    fn make(&self, snapshot: &Snapshot) -> Result<Vec<FunctionTool>, ListToolsError> {
        let (config, catalog) = (snapshot.config(), snapshot.workspace().catalog());
        let (table, _) = running(catalog, config);
        let listed = Listed::of(config.tasks.iter().find(|(name, _)| Some(name.as_str()) == self.task.as_deref()));
        let wanted: BTreeSet<&CanonicalName> = table
            .listed()
            .filter(|row| listed.shows(row) && self.wants(row.tool, row.name.as_str()))
            .map(|row| row.tool.canonical())
            .collect();
        let mut all = Vec::new();
        for (pack, _) in catalog.packs().filter(|(_, enabled)| *enabled) {
            let own = pack.tools().iter().filter(|tool| wanted.contains(tool.canonical()));
            let Some(name) = pack.name() else { continue };
            let tools = Tools::pack(name.as_str()).source(pack.source().clone());
            let tools = own.fold(tools, |tools, tool| tools.tool(self.tool(tool)));
            let built = tools.build().map_err(|error| ListToolsError::new(name.as_str(), error))?;
            all.extend(built.list().iter().cloned());
        }
        Ok(all)
    }

    fn wants(&self, tool: &Tool, exposed: &str) -> bool {
        let names = [tool.canonical().as_str(), tool.raw().as_str(), exposed];
        self.named.contains(tool.canonical())
            || self.patterns.iter().any(|glob| names.iter().any(|name| glob.matches(name)))
    }

    fn tool(&self, tool: &Tool) -> toolmark_runtime::tools::ToolBuilder {
        let schema = tool.definition().reading().input_schema().to_value();
        let judged = Arc::new(Judged {
            canonical: tool.canonical().clone(),
            digest: tool.digest(),
            headers: ParamHeaders::read(&schema).unwrap_or_default(),
        });
        let gateway = Arc::clone(&self.gateway);
        FunctionTool::builder(tool.raw().as_str()).kind(ToolKind::Mcp).definition(tool.definition().clone()).run(
            move |context, arguments| {
                let (gateway, judged) = (Arc::clone(&gateway), Arc::clone(&judged));
                async move { call(&gateway, &judged, &context, &arguments).await }
            },
        )
    }
}

/// Sends a call to the pack of its tool, once; where the tool is another by now, to nobody.
async fn call(
    gateway: &Arc<Gateway>,
    judged: &Judged,
    context: &ToolContext,
    arguments: &Arguments,
) -> Result<ToolOutput, ToolError> {
    let snapshot = gateway.snapshot();
    let same = |tool: &&Tool| *tool.canonical() == judged.canonical && tool.digest() == judged.digest;
    let shown = visible(judged.canonical.as_str(), 200);
    let Some(tool) = snapshot.workspace().catalog().tools().find(same) else {
        return Err(McpCallError::Changed.told(&shown));
    };
    let (pack, upstream) = reach(gateway, &snapshot, tool).map_err(|error| ToolError::told(error.text(&shown)))?;
    let sent = Sent {
        raw: tool.raw().as_str(),
        headers: judged.headers.headers(arguments.value()),
        timeout: Some(timeout(&snapshot, tool, pack.timeout())),
        structured: false,
        meta: telemetry::current().map(|span| span.put_into(None, None)),
        still: Some(Still::that(still_there(gateway, pack, tool))),
    };
    let brought = send(&upstream, sent, context, arguments).await;
    note(
        pack,
        match &brought {
            Err(McpCallError::Upstream(error)) => Some(error),
            _ => None,
        },
    );
    brought.map_err(|error| error.told(&shown))
}

impl Toolset for GatewayTools {
    fn tools<'a>(&'a self, _: &'a TurnContext) -> Later<'a, Result<Vec<FunctionTool>, ListToolsError>> {
        Box::pin(std::future::ready(self.list()))
    }
}
