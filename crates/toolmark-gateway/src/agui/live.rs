//! The calls of the gateway as they happen, in the events that runs have: one run without an end, in which everybody calls.

use std::collections::HashSet;

use bytes::Bytes;
use http::{HeaderMap, Response};
use serde_json::json;
use tokio::sync::mpsc;
use toolmark_agui::{CALL, Event, Guard, Id, Metadata, Outcome, PROTOCOL_VERSION, TOOL, sse};
use toolmark_core::display::Languages;
use toolmark_mcp::downstream::Body;
use uuid::Uuid;

use super::{Agui, WAITING, languages, stream};
use crate::console::look;
use crate::identity;
use crate::live::{Heard, Listener, LiveCall, LiveEvent};
use crate::snapshot::Snapshot;
use crate::view::ViewName;

/// What the stream calls itself.
const THREAD: &str = "live";

impl Agui {
    /// Shows calls until the page goes, or the gateway ends.
    pub(super) fn live(&self, headers: &HeaderMap) -> Response<Body> {
        let (languages, _) = languages(headers, None);
        let spoken = look::best(&self.gateway.snapshot(), &languages);
        let (sender, receiver) = mpsc::channel::<Bytes>(WAITING);
        let (gateway, stop, listener) = (self.gateway.clone(), self.stop.clone(), self.gateway.live().subscribe());
        self.tasks.spawn(async move {
            let mut watching = Watching::new(languages);
            let mut listener = listener;
            let mut frames = watching.begin();
            loop {
                if !frames.is_empty() && sender.send(Bytes::from(std::mem::take(&mut frames))).await.is_err() {
                    return;
                }
                tokio::select! {
                    () = sender.closed() => return,
                    () = stop.cancelled() => break,
                    heard = listener.next() => match heard {
                        Some(heard) => watching.all(&gateway.snapshot(), heard, &mut listener, &mut frames),
                        None => break,
                    },
                }
            }
            watching.end(&mut frames);
            let _ = sender.send(Bytes::from(frames)).await;
        });
        stream(receiver, &spoken)
    }
}

/// One page that looks on.
struct Watching {
    run: Id,
    languages: Languages,
    guard: Guard,
    /// Calls whose beginning was told.
    open: HashSet<Uuid>,
}

impl Watching {
    fn new(languages: Languages) -> Self {
        Self { run: Uuid::now_v7().to_string().into(), languages, guard: Guard::new(), open: HashSet::new() }
    }

    fn begin(&mut self) -> Vec<u8> {
        let mut frames = Vec::new();
        let started = Event::RunStarted {
            thread_id: THREAD.into(),
            run_id: self.run.clone(),
            protocol_version: PROTOCOL_VERSION,
            parent_run_id: None,
            metadata: None,
        };
        self.say(&started, &mut frames);
        frames
    }

    fn end(&mut self, frames: &mut Vec<u8>) {
        let finished = Event::RunFinished {
            thread_id: THREAD.into(),
            run_id: self.run.clone(),
            result: None,
            outcome: Outcome::Cancelled,
            usage: Vec::new(),
            metadata: None,
        };
        self.say(&finished, frames);
    }

    /// What was heard, and whatever else has happened by now.
    fn all(&mut self, snapshot: &Snapshot, first: Heard, listener: &mut Listener, frames: &mut Vec<u8>) {
        let mut next = Some(first);
        while let Some(heard) = next {
            match heard {
                Heard::Event(LiveEvent::Begun(call)) => self.begun(snapshot, &call, frames),
                Heard::Event(LiveEvent::Ended(call)) => self.ended(snapshot, &call, frames),
                Heard::Missed(missed) => {
                    let value = json!({ "missed": missed });
                    self.say(&Event::Custom { name: "dev.toolmark/missed", value, subagent_run_id: None }, frames);
                }
            }
            next = (frames.len() < 64 << 10).then(|| listener.waiting()).flatten();
        }
    }

    fn begun(&mut self, snapshot: &Snapshot, call: &LiveCall, frames: &mut Vec<u8>) {
        // A call comes again when a person wrote other arguments for it.
        if !self.open.insert(call.id) {
            return;
        }
        let tool = call.tool.as_ref().and_then(|tool| {
            let found = snapshot.workspace().catalog().find(&tool.canonical, |_| true).ok()?;
            (found.canonical().as_str() == &*tool.canonical).then_some(found)
        });
        let view = snapshot.view(&ViewName::default()).ok();
        let name = tool.and_then(|tool| view.as_ref()?.name_of(tool).map(Id::from));
        let card = match tool {
            Some(tool) => identity::card(snapshot, tool, &self.languages, snapshot.config().agui.names),
            None => json!({"id": call.tool.as_ref().map_or(&*call.called, |tool| &*tool.canonical)}),
        };
        let mut about = json!({"caller": &*call.caller});
        if let (Some(all), Some(task)) = (about.as_object_mut(), &call.task) {
            all.insert("task".into(), (&**task).into());
        }
        let id: Id = call.id.to_string().into();
        self.say(
            &Event::ToolCallStart {
                tool_call_id: id.clone(),
                tool_call_name: name.unwrap_or_else(|| (&*call.called).into()),
                parent_message_id: None,
                subagent_run_id: None,
                metadata: Some(Metadata::new([(TOOL, card), (CALL, about)])),
                tool_display_name: None,
                tool_description: None,
            },
            frames,
        );
        if let Some(text) = &call.arguments.text {
            let (tool_call_id, delta) = (id.clone(), text.to_string());
            self.say(&Event::ToolCallArgs { tool_call_id, delta, subagent_run_id: None }, frames);
        }
        self.say(&Event::ToolCallEnd { tool_call_id: id, subagent_run_id: None }, frames);
    }

    fn ended(&mut self, snapshot: &Snapshot, call: &LiveCall, frames: &mut Vec<u8>) {
        self.begun(snapshot, call, frames);
        self.open.remove(&call.id);
        let id: Id = call.id.to_string().into();
        let outcome = call.outcome.unwrap_or("unknown");
        let mut about = json!({"caller": &*call.caller, "outcome": outcome});
        if let Some(all) = about.as_object_mut() {
            all.extend(call.code.as_ref().map(|code| ("code".to_owned(), (&**code).into())));
            all.extend(call.judged.as_ref().map(|judged| ("verdict".to_owned(), judged.verdict.as_str().into())));
            all.extend(call.result_size.map(|size| ("resultBytes".to_owned(), size.into())));
        }
        self.say(
            &Event::ToolCallResult {
                message_id: format!("{id}-result").into(),
                tool_call_id: id.clone(),
                // What tools bring is for those who called them.
                content: outcome.to_owned(),
                role: "tool",
                subagent_run_id: None,
                metadata: Some(Metadata::new([(CALL, about)])),
            },
            frames,
        );
        self.guard.forget(&id);
    }

    fn say(&mut self, event: &Event, frames: &mut Vec<u8>) {
        match self.guard.check(event) {
            Ok(()) => sse::write(event, None, frames),
            Err(error) => tracing::error!(%error, "an event of a call is left out"),
        }
    }
}
