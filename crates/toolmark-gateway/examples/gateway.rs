//! A gateway for a configuration file, with nothing around it: `gateway <toolmark.toml> [--listen <address>]`.

use std::error::Error;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;

use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_gateway::{GatewayBuilder, Serve};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: gateway <toolmark.toml> [--listen <address>]")?;
    let address: SocketAddr = match (arguments.next().as_deref(), arguments.next()) {
        (None, None) => SocketAddr::from(([127, 0, 0, 1], 0)),
        (Some("--listen"), Some(address)) => address.parse()?,
        _ => return Err("usage: gateway <toolmark.toml> [--listen <address>]".into()),
    };
    let config = Config::read(&std::fs::read_to_string(&path)?, &path)?;
    let directory = Path::new(&path).parent().unwrap_or(Path::new("")).to_owned();
    let gateway = GatewayBuilder::new(config, directory).start().map_err(|error| {
        let problems: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
        problems.join("\n")
    })?;
    gateway.settled().await;
    let serve = Serve::bind(gateway, address).await?;
    writeln!(io::stdout(), "listening on http://{}/mcp", serve.address())?;
    io::stdout().flush()?;
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        // A process that cannot hear the signal is ended by it.
        if tokio::signal::ctrl_c().await.is_ok() {
            told.cancel();
        }
    });
    serve.run(stop).await;
    Ok(())
}
