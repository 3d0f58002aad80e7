//! `toolmark stdio`: the gateway for one client, over standard input and output.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use toolmark_core::explain::Explain;
use toolmark_core::exposure::ProfileName;
use toolmark_gateway::{Front, Gateway};
use toolmark_mcp::downstream::{Binding, Caller, Endpoint, Settings};
use toolmark_store::Store;
use toolmark_store::audit::AuditSink;

use crate::commands::up;
use crate::commands::up::reload::Followed;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::logs;
use crate::place::StoreName;
use crate::workspace::Written;

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
    // Standard input is read by a thread that nothing wakes.
    runtime.shutdown_background();
    exit
}

async fn stdio(arguments: &Stdio) -> Result<Exit, Failure> {
    let written = Written::find(arguments.config.as_deref())?;
    logs::start(&written.config.telemetry.log)?;
    let known = |name: &str| written.config.profiles.iter().any(|(profile, _)| profile.as_str() == name);
    if let Some(profile) = &arguments.profile
        && !known(profile)
    {
        profile.parse::<ProfileName>().map_err(|error| Failure::refused(Exit::BadInput, &error))?;
    }
    let (store, sink) = up::remember(&written, arguments.store.name.as_deref()).await?;
    let served = serve(arguments, written, &store, &sink).await;
    // Also after a start that failed: the name of this node is given back, so that the next start need not wait for it.
    up::forget(&store, sink).await;
    served.map(|()| Exit::Success)
}

/// Starts the gateway, and serves until the client goes.
async fn serve(arguments: &Stdio, written: Written, store: &Store, sink: &AuditSink) -> Result<(), Failure> {
    let followed = Followed::new(&written);
    let vault = up::logins(&written, arguments.store.name.as_deref());
    let options = up::found_with(arguments.config.as_deref(), arguments.store.name.as_deref());
    let gateway = up::start(written, store, sink, vault, options).await?;
    let served = converse(arguments, &gateway, followed).await;
    gateway.stop().await;
    served
}

async fn converse(arguments: &Stdio, gateway: &Arc<Gateway>, followed: Option<Followed>) -> Result<(), Failure> {
    if let Some(task) = &arguments.task {
        let snapshot = gateway.snapshot();
        let found = snapshot.workspace().tasks().find(task).map(|_| ());
        found.map_err(|error| Failure::Refused(Exit::BadInput, Box::new(error.report())))?;
    }
    let binding = Binding { task: arguments.task.clone(), profile: arguments.profile.clone() };
    let caller = Caller::new("local").bound_to(Arc::new(binding));
    let seal = gateway.seal().await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let settings = Settings { seal, ..Settings::default() };
    let endpoint = Endpoint::new(Arc::new(Front::new(Arc::clone(gateway)).patient(PATIENCE)), settings);
    let teller = tokio::spawn(Front::tell(endpoint.clone(), gateway.changes()));
    let done = endpoint.stdio(tokio::io::stdin(), tokio::io::stdout(), caller);
    let done = match followed {
        Some(followed) => tokio::select! {
            done = done => done,
            () = followed.follow(gateway) => Ok(()),
        },
        None => done.await,
    };
    teller.abort();
    Ok(done?)
}
