//! Anthropic Messages: tools, thinking with its signatures, documents. It has no namespaces, no deferred and no hosted tools here.

pub(crate) mod read;
pub(crate) mod stream;
pub(crate) mod write;
