//! What comes next in a run? A machine without I/O: it is told what happened and says what to do, and keeps the one rule that nothing
//! runs twice.
//!
//! All calls of an answer are entered in the ledger before one of them runs. Outputs are put into the conversation in the order in which
//! the model called, once all of them are there; a handoff waits for that too.

use std::borrow::Cow;
use std::collections::HashSet;

use toolmark_core::call::CallId;
use toolmark_core::compat::{ApprovalItem, Approvals, Decision, InvocationKind, InvocationProgress, Reach};
use toolmark_core::json::Json;
use toolmark_models::{CustomOutput, Finish, FunctionCall, FunctionOutput, Item, ModelResponse, Output, Part, Usage};

use super::approve::Said;
use super::error::RunErrorKind;
use super::item::RunItem;
use super::state::{Decided, Phase, Planned, Progress, Question, RunState, To};
use crate::agent::ToolResult;

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
            match &item.item {
                Item::FunctionCall(call) => enter(&mut known, &item.agent, call)?,
                Item::CustomCall(call) => {
                    let call = FunctionCall::new(call.call_id.clone(), &*call.name, custom_arguments(&call.input));
                    enter(&mut known, &item.agent, &call)?;
                }
                Item::FunctionOutput(output) => complete(&mut known, &output.call_id),
                Item::CustomOutput(output) => complete(&mut known, &output.call_id),
                _ => {}
            }
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
                let untried: Vec<usize> = open.iter().copied().filter(|at| !self.tried.contains(at)).collect();
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

    /// The model answered. `hands_over` says which calls lead to another agent.
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
    ) -> Result<(), RunErrorKind> {
        self.state.usage += response.usage;
        match self.plan(&response, hands_over) {
            Ok((kept, calls)) => {
                let text = response.text();
                let paused = response.finish == Finish::Paused;
                let mut keep = kept.into_iter();
                for item in response.items {
                    if keep.next().unwrap_or(true) {
                        self.add(item);
                    }
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
    ) -> Result<(Vec<bool>, Vec<Planned>), RunErrorKind> {
        let mut calls: Vec<Planned> = Vec::new();
        let mut kept = Vec::with_capacity(response.items.len());
        let mut seen: HashSet<CallId> = HashSet::new();
        let mut dropped = false;
        for item in &response.items {
            let (call, custom) = match item {
                Item::FunctionCall(call) => (call.clone(), None),
                Item::CustomCall(custom) => {
                    let arguments = custom_arguments(&custom.input);
                    (FunctionCall::new(custom.call_id.clone(), &*custom.name, arguments), Some(custom.clone()))
                }
                Item::Hosted(raw) if waits_for_host(raw.kind()) => {
                    return Err(RunErrorKind::HostedCall(raw.kind().to_owned()));
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
            let to = if custom.is_none() && hands_over(&call) { To::Handoff } else { To::Tool };
            calls.push(Planned { call, custom, to, progress: Progress::Waiting });
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
            return Ok(Said { decision: None, run });
        }
        let call = planned.call.clone();
        let (raw, agent) = (raw(&call), self.state.agent.clone());
        let approval = approval_item(&raw, &agent, &call);
        let status = self.known.status(&approval, true)?;
        let source = self.source(&call);
        let holds = source.is_some_and(|decided| Some(decided.definition.as_str()) == definition);
        let message = source.filter(|_| holds).and_then(|decided| decided.message.clone());
        Ok(Said { decision: status.filter(|_| holds).map(|approved| (approved, message)), run })
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
            self.add(match planned.custom {
                Some(_) => Item::CustomOutput(CustomOutput { call_id, output, extra: None }),
                None => Item::FunctionOutput(FunctionOutput { call_id, output, failed: code.is_some(), extra: None }),
            });
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

/// The items that a provider sends when the host has to do something, and waits for.
fn waits_for_host(kind: &str) -> bool {
    matches!(kind, "shell_call" | "local_shell_call" | "apply_patch_call" | "computer_call" | "mcp_approval_request")
}

/// The text of a tool that takes free text, as the arguments of a function.
fn custom_arguments(input: &str) -> String {
    serde_json::json!({ "input": input }).to_string()
}

fn text(output: &Output) -> String {
    match output {
        Output::Text(text) => text.clone(),
        Output::Parts(parts) => parts.iter().filter_map(Part::as_text).collect(),
    }
}

/// The call as the ledger reads it.
fn raw(call: &FunctionCall) -> Json<'_> {
    let text = |text: &'_ str| Json::String(Cow::Owned(text.to_owned()));
    let mut fields = vec![
        (Cow::Borrowed("type"), text(InvocationKind::FunctionCall.as_str())),
        (Cow::Borrowed("call_id"), text(call.call_id.as_str())),
        (Cow::Borrowed("name"), text(&call.name)),
        (Cow::Borrowed("arguments"), text(&call.arguments)),
    ];
    if let Some(namespace) = &call.namespace {
        fields.push((Cow::Borrowed("namespace"), text(namespace)));
    }
    Json::Object(fields)
}

fn approval_item<'a>(raw: &'a Json<'a>, agent: &'a str, call: &'a FunctionCall) -> ApprovalItem<'a> {
    ApprovalItem {
        raw_item: raw,
        agent,
        tool_name: Some(&call.name),
        tool_namespace: call.namespace.as_deref(),
        lookup_key: None,
        bare_name_alias: false,
    }
}

fn enter(known: &mut Approvals, agent: &str, call: &FunctionCall) -> Result<(), RunErrorKind> {
    let raw = raw(call);
    known.register_call(&approval_item(&raw, agent, call))?;
    Ok(())
}

fn complete(known: &mut Approvals, call: &CallId) {
    known.ledger().mark_completed(InvocationKind::FunctionCall, call);
}
