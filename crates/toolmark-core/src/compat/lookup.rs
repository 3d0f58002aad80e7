//! Whether a list of tools can be dispatched at all, and the map that dispatch then uses.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::tool::{FunctionTool, Tool};
use crate::explain::{Code, Explain, facts};
use crate::names::LookupKey;
use crate::text::visible;

/// A list of tools in which some name has no single meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupConfigurationError {
    /// A namespace repeats the name of a tool in it.
    #[error("the tool `{0}` stands in a namespace of the same name")]
    ReservedNamespace(String),
    /// Two tools without a namespace are loaded late under one name.
    #[error("the deferred tool `{0}` is defined twice")]
    DuplicateDeferred(String),
    /// A qualified name means two tools.
    #[error("the qualified name `{0}` means more than one tool")]
    AmbiguousQualifiedName(String),
}

impl LookupConfigurationError {
    /// The slug under which recorded vectors file this error.
    #[must_use]
    pub fn category(&self) -> &'static str {
        match self {
            Self::ReservedNamespace(_) => "reserved_synthetic_namespace",
            Self::DuplicateDeferred(_) => "duplicate_deferred_top_level",
            Self::AmbiguousQualifiedName(_) => "ambiguous_qualified_name",
        }
    }

    pub(super) fn reserved(name: &str) -> Self {
        Self::ReservedNamespace(visible(name, 80))
    }

    fn name(&self) -> &str {
        match self {
            Self::ReservedNamespace(name) | Self::DuplicateDeferred(name) | Self::AmbiguousQualifiedName(name) => name,
        }
    }
}

/// Checks that every function tool can be told from every other by its key and by its qualified name.
///
/// Two tools without a namespace may share a name here; [`super::resolve_tool_name_collisions`] decides about those.
///
/// # Errors
/// [`LookupConfigurationError`] for the first tool that cannot.
pub fn validate_lookup_configuration(tools: &[Tool]) -> Result<(), LookupConfigurationError> {
    let mut owners: HashMap<String, &FunctionTool> = HashMap::new();
    let mut deferred = HashSet::new();
    for tool in tools.iter().filter_map(Tool::as_function) {
        let (Some(name), Some(qualified)) = (tool.public_name(), tool.dispatch_name()) else {
            continue;
        };
        if tool.wire_name().is_reserved() {
            return Err(LookupConfigurationError::reserved(name));
        }
        if tool.is_deferred_top_level() && !deferred.insert(name) {
            return Err(LookupConfigurationError::DuplicateDeferred(visible(name, 80)));
        }
        let owner = *owners.entry(qualified.as_str().to_owned()).or_insert(tool);
        let same = std::ptr::eq(owner, tool);
        if !same && (owner.namespace().is_some() || tool.namespace().is_some()) {
            return Err(LookupConfigurationError::AmbiguousQualifiedName(visible(qualified.as_str(), 160)));
        }
    }
    Ok(())
}

/// The position of the tool behind each key: of several, the last. Entries are in the order in which the SDK sorts keys.
///
/// # Errors
/// As [`validate_lookup_configuration`].
pub fn build_lookup_map(tools: &[Tool]) -> Result<Vec<(LookupKey, usize)>, LookupConfigurationError> {
    validate_lookup_configuration(tools)?;
    let keyed = tools.iter().enumerate().filter_map(|(index, tool)| Some((tool.as_function()?.lookup_key()?, index)));
    let map: BTreeMap<LookupKey, usize> = keyed.collect();
    let mut entries: Vec<_> = map.into_iter().collect();
    entries.sort_by_key(|(key, _)| kind_order(key));
    Ok(entries)
}

/// Keys sort by the name of their kind first, then by their parts.
fn kind_order(key: &LookupKey) -> u8 {
    match key {
        LookupKey::Bare(_) => 0,
        LookupKey::DeferredTopLevel(_) => 1,
        LookupKey::Namespaced(..) => 2,
    }
}

impl Explain for LookupConfigurationError {
    fn code(&self) -> Code {
        match self {
            Self::ReservedNamespace(_) => Code::new("compat-reserved-namespace"),
            Self::DuplicateDeferred(_) => Code::new("compat-duplicate-deferred"),
            Self::AmbiguousQualifiedName(_) => Code::new("compat-ambiguous-qualified-name"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::ReservedNamespace(_) => {
                "a deferred tool arrives with its own name as namespace, so a call could mean either of the two"
            }
            Self::DuplicateDeferred(_) => "a call of it carries nothing that tells the two apart",
            Self::AmbiguousQualifiedName(_) => {
                "a dot in a name and the dot after a namespace look the same, so an approval or a log line for one tool \
                 would be read as the other's"
            }
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::ReservedNamespace(name) => format!("rename the namespace, for example to `{name}_tools`"),
            Self::DuplicateDeferred(name) => format!("rename one of them, for example to `{name}_2`, or remove it"),
            Self::AmbiguousQualifiedName(name) => {
                format!("rename one of them, for example to `{}`", name.replace('.', "_"))
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("name", self.name().into())])
    }
}

#[cfg(test)]
mod tests;
