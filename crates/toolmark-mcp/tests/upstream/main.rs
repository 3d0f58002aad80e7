//! Upstreams against real peers: programs, HTTP servers that say exactly what a test wants, and servers made with rmcp.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

mod http;
mod rmcp;
mod stdio;
mod tls;

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;
use toolmark_mcp::upstream::{
    Answer, CallObserver, CallerKey, ConnectOptions, EventSender, Question, Reply, Target, Upstream, UpstreamError,
    UpstreamEvent, UpstreamRequest,
};
use toolmark_mcp::wire::{Limits, RawObject};

/// An observer that writes down what it hears and agrees to everything.
#[derive(Default)]
struct Listener {
    heard: Mutex<Vec<String>>,
    caller: Option<&'static str>,
}

impl Listener {
    fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("a lock").clone()
    }

    fn note(&self, what: &str, params: &[u8]) {
        self.heard.lock().expect("a lock").push(format!("{what} {}", String::from_utf8_lossy(params)));
    }
}

impl CallObserver for Listener {
    fn progress(&self, params: Bytes) {
        self.note("progress", &params);
    }

    fn message(&self, params: Bytes) {
        self.note("message", &params);
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Answer> {
        self.note("ask", question.method.as_bytes());
        Box::pin(async { Answer::Result(Bytes::from_static(br#"{"action":"accept","content":{"name":"Ada"}}"#)) })
    }

    fn caller(&self) -> Option<CallerKey> {
        self.caller.map(|caller| CallerKey::of(&[caller.as_bytes()]))
    }
}

fn object(text: &str) -> RawObject {
    RawObject::read(Bytes::copy_from_slice(text.as_bytes()), Limits::default()).expect(text)
}

fn call(params: &str) -> UpstreamRequest<'static> {
    UpstreamRequest::new("tools/call", object(params))
}

fn parsed(reply: Result<Reply, UpstreamError>) -> Value {
    match reply {
        Ok(Reply::Result(result)) => serde_json::from_slice(result.raw()).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

fn options() -> ConnectOptions {
    ConnectOptions { capabilities: Bytes::from_static(br#"{"elicitation":{"form":{}}}"#), ..ConnectOptions::default() }
}

async fn connect(target: Target) -> (Upstream, tokio::sync::mpsc::Receiver<UpstreamEvent>) {
    let (sender, events) = EventSender::channel(64);
    (Upstream::connect(target, options(), sender).await.expect("connected"), events)
}

fn observed(request: UpstreamRequest<'static>) -> (UpstreamRequest<'static>, Arc<Listener>) {
    let listener = Arc::new(Listener::default());
    (UpstreamRequest { observer: Some(listener.clone()), ..request }, listener)
}

fn observed_for(caller: &'static str, request: UpstreamRequest<'static>) -> (UpstreamRequest<'static>, Arc<Listener>) {
    let listener = Arc::new(Listener { caller: Some(caller), ..Listener::default() });
    (UpstreamRequest { observer: Some(listener.clone()), ..request }, listener)
}
