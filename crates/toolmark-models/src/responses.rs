//! OpenAI Responses: namespaces, deferred and hosted tools, reasoning that is kept and sent back.

pub(crate) mod read;
pub(crate) mod stream;
pub mod tools;
pub(crate) mod write;

use serde_json::Value;

use crate::item::Part;
use crate::unsendable::UnsendableError;

/// A part of a message or of a tool's output, as it goes over the wire.
///
/// # Errors
/// [`UnsendableError`] for a part of another wire format.
pub fn wire_part(part: &Part) -> Result<Value, UnsendableError> {
    write::part(part)
}
