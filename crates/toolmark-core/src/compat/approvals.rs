//! Decisions about calls as the SDK keeps them during one run: who may call what, once or always, and what a refusal says.
//!
//! A decision about a function tool belongs to one agent, one about a hosted tool to its server's label. Nothing here asks
//! anybody; it records what was answered and finds it again.

mod error;
mod item;
mod ledger;
mod record;

use std::collections::HashMap;

pub use self::error::ApprovalError;
pub use self::item::ApprovalItem;
use self::item::RecordKey;
pub use self::ledger::{InvocationLedger, InvocationProgress};
use self::record::{Found, Record};
use super::hosted::HostedRequest;
use super::invocation::InvocationIdentity;
use crate::call::CallId;

/// What somebody answered when asked about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision<'a> {
    /// The call may run.
    Approve,
    /// The call may not run.
    Reject {
        /// What the model is told instead of a result; an empty text is one too.
        message: Option<&'a str>,
    },
}

/// How far a decision reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This call and no other.
    Once,
    /// Every call of the same tool by the same agent, or of the same hosted tool.
    Always,
}

/// The decisions and the calls of one run.
#[derive(Clone, Debug, Default)]
pub struct Approvals {
    records: HashMap<RecordKey, Record>,
    ledger: InvocationLedger,
}

impl Approvals {
    /// Records a decision. Nothing is recorded when it is refused.
    ///
    /// # Errors
    /// [`ApprovalError`] when the call cannot be identified, its id stands for another call, or a lasting decision about a
    /// hosted tool does not say which one.
    pub fn decide(
        &mut self,
        item: &ApprovalItem<'_>,
        decision: Decision<'_>,
        reach: Reach,
    ) -> Result<(), ApprovalError> {
        let hosted = item.hosted_request();
        if let Some(request) = &hosted {
            if request.id().is_none() {
                return Err(ApprovalError::HostedWithoutId);
            }
            if reach == Reach::Always && request.approval_identity().is_none() {
                return Err(ApprovalError::HostedIncomplete);
            }
        }
        if item.lacks_call_id() {
            return Err(ApprovalError::NoCallId);
        }
        let identity = item.identify()?.ok_or(ApprovalError::NoIdentity)?;
        self.ledger.enter(&identity)?;
        match hosted {
            Some(request) => self.decide_hosted(&request, &identity, decision, reach),
            None => {
                let keys = match reach {
                    Reach::Once => item.approval_keys(),
                    Reach::Always => vec![item.canonical_key()],
                };
                for key in keys {
                    let key = item.record_key(key, Some(&identity));
                    self.records.entry(key).or_default().decide(&identity, decision, reach);
                }
            }
        }
        Ok(())
    }

    fn decide_hosted(
        &mut self,
        request: &HostedRequest<'_>,
        identity: &InvocationIdentity,
        decision: Decision<'_>,
        reach: Reach,
    ) {
        // An identified request names its server and its tool.
        if let Some(tool) = request.approval_identity() {
            let query = RecordKey::HostedQuery(tool.tool().into(), identity.call_id().clone());
            self.records.entry(query).or_default().decide(identity, decision, Reach::Once);
            self.records.entry(RecordKey::Hosted(tool)).or_default().decide(identity, decision, reach);
        }
    }

    /// Whether the call was approved or rejected; none when nobody decided.
    ///
    /// `pending` says that the call itself waits for the decision, so that what was decided under its other names counts too. A
    /// decision that is found enters the call in the ledger.
    ///
    /// # Errors
    /// [`ApprovalError`] when the call has no id, or there is a decision but the id stands for another call.
    pub fn status(&mut self, item: &ApprovalItem<'_>, pending: bool) -> Result<Option<bool>, ApprovalError> {
        let call_id = item.call_id().ok_or(ApprovalError::NoCallId)?;
        let identity = item.identify();
        if let (true, Err(error)) = (pending, &identity) {
            return Err((*error).into());
        }
        let keys = item.records_to_try(pending, identity.as_ref().ok().and_then(Option::as_ref));
        let found = keys.iter().find_map(|key| self.records.get(key)?.find(&call_id)).map(Found::into_owned);
        let Some(found) = found else {
            return Ok(None);
        };
        let Some(identity) = identity? else {
            self.ledger.refuse_known(item)?;
            return Ok(None);
        };
        self.ledger.enter(&identity)?;
        Ok(Some(found.approved).filter(|_| found.scope.is_none_or(|scope| scope == *identity.scope())))
    }

    /// What the model is told about a rejected call that waits for its decision, if somebody left a message.
    #[must_use]
    pub fn rejection_message(&self, item: &ApprovalItem<'_>) -> Option<&str> {
        let call_id = item.call_id()?;
        let identity = item.identify().ok().flatten();
        let keys = item.records_to_try(true, identity.as_ref());
        keys.iter().find_map(|key| self.records.get(key)?.message(&call_id))
    }

    /// What was decided about a call of which only a name and an id are known. To look at, not to act upon: several agents may
    /// have decided, and then it is undecided unless one of them, and only one, meant this very call.
    #[must_use]
    pub fn is_tool_approved(&self, name: &str, call_id: &CallId) -> Option<bool> {
        let query = RecordKey::HostedQuery(name.into(), call_id.clone());
        if let Some(approved) = self.records.get(&query).and_then(|record| record.find_exact(call_id)) {
            return Some(approved);
        }
        let records: Vec<&Record> =
            self.records.iter().filter(|(key, _)| key.is_named(name)).map(|(_, record)| record).collect();
        if let [record] = records.as_slice() {
            return record.find(call_id).map(|found| found.approved);
        }
        let mut exact = records.iter().filter_map(|record| record.find_exact(call_id));
        exact.next().filter(|_| exact.next().is_none())
    }

    /// Enters a call before it has any effect, and says how far it got earlier; none when it cannot be identified.
    ///
    /// # Errors
    /// [`ApprovalError`] when its id stands for another call.
    pub fn register_call(&mut self, item: &ApprovalItem<'_>) -> Result<Option<InvocationProgress>, ApprovalError> {
        match item.identify()? {
            Some(identity) => self.ledger.enter(&identity).map(Some),
            None => self.ledger.refuse_known(item).map(|()| None),
        }
    }

    /// The calls of the run.
    pub fn ledger(&mut self) -> &mut InvocationLedger {
        &mut self.ledger
    }
}

#[cfg(test)]
mod tests;
