//! `GET /api/live`: everything as it happens, in bundles, so that a busy gateway costs a page no more than it can draw.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::Response;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;
use toolmark_core::approval::Ask;
use toolmark_core::time::Micros;
use toolmark_mcp::downstream::{Body, Changed};
use toolmark_runtime::approve::DeskEvent;
use toolmark_store::approvals::AskFilter;

use super::error::ConsoleError;
use super::look::Look;
use super::{Asked, Console, event, stream};
use crate::approvals::extras;
use crate::gateway::Gateway;
use crate::live::{Heard, Listener, LiveCall, LiveEvent};

/// How long events wait for more of them.
const BUNDLE: Duration = Duration::from_millis(50);
/// How often a quiet stream says that it is there.
const PERIOD: Duration = Duration::from_secs(15);
/// How often it is looked whether a pack came or went.
const PACKS: Duration = Duration::from_secs(1);
/// How many bundles wait for a slow page before events are left out.
const WAITING: usize = 8;
/// How many open questions a page is told of at once.
const OPEN: u32 = 1000;

impl Console {
    pub(super) async fn live(&self, asked: &Asked) -> Result<Response<Body>, ConsoleError> {
        let calls = asked.query.get("calls") != Some("0");
        let (sender, receiver) = mpsc::channel(WAITING);
        let desk = self.gateway.desk().map(toolmark_runtime::approve::Desk::events);
        let page = Page {
            gateway: Arc::clone(&self.gateway),
            look: asked.look.clone(),
            calls: calls.then(|| self.gateway.live().subscribe()),
            desk,
            changes: self.gateway.changes(),
            packs: Value::Null,
            sender,
            leaving: self.leaving.clone(),
        };
        // What is open is read after listening began, so that nothing falls in between.
        let hello = page.hello().await?;
        tokio::spawn(page.follow(hello));
        Ok(stream(Body::following(receiver, PERIOD)))
    }
}

/// One page that looks on.
struct Page {
    gateway: Arc<Gateway>,
    look: Look,
    calls: Option<Listener>,
    desk: Option<broadcast::Receiver<DeskEvent>>,
    changes: broadcast::Receiver<Changed>,
    /// What was last told about packs.
    packs: Value,
    sender: mpsc::Sender<Bytes>,
    leaving: CancellationToken,
}

/// What is heard next.
enum Next {
    Calls(Option<Heard>),
    Desk(Result<DeskEvent, RecvError>),
    Change(Result<Changed, RecvError>),
    Tick,
    Gone,
}

impl Page {
    /// Tells what happens until the page goes, or the gateway does.
    async fn follow(mut self, hello: Value) {
        self.packs = hello.get("packs").cloned().unwrap_or_default();
        if self.sender.send(event("hello", &hello.to_string())).await.is_err() {
            return;
        }
        let mut tick = tokio::time::interval(PACKS);
        loop {
            let next = tokio::select! {
                () = self.sender.closed() => Next::Gone,
                () = self.leaving.cancelled() => Next::Gone,
                heard = heard(&mut self.calls) => Next::Calls(heard),
                event = happened(&mut self.desk) => Next::Desk(event),
                change = self.changes.recv() => Next::Change(change),
                _ = tick.tick() => Next::Tick,
            };
            let bundle = match next {
                Next::Gone | Next::Calls(None) => return,
                Next::Calls(Some(first)) => self.bundle(first).await,
                Next::Desk(Ok(DeskEvent::Asked(ask))) => self.question("asked", &ask),
                Next::Desk(Ok(DeskEvent::Settled(ask))) => self.question("settled", &ask),
                // Too slow for all of it: begin again with what is open.
                Next::Desk(Err(RecvError::Lagged(_))) => match self.hello().await {
                    Ok(hello) => event("hello", &hello.to_string()),
                    Err(_) => continue,
                },
                Next::Desk(Err(RecvError::Closed)) => {
                    self.desk = None;
                    continue;
                }
                Next::Change(Ok(Changed::Tools) | Err(RecvError::Lagged(_))) => self.catalog(),
                Next::Change(Ok(_)) => continue,
                Next::Change(Err(RecvError::Closed)) => return,
                Next::Tick => match self.packs() {
                    Some(packs) => packs,
                    None => continue,
                },
            };
            if self.sender.send(bundle).await.is_err() {
                return;
            }
        }
    }

    /// How things stand.
    async fn hello(&self) -> Result<Value, ConsoleError> {
        let mut pending = Vec::new();
        if let (Some(store), Some(_)) = (self.gateway.store(), &self.desk) {
            let filter = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
            pending = store.asks(&filter, None, OPEN).await?;
        }
        let running = match &self.calls {
            Some(_) => self.gateway.live().running(),
            None => Vec::new(),
        };
        let packs: Vec<Value> = self.gateway.packs().iter().map(|pack| self.look.standing(pack)).collect();
        Ok(json!({
            "time": Micros::from(std::time::SystemTime::now()).to_string(),
            "seq": self.gateway.live().seq(),
            "packs": packs,
            "pending": pending.iter().map(|ask| extras::ask(ask, &self.look)).collect::<Vec<_>>(),
            "running": running.iter().map(|call| begun(call, &self.look)).collect::<Vec<_>>(),
        }))
    }

    /// What happens within a moment, as one piece. A call that begins and ends within it is told once.
    async fn bundle(&mut self, first: Heard) -> Bytes {
        tokio::time::sleep(BUNDLE).await;
        let (mut ended, mut started, mut missed) = (Vec::new(), Vec::new(), 0);
        let mut next = Some(first);
        while let Some(heard) = next {
            match heard {
                Heard::Missed(count) => missed += count,
                Heard::Event(LiveEvent::Begun(call)) => started.push(call),
                Heard::Event(LiveEvent::Ended(call)) => ended.push(call),
            }
            next = self.calls.as_mut().and_then(Listener::waiting);
        }
        let over: std::collections::HashSet<_> = ended.iter().map(|call| call.id).collect();
        let mut out = BytesMut::new();
        if missed > 0 {
            out.put_slice(&event("missed", &json!({ "calls": missed }).to_string()));
        }
        for call in started.iter().filter(|call| !over.contains(&call.id)) {
            out.put_slice(&event("begun", &begun(call, &self.look).to_string()));
        }
        for call in &ended {
            // Written once for all pages, but for the name.
            let rest = call.json().strip_prefix('{').unwrap_or("}");
            out.put_slice(b"event: call\ndata: {\"shown\":");
            out.put_slice(shown(call, &self.look).to_string().as_bytes());
            out.put_u8(b',');
            out.put_slice(rest.as_bytes());
            out.put_slice(b"\n\n");
        }
        out.freeze()
    }

    fn question(&mut self, name: &str, ask: &Ask) -> Bytes {
        event(name, &extras::ask(ask, &self.look).to_string())
    }

    /// Other tools: names are those of the new snapshot from now on.
    fn catalog(&mut self) -> Bytes {
        self.look = self.look.at(self.gateway.snapshot());
        let tools = self.look.snapshot.workspace().catalog().len();
        let version = super::catalog::version(&self.look);
        event("catalog", &json!({"version": version, "tools": tools}).to_string())
    }

    /// How packs stand, if they stand otherwise than was told.
    fn packs(&mut self) -> Option<Bytes> {
        let packs: Value = self.gateway.packs().iter().map(|pack| self.look.standing(pack)).collect();
        if packs == self.packs {
            return None;
        }
        let told = event("packs", &json!({ "packs": packs }).to_string());
        self.packs = packs;
        Some(told)
    }
}

async fn heard(calls: &mut Option<Listener>) -> Option<Heard> {
    match calls {
        Some(calls) => calls.next().await,
        None => std::future::pending().await,
    }
}

async fn happened(desk: &mut Option<broadcast::Receiver<DeskEvent>>) -> Result<DeskEvent, RecvError> {
    match desk {
        Some(desk) => desk.recv().await,
        None => std::future::pending().await,
    }
}

fn shown(call: &LiveCall, look: &Look) -> Value {
    call.tool.as_ref().map_or(Value::Null, |tool| look.canonical(&tool.canonical))
}

/// A call that has not ended.
fn begun(call: &LiveCall, look: &Look) -> Value {
    let judged = call.judged.as_ref();
    json!({
        "id": call.id.to_string(),
        "time": call.began.to_string(),
        "time_us": call.began.get(),
        "caller": &*call.caller,
        "called": &*call.called,
        "tool": call.tool.as_ref().map(|tool| &*tool.canonical),
        "shown": shown(call, look),
        "behavior": judged.and_then(|judged| judged.behavior.as_deref()),
        "verdict": judged.map(|judged| judged.verdict.as_str()),
        "arguments": {"text": call.arguments.text.as_deref(), "cut": call.arguments.cut, "size": call.arguments.size},
        "state": if judged.is_some_and(|judged| judged.decided == "ask") { "asking" } else { "running" },
    })
}
