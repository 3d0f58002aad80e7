//! What Toolmark tells others about calls while they run: log lines, and spans for a receiver of OpenTelemetry data.
//!
//! Nothing here can hold up or fail a call: what cannot be told is counted. Neither arguments nor results are told.

mod agents;
mod context;
mod export;
mod line;
mod receiver;
mod span;

pub use agents::AgentSpans;
pub(crate) use agents::{current, served};
pub(crate) use context::trace;
pub use export::SpanStats;
pub(crate) use export::Traces;
pub(crate) use line::Told;
pub use receiver::OtlpUnusable;
pub(crate) use span::CallSpan;
