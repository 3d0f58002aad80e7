//! One pack of the demo as an MCP server: it lists what its file says and does what it is told.

use std::sync::Arc;

use bytes::Bytes;
use toolmark_core::explain::Explain as _;
use toolmark_core::text::visible;
use toolmark_mcp::downstream::{About, Answer, Caller, Context, Fault, Incoming, Service};
use toolmark_mcp::wire::params::CallParams;
use toolmark_mcp::wire::{Limits, RawObject, codes};

use super::database::Database;
use super::outcome::{self, Outcome};
use super::{agora, mail, shop, tracker, wiki};

/// Whose tools a server has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trade {
    Shop,
    Tracker,
    Wiki,
    Mail,
    Agora,
}

/// A server of the demo.
pub(super) struct Server {
    about: Arc<About>,
    tools: &'static str,
    trade: Trade,
    database: Database,
}

impl Server {
    pub(super) fn new(name: &str, tools: &'static str, trade: Trade, database: Database) -> Self {
        let info = serde_json::json!({"name": format!("toolmark-demo-{name}"), "version": env!("CARGO_PKG_VERSION")});
        let about = About {
            server_info: Bytes::from(info.to_string()),
            capabilities: object(Bytes::from_static(br#"{"tools":{}}"#)),
            instructions: None,
            ttl_ms: 60_000,
            public: true,
        };
        Self { about: Arc::new(about), tools, trade, database }
    }

    async fn call_tool(&self, params: &RawObject) -> Answer {
        let params = match CallParams::of(params) {
            Ok(params) => params,
            Err(error) => {
                return Answer::Fault(Fault::new(codes::INVALID_PARAMS, error.to_string()).coded(error.code()));
            }
        };
        let arguments = params.arguments().unwrap_or_else(|| Bytes::from_static(b"{}"));
        match self.run(params.name(), &arguments).await {
            Some(outcome) => outcome::answer(outcome),
            None => Answer::fault(codes::INVALID_PARAMS, format!("Unknown tool: `{}`", visible(params.name(), 200))),
        }
    }

    /// Runs a tool; nothing for one that this server does not have.
    async fn run(&self, tool: &str, arguments: &[u8]) -> Option<Outcome> {
        match self.trade {
            Trade::Shop => shop::run(&self.database, tool, arguments).await,
            Trade::Tracker => tracker::run(&self.database, tool, arguments).await,
            Trade::Wiki => wiki::run(&self.database, tool, arguments).await,
            Trade::Mail => mail::run(&self.database, tool, arguments).await,
            Trade::Agora => agora::run(&self.database, tool, arguments).await,
        }
    }
}

impl Service for Server {
    async fn call(&self, request: Incoming, _: Context) -> Answer {
        match &*request.method {
            "tools/list" => Answer::Result(object(Bytes::from_static(self.tools.as_bytes()))),
            "tools/call" => self.call_tool(&request.params).await,
            _ => Answer::fault(codes::METHOD_NOT_FOUND, "this method is not known here"),
        }
    }

    fn about(&self, _: &Caller) -> Arc<About> {
        Arc::clone(&self.about)
    }
}

/// Text of ours as an object; an empty one for what is none, which ours always is.
fn object(text: Bytes) -> RawObject {
    RawObject::read(text, Limits::default()).unwrap_or_else(|_| RawObject::empty())
}
