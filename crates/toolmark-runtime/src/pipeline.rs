//! A call on its way: examined, approved, dispatched at most once, recorded whatever happens. No second path reaches a tool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolmark_core::approval::RulingError;
use toolmark_core::explain::Explain as _;
use toolmark_core::json::{self, Json};
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Reason, Verdict};
use uuid::Uuid;

use crate::approve::{Approval, Approvals, Asking, Client, Ending, Handed, Pass};
use crate::dispatch::{DispatchError, DispatchErrorKind};
use crate::examine::{Examination, ForeignTool, Outcome, Request};
use crate::origin::Origin;
use crate::record::{Both, End, NotKept, Record, Recorder, Stray, Timings};
use crate::refusal::Refusal;
use crate::task::Task;
use crate::workspace::{Identity, Workspace};

/// Who is asked and who keeps records. The workspace comes with each call, so that a call ends under the one it began with.
#[derive(Clone)]
pub struct Pipeline {
    approvals: Arc<dyn Approvals>,
    recorder: Arc<dyn Recorder>,
    against: Option<Arc<[Reason]>>,
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
    /// How it came in.
    pub origin: Origin,
}

/// What a record says of what a call brought.
#[derive(Clone, Copy, Debug)]
pub struct Brought<'o> {
    /// Whether it is the tool's own report of a failure.
    pub failed: bool,
    /// Whether the tool wants to know more before it goes on.
    pub unfinished: bool,
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
    /// It did not run yet: the caller takes a question to its user.
    Handed(Box<Handed>, Passage),
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
    /// What let it through, where it was asked about.
    pub pass: Option<Pass>,
}

impl Pipeline {
    /// A pipeline with these at its side.
    #[must_use]
    pub fn new(approvals: Arc<dyn Approvals>, recorder: Arc<dyn Recorder>) -> Self {
        Self { approvals, recorder, against: None }
    }

    /// Who is asked.
    #[must_use]
    pub fn approvals(&self) -> &Arc<dyn Approvals> {
        &self.approvals
    }

    /// Who keeps records.
    #[must_use]
    pub fn recorder(&self) -> &Arc<dyn Recorder> {
        &self.recorder
    }

    /// The same pipeline with one more who keeps records, such as the trace of one call.
    #[must_use]
    pub fn also(&self, recorder: Arc<dyn Recorder>) -> Self {
        let recorder = Arc::new(Both(Arc::clone(&self.recorder), recorder));
        Self { recorder, ..self.clone() }
    }

    /// The same pipeline for a call against which this speaks too. It makes verdicts stricter, never milder, and no rule answers it.
    #[must_use]
    pub fn against(&self, reasons: Vec<Reason>) -> Self {
        Self { against: Some(reasons.into()), ..self.clone() }
    }

    fn examine<'w>(&self, workspace: &'w Workspace, request: &Request<'w>) -> Result<Examination<'w>, ForeignTool> {
        let examination = workspace.examine_measured(request, self.recorder.is_watched())?;
        Ok(match &self.against {
            Some(reasons) => examination.against(reasons),
            None => examination,
        })
    }

    /// Keeps the record of a call that cannot be judged. There are no others: a call ends here or in [`run`](Self::run).
    pub fn stray(&self, stray: &Stray<'_>) {
        self.recorder.stray(stray);
    }

    /// Takes a call through the pipeline. `client` is the caller's own way to a person; `shown` is the name that the caller knows a tool
    /// by, or nothing where it may not see it; `brought` says what is recorded of a result; `dispatch` gets the arguments that somebody
    /// put in place of those that came, as JSON text.
    ///
    /// Invariant: `dispatch` is called at most once, and only when the call may run.
    ///
    /// # Errors
    /// [`ForeignTool`] when the tool is not of this workspace; then nothing was done.
    pub async fn run<T, F>(
        &self,
        workspace: &Workspace,
        arrived: &Arrived<'_>,
        client: &dyn Client,
        shown: impl Fn(&Tool) -> Option<String>,
        brought: impl Fn(&T) -> Brought<'_>,
        dispatch: impl FnOnce(Option<String>) -> F,
    ) -> Result<Settled<T>, ForeignTool>
    where
        F: Future<Output = Result<T, DispatchError>>,
    {
        let start = Instant::now();
        let examination = self.examine(workspace, &arrived.request)?;
        let mut entry = Entry::new(&*self.recorder, workspace, arrived, &examination, start.elapsed());
        if self.recorder.is_watched() {
            self.recorder.begin(&entry.record(None));
        }
        let approval = match examination.outcome() {
            Outcome::Ask => {
                let asked = Instant::now();
                // Boxed, so that calls that nobody is asked about need no room for it.
                let approval = Box::pin(self.ask(workspace, arrived, &examination, client)).await;
                entry.timings.approve = asked.elapsed();
                Some(approval)
            }
            Outcome::Run | Outcome::Answered(_) | Outcome::Observed(_) | Outcome::Refuse => None,
        };
        if let Some(Approval::Granted(Pass { edited: Some(text), .. })) = &approval {
            let text = text.clone();
            return Box::pin(self.run_edited(entry, approval, &text, shown, brought, dispatch)).await;
        }
        Ok(self.finish(entry, approval, shown, brought, || dispatch(None)).await)
    }

    /// Edited arguments are those of another call: they are validated, analyzed and judged like any.
    async fn run_edited<T, F>(
        &self,
        mut entry: Entry<'_>,
        approval: Option<Approval>,
        text: &str,
        shown: impl Fn(&Tool) -> Option<String>,
        brought: impl Fn(&T) -> Brought<'_>,
        dispatch: impl FnOnce(Option<String>) -> F,
    ) -> Result<Settled<T>, ForeignTool>
    where
        F: Future<Output = Result<T, DispatchError>>,
    {
        let Ok(read) = json::read(text) else {
            let unusable = RulingError::Edited("they are not JSON".into()).report();
            let unusable = Some(Approval::Failed(Box::new(unusable)));
            return Ok(self.finish(entry, unusable, shown, brought, || dispatch(None)).await);
        };
        let value = read.to_value();
        let (workspace, arrived) = (entry.workspace, entry.arrived);
        let request = Request { arguments: &value, ..arrived.request };
        let edited = Arrived { request, read: &read, size: text.len(), ..*arrived };
        let examination = self.examine(workspace, &request)?;
        let mut again = Entry::new(&*self.recorder, workspace, &edited, &examination, entry.timings.examine);
        again.timings.approve = entry.timings.approve;
        entry.told = true;
        drop(entry);
        Ok(self.finish(again, approval, shown, brought, || dispatch(Some(text.to_owned()))).await)
    }

    async fn ask(
        &self,
        workspace: &Workspace,
        arrived: &Arrived<'_>,
        examination: &Examination<'_>,
        client: &dyn Client,
    ) -> Approval {
        let tool = arrived.request.tool;
        let changes = workspace.changes(tool);
        let asking = Asking {
            arrived,
            examination,
            identity: examination.prepared().identity(tool),
            policy: workspace.policy_version(),
            changes: &changes,
            client,
        };
        self.approvals.ask(asking).await
    }

    /// Ends a call that was examined, and asked about where that was needed: refused, or dispatched and recorded.
    async fn finish<T, F>(
        &self,
        mut entry: Entry<'_>,
        approval: Option<Approval>,
        shown: impl Fn(&Tool) -> Option<String>,
        brought: impl Fn(&T) -> Brought<'_>,
        dispatch: impl FnOnce() -> F,
    ) -> Settled<T>
    where
        F: Future<Output = Result<T, DispatchError>>,
    {
        let (workspace, arrived, examination) = (entry.workspace, entry.arrived, entry.examination);
        let outcome = examination.outcome();
        let mut passage = Passage { verdict: examination.verdict().clone(), outcome: outcome.clone(), pass: None };
        let name = |shown: &dyn Fn(&Tool) -> Option<String>| {
            shown(arrived.request.tool).unwrap_or_else(|| arrived.lookup.to_owned())
        };
        let mut rejected = false;
        let (pass, note) = match (approval, &outcome) {
            // Whatever was approved: what may not run does not run, and the run that was let through is over.
            (approval, Outcome::Refuse) => {
                if let Some(Approval::Granted(pass)) = &approval {
                    self.approvals.ended(pass, Ending::Over);
                }
                (None, None)
            }
            (Some(Approval::Granted(pass)), _) => (Some(pass), None),
            (None, _) => (Some(Pass::default()), None),
            (Some(Approval::Rejected(text)), _) => {
                rejected = true;
                (None, Some(text.unwrap_or_else(|| "A person said no.".into())))
            }
            (Some(Approval::Pending(text)), _) => (None, Some(text)),
            (Some(Approval::Handed(handed)), _) => {
                entry.end = End::Asked;
                // Nothing ran: the record of the question is no condition for asking it.
                let _ = entry.close(None).await;
                return Settled::Handed(handed, passage);
            }
            (Some(Approval::Failed(report)), _) => {
                entry.end = End::Asked;
                let _ = entry.close(None).await;
                return Settled::Refused(Refusal::stopped(&name(&shown), &report), passage);
            }
        };
        let Some(pass) = pass else {
            entry.end = match (&outcome, examination.invalid()) {
                (_, Some(_)) => End::Invalid,
                (Outcome::Ask, _) => End::Asked,
                _ => End::Denied,
            };
            // Nothing ran, so nothing is lost with the record that the recorder has not lost already.
            let _ = entry.close(None).await;
            let named = name(&shown);
            let refusal = refuse(workspace, arrived, examination, shown);
            let refusal = match note {
                Some(note) if rejected => refusal.not_approved(&named).with_note(&note),
                Some(note) => refusal.with_note(&note),
                None => refusal,
            };
            return Settled::Refused(refusal, passage);
        };
        entry.pass = pass.clone();
        let mut running = Running { approvals: &*self.approvals, pass: &pass, ending: Ending::NotBegun };
        passage.pass = Some(pass.clone()).filter(|pass| *pass != Pass::default());
        // Arguments that a person edited may need no question any more; the call was asked for all the same.
        let asked = outcome == Outcome::Ask || passage.pass.is_some();
        if let Err(error) = entry.intend(asked || examination.may_change(arrived.request.arguments)).await {
            entry.end = End::Unrecorded;
            drop(entry);
            return Settled::Refused(Refusal::unrecorded(&name(&shown), &error), passage);
        }
        let sent = Instant::now();
        running.ending = Ending::Unknown;
        let result = dispatch().await;
        running.ending = Ending::Over;
        entry.timings.dispatch = sent.elapsed();
        let (kept, settled) = match result {
            Ok(output) => {
                let brought = brought(&output);
                if brought.unfinished {
                    running.ending = Ending::Unfinished;
                }
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
        match (kept, settled) {
            (Ok(()), settled) => settled,
            (
                Err(error),
                Settled::Ran(_, passage)
                | Settled::Refused(_, passage)
                | Settled::Failed(_, passage)
                | Settled::Handed(_, passage),
            ) => {
                let error = DispatchError::while_it_ran(DispatchErrorKind::Unrecorded, &error.to_string());
                Settled::Failed(error, passage)
            }
        }
    }
}

/// A run that was let through; says how it ended, however it ends.
struct Running<'a> {
    approvals: &'a dyn Approvals,
    pass: &'a Pass,
    ending: Ending,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.approvals.ended(self.pass, self.ending);
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
            workspace.fitting(&arrived.request, examination.facts(), |other| shown(other).is_some())
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
    pass: Pass,
    told: bool,
}

impl<'a> Entry<'a> {
    fn new(
        recorder: &'a dyn Recorder,
        workspace: &'a Workspace,
        arrived: &'a Arrived<'a>,
        examination: &'a Examination<'a>,
        examined: Duration,
    ) -> Self {
        Self {
            recorder,
            workspace,
            examination,
            identity: examination.prepared().identity(arrived.request.tool),
            arrived,
            // A call that is dropped on its way was given up by whoever made it.
            end: End::Failed(DispatchErrorKind::Cancelled),
            timings: Timings { examine: examined, parts: examination.parts(), ..Timings::default() },
            pass: Pass::default(),
            told: false,
        }
    }

    /// Makes sure that there is room for the record, and says that the call is about to run where `said` asks for it.
    async fn intend(&self, said: bool) -> Result<(), NotKept> {
        if let Some(room) = self.recorder.ready() {
            room.await?;
        }
        let kept = if said { self.recorder.intend(&self.record(None)) } else { None };
        match kept {
            Some(kept) => kept.await,
            None => Ok(()),
        }
    }

    /// Writes the record, and waits where the recorder asks for it.
    async fn close(&mut self, result: Option<&[u8]>) -> Result<(), NotKept> {
        self.told = true;
        // Not in the head of what follows: the record would be held until it is kept.
        let kept = self.recorder.keep(&self.record(result));
        match kept {
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
            origin: self.arrived.origin,
            task: task.map(Task::full_name),
            arguments: self.arrived.read,
            arguments_size: self.arrived.size,
            body: arguments,
            result,
            examination: self.examination,
            verdict: self.examination.verdict(),
            policy: self.workspace.policy_version(),
            pass: &self.pass,
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
