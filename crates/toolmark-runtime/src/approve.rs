//! Who is asked when the verdict is to ask, and what they say.

use std::future::Future;
use std::pin::Pin;

use crate::examine::{Examination, Request};

/// What a person, or somebody in their place, said. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approval {
    /// It may run, once.
    Granted,
    /// It may not; the text goes to the model.
    Rejected(Option<String>),
    /// Nobody has answered yet; the text says how to get an answer.
    Pending(String),
}

/// Asks people.
pub trait Approvals: Send + Sync {
    /// Asks about one call.
    fn ask<'a>(
        &'a self,
        request: &'a Request<'a>,
        examination: &'a Examination<'a>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;
}

/// Nobody is there to be asked: every question stays open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unattended;

impl Approvals for Unattended {
    fn ask<'a>(
        &'a self,
        _: &'a Request<'a>,
        _: &'a Examination<'a>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>> {
        let text = "Nobody can be asked here. An operator can allow it with a rule, or by saying what the tool does.";
        Box::pin(std::future::ready(Approval::Pending(text.into())))
    }
}
