//! The caller's own way to a person: can its user be asked, and did it come back with an answer?

use toolmark_core::approval::{Prompt, RunId, Scope};

use super::Later;

/// Whoever called, as far as it can ask its user.
pub trait Client: Send + Sync {
    /// How its user is reached.
    fn reach(&self) -> Reach;

    /// Asks its user and waits. Nothing where no answer came.
    fn ask<'a>(&'a self, prompt: &'a Prompt, offered: &'a [Scope]) -> Later<'a, Option<ClientAnswer>>;

    /// What it came back with, where this call is the repetition of one that was handed over.
    fn returned(&self) -> Option<Returned>;
}

/// How the user of a client is reached. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Not at all.
    Nowhere,
    /// By asking, while the call waits.
    Waiting,
    /// By sending the caller away with the question; it repeats the call with the answer.
    HandingOver,
}

/// What the user of a client says. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientAnswer {
    /// Yes, this far.
    Yes(Scope),
    /// Yes, this once, with other arguments: JSON text of an object, which enters the pipeline again.
    Edited(String),
    /// No, with a word to the model.
    No(Option<String>),
    /// They closed the question without an answer.
    Dismissed,
}

/// What a caller came back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returned {
    /// The run that it was given.
    pub run: RunId,
    /// What its user said; nothing where it brings none.
    pub answer: Option<ClientAnswer>,
    /// The round that it goes on with, where the run is under way and its tool wanted to know more.
    pub round: Option<u32>,
}

/// A caller whose user cannot be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClient;

impl Client for NoClient {
    fn reach(&self) -> Reach {
        Reach::Nowhere
    }

    fn ask<'a>(&'a self, _: &'a Prompt, _: &'a [Scope]) -> Later<'a, Option<ClientAnswer>> {
        Box::pin(std::future::ready(None))
    }

    fn returned(&self) -> Option<Returned> {
        None
    }
}
