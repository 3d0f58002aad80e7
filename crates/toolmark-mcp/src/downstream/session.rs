//! What is remembered between the requests of one client up to 2025-11-25?
//!
//! Little: who it is, what it can do, which calls are running, which questions are open, and the last events of its streams.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use tokio::sync::oneshot;

use super::caller::{Caller, Client};
use super::context::{AskError, Question, Reply};
use super::exchange::Exchange;
use super::inbox::{Changed, Inbox};
use super::track::{EventId, Reader, Track};
use crate::wire::version::ProtocolVersion;
use crate::wire::{Id, LogLevel, Message, write};

/// Most resources that one session may subscribe to.
const SUBSCRIPTIONS: usize = 1_000;
/// Most finished streams that a session keeps for a client that comes back.
const FINISHED: usize = 8;

pub(super) struct Session {
    id: Arc<str>,
    pub(super) caller: Caller,
    pub(super) client: Client,
    pub(super) version: ProtocolVersion,
    pub(super) inbox: Inbox,
    room: usize,
    seen: AtomicU64,
    streams: AtomicUsize,
    initialized: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    log_level: Option<LogLevel>,
    subscribed: Option<HashSet<String>>,
    running: Vec<(Id, Weak<Exchange>)>,
    asked: Vec<(u64, oneshot::Sender<Reply>)>,
    last_question: u64,
    last_track: u64,
    standalone: Option<Arc<Track>>,
    tracks: VecDeque<Arc<Track>>,
    closed: bool,
}

/// Keeps a call findable by its id while it runs.
pub(super) struct Running {
    session: Arc<Session>,
    id: Id,
}

/// A question on its way to an old client.
pub(super) struct AskedOf {
    exchange: Arc<Exchange>,
    number: u64,
    reply: Option<oneshot::Receiver<Reply>>,
}

/// Counts an open stream; a session with one is not idle.
pub(super) struct OpenStream(Arc<Session>);

impl Session {
    pub(super) fn new(caller: Caller, client: Client, version: ProtocolVersion, room: usize, now: u64) -> Self {
        // Two random UUIDs: 244 random bits, so that nobody meets the session of somebody else by trying.
        let id = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        Self {
            id: id.into(),
            caller,
            client,
            version,
            inbox: Inbox::default(),
            room,
            seen: AtomicU64::new(now),
            streams: AtomicUsize::new(0),
            initialized: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(super) fn touch(&self, now: u64) {
        self.seen.store(now, Ordering::Relaxed);
    }

    /// When the client was last heard of, or `None` while a stream is open or a call runs.
    pub(super) fn idle_since(&self) -> Option<u64> {
        let busy = self.streams.load(Ordering::Relaxed) > 0 || !self.state().running.is_empty();
        (!busy).then(|| self.seen.load(Ordering::Relaxed))
    }

    /// When the client was last heard of, whatever it does now.
    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    pub(super) fn initialized(&self) {
        self.initialized.store(true, Ordering::Relaxed);
    }

    pub(super) fn log_level(&self) -> Option<LogLevel> {
        self.state().log_level
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        self.state().log_level = Some(level);
    }

    /// Remembers a subscription; false if there are too many.
    pub(super) fn subscribe(&self, uri: &str) -> bool {
        let mut state = self.state();
        let subscribed = state.subscribed.get_or_insert_default();
        subscribed.contains(uri) || (subscribed.len() < SUBSCRIPTIONS && subscribed.insert(uri.to_owned()))
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        if let Some(subscribed) = &mut self.state().subscribed {
            subscribed.remove(uri);
        }
    }

    /// Tells the client of a change, now or when it next opens its stream.
    pub(super) fn tell(&self, change: &Changed) {
        let wanted = match change {
            Changed::Resource(uri) => self.state().subscribed.as_ref().is_some_and(|all| all.contains(&**uri)),
            // It concerns one session, which is told by itself.
            Changed::Visited(_) => false,
            _ => true,
        };
        if wanted && self.initialized.load(Ordering::Relaxed) {
            self.inbox.add(change);
        }
    }

    /// Tells the client that its user visited a page.
    pub(super) fn visited(&self, elicitation: &str) {
        self.inbox.add(&Changed::Visited(elicitation.into()));
    }

    /// Enters a call; `None` if one with this id is running.
    pub(super) fn enter(self: &Arc<Self>, id: &Id, exchange: &Arc<Exchange>) -> Option<Running> {
        let mut state = self.state();
        if state.closed || state.running.iter().any(|(other, _)| other == id) {
            return None;
        }
        state.running.push((id.clone(), Arc::downgrade(exchange)));
        Some(Running { session: Arc::clone(self), id: id.clone() })
    }

    /// Cancels a running call, if there is one with this id.
    pub(super) fn cancel(&self, id: &Id) {
        let exchange = self.state().running.iter().find(|(other, _)| other == id).and_then(|(_, call)| call.upgrade());
        if let Some(exchange) = exchange {
            exchange.cancel();
        }
    }

    /// Puts a question on the stream of a call.
    pub(super) fn ask(&self, exchange: &Arc<Exchange>, question: &Question) -> AskedOf {
        let (sender, receiver) = oneshot::channel();
        let number = {
            let mut state = self.state();
            state.last_question += 1;
            let number = state.last_question;
            if !state.closed {
                state.asked.push((number, sender));
            }
            number
        };
        let sent = exchange.push(write::request(&Id::number(number), &question.method, Some(&question.params)));
        AskedOf { exchange: Arc::clone(exchange), number, reply: sent.then_some(receiver) }
    }

    /// Hands an answer of the client to whoever asked; an answer to nothing is ignored.
    pub(super) fn reply(&self, message: Message<'_>) {
        let (id, reply) = match message {
            Message::Response { id, result } => (Some(id), Reply::Result(result.into_raw())),
            Message::Error { id, error } => (id, Reply::Error(error.object().raw().clone())),
            Message::Request { .. } | Message::Notification { .. } => return,
        };
        if let Some(sender) = id.and_then(|id| self.take_asked(id.as_number()?)) {
            drop(sender.send(reply));
        }
    }

    fn take_asked(&self, number: u64) -> Option<oneshot::Sender<Reply>> {
        let mut state = self.state();
        let place = state.asked.iter().position(|(other, _)| *other == number)?;
        Some(state.asked.swap_remove(place).1)
    }

    /// A new stream for the answer to a request.
    pub(super) fn open_track(&self) -> Arc<Track> {
        let mut state = self.state();
        state.last_track += 1;
        let track = Arc::new(Track::new(state.last_track, self.room));
        state.tracks.push_back(Arc::clone(&track));
        let mut bytes: usize = state.tracks.iter().map(|track| track.bytes()).sum();
        let mut finished = state.tracks.iter().filter(|track| track.is_finished()).count();
        let room = self.room;
        // The oldest finished streams go first; a running one always stays.
        state.tracks.retain(|track| {
            let goes = track.is_finished() && (finished > FINISHED || bytes > room);
            if goes {
                finished -= 1;
                bytes -= track.bytes();
            }
            !goes
        });
        track
    }

    /// The stream on which changes are told.
    pub(super) fn standalone(&self) -> Arc<Track> {
        let room = self.room;
        Arc::clone(self.state().standalone.get_or_insert_with(|| Arc::new(Track::new(0, room))))
    }

    /// Where a client may read on that saw this event last.
    pub(super) fn resume(&self, last: EventId) -> Option<(Arc<Track>, Reader)> {
        let track = {
            let state = self.state();
            let tracks = state.standalone.iter().chain(&state.tracks);
            Arc::clone(tracks.into_iter().find(|track| track.number() == last.track)?)
        };
        let reader = track.read_after(last.event)?;
        Some((track, reader))
    }

    pub(super) fn open_stream(self: &Arc<Self>) -> OpenStream {
        self.streams.fetch_add(1, Ordering::Relaxed);
        OpenStream(Arc::clone(self))
    }

    /// Ends the session: calls are cancelled, questions given up, streams closed.
    pub(super) fn close(&self) {
        let (running, tracks) = {
            let mut state = self.state();
            state.closed = true;
            state.asked.clear();
            (std::mem::take(&mut state.running), std::mem::take(&mut state.tracks))
        };
        for exchange in running.iter().filter_map(|(_, call)| call.upgrade()) {
            exchange.cancel();
        }
        tracks.iter().for_each(|track| track.finish());
        self.inbox.close();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.session.state();
        if let Some(place) = state.running.iter().position(|(id, _)| *id == self.id) {
            state.running.swap_remove(place);
        }
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl AskedOf {
    pub(super) async fn reply(&mut self) -> Result<Reply, AskError> {
        match &mut self.reply {
            None => Err(AskError::NoWay),
            Some(receiver) => {
                let reply = receiver.await.map_err(|_| AskError::Gone)?;
                self.reply = None;
                Ok(reply)
            }
        }
    }
}

impl Drop for AskedOf {
    fn drop(&mut self) {
        let open = self.exchange.session.as_ref().and_then(|session| session.take_asked(self.number));
        if open.is_some() && self.reply.is_some() && !self.exchange.is_cancelled() {
            // Nobody waits for the answer any more, so nobody should be bothered with the question.
            let params = Bytes::from(format!(r#"{{"requestId":{}}}"#, self.number));
            self.exchange.push(write::notification("notifications/cancelled", Some(&params)));
        }
    }
}
