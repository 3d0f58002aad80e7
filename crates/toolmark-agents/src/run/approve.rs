//! Who is asked during a run? Its state: what a person decided about a call is in it, and what nobody decided interrupts the run.

use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use toolmark_core::approval::{Prompt, RunId, Scope};
use toolmark_core::time::Micros;
use toolmark_runtime::approve::{
    Approval, Approvals, Asking, Client, ClientAnswer, Ending, Handed, Later, Pass, Reach, Returned,
};
use toolmark_runtime::tools::TurnContext;
use uuid::Uuid;

use crate::host::{Answers, McpAnswer, McpRequest};

/// Takes every question to the caller, which is the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ByState;

impl Approvals for ByState {
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Later<'a, Approval> {
        Box::pin(async move {
            let now = now();
            let ask = asking.question(now, now);
            let (prompt, offered) = (ask.prompt(), vec![Scope::Once, Scope::Always]);
            match asking.client.ask(&prompt, &offered).await {
                Some(ClientAnswer::Yes(_)) => Approval::Granted(Pass::default()),
                Some(ClientAnswer::Edited(text)) => Approval::Granted(Pass { edited: Some(text), ..Pass::default() }),
                Some(ClientAnswer::No(message)) => Approval::Rejected(message),
                Some(ClientAnswer::Dismissed) | None => {
                    let run = RunId::new(Uuid::now_v7().as_u128());
                    Approval::Handed(Box::new(Handed { run, ask: ask.id, prompt, offered }))
                }
            }
        })
    }

    fn ended(&self, _: &Pass, _: Ending) {}
}

fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Micros::new(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// What the state of the run says about one call.
#[derive(Clone, Default)]
pub(super) struct Said {
    /// Whether it may run, with a message to the model; nothing where nobody decided.
    pub(super) decision: Option<(bool, Option<String>)>,
    /// What it runs with, where a person changed that.
    pub(super) edited: Option<String>,
    /// The question that it was sent away with.
    pub(super) run: Option<RunId>,
    /// Who answers in place of a person, where nobody decided.
    pub(super) instead: Option<Instead>,
}

/// A function of the program that answers what the provider asks about its own servers.
#[derive(Clone)]
pub(super) struct Instead {
    pub(super) answers: Answers,
    pub(super) turn: TurnContext,
    pub(super) request: McpRequest,
    /// Why it said no, once it did.
    pub(super) refused: Arc<OnceLock<Option<String>>>,
}

impl Said {
    /// What was written for the model by whoever said no; nothing inside where they wrote nothing.
    pub(super) fn refused(&self) -> Option<Option<&str>> {
        match (&self.decision, &self.instead) {
            (Some((false, message)), _) => Some(message.as_deref()),
            (None, Some(instead)) => instead.refused.get().map(Option::as_deref),
            _ => None,
        }
    }

    fn answer(&self) -> Option<ClientAnswer> {
        self.decision.as_ref().map(|(approved, message)| match (approved, &self.edited) {
            (true, None) => ClientAnswer::Yes(Scope::Once),
            (true, Some(text)) => ClientAnswer::Edited(text.clone()),
            (false, _) => ClientAnswer::No(message.clone()),
        })
    }
}

impl Client for Said {
    fn reach(&self) -> Reach {
        match (&self.decision, &self.instead) {
            (None, Some(_)) => Reach::Waiting,
            _ => Reach::HandingOver,
        }
    }

    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a [Scope]) -> Later<'a, Option<ClientAnswer>> {
        Box::pin(async move {
            let answer = self.answer();
            match &self.instead {
                Some(instead) if answer.is_none() => {
                    let asked = (instead.answers)(instead.turn.clone(), instead.request.clone());
                    Some(match asked.await {
                        McpAnswer::Approve => ClientAnswer::Yes(Scope::Once),
                        McpAnswer::Reject(reason) => {
                            let _ = instead.refused.set(reason.clone());
                            ClientAnswer::No(reason)
                        }
                    })
                }
                _ => answer,
            }
        })
    }

    fn returned(&self) -> Option<Returned> {
        self.run.map(|run| Returned { run, answer: self.answer(), round: None })
    }
}
