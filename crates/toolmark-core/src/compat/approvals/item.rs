//! A call that needs a decision, and the keys under which decisions about it are stored and looked for.

use super::super::approval::{ApprovalKeyOptions, approval_keys};
use super::super::hosted::{HostedApprovalIdentity, HostedRequest};
use super::super::invocation::{
    ApprovalScope, IdentifyInvocationError, InvocationContext, InvocationIdentity, InvocationKind, identify_invocation,
    lacks_call_id,
};
use super::super::loose::Loose;
use super::super::wire::WireName;
use crate::call::CallId;
use crate::json::Json;
use crate::names::{ApprovalKey, LookupKey};

/// A call about which somebody decides, with what is known about its tool.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalItem<'a> {
    /// The call as the provider sent it.
    pub raw_item: &'a Json<'a>,
    /// What tells the agent that makes the call from every other. Two agents of one name need two of these.
    pub agent: &'a str,
    /// The name of the tool; without it, the name in the call, or its type.
    pub tool_name: Option<&'a str>,
    /// The namespace of the tool; without it, the namespace in the call.
    pub tool_namespace: Option<&'a str>,
    /// The key that a function call was resolved by.
    pub lookup_key: Option<&'a LookupKey>,
    /// Whether a decision also counts under the bare name; see [`super::super::bare_name_alias_allowed`].
    pub bare_name_alias: bool,
}

/// Where a record is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RecordKey {
    /// A function tool, for one agent.
    Function(Box<str>, ApprovalKey),
    /// A tool of another type, for all agents.
    Tool(ApprovalKey),
    /// A tool that patches files, which may share its name with a custom tool.
    ApplyPatch(ApprovalKey, Option<ApprovalScope>),
    /// A hosted tool.
    Hosted(HostedApprovalIdentity),
    /// A request for a hosted tool of this name, for questions that know no more; no call is let through by it.
    HostedQuery(Box<str>, CallId),
}

impl RecordKey {
    /// True when a question that knows nothing but a name means this record.
    pub(super) fn is_named(&self, name: &str) -> bool {
        match self {
            Self::Function(_, key) | Self::Tool(key) | Self::ApplyPatch(key, _) => key.as_str() == name,
            Self::Hosted(_) | Self::HostedQuery(..) => false,
        }
    }
}

impl<'a> ApprovalItem<'a> {
    pub(super) fn hosted_request(&self) -> Option<HostedRequest<'a>> {
        HostedRequest::read(self.raw_item)
    }

    pub(super) fn is_hosted(&self) -> bool {
        self.hosted_request().is_some()
    }

    pub(super) fn identify(&self) -> Result<Option<InvocationIdentity>, IdentifyInvocationError> {
        let context = InvocationContext { lookup_key: self.lookup_key, tool_name: self.tool_name, role: None };
        identify_invocation(self.raw_item, context)
    }

    /// The id of the call, whether or not the rest of it can be identified.
    pub(super) fn call_id(&self) -> Option<CallId> {
        let id = match self.hosted_request() {
            Some(request) => request.id(),
            None => self.raw_item.text_field("call_id"),
        };
        id?.parse().ok()
    }

    /// True when the call is of a known type and has no id that could be used.
    pub(super) fn lacks_call_id(&self) -> bool {
        lacks_call_id(self.raw_item)
    }

    /// The keys that a decision about this call alone is stored under.
    pub(super) fn approval_keys(&self) -> Vec<ApprovalKey> {
        self.keys(self.bare_name_alias)
    }

    /// The key that a lasting decision is stored under: never the bare alias, which other tools may come to share.
    pub(super) fn canonical_key(&self) -> ApprovalKey {
        self.keys(false).pop().unwrap_or_else(|| ApprovalKey::new(self.name()))
    }

    /// The records that may hold a decision about this call; the first that does counts.
    pub(super) fn records_to_try(&self, pending: bool, identity: Option<&InvocationIdentity>) -> Vec<RecordKey> {
        match self.hosted_request() {
            Some(request) => request.approval_identity().map(RecordKey::Hosted).into_iter().collect(),
            None => self.keys_to_try(pending).into_iter().map(|key| self.record_key(key, identity)).collect(),
        }
    }

    /// The keys to look under, in order and each once.
    fn keys_to_try(&self, pending: bool) -> Vec<ApprovalKey> {
        let mut keys = Vec::new();
        if pending {
            keys.push(self.canonical_key());
        }
        if self.lookup_key.is_some() || self.namespace().is_some() {
            let options = ApprovalKeyOptions { legacy_deferred: true, ..ApprovalKeyOptions::default() };
            keys.extend(approval_keys(self.wire_name(), self.lookup_key, options));
        } else if !pending {
            keys.push(ApprovalKey::new(self.name()));
        }
        if pending {
            keys.extend(self.approval_keys());
            if self.namespace().is_none() {
                keys.push(ApprovalKey::new(self.name()));
            }
        }
        let mut seen = Vec::with_capacity(keys.len());
        for key in keys {
            if !seen.contains(&key) {
                seen.push(key);
            }
        }
        seen
    }

    /// Where the record of a key is kept for this call.
    pub(super) fn record_key(&self, key: ApprovalKey, identity: Option<&InvocationIdentity>) -> RecordKey {
        if self.is_function_call() {
            RecordKey::Function(self.agent.into(), key)
        } else if self.raw_item.is_of_type(InvocationKind::ApplyPatchCall.as_str()) {
            RecordKey::ApplyPatch(key, identity.map(|identity| identity.scope().clone()))
        } else {
            RecordKey::Tool(key)
        }
    }

    fn keys(&self, bare_name_alias: bool) -> Vec<ApprovalKey> {
        let computed = if self.is_function_call() && !self.wire_name().is_reserved() {
            self.wire_name().lookup_key()
        } else {
            None
        };
        let key = self.lookup_key.or(computed.as_ref());
        let options = ApprovalKeyOptions { bare_name_alias, legacy_same_name: key.is_none(), legacy_deferred: false };
        approval_keys(self.wire_name(), key, options)
    }

    fn is_function_call(&self) -> bool {
        self.raw_item.is_of_type(InvocationKind::FunctionCall.as_str())
    }

    fn wire_name(&self) -> WireName<'a> {
        WireName::new(Some(self.name()), self.namespace())
    }

    fn name(&self) -> &'a str {
        let given = self.tool_name.filter(|name| !name.is_empty());
        let said = || self.raw_item.text_field("name").or_else(|| self.raw_item.text_field("type"));
        given.or_else(said).unwrap_or("unknown_tool")
    }

    fn namespace(&self) -> Option<&'a str> {
        let given = self.tool_namespace.filter(|namespace| !namespace.is_empty());
        given.or_else(|| self.raw_item.text_field("namespace"))
    }
}
