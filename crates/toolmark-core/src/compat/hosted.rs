//! Who asks when a hosted MCP server wants an approval: the request, the tool and the server's label, as far as they are given.

use serde_json::Value;

use super::call_id::unwrapped;
use super::loose::Loose;

const APPROVAL_REQUEST: &str = "mcp_approval_request";

/// The names in a hosted approval request; each may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostedRequest<'a> {
    id: Option<&'a str>,
    tool: Option<&'a str>,
    label: Option<&'a str>,
}

/// What a lasting decision about a hosted tool is stored under: the server's label and the tool's name, both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostedApprovalIdentity {
    label: Box<str>,
    tool: Box<str>,
}

impl<'a> HostedRequest<'a> {
    /// Reads a request, wrapped in `raw_item` or not; none when the item is no approval request.
    #[must_use]
    pub fn of(item: &'a Value) -> Option<Self> {
        Self::read(unwrapped(item))
    }

    /// Reads a request that is not wrapped in `raw_item`.
    pub(super) fn read<V: Loose>(item: &'a V) -> Option<Self> {
        if item.is_of_type(APPROVAL_REQUEST) {
            return Some(Self {
                id: item.text_field("id"),
                tool: item.text_field("name"),
                label: item.text_field("server_label"),
            });
        }
        let request = provider_request(item)?;
        let id = match request.field("id").filter(|id| !id.is_null()) {
            Some(id) => id.text(),
            // Only an id that is not there at all is looked for outside.
            None => item.text_field("call_id").or_else(|| item.text_field("id")),
        };
        let tool = request.text_field("name").or_else(|| item.text_field("name"));
        Some(Self { id, tool, label: request.text_field("server_label") })
    }

    /// The id of the request.
    #[must_use]
    pub fn id(&self) -> Option<&'a str> {
        self.id
    }

    /// The tool it asks for.
    #[must_use]
    pub fn tool(&self) -> Option<&'a str> {
        self.tool
    }

    /// The label of the server that asks.
    #[must_use]
    pub fn label(&self) -> Option<&'a str> {
        self.label
    }

    /// Where a lasting decision would be stored; none when label or tool are missing.
    #[must_use]
    pub fn approval_identity(&self) -> Option<HostedApprovalIdentity> {
        Some(HostedApprovalIdentity { label: self.label?.into(), tool: self.tool?.into() })
    }
}

impl HostedApprovalIdentity {
    /// The server's label.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }
}

/// The request inside a `hosted_tool_call`, if that is what the provider sent.
pub(super) fn provider_request<V: Loose>(item: &V) -> Option<&V> {
    if !item.is_of_type("hosted_tool_call") {
        return None;
    }
    item.field("provider_data").filter(|data| data.is_of_type(APPROVAL_REQUEST))
}
