//! What is there to try without any configuration? Five small packs, each a real MCP server in this process, over one database in memory.
//!
//! Two of them have a tool called `search`, on purpose. The servers do as they are told, like most: what protects the data is the gate.

mod agora;
mod database;
mod mail;
mod outcome;
mod server;
mod shop;
mod tracker;
mod wiki;

use std::path::PathBuf;
use std::sync::Arc;

use toolmark_config::Config;
use toolmark_core::names::PackName;
use toolmark_mcp::downstream::{Caller, Endpoint, Settings};
use toolmark_models::scripted::ReadScriptError;
use toolmark_models::{Model, ScriptedModel};

use crate::builder::GatewayBuilder;
use database::Database;
use server::{Server, Trade};

/// The packs in load order: the name, and the text of what it answers to `tools/list`.
pub const PACKS: &[(&str, &str)] = &[SHOP, TRACKER, WIKI, MAIL, AGORA];

const SHOP: (&str, &str) = ("shop", include_str!("../../demo/shop.json"));
const TRACKER: (&str, &str) = ("tracker", include_str!("../../demo/tracker.json"));
const WIKI: (&str, &str) = ("wiki", include_str!("../../demo/wiki.json"));
const MAIL: (&str, &str) = ("mail", include_str!("../../demo/mail.json"));

const AGORA: (&str, &str) = ("agora", include_str!("../../demo/agora.json"));

const AGENTS: &str = include_str!("../../demo/agents/toolmark.toml");
const SCRIPT: &str = include_str!("../../demo/agents/script.json");

/// How many bytes wait in a pipe before its writer does.
const PIPE_BYTES: usize = 64 << 10;

/// The configuration of the demo workspace: its agent. It can be read, which the tests see.
#[must_use]
pub fn config() -> Config {
    Config::read(AGENTS, "demo/agents/toolmark.toml").unwrap_or_default()
}

/// The model of the demo's agent, which follows a script.
///
/// # Errors
/// [`ReadScriptError`] when the script is none; the tests see that it is one.
pub fn model() -> Result<Arc<dyn Model>, ReadScriptError> {
    Ok(Arc::new(ScriptedModel::parse(SCRIPT)?))
}

/// A gateway with the demo packs and nothing else.
#[must_use]
pub fn builder() -> GatewayBuilder {
    attach(GatewayBuilder::new(Config::default(), PathBuf::from(".")))
}

/// Adds the demo packs to a gateway. Their data is its own, made at the first call and gone with it.
#[must_use]
pub fn attach(builder: GatewayBuilder) -> GatewayBuilder {
    let database = Database::new();
    let builder = match model() {
        Ok(model) => builder.agents(&config(), model),
        // The tests see that the script is one.
        Err(_) => builder,
    };
    [(SHOP, Trade::Shop), (TRACKER, Trade::Tracker), (WIKI, Trade::Wiki), (MAIL, Trade::Mail), (AGORA, Trade::Agora)]
        .into_iter()
        .fold(builder, |builder, (pack, trade)| attach_one(builder, pack, trade, database.clone()))
}

fn attach_one(
    builder: GatewayBuilder,
    (name, tools): (&'static str, &'static str),
    trade: Trade,
    database: Database,
) -> GatewayBuilder {
    // The names above are valid, which the tests see; one that is not would be a pack less, never a panic.
    let Ok(pack) = name.parse::<PackName>() else { return builder };
    let endpoint = Endpoint::new(Arc::new(Server::new(name, tools, trade, database)), Settings::default());
    builder.built_in(pack, move || {
        let (our_input, their_output) = tokio::io::duplex(PIPE_BYTES);
        let (their_input, our_output) = tokio::io::duplex(PIPE_BYTES);
        let endpoint = endpoint.clone();
        // Ends with the pipes, which the gateway holds.
        tokio::spawn(async move {
            if let Err(error) = endpoint.stdio(their_input, their_output, Caller::new("gateway")).await {
                tracing::debug!(pack = name, %error, "a demo server ended");
            }
        });
        (our_input, our_output)
    })
}

#[cfg(test)]
mod tests;
