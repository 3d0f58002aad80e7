//! How is a provider reached? One address, one key, limits in time and size, and rules for asking again.

mod address;
mod http;
mod options;
mod retry;
mod secrets;
mod sse;
mod streaming;

pub use address::AddressError;
pub(crate) use address::{address, is_private};
pub(crate) use http::{Deadline, Http, content_type};
pub use options::{Options, Retry, Timeouts};
pub(crate) use retry::chance;
pub(crate) use secrets::Secrets;
#[cfg(test)]
pub(crate) use sse::Reader as SseReader;
pub(crate) use streaming::Streaming;
