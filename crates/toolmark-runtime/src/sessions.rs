//! Who keeps what was said? Something that keeps texts in their order, and knows which run has a conversation. What the texts say is
//! not known here.

use toolmark_core::explain::{Code, Explain, Report};

use crate::approve::Later;

/// Keeps conversations, each under its name. A conversation that nobody added to is empty.
pub trait SessionKeeper: Send + Sync {
    /// What was said, oldest first; with a number, only the last so many.
    fn items<'a>(&'a self, session: &'a str, most: Option<u64>) -> Later<'a, Result<Vec<String>, KeepSessionError>>;

    /// Adds what was said, all or nothing.
    fn add<'a>(&'a self, session: &'a str, items: &'a [String]) -> Later<'a, Result<(), KeepSessionError>>;

    /// Takes the last back.
    fn pop<'a>(&'a self, session: &'a str) -> Later<'a, Result<Option<String>, KeepSessionError>>;

    /// Forgets everything that was said.
    fn clear<'a>(&'a self, session: &'a str) -> Later<'a, Result<(), KeepSessionError>>;

    /// Takes a conversation for a run, unless another run has it and it is not to be taken over. For a run that has it already this
    /// changes nothing.
    fn claim<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        most: Option<u64>,
        take_over: bool,
    ) -> Later<'a, Result<Claimed, KeepSessionError>>;

    /// Adds what a run said, all or nothing, and gives the conversation back. For a run that has done so already this changes nothing.
    /// Says no where the run does not have the conversation; then nothing is added.
    fn finish<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        items: &'a [String],
    ) -> Later<'a, Result<bool, KeepSessionError>>;

    /// Puts texts in the place of the oldest so many, all or nothing. Says no, and changes nothing, where the run does not have the
    /// conversation, where there are not so many, or where there would be more texts than before.
    fn replace<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        oldest: u64,
        items: &'a [String],
    ) -> Later<'a, Result<bool, KeepSessionError>> {
        let _ = (session, run, oldest, items);
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Gives a conversation back without adding anything, if the run has it.
    fn release<'a>(&'a self, session: &'a str, run: &'a str) -> Later<'a, Result<(), KeepSessionError>>;
}

/// Whose a conversation is. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claimed {
    /// This run's; and what was said in it.
    Ours(Vec<String>),
    /// Another run's.
    Held,
}

/// What keeps conversations failed. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct KeepSessionError {
    what: String,
    fix: String,
    /// The same two for whoever called, where they are not to know all of it.
    told: Option<Box<(String, String)>>,
}

impl KeepSessionError {
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

impl Explain for KeepSessionError {
    fn code(&self) -> Code {
        Code::new("session-unusable")
    }

    fn why(&self) -> String {
        "an agent that forgets half of a conversation answers another question".into()
    }

    fn fix(&self) -> String {
        self.fix.clone()
    }
}
