//! What does a user interface see of a run? The events of AG-UI 1.0: which there are, in which order they may come, and what they say
//! about the run of an agent.
//!
//! [`input`] reads what a client asks for, [`Translator`] makes events of what happens in a run, [`Guard`] refuses a sequence that clients
//! would choke on or misread, and [`sse`] writes events down. Nothing here does I/O; who may run what is decided elsewhere.
//!
//! ```
//! use toolmark_agui::{Event, Guard, Id, PlainCards, Translator, sse};
//!
//! let mut translator = Translator::new("thread-1", "run-1", "m", &PlainCards);
//! let mut events = translator.begin();
//! events.extend(translator.succeed(Some("Done."), &[]));
//! let mut guard = Guard::new();
//! for event in &events {
//!     guard.check(event)?;
//! }
//! guard.end()?;
//! let mut frames = Vec::new();
//! sse::write(&events[0], None, &mut frames);
//! assert!(frames.starts_with(br#"data: {"type":"RUN_STARTED","threadId":"thread-1""#));
//! assert!(frames.ends_with(b"}\n\n"));
//! # let _: (Event, Id) = (events.remove(0), Id::from("x"));
//! # Ok::<(), toolmark_agui::OutOfOrder>(())
//! ```

mod event;
mod guard;
pub mod history;
mod hosted;
mod id;
pub mod input;
pub mod schema;
pub mod sse;
mod state;
mod translate;

pub use event::{Event, Interrupt, Message, Metadata, Outcome, SubagentOutcome, TokenUsage, ToolCall};
pub use guard::{Guard, OutOfOrder};
pub use hosted::HostedCall;
pub use id::Id;
pub use state::SharedState;
pub use translate::{AgentCard, Card, Cards, PlainCards, Translator};

/// The version of the protocol.
pub const PROTOCOL_VERSION: &str = "1.0";

/// The key of a tool's identity in metadata.
pub const TOOL: &str = "dev.toolmark/tool";
/// The key of what became of a call in metadata.
pub const CALL: &str = "dev.toolmark/call";
/// The key of an agent in metadata.
pub const AGENT: &str = "dev.toolmark/agent";
/// The key of what a person is asked in metadata.
pub const APPROVAL: &str = "dev.toolmark/approval";
