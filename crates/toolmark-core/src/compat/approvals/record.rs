//! The decisions under one key: about single calls, and one that lasts.

use std::collections::HashMap;

use super::super::invocation::{ApprovalScope, InvocationIdentity};
use super::{Decision, Reach};
use crate::call::CallId;

/// What was decided under one key. What was said about a single call counts before what is always so.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    exact: HashMap<CallId, bool>,
    lasting: Option<Lasting>,
    /// Kept apart from the decisions: a lasting rejection takes those away, and leaves what was said about them.
    messages: HashMap<CallId, Box<str>>,
}

#[derive(Clone, Debug)]
struct Lasting {
    approved: bool,
    message: Option<Box<str>>,
    scope: ApprovalScope,
}

/// A decision that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found<S> {
    pub(super) approved: bool,
    /// What a lasting decision covers; none when it was about this very call.
    pub(super) scope: Option<S>,
}

impl Found<&ApprovalScope> {
    pub(super) fn into_owned(self) -> Found<ApprovalScope> {
        Found { approved: self.approved, scope: self.scope.cloned() }
    }
}

impl Record {
    pub(super) fn decide(&mut self, identity: &InvocationIdentity, decision: Decision<'_>, reach: Reach) {
        let call_id = identity.call_id();
        let (approved, message) = match decision {
            Decision::Approve => (true, None),
            Decision::Reject { message } => (false, message.map(Box::<str>::from)),
        };
        match reach {
            Reach::Always => {
                self.exact.clear();
                if approved {
                    self.messages.clear();
                }
                self.lasting = Some(Lasting { approved, message: message.clone(), scope: identity.scope().clone() });
            }
            Reach::Once if self.lasting.as_ref().is_some_and(|lasting| lasting.approved == approved) => {
                // Not an exception from what is always so, and no decision of its own.
                self.exact.remove(call_id);
            }
            Reach::Once => {
                self.exact.insert(call_id.clone(), approved);
            }
        }
        match message {
            Some(message) => self.messages.insert(call_id.clone(), message),
            None => self.messages.remove(call_id),
        };
    }

    /// The decision about a call.
    pub(super) fn find(&self, call_id: &CallId) -> Option<Found<&ApprovalScope>> {
        match self.find_exact(call_id) {
            Some(approved) => Some(Found { approved, scope: None }),
            None => {
                self.lasting.as_ref().map(|lasting| Found { approved: lasting.approved, scope: Some(&lasting.scope) })
            }
        }
    }

    /// The decision about this very call.
    pub(super) fn find_exact(&self, call_id: &CallId) -> Option<bool> {
        self.exact.get(call_id).copied()
    }

    /// What was said when the call was rejected.
    pub(super) fn message(&self, call_id: &CallId) -> Option<&str> {
        let found = self.find(call_id).filter(|found| !found.approved)?;
        let lasting = || self.lasting.as_ref().filter(|_| found.scope.is_some())?.message.as_deref();
        self.messages.get(call_id).map(AsRef::as_ref).or_else(lasting)
    }
}
