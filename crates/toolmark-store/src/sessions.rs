//! What was said in the conversations of agents, kept between runs and between processes. What an item means is not known here.

use toolmark_core::explain::Explain as _;
use toolmark_runtime::approve::Later;
use toolmark_runtime::sessions::{Claimed, KeepSessionError, SessionKeeper};

use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// A conversation in the store, without what was said in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSession {
    /// Its name.
    pub name: String,
    /// How many items it has.
    pub items: u64,
    /// Since when it is as it is.
    pub changed: Micros,
    /// The run that has it, since when, and for how long if that is limited. A limit that has passed holds nothing.
    pub held: Option<Holder>,
    /// Whether something waits in it for a person or for a page.
    pub waits: bool,
}

/// Who has a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The run.
    pub run: String,
    /// Since when.
    pub since: Option<Micros>,
    /// Until when; without it, until the run gives it back.
    pub until: Option<Micros>,
}

impl KeptSession {
    /// True when a run has it at this moment.
    #[must_use]
    pub fn is_held(&self, now: Micros) -> bool {
        self.held.as_ref().is_some_and(|held| held.until.is_none_or(|until| until > now))
    }
}

impl Store {
    /// The sessions that there are, the one that changed last first; with a number, only so many.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn sessions(&self, most: Option<u64>) -> Result<Vec<KeptSession>, StoreError> {
        self.backend().sessions(None, most).await
    }

    /// The session of this name, if there is one.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be read.
    pub async fn session(&self, session: &str) -> Result<Option<KeptSession>, StoreError> {
        Ok(self.backend().sessions(Some(session), None).await?.pop())
    }

    /// Forgets a session with everything in it, unless a run has it or something waits in it; says whether it did.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be forgotten.
    pub async fn forget_idle_session(&self, session: &str) -> Result<bool, StoreError> {
        self.backend().forget_idle_session(session, self.now()).await
    }

    /// Forgets a session with everything in it; says whether there was one.
    ///
    /// # Errors
    /// [`StoreError`] when it cannot be forgotten.
    pub async fn forget_session(&self, session: &str) -> Result<bool, StoreError> {
        self.backend().forget_session(session).await
    }
}

fn failed(error: &StoreError) -> KeepSessionError {
    KeepSessionError::of(&error.report()).told_as(&error.for_callers().report())
}

impl SessionKeeper for Store {
    fn items<'a>(&'a self, session: &'a str, most: Option<u64>) -> Later<'a, Result<Vec<String>, KeepSessionError>> {
        Box::pin(async move { self.backend().session_items(session, most).await.map_err(|error| failed(&error)) })
    }

    fn add<'a>(&'a self, session: &'a str, items: &'a [String]) -> Later<'a, Result<(), KeepSessionError>> {
        Box::pin(async move {
            self.backend().add_session_items(session, items, self.now()).await.map_err(|error| failed(&error))
        })
    }

    fn pop<'a>(&'a self, session: &'a str) -> Later<'a, Result<Option<String>, KeepSessionError>> {
        Box::pin(
            async move { self.backend().pop_session_item(session, self.now()).await.map_err(|error| failed(&error)) },
        )
    }

    fn clear<'a>(&'a self, session: &'a str) -> Later<'a, Result<(), KeepSessionError>> {
        Box::pin(async move { self.backend().clear_session(session, self.now()).await.map_err(|error| failed(&error)) })
    }

    fn claim<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        most: Option<u64>,
        take_over: bool,
    ) -> Later<'a, Result<Claimed, KeepSessionError>> {
        Box::pin(async move {
            let claimed = self
                .backend()
                .claim_session(session, run, take_over, self.now())
                .await
                .map_err(|error| failed(&error))?;
            if !claimed {
                return Ok(Claimed::Held);
            }
            self.backend().session_items(session, most).await.map(Claimed::Ours).map_err(|error| failed(&error))
        })
    }

    fn finish<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        items: &'a [String],
    ) -> Later<'a, Result<bool, KeepSessionError>> {
        Box::pin(async move {
            self.backend().finish_session(session, run, items, self.now()).await.map_err(|error| failed(&error))
        })
    }

    fn replace<'a>(
        &'a self,
        session: &'a str,
        run: &'a str,
        oldest: u64,
        items: &'a [String],
    ) -> Later<'a, Result<bool, KeepSessionError>> {
        Box::pin(async move {
            let replaced = self.backend().replace_session_items(session, run, oldest, items, self.now()).await;
            replaced.map_err(|error| failed(&error))
        })
    }

    fn release<'a>(&'a self, session: &'a str, run: &'a str) -> Later<'a, Result<(), KeepSessionError>> {
        Box::pin(async move { self.backend().release_session(session, run).await.map_err(|error| failed(&error)) })
    }
}
