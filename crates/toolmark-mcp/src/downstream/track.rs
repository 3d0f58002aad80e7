//! The events of one stream of an old client, kept for a while so that a client that lost the connection can read on.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};

use bytes::Bytes;

use crate::wire::sse;

/// Most events that one stream keeps.
const EVENTS: usize = 1_024;

/// One stream: the answer to a request, or the standalone stream of a session (number 0).
pub(super) struct Track {
    number: u64,
    room: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: VecDeque<(u64, Bytes)>,
    bytes: usize,
    last: u64,
    finished: bool,
    /// Who reads; an earlier reader ends when a later one comes, so that no event goes out twice.
    reader: u64,
    waker: Option<Waker>,
}

impl State {
    /// Drops what was read, oldest first, until the rest fits.
    fn trim(&mut self, room: usize, seen: u64) {
        while self.bytes > room && self.events.front().is_some_and(|(number, _)| *number <= seen) {
            if let Some((_, event)) = self.events.pop_front() {
                self.bytes -= event.len();
            }
        }
    }
}

/// A place in a track.
pub(super) struct Reader {
    number: u64,
    seen: u64,
}

/// `Last-Event-ID`, as it was handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) track: u64,
    pub(super) event: u64,
}

impl EventId {
    pub(super) fn read(text: &str) -> Option<Self> {
        let (track, event) = text.split_once('-')?;
        Some(Self { track: track.parse().ok()?, event: event.parse().ok()? })
    }

    fn write(self) -> String {
        format!("{}-{}", self.track, self.event)
    }
}

impl Track {
    pub(super) fn new(number: u64, room: usize) -> Self {
        Self { number, room, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn bytes(&self) -> usize {
        self.state().bytes
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state().finished
    }

    /// An event that gives the beginning of the stream an id. It is not kept: whoever comes back with it reads from the start.
    pub(super) fn priming(&self, retry: u64) -> Bytes {
        let id = EventId { track: self.number, event: self.state().last }.write();
        sse::write_priming(&id, Some(retry))
    }

    /// Adds a message. The oldest events go when there is no room, never the newest.
    pub(super) fn push(&self, message: &[u8]) {
        let waker = {
            let mut state = self.state();
            state.last += 1;
            let id = EventId { track: self.number, event: state.last };
            let event = sse::write(None, Some(&id.write()), message);
            state.bytes += event.len();
            state.events.push_back((id.event, event));
            while state.events.len() > EVENTS || (state.bytes > self.room && state.events.len() > 1) {
                if let Some((_, event)) = state.events.pop_front() {
                    state.bytes -= event.len();
                }
            }
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// No more will come.
    pub(super) fn finish(&self) {
        let waker = {
            let mut state = self.state();
            state.finished = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Begins to read after an event; `None` if events after it are gone, or it never was.
    pub(super) fn read_after(&self, event: u64) -> Option<Reader> {
        let (number, waker) = {
            let mut state = self.state();
            let first = state.events.front().map_or(state.last + 1, |(first, _)| *first);
            if event > state.last || event + 1 < first {
                return None;
            }
            state.reader += 1;
            (state.reader, state.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Some(Reader { number, seen: event })
    }

    /// Begins to read with the next event.
    pub(super) fn read_on(&self) -> Reader {
        let (reader, waker) = {
            let mut state = self.state();
            state.reader += 1;
            (Reader { number: state.reader, seen: state.last }, state.waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        reader
    }

    /// The next event; `None` at the end, or when somebody else reads on.
    pub(super) fn poll(&self, reader: &mut Reader, cx: &TaskContext<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.state();
        if state.reader != reader.number {
            return Poll::Ready(None);
        }
        if let Some((number, event)) = state.events.iter().find(|(number, _)| *number > reader.seen) {
            reader.seen = *number;
            let event = event.clone();
            state.trim(self.room, reader.seen);
            return Poll::Ready(Some(event));
        }
        if state.finished {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
