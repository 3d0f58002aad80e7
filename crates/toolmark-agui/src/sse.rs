//! How is an event written down? One `data:` line and an empty one, with line feeds only: clients split at two of them and at nothing else.

use crate::event::Event;

/// What is sent while nothing happens, so that both ends notice a dead connection. Clients skip it.
pub const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";

/// The type of such a stream.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// Writes an event, with the time in milliseconds since 1970 where there is one.
pub fn write(event: &Event, timestamp: Option<u64>, to: &mut Vec<u8>) {
    to.extend_from_slice(b"data: ");
    // JSON text holds no line feed of its own, and what we send can always be written: keys are text, and nothing fails half-way.
    if serde_json::to_writer(&mut *to, event).is_err() {
        return;
    }
    if let Some(timestamp) = timestamp
        && to.last() == Some(&b'}')
    {
        to.pop();
        to.extend_from_slice(b",\"timestamp\":");
        to.extend_from_slice(timestamp.to_string().as_bytes());
        to.push(b'}');
    }
    to.extend_from_slice(b"\n\n");
}
