//! What lies between a running call and whoever delivers its messages: a bounded queue, open questions, and the word to stop.
//!
//! One allocation a call. A call that only answers touches the lock and nothing else of it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context as TaskContext, Waker};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::caller::{Caller, Client};
use super::context::{Question, Reply};
use super::session::Session;
use crate::wire::version::ProtocolVersion;
use crate::wire::{Change, Limits, LogLevel, RawObject};

/// Most messages, and bytes of messages, that wait for a slow client; what comes after them is dropped.
const WAITING: usize = 512;
const WAITING_BYTES: usize = 4 << 20;

pub(super) struct Exchange {
    pub(super) version: ProtocolVersion,
    pub(super) caller: Caller,
    pub(super) client: Client,
    pub(super) session: Option<Arc<Session>>,
    /// Whether the result may be a question (2026-07-28).
    pub(super) may_ask: bool,
    pub(super) ask_time: Duration,
    state: Mutex<State>,
    cancelled: AtomicBool,
    token: OnceLock<CancellationToken>,
}

/// How the client wants to hear of a call. A client that repeats its request may say it anew.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub(super) progress_token: Option<Bytes>,
    pub(super) log_level: Option<LogLevel>,
    /// Whether anything can reach the client before the result.
    pub(super) streams: bool,
}

#[derive(Default)]
struct State {
    way: Way,
    waiting: VecDeque<Bytes>,
    bytes: usize,
    waker: Option<Waker>,
    asked: Vec<Asked>,
    /// There are questions that the client has not seen.
    fresh: bool,
    hang_up: bool,
    answer: Option<Answer>,
}

/// A question that waits for a client of 2026-07-28 to repeat its request.
pub(super) struct Asked {
    pub(super) question: Question,
    answer: oneshot::Sender<Reply>,
}

/// What has come up since the last look.
pub(super) enum News {
    Message(Bytes),
    Answer(Answer),
    Asked,
    HangUp,
}

impl Exchange {
    pub(super) fn new(
        version: ProtocolVersion,
        caller: Caller,
        client: Client,
        session: Option<Arc<Session>>,
        may_ask: bool,
        ask_time: Duration,
        way: Way,
    ) -> Self {
        Self {
            version,
            caller,
            client,
            session,
            may_ask,
            ask_time,
            state: Mutex::new(State { way, ..State::default() }),
            cancelled: AtomicBool::new(false),
            token: OnceLock::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the client wants to hear of this call now.
    pub(super) fn way(&self) -> Way {
        self.state().way.clone()
    }

    /// The client has repeated its request.
    pub(super) fn redirect(&self, way: Way) {
        self.state().way = way;
    }

    /// Queues a message; false if it had to be dropped.
    pub(super) fn push(&self, message: Bytes) -> bool {
        let waker = {
            let mut state = self.state();
            if !state.way.streams || state.waiting.len() >= WAITING || state.bytes + message.len() > WAITING_BYTES {
                return false;
            }
            state.bytes += message.len();
            state.waiting.push_back(message);
            state.waker.take()
        };
        wake(waker);
        true
    }

    /// Puts questions where the client of 2026-07-28 will find them. A key that is taken gets a number.
    pub(super) fn ask(&self, questions: Vec<Question>) -> Vec<oneshot::Receiver<Reply>> {
        let (receivers, waker) = {
            let mut state = self.state();
            let receivers = questions
                .into_iter()
                .map(|mut question| {
                    let key = question.key.clone();
                    let mut number = 2;
                    while state.asked.iter().any(|other| other.question.key == question.key) {
                        question.key = format!("{key}-{number}");
                        number += 1;
                    }
                    let (answer, receiver) = oneshot::channel();
                    state.asked.push(Asked { question, answer });
                    receiver
                })
                .collect();
            state.fresh = true;
            (receivers, state.waker.take())
        };
        wake(waker);
        receivers
    }

    /// The questions that are open, as the text of an object.
    pub(super) fn open_questions(&self) -> Bytes {
        let state = self.state();
        let mut object = RawObject::empty();
        for asked in state.asked.iter().rev() {
            let question = asked.question.write();
            let changed = object.rewrite(&[Change::Set(&asked.question.key, &question)]);
            object = RawObject::read(changed, Limits::ADMITTED).unwrap_or(object);
        }
        object.into_raw()
    }

    /// Hands answers to whoever asked. Answers to nothing are ignored; questions without an answer are asked again.
    pub(super) fn answer(&self, responses: &RawObject) {
        let mut state = self.state();
        let mut open = Vec::new();
        for asked in std::mem::take(&mut state.asked) {
            match responses.slice(&asked.question.key) {
                Some(result) => drop(asked.answer.send(Reply::Result(result))),
                None => open.push(asked),
            }
        }
        state.fresh = !open.is_empty();
        state.asked = open;
    }

    /// Asks whoever delivers to end the stream, so that the client comes back for the rest.
    pub(super) fn hang_up(&self) {
        let waker = {
            let mut state = self.state();
            state.hang_up = true;
            state.waker.take()
        };
        wake(waker);
    }

    /// The answer of a call that runs in a task of its own.
    pub(super) fn finish(&self, answer: Answer) {
        let waker = {
            let mut state = self.state();
            state.answer = Some(answer);
            state.waker.take()
        };
        wake(waker);
    }

    /// Remembers whom to wake.
    pub(super) fn watch(&self, cx: &TaskContext<'_>) {
        let mut state = self.state();
        match &state.waker {
            Some(waker) if waker.will_wake(cx.waker()) => {}
            _ => state.waker = Some(cx.waker().clone()),
        }
    }

    /// What has come up, in the order in which the client should hear of it.
    pub(super) fn news(&self, answer: &mut Option<Answer>) -> Option<News> {
        let mut state = self.state();
        if let Some(message) = state.waiting.pop_front() {
            state.bytes -= message.len();
            return Some(News::Message(message));
        }
        if let Some(answer) = answer.take().or_else(|| state.answer.take()) {
            return Some(News::Answer(answer));
        }
        if std::mem::take(&mut state.fresh) {
            // Whoever asked may have given up meanwhile.
            state.asked.retain(|asked| !asked.answer.is_closed());
            if !state.asked.is_empty() {
                return Some(News::Asked);
            }
        }
        std::mem::take(&mut state.hang_up).then_some(News::HangUp)
    }

    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        if let Some(token) = self.token.get() {
            token.cancel();
        }
        let waker = self.state().waker.take();
        wake(waker);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    pub(super) fn token(&self) -> CancellationToken {
        let token = self.token.get_or_init(CancellationToken::new).clone();
        // The word to stop may have come between making the token and looking here.
        if self.is_cancelled() {
            token.cancel();
        }
        token
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
