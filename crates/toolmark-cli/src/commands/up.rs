//! `toolmark up`: the gateway, until it is told to stop.

pub(crate) mod reload;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_core::text::visible;
use toolmark_gateway::{Gateway, GatewayBuilder, PackState, Serve};
use toolmark_mcp::upstream::oauth::Vault;
use toolmark_store::Store;
use toolmark_store::audit::{AuditSink, Durability, SinkSettings};

use self::reload::Followed;
use crate::cli::Up;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{logs, output, place};

/// How long the start waits for servers before it says which are late.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(arguments: &Up) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(up(arguments))
}

async fn up(arguments: &Up) -> Result<Exit, Failure> {
    let ended = wish_to_end()?;
    let written = Written::find(arguments.config.as_deref())?;
    logs::start(&written.config.telemetry.log)?;
    let (store, sink) = remember(&written, arguments.store.name.as_deref()).await?;
    let served = serve(arguments, written, &store, &sink, ended).await;
    // Also after a start that failed: the name of this node is given back, so that the next start need not wait for it.
    forget(&store, sink).await;
    served.map(|()| Exit::Success)
}

/// Serves until somebody wants it to end.
async fn serve(
    arguments: &Up,
    written: Written,
    store: &Store,
    sink: &AuditSink,
    ended: impl Future<Output = ()>,
) -> Result<(), Failure> {
    let listen = arguments.listen.unwrap_or(written.config.gateway.listen);
    let demo = written.path.is_none();
    let followed = Followed::new(&written);
    let vault = logins(&written, arguments.store.name.as_deref());
    let gateway = start(written, store, sink, vault).await?;
    let serve =
        Serve::bind(Arc::clone(&gateway), listen).await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let address = serve.address();
    let stop = CancellationToken::new();
    let running = tokio::spawn(serve.run(stop.clone()));
    output::line(format_args!("listening on http://{address}/mcp"))?;
    let _ = tokio::time::timeout(PATIENCE, gateway.settled()).await;
    introduce(&gateway, address, demo)?;
    match followed {
        Some(followed) => tokio::select! {
            () = ended => {}
            () = followed.follow(&gateway) => {}
        },
        None => ended.await,
    }
    output::note("stopping");
    stop.cancel();
    let _ = running.await;
    Ok(())
}

/// Writes what is not written yet, and closes the store.
pub(crate) async fn forget(store: &Store, sink: AuditSink) {
    if let Err(error) = sink.close().await {
        output::warn(&format!("the audit: {error}"));
    }
    place::close(store).await;
}

/// The gateway of a configuration, or of the demo workspace where there is none.
pub(crate) async fn start(
    written: Written,
    store: &Store,
    sink: &AuditSink,
    vault: Option<Vault>,
) -> Result<Arc<Gateway>, Failure> {
    let lock = written.lock()?;
    let directory = written.directory().to_owned();
    let demo = written.path.is_none();
    let mut builder =
        GatewayBuilder::new(written.config, directory).lock(lock).store(store.clone()).audit(sink.clone());
    if let Some(vault) = vault {
        builder = builder.vault(vault);
    }
    if demo {
        builder = toolmark_gateway::demo::attach(builder);
    }
    let builder = builder.recall().await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    builder.start().map_err(|error| Failure::Problems(error.problems().to_vec()))
}

/// Where tokens of logins are. Without such a place, packs that need a login say so.
pub(crate) fn logins(written: &Written, named: Option<&str>) -> Option<Vault> {
    place::logins(written, &place::location(written, named).ok()?).ok().flatten()
}

/// The store and the audit in it.
pub(crate) async fn remember(written: &Written, named: Option<&str>) -> Result<(Store, AuditSink), Failure> {
    let store = place::open(&place::location(written, named)?).await?;
    let durability = match written.config.durability() {
        toolmark_config::values::Durability::Strict => Durability::Strict,
        toolmark_config::values::Durability::Batched => Durability::Batched,
    };
    let failed = |error| Failure::refused(Exit::Failed, &error);
    let claim = store.claim_node("local").await.map_err(failed)?;
    let interrupted = store.recover_audit(&claim).await.map_err(failed)?;
    if interrupted > 0 {
        tracing::warn!(interrupted, "calls were under way when a gateway ended; nobody knows whether they ran");
    }
    let sink = store.audit_sink_of(claim, SinkSettings { durability, ..SinkSettings::new("local") });
    Ok((store, sink))
}

/// Who is there, where to connect, and what to try.
fn introduce(gateway: &Gateway, address: SocketAddr, demo: bool) -> Result<(), Failure> {
    let tools = gateway.snapshot().workspace().catalog().len();
    for pack in gateway.packs() {
        let state = match pack.state() {
            PackState::Ready => "ready".to_owned(),
            PackState::Starting => "still starting; its tools appear when it is there".to_owned(),
            PackState::Unavailable(why) => format!("not there, tried again: {}", visible(&why, 200)),
            PackState::Stopped => "stopped".to_owned(),
        };
        output::line(format_args!("  {}: {state}", pack.name()))?;
    }
    output::line(format_args!("{} in {}", output::count(tools, "tool"), output::count(gateway.packs().len(), "pack")))?;
    for doubt in gateway.doubts() {
        output::doubt(&doubt.to_string());
    }
    output::line("")?;
    output::line(format_args!("connect   claude mcp add --transport http toolmark http://{address}/mcp"))?;
    output::line(format_args!("only read http://{address}/mcp/read-only"))?;
    if demo {
        output::line("")?;
        output::line("This is the built-in demo workspace. Try a call that is blocked:")?;
        // The other commands look for it where it listens unless told otherwise.
        let usual = address == Config::default().gateway.listen;
        let there = if usual { String::new() } else { format!(" --url http://{address}/mcp") };
        output::line(format_args!(r#"  toolmark call read_query '{{"query":"DELETE FROM users"}}'{there}"#))?;
        output::line("Your own servers: `toolmark init` writes `toolmark.toml` from the clients you have.")?;
    }
    Ok(())
}

/// Hears from now on that somebody wants it to end, so that no signal finds nobody at home.
fn wish_to_end() -> Result<impl Future<Output = ()>, Failure> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
