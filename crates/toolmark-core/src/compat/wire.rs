//! What a name and a namespace on the wire amount to: a lookup key, a qualified name, a trace name, or nothing.

use serde_json::Value;

use super::loose::Loose;
use crate::names::{LookupKey, TraceName, text_name};

/// A name and a namespace as they came over the wire. What is not a non-empty string is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireName<'a> {
    name: Option<&'a str>,
    namespace: Option<&'a str>,
}

/// `namespace.name`, or `name`: a label for people. Nothing is escaped, so two tools may share one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName(Box<str>);

text_name!(QualifiedName);

impl<'a> WireName<'a> {
    /// A name and a namespace that are known to be text. Empty ones are absent.
    #[must_use]
    pub fn new(name: Option<&'a str>, namespace: Option<&'a str>) -> Self {
        Self { name: name.filter(|name| !name.is_empty()), namespace: namespace.filter(|space| !space.is_empty()) }
    }

    /// A name and a namespace that may be anything.
    #[must_use]
    pub fn of_values(name: Option<&'a Value>, namespace: Option<&'a Value>) -> Self {
        Self { name: name.and_then(Loose::text), namespace: namespace.and_then(Loose::text) }
    }

    /// What a call says in its fields `name` and `namespace`. A call that is no object says nothing.
    #[must_use]
    pub fn of_call(call: &'a Value) -> Self {
        Self::of_loose(call)
    }

    pub(super) fn of_loose(call: &'a impl Loose) -> Self {
        Self { name: call.text_field("name"), namespace: call.text_field("namespace") }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> Option<&'a str> {
        self.name
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> Option<&'a str> {
        self.namespace
    }

    /// True when the namespace repeats the name: the shape that deferred tools arrive in, and that nobody else may use.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.name.is_some() && self.name == self.namespace
    }

    /// The key that dispatch uses.
    #[must_use]
    pub fn lookup_key(&self) -> Option<LookupKey> {
        LookupKey::of(self.name?, self.namespace)
    }

    /// The label for people.
    #[must_use]
    pub fn qualified_name(&self) -> Option<QualifiedName> {
        let name = self.name?;
        Some(QualifiedName(match self.namespace {
            Some(namespace) => format!("{namespace}.{name}").into(),
            None => name.into(),
        }))
    }

    /// The label of a span: the qualified name, without a namespace that only repeats the name.
    #[must_use]
    pub fn trace_name(&self) -> Option<TraceName> {
        self.lookup_key().map(|key| key.trace_name())
    }
}
