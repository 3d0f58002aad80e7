//! The rule that one call id means one call, and how far each call of a run got.

use std::collections::HashMap;

use super::super::invocation::{InvocationIdentity, InvocationKind};
use super::{ApprovalError, ApprovalItem};
use crate::call::CallId;
use crate::text::visible;

/// Every call of a run, by the id that the provider gave it.
#[derive(Clone, Debug, Default)]
pub struct InvocationLedger {
    calls: HashMap<CallId, (InvocationIdentity, InvocationProgress)>,
}

/// How far a call got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InvocationProgress {
    executed: bool,
    completed: bool,
}

impl InvocationLedger {
    /// Enters a call, or finds it again.
    ///
    /// # Errors
    /// [`ApprovalError::ReusedCallId`] when the id stands for a call of another type, of another tool or with other content.
    pub fn enter(&mut self, identity: &InvocationIdentity) -> Result<InvocationProgress, ApprovalError> {
        self.entry(identity).map(|progress| *progress)
    }

    /// Marks a call as executed, before anything of the tool runs.
    ///
    /// # Errors
    /// As [`Self::enter`].
    pub fn mark_executed(&mut self, identity: &InvocationIdentity) -> Result<(), ApprovalError> {
        self.entry(identity)?.executed = true;
        Ok(())
    }

    /// Marks a call as completed, when its output was committed. An output that fits no call changes nothing.
    pub fn mark_completed(&mut self, kind: InvocationKind, call_id: &CallId) {
        if let Some((identity, progress)) = self.calls.get_mut(call_id)
            && identity.kind() == kind
        {
            *progress = InvocationProgress { executed: true, completed: true };
        }
    }

    /// Refuses a call that cannot be identified but bears the id of one that was. A hosted request is let go: it is only
    /// incomplete.
    pub(super) fn refuse_known(&self, item: &ApprovalItem<'_>) -> Result<(), ApprovalError> {
        match item.call_id() {
            Some(call_id) if !item.is_hosted() && self.calls.contains_key(&call_id) => Err(reused(&call_id)),
            _ => Ok(()),
        }
    }

    fn entry(&mut self, identity: &InvocationIdentity) -> Result<&mut InvocationProgress, ApprovalError> {
        let call = || (identity.clone(), InvocationProgress::default());
        let (known, progress) = self.calls.entry(identity.call_id().clone()).or_insert_with(call);
        if known == identity { Ok(progress) } else { Err(reused(identity.call_id())) }
    }
}

impl InvocationProgress {
    /// True once the tool was about to run.
    #[must_use]
    pub fn executed(self) -> bool {
        self.executed
    }

    /// True once its output was committed.
    #[must_use]
    pub fn completed(self) -> bool {
        self.completed
    }
}

fn reused(call_id: &CallId) -> ApprovalError {
    ApprovalError::ReusedCallId(visible(call_id.as_str(), 80))
}
