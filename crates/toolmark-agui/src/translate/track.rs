//! One agent of a run and what it has open: the run itself, or an agent that is called as a tool.

use std::collections::{BTreeMap, HashSet};

use crate::id::Id;

/// What one agent has open.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// How many messages it has begun.
    pub(super) turns: u32,
    /// The message that it speaks in.
    pub(super) message: Option<Id>,
    pub(super) speaking: bool,
    /// How many thoughts belong to that message.
    pub(super) thought: u32,
    pub(super) thinking: Option<Id>,
    pub(super) step: Option<Id>,
    /// Its calls, in an order that is always the same.
    pub(super) calls: BTreeMap<Id, Call>,
    /// Calls of which arguments were said.
    pub(super) argued: HashSet<Id>,
    /// Whether anything was answered since the model was last asked.
    pub(super) answered: bool,
    /// An agent that was called as a tool, and has ended.
    pub(super) over: bool,
}

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Its arguments are being said.
    Open,
    /// They are complete.
    Ended,
    /// It has its result.
    Answered,
}
