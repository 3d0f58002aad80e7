//! What do events say about a run? Whatever happens in it becomes a sequence that clients accept: what was opened is closed, what is called
//! is answered or left to somebody, and what happens inside an agent that is called as a tool belongs to a subagent.

mod cards;
mod track;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use toolmark_agents::RunEvent;
use toolmark_models::{Item, ModelEvent, Raw, Usage};

use crate::event::{Event, Interrupt, Metadata, Outcome, SubagentOutcome, TokenUsage};
use crate::history::{message_id, result_id};
use crate::hosted::{self, Told};
use crate::id::Id;
use crate::state::SharedState;
use crate::{AGENT, CALL, PROTOCOL_VERSION, TOOL};

pub use cards::{AgentCard, Card, Cards, PlainCards};
use track::{Call, Track};

/// Makes events of what happens in one run.
pub struct Translator<'c> {
    thread: Id,
    run: Id,
    parent: Option<Id>,
    prefix: String,
    cards: &'c dyn Cards,
    /// By the calls that lead there; the run itself has none.
    tracks: HashMap<Id, Track>,
    /// Calls of earlier runs, which have a beginning already.
    known: HashSet<Id>,
    state: Option<SharedState>,
    used_before: Usage,
    custom_events: bool,
    legacy_names: bool,
    /// Sets apart what subagents say in each part of a run that was interrupted.
    leg: u32,
    out: Vec<Event>,
}

/// The run itself among the tracks.
const ROOT: &str = "";
/// The code of a call that came to nothing.
const FAILED: &str = "tool-failed";

impl<'c> Translator<'c> {
    /// For a run that begins. The ids of its messages begin with the prefix, which no other run of the thread has.
    #[must_use]
    pub fn new(thread: impl Into<Id>, run: impl Into<Id>, prefix: &str, cards: &'c dyn Cards) -> Self {
        Self {
            thread: thread.into(),
            run: run.into(),
            parent: None,
            prefix: prefix.to_owned(),
            cards,
            tracks: HashMap::from([(ROOT.into(), Track::default())]),
            known: HashSet::new(),
            state: None,
            used_before: Usage::default(),
            custom_events: false,
            legacy_names: false,
            leg: 0,
            out: Vec::new(),
        }
    }

    /// The same for a run that goes on: so many turns were had, these calls were made, and this was used before.
    #[must_use]
    pub fn resumed(mut self, turns: u32, leg: u32, calls: impl IntoIterator<Item = Id>, used: Usage) -> Self {
        if let Some(root) = self.tracks.get_mut(ROOT) {
            root.turns = turns;
        }
        self.known.extend(calls);
        (self.leg, self.used_before) = (leg, used);
        self
    }

    /// The run that the client says this one belongs to.
    #[must_use]
    pub fn parent(mut self, run: Option<Id>) -> Self {
        self.parent = run;
        self
    }

    /// Tells changes of a state as they happen.
    #[must_use]
    pub fn state(mut self, state: SharedState) -> Self {
        self.state = Some(state);
        self
    }

    /// Says who a tool is in an event of its own too, for clients that do not read metadata.
    #[must_use]
    pub fn custom_events(mut self, wanted: bool) -> Self {
        self.custom_events = wanted;
        self
    }

    /// Says the display name in a field that the protocol does not have, for clients that were made to read it.
    #[must_use]
    pub fn legacy_names(mut self, wanted: bool) -> Self {
        self.legacy_names = wanted;
        self
    }

    /// The run begins.
    pub fn begin(&mut self) -> Vec<Event> {
        vec![Event::RunStarted {
            thread_id: self.thread.clone(),
            run_id: self.run.clone(),
            protocol_version: PROTOCOL_VERSION,
            parent_run_id: self.parent.clone(),
            metadata: None,
        }]
    }

    /// Something happens.
    pub fn event(&mut self, event: &RunEvent) -> Vec<Event> {
        self.happens(&Id::from(ROOT), event);
        self.tell_state();
        std::mem::take(&mut self.out)
    }

    /// The run has an answer, or calls that the client answers.
    pub fn succeed(&mut self, output: Option<&str>, pending: &[Id]) -> Vec<Event> {
        self.close(&[], true);
        let left: Vec<(Id, Id)> = self.unanswered().filter(|(_, call)| !pending.contains(call)).collect();
        for (path, call) in left {
            let text = "Nothing came of it.";
            self.answer(&path, &call, text, Some("tool-failed"));
        }
        let outcome = Outcome::Success { pending_tool_call_ids: pending.to_vec() };
        self.finish(outcome, output.map(Value::from), Usage::default())
    }

    /// The same, with what the run has used so far.
    pub fn succeed_using(&mut self, output: Option<&str>, pending: &[Id], used: Usage) -> Vec<Event> {
        let mut events = self.succeed(output, pending);
        let spent = self.spent(used);
        if let Some(Event::RunFinished { usage, .. }) = events.last_mut() {
            *usage = spent;
        }
        events
    }

    /// The run waits for a person. What clients should know before, such as the messages, comes before its end.
    pub fn interrupt(&mut self, interrupts: Vec<Interrupt>, before: Vec<Event>, used: Usage) -> Vec<Event> {
        self.close(&interrupts, true);
        self.out.extend(before);
        self.finish(Outcome::Interrupt { interrupts }, None, used)
    }

    /// Somebody stopped the run. A call whose arguments are not complete must not look complete: then the run ends with an error.
    pub fn cancel(&mut self, message: &str, code: &str, used: Usage) -> Vec<Event> {
        if self.tracks.values().any(|track| track.calls.values().any(|call| *call == Call::Open)) {
            return self.fail(message, code, used);
        }
        self.close(&[], true);
        self.finish(Outcome::Cancelled, None, used)
    }

    /// The run has no answer.
    pub fn fail(&mut self, message: &str, code: &str, used: Usage) -> Vec<Event> {
        self.close(&[], false);
        let usage = self.spent(used);
        let failed = Event::RunError { message: message.to_owned(), code: code.to_owned(), usage, metadata: None };
        self.out.push(failed);
        std::mem::take(&mut self.out)
    }

    fn finish(&mut self, outcome: Outcome, result: Option<Value>, used: Usage) -> Vec<Event> {
        self.tell_state();
        let usage = self.spent(used);
        self.out.push(Event::RunFinished {
            thread_id: self.thread.clone(),
            run_id: self.run.clone(),
            result,
            outcome,
            usage,
            metadata: None,
        });
        std::mem::take(&mut self.out)
    }

    fn spent(&self, used: Usage) -> Vec<TokenUsage> {
        // The largest number that every client reads exactly.
        let since = |now: u64, before: u64| now.saturating_sub(before).min((1 << 53) - 1);
        let before = self.used_before;
        let usage = TokenUsage {
            input_tokens: since(used.input_tokens, before.input_tokens),
            output_tokens: since(used.output_tokens, before.output_tokens),
            total_tokens: since(used.total_tokens(), before.total_tokens()),
            reasoning_tokens: since(used.reasoning_tokens, before.reasoning_tokens),
            cached_input_tokens: since(used.cached_input_tokens, before.cached_input_tokens),
            cache_write_input_tokens: since(used.cache_write_tokens, before.cache_write_tokens),
        };
        if usage == TokenUsage::default() { Vec::new() } else { vec![usage] }
    }

    fn tell_state(&mut self) {
        let delta = self.state.as_ref().map(SharedState::changes).unwrap_or_default();
        if !delta.is_empty() {
            self.out.push(Event::StateDelta { delta });
        }
    }

    fn happens(&mut self, path: &Id, event: &RunEvent) {
        match event {
            RunEvent::Nested { call_id, event } => {
                let inner = inside(path, call_id.as_str());
                if self.enter(path, &inner, event) {
                    self.happens(&inner, event);
                }
            }
            RunEvent::TurnStarted { agent, turn } => self.turn(path, agent, *turn),
            RunEvent::Model { agent, event } => self.model(path, agent, event),
            RunEvent::ToolEnded { agent, call_id, name, output, code } => {
                let call = inside(path, call_id.as_str());
                self.leave(&call, *code, output);
                self.began(path, &call, agent, name, None);
                self.ended(path, &call, None);
                self.answer(path, &call, output, *code);
            }
            RunEvent::HandedOver { .. } => self.quiet(path),
            RunEvent::Finished { output } => {
                self.quiet(path);
                if path.as_str() != ROOT {
                    self.subagent_ends(path, |id| Event::SubagentFinished {
                        subagent_run_id: id,
                        result: Some(output.as_str().into()),
                        outcome: SubagentOutcome::Success,
                    });
                }
            }
            // What runs is known from the call; who waits, when the run ends.
            RunEvent::AgentStarted { .. } | RunEvent::ToolStarted { .. } | RunEvent::ApprovalNeeded(_) => {}
            _ => {}
        }
    }

    /// The model of an agent is asked: a step begins, and a message of its own unless it goes on with the last.
    fn turn(&mut self, path: &Id, agent: &str, turn: u32) {
        let card = self.cards.agent(agent);
        let Some(track) = self.tracks.get_mut(path) else { return };
        if track.answered {
            self.quiet(path);
        } else {
            self.end_step(path);
        }
        let Some(track) = self.tracks.get_mut(path) else { return };
        if track.answered || track.message.is_none() {
            track.message = Some(message_id(&own_prefix(&self.prefix, self.leg, path), track.turns));
            track.turns = track.turns.saturating_add(1);
            track.thought = 0;
        }
        track.answered = false;
        let step: Id = agent.into();
        track.step = Some(step.clone());
        let mut said = card.to_json(agent);
        if let Some(members) = said.as_object_mut() {
            members.insert("turn".into(), turn.into());
        }
        let metadata = Some(Metadata::new([(AGENT, said)]));
        self.out.push(Event::StepStarted { step_name: step, subagent_run_id: owner(path), metadata });
    }

    fn model(&mut self, path: &Id, agent: &str, event: &ModelEvent) {
        match event {
            ModelEvent::Text { delta } | ModelEvent::Refusal { delta } => self.say(path, delta),
            ModelEvent::Reasoning { delta } => self.think(path, delta),
            ModelEvent::CallStarted { call_id, name, namespace } => {
                self.end_thought(path);
                self.began(path, &inside(path, call_id.as_str()), agent, name, namespace.as_deref());
            }
            ModelEvent::CallArguments { call_id, delta } => {
                self.argue(path, &inside(path, call_id.as_str()), delta);
            }
            ModelEvent::CallDone { call_id, arguments } => {
                self.ended(path, &inside(path, call_id.as_str()), Some(arguments));
            }
            ModelEvent::ItemDone(Item::Reasoning(raw)) => self.cipher(path, raw),
            ModelEvent::ItemDone(Item::Hosted(raw)) => self.hosted(path, raw),
            ModelEvent::ItemDone(Item::FunctionCall(call)) => {
                let id = inside(path, call.call_id.as_str());
                self.began(path, &id, agent, &call.name, call.namespace.as_deref());
                self.ended(path, &id, Some(&call.arguments));
            }
            _ => {}
        }
    }

    /// The message that an agent speaks in; one is begun where a turn was not announced.
    fn message(&mut self, path: &Id) -> Option<Id> {
        let track = self.tracks.get_mut(path)?;
        if track.message.is_none() {
            track.message = Some(message_id(&own_prefix(&self.prefix, self.leg, path), track.turns));
            track.turns = track.turns.saturating_add(1);
        }
        track.message.clone()
    }

    fn say(&mut self, path: &Id, delta: &str) {
        self.end_thought(path);
        let Some(message_id) = self.message(path) else { return };
        let Some(track) = self.tracks.get_mut(path) else { return };
        if !track.speaking {
            track.speaking = true;
            let (message_id, subagent_run_id) = (message_id.clone(), owner(path));
            self.out.push(Event::TextMessageStart { message_id, role: "assistant", subagent_run_id });
        }
        self.out.push(Event::TextMessageContent { message_id, delta: delta.to_owned(), subagent_run_id: owner(path) });
    }

    fn think(&mut self, path: &Id, delta: &str) {
        let Some(message_id) = self.thought(path) else { return };
        let subagent_run_id = owner(path);
        self.out.push(Event::ReasoningMessageContent { message_id, delta: delta.to_owned(), subagent_run_id });
    }

    /// The thought that is under way; one is begun where there is none.
    fn thought(&mut self, path: &Id) -> Option<Id> {
        let message = self.message(path)?;
        let track = self.tracks.get_mut(path)?;
        if let Some(open) = &track.thinking {
            return Some(open.clone());
        }
        track.thought = track.thought.saturating_add(1);
        let message_id: Id = format!("{message}-r{}", track.thought).into();
        track.thinking = Some(message_id.clone());
        let subagent_run_id = owner(path);
        self.out
            .push(Event::ReasoningStart { message_id: message_id.clone(), subagent_run_id: subagent_run_id.clone() });
        let (role, begun) = ("reasoning", message_id.clone());
        self.out.push(Event::ReasoningMessageStart { message_id: begun, role, subagent_run_id });
        Some(message_id)
    }

    fn end_thought(&mut self, path: &Id) {
        let Some(message_id) = self.tracks.get_mut(path).and_then(|track| track.thinking.take()) else { return };
        let subagent_run_id = owner(path);
        let again = (message_id.clone(), subagent_run_id.clone());
        self.out.push(Event::ReasoningMessageEnd { message_id, subagent_run_id });
        self.out.push(Event::ReasoningEnd { message_id: again.0, subagent_run_id: again.1 });
    }

    /// A thought is complete; some are only to be sent back to the provider.
    fn cipher(&mut self, path: &Id, raw: &Raw) {
        if let Some(value) = enciphered(raw)
            && let Some(entity_id) = self.thought(path)
        {
            self.end_thought(path);
            self.out.push(Event::ReasoningEncryptedValue {
                subtype: "message",
                entity_id,
                encrypted_value: value.to_owned(),
                subagent_run_id: owner(path),
            });
        }
        self.end_thought(path);
    }

    /// The agent has said what it says in this turn.
    fn quiet(&mut self, path: &Id) {
        self.end_thought(path);
        if let Some(track) = self.tracks.get_mut(path)
            && std::mem::take(&mut track.speaking)
            && let Some(message_id) = track.message.clone()
        {
            self.out.push(Event::TextMessageEnd { message_id, subagent_run_id: owner(path) });
        }
        self.end_step(path);
    }

    fn end_step(&mut self, path: &Id) {
        if let Some(step_name) = self.tracks.get_mut(path).and_then(|track| track.step.take()) {
            self.out.push(Event::StepFinished { step_name, subagent_run_id: owner(path) });
        }
    }

    /// The provider called something by itself, or says what came of it.
    fn hosted(&mut self, path: &Id, raw: &Raw) {
        match hosted::told(raw) {
            Some(Told::Call(call, came)) => {
                self.end_thought(path);
                let id = inside(path, &call.id);
                let card = self.cards.hosted(&call);
                self.begin_call(path, &id, card);
                self.ended(path, &id, Some(&call.arguments));
                if let Some(came) = came {
                    self.result(path, &id, &came.text, came.failed.then_some(FAILED));
                }
            }
            Some(Told::Result(call, came)) => {
                let id = inside(path, &call);
                self.end_thought(path);
                let waits = self.known.contains(&id)
                    || self.tracks.get(path).is_some_and(|track| track.calls.get(&id) == Some(&Call::Ended));
                match raw.is_answer() {
                    // What follows is another message, as it is in the history.
                    true if waits => {
                        self.answer(path, &id, &came.text, came.failed.then_some(FAILED));
                        if let Some(track) = self.tracks.get_mut(path) {
                            (track.message, track.answered, track.thought) = (None, false, 0);
                        }
                    }
                    true => {}
                    false => self.result(path, &id, &came.text, came.failed.then_some(FAILED)),
                }
            }
            None => {}
        }
    }

    fn began(&mut self, path: &Id, call: &Id, agent: &str, name: &str, namespace: Option<&str>) {
        if self.is_begun(call) {
            return;
        }
        let card = self.cards.call(agent, name, namespace);
        self.begin_call(path, call, card);
    }

    fn is_begun(&self, call: &Id) -> bool {
        self.known.contains(call) || self.tracks.values().any(|track| track.calls.contains_key(call))
    }

    fn begin_call(&mut self, path: &Id, call: &Id, card: Card) {
        if self.is_begun(call) {
            return;
        }
        let Some(parent_message_id) = self.message(path) else { return };
        let Some(track) = self.tracks.get_mut(path) else { return };
        track.calls.insert(call.clone(), Call::Open);
        let subagent_run_id = owner(path);
        if self.custom_events
            && let Some(Value::Object(mut value)) = card.identity()
        {
            value.insert("toolCallId".into(), call.as_str().into());
            let subagent_run_id = subagent_run_id.clone();
            self.out.push(Event::Custom { name: TOOL, value: value.into(), subagent_run_id });
        }
        let legacy = self.legacy_names;
        self.out.push(Event::ToolCallStart {
            tool_call_id: call.clone(),
            tool_call_name: card.name,
            parent_message_id: Some(parent_message_id),
            subagent_run_id,
            metadata: card.metadata,
            tool_display_name: card.display_name.filter(|_| legacy),
            tool_description: card.spoken.filter(|_| legacy),
        });
    }

    fn argue(&mut self, path: &Id, call: &Id, delta: &str) {
        let Some(track) = self.tracks.get_mut(path) else { return };
        if track.calls.get(call) != Some(&Call::Open) {
            return;
        }
        if !track.argued.contains(call) {
            track.argued.insert(call.clone());
        }
        let (tool_call_id, subagent_run_id) = (call.clone(), owner(path));
        self.out.push(Event::ToolCallArgs { tool_call_id, delta: delta.to_owned(), subagent_run_id });
    }

    /// The arguments are complete. Those that were not said piece by piece are said now.
    fn ended(&mut self, path: &Id, call: &Id, arguments: Option<&str>) {
        let Some(track) = self.tracks.get_mut(path) else { return };
        if track.calls.get(call) != Some(&Call::Open) {
            return;
        }
        track.calls.insert(call.clone(), Call::Ended);
        let said = track.argued.remove(call);
        if let Some(arguments) = arguments.filter(|arguments| !said && !arguments.is_empty()) {
            let (tool_call_id, subagent_run_id) = (call.clone(), owner(path));
            self.out.push(Event::ToolCallArgs { tool_call_id, delta: arguments.to_owned(), subagent_run_id });
        }
        self.out.push(Event::ToolCallEnd { tool_call_id: call.clone(), subagent_run_id: owner(path) });
    }

    fn answer(&mut self, path: &Id, call: &Id, output: &str, code: Option<&str>) {
        let Some(track) = self.tracks.get_mut(path) else { return };
        if track.calls.get(call) != Some(&Call::Ended) && !self.known.remove(call) {
            return;
        }
        track.answered = true;
        // What is answered belongs to a message that is complete.
        let speaking = std::mem::take(&mut track.speaking).then(|| track.message.clone()).flatten();
        if let Some(message_id) = speaking {
            self.out.push(Event::TextMessageEnd { message_id, subagent_run_id: owner(path) });
        }
        self.say_result(path, call, output, code);
    }

    /// What came of a call that the provider made while the model speaks: the message goes on.
    fn result(&mut self, path: &Id, call: &Id, output: &str, code: Option<&str>) {
        if self.tracks.get(path).is_some_and(|track| track.calls.get(call) == Some(&Call::Ended)) {
            self.say_result(path, call, output, code);
        }
    }

    fn say_result(&mut self, path: &Id, call: &Id, output: &str, code: Option<&str>) {
        let Some(track) = self.tracks.get_mut(path) else { return };
        track.calls.insert(call.clone(), Call::Answered);
        let prefix = own_prefix(&self.prefix, self.leg, path);
        let own = call.as_str().strip_prefix(path.as_str()).unwrap_or(call.as_str()).trim_start_matches('/');
        self.out.push(Event::ToolCallResult {
            message_id: result_id(&prefix, own),
            tool_call_id: call.clone(),
            content: output.to_owned(),
            role: "tool",
            subagent_run_id: owner(path),
            metadata: code.map(|code| Metadata::new([(CALL, json!({"failed": true, "code": code}))])),
        });
    }

    fn unanswered(&self) -> impl Iterator<Item = (Id, Id)> {
        let calls = self.tracks.iter().flat_map(|(path, track)| {
            let open = track.calls.iter().filter(|(_, call)| **call == Call::Ended);
            open.map(move |(id, _)| (path.clone(), id.clone()))
        });
        calls.collect::<Vec<_>>().into_iter()
    }

    /// Something happens inside an agent that is called as a tool. False where that has ended.
    fn enter(&mut self, outer: &Id, inner: &Id, event: &RunEvent) -> bool {
        if let Some(track) = self.tracks.get(inner) {
            return !track.over;
        }
        if self.tracks.get(outer).is_none_or(|track| track.over) {
            return false;
        }
        let name = agent_of(event).unwrap_or("agent");
        let card = self.cards.agent(name);
        self.tracks.insert(inner.clone(), Track::default());
        self.out.push(Event::SubagentStarted {
            subagent_run_id: inner.clone(),
            name: name.into(),
            description: card.description.clone(),
            parent_subagent_run_id: owner(outer),
            parent_tool_call_id: Some(inner.clone()),
            metadata: Some(Metadata::new([(AGENT, card.to_json(name))])),
        });
        true
    }

    /// The call of an agent has its answer: whatever is open inside of it failed with it.
    fn leave(&mut self, call: &Id, code: Option<&str>, output: &str) {
        let inside = |path: &Id| {
            path == call || path.as_str().strip_prefix(call.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        let mut open: Vec<Id> = self
            .tracks
            .iter()
            .filter(|(path, track)| !track.over && path.as_str() != ROOT && inside(path))
            .map(|(path, _)| path.clone())
            .collect();
        open.sort_by_key(|path| std::cmp::Reverse(path.as_str().len()));
        for path in open {
            self.quiet(&path);
            self.close_calls(&path);
            let code = code.unwrap_or("run-stopped").to_owned();
            self.subagent_ends(&path, |id| Event::SubagentError {
                subagent_run_id: id,
                message: output.to_owned(),
                code: Some(code),
            });
        }
    }

    fn subagent_ends(&mut self, path: &Id, event: impl FnOnce(Id) -> Event) {
        self.close_calls(path);
        let unanswered: Vec<Id> = match self.tracks.get(path) {
            Some(track) => {
                track.calls.iter().filter(|(_, call)| **call == Call::Ended).map(|(id, _)| id.clone()).collect()
            }
            None => Vec::new(),
        };
        let event = event(path.clone());
        // A subagent that waits has calls that wait; one that is over has none.
        if !matches!(event, Event::SubagentFinished { outcome: SubagentOutcome::Suspended { .. }, .. }) {
            for call in unanswered {
                self.answer(path, &call, "Nothing came of it.", Some("tool-failed"));
            }
        }
        if let Some(track) = self.tracks.get_mut(path)
            && !std::mem::replace(&mut track.over, true)
        {
            self.out.push(event);
        }
    }

    fn close_calls(&mut self, path: &Id) {
        let open: Vec<Id> = match self.tracks.get(path) {
            Some(track) => {
                track.calls.iter().filter(|(_, call)| **call == Call::Open).map(|(id, _)| id.clone()).collect()
            }
            None => Vec::new(),
        };
        for call in open {
            self.ended(path, &call, None);
        }
    }

    /// Closes whatever is open, the innermost first. Calls only where the run comes to an orderly end: one that is closed may be taken for
    /// one that is complete.
    fn close(&mut self, interrupts: &[Interrupt], orderly: bool) {
        let mut open: Vec<Id> =
            self.tracks.iter().filter(|(_, track)| !track.over).map(|(path, _)| path.clone()).collect();
        open.sort_by(|one, other| other.as_str().len().cmp(&one.as_str().len()).then_with(|| one.cmp(other)));
        for path in open {
            self.quiet(&path);
            if path.as_str() == ROOT {
                if orderly {
                    self.close_calls(&path);
                }
                continue;
            }
            let within = |one: &&Interrupt| {
                one.subagent_run_id.as_ref().is_some_and(|own| own.as_str().starts_with(path.as_str()))
            };
            let waiting: Vec<Id> = interrupts.iter().filter(within).map(|one| one.id.clone()).collect();
            if !orderly {
                if let Some(track) = self.tracks.get_mut(&path) {
                    track.over = true;
                }
                continue;
            }
            match waiting.is_empty() {
                false => self.subagent_ends(&path, |id| Event::SubagentFinished {
                    subagent_run_id: id,
                    result: None,
                    outcome: SubagentOutcome::Suspended { interrupt_ids: waiting },
                }),
                true => self.subagent_ends(&path, |id| Event::SubagentError {
                    subagent_run_id: id,
                    message: "The run ended before it did.".into(),
                    code: Some("run-stopped".into()),
                }),
            }
        }
    }
}

/// A call inside a path.
fn inside(path: &Id, call: &str) -> Id {
    if path.as_str() == ROOT { call.into() } else { format!("{path}/{call}").into() }
}

/// Who events of a track belong to: a subagent has the name of the call that leads there.
fn owner(path: &Id) -> Option<Id> {
    (path.as_str() != ROOT).then(|| path.clone())
}

/// What the ids of a track's messages begin with.
fn own_prefix<'p>(prefix: &'p str, leg: u32, path: &Id) -> Cow<'p, str> {
    if path.as_str() == ROOT { prefix.into() } else { format!("{prefix}.{leg}/{path}").into() }
}

fn agent_of(event: &RunEvent) -> Option<&str> {
    match event {
        RunEvent::AgentStarted { agent }
        | RunEvent::TurnStarted { agent, .. }
        | RunEvent::Model { agent, .. }
        | RunEvent::ToolStarted { agent, .. }
        | RunEvent::ToolEnded { agent, .. } => Some(agent),
        _ => None,
    }
}

/// What only the provider can read of a thought.
fn enciphered(raw: &Raw) -> Option<&str> {
    ["encrypted_content", "signature", "data"].iter().find_map(|key| raw.value.get(key)?.as_str())
}

impl std::fmt::Debug for Translator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Translator").field("run", &self.run).finish_non_exhaustive()
    }
}
