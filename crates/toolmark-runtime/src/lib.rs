//! The one pipeline: identify, validate, analyze, judge, approve, dispatch, shape, record. Its first four stages are pure.
//!
//! A [`Workspace`] is an immutable snapshot of everything that decides about calls: the catalog, what is known about each tool, policy,
//! tasks and pins. It is replaced whole, never changed. [`Workspace::examine`] takes one call through validate, analyze and judge.

pub mod approve;
mod dispatch;
mod examine;
mod judged;
mod origin;
mod pipeline;
mod record;
mod refusal;
pub mod replay;
pub mod sessions;
mod task;
#[cfg(test)]
mod testing;
pub mod tools;
mod workspace;

pub use approve::{Approval, Approvals, Unattended};
pub use dispatch::{DispatchError, DispatchErrorKind};
pub use examine::{Answered, Examination, ForeignTool, Outcome, Request};
pub use judged::{Judged, Selected};
pub use origin::Origin;
pub use pipeline::{Arrived, Brought, Passage, Pipeline, Settled};
pub use record::{End, Keeping, NoRecords, NotKept, Parts, Record, Recorder, Stray, StrayKind, Timings};
pub use refusal::Refusal;
pub use task::{ParseTaskNameError, Task, TaskName, Tasks, UnknownTask};
pub use workspace::{Identity, Prepared, Workspace, WorkspaceBuilder};
