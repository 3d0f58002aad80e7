//! What other nodes and other programs decide: heard of when they say so, found anyway when nobody does.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use toolmark_core::approval::{ApprovalsVersion, Ask, AskId, AskKey, AskState};
use toolmark_core::time::Micros;

use super::super::ledger::LedgerError;
use super::{Desk, DeskEvent};

/// Questions whose end is told to those who watch; more are found by looking.
const FOLLOWED: usize = 1000;
/// How often old questions are removed.
const TIDY: Duration = Duration::from_secs(60);

impl Desk {
    /// Follows what changes until the future is dropped. Without it, grants and answers of other programs are not seen.
    pub async fn follow(&self) {
        let mut seen: Option<ApprovalsVersion> = None;
        let mut tidied = tokio::time::Instant::now();
        loop {
            if tidied.elapsed() >= TIDY {
                self.tidy().await;
                tidied = tokio::time::Instant::now();
            }
            match self.look(seen).await {
                Ok(version) => seen = Some(version),
                Err(error) => tracing::warn!(%error, "whether questions were answered cannot be seen"),
            }
            self.shared.ledger.change().await;
        }
    }

    /// Reads the grants once, before the first call.
    ///
    /// # Errors
    /// [`LedgerError`] when they cannot be read.
    pub async fn open(&self) -> Result<(), LedgerError> {
        self.shared.book.replace(self.shared.ledger.grants().await?);
        Ok(())
    }

    async fn look(&self, seen: Option<ApprovalsVersion>) -> Result<ApprovalsVersion, LedgerError> {
        self.sweep().await;
        let version = self.shared.ledger.version().await?;
        if seen.is_none_or(|seen| seen.grants != version.grants) {
            self.open().await?;
        }
        if seen.is_none_or(|seen| seen.asks != version.asks) {
            let answered = self.shared.ledger.answered().await?;
            self.remember(answered);
            self.shared.ticks.send_modify(|ticks| *ticks += 1);
            // Even if nobody watches: whoever begins to must hear of the next change.
            self.tell(seen.is_none()).await?;
        }
        Ok(version)
    }

    /// Adds to the answers that are known: somebody may have decided since these were read.
    fn remember(&self, answered: Vec<(AskKey, Micros)>) {
        let now = self.shared.ledger.now();
        let mut known = self.answered();
        known.retain(|_, until| now < *until);
        known.extend(answered);
    }

    /// Tells those who watch what other programs asked and answered. What is open at the `first` look is no news.
    async fn tell(&self, first: bool) -> Result<(), LedgerError> {
        let pending = self.shared.ledger.pending(u32::try_from(FOLLOWED).unwrap_or(u32::MAX)).await?;
        let now: BTreeSet<AskId> = pending.iter().map(|ask| ask.id).collect();
        for ask in pending.into_iter().rev() {
            if first {
                self.open_asks().insert(ask.id);
            } else {
                self.tell_asked(&Arc::new(ask));
            }
        }
        let missing: Vec<AskId> = self.open_asks().difference(&now).take(FOLLOWED).copied().collect();
        for id in missing {
            let ask = self.shared.ledger.ask(id).await?;
            // One that was asked since is open.
            if ask.as_ref().is_some_and(|ask| ask.state == AskState::Pending) {
                continue;
            }
            if self.open_asks().remove(&id)
                && let Some(ask) = ask
            {
                let _ = self.shared.events.send(DeskEvent::Settled(Arc::new(ask)));
            }
        }
        Ok(())
    }

    /// Tells those who watch of a question, once.
    pub(super) fn tell_asked(&self, ask: &Arc<Ask>) {
        if self.open_asks().insert(ask.id) {
            // Nobody may be watching.
            let _ = self.shared.events.send(DeskEvent::Asked(Arc::clone(ask)));
        }
    }

    pub(super) fn open_asks(&self) -> MutexGuard<'_, BTreeSet<AskId>> {
        self.shared.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when a question is open no more.
    pub(super) async fn decided(&self, id: AskId) -> Result<Option<Ask>, LedgerError> {
        let mut ticks = self.shared.ticks.subscribe();
        loop {
            ticks.mark_unchanged();
            match self.shared.ledger.ask(id).await? {
                Some(ask) if ask.state == AskState::Pending => {}
                ended => return Ok(ended),
            }
            // The sender lives as long as the desk.
            let _ = ticks.changed().await;
        }
    }

    pub(super) async fn refresh_grants(&self) {
        if let Err(error) = self.open().await {
            tracing::warn!(%error, "the grants cannot be read again yet");
        }
    }

    /// Ends what is over.
    pub(super) async fn sweep(&self) {
        match self.shared.ledger.expire().await {
            Ok(0) => {}
            Ok(_) => self.shared.ticks.send_modify(|ticks| *ticks += 1),
            Err(error) => tracing::warn!(%error, "questions whose time is over cannot be ended"),
        }
    }

    /// Forgets what ended long ago.
    async fn tidy(&self) {
        let before = self.shared.ledger.now().before(self.shared.settings.load().remember);
        if let Err(error) = self.shared.ledger.forget(before).await {
            tracing::warn!(%error, "old questions cannot be removed");
        }
    }
}
