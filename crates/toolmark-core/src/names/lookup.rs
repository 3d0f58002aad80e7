//! The only thing dispatch uses: a key that two different tools never share.

use super::{ApprovalKey, TraceName};

/// A collision-free key for a tool that a model may call.
///
/// A tool that is loaded late arrives on the wire with its own name as namespace. That shape is reserved: it makes a
/// [`LookupKey::DeferredTopLevel`], never a namespaced tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LookupKey {
    /// A tool without a namespace.
    Bare(Box<str>),
    /// A tool inside a namespace.
    Namespaced(Box<str>, Box<str>),
    /// A tool without a namespace that is loaded on demand.
    DeferredTopLevel(Box<str>),
}

impl LookupKey {
    /// The key of a wire name and namespace; none when there is no name. An empty namespace is no namespace.
    #[must_use]
    pub fn of(name: &str, namespace: Option<&str>) -> Option<Self> {
        if name.is_empty() {
            return None;
        }
        Some(match namespace.filter(|namespace| !namespace.is_empty()) {
            None => Self::Bare(name.into()),
            Some(namespace) if namespace == name => Self::DeferredTopLevel(name.into()),
            Some(namespace) => Self::Namespaced(namespace.into(), name.into()),
        })
    }

    /// The tool's own name, without its namespace.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Bare(name) | Self::Namespaced(_, name) | Self::DeferredTopLevel(name) => name,
        }
    }

    /// The namespace that the wire carries for it: its own, or its name again when it is deferred.
    #[must_use]
    pub fn wire_namespace(&self) -> Option<&str> {
        match self {
            Self::Bare(_) => None,
            Self::Namespaced(namespace, _) => Some(namespace),
            Self::DeferredTopLevel(name) => Some(name),
        }
    }

    /// The label of its spans: the synthetic namespace is left out.
    #[must_use]
    pub fn trace_name(&self) -> TraceName {
        match self {
            Self::Bare(name) | Self::DeferredTopLevel(name) => TraceName::new(name.clone()),
            Self::Namespaced(namespace, name) => TraceName::new(format!("{namespace}.{name}")),
        }
    }

    /// The key under which a decision for exactly this tool is stored.
    #[must_use]
    pub fn approval_key(&self) -> ApprovalKey {
        match self {
            Self::Bare(name) => ApprovalKey::new(name.clone()),
            Self::Namespaced(namespace, name) => ApprovalKey::new(format!("{namespace}.{name}")),
            Self::DeferredTopLevel(name) => ApprovalKey::new(format!("deferred_top_level:{name}")),
        }
    }
}
