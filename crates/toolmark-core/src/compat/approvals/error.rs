//! Why a decision was not recorded, or not used.

use serde_json::{Map, Value};

use super::super::invocation::IdentifyInvocationError;
use crate::explain::{Code, Explain, facts};

/// A call about which no decision can be recorded or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// The call lacks something without which it cannot be told from another.
    #[error("the call to decide about cannot be identified")]
    NoIdentity,
    /// The call has no id that is a non-empty string.
    #[error("the call to decide about has no call id")]
    NoCallId,
    /// A hosted request has no id.
    #[error("the hosted request to decide about has no id")]
    HostedWithoutId,
    /// A lasting decision is about a hosted request that does not name its server or its tool.
    #[error("the lasting decision does not say which hosted tool it is about")]
    HostedIncomplete,
    /// The id stands for another call.
    #[error("the call id `{0}` was already used for another call")]
    ReusedCallId(String),
    /// No digest can be made of the call.
    #[error(transparent)]
    Identify(#[from] IdentifyInvocationError),
}

impl ApprovalError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::NoIdentity => "no_canonical_identity",
            Self::NoCallId => "call_id_missing",
            Self::HostedWithoutId => "hosted_request_id_missing",
            Self::HostedIncomplete => "hosted_identity_incomplete",
            Self::ReusedCallId(_) => "call_id_reused",
            Self::Identify(error) => error.category(),
        }
    }
}

impl Explain for ApprovalError {
    fn code(&self) -> Code {
        match self {
            Self::NoIdentity => Code::new("compat-approval-no-identity"),
            Self::NoCallId => Code::new("compat-approval-no-call-id"),
            Self::HostedWithoutId => Code::new("compat-approval-hosted-id"),
            Self::HostedIncomplete => Code::new("compat-approval-hosted-incomplete"),
            Self::ReusedCallId(_) => Code::new("compat-approval-call-id-reused"),
            Self::Identify(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::NoIdentity => "a decision about it could be taken for a decision about another call",
            Self::NoCallId | Self::HostedWithoutId => "without an id nothing ties the decision to the call",
            Self::HostedIncomplete => {
                "it would cover every server that has a tool of this name, or every tool of a server"
            }
            Self::ReusedCallId(_) => "what was decided about the first call would be done to the second",
            Self::Identify(error) => return error.why(),
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::NoIdentity => {
                "send the call as the provider sent it, with its type, its name and its arguments, input, action or operation"
            }
            Self::NoCallId => "send the provider's call id unchanged, such as `\"call_id\": \"call_1\"`",
            Self::HostedWithoutId => "send the provider's request id unchanged, such as `\"id\": \"mcpr_1\"`",
            Self::HostedIncomplete => "decide about this request alone, or send `server_label` and `name` with it",
            Self::ReusedCallId(_) => {
                "give every call an id of its own; repeat an id only to repeat exactly the same call"
            }
            Self::Identify(error) => return error.fix(),
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::ReusedCallId(id) => facts([("call_id", id.as_str().into())]),
            Self::Identify(error) => error.facts(),
            _ => Map::new(),
        }
    }
}
