//! `POST /api/replay`: what would become of recorded calls under another policy? Nothing is stored or switched on, one at a time, and it
//! ends when nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::{Request, Response};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_core::explain::{Code, Explain};
use toolmark_core::gate::Preset;
use toolmark_core::pins::Pins;
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;
use toolmark_core::time::Micros;
use toolmark_mcp::downstream::{Body, read_body};
use toolmark_runtime::Workspace;
use toolmark_store::Store;
use toolmark_store::audit::AuditFilter;
use uuid::Uuid;

use super::calls::caught_up;
use super::error::ConsoleError;
use super::look::Look;
use super::query::time;
use super::{Console, event, is_json, stream};
use crate::assemble::{self, Surroundings};
use crate::baselines;
use crate::gateway::Gateway;
use crate::replay::{ReplaySettings, remembered_catalog, replay};

/// The longest body.
const LARGEST: usize = 256 * 1024;
/// How many calls are judged again at most.
const MOST: u64 = 1_000_000;
/// How far back where nobody says so.
const USUAL: Duration = Duration::from_secs(7 * 86_400);
/// How many calls are named for each finding at most.
const EXAMPLES: usize = 20;
/// How often is told how far it is.
const TOLD: Duration = Duration::from_millis(100);
/// How often a quiet stream says that it is there.
const PERIOD: Duration = Duration::from_secs(15);

/// What is to be tried. What is absent stays as configured.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tried {
    preset: Option<String>,
    /// The text of a configuration with nothing but `[[rules]]` and `[policy]`.
    rules: Option<String>,
    /// Cedar policies in place of those that are configured.
    cedar: Option<String>,
    since: Option<String>,
    until: Option<String>,
    tool: Option<String>,
    pack: Option<String>,
    caller: Option<String>,
    examples: Option<usize>,
}

/// Text that describes more than a policy.
#[derive(Debug, thiserror::Error)]
#[error("the rules to try hold more than `[[rules]]` and `[policy]`: {0}")]
struct TooMuch(&'static str);

/// A word that is no preset.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no preset")]
struct NoPreset(String);

impl Console {
    pub(super) async fn replay<B>(&self, request: Request<B>, look: Look) -> Result<Response<Body>, ConsoleError>
    where
        B: hyper::body::Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Unpin,
    {
        if !is_json(request.headers()) {
            return Err(ConsoleError::Media);
        }
        let (store, sink) = self.audit()?;
        let (head, body) = request.into_parts();
        let body = read_body(&head.headers, body, LARGEST, self.body_time).await?;
        let refused = |error: serde_json::Error| ConsoleError::Body(visible(&error.to_string(), 300));
        // An object, and no list that happens to fit.
        let tried: Map<String, Value> = serde_json::from_slice(&body).map_err(refused)?;
        let tried: Tried = serde_json::from_value(Value::Object(tried)).map_err(refused)?;
        let permit = Arc::clone(&self.replays).try_acquire_owned().map_err(|_| ConsoleError::Busy)?;
        let filter = filter(&tried)?;
        let config = Arc::new(configured(look.snapshot.config(), &tried)?);
        let workspace = workspace(&self.gateway, store, &config, tried.cedar.as_deref()).await?;
        // What was called a moment ago counts too.
        caught_up(sink).await;
        let settings = ReplaySettings {
            filter,
            examples: tried.examples.unwrap_or(3).min(EXAMPLES),
            // One, so that calls go on meanwhile.
            workers: 1,
            most: Some(MOST),
        };
        let (sender, receiver) = mpsc::channel(8);
        let run = Run { store: store.clone(), workspace: Arc::new(workspace), config, settings, look, sender };
        tokio::spawn(run.until_nobody_waits(self.leaving.clone(), permit));
        Ok(stream(Body::following(receiver, PERIOD)))
    }
}

/// A replay under way.
struct Run {
    store: Store,
    workspace: Arc<Workspace>,
    config: Arc<Config>,
    settings: ReplaySettings,
    look: Look,
    sender: mpsc::Sender<Bytes>,
}

impl Run {
    async fn until_nobody_waits(self, leaving: CancellationToken, _permit: OwnedSemaphorePermit) {
        let sender = self.sender.clone();
        // Dropped halfway, it judges nothing more.
        tokio::select! {
            () = sender.closed() => tracing::debug!("a replay was given up"),
            () = leaving.cancelled() => tracing::debug!("a replay was given up, since the gateway stops"),
            () = self.judged() => {}
        }
    }

    async fn judged(self) {
        let Self { store, workspace, config, settings, look, sender } = self;
        let start = Instant::now();
        let judged = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let noted = Arc::clone(&judged);
        let done = Arc::new(move |count: u64, part: f64| {
            noted.0.fetch_max(count, Ordering::Relaxed);
            noted.1.fetch_max((part * 1000.0) as u64, Ordering::Relaxed);
        });
        let replayed = replay(&store, Arc::clone(&workspace), config, &settings, done);
        tokio::pin!(replayed);
        let mut tick = tokio::time::interval(TOLD);
        let report = loop {
            tokio::select! {
                report = &mut replayed => break report,
                _ = tick.tick() => {
                    let part = judged.1.load(Ordering::Relaxed) as f64 / 1000.0;
                    let told = json!({"judged": judged.0.load(Ordering::Relaxed), "part": part});
                    if sender.send(event("progress", &told.to_string())).await.is_err() {
                        return;
                    }
                }
            }
        };
        let last = match report {
            Err(error) => event("failed", &ConsoleError::from(error).to_json().to_string()),
            Ok(report) => {
                let mut all = report.to_json(|id| Uuid::from_u128(id).to_string());
                if let Some(members) = all.as_object_mut() {
                    members.insert("policy".into(), (**workspace.policy_version()).into());
                    members.insert("seconds".into(), start.elapsed().as_secs_f64().into());
                    members.insert("whole".into(), (report.calls < MOST).into());
                    for tool in members.get_mut("by_tool").and_then(Value::as_array_mut).into_iter().flatten() {
                        let shown = tool.get("tool").and_then(Value::as_str).map(|name| look.canonical(name));
                        if let Some(tool) = tool.as_object_mut() {
                            tool.insert("shown".into(), shown.into());
                        }
                    }
                }
                event("report", &all.to_string())
            }
        };
        let _ = sender.send(last).await;
    }
}

/// Which calls.
fn filter(tried: &Tried) -> Result<AuditFilter, ConsoleError> {
    let moment = |text: &Option<String>, name: &str| {
        let read = |text: &String| time(text).ok_or_else(|| ConsoleError::Body(format!("`{name}` is no time")));
        text.as_ref().map(read).transpose()
    };
    let since = moment(&tried.since, "since")?.unwrap_or_else(|| Micros::from(SystemTime::now()).before(USUAL));
    Ok(AuditFilter {
        since: Some(since),
        until: moment(&tried.until, "until")?,
        tool: tried.tool.clone(),
        pack: tried.pack.clone(),
        caller: tried.caller.clone(),
        bodies: true,
        ..AuditFilter::default()
    })
}

/// The configuration with what is tried in place of what it says.
fn configured(current: &Config, tried: &Tried) -> Result<Config, ConsoleError> {
    let mut config = current.clone();
    let refused = |error: &dyn Explain| ConsoleError::Policy(vec![Problem::refused(error.report(), None)]);
    if let Some(text) = &tried.rules {
        let new = Config::read(text, "rules").map_err(|error| ConsoleError::Policy(error.problems().to_vec()))?;
        // Invariant: posted text names no file, so that nothing of this machine can be read with it.
        if !new.policy.cedar.0.is_empty() {
            return Err(refused(&TooMuch("write Cedar policies into `cedar`, not the names of files")));
        }
        let only = Config { rules: new.rules.clone(), policy: new.policy.clone(), ..Config::default() };
        if only != new {
            return Err(refused(&TooMuch("leave out every other table")));
        }
        let cedar = std::mem::take(&mut config.policy.cedar);
        config.rules = new.rules;
        config.policy = new.policy;
        config.policy.cedar = cedar;
    }
    if tried.cedar.is_some() {
        config.policy.cedar.0.clear();
    }
    if let Some(word) = &tried.preset {
        config.policy.preset = word.parse::<Preset>().map_err(|_| refused(&NoPreset(visible(word, 60))))?;
    }
    Ok(config)
}

/// What judges: the tools that the store knows, under the policy that is tried.
async fn workspace(
    gateway: &Arc<Gateway>,
    store: &Store,
    config: &Config,
    cedar: Option<&str>,
) -> Result<Workspace, ConsoleError> {
    let catalog = remembered_catalog(store).await?;
    let baselines = baselines::read(config, store).await?;
    let lock = gateway.state().lock.clone();
    let accepted = Arc::new(store.pinned().await?);
    let environment = |name: &str| std::env::var(name).ok();
    let directory = gateway.directory.as_path();
    let surroundings = Surroundings { directory, environment: &environment, baselines: &baselines, effects: None };
    let pins = Pins::new(lock).accepted(accepted);
    assemble::workspace_trying(config, cedar, catalog, pins, &surroundings)
        .map_err(|error| ConsoleError::Policy(error.problems().to_vec()))
}

impl Explain for TooMuch {
    fn code(&self) -> Code {
        Code::new("replay-tried")
    }

    fn why(&self) -> String {
        "only a policy is tried; anything else that is written here would not be tried, and look as if it were".into()
    }

    fn fix(&self) -> String {
        self.0.into()
    }
}

impl Explain for NoPreset {
    fn code(&self) -> Code {
        Code::new("replay-tried")
    }

    fn why(&self) -> String {
        "another preset than the one that was meant would decide otherwise".into()
    }

    fn fix(&self) -> String {
        "write `observe`, `balanced`, `careful` or `read-only`".into()
    }
}
