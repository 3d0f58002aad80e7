//! Does what the machine says: asks models, makes calls, hands over. Everything that decides is in the machine.

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::Value;
use toolmark_core::schema::check::InputSchema;
use toolmark_core::text::visible;
use toolmark_models::error::ModelErrorKind;
use toolmark_models::{
    FunctionCall, Item, Model, ModelError, ModelEvent, ModelRequest, ModelResponse, Output, Part, Raw, Role, Usage,
};
use toolmark_runtime::tools::{self, RunContext, TurnContext};
use tracing::{Instrument as _, Span};

use super::approve::Instead;
use super::calls::{Making, With, make};
use super::error::{RunError, RunErrorKind};
use super::event::{RunEvent, Sink};
use super::machine::{Effect, Ended, Machine};
use super::nest::Nest;
use super::request::{Prepared, Written};
use super::result::{RunOutcome, RunResult};
use super::runner::Runner;
use super::trace;
use crate::agent::Agent;
use crate::graph::Graph;
use crate::guardrail::Checked;
use crate::handoff::{HandedOver, Handoff};
use crate::hooks::Hooks;
use crate::host;

/// One run on its way.
pub(super) struct Driver {
    runner: Runner,
    graph: Graph,
    machine: Machine,
    context: RunContext,
    sink: Sink,
    nest: Nest,
    written: Written,
    prepared: Option<Prepared>,
    /// The agent that was last said to have begun.
    started: Option<String>,
    /// The tool that was called last, and how often in a row.
    row: (String, u32),
    /// The turn that is under way, for whoever traces.
    turn: Span,
}

impl Driver {
    pub(super) fn new(runner: &Runner, graph: Graph, machine: Machine, context: RunContext, sink: Sink) -> Self {
        let nest = Nest::new(runner.clone(), sink.clone());
        Self {
            runner: runner.clone(),
            graph,
            machine,
            context: context.with(nest.clone()),
            sink,
            nest,
            written: Written::default(),
            prepared: None,
            started: None,
            row: (String::new(), 0),
            turn: Span::none(),
        }
    }

    pub(super) async fn drive(mut self) -> Result<RunOutcome, RunError> {
        let span = trace::run(self.machine.state().agent(), self.machine.state());
        let gone = self.go().instrument(span.clone()).await;
        self.turn = Span::none();
        let ended = gone.as_ref().map(Option::is_some);
        trace::ran(&span, self.machine.state(), ended);
        match gone {
            Ok(Some((output, value))) => {
                self.sink.say(|| RunEvent::Finished { output: output.clone() });
                let state = self.machine.into_state();
                Ok(RunOutcome::Finished(Box::new(RunResult { output, value, state })))
            }
            Ok(None) => {
                let state = self.machine.into_state();
                for pending in state.pending() {
                    self.sink.say(|| RunEvent::ApprovalNeeded(Box::new(pending)));
                }
                Ok(RunOutcome::Interrupted(Box::new(state)))
            }
            Err(kind) => Err(RunError::new(kind, Some(self.machine.into_state()))),
        }
    }

    /// Goes on until there is an answer, or until somebody must decide something.
    async fn go(&mut self) -> Result<Option<(String, Option<Value>)>, RunErrorKind> {
        loop {
            let next = self.machine.next(self.runner.max_turns)?;
            if self.runner.stop.is_cancelled() && matches!(next, Effect::Ask | Effect::Call(_) | Effect::HandOver(_)) {
                return Err(RunErrorKind::Stopped);
            }
            match next {
                Effect::Ask => self.ask().await?,
                Effect::Call(calls) => self.call(calls).await?,
                Effect::HandOver(at) => self.hand_over(at).await?,
                Effect::Settle => {
                    let agent = self.agent()?;
                    match agent.0.stop.answer(&self.machine.results()) {
                        Some(answer) => return self.finish(answer, false).await.map(Some),
                        None => self.machine.settle(),
                    }
                }
                Effect::Finish(text) => return self.finish(text, true).await.map(Some),
                Effect::Interrupt => return Ok(None),
            }
        }
    }

    fn agent(&self) -> Result<Agent, RunErrorKind> {
        let name = self.machine.state().agent();
        self.graph.agent(name).cloned().ok_or_else(|| RunErrorKind::AgentGone(visible(name, 200)))
    }

    fn turn_context(&self, agent: &Agent) -> TurnContext {
        let state = self.machine.state();
        let used = state.usage();
        let usage = tools::Usage {
            requests: used.requests,
            input_tokens: used.input_tokens,
            output_tokens: used.output_tokens,
        };
        let context = match agent.has_servers() {
            true => self.context.clone().with(self.machine.heard()),
            false => self.context.clone(),
        };
        let mut turn = TurnContext::new(agent.name(), context).turn(state.turns().max(1), usage);
        if let Some(caller) = &self.runner.caller {
            turn = turn.caller(caller);
        }
        if let Some(session) = &self.runner.session {
            turn = turn.session(session.id());
        }
        match agent.0.task.as_ref().or(self.runner.task.as_ref()) {
            Some(task) => turn.task(task.clone()),
            None => turn,
        }
    }

    /// The turn as those who trace see it; a run that was taken up is in the middle of one.
    fn turn_span(&mut self, agent: &Agent) -> Span {
        if self.turn.is_none() {
            self.turn = trace::turn(agent.name(), self.machine.state().turns());
        }
        self.turn.clone()
    }

    /// Those who hear about what an agent does.
    fn hooks(&self, agent: &Agent) -> Vec<Arc<dyn Hooks>> {
        self.runner.hooks.iter().chain(&agent.0.hooks).cloned().collect()
    }

    async fn ask(&mut self) -> Result<(), RunErrorKind> {
        let agent = self.agent()?;
        let model = self.runner.models.find(agent.name(), &agent.0.model)?;
        let context = self.turn_context(&agent);
        self.begin(&agent, &context).await?;
        let turn = agent.0.toolbox.turn(context.clone()).await?;
        let prepared = Prepared::new(&agent, turn).await?;
        let forget = self.machine.state().called.contains(agent.name());
        self.written.write(&agent, &self.graph, &prepared, forget);
        let mut request = std::mem::take(&mut self.written.request);
        request.instructions = agent.0.instructions.of(&context).await;
        let hooks = self.hooks(&agent);
        for hooks in &hooks {
            hooks.model_asked(&context).await;
        }
        let mut input = self.machine.ask();
        let turn = self.machine.state().turns();
        self.sink.say(|| RunEvent::TurnStarted { agent: agent.name().to_owned(), turn });
        self.turn = trace::turn(agent.name(), turn);
        let previous = self.machine.state().previous.clone();
        let conversation = self.machine.state().conversation.clone();
        request.previous_response_id = previous.as_ref().map(|previous| previous.id.clone());
        request.conversation_id = conversation.as_ref().map(|conversation| conversation.id.clone());
        let known = conversation.or(previous).map_or(0, |kept| kept.known);
        request.input = input.split_off(known.min(input.len()));
        let span = trace::chat(&self.turn, &*model, self.sink.is_watched());
        let answer = tokio::select! {
            biased;
            answer = self.respond(&*model, &request, agent.name()).instrument(span.clone()) => {
                trace::chatted(&span, &self.runner, &answer);
                answer.map_err(RunErrorKind::from)
            }
            () = self.runner.stop.cancelled() => Err(RunErrorKind::Stopped),
        };
        drop(span);
        input.append(&mut request.input);
        self.machine.give_back(input);
        self.written.request = request;
        let response = answer?;
        for hooks in &hooks {
            hooks.model_answered(&context, &response).await;
        }
        self.machine.answered(response, |call| prepared.handoff(call).is_some(), |raw| agent.hosts(raw))?;
        // What the provider asks about may have been unknown until now: then the turn is opened anew.
        self.prepared = Some(prepared).filter(|_| !self.machine.has_requests());
        Ok(())
    }

    /// An agent takes over: those who listen hear of it, and what the run begins with is checked.
    async fn begin(&mut self, agent: &Agent, context: &TurnContext) -> Result<(), RunErrorKind> {
        if self.started.as_deref() != Some(agent.name()) {
            self.sink.say(|| RunEvent::AgentStarted { agent: agent.name().to_owned() });
            for hooks in self.hooks(agent) {
                hooks.agent_started(context).await;
            }
            self.started = Some(agent.name().to_owned());
        }
        if !self.machine.state().checked {
            let said: Arc<[Item]> = self.machine.state().said.clone().into();
            for check in &agent.0.input_checks {
                if let Checked::Stop(message) = check.check(context, Arc::clone(&said)).await {
                    return Err(stopped(check.name(), &message));
                }
            }
            self.machine.checked();
        }
        Ok(())
    }

    async fn respond(
        &self,
        model: &dyn Model,
        request: &ModelRequest,
        agent: &str,
    ) -> Result<ModelResponse, ModelError> {
        if !self.sink.is_watched() {
            return model.respond(request).await;
        }
        let mut stream = model.stream(request).await?;
        while let Some(event) = stream.next().await {
            let event = event?;
            if let ModelEvent::Completed(response) = event {
                return Ok(*response);
            }
            self.sink.say(|| RunEvent::Model { agent: agent.to_owned(), event });
        }
        Err(ModelError::new(model.name(), ModelErrorKind::Truncated))
    }

    /// The turn that calls are made in; made again where the run was taken up.
    async fn prepare(&mut self, agent: &Agent) -> Result<Prepared, RunErrorKind> {
        match self.prepared.take() {
            Some(prepared) => Ok(prepared),
            None => {
                let context = self.turn_context(agent);
                Prepared::new(agent, agent.0.toolbox.turn(context).await?).await
            }
        }
    }

    async fn call(&mut self, calls: Vec<usize>) -> Result<(), RunErrorKind> {
        let agent = self.agent()?;
        let prepared = self.prepare(&agent).await?;
        let with = Arc::new(With {
            runner: self.runner.clone(),
            sink: self.sink.clone(),
            nest: self.nest.clone(),
            hooks: self.hooks(&agent),
            handoffs: prepared.handoff_names(),
        });
        let mut making = Vec::with_capacity(calls.len());
        for at in calls {
            let Some(call) = self.machine.call(at).cloned() else { continue };
            let found = prepared.turn.find(&call.name, call.namespace.as_deref()).ok();
            let definition = found.map(|(own, _)| own.definition().digest().to_string());
            let mut said = self.machine.said(at, definition.as_deref())?;
            said.instead = self.machine.hosted(at).and_then(|raw| instead(&agent, prepared.turn.context(), raw));
            if let Some(run) = self.machine.inside(at) {
                self.nest.leave(&call.call_id, run.clone());
            }
            self.row = match std::mem::take(&mut self.row) {
                (name, count) if name == call.name => (name, count.saturating_add(1)),
                _ => (call.name.clone(), 1),
            };
            let (turn, with) = (prepared.turn.clone(), Arc::clone(&with));
            let in_order = self.machine.hosted(at).is_some();
            let span = trace::call(&self.turn_span(&agent), &self.runner, &turn, &call);
            making.push(Making { at, call, said, attempt: self.row.1, in_order, turn, with, span });
        }
        let made = make(making, self.runner.concurrency.map(std::num::NonZeroUsize::get)).await;
        // Everything that was done is kept before anything that went wrong ends the run; of several, the first called counts.
        let mut raised: Option<(usize, RunErrorKind)> = None;
        for one in made {
            if let Some(error) = one.raised
                && raised.as_ref().is_none_or(|(first, _)| one.at < *first)
            {
                raised = Some((one.at, error));
            }
            self.machine.called(one.at, one.ended);
        }
        self.count();
        self.prepared = Some(prepared);
        raised.map_or(Ok(()), |(_, error)| Err(error))
    }

    fn count(&mut self) {
        let used = self.nest.counted();
        if used != Usage::default() {
            self.machine.used(used);
        }
    }

    async fn hand_over(&mut self, at: usize) -> Result<(), RunErrorKind> {
        let agent = self.agent()?;
        let prepared = self.prepare(&agent).await?;
        let call = self.machine.call(at).cloned();
        let found = call.as_ref().and_then(|call| Some((call, prepared.handoff(call)?.clone())));
        let Some((call, handoff)) = found else {
            // The run was taken up, and the handoff is not offered any more.
            let text = "Nothing was handed over: this handoff is not offered any more.";
            self.answer(at, text.into(), Some("unknown-tool"));
            self.prepared = Some(prepared);
            return Ok(());
        };
        let input = match read(&handoff, &call.arguments) {
            Ok(input) => input,
            Err(problem) => {
                let text = format!("Nothing was handed over: {problem}.");
                self.answer(at, text, Some("invalid-arguments"));
                self.prepared = Some(prepared);
                return Ok(());
            }
        };
        let Some(to) = self.graph.target(&handoff).cloned() else {
            return Err(RunErrorKind::AgentGone(visible(handoff.agent(), 200)));
        };
        // What the provider keeps it shows to the next agent, whatever the filter says.
        if handoff.filter.is_some() && self.machine.state().conversation.is_some() {
            return Err(RunErrorKind::ConversationHandoff(visible(to.name(), 200)));
        }
        let turn = prepared.turn.context().clone();
        let _span = trace::handoff(&self.turn_span(&agent), agent.name(), to.name());
        if let Some(heard) = &handoff.on_handoff {
            heard(HandedOver { turn: turn.clone(), to: to.name().to_owned(), input }).await;
        }
        for hooks in self.hooks(&agent) {
            hooks.handed_over(&turn, to.name()).await;
        }
        // What the next agent may not read, or another model never heard, the provider must not go on from.
        let model =
            |agent: &Agent| self.runner.models.find(agent.name(), &agent.0.model).map(|model| model.name().clone());
        if handoff.filter.is_some() || model(&agent).ok() != model(&to).ok() {
            self.machine.starts_anew();
        }
        let (from, to) = (agent.name().to_owned(), to.name().to_owned());
        self.answer(at, serde_json::json!({ "assistant": to }).to_string(), None);
        for (call, text) in self.machine.ignored() {
            self.say_ended(call, text, None);
        }
        self.machine.hand_over(at, &to, |items| match &handoff.filter {
            Some(filter) => filter(items),
            None => items,
        });
        self.sink.say(|| RunEvent::HandedOver { from, to });
        Ok(())
    }

    /// Answers a call that no tool ran for.
    fn answer(&mut self, at: usize, text: String, code: Option<&'static str>) {
        if let Some(call) = self.machine.call(at) {
            self.say_ended(call, &text, code);
        }
        self.machine.called(at, Ended::Answered { output: Output::Text(text), code });
    }

    fn say_ended(&self, call: &FunctionCall, text: &str, code: Option<&'static str>) {
        self.sink.say(|| RunEvent::ToolEnded {
            agent: self.machine.state().agent().to_owned(),
            call_id: call.call_id.clone(),
            name: call.name.clone(),
            output: text.to_owned(),
            code,
        });
    }

    /// Looks at a final answer. One that a tool gave does not have to have the shape of the model's.
    async fn finish(&mut self, text: String, of_model: bool) -> Result<(String, Option<Value>), RunErrorKind> {
        let agent = self.agent()?;
        let looked = self.look(&agent, &text, of_model).await;
        let (output, value) = match looked {
            Ok(looked) => looked,
            Err(error) => {
                if of_model {
                    self.machine.refuse();
                }
                return Err(error);
            }
        };
        let context = self.turn_context(&agent);
        for hooks in self.hooks(&agent) {
            hooks.agent_ended(&context, &output).await;
        }
        self.machine.finish(output.clone());
        if let Some(session) = &self.runner.session {
            let state = self.machine.state();
            let said = state.said.iter().cloned();
            let all = said.chain(state.items.iter().map(|item| item.item.clone())).collect();
            if let Some(own) = &state.session {
                session.finish(own.run, all).await?;
            }
        }
        Ok((output, value))
    }

    async fn look(&self, agent: &Agent, text: &str, of_model: bool) -> Result<(String, Option<Value>), RunErrorKind> {
        if of_model && text.is_empty() {
            let refusal = self.refusal();
            if !refusal.is_empty() {
                return Err(RunErrorKind::Refused(visible(&refusal, 1000)));
            }
        }
        let value = match agent.0.output.as_ref().filter(|_| of_model) {
            None => None,
            Some(shape) => Some(shape.read(text).map_err(|problem| RunErrorKind::Output {
                shape: visible(&shape.schema.name, 200),
                problem: visible(&problem, 400),
            })?),
        };
        let output = value.as_ref().map_or_else(|| text.to_owned(), Value::to_string);
        let context = self.turn_context(agent);
        for check in &agent.0.output_checks {
            if let Checked::Stop(message) = check.check(&context, output.clone()).await {
                return Err(stopped(check.name(), &message));
            }
        }
        Ok((output, value))
    }

    /// What the model said last instead of an answer.
    fn refusal(&self) -> String {
        let last = self.machine.state().items.iter().rev().map_while(|item| match &item.item {
            Item::Message(message) if message.role == Role::Assistant => Some(message),
            _ => None,
        });
        let parts = last.flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Refusal { text } => Some(text.as_str()),
            _ => None,
        });
        parts.collect()
    }
}

/// Who answers what the provider asks about one of its own servers.
fn instead(agent: &Agent, turn: &TurnContext, raw: &Raw) -> Option<Instead> {
    let request = host::request(raw).filter(|_| host::is_request(raw))?;
    let answers = Arc::clone(agent.0.mcp.get(&request.server_label)?);
    Some(Instead { answers, turn: turn.clone(), request, refused: Arc::default() })
}

fn stopped(check: &str, message: &str) -> RunErrorKind {
    RunErrorKind::Check { check: visible(check, 200), message: visible(message, 1000) }
}

/// What the model said when it handed over.
fn read(handoff: &Handoff, arguments: &str) -> Result<Value, String> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    let Some(schema) = &handoff.input else {
        return Ok(serde_json::from_str(text).unwrap_or(Value::Null));
    };
    let value: Value = serde_json::from_str(text).map_err(|error| format!("its arguments cannot be read: {error}"))?;
    let compiled = InputSchema::compile(schema).map_err(|error| error.to_string())?;
    match compiled.check(&value) {
        Ok(()) => Ok(value),
        Err(error) => Err(error.to_string()),
    }
}
