//! What is on the wire? JSON-RPC messages, events and headers as bytes, read once and never rebuilt from a tree, so that
//! nothing a peer says is lost on the way through.

pub mod codes;
pub mod headers;
mod id;
mod level;
mod message;
mod object;
pub mod params;
mod refusal;
mod scan;
pub mod sse;
pub mod version;
pub mod write;

pub use id::Id;
pub use level::LogLevel;
pub use message::{Message, RpcError};
pub use object::{Change, RawObject, ResultType, mentions, read_items};
pub use refusal::{ReadMessageError, ReadMessageErrorKind};
pub use scan::Limits;
