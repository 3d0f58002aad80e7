//! Conversations that a run holds for as long as somebody says so, and what waits in them: a run that is taken up by another process, once.
//! Every thread has an owner, who has only so many of them; what nobody uses any more goes.

use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// How many threads go in one transaction: with all that was said in them, few enough that nobody waits long for the writer.
const STEP: u32 = 50;

/// Who takes which thread, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct ThreadClaim<'a> {
    /// The thread.
    pub thread: &'a str,
    /// Whose it is.
    pub owner: &'a str,
    /// How many threads the owner may have. Where there are as many, the one that was not used for longest makes room for a new one, unless
    /// somebody has it or something waits in it.
    pub most: u32,
    /// Who has it from now on.
    pub holder: &'a str,
    /// Until when, without a sign of life.
    pub until: Micros,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum TakenThread {
    /// It was taken.
    Ours {
        /// What waits in it.
        waits: Option<String>,
        /// How many threads of the same owner were forgotten to make room.
        forgotten: u64,
    },
    /// Somebody else has it.
    Held,
    /// It would be new, its owner has as many as may be, and each of them is held or waits. Nothing was changed.
    Full,
}

/// How many threads are gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct TrimmedThreads {
    /// Those in which nothing waited.
    pub idle: u64,
    /// Those in which something did.
    pub waiting: u64,
}

impl Store {
    /// Takes a thread until a moment. Whoever had it and did not keep it has lost it. What was said in it are the items of the session of that
    /// name.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be used.
    pub async fn take_thread(&self, claim: ThreadClaim<'_>) -> Result<TakenThread, StoreError> {
        self.backend().take_thread(claim, self.now()).await
    }

    /// Forgets a few threads that were not used since a moment, and since another one where something waits in them, for those who let others
    /// have the store between two steps. Whoever has a thread keeps it. None are left when none went.
    ///
    /// # Errors
    /// [`StoreError`]; what went before stays gone.
    pub async fn trim_threads_step(&self, idle: Micros, waiting: Micros) -> Result<TrimmedThreads, StoreError> {
        self.backend().trim_threads(idle, waiting, STEP, self.now()).await
    }

    /// Keeps a thread until a later moment; says whether the holder still had it.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be used.
    pub async fn keep_thread(&self, thread: &str, holder: &str, until: Micros) -> Result<bool, StoreError> {
        self.backend().keep_thread(thread, holder, until).await
    }

    /// Adds what was said, writes down what waits from now on, and gives the thread back: all of it or nothing. Says whether the holder still
    /// had it; otherwise nothing was changed.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be used.
    pub async fn leave_thread(
        &self,
        thread: &str,
        holder: &str,
        items: &[String],
        waits: Option<&str>,
    ) -> Result<bool, StoreError> {
        self.backend().leave_thread(thread, holder, items, waits, self.now()).await
    }
}
