//! `toolmark up`: the gateway, until it is told to stop.

pub(crate) mod reload;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::text::visible;
use toolmark_gateway::{Gateway, GatewayBuilder, PackState, Serve};
use toolmark_store::audit::{AuditSink, Durability, SinkSettings};
use toolmark_store::{Location, Micros, Migration, Settings, Store};

use self::reload::Followed;
use crate::cli::Up;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::workspace::Written;
use crate::{logs, output};

/// How long the start waits for servers before it says which are late.
const PATIENCE: Duration = Duration::from_secs(5);

/// A store whose place cannot be told.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct StoreUnknown(String);

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
    let gateway = start(written, store, sink).await?;
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
    if let Err(error) = store.close().await {
        output::warn(&format!("the store: {error}"));
    }
}

/// The gateway of a configuration, or of the demo workspace where there is none.
pub(crate) async fn start(written: Written, store: &Store, sink: &AuditSink) -> Result<Arc<Gateway>, Failure> {
    let lock = written.lock()?;
    let directory = written.directory().to_owned();
    let demo = written.path.is_none();
    let mut builder =
        GatewayBuilder::new(written.config, directory).lock(lock).store(store.clone()).audit(sink.clone());
    if demo {
        builder = toolmark_gateway::demo::attach(builder);
    }
    let builder = builder.recall().await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    builder.start().map_err(|error| Failure::Problems(error.problems().to_vec()))
}

/// The store and the audit in it.
pub(crate) async fn remember(written: &Written, named: Option<&str>) -> Result<(Store, AuditSink), Failure> {
    let store = open(&location(written, named)?).await?;
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

/// Where the store is: as named, as configured, or in the user's data folder.
pub(crate) fn location(written: &Written, named: Option<&str>) -> Result<Location, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let configured = match written.config.gateway.store.as_ref().map(|store| store.expand(&environment)) {
        Some(Ok(store)) => Some(store.expose().to_owned()),
        Some(Err(missing)) => {
            let text = format!("the variable `{}` in `gateway.store` is not set", missing.join("`, `"));
            return Err(Failure::refused(Exit::BadInput, &StoreUnknown(text)));
        }
        None => None,
    };
    match named.map(str::to_owned).or(configured) {
        Some(text) => Location::parse(&text).map_err(|error| Failure::refused(Exit::BadInput, &error)),
        None => {
            let path = toolmark_store::default_path(
                std::env::var_os("XDG_DATA_HOME").as_deref(),
                std::env::var_os("HOME").as_deref(),
                // The same file must be found from every folder.
                written.path.as_deref().map(std::fs::canonicalize).transpose()?.as_deref(),
            );
            path.map(Location::File).map_err(|error| Failure::refused(Exit::BadInput, &error))
        }
    }
}

/// Opens a store.
pub(crate) async fn open(location: &Location) -> Result<Store, Failure> {
    open_for(location, 3).await
}

/// Opens a store for so many readers at once.
pub(crate) async fn open_for(location: &Location, readers: u32) -> Result<Store, Failure> {
    let store = Store::open(location, &settings(readers)).await;
    store.map_err(|error| Failure::refused(Exit::Failed, &error))
}

/// Opens a store, and says from which version it was brought to which.
pub(crate) async fn migrate(location: &Location) -> Result<(Store, Migration), Failure> {
    let store = Store::migrate(location, &settings(3)).await;
    store.map_err(|error| Failure::refused(Exit::Failed, &error))
}

fn settings(readers: u32) -> Settings {
    let clock = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Micros::new(i64::try_from(now.as_micros()).unwrap_or(i64::MAX))
    };
    Settings { readers, ..Settings::new(clock) }
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

impl Explain for StoreUnknown {
    fn code(&self) -> Code {
        Code::new("config-variable-missing")
    }

    fn why(&self) -> String {
        "without it, nobody knows where the gateway remembers".into()
    }

    fn fix(&self) -> String {
        "set the variable, or name the store with `--store`".into()
    }
}
