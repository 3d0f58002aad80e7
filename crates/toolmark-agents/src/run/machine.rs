//! What comes next in a run? A machine without I/O: it is told what happened and says what to do, and keeps the one rule that nothing
//! runs twice.
//!
//! All calls of an answer are entered in the ledger before one of them runs. Outputs are put into the conversation in the order in which
//! the model called, once all of them are there; a handoff waits for that too.

use std::collections::HashSet;

use toolmark_core::call::CallId;
use toolmark_core::compat::{Approvals, Decision, InvocationProgress, Reach};
use toolmark_models::{
    CustomOutput, Finish, FunctionCall, FunctionOutput, Item, ModelResponse, Output, Part, Raw, Usage,
};

use super::approve::Said;
use super::entries::{approval_item, complete, custom_arguments, enter_item, is_answered, raw, waits_for_host};
use super::error::RunErrorKind;
use super::item::RunItem;
use super::state::{Decided, InSession, Phase, Planned, Previous, Progress, Question, RunState, To};
use crate::agent::ToolResult;
use crate::host;

/// What is to be done next. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Ask the model of the agent whose turn it is.
    Ask,
    /// Make these calls; they may run side by side.
    Call(Vec<usize>),
    /// Every call of a tool is answered: go on, or take an answer for the final one.
    Settle,
    /// Pass the conversation on as this call says.
    HandOver(usize),
    /// Look at the final answer.
    Finish(String),
    /// Somebody has to decide something.
    Interrupt,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// The model gets this.
    Answered {
        /// What it reads.
        output: Output,
        /// The code of what went wrong, where anything did.
        code: Option<&'static str>,
    },
    /// A person has to decide.
    Asked(Asked),
    /// Somebody has to decide inside of it.
    Inside(Box<RunState>),
    /// Whoever asked for the run answers it.
    Outside,
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked(pub(super) Question);

/// The state of a run, with what can be found out from it again.
#[derive(Debug)]
pub struct Machine {
    state: RunState,
    known: Approvals,
    /// Calls that were made since the run was taken up; those that wait are not made again before somebody decided.
    tried: HashSet<usize>,
}

/// What the other handoffs of an answer are told.
const IGNORED: &str = "Multiple handoffs detected, ignoring this one.";

impl Machine {
    /// A run that begins. What was said before the user spoke is the history.
    #[must_use]
    pub fn begin(agent: &str, history: Vec<Item>, said: Vec<Item>) -> Self {
        let input = history.into_iter().chain(said.iter().cloned()).collect();
        Self { state: RunState::new(agent, said, input), known: Approvals::default(), tried: HashSet::new() }
    }

    /// A run that goes on. Everything that was called is entered again, and everything that was decided.
    ///
    /// # Errors
    /// [`RunErrorKind`] when the state contradicts itself.
    pub fn resume(state: RunState) -> Result<Self, RunErrorKind> {
        let mut known = Approvals::default();
        for item in &state.items {
            enter_item(&mut known, &item.agent, &item.item)?;
        }
        for decided in &state.decisions {
            let raw = raw(&decided.call);
            let decision = match decided.approved {
                true => Decision::Approve,
                false => Decision::Reject { message: decided.message.as_deref() },
            };
            let reach = if decided.always { Reach::Always } else { Reach::Once };
            known.decide(&approval_item(&raw, &decided.agent, &decided.call), decision, reach)?;
        }
        Ok(Self { state, known, tried: HashSet::new() })
    }

    /// The run belongs to a session.
    pub(super) fn belongs_to(&mut self, session: InSession) {
        self.state.session = Some(session);
    }

    /// What the provider keeps is not what the next model reads: it is sent everything.
    pub(super) fn starts_anew(&mut self) {
        self.state.previous = None;
    }

    /// The conversation goes on from an answer that the provider keeps.
    pub(super) fn follows(&mut self, id: String) {
        self.state.previous = Some(Previous { id, known: 0 });
    }

    /// The provider keeps the conversation under this id.
    pub(super) fn converses(&mut self, id: String) {
        self.state.conversation = Some(Previous { id, known: 0 });
    }

    /// What the run has come to.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// The same, to be kept.
    #[must_use]
    pub fn into_state(self) -> RunState {
        self.state
    }

    /// What is to be done next.
    ///
    /// # Errors
    /// [`RunErrorKind::MaxTurns`] when the model was asked often enough.
    pub fn next(&self, max_turns: u32) -> Result<Effect, RunErrorKind> {
        Ok(match &self.state.phase {
            Phase::Ask if self.state.turn >= max_turns => return Err(RunErrorKind::MaxTurns(max_turns)),
            Phase::Ask => Effect::Ask,
            Phase::Answered { text } => Effect::Finish(text.clone()),
            Phase::Done { output } => Effect::Finish(output.clone()),
            Phase::Calls { calls } => {
                let open = |planned: &Planned| {
                    planned.to == To::Tool && !matches!(planned.progress, Progress::Answered { .. })
                };
                let open: Vec<usize> = positions(calls, open).collect();
                let outside =
                    |at: &usize| matches!(self.planned(*at), Some(planned) if planned.progress == Progress::Outside);
                let untried: Vec<usize> =
                    open.iter().copied().filter(|at| !self.tried.contains(at) && !outside(at)).collect();
                let waiting = |planned: &Planned| {
                    planned.to == To::Handoff && !matches!(planned.progress, Progress::Answered { .. })
                };
                match (untried.is_empty(), open.is_empty()) {
                    (false, _) => Effect::Call(untried),
                    (true, false) => Effect::Interrupt,
                    (true, true) => positions(calls, waiting).next().map_or(Effect::Settle, Effect::HandOver),
                }
            }
        })
    }

    /// The model is about to be asked; what it reads is taken out, so that nothing is copied. It must be given back.
    pub fn ask(&mut self) -> Vec<Item> {
        self.state.turn = self.state.turn.saturating_add(1);
        std::mem::take(&mut self.state.input)
    }

    /// Gives back what [`Machine::ask`] took.
    pub fn give_back(&mut self, input: Vec<Item>) {
        self.state.input = input;
    }

    /// What the run begins with was checked.
    pub fn checked(&mut self) {
        self.state.checked = true;
    }

    /// Counts what somebody used.
    pub fn used(&mut self, usage: Usage) {
        self.state.usage += usage;
    }

    /// The model answered. `hands_over` says which calls lead to another agent, `hosts` which calls in the provider's own words are
    /// answered here.
    ///
    /// A call that was made before, id and content, is left out: it has its answer.
    ///
    /// # Errors
    /// [`RunErrorKind`] when an id stands for two calls, or when the model calls something that nobody here can answer. Then nothing
    /// was taken over, and the model may be asked again.
    pub fn answered(
        &mut self,
        response: ModelResponse,
        hands_over: impl Fn(&FunctionCall) -> bool,
        hosts: impl Fn(&Raw) -> bool,
    ) -> Result<(), RunErrorKind> {
        self.state.usage += response.usage;
        match self.plan(&response, hands_over, hosts) {
            Ok((kept, calls)) => {
                let text = response.text();
                let paused = response.finish == Finish::Paused;
                let whole = kept.iter().all(|kept| *kept);
                let mut keep = kept.into_iter();
                for item in response.items {
                    if keep.next().unwrap_or(true) {
                        self.add(item);
                    }
                }
                // A provider that gives no id keeps nothing, and one that keeps more than we do must not go on from it.
                if self.state.previous.is_some() {
                    let known = self.state.input.len();
                    self.state.previous = response.response_id.filter(|_| whole).map(|id| Previous { id, known });
                }
                if let Some(conversation) = &mut self.state.conversation {
                    conversation.known = self.state.input.len();
                }
                if !calls.is_empty() {
                    self.state.called.insert(self.state.agent.clone());
                }
                self.tried.clear();
                self.state.phase = match calls.is_empty() {
                    true if paused => Phase::Ask,
                    true => Phase::Answered { text },
                    false => Phase::Calls { calls },
                };
                Ok(())
            }
            Err(error) => {
                // Whatever was entered on the way is forgotten: the model may say something else next time.
                self.known = Self::resume(self.state.clone())?.known;
                Err(error)
            }
        }
    }

    /// Which items are kept, and the calls among them.
    fn plan(
        &mut self,
        response: &ModelResponse,
        hands_over: impl Fn(&FunctionCall) -> bool,
        hosts: impl Fn(&Raw) -> bool,
    ) -> Result<(Vec<bool>, Vec<Planned>), RunErrorKind> {
        let mut calls: Vec<Planned> = Vec::new();
        let mut kept = Vec::with_capacity(response.items.len());
        let mut seen: HashSet<CallId> = HashSet::new();
        let mut dropped = false;
        for item in &response.items {
            let (call, custom, hosted) = match item {
                Item::FunctionCall(call) => (call.clone(), None, None),
                Item::CustomCall(custom) => {
                    let arguments = custom_arguments(&custom.input);
                    (FunctionCall::new(custom.call_id.clone(), &*custom.name, arguments), Some(custom.clone()), None)
                }
                Item::Hosted(raw) if waits_for_host(raw.kind()) && !is_answered(raw, &response.items) => {
                    let call = host::as_call(raw).filter(|_| host::is_of_host(raw) && hosts(raw));
                    let call = call.ok_or_else(|| RunErrorKind::HostedCall(raw.kind().to_owned()))?;
                    (call, None, Some(raw.clone()))
                }
                _ => {
                    kept.push(true);
                    continue;
                }
            };
            let raw = raw(&call);
            let progress = self.known.register_call(&approval_item(&raw, &self.state.agent, &call))?;
            let again = !seen.insert(call.call_id.clone()) || progress.is_some_and(InvocationProgress::completed);
            kept.push(!again);
            if again {
                tracing::debug!(call = call.call_id.as_str(), "a call came again and is not made again");
                dropped = true;
                continue;
            }
            let plain = custom.is_none() && hosted.is_none();
            let to = if plain && hands_over(&call) { To::Handoff } else { To::Tool };
            calls.push(Planned { call, custom, hosted, to, progress: Progress::Waiting });
        }
        // A model that repeats itself and says nothing new has not answered: its question is still open.
        if dropped && calls.is_empty() && response.text().is_empty() {
            return Err(RunErrorKind::Repeats);
        }
        Ok((kept, calls))
    }

    /// A call that is to be made.
    #[must_use]
    pub fn call(&self, at: usize) -> Option<&FunctionCall> {
        self.planned(at).map(|planned| &planned.call)
    }

    /// True when the call is of a tool that takes free text.
    #[must_use]
    pub fn is_custom(&self, at: usize) -> bool {
        self.planned(at).is_some_and(|planned| planned.custom.is_some())
    }

    /// What the provider has said about the tools of its own MCP servers.
    pub(super) fn heard(&self) -> host::Heard {
        let added = self.state.items.iter().map(|item| &item.item);
        host::Heard::of(&self.state.input.iter().chain(added))
    }

    /// True when the provider asks whether it may call tools of its own servers.
    pub(super) fn has_requests(&self) -> bool {
        let is_request = |planned: &Planned| planned.hosted.as_ref().is_some_and(host::is_request);
        matches!(&self.state.phase, Phase::Calls { calls } if calls.iter().any(is_request))
    }

    /// The call in the provider's own words, where that is how it came.
    pub(super) fn hosted(&self, at: usize) -> Option<&Raw> {
        self.planned(at)?.hosted.as_ref()
    }

    fn planned(&self, at: usize) -> Option<&Planned> {
        match &self.state.phase {
            Phase::Calls { calls } => calls.get(at),
            _ => None,
        }
    }

    /// The run that was interrupted inside a call, where there is one.
    #[must_use]
    pub fn inside(&self, at: usize) -> Option<&RunState> {
        match &self.planned(at)?.progress {
            Progress::Inside { run } => Some(run),
            _ => None,
        }
    }

    /// What a person said about a call of a tool that is now this. What was said about another definition counts for nothing.
    pub(super) fn said(&mut self, at: usize, definition: Option<&str>) -> Result<Said, RunErrorKind> {
        let Some(planned) = self.planned(at) else { return Ok(Said::default()) };
        let run = match &planned.progress {
            Progress::Asked(question) => Some(question.run),
            _ => None,
        };
        if self.state.decisions.is_empty() {
            return Ok(Said { run, ..Said::default() });
        }
        let call = planned.call.clone();
        let (raw, agent) = (raw(&call), self.state.agent.clone());
        let approval = approval_item(&raw, &agent, &call);
        let status = self.known.status(&approval, true)?;
        let source = self.source(&call);
        // What concerns the provider is looked at for the very call: nobody agreed to it in advance.
        let concerned = self.hosted(at).is_some_and(host::has_concerns);
        let holds = source.is_some_and(|decided| {
            let exact = decided.call.call_id == call.call_id;
            Some(decided.definition.as_str()) == definition && (exact || !concerned || !decided.approved)
        });
        let message = source.filter(|_| holds).and_then(|decided| decided.message.clone());
        // Other arguments are for the one call that they were written for.
        let own = source.filter(|decided| holds && decided.call.call_id == call.call_id);
        let edited = own.and_then(|decided| decided.edited.clone());
        let decision = status.filter(|_| holds).map(|approved| (approved, message));
        Ok(Said { decision, edited, run, instead: None })
    }

    /// The decision that counts for a call: the last about exactly it, or else the last about its tool.
    fn source(&self, call: &FunctionCall) -> Option<&Decided> {
        let own = |decided: &&Decided| decided.agent == self.state.agent;
        let exact = |decided: &&Decided| decided.call.call_id == call.call_id;
        let tool = |decided: &&Decided| {
            decided.always && decided.call.name == call.name && decided.call.namespace == call.namespace
        };
        let last = || self.state.decisions.iter().rev().filter(own);
        last().find(exact).or_else(|| last().find(tool))
    }

    /// Says what became of a call.
    pub fn called(&mut self, at: usize, ended: Ended) {
        self.tried.insert(at);
        let Phase::Calls { calls } = &mut self.state.phase else { return };
        let Some(planned) = calls.get_mut(at) else { return };
        planned.progress = match ended {
            Ended::Answered { output, code } => Progress::Answered { output, code: code.map(str::to_owned) },
            Ended::Asked(Asked(question)) => Progress::Asked(question),
            Ended::Inside(run) => Progress::Inside { run },
            Ended::Outside => Progress::Outside,
        };
    }

    /// What the tools of this turn brought, in the order in which they were called.
    #[must_use]
    pub fn results(&self) -> Vec<ToolResult> {
        let Phase::Calls { calls } = &self.state.phase else { return Vec::new() };
        let results = calls.iter().filter_map(|planned| match (&planned.progress, planned.to) {
            (Progress::Answered { output, code }, To::Tool) => Some(ToolResult {
                name: planned.call.name.clone(),
                namespace: planned.call.namespace.clone(),
                output: text(output),
                code: code.clone(),
            }),
            _ => None,
        });
        results.collect()
    }

    /// The calls that nothing came of and nothing will, once the calls are [settled](Self::settle), with what the model is told.
    pub(super) fn ignored(&self) -> Vec<(&FunctionCall, &'static str)> {
        let Phase::Calls { calls } = &self.state.phase else { return Vec::new() };
        let open = calls.iter().filter(|planned| !matches!(planned.progress, Progress::Answered { .. }));
        open.map(|planned| (&planned.call, IGNORED)).collect()
    }

    /// Puts the outputs into the conversation, so that the model is asked next.
    pub fn settle(&mut self) {
        let Phase::Calls { calls } = std::mem::replace(&mut self.state.phase, Phase::Ask) else { return };
        for planned in calls {
            let (output, code) = match planned.progress {
                Progress::Answered { output, code } => (output, code),
                _ => (Output::Text(IGNORED.into()), None),
            };
            let call_id = planned.call.call_id;
            complete(&mut self.known, &call_id);
            match (planned.custom, planned.hosted) {
                (_, Some(raw)) => {
                    for item in host::answer(&raw, &call_id, &output, code.is_some()) {
                        self.add(item);
                    }
                }
                (Some(_), None) => self.add(Item::CustomOutput(CustomOutput { call_id, output, extra: None })),
                (None, None) => {
                    let failed = code.is_some();
                    self.add(Item::FunctionOutput(FunctionOutput { call_id, output, failed, extra: None }));
                }
            }
        }
        self.tried.clear();
    }

    /// Another agent takes over. The call is answered, every other handoff of the answer is told that it was ignored, and `reads` says
    /// what the next agent gets to read of it all.
    pub fn hand_over(&mut self, at: usize, to: &str, reads: impl FnOnce(Vec<Item>) -> Vec<Item>) {
        let output = Output::Text(serde_json::json!({ "assistant": to }).to_string());
        self.called(at, Ended::Answered { output, code: None });
        self.settle();
        let input = std::mem::take(&mut self.state.input);
        self.state.input = reads(input);
        self.state.agent = to.to_owned();
    }

    /// The final answer cannot be used; the model may be asked again.
    pub fn refuse(&mut self) {
        self.state.phase = Phase::Ask;
    }

    /// The run is over.
    pub fn finish(&mut self, output: String) {
        if matches!(self.state.phase, Phase::Calls { .. }) {
            self.settle();
        }
        self.state.phase = Phase::Done { output };
    }

    fn add(&mut self, item: Item) {
        self.state.input.push(item.clone());
        self.state.items.push(RunItem { agent: self.state.agent.clone(), item });
    }
}

fn positions(calls: &[Planned], wanted: impl Fn(&Planned) -> bool) -> impl Iterator<Item = usize> {
    calls.iter().enumerate().filter_map(move |(at, planned)| wanted(planned).then_some(at))
}

fn text(output: &Output) -> String {
    match output {
        Output::Text(text) => text.clone(),
        Output::Parts(parts) => parts.iter().filter_map(Part::as_text).collect(),
    }
}
