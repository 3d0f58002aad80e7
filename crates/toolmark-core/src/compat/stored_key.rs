//! Lookup keys in saved state: `{kind, name}`, with `namespace` where there is one.

use serde_json::{Value, json};

use super::loose::Loose;
use crate::names::LookupKey;

/// Writes a key the way saved state holds it.
#[must_use]
pub fn serialize_lookup_key(key: &LookupKey) -> Value {
    match key {
        LookupKey::Bare(name) => json!({ "kind": "bare", "name": name }),
        LookupKey::Namespaced(namespace, name) => {
            json!({ "kind": "namespaced", "namespace": namespace, "name": name })
        }
        LookupKey::DeferredTopLevel(name) => json!({ "kind": "deferred_top_level", "name": name }),
    }
}

/// Reads a key back; none when it is incomplete or of an unknown kind.
///
/// A namespace that repeats the name is kept as it was stored, not made a deferred key again.
#[must_use]
pub fn deserialize_lookup_key(data: &Value) -> Option<LookupKey> {
    let kind = data.field("kind")?.string()?;
    let name = data.text_field("name")?;
    match kind {
        "bare" => Some(LookupKey::Bare(name.into())),
        "namespaced" => Some(LookupKey::Namespaced(data.text_field("namespace")?.into(), name.into())),
        "deferred_top_level" => Some(LookupKey::DeferredTopLevel(name.into())),
        _ => None,
    }
}
