//! The running gateway: packs under supervision, one snapshot at a time.

mod attend;
mod reload;
mod save;
mod state;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::{broadcast, mpsc};
use tokio::task::JoinHandle;
use toolmark_mcp::downstream::{Changed, Held, SealKey, Settings};
use toolmark_mcp::upstream::oauth::Vault;
use toolmark_mcp::wire::Limits;
use toolmark_models::Model;
use toolmark_runtime::Pipeline;
use toolmark_runtime::approve::Desk;
use toolmark_store::audit::AuditSink;
use toolmark_store::{Store, StoreError};

pub use self::reload::Reloaded;
pub(crate) use self::state::{State, assembled, tell_problems};
use crate::audit::Ids;
use crate::live::Hub;
use crate::metrics::{Metrics, Standing};
use crate::names::Names;
use crate::pack::{News, PackHandle, PackState};
use crate::pins::PinBook;
use crate::snapshot::Snapshot;
use crate::telemetry::{SpanStats, Traces};

/// A gateway that runs. Cheap to share behind an `Arc`.
pub struct Gateway {
    pub(crate) directory: PathBuf,
    pub(crate) state: Mutex<State>,
    pub(crate) current: ArcSwap<Snapshot>,
    pub(crate) pipeline: Pipeline,
    pub(crate) desk: Option<Desk>,
    pub(crate) metrics: Arc<Metrics>,
    /// Who looks on.
    pub(crate) live: Arc<Hub>,
    pub(crate) traces: Option<Traces>,
    pub(crate) audit: Option<AuditSink>,
    /// Names every call.
    pub(crate) ids: Ids,
    pub(crate) store: Option<Store>,
    pub(crate) vault: Option<Vault>,
    /// The model of every agent, where the configuration does not say which.
    pub(crate) model: Option<Arc<dyn Model>>,
    /// Under which name it writes.
    pub(crate) node: Arc<str>,
    /// With which options commands find it.
    pub(crate) options: String,
    /// How long a server may take to end.
    pub(crate) grace: Duration,
    pub(crate) names: Arc<Names>,
    pub(crate) pins: PinBook,
    pub(crate) changes: broadcast::Sender<Changed>,
    pub(crate) news: mpsc::Sender<News>,
    pub(crate) tasks: Mutex<Vec<JoinHandle<()>>>,
    /// Held while something is written down, so that nobody ends it halfway.
    pub(crate) saving: tokio::sync::Mutex<()>,
}

impl Gateway {
    pub(crate) fn run(self: &Arc<Self>, heard: mpsc::Receiver<News>) {
        let packs: Vec<_> = self.state().packs.values().cloned().collect();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.extend(
            packs.into_iter().map(|pack| tokio::spawn(pack.supervise(self.news.clone(), Arc::clone(&self.live)))),
        );
        tasks.push(tokio::spawn(Arc::clone(self).attend(heard)));
        if let Some(desk) = self.desk.clone() {
            tasks.push(tokio::spawn(async move { desk.follow().await }));
        }
        if self.store.is_some() {
            tasks.push(tokio::spawn(Arc::clone(self).write_down()));
            tasks.push(tokio::spawn(Arc::clone(self).forget_old_records()));
            tasks.push(tokio::spawn(Arc::clone(self).follow_pins()));
        }
    }

    pub(crate) fn tell(&self, changes: impl IntoIterator<Item = Changed>) {
        for changed in changes {
            // Nobody may be listening.
            let _ = self.changes.send(changed);
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The way that calls go.
    pub(crate) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Where spans go, if anywhere.
    pub(crate) fn traces(&self) -> Option<&Traces> {
        self.traces.as_ref()
    }

    /// What became of spans, where they are sent.
    #[must_use]
    pub fn spans(&self) -> Option<SpanStats> {
        self.traces.as_ref().map(Traces::stats)
    }

    /// What is counted.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Calls as they happen, for whoever looks on.
    pub(crate) fn live(&self) -> &Arc<Hub> {
        &self.live
    }

    /// All figures as OpenMetrics text, as they are now.
    pub(crate) fn figures(&self, held: Held) -> String {
        let state = Standing {
            packs: &self.packs(),
            held,
            audit: self.audit.as_ref().map(AuditSink::stats),
            spans: self.spans(),
        };
        self.metrics.text(&state)
    }

    /// How clients are served as configured, whichever way they come in.
    pub(crate) async fn settings(&self) -> Result<Settings, StoreError> {
        let snapshot = self.snapshot();
        let limits = &snapshot.config().gateway.limits;
        Ok(Settings {
            limits: Limits { bytes: limits.body_bytes.as_usize(), depth: limits.depth },
            sessions: limits.sessions as usize,
            listeners: limits.sessions as usize,
            session_idle: limits.session_idle,
            seal: self.seal().await?,
            ..Settings::default()
        })
    }

    /// What seals the states that clients come back with: one key for all nodes that share a store.
    ///
    /// # Errors
    /// [`StoreError`] when the store has none and cannot keep one.
    pub async fn seal(&self) -> Result<SealKey, StoreError> {
        match &self.store {
            Some(store) => Ok(SealKey::new(store.shared_key(crate::approvals::SEAL).await?)),
            None => Ok(SealKey::random()),
        }
    }

    /// Where people are asked.
    #[must_use]
    pub fn desk(&self) -> Option<&Desk> {
        self.desk.as_ref()
    }

    /// Where it remembers, if anywhere.
    pub(crate) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Hears of changes from now on.
    #[must_use]
    pub fn changes(&self) -> broadcast::Receiver<Changed> {
        self.changes.subscribe()
    }

    /// The packs, by name.
    #[must_use]
    pub fn packs(&self) -> Vec<Arc<PackHandle>> {
        let mut packs: Vec<_> = self.state().packs.values().cloned().collect();
        packs.sort_by(|one, other| one.name().cmp(other.name()));
        packs
    }

    /// Waits until no pack is starting any more, however that ended.
    pub async fn settled(&self) {
        while self.packs().iter().any(|pack| pack.state() == PackState::Starting) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Ends every pack and whatever it started, and writes down what is new.
    pub async fn stop(&self) {
        let packs = self.packs();
        let ended = futures_util::future::join_all(packs.iter().map(|pack| pack.stop()));
        // Calls are over, so nothing more is said about any; both may have to wait for somebody.
        let sent = async {
            if let Some(traces) = &self.traces {
                traces.close().await;
            }
        };
        tokio::join!(ended, sent);
        // A task that is ended while it writes would take along what it was about to write.
        let saving = self.saving.lock().await;
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks {
            task.abort();
        }
        drop(saving);
        self.save().await;
        tracing::info!("the gateway has stopped");
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("packs", &self.state().packs.len()).finish_non_exhaustive()
    }
}
