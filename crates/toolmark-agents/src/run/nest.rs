//! What passes between a run and the runs of agents that it calls as tools: who waits inside, what they used, what happens there.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolmark_core::call::CallId;
use toolmark_models::Usage;

use super::event::Sink;
use super::runner::Runner;
use super::state::RunState;

/// One run, as the agents see it that it calls as tools. Cheap to clone; all clones are one.
#[derive(Clone)]
pub(crate) struct Nest {
    runner: Runner,
    sink: Sink,
    inside: Arc<Mutex<Inside>>,
}

#[derive(Default)]
struct Inside {
    /// Runs that were interrupted: to be taken up again, or to be kept.
    runs: HashMap<CallId, RunState>,
    /// Calls that whoever asked for the run answers.
    outside: HashSet<CallId>,
    used: Usage,
}

impl Nest {
    pub(super) fn new(runner: Runner, sink: Sink) -> Self {
        Self { runner, sink, inside: Arc::default() }
    }

    /// How the runs inside are run.
    pub(crate) fn runner(&self) -> Runner {
        self.runner.nested()
    }

    /// Where the events of the run inside a call go.
    pub(crate) fn sink(&self, call: &CallId) -> Sink {
        self.sink.inside(call)
    }

    /// Leaves a run behind for a call.
    pub(crate) fn leave(&self, call: &CallId, run: RunState) {
        self.inside().runs.insert(call.clone(), run);
    }

    /// Takes the run of a call, where there is one.
    pub(crate) fn take(&self, call: &CallId) -> Option<RunState> {
        self.inside().runs.remove(call)
    }

    /// True where the run is not that of an agent that is called as a tool.
    pub(crate) fn is_outermost(&self) -> bool {
        !self.runner.nested
    }

    /// Leaves a call to whoever asked for the run.
    pub(crate) fn leave_outside(&self, call: &CallId) {
        self.inside().outside.insert(call.clone());
    }

    /// Whether a call is left to whoever asked for the run.
    pub(super) fn take_outside(&self, call: &CallId) -> bool {
        self.inside().outside.remove(call)
    }

    /// Counts what a nested run used.
    pub(crate) fn count(&self, used: Usage) {
        self.inside().used += used;
    }

    /// What nested runs used since this was last asked.
    pub(super) fn counted(&self) -> Usage {
        std::mem::take(&mut self.inside().used)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
