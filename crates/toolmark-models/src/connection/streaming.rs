//! Bytes of an event stream in, events of a model out; an end before the answer's end is an error, and so is silence.

use std::collections::VecDeque;

use futures_util::stream::unfold;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::{Instant, timeout_at};

use super::http::{Deadline, Http, broken};
use super::secrets::Secrets;
use super::sse;
use crate::error::{ModelError, ModelErrorKind, Waited};
use crate::event::{ModelEvent, ModelStream};
use crate::failure::of_body;
use crate::name::ModelName;
use crate::stream::StreamReader;

/// A stream that is being read.
pub(crate) struct Streaming {
    body: Incoming,
    bytes: sse::Reader,
    reader: Box<dyn StreamReader>,
    ready: VecDeque<ModelEvent>,
    /// The beginning of what came, to tell a web page from a stream that broke off.
    head: Vec<u8>,
    seen_event: bool,
    received: usize,
    largest: usize,
    idle: std::time::Duration,
    deadline: Deadline,
    failed: Option<ModelErrorKind>,
    done: bool,
}

const HEAD: usize = 4_096;

impl Streaming {
    pub(crate) fn new(http: &Http, body: Incoming, reader: Box<dyn StreamReader>, deadline: Deadline) -> Self {
        Self {
            body,
            bytes: sse::Reader::default(),
            reader,
            ready: VecDeque::new(),
            head: Vec::new(),
            seen_event: false,
            received: 0,
            largest: http.largest(),
            idle: http.timeouts().idle,
            deadline,
            failed: None,
            done: false,
        }
    }

    /// The next event; none after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<ModelEvent>, ModelErrorKind> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                // What follows the answer is of no interest.
                self.done |= matches!(event, ModelEvent::Completed(_));
                return Ok(Some(event));
            }
            if let Some(failure) = self.failed.take() {
                self.done = true;
                return Err(failure);
            }
            if self.done {
                return Ok(None);
            }
            let step = self.step().await;
            if step.is_err() {
                self.done = true;
            }
            step?;
        }
    }

    /// Puts an event back in front.
    pub(crate) fn put_back(&mut self, event: ModelEvent) {
        self.done = false;
        self.ready.push_front(event);
    }

    async fn step(&mut self) -> Result<(), ModelErrorKind> {
        let mut out = Vec::new();
        match self.receive().await? {
            Some(bytes) => {
                self.bytes.feed(&bytes);
                loop {
                    let event = match self.bytes.next_event() {
                        Ok(Some(event)) => event,
                        Ok(None) => break,
                        Err(failure) => {
                            self.failed = Some(failure);
                            break;
                        }
                    };
                    self.seen_event = true;
                    let taken = self.reader.take(&event, &mut out);
                    // What came before the failure did come, and is handed out before it.
                    self.ready.extend(out.drain(..));
                    if let Err(failure) = taken {
                        self.failed = Some(failure);
                        break;
                    }
                }
            }
            None if !self.seen_event => {
                let empty = self.head.iter().all(u8::is_ascii_whitespace);
                return Err(if empty {
                    ModelErrorKind::Truncated
                } else {
                    of_body(200, &self.head, "it is no event stream")
                });
            }
            None => {
                self.reader.end(&mut out)?;
                self.done = true;
            }
        }
        self.ready.extend(out);
        Ok(())
    }

    async fn receive(&mut self) -> Result<Option<bytes::Bytes>, ModelErrorKind> {
        loop {
            let silent = Instant::now().checked_add(self.idle).unwrap_or(self.deadline.at);
            let until = silent.min(self.deadline.at);
            let frame = match timeout_at(until, self.body.frame()).await {
                Err(_) if until == self.deadline.at => return Err(self.deadline.passed()),
                Err(_) => return Err(ModelErrorKind::Timeout { waited: Waited::Idle, limit: self.idle }),
                Ok(None) => return Ok(None),
                // Whether the end was clean or not: the answer is not whole.
                Ok(Some(Err(_))) if self.seen_event => return Err(ModelErrorKind::Truncated),
                Ok(Some(Err(error))) => return Err(broken(&error)),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            self.received = self.received.saturating_add(data.len());
            if self.received > self.largest {
                return Err(ModelErrorKind::TooLarge { limit: self.largest });
            }
            let room = HEAD.saturating_sub(self.head.len()).min(data.len());
            self.head.extend_from_slice(data.get(..room).unwrap_or_default());
            return Ok(Some(data));
        }
    }

    /// As the stream that callers get: it ends after the answer, or after one error.
    pub(crate) fn into_stream(self, name: ModelName, secrets: Secrets, attempts: u32) -> ModelStream {
        let state = (self, name, secrets);
        Box::pin(unfold(Some(state), move |state| async move {
            let (mut streaming, name, secrets) = state?;
            match streaming.next().await {
                Ok(event) => Some((Ok(event?), Some((streaming, name, secrets)))),
                Err(kind) => {
                    let error = ModelError::new(&name, secrets.clean_error(kind)).after(attempts);
                    Some((Err(error), None))
                }
            }
        }))
    }
}
