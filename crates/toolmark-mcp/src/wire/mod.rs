//! What is on the wire? JSON-RPC messages, events and headers as bytes, read once and never rebuilt from a tree, so that
//! nothing a peer says is lost on the way through.

pub mod codes;
pub mod headers;
mod message;
mod object;
pub mod params;
mod scan;
pub mod sse;
pub mod version;
pub mod write;

pub use message::{Id, Message, ReadMessageError, ReadMessageErrorKind, RpcError};
pub use object::{Change, RawObject, ResultType, read_items};
pub use scan::Limits;
