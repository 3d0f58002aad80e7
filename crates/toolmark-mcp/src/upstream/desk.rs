//! Whose message is this? Everything a server sends is sorted here: answers to their requests, progress and questions to the
//! observer of the request they belong to, the rest to the events.
//!
//! Who is asked is decided in [`questions`](super::questions).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use foldhash::HashMap;
use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, oneshot, watch};

use super::event::{EventSender, UpstreamEvent};
use super::list::ListKind;
use super::patience::Clock;
use super::questions::{Abandoned, OpenQuestion};
use super::request::{CallObserver, Delivery, Reply, UpstreamError, UpstreamErrorKind};
use super::subscribe::Acknowledged;
use super::visits::Pages;
use crate::wire::{Change, Id, Limits, Message, RawObject, ReadMessageError};

/// The requests that are under way.
pub(crate) struct Desk {
    calls: Mutex<HashMap<u64, Call>>,
    abandoned: Mutex<VecDeque<Abandoned>>,
    pub(super) pages: Mutex<Pages>,
    events: EventSender,
    /// The last subscription that the server acknowledged.
    acknowledged: watch::Sender<Option<Acknowledged>>,
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
    /// Questions that are put through it.
    pub(crate) questions: Vec<OpenQuestion>,
    /// For how long its time stood still, if it ever did.
    pub(crate) clock: Option<Box<Clock>>,
    /// Its place among those that may be under way at once.
    pub(crate) place: Option<OwnedSemaphorePermit>,
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

impl Desk {
    pub(crate) fn new(events: EventSender, bytes: usize) -> Arc<Self> {
        let limits = Limits { bytes, depth: Limits::DEEPEST };
        Arc::new(Self {
            calls: Mutex::default(),
            abandoned: Mutex::default(),
            pages: Mutex::default(),
            events,
            acknowledged: watch::Sender::default(),
            limits,
        })
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn events(&self) -> &EventSender {
        &self.events
    }

    /// What the server acknowledges from now on.
    pub(crate) fn acknowledgements(&self) -> watch::Receiver<Option<Acknowledged>> {
        self.acknowledged.send_replace(None);
        self.acknowledged.subscribe()
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

    /// How many requests are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.calls().len()
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
        match self.close(id) {
            Some(mut call) => {
                if let Some(waiter) = call.waiter.take() {
                    let _ = waiter.send(answer);
                }
            }
            None => self.answered_late(id),
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
                if let Some(id) = id {
                    self.note_pages(id, &error);
                }
                Ok(id.map(|id| (id, Reply::Error(error))))
            }
            Message::Notification { method, params } => {
                self.notice(&method, params, source);
                Ok(None)
            }
            Message::Request { id, method, params } => {
                self.question(&id.detached(), &method, params, source, outlet);
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
            "notifications/subscriptions/acknowledged" => {
                let word = Acknowledged::read(&params);
                self.acknowledged.send_if_modified(|last| {
                    let newer = last.as_ref().is_none_or(|last| word.is_newer_than(last));
                    if newer {
                        *last = Some(word);
                    }
                    newer
                });
            }
            "notifications/elicitation/complete" => self.visited(&params),
            "notifications/cancelled" => {
                if let Some(id) = params.slice("requestId").and_then(|id| Id::read(&id)) {
                    self.withdraw(&id);
                }
            }
            _ => tracing::debug!("a notification that is not passed on"),
        }
    }

    /// The observer of the request that a log message belongs to, if it is certain for whom it is.
    fn observer(&self, source: Source) -> Option<Arc<dyn CallObserver>> {
        self.concerned(source, None).ok()?.into_iter().next().map(|(_, observer)| observer)
    }

    pub(super) fn abandoned(&self) -> MutexGuard<'_, VecDeque<Abandoned>> {
        self.abandoned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, HashMap<u64, Call>> {
        // A panic while the table was held leaves it whole: every change to it is one step.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
