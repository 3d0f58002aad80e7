//! The built-in workspace: four small servers over one database in memory, two of which have a tool of the same name.
//!
//! They are real MCP servers in this process and do what they are told: what protects the data is the gateway in front of them.

mod data;
mod server;

use std::sync::Arc;

use toolmark_mcp::downstream::{Caller, Endpoint, Settings};

use crate::gateway::GatewayBuilder;
use data::Data;
use server::DemoServer;

/// The packs and their tools as `tools/list` gives them, in the order of the configuration.
pub const PACKS: &[(&str, &str)] = &[
    ("shop", include_str!("../demo/shop.json")),
    ("tracker", include_str!("../demo/tracker.json")),
    ("wiki", include_str!("../demo/wiki.json")),
    ("mail", include_str!("../demo/mail.json")),
];

/// How much fits into a pipe between the gateway and a server of the demo.
const PIPE: usize = 256 * 1024;

/// Adds the demo's packs to a gateway. Their data is new each time and gone with it.
#[must_use]
pub fn attach(mut builder: GatewayBuilder) -> GatewayBuilder {
    let data = Arc::new(Data::default());
    for (name, tools) in PACKS {
        let Ok(pack) = name.parse() else { continue };
        let data = Arc::clone(&data);
        builder = builder.built_in(pack, move || {
            let server = DemoServer::new(tools, Arc::clone(&data));
            let (ours, theirs) = (tokio::io::duplex(PIPE), tokio::io::duplex(PIPE));
            let endpoint = Endpoint::new(Arc::new(server), Settings::default());
            tokio::spawn(async move {
                // It ends when the gateway lets go of its ends.
                let _ = endpoint.stdio(theirs.0, ours.0, Caller::new("gateway")).await;
            });
            (ours.1, theirs.1)
        });
    }
    builder
}
