//! `toolmark stdio`: the gateway for one client, over standard input and output.

use std::sync::Arc;
use std::time::Duration;

use toolmark_core::explain::Explain;
use toolmark_core::exposure::ProfileName;
use toolmark_gateway::Front;
use toolmark_mcp::downstream::{Binding, Caller, Endpoint, Settings};

use crate::cli::Stdio;
use crate::commands::up;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::logs;
use crate::workspace::Written;

/// How long a client's first question waits for servers that are starting.
const PATIENCE: Duration = Duration::from_secs(10);

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
    let followed = up::reload::Followed::new(&written);
    let vault = up::logins(&written, arguments.store.name.as_deref());
    let gateway = up::start(written, &store, &sink, vault).await?;
    if let Some(task) = &arguments.task {
        let snapshot = gateway.snapshot();
        let found = snapshot.workspace().tasks().find(task).map(|_| ());
        found.map_err(|error| Failure::Refused(Exit::BadInput, Box::new(error.report())))?;
    }
    let _ = tokio::time::timeout(PATIENCE, gateway.settled()).await;
    let binding = Binding { task: arguments.task.clone(), profile: arguments.profile.clone() };
    let caller = Caller::new("local").bound_to(Arc::new(binding));
    let seal = gateway.seal().await.map_err(|error| Failure::refused(Exit::Failed, &error))?;
    let settings = Settings { seal, ..Settings::default() };
    let endpoint = Endpoint::new(Arc::new(Front::new(Arc::clone(&gateway))), settings);
    let teller = tokio::spawn(Front::tell(endpoint.clone(), gateway.changes()));
    let done = endpoint.stdio(tokio::io::stdin(), tokio::io::stdout(), caller);
    let done = match followed {
        Some(followed) => tokio::select! {
            done = done => done,
            () = followed.follow(&gateway) => Ok(()),
        },
        None => done.await,
    };
    teller.abort();
    gateway.stop().await;
    up::forget(&store, sink).await;
    done?;
    Ok(Exit::Success)
}
