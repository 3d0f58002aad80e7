//! `toolmark up`: the gateway, until it is told to stop.

pub(crate) mod reload;

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_core::explain::Explain as _;
use toolmark_core::text::visible;
use toolmark_gateway::{AgentSpans, Gateway, GatewayBuilder, PackState, Serve};
use toolmark_mcp::upstream::oauth::Vault;
use toolmark_store::audit::{AuditSink, Durability, NodeClaim, SinkSettings};
use toolmark_store::{Location, Store, StoreError};

use self::reload::Followed;
use super::console;
use crate::clients::absolute;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::StoreName;
use crate::wish::Wish;
use crate::workspace::Written;
use crate::{logs, memory, output, place, who};

/// How long the start waits for servers before it says which are late.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// The configuration [default: toolmark.toml, if it is there; otherwise the demo workspace]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Where to listen [default: as configured, or 127.0.0.1:7319]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,

    /// Serve no console
    #[arg(long)]
    pub(crate) no_console: bool,

    #[command(flatten)]
    pub(crate) store: StoreName,
}

pub(crate) fn run(arguments: &Up) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(up(arguments))
}

async fn up(arguments: &Up) -> Result<Exit, Failure> {
    let wish = Wish::hear()?;
    let mut written = Written::find(arguments.config.as_deref())?;
    let mut wish = wish.or_terminal_gone(written.path.is_some())?;
    written.config.console.enabled &= !arguments.no_console;
    let spans = logs::start_for(&written.config)?;
    let (store, sink) = remember(&written, arguments.store.name.as_deref()).await?;
    let served = serve(arguments, written, &store, &sink, &spans, &mut wish).await;
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
    spans: &AgentSpans,
    wish: &mut Wish,
) -> Result<(), Failure> {
    let listen = arguments.listen.unwrap_or(written.config.gateway.listen);
    let demo = written.path.is_none();
    let followed = Followed::new(&written);
    let vault = logins(&written, arguments.store.name.as_deref());
    // Callers from elsewhere have no use for paths of this machine.
    let options = if listen.ip().is_loopback() {
        found_with(arguments.config.as_deref(), arguments.store.name.as_deref())
    } else {
        String::new()
    };
    Serve::is_free(listen).await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let gateway = start(written, store, sink, vault, options, None).await?;
    spans.connect(&gateway);
    let serve = match Serve::bind_for(Arc::clone(&gateway), listen, &who::name(None)).await {
        Ok(serve) => serve,
        Err(error) => {
            gateway.stop().await;
            // What is written is refused; what the system says is no matter of what is written.
            let written = error.code().as_str().starts_with("config-");
            return Err(Failure::refused(if written { Exit::BadInput } else { Exit::Failed }, &error));
        }
    };
    let address = serve.address();
    let base = console::base(gateway.snapshot().config(), address);
    let console = serve.console_key().map(|key| shown_console(&base, key));
    let stop = CancellationToken::new();
    let running = tokio::spawn(serve.run(stop.clone()));
    output::line(format_args!("listening on {}/mcp", console::near(address)))?;
    let _ = tokio::time::timeout(PATIENCE, gateway.settled()).await;
    let usual = address == Config::default().gateway.listen;
    // Whoever is served does not need to be read.
    if let Err(failure) = introduce(&gateway, &base, demo.then_some(usual), console.as_deref()) {
        tracing::warn!(?failure, "nobody reads what is said at the start");
    }
    match followed {
        Some(followed) => tokio::select! {
            () = wish.heard() => {}
            () = followed.follow(&gateway) => {}
        },
        None => wish.heard().await,
    }
    output::note("stopping");
    stop.cancel();
    // Whoever asks once more does not want to wait for calls and servers that take their time.
    tokio::select! {
        _ = running => {}
        () = wish.heard() => output::note("stopping at once"),
    }
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
    options: String,
    grace: Option<Duration>,
) -> Result<Arc<Gateway>, Failure> {
    let lock = written.lock()?;
    let directory = written.directory().to_owned();
    let demo = written.path.is_none();
    let mut builder = GatewayBuilder::new(written.config, directory)
        .lock(lock)
        .store(store.clone())
        .audit(sink.clone())
        .found_with(options);
    if let Some(grace) = grace {
        builder = builder.grace(grace);
    }
    if let Some(vault) = vault {
        builder = builder.vault(vault);
    }
    if demo {
        builder = toolmark_gateway::demo::attach(builder);
    }
    let builder = builder.recall().await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    tokio::spawn(memory::give_back());
    builder.start().map_err(|error| Failure::Problems(error.problems().to_vec()))
}

/// The options with which other commands find a gateway that was started with these. An address may hold a password.
pub(crate) fn found_with(config: Option<&Path>, store: Option<&str>) -> String {
    let quoted = |path: &Path| {
        let path = output::safe(&absolute(path));
        if path.contains(' ') { format!("'{path}'") } else { path }
    };
    let config = config.map(|path| format!(" --config {}", quoted(path))).unwrap_or_default();
    let store = match store.map(Location::parse) {
        Some(Ok(Location::File(path))) => format!(" --store {}", quoted(&path)),
        _ => String::new(),
    };
    config + &store
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
    match claimed(&store).await {
        Ok(claim) => {
            let sink = store.audit_sink_of(claim, SinkSettings { durability, ..SinkSettings::new("local") });
            Ok((store, sink))
        }
        Err(error) => {
            // A name that was taken before is given back.
            place::close(&store).await;
            Err(Failure::refused(Exit::Failed, &error))
        }
    }
}

/// The name of this node, once it is known what became of the calls of those that had it before.
async fn claimed(store: &Store) -> Result<NodeClaim, StoreError> {
    let claim = store.claim_node("local").await?;
    let interrupted = store.recover_audit(&claim).await?;
    if interrupted > 0 {
        tracing::warn!(interrupted, "calls were under way when a gateway ended; nobody knows whether they ran");
    }
    Ok(claim)
}

/// Who is there, where to connect, and what to try: in the demo workspace, at the usual address or elsewhere.
fn introduce(gateway: &Gateway, base: &str, demo: Option<bool>, console: Option<&str>) -> Result<(), Failure> {
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
    output::line(format_args!("connect   claude mcp add --transport http toolmark {base}/mcp"))?;
    output::line(format_args!("only read {base}/mcp/read-only"))?;
    if let Some(console) = console {
        output::line(format_args!("console   {console}"))?;
    }
    if let Some(usual) = demo {
        output::line("")?;
        output::line("This is the built-in demo workspace. Try a call that is blocked:")?;
        // The other commands look for it where it listens unless told otherwise.
        let there = if usual { String::new() } else { format!(" --url {base}/mcp") };
        output::line(format_args!(r#"  toolmark call read_query '{{"query":"DELETE FROM users"}}'{there}"#))?;
        output::line("Your own servers: `toolmark init` writes `toolmark.toml` from the clients you have.")?;
    }
    Ok(())
}

/// Where the console is. Its key is for the person at the terminal: what is written anywhere else may be read by others.
fn shown_console(base: &str, key: &str) -> String {
    if std::io::stdout().is_terminal() {
        return console::address(base, key);
    }
    format!("{base}/ (`toolmark console` makes an address that opens it)")
}
