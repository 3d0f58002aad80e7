//! `toolmark stdio`: the gateway for one client, over standard input and output.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::sync::oneshot;
use toolmark_core::explain::Explain;
use toolmark_core::exposure::ProfileName;
use toolmark_gateway::{Gateway, Piped};
use toolmark_mcp::downstream::Binding;
use toolmark_store::Store;
use toolmark_store::audit::AuditSink;

use crate::commands::up;
use crate::commands::up::reload::Followed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::logs;
use crate::place::StoreName;
use crate::wish::Wish;
use crate::workspace::Written;

/// How long a server may take to end once its input is closed, and again once it is asked to. Clients wait two seconds for us before they ask,
/// and two more before they make us end, and then nobody would be left to end the servers.
const GRACE: Duration = Duration::from_millis(500);

/// How long what is left of them may take to end.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// How long a client's first list waits for servers that are starting.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct Stdio {
    /// The configuration [default: toolmark.toml, if it is there; otherwise the demo workspace]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The task whose expectation holds for every call
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    /// The client that names are made for, or one of the configured profiles
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,

    #[command(flatten)]
    pub(crate) store: StoreName,
}

pub(crate) fn run(arguments: &Stdio) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(stdio(arguments));
    // Standard input is read by a thread that nothing wakes; but programs that have not ended yet end with their tasks.
    runtime.shutdown_timeout(LAST_MOMENT);
    exit
}

async fn stdio(arguments: &Stdio) -> Result<Exit, Failure> {
    let wish = Wish::hear()?;
    let written = Written::find(arguments.config.as_deref())?;
    let mut wish = wish.or_terminal_gone(written.path.is_some())?;
    logs::start(&written.config.telemetry.log)?;
    let known = |name: &str| written.config.profiles.iter().any(|(profile, _)| profile.as_str() == name);
    if let Some(profile) = &arguments.profile
        && !known(profile)
    {
        profile.parse::<ProfileName>().map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    }
    let (store, sink) = up::remember(&written, arguments.store.name.as_deref()).await?;
    let served = serve(arguments, written, &store, &sink, &mut wish).await;
    // Also after a start that failed: the name of this node is given back, so that the next start need not wait for it.
    up::forget(&store, sink).await;
    served.map(|()| Exit::Success)
}

/// Starts the gateway, and serves until the client goes or somebody wants it to end.
async fn serve(
    arguments: &Stdio,
    written: Written,
    store: &Store,
    sink: &AuditSink,
    wish: &mut Wish,
) -> Result<(), Failure> {
    let followed = Followed::new(&written);
    let vault = up::logins(&written, arguments.store.name.as_deref());
    let options = up::found_with(arguments.config.as_deref(), arguments.store.name.as_deref());
    let gateway = up::start(written, store, sink, vault, options, Some(GRACE)).await?;
    let (told, end) = oneshot::channel();
    let mut served = std::pin::pin!(converse(arguments, &gateway, followed, end));
    let served = tokio::select! {
        served = &mut served => served,
        () = wish.heard() => {
            drop(told);
            served.await
        }
    };
    // Whoever asks once more does not want to wait for servers that take their time.
    tokio::select! {
        () = gateway.stop() => {}
        () = wish.heard() => {}
    }
    served
}

/// Serves the client until it goes, or until the other end of `end` is dropped.
async fn converse(
    arguments: &Stdio,
    gateway: &Arc<Gateway>,
    followed: Option<Followed>,
    end: oneshot::Receiver<()>,
) -> Result<(), Failure> {
    if let Some(task) = &arguments.task {
        let snapshot = gateway.snapshot();
        let found = snapshot.workspace().tasks().find(task).map(|_| ());
        found.map_err(|error| Failure::Refused(Exit::BadInput, Box::new(error.report())))?;
    }
    let binding = Binding { task: arguments.task.clone(), profile: arguments.profile.clone() };
    let piped = Piped::new(Arc::clone(gateway), PATIENCE).await;
    let piped = piped.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let ended = async {
        let _ = end.await;
    };
    let done = piped.serve(tokio::io::stdin(), tokio::io::stdout(), binding, ended);
    let done = match followed {
        Some(followed) => tokio::select! {
            done = done => done,
            () = followed.follow(gateway) => Ok(()),
        },
        None => done.await,
    };
    Ok(done?)
}
