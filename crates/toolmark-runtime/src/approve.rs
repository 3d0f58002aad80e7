//! Who is asked when the verdict is to ask, and what they say.
//!
//! A [`Desk`] does it for real: it finds the grant that covers a call, or asks people on every way at once, and lets an approved call run
//! once. What must outlive the process is behind a [`Ledger`].

mod book;
mod client;
mod desk;
mod ledger;

use std::future::Future;
use std::pin::Pin;

use toolmark_core::approval::{Ask, AskId, AskKey, AskState, EffectBound, GrantId, Prompt, RunId, Scope};
use toolmark_core::canonical;
use toolmark_core::digest::ArgumentDigest;
use toolmark_core::explain::Report;
use toolmark_core::text::visible;
use toolmark_core::time::Micros;
use uuid::Uuid;

pub use client::{Client, ClientAnswer, NoClient, Reach, Returned};
pub use desk::{Asker, DecideError, Desk, DeskEvent, DeskSettings};
pub use ledger::{Ledger, LedgerError};

use crate::examine::Examination;
use crate::pipeline::Arrived;
use crate::task::Task;
use crate::workspace::Identity;

/// Something that takes a while.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A call that somebody has to agree to.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// The call.
    pub arrived: &'a Arrived<'a>,
    /// What was found out about it.
    pub examination: &'a Examination<'a>,
    /// Which tool it is of.
    pub identity: &'a Identity,
    /// The version of the policy that asks.
    pub policy: &'a str,
    /// What changed in the tool since it was approved, one line each.
    pub changes: &'a [String],
    /// The caller's own way to a person.
    pub client: &'a dyn Client,
}

impl Asking<'_> {
    /// What makes another call the same question, with the digest of the arguments.
    #[must_use]
    pub fn key(&self) -> (AskKey, ArgumentDigest) {
        let request = &self.arrived.request;
        let digest = ArgumentDigest::of(self.arrived.read);
        let task = request.task.map(Task::full_name);
        (AskKey::of(request.caller.name(), &self.identity.mark, &digest, task, self.policy), digest)
    }

    /// The question that a person is asked, with an id of its own.
    #[must_use]
    pub fn question(&self, now: Micros, expires: Micros) -> Ask {
        let request = &self.arrived.request;
        let facts = self.examination.facts();
        let effects = facts.effects().map(|effect| effect.summary.clone());
        let unclear = facts.unclear().map(|(part, why)| format!("{} was not understood: {why}", part.pointer));
        let behavior = self.examination.known().behavior_of(request.arguments);
        let (key, digest) = self.key();
        Ask {
            id: AskId::new(Uuid::now_v7().as_u128()),
            key,
            principal: request.caller.name().to_owned(),
            session: request.caller.session().map(str::to_owned),
            called: visible(self.arrived.lookup, 300),
            canonical: self.identity.canonical.to_string(),
            mark: self.identity.mark,
            behavior: behavior.map_or_else(|| "unknown".to_owned(), |behavior| behavior.to_string()),
            arguments: canonical::to_canonical(self.arrived.read),
            digest,
            effects: effects.chain(unclear).collect(),
            bound: EffectBound::of(facts),
            reasons: self.examination.verdict().to_json().get("reasons").cloned().unwrap_or_default(),
            changes: self.changes.to_vec(),
            task: request.task.map(|task| task.full_name().to_owned()),
            policy: self.policy.to_owned(),
            created: now,
            expires,
            state: AskState::Pending,
        }
    }
}

/// What a person, or somebody in their place, said. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq)]
pub enum Approval {
    /// It may run, once.
    Granted(Pass),
    /// It may not; the text goes to the model.
    Rejected(Option<String>),
    /// Nobody has answered yet; the text says how to get an answer.
    Pending(String),
    /// The caller's own user is asked: the caller comes back with the answer.
    Handed(Box<Handed>),
    /// It cannot be asked, or what came back cannot be used. It does not run.
    Failed(Box<Report>),
}

/// What lets a call through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// The grant that covers it.
    pub grant: Option<GrantId>,
    /// The run of the ledger that it is, with its round.
    pub run: Option<(RunId, u32)>,
    /// Other arguments to run with, as JSON text.
    pub edited: Option<String>,
    /// Who said yes, where one person did.
    pub by: Option<String>,
}

/// A question that the caller takes to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// The run that waits; the caller comes back with it.
    pub run: RunId,
    /// The question.
    pub ask: AskId,
    /// What the user is shown.
    pub prompt: Prompt,
    /// How far an answer may reach.
    pub offered: Vec<Scope>,
}

/// How a run ended. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its tool was never reached: the same call may begin it again.
    NotBegun,
    /// It is over, well or not.
    Over,
    /// Its tool wants to know more, and the caller comes back with that.
    Unfinished,
    /// Nobody knows: whoever waited for it went away.
    Unknown,
}

/// Asks people.
pub trait Approvals: Send + Sync {
    /// Asks about one call.
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Later<'a, Approval>;

    /// Hears how a run ended that was let through. Must not wait.
    fn ended(&self, pass: &Pass, ending: Ending);
}

/// Nobody is there to be asked: every question stays open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Approvals for Unattended {
    fn ask<'a>(&'a self, _: Asking<'a>) -> Later<'a, Approval> {
        let text = "Nobody can be asked here. An operator can allow it with a rule, or by saying what the tool does.";
        Box::pin(std::future::ready(Approval::Pending(text.into())))
    }

    fn ended(&self, _: &Pass, _: Ending) {}
}
