//! The store as the ledger that the pipeline's desk writes in, for one node.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use toolmark_core::approval::{
    ApprovalsVersion, Ask, AskId, AskKey, Decided, Given, Grant, GrantId, Joined, Outcome, Run, RunId, RunState,
};
use toolmark_core::digest::Mark;
use toolmark_core::explain::Explain as _;
use toolmark_runtime::approve::{Later, Ledger, LedgerError};

use super::AskFilter;
use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;
use crate::watch::Changes;

/// How soon the store is asked again when it cannot be watched.
const POLL: Duration = Duration::from_millis(250);
/// How often questions are looked at although nobody said that anything changed.
const SELDOM: Duration = Duration::from_secs(1);
/// How many old questions are removed at a time.
const TRIMMED: u32 = 200;
/// How often runs of nodes that went away are looked for.
const CLEAR: Duration = Duration::from_secs(2);

/// A store as a ledger, under the name of a node.
#[derive(Clone)]
pub struct StoreLedger {
    store: Store,
    node: String,
    /// When runs of nodes that went away were last looked for, in microseconds.
    cleared: Arc<AtomicI64>,
    changes: Arc<tokio::sync::Mutex<Option<Changes>>>,
}

impl StoreLedger {
    /// A store as the ledger of a node. What the node left behind when it was here before is parked or lost.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be written.
    pub async fn open(store: Store, node: &str) -> Result<Self, StoreError> {
        let (parked, lost) = store.leave_behind(node).await?;
        if parked + lost > 0 {
            tracing::warn!(node, parked, lost, "runs were left behind when this node went away; none is repeated");
        }
        Ok(Self { store, node: node.to_owned(), cleared: Arc::default(), changes: Arc::default() })
    }
}

impl StoreLedger {
    /// A store as a ledger for whoever only decides: nothing waits or runs here.
    #[must_use]
    pub fn beside(store: Store) -> Self {
        Self { store, node: String::new(), cleared: Arc::default(), changes: Arc::default() }
    }
}

fn failed(error: &StoreError) -> LedgerError {
    LedgerError::of(&error.report()).told_as(&error.for_callers().report())
}

impl Ledger for StoreLedger {
    fn now(&self) -> Micros {
        self.store.now()
    }

    fn join<'a>(&'a self, new: &'a Ask) -> Later<'a, Result<Joined, LedgerError>> {
        Box::pin(async move { self.store.join_ask(new, &self.node).await.map_err(|error| failed(&error)) })
    }

    fn take_answer<'a>(&'a self, key: &'a AskKey) -> Later<'a, Result<Option<Joined>, LedgerError>> {
        Box::pin(async move { self.store.take_answer(key, &self.node).await.map_err(|error| failed(&error)) })
    }

    fn ask(&self, id: AskId) -> Later<'_, Result<Option<Ask>, LedgerError>> {
        Box::pin(async move { self.store.ask(id).await.map_err(|error| failed(&error)) })
    }

    fn pending(&self, limit: u32) -> Later<'_, Result<Vec<Ask>, LedgerError>> {
        Box::pin(async move {
            let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
            self.store.asks(&filter, None, limit).await.map_err(|error| failed(&error))
        })
    }

    fn alike<'a>(&'a self, mark: Mark, principal: &'a str, limit: u32) -> Later<'a, Result<Vec<Ask>, LedgerError>> {
        Box::pin(async move {
            let filter = AskFilter { state: None, mark: Some(mark), principal: Some(principal.to_owned()) };
            self.store.asks(&filter, None, limit).await.map_err(|error| failed(&error))
        })
    }

    fn decide<'a>(
        &'a self,
        id: AskId,
        decided: &'a Decided,
        grant: Option<&'a Grant>,
        until: Micros,
    ) -> Later<'a, Result<Outcome, LedgerError>> {
        Box::pin(async move { self.store.decide_ask(id, decided, grant, until).await.map_err(|error| failed(&error)) })
    }

    fn answered(&self) -> Later<'_, Result<Vec<(AskKey, Micros)>, LedgerError>> {
        Box::pin(async move { self.store.answered_asks().await.map_err(|error| failed(&error)) })
    }

    fn expire(&self) -> Later<'_, Result<u64, LedgerError>> {
        Box::pin(async move {
            let now = self.store.now();
            let cleared = self.cleared.load(Ordering::Relaxed);
            // A clock that went back must not keep this from happening until it is there again.
            if cleared <= now.before(CLEAR).get() || cleared > now.get() {
                self.cleared.store(now.get(), Ordering::Relaxed);
                self.store.clear_away(&self.node).await.map_err(|error| failed(&error))?;
            }
            self.store.expire_asks().await.map_err(|error| failed(&error))
        })
    }

    fn forget(&self, before: Micros) -> Later<'_, Result<(), LedgerError>> {
        Box::pin(async move { self.store.trim_asks(before, TRIMMED).await.map(|_| ()).map_err(|error| failed(&error)) })
    }

    fn run(&self, id: RunId) -> Later<'_, Result<Option<(Run, Ask)>, LedgerError>> {
        Box::pin(async move { self.store.run(id).await.map_err(|error| failed(&error)) })
    }

    fn start(&self, id: RunId) -> Later<'_, Result<bool, LedgerError>> {
        Box::pin(async move { self.store.start_run(id, &self.node).await.map_err(|error| failed(&error)) })
    }

    fn go_on(&self, id: RunId, round: u32) -> Later<'_, Result<bool, LedgerError>> {
        Box::pin(async move { self.store.continue_run(id, round, &self.node).await.map_err(|error| failed(&error)) })
    }

    fn shift<'a>(&'a self, id: RunId, from: &'a [RunState], to: RunState) -> Later<'a, Result<bool, LedgerError>> {
        Box::pin(async move { self.store.move_run(id, from, to).await.map_err(|error| failed(&error)) })
    }

    fn grants(&self) -> Later<'_, Result<Vec<Grant>, LedgerError>> {
        Box::pin(async move { self.store.grants(false).await.map_err(|error| failed(&error)) })
    }

    fn use_grant(&self, id: GrantId) -> Later<'_, Result<bool, LedgerError>> {
        Box::pin(async move { self.store.use_grant(id).await.map_err(|error| failed(&error)) })
    }

    fn revoke<'a>(&'a self, id: GrantId, by: &'a Given) -> Later<'a, Result<bool, LedgerError>> {
        Box::pin(async move { self.store.revoke_grant(id, by).await.map_err(|error| failed(&error)) })
    }

    fn version(&self) -> Later<'_, Result<ApprovalsVersion, LedgerError>> {
        Box::pin(async move { self.store.approvals_version().await.map_err(|error| failed(&error)) })
    }

    fn change(&self) -> Later<'_, ()> {
        Box::pin(async move {
            let mut changes = self.changes.lock().await;
            if changes.is_none() {
                *changes = self.store.watch().await.ok();
            }
            let Some(told) = changes.as_mut() else { return tokio::time::sleep(POLL).await };
            // Time runs out for questions without anybody saying so.
            if let Ok(None) = tokio::time::timeout(SELDOM, told.next()).await {
                *changes = None;
                tokio::time::sleep(POLL).await;
            }
        })
    }
}
