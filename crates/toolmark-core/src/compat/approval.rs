//! Where the SDK stores a decision about a function tool, and which other keys may find it.

use super::tool::{FunctionTool, Tool};
use super::wire::{QualifiedName, WireName};
use crate::names::{ApprovalKey, LookupKey};

/// Which keys beside the tool's own are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalKeyOptions {
    /// Also the bare name, first; see [`bare_name_alias_allowed`].
    pub bare_name_alias: bool,
    /// Take a namespace that repeats the name for an ordinary one when no lookup key is given, as old state did.
    pub legacy_same_name: bool,
    /// Also the key that old state used for a deferred tool.
    pub legacy_deferred: bool,
}

/// The keys of a tool's decisions, the first found first, each once.
///
/// The names in `key` win over `name` where they differ; nothing checks that they agree.
#[must_use]
pub fn approval_keys(name: WireName<'_>, key: Option<&LookupKey>, options: ApprovalKeyOptions) -> Vec<ApprovalKey> {
    let Some(bare) = name.name() else {
        return Vec::new();
    };
    let computed = if options.legacy_same_name && name.is_reserved() { None } else { name.lookup_key() };
    let qualified = name.qualified_name();
    let qualified = qualified.as_ref().map(QualifiedName::as_str);

    let mut keys = Keys::default();
    if options.bare_name_alias {
        keys.add(bare);
    }
    match key.or(computed.as_ref()) {
        Some(LookupKey::Namespaced(namespace, name)) => {
            // A stored key may hold empty parts; then it is what a name with such parts would be.
            let own = WireName::new(Some(name), Some(namespace)).qualified_name();
            own.iter().for_each(|own| keys.add(own.as_str()));
        }
        Some(key) => {
            keys.add(key.approval_key().as_str());
            if options.legacy_deferred && matches!(key, LookupKey::DeferredTopLevel(_)) {
                qualified.into_iter().for_each(|legacy| keys.add(legacy));
            }
        }
        None => qualified.into_iter().for_each(|qualified| keys.add(qualified)),
    }
    if keys.0.is_empty() {
        keys.add(bare);
    }
    keys.0
}

/// True when a decision for this tool may also be found under its bare name: it is deferred, has no namespace, and no
/// other tool answers to that name.
///
/// `position` is where the tool stands in `tools`, if it does: it is no rival of itself, but its twin is.
#[must_use]
pub fn bare_name_alias_allowed(tool: &FunctionTool, position: Option<usize>, tools: &[Tool]) -> bool {
    tool.is_deferred_top_level()
        && !tools.iter().enumerate().any(|(index, other)| {
            Some(index) != position
                && other.as_function().is_some_and(|other| {
                    other.public_name() == tool.public_name()
                        && other.namespace().is_none()
                        && !other.is_deferred_top_level()
                })
        })
}

#[derive(Default)]
struct Keys(Vec<ApprovalKey>);

impl Keys {
    fn add(&mut self, key: &str) {
        if !self.0.iter().any(|known| known.as_str() == key) {
            self.0.push(ApprovalKey::new(key));
        }
    }
}
