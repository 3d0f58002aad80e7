//! A call on its way: examined, approved, dispatched at most once, recorded whatever happens. No second path reaches a tool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolmark_core::json::Json;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Verdict};
use uuid::Uuid;

use crate::approve::{Approval, Approvals};
use crate::dispatch::{DispatchError, DispatchErrorKind};
use crate::examine::{Examination, ForeignTool, Outcome, Request};
use crate::record::{Both, End, NotKept, Record, Recorder, Stray, Timings};
use crate::refusal::Refusal;
use crate::workspace::{Identity, Workspace};

/// Who is asked and who keeps records. The workspace comes with each call, so that a call ends under the one it began with.
#[derive(Clone)]
pub struct Pipeline {
    approvals: Arc<dyn Approvals>,
    recorder: Arc<dyn Recorder>,
}

/// A call as it arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<'a> {
    /// A UUID of version 7 that no other call has.
    pub id: Uuid,
    /// The name under which it was called.
    pub lookup: &'a str,
    /// What is to be judged.
    pub request: Request<'a>,
    /// The arguments as they were read from what came.
    pub read: &'a Json<'a>,
    /// How many bytes that was.
    pub size: usize,
}

/// What a record says of what a call brought.
#[derive(Clone, Copy, Debug)]
pub struct Brought<'o> {
    /// Whether it is the tool's own report of a failure.
    pub failed: bool,
    /// The bytes of it.
    pub bytes: &'o [u8],
}

/// What became of a call.
#[derive(Debug)]
pub enum Settled<T> {
    /// It ran.
    Ran(T, Passage),
    /// It did not run.
    Refused(Refusal, Passage),
    /// It brought no result.
    Failed(DispatchError, Passage),
}

/// The verdict that a call passed under, for whoever shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// What was decided, and why.
    pub verdict: Verdict,
    /// How that ended.
    pub outcome: Outcome,
}

impl Pipeline {
    /// A pipeline with these at its side.
    #[must_use]
    pub fn new(approvals: Arc<dyn Approvals>, recorder: Arc<dyn Recorder>) -> Self {
        Self { approvals, recorder }
    }

    /// The same pipeline with one more who keeps records, such as the trace of one call.
    #[must_use]
    pub fn also(&self, recorder: Arc<dyn Recorder>) -> Self {
        let recorder = Arc::new(Both(Arc::clone(&self.recorder), recorder));
        Self { approvals: Arc::clone(&self.approvals), recorder }
    }

    /// Keeps the record of a call that cannot be judged. There are no others: a call ends here or in [`run`](Self::run).
    pub fn stray(&self, stray: &Stray<'_>) {
        self.recorder.stray(stray);
    }

    /// Takes a call through the pipeline. `shown` is the name that the caller knows a tool by, or nothing where it may not see it;
    /// `brought` says what is recorded of a result.
    ///
    /// Invariant: `dispatch` is called at most once, and only when the call may run.
    ///
    /// # Errors
    /// [`ForeignTool`] when the tool is not of this workspace; then nothing was done.
    pub async fn run<T, F>(
        &self,
        workspace: &Workspace,
        arrived: &Arrived<'_>,
        shown: impl Fn(&Tool) -> Option<String>,
        brought: impl Fn(&T) -> Brought<'_>,
        dispatch: impl FnOnce() -> F,
    ) -> Result<Settled<T>, ForeignTool>
    where
        F: Future<Output = Result<T, DispatchError>>,
    {
        let start = Instant::now();
        let examination = workspace.examine(&arrived.request)?;
        let mut entry = Entry {
            recorder: &*self.recorder,
            workspace,
            examination: &examination,
            identity: examination.prepared().identity(arrived.request.tool),
            arrived,
            // A call that is dropped on its way was given up by whoever made it.
            end: End::Failed(DispatchErrorKind::Cancelled),
            timings: Timings { examine: start.elapsed(), ..Timings::default() },
            told: false,
        };
        let outcome = examination.outcome();
        let mut note = None;
        let may_run = match &outcome {
            Outcome::Run | Outcome::Answered(_) | Outcome::Observed(_) => true,
            Outcome::Refuse => false,
            Outcome::Ask => {
                let asked = Instant::now();
                let approval = self.approvals.ask(&arrived.request, &examination).await;
                entry.timings.approve = asked.elapsed();
                let granted = approval == Approval::Granted;
                note = match approval {
                    Approval::Granted => None,
                    Approval::Rejected(text) => Some(text.unwrap_or_else(|| "A person said no.".into())),
                    Approval::Pending(text) => Some(text),
                };
                granted
            }
        };
        let passage = Passage { verdict: examination.verdict().clone(), outcome: outcome.clone() };
        if !may_run {
            entry.end = match (&outcome, examination.invalid()) {
                (_, Some(_)) => End::Invalid,
                (Outcome::Ask, _) => End::Asked,
                _ => End::Denied,
            };
            // Nothing ran, so nothing is lost with the record that the recorder has not lost already.
            let _ = entry.close(None).await;
            let refusal = refuse(workspace, arrived, &examination, shown);
            let refusal = match note {
                Some(note) => refusal.with_note(&note),
                None => refusal,
            };
            return Ok(Settled::Refused(refusal, passage));
        }
        if let Err(error) =
            entry.intend(outcome == Outcome::Ask || examination.may_change(arrived.request.arguments)).await
        {
            entry.end = End::Unrecorded;
            drop(entry);
            let name = shown(arrived.request.tool).unwrap_or_else(|| arrived.lookup.to_owned());
            return Ok(Settled::Refused(Refusal::unrecorded(&name, &error), passage));
        }
        let sent = Instant::now();
        let result = dispatch().await;
        entry.timings.dispatch = sent.elapsed();
        let (kept, settled) = match result {
            Ok(output) => {
                let brought = brought(&output);
                entry.end = match outcome {
                    _ if brought.failed => End::ToolFailed,
                    Outcome::Observed(_) => End::Observed,
                    Outcome::Answered(_) | Outcome::Ask => End::Approved,
                    Outcome::Run | Outcome::Refuse => End::Ran,
                };
                (entry.close(Some(brought.bytes)).await, Settled::Ran(output, passage))
            }
            Err(error) => {
                entry.end = End::Failed(error.kind());
                (entry.close(None).await, Settled::Failed(error, passage))
            }
        };
        // Invariant: where records must be kept before an answer leaves, none leaves without.
        Ok(match (kept, settled) {
            (Ok(()), settled) => settled,
            (Err(error), Settled::Ran(_, passage) | Settled::Refused(_, passage) | Settled::Failed(_, passage)) => {
                let error = DispatchError::while_it_ran(DispatchErrorKind::Unrecorded, &error.to_string());
                Settled::Failed(error, passage)
            }
        })
    }
}

fn refuse(
    workspace: &Workspace,
    arrived: &Arrived<'_>,
    examination: &Examination<'_>,
    shown: impl Fn(&Tool) -> Option<String>,
) -> Refusal {
    let tool = arrived.request.tool;
    let fitting = match examination.verdict().decision() {
        Decision::Deny if examination.invalid().is_none() => {
            workspace.fitting(tool, examination.facts(), |other| shown(other).is_some())
        }
        _ => Vec::new(),
    };
    let name = |tool: &Tool| shown(tool).unwrap_or_else(|| arrived.lookup.to_owned());
    Refusal::of(tool, examination, arrived.request.task, &fitting, name)
}

/// The record of a call under way, written when it ends, however it ends.
struct Entry<'a> {
    recorder: &'a dyn Recorder,
    workspace: &'a Workspace,
    examination: &'a Examination<'a>,
    identity: &'a Identity,
    arrived: &'a Arrived<'a>,
    end: End,
    timings: Timings,
    told: bool,
}

impl Entry<'_> {
    /// Makes sure that there is room for the record, and says that the call is about to run where `said` asks for it.
    async fn intend(&self, said: bool) -> Result<(), NotKept> {
        if let Some(room) = self.recorder.ready() {
            room.await?;
        }
        if said && let Some(kept) = self.recorder.intend(&self.record(None)) {
            kept.await?;
        }
        Ok(())
    }

    /// Writes the record, and waits where the recorder asks for it.
    async fn close(mut self, result: Option<&[u8]>) -> Result<(), NotKept> {
        self.told = true;
        match self.recorder.keep(&self.record(result)) {
            Some(kept) => kept.await,
            None => Ok(()),
        }
    }

    fn record<'r>(&'r self, result: Option<&'r [u8]>) -> Record<'r> {
        let Request { tool, arguments, caller, task } = self.arrived.request;
        Record {
            id: self.arrived.id,
            lookup: self.arrived.lookup,
            tool,
            identity: self.identity,
            caller,
            task: task.map(|task| task.name().as_str()),
            arguments: self.arrived.read,
            arguments_size: self.arrived.size,
            body: arguments,
            result,
            examination: self.examination,
            verdict: self.examination.verdict(),
            policy: self.workspace.policy_version(),
            end: self.end,
            timings: self.timings,
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.told {
            self.recorder.record(&self.record(None));
        }
    }
}

impl Timings {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.examine + self.approve + self.dispatch
    }
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pipeline").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
