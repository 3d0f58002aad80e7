//! What was called, by whom, with which verdict and outcome: one record a call, refusals included, chained so that tampering
//! shows.
//!
//! [`AuditSink`] takes records off the hot path; [`AuditReader`] gives them back; `verify` follows the chain of each node;
//! `trim` ends the life of old records without breaking it.

mod calls;
mod chain;
mod digest;
mod export;
mod node;
mod query;
mod record;
mod sink;
mod trim;
mod verify;

pub use calls::{AuditCall, CallReader};
pub use chain::{AuditEntry, Chain, ChainRow, Head, Link};
pub use digest::ResultDigest;
pub use export::ExportError;
pub use node::NodeClaim;
pub use query::{AuditCursor, AuditFilter, AuditReader, Order, ParseCursorError};
pub use record::{AuditRecord, AuditTool, Bodies, Outcome, Timings};
pub use sink::{AuditSink, AuditStats, Durability, RecordError, SinkSettings};
pub use verify::{Break, BreakKind, ChainReport, Verification};
