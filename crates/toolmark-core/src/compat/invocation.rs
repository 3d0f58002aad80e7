//! "The same call again?" as the SDK answers it: a digest of what a decision covers, and one of what the call says.

mod arguments;
mod error;
mod plain;

use std::borrow::Cow;
use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

pub use self::error::IdentifyInvocationError;
use self::plain::Plain;
use super::call_id::unwrapped;
use super::hosted::{HostedRequest, provider_request};
use super::loose::{Loose, with};
use super::wire::WireName;
use crate::call::CallId;
use crate::digest::hex;
use crate::json::Json;
use crate::names::{LookupKey, text_name};

/// Containers inside containers. Python gives up a little beyond, depending on what called it.
const MAX_DEPTH: usize = 480;

/// What is known about a call beside the item itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InvocationContext<'a> {
    /// The key that a function call was resolved by; without it, the item's own name and namespace count.
    pub lookup_key: Option<&'a LookupKey>,
    /// The name of the tool that a call of another type was resolved to.
    pub tool_name: Option<&'a str>,
    /// What the call is used as, such as `handoff`.
    pub role: Option<&'a str>,
}

/// The identity of one call: one call id must keep one fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvocationIdentity {
    kind: InvocationKind,
    call_id: CallId,
    scope: ApprovalScope,
    fingerprint: InvocationFingerprint,
}

/// The types of calls that have an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named after the item type it stands for")]
pub enum InvocationKind {
    FunctionCall,
    CustomToolCall,
    ShellCall,
    LocalShellCall,
    ApplyPatchCall,
    ComputerCall,
    McpApprovalRequest,
}

/// What a lasting decision covers: 64 hexadecimal digits of SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalScope(Box<str>);

/// What a call says, independent of how its arguments are spelled: 64 hexadecimal digits of SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationFingerprint(Box<str>);

text_name!(ApprovalScope);
text_name!(InvocationFingerprint);

/// The fields that a fingerprint is made of, those that are there.
const FIELDS: [&str; 13] = [
    "type",
    "name",
    "namespace",
    "server_label",
    "arguments",
    "input",
    "action",
    "actions",
    "pending_safety_checks",
    "operation",
    "operations",
    "environment",
    "caller",
];

/// Identifies a call; none when it is of another type, incomplete, or without an id.
///
/// ```
/// # use toolmark_core::compat::{InvocationContext, identify_invocation};
/// # use toolmark_core::json;
/// let one = json::read(r#"{"type":"function_call","call_id":"c1","name":"k","arguments":"{\"a\": 1, \"b\": 2}"}"#).unwrap();
/// let two = json::read(r#"{"type":"function_call","call_id":"c1","name":"k","arguments":"{\"b\":2,\"a\":1}"}"#).unwrap();
/// let identify = |call| identify_invocation(call, InvocationContext::default()).unwrap().unwrap();
/// assert_eq!(identify(&one).fingerprint(), identify(&two).fingerprint());
/// ```
///
/// # Errors
/// [`IdentifyInvocationError`] when it has an identity but no digest can be made of it.
pub fn identify_invocation(
    item: &Json<'_>,
    context: InvocationContext<'_>,
) -> Result<Option<InvocationIdentity>, IdentifyInvocationError> {
    let hosted = unwrap_hosted(item);
    let item = hosted.as_ref().unwrap_or(item);
    if matches!(item.field("type"), Some(Json::Array(_) | Json::Object(_))) {
        return Err(IdentifyInvocationError::TypeNotText);
    }
    let Some((kind, call_id, scope)) = describe(item, context) else {
        return Ok(None);
    };
    let scope = ApprovalScope(digest(scope)?.into());

    let mut said = BTreeMap::from([("approval_scope".into(), Plain::Text(scope.as_str().into()))]);
    for field in FIELDS {
        let routed = kind == InvocationKind::FunctionCall && matches!(field, "name" | "namespace");
        if let Some(value) = item.field(field).filter(|value| !routed && !value.is_null()) {
            let value = match (field, value) {
                ("arguments", Json::String(text)) => arguments::read(text)?,
                _ => Plain::of(value, field == "arguments")?,
            };
            said.insert(field.into(), value);
        }
    }
    let fingerprint = InvocationFingerprint(digest(said)?.into());
    Ok(Some(InvocationIdentity { kind, call_id, scope, fingerprint }))
}

/// True when the call is of a type that has an identity, but has no id that is a non-empty string.
pub(super) fn lacks_call_id(item: &Json<'_>) -> bool {
    let hosted = unwrap_hosted(item);
    kind_and_call_id(hosted.as_ref().unwrap_or(item)).is_some_and(|(_, call_id)| call_id.is_none())
}

/// A hosted call as the request it carries: the provider's fields laid over the outer ones. None when it is no such call.
///
/// The id and the name are those that an approval reads, which looks into a `raw_item` first.
fn unwrap_hosted<'a>(item: &'a Json<'_>) -> Option<Json<'a>> {
    let request = provider_request(item)?;
    let resolved = HostedRequest::read(unwrapped(item))?;
    let mut fields: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
    for (key, value) in item.entries()?.iter().filter(|(key, _)| request.field(key).is_none()).chain(request.entries()?)
    {
        if key != "id" {
            fields.push((Cow::Borrowed(key.as_ref()), value.clone()));
        }
    }
    if let Some(id) = resolved.id() {
        fields.push(("id".into(), Json::String(id.into())));
    }
    if let Some(tool) = resolved.tool() {
        fields = with(&fields, "name", Json::String(tool.into()));
    }
    Some(Json::Object(fields))
}

type Scope<'a> = BTreeMap<Cow<'a, str>, Plain<'a>>;

/// What kind of call it is, its id, and what a decision about it covers; none when something required is missing.
fn describe<'a>(item: &'a Json<'_>, context: InvocationContext<'a>) -> Option<(InvocationKind, CallId, Scope<'a>)> {
    let (kind, call_id) = kind_and_call_id(item)?;
    let call_id = call_id?.parse().ok()?;
    if !kind.is_complete(item) {
        return None;
    }
    let text = |text: &'a str| Plain::Text(text.into());
    let mut scope = BTreeMap::from([("type".into(), text(kind.as_str()))]);
    if let Some(role) = context.role {
        scope.insert("invocation_role".into(), text(role));
    }
    match kind {
        InvocationKind::FunctionCall => {
            let computed = WireName::of_loose(item).lookup_key();
            let key = context.lookup_key.or(computed.as_ref())?;
            scope.insert("tool_lookup_key".into(), key_as_array(key));
        }
        InvocationKind::McpApprovalRequest => {
            scope.insert("name".into(), text(item.text_field("name")?));
            scope.insert("server_label".into(), text(item.text_field("server_label")?));
        }
        _ => {
            let given = context.tool_name.filter(|name| !name.is_empty());
            if let Some(name) = given.or_else(|| item.text_field("name")) {
                scope.insert("name".into(), text(name));
            }
        }
    }
    Some((kind, call_id, scope))
}

fn kind_and_call_id<'a>(item: &'a Json<'_>) -> Option<(InvocationKind, Option<&'a str>)> {
    let kind = InvocationKind::of(item.field("type")?.string()?)?;
    let id = if kind == InvocationKind::McpApprovalRequest { "id" } else { "call_id" };
    Some((kind, item.text_field(id)))
}

fn key_as_array(key: &LookupKey) -> Plain<'static> {
    let parts: Vec<&str> = match key {
        LookupKey::Bare(name) => vec!["bare", name],
        LookupKey::Namespaced(namespace, name) => vec!["namespaced", namespace, name],
        LookupKey::DeferredTopLevel(name) => vec!["deferred_top_level", name],
    };
    Plain::Array(parts.into_iter().map(|part| Plain::Text(part.to_owned().into())).collect())
}

fn digest(said: BTreeMap<Cow<'_, str>, Plain<'_>>) -> Result<String, IdentifyInvocationError> {
    let mut text = Vec::new();
    Plain::Object(said).write(&mut text)?;
    Ok(hex(&Sha256::digest(&text)))
}

impl InvocationKind {
    const ALL: [Self; 7] = [
        Self::FunctionCall,
        Self::CustomToolCall,
        Self::ShellCall,
        Self::LocalShellCall,
        Self::ApplyPatchCall,
        Self::ComputerCall,
        Self::McpApprovalRequest,
    ];

    /// The type of the item.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FunctionCall => "function_call",
            Self::CustomToolCall => "custom_tool_call",
            Self::ShellCall => "shell_call",
            Self::LocalShellCall => "local_shell_call",
            Self::ApplyPatchCall => "apply_patch_call",
            Self::ComputerCall => "computer_call",
            Self::McpApprovalRequest => "mcp_approval_request",
        }
    }

    fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// True when the fields are there without which it says nothing. Their values are not looked at.
    fn is_complete(self, item: &Json<'_>) -> bool {
        let has = |field| item.field(field).is_some();
        match self {
            Self::FunctionCall | Self::McpApprovalRequest => has("arguments"),
            Self::CustomToolCall => item.text_field("name").is_some() && has("input"),
            Self::ShellCall | Self::LocalShellCall | Self::ComputerCall => has("action"),
            Self::ApplyPatchCall => has("operation") || has("operations"),
        }
    }
}

impl InvocationIdentity {
    /// The type of the call.
    #[must_use]
    pub fn kind(&self) -> InvocationKind {
        self.kind
    }

    /// The provider's id.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call_id
    }

    /// What a lasting decision about it covers.
    #[must_use]
    pub fn scope(&self) -> &ApprovalScope {
        &self.scope
    }

    /// What it says.
    #[must_use]
    pub fn fingerprint(&self) -> &InvocationFingerprint {
        &self.fingerprint
    }
}

#[cfg(test)]
mod tests;
