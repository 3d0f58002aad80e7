//! Whose message is this? Everything a server sends is sorted here: answers to their requests, progress and questions to the
//! observer of the request they belong to, the rest to the events.
//!
//! A server of the old era does not say which request a question belongs to, unless it asks inside the answer stream of that
//! request. Where several requests are under way, such a question is declined: the wrong person must never be asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::event::{EventSender, UpstreamEvent};
use super::list::ListKind;
use super::request::{Answer, CallObserver, Delivery, Question, Reply, UpstreamError, UpstreamErrorKind};
use crate::wire::{Change, Id, Limits, Message, RawObject, ReadMessageError, codes, write};

/// The requests that are under way.
pub(crate) struct Desk {
    calls: Mutex<HashMap<u64, Call>>,
    events: EventSender,
    limits: Limits,
}

/// A request that is under way.
pub(crate) struct Call {
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
    /// The progress token that the request came with.
    pub(crate) token: Option<Bytes>,
    /// Whether a server may ask something because of it.
    pub(crate) askable: bool,
    /// Where the answer goes, if it does not come in a stream of its own.
    pub(crate) waiter: Option<oneshot::Sender<Result<Reply, UpstreamError>>>,
    pub(crate) sent: bool,
    pub(crate) questions: Vec<(Id, AbortHandle)>,
}

/// In which stream a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// In the answer stream of this request.
    Call(u64),
    /// In a stream that all requests share.
    Shared,
}

/// How answers to questions go back.
pub(crate) trait Outlet: Send + Sync {
    /// Sends an answer that somebody thought about.
    fn post(&self, message: Bytes) -> BoxFuture<'static, ()>;

    /// Sends an answer that costs nothing, if there is room; a server that floods us with questions gets none.
    fn offer(&self, message: Bytes);
}

/// Most questions that one request may have open.
const MOST_QUESTIONS: usize = 32;

impl Drop for Call {
    fn drop(&mut self) {
        for (_, question) in &self.questions {
            question.abort();
        }
    }
}

impl Desk {
    pub(crate) fn new(events: EventSender, bytes: usize) -> Arc<Self> {
        let limits = Limits { bytes, depth: Limits::DEEPEST };
        Arc::new(Self { calls: Mutex::default(), events, limits })
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn events(&self) -> &EventSender {
        &self.events
    }

    pub(crate) fn open(&self, id: u64, call: Call) {
        self.calls().insert(id, call);
    }

    pub(crate) fn close(&self, id: u64) -> Option<Call> {
        self.calls().remove(&id)
    }

    /// Notes that these requests are being written, and says which of them still want to be.
    pub(crate) fn mark_sent(&self, ids: &mut Vec<u64>) {
        let mut calls = self.calls();
        ids.retain(|id| match calls.get_mut(id) {
            Some(call) => {
                call.sent = true;
                true
            }
            None => false,
        });
    }

    /// Ends every request.
    pub(crate) fn close_all(&self, reason: &str) {
        let calls: Vec<Call> = self.calls().drain().map(|(_, call)| call).collect();
        for mut call in calls {
            let delivery = if call.sent { Delivery::Perhaps } else { Delivery::Never };
            if let Some(waiter) = call.waiter.take() {
                let kind = UpstreamErrorKind::Closed { reason: reason.to_owned() };
                let _ = waiter.send(Err(UpstreamError::new(kind, delivery)));
            }
        }
    }

    /// The only request that is under way, if there is only one.
    pub(crate) fn only_call(&self) -> Option<u64> {
        let calls = self.calls();
        let mut ids = calls.keys();
        ids.next().copied().filter(|_| ids.next().is_none())
    }

    /// Tells whoever observes a request that the server closed its stream on purpose.
    pub(crate) fn hung_up(&self, id: u64) {
        let observer = self.calls().get(&id).and_then(|call| call.observer.clone());
        if let Some(observer) = observer {
            observer.hung_up();
        }
    }

    /// Answers a waiting request.
    pub(crate) fn answer(&self, id: u64, answer: Result<Reply, UpstreamError>) {
        if let Some(waiter) = self.close(id).and_then(|mut call| call.waiter.take()) {
            let _ = waiter.send(answer);
        }
    }

    /// Sorts one message. An answer is given back, everything else is passed on.
    pub(crate) fn sort(
        self: &Arc<Self>,
        bytes: &Bytes,
        source: Source,
        outlet: &Arc<dyn Outlet>,
    ) -> Result<Option<(u64, Reply)>, ReadMessageError> {
        match Message::read(bytes, self.limits)? {
            Message::Response { id, result } => Ok(id.as_number().map(|id| (id, Reply::Result(result)))),
            Message::Error { id, error } => {
                let id = id.and_then(|id| id.as_number());
                let id = id.or(if let Source::Call(call) = source { Some(call) } else { None });
                Ok(id.map(|id| (id, Reply::Error(error))))
            }
            Message::Notification { method, params } => {
                self.notice(&method, params, source);
                Ok(None)
            }
            Message::Request { id, method, params } => {
                self.question(id.detached(), &method, params, source, outlet);
                Ok(None)
            }
        }
    }

    fn notice(&self, method: &str, params: Option<RawObject>, source: Source) {
        let params = params.unwrap_or_else(RawObject::empty);
        match method {
            "notifications/progress" => {
                let id = params.count("progressToken").or(match source {
                    Source::Call(id) => Some(id),
                    Source::Shared => None,
                });
                let heard = id.and_then(|id| {
                    let calls = self.calls();
                    let call = calls.get(&id)?;
                    Some((call.observer.clone()?, call.token.clone()?))
                });
                if let Some((observer, token)) = heard {
                    observer.progress(params.rewrite(&[Change::Set("progressToken", &token)]));
                }
            }
            "notifications/message" => match self.observer(source) {
                Some(observer) => observer.message(params.into_raw()),
                None => self.events.send(UpstreamEvent::Log(params.into_raw())),
            },
            "notifications/tools/list_changed" => self.events.send(UpstreamEvent::ListChanged(ListKind::Tools)),
            "notifications/prompts/list_changed" => self.events.send(UpstreamEvent::ListChanged(ListKind::Prompts)),
            "notifications/resources/list_changed" => self.events.send(UpstreamEvent::ListChanged(ListKind::Resources)),
            "notifications/resources/updated" => self.events.send(UpstreamEvent::ResourceUpdated(params.into_raw())),
            "notifications/cancelled" => {
                if let Some(id) = params.slice("requestId").and_then(|id| Id::read(&id)) {
                    self.withdraw(&id);
                }
            }
            _ => tracing::debug!("a notification that is not passed on"),
        }
    }

    /// The server takes its question back.
    fn withdraw(&self, question: &Id) {
        for call in self.calls().values_mut() {
            call.questions.retain(|(id, task)| {
                let same = id == question;
                if same {
                    task.abort();
                }
                !same
            });
        }
    }

    fn question(
        self: &Arc<Self>,
        id: Id,
        method: &str,
        params: Option<RawObject>,
        source: Source,
        outlet: &Arc<dyn Outlet>,
    ) {
        let decline = |code, message: &str| outlet.offer(write::error(Some(&id), code, message, None));
        match method {
            "ping" => outlet.offer(write::reply(&id, b"{}")),
            "elicitation/create" | "sampling/createMessage" | "roots/list" => {
                let Some((call, observer)) = self.asked(source) else {
                    let reason = "it cannot be told which of the requests under way this question belongs to";
                    return decline(codes::INVALID_REQUEST, reason);
                };
                if self.open_questions(call) >= MOST_QUESTIONS {
                    return decline(codes::INVALID_REQUEST, "too many questions wait for an answer already");
                }
                let question = Question { method: method.to_owned(), params };
                let (outlet, number) = (outlet.clone(), id.clone());
                let answer = observer.ask(question);
                let task = tokio::spawn(async move {
                    let message = match answer.await {
                        Answer::Result(result) => write::reply(&number, &result),
                        Answer::Error(error) => write::error_object(Some(&number), &error),
                    };
                    outlet.post(message).await;
                });
                match self.calls().get_mut(&call) {
                    Some(call) => call.questions.push((id, task.abort_handle())),
                    None => task.abort(),
                }
            }
            _ => decline(codes::METHOD_NOT_FOUND, "method not found"),
        }
    }

    fn open_questions(&self, call: u64) -> usize {
        self.calls().get_mut(&call).map_or(0, |call| {
            call.questions.retain(|(_, task)| !task.is_finished());
            call.questions.len()
        })
    }

    /// The observer of the request that a log message belongs to, if that is certain.
    fn observer(&self, source: Source) -> Option<Arc<dyn CallObserver>> {
        self.asked(source).map(|(_, observer)| observer)
    }

    fn asked(&self, source: Source) -> Option<(u64, Arc<dyn CallObserver>)> {
        let calls = self.calls();
        let (id, call) = match source {
            Source::Call(id) => (id, calls.get(&id)?),
            Source::Shared => {
                let mut askable = calls.iter().filter(|(_, call)| call.askable);
                let (id, call) = askable.next()?;
                if askable.next().is_some() {
                    return None;
                }
                (*id, call)
            }
        };
        Some((id, call.observer.clone()?))
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Call>> {
        // A panic while the table was held leaves it whole: every change to it is one step.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
