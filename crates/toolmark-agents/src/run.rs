//! The run of an agent: what it has come to ([`RunState`]), what comes next ([`Machine`]), and who does it ([`Runner`]).

mod approve;
mod calls;
mod driver;
mod entries;
mod error;
mod event;
mod item;
mod machine;
mod nest;
mod outside;
mod pending;
mod request;
mod result;
mod runner;
mod state;
mod trace;

pub(crate) use approve::ByState;
pub use error::{RunError, RunErrorKind};
pub use event::{RunEvent, RunStream};
pub use item::{Input, RunItem};
pub use machine::{Effect, Ended, Machine};
pub(crate) use nest::Nest;
pub use outside::{OutsideCall, answered_outside};
pub use pending::{DecideError, Pending};
pub use result::{RunOutcome, RunResult};
pub use runner::{Runner, ToolFault};
pub use state::{ReadStateError, RunState};
pub use trace::TARGET as TRACE_TARGET;

#[cfg(test)]
mod tests;
