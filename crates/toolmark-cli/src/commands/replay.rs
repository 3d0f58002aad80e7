//! `toolmark replay`: what would become of recorded calls under another policy, before it is switched on.

mod policy;
mod print;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde_json::json;
use toolmark_core::pins::Pins;
use toolmark_gateway::assemble::{self, Strictness, Surroundings};
use toolmark_gateway::baselines;
use toolmark_gateway::replay::{ReplaySettings, remembered_catalog, replay};
use toolmark_runtime::Workspace;
use toolmark_runtime::replay::{Change, Report};
use toolmark_store::Store;

use self::policy::New;
use crate::commands::audit::{Which, existing, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::place::Place;
use crate::workspace::Written;

#[derive(Debug, Args)]
pub(crate) struct ReplayCalls {
    /// The policy to try: a `toolmark.toml`, Cedar files, or a folder of them; may be repeated for Cedar files
    #[arg(long = "policy", value_name = "FILE", required = true)]
    pub(crate) policy: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) which: Which,

    /// How many calls are named for each finding
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) limit_examples: usize,

    /// Exit with 1 when any call would be decided otherwise
    #[arg(long)]
    pub(crate) check: bool,

    #[command(flatten)]
    pub(crate) place: Place,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(arguments: &ReplayCalls) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(again(arguments))
}

async fn again(arguments: &ReplayCalls) -> Result<Exit, Failure> {
    let written = Written::find(arguments.place.config.as_deref())?;
    let new = New::read(&arguments.policy, &written)?;
    // Each worker waits for the store half of its time.
    let workers = std::thread::available_parallelism().map_or(2, usize::from) * 2;
    let store = existing(&arguments.place, &written, u32::try_from(workers).unwrap_or(u32::MAX)).await?;
    let workspace = Arc::new(workspace(&store, &new, &written).await?);
    let mut filter = arguments.which.filter(&store).await?;
    filter.bodies = true;
    let settings = ReplaySettings { filter, examples: arguments.limit_examples, workers, most: None };
    let bar = progress(arguments.json);
    let shown = bar.clone();
    let start = Instant::now();
    let done = Arc::new(move |count, _| shown.set_position(count));
    let report = replay(&store, Arc::clone(&workspace), Arc::new(new.config), &settings, done).await;
    let took = start.elapsed();
    bar.finish_and_clear();
    let report = report.map_err(failed)?;
    store.close().await.map_err(failed)?;
    if arguments.json {
        let mut all = report.to_json(id);
        if let Some(fields) = all.as_object_mut() {
            fields.insert("policy".into(), json!(&**workspace.policy_version()));
            fields.insert("seconds".into(), json!(took.as_secs_f64()));
        }
        output::json(&all)?;
    } else {
        print::report(&report, workspace.policy_version(), took)?;
    }
    let changed = Change::ALL.into_iter().any(|change| report.count(change) > 0);
    Ok(if arguments.check && changed { Exit::Findings } else { Exit::Success })
}

/// What judges: the tools that the store knows, under the new configuration.
async fn workspace(store: &Store, new: &New, written: &Written) -> Result<Workspace, Failure> {
    let catalog = remembered_catalog(store).await.map_err(failed)?;
    let environment = |name: &str| std::env::var(name).ok();
    let baselines = baselines::read(&new.config, store).await.map_err(failed)?;
    let directory = new.directory.as_path();
    let surroundings = Surroundings { directory, environment: &environment, baselines: &baselines, effects: None };
    let pins = Pins::new(written.lock()?).accepted(Arc::new(store.pinned().await.map_err(failed)?));
    assemble::workspace(&new.config, catalog, pins, &surroundings, Strictness::Running)
        .map_err(|error| Failure::Problems(error.problems().to_vec()))
}

/// How far it is, on a terminal.
fn progress(quiet: bool) -> indicatif::ProgressBar {
    let bar = if quiet { indicatif::ProgressBar::hidden() } else { indicatif::ProgressBar::new_spinner() };
    if let Ok(style) = indicatif::ProgressStyle::with_template("{human_pos} calls judged, {per_sec}") {
        bar.set_style(style);
    }
    bar
}

/// The id of a call as `toolmark audit show` takes it.
fn id(number: u128) -> String {
    uuid::Uuid::from_u128(number).to_string()
}

/// How much of a whole.
fn share(count: u64, report: &Report) -> f64 {
    if report.calls == 0 { 0.0 } else { 100.0 * count as f64 / report.calls as f64 }
}
