//! One run for one page: what is asked for, what becomes of it, and what is kept. Whatever happens, the page hears how it ended, and what was
//! done is in the thread.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolmark_agents::run::Input;
use toolmark_agents::{RunError, RunErrorKind, RunOutcome, RunState, RunStream, Runner};
use toolmark_agui::history::Entry;
use toolmark_agui::input::RunAgentInput;
use toolmark_agui::{Event, Id, SharedState, Translator, history};
use toolmark_config::values::Name;
use toolmark_core::call::CallId;
use toolmark_core::display::Languages;
use toolmark_core::explain::Explain as _;
use toolmark_models::{Item, Role, Usage};
use toolmark_runtime::tools::RunContext;
use toolmark_store::Store;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use super::cards::GatewayCards;
use super::error::AguiError;
use super::models::Models;
use super::out::Out;
use super::reconcile::{self, New};
use super::thread::{self, SIGN, Thread, Waits};
use super::{answers, frontend};
use crate::agents::{self, MAX_TURNS};
use crate::gateway::Gateway;

/// How long a run waits for servers that are starting.
const PATIENCE: Duration = Duration::from_secs(30);

/// What one request asks for.
pub(super) struct Job {
    pub(super) gateway: Arc<Gateway>,
    pub(super) store: Store,
    pub(super) models: Arc<Models>,
    pub(super) agent: Name,
    pub(super) principal: Arc<str>,
    pub(super) input: RunAgentInput,
    pub(super) languages: Languages,
    /// Cancelled when the gateway ends.
    pub(super) stop: CancellationToken,
    /// What is told of it.
    pub(super) span: Span,
}

/// What is to be done.
enum Plan {
    /// A run begins; what was said before it and is not written yet comes along.
    Begin { said: Vec<Entry>, carried: Vec<Entry> },
    /// A run goes on.
    Resume(Box<Waits>),
    /// The run still waits, for a person or for the page.
    Wait(Box<Waits>),
    /// Everything was said; the client gets what it lacks.
    Show,
}

/// A run on its way, and what is kept of it.
struct Running {
    prefix: String,
    leg: u32,
    said: Vec<Entry>,
    carried: Vec<Entry>,
    brought: HashMap<CallId, Id>,
    /// What it went on from.
    from: Option<RunState>,
    state: SharedState,
    shared: bool,
}

impl Job {
    /// Does it, from the first event to the last.
    pub(super) async fn go(self, mut out: Out) {
        let key = thread::key(self.agent.as_str(), &self.principal, self.input.thread_id.as_str());
        // Before the thread is taken: a new one makes room for itself, and a request that is refused must not cost its caller another.
        let (cards, agent) = match self.prepare(&key).await {
            Ok(prepared) => prepared,
            Err(error) => return self.refuse(&mut out, &error).await,
        };
        let most = self.gateway.snapshot().config().agui.threads;
        let mut thread = match Thread::take(&self.store, key, &self.principal, most).await {
            Ok(thread) => thread,
            Err(error) => return self.refuse(&mut out, &error).await,
        };
        match self.plan(&mut thread).await {
            Ok((plan, new)) => self.carry_out(plan, &thread, &cards, &agent, &new, &mut out).await,
            Err(error) => {
                thread.leave_as_it_is().await;
                self.refuse(&mut out, &error).await;
            }
        }
    }

    fn translator<'c>(&self, prefix: &str, cards: &'c GatewayCards) -> Translator<'c> {
        let snapshot = self.gateway.snapshot();
        let settings = &snapshot.config().agui;
        Translator::new(self.input.thread_id.clone(), self.input.run_id.clone(), prefix, cards)
            .parent(self.input.parent_run_id.clone())
            .custom_events(settings.custom_events)
            .legacy_names(settings.tool_display_name)
    }

    async fn refuse(&self, out: &mut Out, error: &AguiError) {
        let plain = toolmark_agui::PlainCards;
        let mut translator = Translator::new(self.input.thread_id.clone(), self.input.run_id.clone(), "", &plain);
        let mut events = translator.begin();
        events.extend(translator.fail(&error.to_string(), error.code().as_str(), Usage::default()));
        out.send(events).await;
    }

    async fn prepare(&self, key: &str) -> Result<(GatewayCards, toolmark_agents::Agent), AguiError> {
        if self.store.session(key).await?.is_none() {
            self.begin(&[])?;
        }
        let _ = tokio::time::timeout(PATIENCE, self.gateway.settled()).await;
        let snapshot = self.gateway.snapshot();
        let config = snapshot.config();
        let tools = frontend::pack(&snapshot, &self.input.tools)?;
        let opening = self.models.for_run(&self.gateway, &snapshot, key);
        let built = agents::build_with(&self.gateway, config, &self.agent, &|text| opening.open(text), tools.as_ref())?;
        let (languages, names) = (self.languages.clone(), config.agui.names);
        let cards = GatewayCards::new(Arc::clone(&snapshot), built.all, languages, names, &self.principal).await?;
        frontend::check(&cards, &self.input.tools)?;
        Ok((cards, built.agent))
    }

    /// What to do in a thread in which nothing waits.
    fn begin(&self, entries: &[Entry]) -> Result<(Plan, New), AguiError> {
        let new = reconcile::compare(&self.input, &entries.iter().collect::<Vec<_>>())?;
        if !self.input.resume.is_empty() {
            return Err(AguiError::InterruptUnknown(self.answered()));
        }
        let said = new.said.clone();
        let answered = entries.iter().rev().find(|entry| !entry.hidden).map(|entry| is_answer(&entry.item));
        let plan = match (new.speaks(), answered) {
            (true, _) | (false, Some(false)) => Plan::Begin { said, carried: Vec::new() },
            (false, Some(true)) => Plan::Show,
            (false, None) => return Err(AguiError::NothingSaid),
        };
        Ok((plan, new))
    }

    async fn plan(&self, thread: &mut Thread) -> Result<(Plan, New), AguiError> {
        let Some(mut waits) = thread.waits.take() else { return self.begin(&thread.entries) };
        let own = history::entries(&waits.prefix, waits.state.items(), &waits.brought);
        let known: Vec<&Entry> = thread.entries.iter().chain(&waits.said).chain(&own).collect();
        let new = reconcile::compare(&self.input, &known)?;
        for call in waits.state.outside() {
            let id = Id::from(call.call_id.as_str());
            if let Some((message, text, failed)) = new.brought.get(&id)
                && waits.state.bring(&call.call_id, text.as_str(), *failed).is_ok()
            {
                waits.brought.insert(call.call_id.clone(), message.clone());
            }
        }
        let desk = self.gateway.desk();
        let pending: Vec<String> = waits.state.pending().iter().map(|one| one.run().to_string()).collect();
        let plan = match (pending.is_empty(), self.input.resume.is_empty(), new.speaks()) {
            // What was said comes after the answers, so that nobody answers something else than was asked.
            (false, _, true) => return Err(AguiError::InterruptsOpen(pending)),
            (false, false, false) => {
                answers::apply(desk, &mut waits.state, &self.input.resume, &self.principal).await?;
                Plan::Resume(Box::new(waits))
            }
            (false, true, false) if answers::all_decided(desk, &waits.state).await? => Plan::Resume(Box::new(waits)),
            (false, true, false) => Plan::Wait(Box::new(waits)),
            (true, false, _) => return Err(AguiError::InterruptUnknown(self.answered())),
            // The user goes on although the page brought nothing: the model hears that.
            (true, true, true) => {
                let left = history::entries(&waits.prefix, &waits.state.left_behind(), &waits.brought);
                let carried: Vec<Entry> = waits.said.into_iter().chain(left).collect();
                thread.entries.extend(carried.iter().cloned());
                Plan::Begin { said: new.said.clone(), carried }
            }
            (true, true, false) if waits.state.outside().is_empty() => Plan::Resume(Box::new(waits)),
            (true, true, false) => Plan::Wait(Box::new(waits)),
        };
        Ok((plan, new))
    }

    fn answered(&self) -> Vec<String> {
        self.input.resume.iter().map(|one| toolmark_core::text::visible(one.interrupt_id.as_str(), 200)).collect()
    }

    async fn carry_out(
        &self,
        plan: Plan,
        thread: &Thread,
        cards: &GatewayCards,
        agent: &toolmark_agents::Agent,
        new: &New,
        out: &mut Out,
    ) {
        match plan {
            Plan::Show => {
                thread.leave_as_it_is().await;
                let mut translator = self.translator("", cards);
                let mut events = translator.begin();
                events.push(Event::MessagesSnapshot { messages: history::messages(&thread.entries, cards) });
                events.extend(translator.succeed(None, &[]));
                out.send(events).await;
            }
            Plan::Wait(waits) => self.wait(*waits, thread, cards, out).await,
            Plan::Begin { said, carried } => {
                let prefix = Uuid::now_v7().simple().to_string();
                let input: Vec<Item> = said.iter().map(|entry| entry.item.clone()).collect();
                let running = self.running(prefix, 0, said, carried, HashMap::new(), None);
                let mut translator = self.translator(&running.prefix, cards).state(running.state.clone());
                let mut events = translator.begin();
                if !new.up_to_date {
                    let all = thread.entries.iter().chain(&running.said);
                    events.push(Event::MessagesSnapshot { messages: history::messages(all, cards) });
                }
                out.send(events).await;
                let begin = |runner: &Runner, context| runner.run_stream(agent, Input(input), context);
                self.drive(running, thread, cards, translator, begin, out).await;
            }
            Plan::Resume(waits) => {
                let Waits { state, prefix, leg, said, brought } = *waits;
                let running = self.running(prefix, leg, said, Vec::new(), brought, Some(state.clone()));
                let calls = calls_of(&state);
                out.know(calls.clone());
                let mut translator = self
                    .translator(&running.prefix, cards)
                    .resumed(history::turns(state.items()), leg, calls, state.usage())
                    .state(running.state.clone());
                let mut events = translator.begin();
                if !new.up_to_date {
                    let own = history::entries(&running.prefix, state.items(), &running.brought);
                    let all = thread.entries.iter().chain(&running.said).chain(&own);
                    events.push(Event::MessagesSnapshot { messages: history::messages(all, cards) });
                }
                out.send(events).await;
                let begin = |runner: &Runner, context| runner.resume_stream(agent, state, context);
                self.drive(running, thread, cards, translator, begin, out).await;
            }
        }
    }

    fn running(
        &self,
        prefix: String,
        leg: u32,
        said: Vec<Entry>,
        carried: Vec<Entry>,
        brought: HashMap<CallId, Id>,
        from: Option<RunState>,
    ) -> Running {
        let state = SharedState::new(self.input.state.clone().unwrap_or_default());
        Running { prefix, leg, said, carried, brought, from, state, shared: self.input.state.is_some() }
    }

    /// A run that goes on waiting.
    async fn wait(&self, waits: Waits, thread: &Thread, cards: &GatewayCards, out: &mut Out) {
        let known = calls_of(&waits.state);
        out.know(known);
        let mut translator = self.translator(&waits.prefix, cards);
        let own = history::entries(&waits.prefix, waits.state.items(), &waits.brought);
        let messages = history::messages(thread.entries.iter().chain(&waits.said).chain(&own), cards);
        let mut events = translator.begin();
        let interrupts = answers::interrupts(self.gateway.desk(), &waits.state, cards).await;
        let left = thread.leave(&[], Some(&waits)).await;
        match left.and(interrupts) {
            Ok(interrupts) if interrupts.is_empty() => {
                events.push(Event::MessagesSnapshot { messages });
                let pending: Vec<Id> =
                    waits.state.outside().iter().map(|call| Id::from(call.call_id.as_str())).collect();
                events.extend(translator.succeed(None, &pending));
            }
            Ok(interrupts) => {
                let before = vec![Event::MessagesSnapshot { messages }];
                events.extend(translator.interrupt(interrupts, before, Usage::default()));
            }
            Err(error) => {
                events.extend(translator.fail(&error.to_string(), error.code().as_str(), Usage::default()));
            }
        }
        out.send(events).await;
    }

    async fn drive(
        &self,
        running: Running,
        thread: &Thread,
        cards: &GatewayCards,
        mut translator: Translator<'_>,
        begin: impl FnOnce(&Runner, RunContext) -> RunStream,
        out: &mut Out,
    ) {
        let snapshot = self.gateway.snapshot();
        let (written, settings) = (snapshot.config().agents.get(&self.agent), &snapshot.config().agui);
        let turns = written.and_then(|agent| agent.max_turns).unwrap_or(MAX_TURNS);
        let stop = self.stop.child_token();
        let runner = Runner::new()
            .max_turns(turns)
            .caller(&self.principal)
            .session(Arc::new(thread.session()))
            .stopped_by(stop.clone());
        // In a task of its own: a run that holds the store for a moment must not wait for a page, nor for somebody who waits for the store.
        let (happens, mut happening) = mpsc::unbounded_channel();
        let mut stream = begin(&runner, RunContext::new().with(running.state.clone()));
        let run = async move {
            while let Some(event) = stream.next().await {
                // Whoever listens is there until the run is over.
                let _ = happens.send(event);
            }
            stream.outcome().await
        };
        let run = tokio::spawn(run.instrument(self.span.clone()));
        let (page, stalled) = out.watch();
        let mut sign = tokio::time::interval(SIGN);
        let late = tokio::time::sleep(settings.timeout);
        tokio::pin!(late);
        let (mut is_late, mut lost) = (false, false);
        loop {
            tokio::select! {
                event = happening.recv() => match event {
                    Some(event) => {
                        let mut events = translator.event(&event);
                        while let Ok(more) = happening.try_recv() {
                            events.extend(translator.event(&more));
                        }
                        out.send(events).await;
                    }
                    None => break,
                },
                () = page.closed(), if !stop.is_cancelled() => stop.cancel(),
                () = stalled.cancelled(), if !stop.is_cancelled() => stop.cancel(),
                () = &mut late, if !is_late => {
                    is_late = true;
                    stop.cancel();
                }
                _ = sign.tick() => {
                    if !lost && !thread.sign().await {
                        // Somebody thought that this process is gone: nothing that is said from now on would be kept.
                        lost = true;
                        stop.cancel();
                    }
                }
            }
        }
        let events = match run.await {
            Ok(outcome) => self.end(outcome, running, thread, cards, &mut translator, is_late).await,
            // It broke, and with it whatever it knew. The audit has its calls.
            Err(error) => {
                tracing::error!(%error, "a run of an agent broke");
                thread.leave_as_it_is().await;
                let error = AguiError::Broke;
                translator.fail(&error.to_string(), error.code().as_str(), Usage::default())
            }
        };
        out.send(events).await;
    }

    /// Writes down what is left of a run, and then says how it ended.
    async fn end(
        &self,
        outcome: Result<RunOutcome, RunError>,
        running: Running,
        thread: &Thread,
        cards: &GatewayCards,
        translator: &mut Translator<'_>,
        is_late: bool,
    ) -> Vec<Event> {
        let used = match &outcome {
            Ok(RunOutcome::Finished(result)) => result.usage(),
            Ok(RunOutcome::Interrupted(state)) => state.usage(),
            Err(error) => error.state().map(RunState::usage).unwrap_or_default(),
        };
        let ended = match outcome {
            Ok(RunOutcome::Finished(result)) => {
                self.models.forget(thread.key());
                let added = running.added(history::entries(&running.prefix, result.items(), &running.brought));
                let left = thread.leave(&added, None).await;
                left.map(|()| translator.succeed_using(Some(result.output()), &[], used))
            }
            Ok(RunOutcome::Interrupted(state)) => self.pause(*state, running, thread, cards, translator, used).await,
            Err(error) => self.broke(&error, &running, thread, translator, used, is_late).await,
        };
        ended.unwrap_or_else(|error| translator.fail(&error.to_string(), error.code().as_str(), used))
    }

    /// Keeps a run that waits.
    async fn pause(
        &self,
        state: RunState,
        running: Running,
        thread: &Thread,
        cards: &GatewayCards,
        translator: &mut Translator<'_>,
        used: Usage,
    ) -> Result<Vec<Event>, AguiError> {
        let interrupts = answers::interrupts(self.gateway.desk(), &state, cards).await?;
        let own = history::entries(&running.prefix, state.items(), &running.brought);
        let messages = history::messages(thread.entries.iter().chain(&running.said).chain(&own), cards);
        let pending: Vec<Id> = state.outside().iter().map(|call| Id::from(call.call_id.as_str())).collect();
        let Running { prefix, leg, said, carried, brought, state: shared, shared: is_shared, .. } = running;
        let waits = Waits { state, prefix, leg: leg.saturating_add(1), said, brought };
        thread.leave(&carried, Some(&waits)).await?;
        if interrupts.is_empty() {
            return Ok(translator.succeed_using(None, &pending, used));
        }
        let mut before = vec![Event::MessagesSnapshot { messages }];
        if is_shared {
            before.insert(0, Event::StateSnapshot { snapshot: shared.get() });
        }
        Ok(translator.interrupt(interrupts, before, used))
    }

    /// A run without an answer: what was done stays in the thread, so that the next run knows of it.
    async fn broke(
        &self,
        error: &RunError,
        running: &Running,
        thread: &Thread,
        translator: &mut Translator<'_>,
        used: Usage,
        is_late: bool,
    ) -> Result<Vec<Event>, AguiError> {
        match error.state() {
            // Nothing happened: what waits goes on waiting, and what was said can be said again.
            None => thread.leave_as_it_is().await,
            Some(state) if running.from.as_ref() == Some(state) => thread.leave_as_it_is().await,
            Some(state) => {
                self.models.forget(thread.key());
                let left = history::entries(&running.prefix, &state.left_behind(), &running.brought);
                thread.leave(&running.added(left), None).await?;
            }
        }
        let stopped = matches!(error.kind(), RunErrorKind::Stopped);
        Ok(match (stopped, is_late) {
            (true, true) => {
                let error = AguiError::Timeout;
                translator.fail(&error.to_string(), error.code().as_str(), used)
            }
            (true, false) => translator.cancel(&error.to_string(), error.code().as_str(), used),
            (false, _) => translator.fail(&error.to_string(), error.code().as_str(), used),
        })
    }
}

impl Running {
    /// Everything that is written when the run is over.
    fn added(&self, own: Vec<Entry>) -> Vec<Entry> {
        self.carried.iter().chain(&self.said).cloned().chain(own).collect()
    }
}

/// True for what a model says last.
fn is_answer(item: &Item) -> bool {
    matches!(item, Item::Message(message) if message.role == Role::Assistant)
}

/// The ids of the calls that a run has made, as clients know them.
fn calls_of(state: &RunState) -> Vec<Id> {
    let own = state.items().iter().filter_map(|item| match &item.item {
        Item::FunctionCall(call) => Some(Id::from(call.call_id.as_str())),
        Item::CustomCall(call) => Some(Id::from(call.call_id.as_str())),
        _ => None,
    });
    own.chain(state.pending().iter().map(answers::call_id)).collect()
}
