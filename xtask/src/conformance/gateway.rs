//! The gateway as the suite meets it: one pack, whose tools, resources and prompts keep the names that their server gave them.

use std::fs;
use std::process::Command;

use super::cache;
use super::server::Server;
use crate::run::{cargo, succeeds, target};

/// Builds the gateway.
pub(super) fn build() -> Result<(), String> {
    let build = ["build", "--locked", "--quiet", "--package", "toolmark-cli"];
    let built = succeeds("cargo build: the gateway", &mut cargo(&build));
    if built { Ok(()) } else { Err("the gateway does not build".to_owned()) }
}

/// Starts a gateway in front of one server, which it takes for one of this revision, and waits until it lists what the server offers.
pub(super) fn in_front_of(url: &str, era: &str) -> Result<Server, String> {
    let folder = cache().join("gateway").join(era);
    let config = folder.join("toolmark.toml");
    let cannot = |error: std::io::Error| format!("{}: {error}", config.display());
    fs::create_dir_all(&folder).map_err(cannot)?;
    let text = format!("[packs.fixture]\nurl = \"{url}\"\nera = \"{era}\"\nexposure = \"bare\"\n");
    fs::write(&config, text).map_err(cannot)?;
    let mut gateway = Command::new(target().join("debug/toolmark"));
    gateway.args(["up", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:", "--config"]).arg(&config);
    let server = Server::start(gateway.current_dir(&folder))?;
    server.wait_until_ready()?;
    Ok(server)
}
