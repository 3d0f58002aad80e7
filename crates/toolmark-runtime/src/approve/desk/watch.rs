//! What other nodes and other programs decide: heard of when they say so, found anyway when nobody does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use toolmark_core::approval::{ApprovalsVersion, Ask, AskId, AskState};

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
        let mut open: BTreeMap<AskId, ()> = BTreeMap::new();
        let mut tidied = tokio::time::Instant::now();
        loop {
            if tidied.elapsed() >= TIDY {
                self.tidy().await;
                tidied = tokio::time::Instant::now();
            }
            match self.look(seen, &mut open).await {
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

    async fn look(
        &self,
        seen: Option<ApprovalsVersion>,
        open: &mut BTreeMap<AskId, ()>,
    ) -> Result<ApprovalsVersion, LedgerError> {
        self.sweep().await;
        let version = self.shared.ledger.version().await?;
        if seen.is_none_or(|seen| seen.grants != version.grants) {
            self.open().await?;
        }
        if seen.is_none_or(|seen| seen.asks != version.asks) {
            let answered = self.shared.ledger.answered().await?;
            *self.answered() = answered.into_iter().collect();
            self.shared.ticks.send_modify(|ticks| *ticks += 1);
            if self.shared.events.receiver_count() > 0 {
                self.tell(open).await?;
            } else {
                open.clear();
            }
        }
        Ok(version)
    }

    /// Tells those who watch what other programs asked and answered.
    async fn tell(&self, open: &mut BTreeMap<AskId, ()>) -> Result<(), LedgerError> {
        let first = open.is_empty();
        let pending = self.shared.ledger.pending(u32::try_from(FOLLOWED).unwrap_or(u32::MAX)).await?;
        let now: BTreeMap<AskId, ()> = pending.iter().map(|ask| (ask.id, ())).collect();
        for ask in pending.into_iter().rev() {
            if !first && !open.contains_key(&ask.id) {
                let _ = self.shared.events.send(DeskEvent::Asked(Arc::new(ask)));
            }
        }
        let ended: Vec<AskId> = open.keys().filter(|id| !now.contains_key(id)).copied().collect();
        for id in ended {
            if let Some(ask) = self.shared.ledger.ask(id).await?
                && ask.state != AskState::Pending
            {
                let _ = self.shared.events.send(DeskEvent::Settled(Arc::new(ask)));
            }
        }
        *open = now;
        Ok(())
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
