//! What questions and answers need of whatever keeps them: each step whole or not at all, whichever node takes it.

use toolmark_core::approval::{
    ApprovalsVersion, Ask, AskId, AskKey, Decided, Given, Grant, GrantId, Joined, Outcome, Run, RunId, RunState,
};
use toolmark_core::digest::Mark;
use toolmark_core::explain::{Code, Explain, Report};
use toolmark_core::time::Micros;

use super::Later;

/// Keeps questions, runs and grants.
pub trait Ledger: Send + Sync {
    /// The time that everything here is measured by.
    fn now(&self) -> Micros;

    /// Makes a call part of the question that is the same and stands, or of this new one.
    fn join<'a>(&'a self, new: &'a Ask) -> Later<'a, Result<Joined, LedgerError>>;

    /// Makes a call part of a question that was answered for it: with the run that it waited in, or with none where the answer is no.
    /// Nothing where no answer is left for it.
    fn take_answer<'a>(&'a self, key: &'a AskKey) -> Later<'a, Result<Option<Joined>, LedgerError>>;

    /// One question.
    fn ask(&self, id: AskId) -> Later<'_, Result<Option<Ask>, LedgerError>>;

    /// Open questions, newest first.
    fn pending(&self, limit: u32) -> Later<'_, Result<Vec<Ask>, LedgerError>>;

    /// Questions about a tool for a caller, newest first, open or not.
    fn alike<'a>(&'a self, mark: Mark, principal: &'a str, limit: u32) -> Later<'a, Result<Vec<Ask>, LedgerError>>;

    /// Answers a question, if nobody has.
    fn decide<'a>(
        &'a self,
        id: AskId,
        decided: &'a Decided,
        grant: Option<&'a Grant>,
        until: Micros,
    ) -> Later<'a, Result<Outcome, LedgerError>>;

    /// Questions that were answered while their call has not come back, and until when that holds.
    fn answered(&self) -> Later<'_, Result<Vec<(AskKey, Micros)>, LedgerError>>;

    /// Marks questions whose time is over; says how many.
    fn expire(&self) -> Later<'_, Result<u64, LedgerError>>;

    /// Forgets questions that ended before.
    fn forget(&self, before: Micros) -> Later<'_, Result<(), LedgerError>>;

    /// A run with its question.
    fn run(&self, id: RunId) -> Later<'_, Result<Option<(Run, Ask)>, LedgerError>>;

    /// Begins a run whose question was answered with yes; says whether it may begin.
    fn start(&self, id: RunId) -> Later<'_, Result<bool, LedgerError>>;

    /// Begins the next round of a run under way; says whether it may.
    fn go_on(&self, id: RunId, round: u32) -> Later<'_, Result<bool, LedgerError>>;

    /// Moves a run on if it is in one of these states.
    fn shift<'a>(&'a self, id: RunId, from: &'a [RunState], to: RunState) -> Later<'a, Result<bool, LedgerError>>;

    /// Every grant that was not revoked.
    fn grants(&self) -> Later<'_, Result<Vec<Grant>, LedgerError>>;

    /// Counts a use of a grant; says whether it had one left.
    fn use_grant(&self, id: GrantId) -> Later<'_, Result<bool, LedgerError>>;

    /// Takes a grant back; says whether there was one.
    fn revoke<'a>(&'a self, id: GrantId, by: &'a Given) -> Later<'a, Result<bool, LedgerError>>;

    /// How often questions and grants changed, by whatever node.
    fn version(&self) -> Later<'_, Result<ApprovalsVersion, LedgerError>>;

    /// Returns when something may have changed by another node, or after a while.
    fn change(&self) -> Later<'_, ()>;
}

/// What keeps questions failed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the question cannot be kept: {what}")]
pub struct LedgerError {
    what: String,
    fix: String,
    /// The same two for whoever called, where they are not to know all of it.
    told: Option<Box<(String, String)>>,
}

impl LedgerError {
    /// From the failure of whatever keeps them.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        Self { what: report.what().to_owned(), fix: report.fix().to_owned(), told: None }
    }

    /// With other words for whoever called.
    #[must_use]
    pub fn told_as(self, report: &Report) -> Self {
        Self { told: Some(Box::new((report.what().to_owned(), report.fix().to_owned()))), ..self }
    }

    /// As it is told to whoever called.
    #[must_use]
    pub fn for_callers(&self) -> Self {
        match self.told.as_deref() {
            Some((what, fix)) => Self { what: what.clone(), fix: fix.clone(), told: None },
            None => self.clone(),
        }
    }
}

impl Explain for LedgerError {
    fn code(&self) -> Code {
        Code::new("approval-store")
    }

    fn why(&self) -> String {
        "a call that was approved nowhere does not run".into()
    }

    fn fix(&self) -> String {
        self.fix.clone()
    }
}
