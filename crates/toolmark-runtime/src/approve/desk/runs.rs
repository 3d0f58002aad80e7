//! When does an approved call begin? Once, for whoever comes first with it: the caller that waited, one that calls again, or one that comes back.

use std::sync::Arc;

use toolmark_core::approval::{Ask, AskKey, AskState, Decided, RunId, RunState};
use toolmark_core::explain::Explain as _;

use super::super::client::{ClientAnswer, Returned};
use super::super::ledger::LedgerError;
use super::super::{Approval, Pass};
use super::{DecideError, Desk, patiently, rejected};

/// A run whose caller waits. When the caller goes away, the same call may take it up again.
pub(super) struct WaitingRun<'d> {
    pub(super) desk: &'d Desk,
    pub(super) run: RunId,
    pub(super) settled: bool,
}

impl Drop for WaitingRun<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.desk.shift_later(self.run, &[RunState::Waiting], RunState::Parked);
        }
    }
}

impl Desk {
    /// A call that comes back with the run that it was given.
    pub(super) async fn resume(&self, key: &AskKey, returned: Returned) -> Result<Approval, LedgerError> {
        let failed = |error: DecideError| Ok(Approval::Failed(Box::new(error.report())));
        let Some((run, ask)) = self.shared.ledger.run(returned.run).await? else {
            return failed(DecideError::Unknown);
        };
        if ask.key != *key {
            return failed(DecideError::Changed);
        }
        if let Some(round) = returned.round {
            // It was approved when it began; each round is begun once.
            if !self.shared.ledger.go_on(returned.run, round).await? {
                return failed(DecideError::Spent);
            }
            let (edited, grant, by) = match &ask.state {
                AskState::Decided(decided) => (decided.edited.clone(), decided.grant, Some(decided.given.by.clone())),
                AskState::Pending | AskState::Expired => (None, None, None),
            };
            return Ok(Approval::Granted(Pass { run: Some((returned.run, round + 1)), edited, grant, by }));
        }
        if !matches!(run.state, RunState::Waiting | RunState::Parked | RunState::Held) {
            return match &ask.state {
                AskState::Decided(Decided { allows: false, .. }) => Ok(rejected(&ask)),
                AskState::Expired => failed(DecideError::Expired),
                AskState::Pending | AskState::Decided(_) => failed(DecideError::Spent),
            };
        }
        let answer = returned.answer.unwrap_or(ClientAnswer::Dismissed);
        // Whoever sits in front of the caller may take its call back, whatever others said about it.
        if let (ClientAnswer::No(message), AskState::Decided(Decided { allows: true, .. })) = (&answer, &ask.state) {
            self.shared.ledger.shift(returned.run, &[RunState::Held, RunState::Parked], RunState::Withdrawn).await?;
            return Ok(Approval::Rejected(message.clone()));
        }
        if !self.shared.settings.load().ask_client && answer != ClientAnswer::Dismissed {
            tracing::warn!(ask = %ask.id, "an answer of a client that is not asked is left out");
        } else if ask.state == AskState::Pending {
            self.answer_of_client(&ask, answer).await?;
        }
        let ask = self.shared.ledger.ask(ask.id).await?.unwrap_or(ask);
        match &ask.state {
            AskState::Decided(_) => self.begin(returned.run, &ask).await,
            AskState::Pending if self.shared.ledger.now() < ask.expires => {
                // The state was handed out for one answer. From now on the plain call takes the run up.
                self.shared.ledger.shift(returned.run, &[RunState::Held], RunState::Parked).await?;
                Ok(Approval::Pending(self.instructions(&ask)))
            }
            AskState::Pending | AskState::Expired => {
                self.sweep().await;
                failed(DecideError::Expired)
            }
        }
    }

    /// Lets a run begin, if the answer is yes and nobody began it.
    pub(super) async fn begin(&self, run: RunId, ask: &Ask) -> Result<Approval, LedgerError> {
        let AskState::Decided(decided) = &ask.state else {
            return Ok(Approval::Failed(Box::new(DecideError::Expired.report())));
        };
        if !decided.allows {
            self.shared.ledger.shift(run, &[RunState::Waiting, RunState::Held], RunState::Withdrawn).await?;
            return Ok(rejected(ask));
        }
        if !self.shared.ledger.start(run).await? {
            return Ok(Approval::Failed(Box::new(DecideError::Spent.report())));
        }
        Ok(Approval::Granted(Pass {
            grant: decided.grant,
            run: Some((run, 0)),
            edited: decided.edited.clone(),
            by: Some(decided.given.by.clone()),
        }))
    }

    /// Moves a run on without waiting for it. A ledger that stays away leaves it where it is, which lets nothing run twice.
    pub(super) fn shift_later(&self, run: RunId, from: &'static [RunState], to: RunState) {
        let ledger = Arc::clone(&self.shared.ledger);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = patiently(|| ledger.shift(run, from, to)).await {
                    tracing::warn!(%run, %error, "what became of a run is not written down");
                }
            });
        }
    }
}
