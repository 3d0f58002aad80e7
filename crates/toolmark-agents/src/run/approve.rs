//! Who is asked during a run? Its state: what a person decided about a call is in it, and what nobody decided interrupts the run.

use std::time::{SystemTime, UNIX_EPOCH};

use toolmark_core::approval::{Prompt, RunId, Scope};
use toolmark_core::time::Micros;
use toolmark_runtime::approve::{
    Approval, Approvals, Asking, Client, ClientAnswer, Ending, Handed, Later, Pass, Reach, Returned,
};
use uuid::Uuid;

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
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// Whether it may run, with a message to the model; nothing where nobody decided.
    pub(super) decision: Option<(bool, Option<String>)>,
    /// The question that it was sent away with.
    pub(super) run: Option<RunId>,
}

impl Said {
    fn answer(&self) -> Option<ClientAnswer> {
        self.decision.as_ref().map(|(approved, message)| match approved {
            true => ClientAnswer::Yes(Scope::Once),
            false => ClientAnswer::No(message.clone()),
        })
    }
}

impl Client for Said {
    fn reach(&self) -> Reach {
        Reach::HandingOver
    }

    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a [Scope]) -> Later<'a, Option<ClientAnswer>> {
        Box::pin(std::future::ready(self.answer()))
    }

    fn returned(&self) -> Option<Returned> {
        self.run.map(|run| Returned { run, answer: self.answer(), round: None })
    }
}
