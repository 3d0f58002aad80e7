//! Questions to people, the runs that wait for their answers, and the answers that hold for later calls.
//!
//! Everything that must happen once happens in one transaction here: a question is answered by whoever is first, and a run begins
//! on one node. What runs means is said in [`RunState`].

mod ledger;

pub use ledger::StoreLedger;

use toolmark_core::approval::{
    ApprovalsVersion, Ask, AskId, AskKey, Decided, Given, Grant, GrantId, Joined, Outcome, Run, RunId, RunState,
};
use toolmark_core::digest::Mark;
use uuid::Uuid;

use crate::backend::Claim;
use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// Which questions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskFilter {
    /// Only those in this state: `pending`, `approved`, `rejected`, `expired`.
    pub state: Option<String>,
    /// Only those of this tool in this version.
    pub mark: Option<Mark>,
    /// Only those of this caller.
    pub principal: Option<String>,
}

impl Store {
    /// Makes a call part of a question: of the one that is the same and stands, or of this new one.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was asked.
    pub async fn join_ask(&self, new: &Ask, node: &str) -> Result<Joined, StoreError> {
        self.backend().join_ask(new, RunId::new(Uuid::now_v7().as_u128()), node).await
    }

    /// Makes a call part of a question that was answered for it, if there is one: with the run that it was parked in, or with none where
    /// the answer is no.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was taken.
    pub async fn take_answer(&self, key: &AskKey, node: &str) -> Result<Option<Joined>, StoreError> {
        self.backend().take_answer(key, node, self.now()).await
    }

    /// One question.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn ask(&self, id: AskId) -> Result<Option<Ask>, StoreError> {
        self.backend().ask(id).await
    }

    /// Questions, newest first, older than `before` where that is given.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn asks(&self, filter: &AskFilter, before: Option<AskId>, limit: u32) -> Result<Vec<Ask>, StoreError> {
        self.backend().asks(filter, before, limit).await
    }

    /// How many questions are open.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be counted.
    pub async fn pending_asks(&self) -> Result<u64, StoreError> {
        self.backend().pending_asks(self.now()).await
    }

    /// Answers a question, if nobody has. An approved run may begin until `until`. An answer that pins the tool does so.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was decided.
    pub async fn decide_ask(
        &self,
        id: AskId,
        decided: &Decided,
        grant: Option<&Grant>,
        until: Micros,
    ) -> Result<Outcome, StoreError> {
        let outcome = self.backend().decide_ask(id, decided, grant, until).await?;
        if let Outcome::Made(ask) = &outcome {
            self.pin_approved(ask).await;
        }
        Ok(outcome)
    }

    /// Questions that were answered while their call has not come back, and until when that holds.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn answered_asks(&self) -> Result<Vec<(AskKey, Micros)>, StoreError> {
        self.backend().answered_asks(self.now()).await
    }

    /// Marks questions whose time is over; says how many.
    ///
    /// # Errors
    /// [`StoreError`]; then none was marked.
    pub async fn expire_asks(&self) -> Result<u64, StoreError> {
        self.backend().expire_asks(self.now()).await
    }

    /// Removes questions that ended before, with their runs, up to `limit`; says how many.
    ///
    /// # Errors
    /// [`StoreError`]; then none was removed.
    pub async fn trim_asks(&self, before: Micros, limit: u32) -> Result<u64, StoreError> {
        self.backend().trim_asks(before, limit).await
    }

    /// A run with its question.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn run(&self, id: RunId) -> Result<Option<(Run, Ask)>, StoreError> {
        self.backend().run(id).await
    }

    /// How many callers wait for the answer to a question.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be counted.
    pub async fn runs_of(&self, ask: AskId) -> Result<Vec<Run>, StoreError> {
        self.backend().runs_of(ask).await
    }

    /// Begins a run whose question was answered with yes; says whether it may begin, which it may once.
    ///
    /// # Errors
    /// [`StoreError`]; then it may not.
    pub async fn start_run(&self, id: RunId, node: &str) -> Result<bool, StoreError> {
        self.backend().start_run(id, node, self.now()).await
    }

    /// Begins the next round of a run that is under way; says whether it may, which it may once for each round.
    ///
    /// # Errors
    /// [`StoreError`]; then it may not.
    pub async fn continue_run(&self, id: RunId, round: u32, node: &str) -> Result<bool, StoreError> {
        self.backend().continue_run(id, round, node, self.now()).await
    }

    /// Moves a run on if it is in one of these states; says whether it was.
    ///
    /// # Errors
    /// [`StoreError`]; then it is where it was.
    pub async fn move_run(&self, id: RunId, from: &[RunState], to: RunState) -> Result<bool, StoreError> {
        self.backend().move_run(id, from, to, self.now()).await
    }

    /// What a node left behind when it went away: runs whose callers waited can be taken up again, runs under way are lost. Returns how
    /// many of each.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was changed.
    pub async fn leave_behind(&self, node: &str) -> Result<(u64, u64), StoreError> {
        self.backend().leave_behind(node, self.now()).await
    }

    /// The same for every other node that has runs and that no process has any more.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read or written.
    pub async fn clear_away(&self, own: &str) -> Result<(u64, u64), StoreError> {
        let mut all = (0, 0);
        for node in self.backend().busy_nodes().await? {
            if node == own {
                continue;
            }
            // Held until its runs are moved, so that nobody takes the name in between.
            if let Claim::Ours(_held) = self.backend().claim(&node).await? {
                let (parked, lost) = self.backend().leave_behind(&node, self.now()).await?;
                all = (all.0 + parked, all.1 + lost);
            }
        }
        Ok(all)
    }

    /// Grants, oldest first; those that were revoked only where they are wanted.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn grants(&self, revoked: bool) -> Result<Vec<Grant>, StoreError> {
        self.backend().grants(revoked).await
    }

    /// Adds a grant that answers no question.
    ///
    /// # Errors
    /// [`StoreError`]; then there is none.
    pub async fn add_grant(&self, grant: &Grant) -> Result<(), StoreError> {
        self.backend().add_grant(grant).await
    }

    /// Counts one use of a grant; says whether it had one left.
    ///
    /// # Errors
    /// [`StoreError`]; then none was counted.
    pub async fn use_grant(&self, id: GrantId) -> Result<bool, StoreError> {
        self.backend().use_grant(id).await
    }

    /// Takes a grant back; says whether there was one to take.
    ///
    /// # Errors
    /// [`StoreError`]; then it holds as before.
    pub async fn revoke_grant(&self, id: GrantId, by: &Given) -> Result<bool, StoreError> {
        self.backend().revoke_grant(id, by).await
    }

    /// How often questions and grants changed.
    ///
    /// # Errors
    /// [`StoreError`] when that cannot be read.
    pub async fn approvals_version(&self) -> Result<ApprovalsVersion, StoreError> {
        self.backend().approvals_version().await
    }

    /// The key of this name that all nodes share; made when somebody first asks for it.
    ///
    /// # Errors
    /// [`StoreError`] when it can be neither read nor made, or there is no randomness.
    pub async fn shared_key(&self, name: &str) -> Result<[u8; 32], StoreError> {
        let mut fresh = [0; 32];
        getrandom::fill(&mut fresh).map_err(|error| self.backend().failure(&error.to_string()))?;
        self.backend().shared_key(name, fresh).await
    }
}
