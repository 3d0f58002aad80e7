//! Questions to people, the runs that wait for their answers, and the answers that hold for later calls.
//!
//! Everything that must happen once happens in one transaction here: a question is answered by whoever is first, and a run begins
//! on one node. What runs means is said in [`RunState`].

use std::fmt;
use std::str::FromStr;

use toolmark_core::approval::{Ask, AskId, Decided, Given, Grant, GrantId, RunId};
use toolmark_core::digest::Mark;
use uuid::Uuid;

use crate::error::StoreError;
use crate::store::Store;
use crate::time::Micros;

/// One run that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which.
    pub id: RunId,
    /// The question that it waits for.
    pub ask: AskId,
    /// The node that has it.
    pub node: String,
    /// Where it stands.
    pub state: RunState,
    /// How often its tool asked for more input; each round is begun once.
    pub round: u32,
    /// When it was asked for.
    pub created: Micros,
    /// When its state last changed.
    pub changed: Micros,
}

/// Where a run stands. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunState {
    /// Its caller waits for the answer.
    Waiting,
    /// Its caller was told to call again. The next call that is the same takes it up.
    Parked,
    /// Its caller was given a state to come back with. Only that state takes it up.
    Held,
    /// It runs, or ran without anybody hearing of its end yet.
    Running,
    /// It ran.
    Done,
    /// It will not run: the answer was no, or the caller gave up.
    Withdrawn,
    /// The node that ran it went away; it may have had an effect, and is not repeated.
    Lost,
}

/// How a call became part of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The question, as it stands now.
    pub ask: Ask,
    /// The run of this call. None where the answer is no already.
    pub run: Option<Run>,
    /// True when the question is new, and people have to hear of it.
    pub fresh: bool,
}

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

/// What came of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It holds.
    Made(Box<Ask>),
    /// Somebody was first, or the time was over; this is how it stands.
    TooLate(Box<Ask>),
    /// There is no such question.
    Unknown,
}

/// How often the questions and the grants changed, by whatever process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalsVersion {
    /// Questions asked, answered or expired.
    pub asks: u64,
    /// Grants given, used up or revoked.
    pub grants: u64,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Waiting, Self::Parked, Self::Held, Self::Running, Self::Done, Self::Withdrawn, Self::Lost];

    /// The state in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Parked => "parked",
            Self::Held => "held",
            Self::Running => "running",
            Self::Done => "done",
            Self::Withdrawn => "withdrawn",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for RunState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| format!("`{text}` is no state of a run"))
    }
}

impl Store {
    /// Makes a call part of a question: of the one that is the same and stands, or of this new one.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was asked.
    pub async fn join_ask(&self, new: &Ask, node: &str) -> Result<Joined, StoreError> {
        self.backend().join_ask(new, RunId::new(Uuid::now_v7().as_u128()), node).await
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

    /// Answers a question, if nobody has. An approved run may begin until `until`.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was decided.
    pub async fn decide_ask(
        &self,
        id: AskId,
        decided: &Decided,
        grant: Option<&Grant>,
        until: Micros,
    ) -> Result<Decision, StoreError> {
        self.backend().decide_ask(id, decided, grant, until).await
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
