//! Chat Completions, of OpenAI or of any server that speaks them. It has no namespaces, no deferred and no hosted tools.

pub(crate) mod read;
pub(crate) mod stream;
pub(crate) mod write;
