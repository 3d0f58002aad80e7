//! Which event may come next? Everything that clients refuse, and what they let pass although it is wrong: a result for a call that nobody
//! made, a stream without an end, an end of another run, a call that nobody answers.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use crate::event::{Event, Outcome};
use crate::id::Id;

/// Checks a sequence of events.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    phase: Phase,
    texts: HashMap<Id, Owner>,
    reasoning: HashMap<Id, Owner>,
    reasoning_messages: HashMap<Id, Owner>,
    calls: HashMap<Id, Call>,
    /// Who a message belongs to, once it was begun.
    messages: HashMap<Id, Owner>,
    steps: HashSet<(Owner, Id)>,
    subagents: HashMap<Id, bool>,
    /// Calls of earlier runs, which may be answered in this one.
    known: HashSet<Id>,
}

/// The subagent that something belongs to, or the agent itself.
type Owner = Option<Id>;

#[derive(Clone, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Before,
    Running {
        thread: Id,
        run: Id,
    },
    Finished,
    Failed,
}

#[derive(Clone, Debug)]
struct Call {
    owner: Owner,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    Open,
    Ended,
    Answered,
}

/// An event that may not come here. Sending it would break the client, or be read as something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct OutOfOrder {
    problem: String,
}

impl Guard {
    /// Nothing was sent yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, where these calls were made in earlier runs of the thread.
    #[must_use]
    pub fn knowing(mut self, calls: impl IntoIterator<Item = Id>) -> Self {
        self.known.extend(calls);
        self
    }

    /// Whether an event may come next; if so, it counts as sent.
    ///
    /// # Errors
    /// [`OutOfOrder`] when it may not. Nothing is changed then.
    pub fn check(&mut self, event: &Event) -> Result<(), OutOfOrder> {
        match (&self.phase, event) {
            (Phase::Before, Event::RunStarted { .. } | Event::RunError { .. }) | (Phase::Running { .. }, _) => {}
            (Phase::Before, _) => return refuse("the first event is not RUN_STARTED"),
            (Phase::Finished, Event::RunStarted { .. } | Event::RunError { .. })
            | (Phase::Failed, Event::RunStarted { .. }) => {}
            (Phase::Finished | Phase::Failed, _) => return refuse("the run is over"),
        }
        match event {
            Event::RunStarted { thread_id, run_id, .. } => {
                if matches!(self.phase, Phase::Running { .. }) {
                    return refuse("a run is under way");
                }
                let known = std::mem::take(&mut self.known);
                *self = Self { known, ..Self::default() };
                self.phase = Phase::Running { thread: thread_id.clone(), run: run_id.clone() };
            }
            Event::RunFinished { thread_id, run_id, outcome, .. } => self.finish(thread_id, run_id, outcome)?,
            Event::RunError { .. } => self.phase = Phase::Failed,
            Event::StepStarted { step_name, subagent_run_id, .. } => {
                self.owned(subagent_run_id)?;
                if !self.steps.insert((subagent_run_id.clone(), step_name.clone())) {
                    return refuse_about("the step", step_name, "is open already");
                }
            }
            Event::StepFinished { step_name, subagent_run_id } => {
                if !self.steps.remove(&(subagent_run_id.clone(), step_name.clone())) {
                    return refuse_about("the step", step_name, "is not open");
                }
            }
            Event::TextMessageStart { message_id, subagent_run_id, .. } => {
                self.owned(subagent_run_id)?;
                self.belongs(message_id, subagent_run_id)?;
                open(&mut self.texts, message_id, subagent_run_id)?;
                self.messages.insert(message_id.clone(), subagent_run_id.clone());
            }
            Event::TextMessageContent { message_id, subagent_run_id, .. } => {
                is_open(&self.texts, message_id, subagent_run_id)?;
            }
            Event::TextMessageEnd { message_id, subagent_run_id } => {
                close(&mut self.texts, message_id, subagent_run_id)?;
            }
            Event::ReasoningStart { message_id, subagent_run_id } => {
                self.owned(subagent_run_id)?;
                open(&mut self.reasoning, message_id, subagent_run_id)?;
            }
            Event::ReasoningMessageStart { message_id, subagent_run_id, .. } => {
                self.owned(subagent_run_id)?;
                open(&mut self.reasoning_messages, message_id, subagent_run_id)?;
            }
            Event::ReasoningMessageContent { message_id, subagent_run_id, .. } => {
                is_open(&self.reasoning_messages, message_id, subagent_run_id)?;
            }
            Event::ReasoningMessageEnd { message_id, subagent_run_id } => {
                close(&mut self.reasoning_messages, message_id, subagent_run_id)?;
            }
            Event::ReasoningEnd { message_id, subagent_run_id } => {
                close(&mut self.reasoning, message_id, subagent_run_id)?;
            }
            Event::ToolCallStart { tool_call_id, parent_message_id, subagent_run_id, .. } => {
                self.owned(subagent_run_id)?;
                if self.calls.contains_key(tool_call_id) || self.known.contains(tool_call_id) {
                    return refuse_about("the call", tool_call_id, "was begun before");
                }
                if let Some(parent) = parent_message_id {
                    self.belongs(parent, subagent_run_id)?;
                    self.messages.insert(parent.clone(), subagent_run_id.clone());
                }
                let call = Call { owner: subagent_run_id.clone(), progress: Progress::Open };
                self.calls.insert(tool_call_id.clone(), call);
            }
            Event::ToolCallArgs { tool_call_id, subagent_run_id, .. } => {
                self.call(tool_call_id, subagent_run_id, Progress::Open)?;
            }
            Event::ToolCallEnd { tool_call_id, subagent_run_id } => {
                self.call(tool_call_id, subagent_run_id, Progress::Open)?.progress = Progress::Ended;
            }
            Event::ToolCallResult { tool_call_id, subagent_run_id, .. } => {
                self.owned(subagent_run_id)?;
                if self.known.remove(tool_call_id) {
                    let call = Call { owner: subagent_run_id.clone(), progress: Progress::Answered };
                    self.calls.insert(tool_call_id.clone(), call);
                } else {
                    self.call(tool_call_id, subagent_run_id, Progress::Ended)?.progress = Progress::Answered;
                }
            }
            Event::SubagentStarted { subagent_run_id, parent_subagent_run_id, .. } => {
                if self.subagents.contains_key(subagent_run_id) {
                    return refuse_about("the subagent", subagent_run_id, "was begun before");
                }
                self.owned(parent_subagent_run_id)?;
                self.subagents.insert(subagent_run_id.clone(), true);
            }
            Event::SubagentFinished { subagent_run_id, .. } | Event::SubagentError { subagent_run_id, .. } => {
                match self.subagents.get_mut(subagent_run_id) {
                    Some(open) if *open => *open = false,
                    _ => return refuse_about("the subagent", subagent_run_id, "is not there"),
                }
            }
            Event::Custom { subagent_run_id, .. } | Event::ReasoningEncryptedValue { subagent_run_id, .. } => {
                self.owned(subagent_run_id)?;
            }
            Event::StateSnapshot { .. } | Event::StateDelta { .. } | Event::MessagesSnapshot { .. } => {}
        }
        Ok(())
    }

    /// Whether the stream may end here.
    ///
    /// # Errors
    /// [`OutOfOrder`] when the run has no end.
    pub fn end(&self) -> Result<(), OutOfOrder> {
        match self.phase {
            Phase::Finished | Phase::Failed => Ok(()),
            Phase::Before | Phase::Running { .. } => refuse("the stream has neither RUN_FINISHED nor RUN_ERROR"),
        }
    }

    /// Forgets a call that is answered, for streams that go on for ever.
    pub fn forget(&mut self, call: &Id) {
        if self.calls.get(call).is_some_and(|call| call.progress == Progress::Answered) {
            self.calls.remove(call);
        }
    }

    fn finish(&mut self, thread: &Id, run: &Id, outcome: &Outcome) -> Result<(), OutOfOrder> {
        let Phase::Running { thread: own, run: own_run } = &self.phase else { return refuse("no run is under way") };
        if own != thread || own_run != run {
            return refuse("RUN_FINISHED is of another run");
        }
        let open = [
            ("a text message", self.texts.keys().next()),
            ("a reasoning message", self.reasoning_messages.keys().next()),
            ("a span of reasoning", self.reasoning.keys().next()),
            ("a step", self.steps.iter().map(|(_, step)| step).next()),
            ("a call", self.calls.iter().find(|(_, call)| call.progress == Progress::Open).map(|(id, _)| id)),
            ("a subagent", self.subagents.iter().find(|(_, open)| **open).map(|(id, _)| id)),
        ];
        if let Some((what, Some(id))) = open.into_iter().find(|(_, id)| id.is_some()) {
            return refuse_about(what, id, "is open when the run ends");
        }
        let made = |id: &Id| self.calls.contains_key(id) || self.known.contains(id);
        match outcome {
            Outcome::Success { pending_tool_call_ids } => {
                if let Some(id) = pending_tool_call_ids.iter().find(|id| !made(id)) {
                    return refuse_about("the call", id, "is pending, and was never made");
                }
                let left = self
                    .calls
                    .iter()
                    .find(|(id, call)| call.progress == Progress::Ended && !pending_tool_call_ids.contains(id));
                if let Some((id, _)) = left {
                    return refuse_about("the call", id, "has no result, and nobody is told to bring one");
                }
            }
            Outcome::Interrupt { interrupts } => {
                if interrupts.is_empty() {
                    return refuse("the run is interrupted by nothing");
                }
                let strange = interrupts.iter().filter_map(|one| one.tool_call_id.as_ref()).find(|id| !made(id));
                if let Some(id) = strange {
                    return refuse_about("the call", id, "waits for a person, and was never made");
                }
            }
            Outcome::Cancelled => {}
        }
        self.phase = Phase::Finished;
        Ok(())
    }

    /// Whoever it belongs to was begun. One that has ended may still be named.
    fn owned(&self, owner: &Owner) -> Result<(), OutOfOrder> {
        match owner {
            Some(id) if !self.subagents.contains_key(id) => refuse_about("the subagent", id, "was never begun"),
            _ => Ok(()),
        }
    }

    fn belongs(&self, message: &Id, owner: &Owner) -> Result<(), OutOfOrder> {
        match self.messages.get(message) {
            Some(own) if own != owner => refuse_about("the message", message, "belongs to another agent"),
            _ => Ok(()),
        }
    }

    fn call(&mut self, id: &Id, owner: &Owner, wanted: Progress) -> Result<&mut Call, OutOfOrder> {
        let Some(call) = self.calls.get_mut(id) else { return refuse_about("the call", id, "was never made") };
        if call.owner != *owner {
            return refuse_about("the call", id, "belongs to another agent");
        }
        match (call.progress, wanted) {
            (own, wanted) if own == wanted => Ok(call),
            (Progress::Open, _) => refuse_about("the call", id, "has not ended"),
            (Progress::Ended, _) => refuse_about("the call", id, "has ended"),
            (Progress::Answered, _) => refuse_about("the call", id, "has its result"),
        }
    }
}

fn open(all: &mut HashMap<Id, Owner>, id: &Id, owner: &Owner) -> Result<(), OutOfOrder> {
    match all.insert(id.clone(), owner.clone()) {
        None => Ok(()),
        Some(own) => {
            all.insert(id.clone(), own);
            refuse_about("the message", id, "is open already")
        }
    }
}

fn is_open(all: &HashMap<Id, Owner>, id: &Id, owner: &Owner) -> Result<(), OutOfOrder> {
    match all.get(id) {
        Some(own) if own == owner => Ok(()),
        Some(_) => refuse_about("the message", id, "belongs to another agent"),
        None => refuse_about("the message", id, "is not open"),
    }
}

fn close(all: &mut HashMap<Id, Owner>, id: &Id, owner: &Owner) -> Result<(), OutOfOrder> {
    is_open(all, id, owner)?;
    all.remove(id);
    Ok(())
}

fn refuse<T>(problem: &str) -> Result<T, OutOfOrder> {
    Err(OutOfOrder { problem: problem.to_owned() })
}

fn refuse_about<T>(what: &str, id: &Id, problem: &str) -> Result<T, OutOfOrder> {
    Err(OutOfOrder { problem: format!("{what} `{}` {problem}", visible(id.as_str(), 200)) })
}

impl Explain for OutOfOrder {
    fn code(&self) -> Code {
        Code::new("agui-order")
    }

    fn why(&self) -> String {
        "a client would end the run with an error, or take it for something else than it is".into()
    }

    fn fix(&self) -> String {
        "this is a fault of the program that sends the events; please report it".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("problem", self.problem.as_str().into())])
    }
}

#[cfg(test)]
mod tests;
