//! Whom may a server's question be put to? A question that comes in the answer stream of a request belongs to that request.
//! Any other question comes from a server of the old era, which does not say whose it is: it is put to a caller only if nobody
//! else's request could have caused it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::desk::{Call, Desk, Outlet, Source};
use super::event::UpstreamEvent;
use super::patience::Standstill;
use super::request::{Answer, CallObserver, CallerKey, Question};
use crate::wire::{Id, RawObject, codes, write};

/// A question that waits for its answer. Dropping it says that the request it was put through is over.
pub(crate) struct OpenQuestion {
    id: Id,
    /// Speaks when the server takes the question back.
    withdrawn: oneshot::Sender<()>,
}

/// A request that nobody waits for any longer and that the server may still be at work on.
pub(crate) struct Abandoned {
    id: u64,
    caller: Option<CallerKey>,
    until: Instant,
}

/// A request that is under way, with whoever observes it.
type Concerned = (u64, Arc<dyn CallObserver>);

/// Speaks when the server takes a question back; ends when the request that the question is put through does.
type Over = oneshot::Receiver<()>;

/// Why a question is put to nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unasked {
    #[error("no request is under way that this question could belong to")]
    Nothing,
    #[error("nobody who could answer is behind the request under way")]
    Nobody,
    #[error("requests of different callers are under way, and it cannot be told to whom this question belongs")]
    Strangers,
    #[error("too many questions wait for an answer already")]
    TooMany,
    #[error("the requests that this question could belong to ended before it was answered")]
    Over,
}

/// Most questions that one request may have open.
const MOST_QUESTIONS: usize = 32;

/// How long a server that ignores a cancellation is expected to go on asking because of it.
const LINGERS: Duration = Duration::from_secs(120);

/// Most abandoned requests that are remembered.
const MOST_ABANDONED: usize = 256;

impl Desk {
    /// Takes in a question of the server.
    pub(super) fn question(
        self: &Arc<Self>,
        id: &Id,
        method: &str,
        params: Option<RawObject>,
        source: Source,
        outlet: &Arc<dyn Outlet>,
    ) {
        match method {
            "ping" => outlet.offer(write::reply(id, b"{}")),
            "elicitation/create" | "sampling/createMessage" | "roots/list" => {
                let question = Question { method: method.to_owned(), params };
                if let Err(reason) = self.put(id, question, source, outlet) {
                    outlet.offer(declined(id, reason));
                    self.events()
                        .send(UpstreamEvent::Declined { method: method.to_owned(), reason: reason.to_string() });
                }
            }
            _ => outlet.offer(write::error(Some(id), codes::METHOD_NOT_FOUND, "method not found", None)),
        }
    }

    /// Puts a question to the caller it belongs to.
    fn put(
        self: &Arc<Self>,
        id: &Id,
        question: Question,
        source: Source,
        outlet: &Arc<dyn Outlet>,
    ) -> Result<(), Unasked> {
        let mut calls = self.concerned(source, Some(&question))?.into_iter();
        let (call, observer) = calls.next().ok_or(Unasked::Nothing)?;
        let over = self.register(call, id)?;
        self.note_question(&question, &observer);
        // Only these can have caused it, whatever else is sent while it waits.
        let others: Vec<u64> = calls.map(|(call, _)| call).collect();
        // Whichever of them it was waits for the answer, and its server with it.
        let still = self.stand_still(std::iter::once(call).chain(others.iter().copied()).collect());
        let waiting = Waiting { desk: self.clone(), outlet: outlet.clone(), id: id.clone(), source };
        tokio::spawn(waiting.answered(question, observer, over, others, still));
        Ok(())
    }

    /// The requests that a message of the server may belong to, if all of them are one caller's: those that can answer first, of them those
    /// through which nothing is asked yet, since whoever was asked may have left, and the oldest of them first.
    pub(super) fn concerned(&self, source: Source, question: Option<&Question>) -> Result<Vec<Concerned>, Unasked> {
        let found: Vec<(u64, Option<Arc<dyn CallObserver>>)> = {
            let calls = self.calls();
            match source {
                Source::Call(id) => calls.get(&id).map(|call| (id, call.observer.clone())).into_iter().collect(),
                // What was not written yet has caused nothing.
                Source::Shared => {
                    let caused = calls.iter().filter(|(_, call)| call.askable && call.sent);
                    caused.map(|(id, call)| (*id, call.observer.clone())).collect()
                }
            }
        };
        if found.is_empty() {
            return Err(Unasked::Nothing);
        }
        let alone = found.len() == 1;
        let found: Option<Vec<_>> = found.into_iter().map(|(id, observer)| Some((id, observer?))).collect();
        let mut found = found.ok_or(if alone { Unasked::Nobody } else { Unasked::Strangers })?;
        if source == Source::Shared {
            let lingering = self.lingering();
            if !alone || !lingering.is_empty() {
                let mut callers = found.iter().map(|(_, observer)| observer.caller()).chain(lingering);
                let first = callers.next().flatten();
                if first.is_none() || callers.any(|other| other != first) {
                    return Err(Unasked::Strangers);
                }
            }
        }
        let unable = |observer: &Arc<dyn CallObserver>| question.is_some_and(|question| !observer.can_answer(question));
        let asked: Vec<u64> = {
            let calls = self.calls();
            let asks = |call: &Call| call.questions.iter().any(|open| !open.withdrawn.is_closed());
            calls.iter().filter(|(_, call)| asks(call)).map(|(id, _)| *id).collect()
        };
        found.sort_by_cached_key(|(id, observer)| (unable(observer), asked.contains(id), *id));
        Ok(found)
    }

    /// Notes that a question is put through this request; the receiver hears when that is over.
    fn register(&self, call: u64, id: &Id) -> Result<Over, Unasked> {
        let mut calls = self.calls();
        let call = calls.get_mut(&call).ok_or(Unasked::Over)?;
        call.questions.retain(|open| !open.withdrawn.is_closed());
        if call.questions.len() >= MOST_QUESTIONS {
            return Err(Unasked::TooMany);
        }
        let (withdrawn, over) = oneshot::channel();
        call.questions.push(OpenQuestion { id: id.clone(), withdrawn });
        Ok(over)
    }

    /// The server takes its question back.
    pub(super) fn withdraw(&self, question: &Id) {
        for call in self.calls().values_mut() {
            while let Some(place) = call.questions.iter().position(|open| open.id == *question) {
                let _ = call.questions.swap_remove(place).withdrawn.send(());
            }
        }
    }

    /// Forgets a request that got no answer, except that a question may still come because of it.
    pub(crate) fn abandon(&self, id: u64) -> Option<Call> {
        let call = self.close(id)?;
        if call.askable && call.sent {
            let caller = call.observer.as_ref().and_then(|observer| observer.caller());
            let mut abandoned = self.abandoned();
            if abandoned.len() >= MOST_ABANDONED {
                abandoned.pop_front();
            }
            abandoned.push_back(Abandoned { id, caller, until: Instant::now() + LINGERS });
        }
        Some(call)
    }

    /// An abandoned request was answered after all, so nothing more can come of it.
    pub(super) fn answered_late(&self, id: u64) {
        self.abandoned().retain(|abandoned| abandoned.id != id);
    }

    /// The callers of abandoned requests that the server may still be at work on.
    fn lingering(&self) -> Vec<Option<CallerKey>> {
        let mut abandoned = self.abandoned();
        let now = Instant::now();
        abandoned.retain(|abandoned| abandoned.until > now);
        abandoned.iter().map(|abandoned| abandoned.caller.clone()).collect()
    }
}

/// What it takes to answer a question.
struct Waiting {
    desk: Arc<Desk>,
    outlet: Arc<dyn Outlet>,
    id: Id,
    source: Source,
}

impl Waiting {
    /// Waits for the answer and sends it. If the request that the question is put through ends before, another one of the same
    /// caller that may have caused it takes its place.
    async fn answered(
        self,
        question: Question,
        mut observer: Arc<dyn CallObserver>,
        mut over: Over,
        others: Vec<u64>,
        still: Standstill,
    ) {
        let mut others = others.into_iter();
        loop {
            let asked = observer.ask(question.clone());
            let answer = tokio::select! {
                biased;
                answer = asked => Some(answer),
                word = &mut over => match word {
                    // The server does not want to know any more.
                    Ok(()) => return,
                    Err(_) => None,
                },
            };
            match answer {
                Some(answer) => {
                    // The server can go on; how long it takes to hear that is its own time.
                    drop(still);
                    return self.outlet.post(reply(&self.id, answer)).await;
                }
                None => match others.find_map(|call| self.taken_over(call)) {
                    Some(next) => (over, observer) = next,
                    None => break,
                },
            }
        }
        drop(still);
        // A server that asks in the answer stream of a request knows itself that the request is over.
        if self.source == Source::Shared {
            self.outlet.post(declined(&self.id, Unasked::Over)).await;
        }
    }

    fn taken_over(&self, call: u64) -> Option<(Over, Arc<dyn CallObserver>)> {
        let observer = self.desk.calls().get(&call)?.observer.clone()?;
        let over = self.desk.register(call, &self.id).ok()?;
        Some((over, observer))
    }
}

fn reply(id: &Id, answer: Answer) -> Bytes {
    match answer {
        Answer::Result(result) => write::reply(id, &result),
        Answer::Error(error) => write::error_object(Some(id), &error),
    }
}

fn declined(id: &Id, reason: Unasked) -> Bytes {
    write::error(Some(id), codes::INVALID_REQUEST, &reason.to_string(), None)
}

#[cfg(test)]
mod tests;
