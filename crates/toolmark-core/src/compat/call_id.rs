//! The SDK's rules for finding a call id. There are several, and they disagree; Toolmark's own is [`crate::call::CallId`].

use serde_json::Value;

use super::hosted::HostedRequest;
use super::loose::Loose;

/// The id of a call as the executor reads it: `call_id`, or `id` when that is empty. The result may be an empty string.
#[must_use]
pub fn extract_tool_call_id(call: &Value) -> Option<&str> {
    chosen(call)?.string()
}

/// The id of a call as an approval reads it: a hosted request's own id, or as the executor reads it but never empty.
///
/// A `call_id` that is no string but counts as true hides `id`.
#[must_use]
pub fn approval_item_call_id(item: &Value) -> Option<&str> {
    match HostedRequest::of(item) {
        Some(request) => request.id(),
        None => chosen(unwrapped(item))?.text(),
    }
}

/// What an approval item wraps, or the item itself.
pub(super) fn unwrapped<V: Loose>(item: &V) -> &V {
    item.field("raw_item").filter(|raw| !raw.is_null()).unwrap_or(item)
}

fn chosen(call: &Value) -> Option<&Value> {
    call.field("call_id").filter(|id| id.is_truthy()).or_else(|| call.field("id"))
}
