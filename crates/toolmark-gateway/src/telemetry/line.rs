//! Calls that did not run, as log lines: which tool, who called, what was decided and why. Never what it was called with.

use std::sync::Arc;

use toolmark_core::text::visible;
use toolmark_runtime::{DispatchErrorKind, End, Keeping, Record, Recorder, Stray};

/// The longest name in a line. Servers choose names, and so do callers.
const NAME: usize = 200;

/// Writes a line about calls that did not run, and passes every record on.
pub(crate) struct Told(Arc<dyn Recorder>);

impl Told {
    pub(crate) fn new(next: Arc<dyn Recorder>) -> Self {
        Self(next)
    }
}

impl Told {
    fn tell(record: &Record<'_>) {
        match record.end {
            End::Ran | End::ToolFailed | End::Approved | End::Failed(DispatchErrorKind::Cancelled) => {}
            End::Observed => {
                let (name, code) = (name(record), code(record));
                let (mark, verdict) = (&record.identity.mark_text, record.verdict.decision().as_str());
                tracing::info!(tool = %name, %mark, verdict, code, caller = %caller(record), "a call ran that would be refused");
            }
            End::Invalid | End::Denied | End::Asked => {
                let (name, code) = (name(record), code(record));
                let (mark, verdict) = (&record.identity.mark_text, record.verdict.decision().as_str());
                let (outcome, caller, task) = (record.end.as_str(), caller(record), record.task);
                tracing::info!(tool = %name, %mark, verdict, outcome, code, %caller, task, "a call was refused");
            }
            End::Unrecorded | End::Failed(DispatchErrorKind::Unrecorded) => {
                let (name, mark) = (name(record), &record.identity.mark_text);
                tracing::error!(tool = %name, %mark, caller = %caller(record), "the record of a call could not be kept");
            }
            End::Failed(kind) => {
                let (name, mark) = (name(record), &record.identity.mark_text);
                let reason = kind.as_str();
                tracing::warn!(tool = %name, %mark, reason, caller = %caller(record), "a call got no answer");
            }
        }
    }
}

impl Recorder for Told {
    fn ready(&self) -> Keeping {
        self.0.ready()
    }

    fn is_watched(&self) -> bool {
        self.0.is_watched()
    }

    fn begin(&self, record: &Record<'_>) {
        self.0.begin(record);
    }

    fn intend(&self, record: &Record<'_>) -> Keeping {
        self.0.intend(record)
    }

    fn keep(&self, record: &Record<'_>) -> Keeping {
        Self::tell(record);
        self.0.keep(record)
    }

    fn record(&self, record: &Record<'_>) {
        Self::tell(record);
        self.0.record(record);
    }

    fn stray(&self, stray: &Stray<'_>) {
        let (name, caller) = (visible(stray.lookup, NAME), visible(stray.caller.name(), NAME));
        let code = stray.kind.code();
        tracing::info!(name, code, %caller, task = stray.task, "a call was not understood");
        self.0.stray(stray);
    }
}

fn name(record: &Record<'_>) -> String {
    visible(record.tool.canonical().as_str(), NAME)
}

fn caller(record: &Record<'_>) -> String {
    visible(record.caller.name(), NAME)
}

/// The first reason that decided.
pub(super) fn code(record: &Record<'_>) -> &'static str {
    record.verdict.deciding().next().map_or("", |reason| reason.code)
}
