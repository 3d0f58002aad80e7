//! Other gateways, by pinned version from PyPI and npm, kept in the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::measure::program;
use super::process::free_port;
use super::setup::Shape;
use crate::run::say;

const FASTMCP: &str = "4.0.11";
const MCP_PROXY: &str = "0.13.0";
const SUPERGATEWAY: &str = "4.0.0";

/// Serves what a client for all servers sees, over one connection to each of them.
const FASTMCP_SHARED: &str = r#"import asyncio, json, sys
from fastmcp import Client
from fastmcp.server import create_proxy

async def serve(config, port):
    async with Client(config) as client:
        proxy = create_proxy(client, name="peer")
        await proxy.run_async(transport="http", host="127.0.0.1", port=port, path="/mcp", show_banner=False)

asyncio.run(serve(json.load(open(sys.argv[1])), int(sys.argv[2])))
"#;

/// Where they were installed.
pub(super) struct Peers {
    folder: PathBuf,
}

/// One of them, ready to be started.
pub(super) struct Peer {
    pub(super) name: &'static str,
    pub(super) command: Command,
    pub(super) port: u16,
}

impl Peers {
    /// Installs what is missing.
    pub(super) fn install(folder: &Path) -> Result<Self, String> {
        let peers = Self { folder: folder.join("peers") };
        fs::create_dir_all(&peers.folder).map_err(|error| format!("{}: {error}", peers.folder.display()))?;
        // One that cannot be installed, because a registry has changed, does not keep the others from being measured.
        let installed = [
            // The package and the one that does its work, which would otherwise be of any later version.
            peers.python("fastmcp", FASTMCP, &["fastmcp-slim"]),
            peers.python("mcp-proxy", MCP_PROXY, &[]),
            peers.node("supergateway", SUPERGATEWAY),
        ];
        for error in installed.into_iter().filter_map(Result::err) {
            say(&format!("left out: {error}"));
        }
        let script = peers.folder.join("fastmcp-shared.py");
        fs::write(&script, FASTMCP_SHARED).map_err(|error| format!("{}: {error}", script.display()))?;
        Ok(peers)
    }

    /// Those that can do a shape. They are given a port each; who does not get one is left out.
    pub(super) fn commands(&self, shape: Shape, port: u16) -> Vec<Peer> {
        let all = [
            ("fastmcp", FASTMCP, self.fastmcp(shape, port)),
            ("mcp-proxy", MCP_PROXY, self.mcp_proxy(shape, port)),
            ("supergateway", SUPERGATEWAY, self.supergateway(shape)),
        ];
        let there = |name, version| self.environment(name, version).join("installed").exists();
        all.into_iter().filter_map(|(name, version, peer)| peer.filter(|_| there(name, version))).collect()
    }

    fn fastmcp(&self, shape: Shape, upstream: u16) -> Option<Peer> {
        let port = free_port().ok()?;
        let config = self.folder.join(format!("fastmcp-{port}.json"));
        let servers: Map<String, Value> = shape
            .packs(upstream)
            .into_iter()
            .map(|(name, address)| match address {
                Some(address) => (name, json!({"url": address, "transport": "http"})),
                None => (name, json!({"command": program(), "args": ["upstream"]})),
            })
            .collect();
        fs::write(&config, json!({"mcpServers": servers}).to_string()).ok()?;
        let mut command = Command::new(self.environment("fastmcp", FASTMCP).join("bin/python"));
        command.arg(self.folder.join("fastmcp-shared.py")).arg(config).arg(port.to_string());
        Some(Peer { name: "fastmcp", command, port })
    }

    fn mcp_proxy(&self, shape: Shape, upstream: u16) -> Option<Peer> {
        let port = free_port().ok()?;
        let own = self.environment("mcp-proxy", MCP_PROXY).join("bin/mcp-proxy");
        let mut command = Command::new(&own);
        command.args(["--port", &port.to_string(), "--pass-environment", "--"]);
        match shape {
            // It goes from HTTP to stdio or back, so two of them make a way from HTTP to HTTP.
            Shape::One => {
                command.arg(own).args(["--transport", "streamablehttp", &format!("http://127.0.0.1:{upstream}/mcp")]);
            }
            Shape::Program => {
                command.arg(program()).arg("upstream");
            }
            Shape::Twenty => return None,
        }
        Some(Peer { name: "mcp-proxy", command, port })
    }

    fn supergateway(&self, shape: Shape) -> Option<Peer> {
        if shape != Shape::Program {
            return None;
        }
        let port = free_port().ok()?;
        let folder = self.environment("supergateway", SUPERGATEWAY);
        let mut command = Command::new(folder.join("node_modules/.bin/supergateway"));
        command.args(["--stdio", &format!("{} upstream", program().display())]);
        command.args(["--outputTransport", "streamableHttp", "--stateful", "--port", &port.to_string()]);
        command.args(["--logLevel", "none"]);
        Some(Peer { name: "supergateway", command, port })
    }

    fn environment(&self, name: &str, version: &str) -> PathBuf {
        self.folder.join(format!("{name}-{version}"))
    }

    /// Installs a package, and others of the same version.
    fn python(&self, name: &str, version: &str, others: &[&str]) -> Result<(), String> {
        let folder = self.environment(name, version);
        let done = folder.join("installed");
        if done.exists() {
            return Ok(());
        }
        say(&format!("installing `{name}=={version}` from PyPI into {}", folder.display()));
        quietly(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
        let packages = std::iter::once(&name).chain(others).map(|name| format!("{name}=={version}"));
        quietly(Command::new(folder.join("bin/pip")).args(["install", "--quiet"]).args(packages))?;
        fs::write(&done, "").map_err(|error| format!("{}: {error}", done.display()))
    }

    fn node(&self, name: &str, version: &str) -> Result<(), String> {
        let folder = self.environment(name, version);
        let done = folder.join("installed");
        if done.exists() {
            return Ok(());
        }
        say(&format!("installing `{name}@{version}` from npm into {}", folder.display()));
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", "--prefix"]);
        quietly(npm.arg(&folder).arg(format!("{name}@{version}")))?;
        fs::write(&done, "").map_err(|error| format!("{}: {error}", done.display()))
    }
}

/// Runs an installer.
fn quietly(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` ended with {status}; installing needs a network")),
        Err(error) => Err(format!("cannot start `{program}`: {error}")),
    }
}
