//! `toolmark up`: for now, shows the built-in workspace; the gateway itself is not in this version.

use crate::cli::{Inspect, Tools, Up};
use crate::commands::inspect;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(_: &Up) -> Result<Exit, Failure> {
    let exit = inspect::run(&Inspect {
        tool: None,
        tools: Tools { paths: Vec::new() },
        profile: toolmark_core::exposure::ProfileName::Generic,
        server: "toolmark".into(),
        exposure: toolmark_core::exposure::Mode::Auto,
        pack: None,
        disable: Vec::new(),
        lock: None,
        config: None,
        json: false,
    })?;
    output::line("")?;
    output::line(
        "This version has no gateway yet. It will serve these tools to MCP clients at http://127.0.0.1:7319/mcp.",
    )?;
    output::line("Until then, look at your own: `toolmark inspect --tools FILE`, `toolmark lint FILE`.")?;
    Ok(exit)
}
