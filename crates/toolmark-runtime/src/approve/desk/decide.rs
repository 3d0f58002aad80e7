//! Answers: who may give which, and what becomes of them.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolmark_core::approval::{Ask, AskId, AskState, Given, GrantId, Outcome, Proposal, Ruling, RulingError, Scope};
use toolmark_core::explain::{Code, Explain, facts};
use uuid::Uuid;

use super::super::ledger::LedgerError;
use super::{CLAIM, Desk, DeskEvent};

/// An answer, or a call that comes back with one, that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecideError {
    /// There is no such question.
    #[error("there is no such question")]
    Unknown,
    /// Somebody else answered.
    #[error("{} {} it before", visible(&.0.1), if .0.0 { "approved" } else { "rejected" })]
    Decided(Box<(bool, String)>),
    /// Its time is over.
    #[error("the time for an answer is over")]
    Expired,
    /// The call is another than the one that was asked about.
    #[error("the call is not the one that was approved")]
    Changed,
    /// The run began before, or was withdrawn.
    #[error("the approved run began before, or was withdrawn")]
    Spent,
    /// It cannot be the answer to this question.
    #[error(transparent)]
    Ruling(#[from] RulingError),
    /// Whatever keeps questions failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

fn visible(text: &str) -> String {
    toolmark_core::text::visible(text, 100)
}

impl Desk {
    /// Answers a question. The first answer counts; later ones are told so.
    ///
    /// # Errors
    /// [`DecideError`]; then nothing was decided by this.
    pub async fn decide(&self, id: AskId, ruling: &Ruling) -> Result<Ask, DecideError> {
        let ask = self.shared.ledger.ask(id).await?.ok_or(DecideError::Unknown)?;
        let (decided, grant) = ask.settle(ruling, GrantId::new(Uuid::now_v7().as_u128()))?;
        let until = ruling.given.at.after(CLAIM);
        match self.shared.ledger.decide(id, &decided, grant.as_ref(), until).await? {
            Outcome::Unknown => Err(DecideError::Unknown),
            Outcome::TooLate(ask) => Err(DecideError::too_late(&ask)),
            Outcome::Made(ask) => {
                if grant.is_some() {
                    self.refresh_grants().await;
                }
                self.settled(&ask);
                Ok(*ask)
            }
        }
    }

    /// Takes a grant back.
    ///
    /// # Errors
    /// [`DecideError`] when there is none, or it cannot be taken back.
    pub async fn revoke(&self, id: GrantId, by: &Given) -> Result<(), DecideError> {
        if !self.shared.ledger.revoke(id, by).await? {
            return Err(DecideError::Unknown);
        }
        self.refresh_grants().await;
        Ok(())
    }

    /// Patterns for an answer, from what was asked before about the same tool for the same caller.
    ///
    /// # Errors
    /// [`DecideError::Ledger`].
    pub async fn proposals(&self, ask: &Ask) -> Result<Vec<Proposal>, DecideError> {
        // What is not offered is not proposed.
        if !ask.offered().contains(&Scope::Pattern) {
            return Ok(Vec::new());
        }
        let alike = self.shared.ledger.alike(ask.mark, &ask.principal, 200).await?;
        let earlier: Vec<Value> = alike.iter().filter(|other| other.id != ask.id).map(Ask::arguments).collect();
        Ok(Proposal::from_calls(&ask.arguments(), &earlier))
    }

    /// Tells everybody that a question is over.
    pub(super) fn settled(&self, ask: &Ask) {
        self.answered().insert(ask.key.clone(), ask.expires);
        self.shared.ticks.send_modify(|ticks| *ticks += 1);
        self.open_asks().remove(&ask.id);
        // Nobody may be watching.
        let _ = self.shared.events.send(DeskEvent::Settled(Arc::new(ask.clone())));
    }
}

impl DecideError {
    /// Why a decision came too late.
    #[must_use]
    pub fn too_late(ask: &Ask) -> Self {
        match &ask.state {
            AskState::Decided(decided) => Self::Decided(Box::new((decided.allows, decided.given.by.clone()))),
            AskState::Pending | AskState::Expired => Self::Expired,
        }
    }
}

impl Explain for DecideError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown => Code::new("approval-unknown"),
            Self::Decided(_) => Code::new("approval-decided"),
            Self::Expired => Code::new("approval-expired"),
            Self::Changed => Code::new("approval-changed"),
            Self::Spent => Code::new("approval-spent"),
            Self::Ruling(error) => error.code(),
            Self::Ledger(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Unknown => "a decision without a question decides nothing".into(),
            Self::Decided(_) => "a question is answered once: two answers could undo what ran already".into(),
            Self::Expired => "an approval that nobody waits for could run at a moment nobody expects".into(),
            Self::Changed => "an approval means exactly what was shown, for whom it was shown, and nothing else".into(),
            Self::Spent => "an approved call runs at most once, on whichever node".into(),
            Self::Ruling(error) => error.why(),
            Self::Ledger(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Unknown => "list what is open with `toolmark approvals list`".into(),
            Self::Decided(_) => "`toolmark approvals show ID` says who decided, and how".into(),
            Self::Expired | Self::Changed | Self::Spent => "call again: that asks anew".into(),
            Self::Ruling(error) => error.fix(),
            Self::Ledger(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Decided(decided) => facts([("allows", decided.0.into()), ("by", decided.1.as_str().into())]),
            Self::Ruling(error) => error.facts(),
            Self::Unknown | Self::Expired | Self::Changed | Self::Spent | Self::Ledger(_) => Map::new(),
        }
    }
}
