//! MCP on both sides and in both eras: what a client says to us and what we say to a server, as raw JSON that loses nothing.

pub mod downstream;
pub mod relay;
pub mod toolset;
pub mod upstream;
pub mod wire;

#[cfg(test)]
#[path = "../../../fuzz/checks/mcp_wire.rs"]
mod checks;
#[cfg(test)]
mod seeds;
