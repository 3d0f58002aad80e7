//! Names that are derived and never parsed back into a tool: what a consumer sees, where a decision is stored, what a span is called.

use std::sync::Arc;

use super::text_name;

/// What one consumer sees, rendered for its profile. Only the table that made it can turn it back into a tool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExposedName(Box<str>);

/// Where a decision about a tool is stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalKey(Box<str>);

/// The label of a span. Not unique, and nothing is looked up by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceName(Box<str>);

/// What a person reads. Two tools may share one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DisplayName(Arc<str>);

text_name!(ExposedName);
text_name!(ApprovalKey);
text_name!(TraceName);
text_name!(DisplayName);

impl ExposedName {
    pub(crate) fn new(text: &str) -> Self {
        Self(text.into())
    }
}

impl ApprovalKey {
    pub(crate) fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }
}

impl TraceName {
    pub(crate) fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }
}

impl DisplayName {
    pub(crate) fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }
}
