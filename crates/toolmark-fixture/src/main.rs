//! `toolmark-fixture`: the fixture as a process, over HTTP on the loopback address or over standard input and output.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use clap::Parser;
use toolmark_fixture::{Fixture, Options, serve_http, serve_stdio};

#[derive(Parser)]
#[command(
    name = "toolmark-fixture",
    version,
    about = "An MCP server that offers everything the protocol has, for tests"
)]
struct Cli {
    /// The port to listen on; 0 takes a free one
    #[arg(long, env = "PORT", default_value_t = 0)]
    port: u16,
    /// Speak over standard input and output instead of HTTP
    #[arg(long)]
    stdio: bool,
    #[command(flatten)]
    options: Options,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nobody to tell when standard error is closed.
            let _ = writeln!(io::stderr(), "toolmark-fixture: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(cli: Cli) -> Result<(), Box<dyn std::error::Error>> {
    let fixture = Fixture::new(cli.options)?;
    if cli.stdio {
        return Ok(serve_stdio(fixture).await?);
    }
    let server = serve_http(fixture, SocketAddr::from((Ipv4Addr::LOCALHOST, cli.port))).await?;
    writeln!(io::stdout(), "listening on {}", server.url())?;
    io::stdout().flush()?;
    Ok(server.stopped().await?)
}
