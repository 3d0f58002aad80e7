//! The event streams: a call that talks before it answers, a stream that is read on, changes as they happen.

use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use bytes::{BufMut, Bytes, BytesMut};

use super::body::Source;
use super::exchange::Exchange;
use super::inbox::{Inbox, put_subscription};
use super::run::{Run, Step};
use super::service::Service;
use super::session::{OpenStream, Session};
use super::ticket::Ticket;
use super::track::{Reader, Track};
use crate::wire::{Id, sse, write};

/// The stream of one request of 2026-07-28. Closing it cancels the call.
pub(super) struct CallStream<S> {
    pub(super) ticket: Ticket<S>,
    pub(super) run: Option<Run>,
    /// What came first and made this a stream.
    pub(super) first: Option<Bytes>,
}

impl<S: Service> Source for CallStream<S> {
    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event(&first)));
        }
        let Some(run) = &mut self.run else { return Poll::Ready(None) };
        loop {
            return Poll::Ready(match std::task::ready!(run.poll(cx)) {
                Step::Message(message) => Some(event(&message)),
                Step::Answer(answer) => {
                    self.run = None;
                    Some(event(&self.ticket.write(answer).1))
                }
                Step::Asked => self.run.take().map(|run| event(&self.ticket.park(run).1)),
                Step::Cancelled => {
                    self.run = None;
                    None
                }
                Step::HangUp => continue,
            });
        }
    }
}

fn event(message: &[u8]) -> Bytes {
    sse::write(None, None, message)
}

/// The stream of one request of an old client. When it breaks, the call goes on and its events wait for the client.
pub(super) struct SessionCallStream<S: Service> {
    pub(super) ticket: Option<Ticket<S>>,
    pub(super) run: Option<Run>,
    pub(super) track: Arc<Track>,
    pub(super) reader: Reader,
    pub(super) priming: Option<Bytes>,
    pub(super) open: Option<OpenStream>,
}

impl<S: Service> Source for SessionCallStream<S> {
    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        if let Some(priming) = self.priming.take() {
            return Poll::Ready(Some(priming));
        }
        loop {
            // What is written down goes out first, so that a burst of messages never pushes out its own beginning.
            if let Poll::Ready(event) = self.track.poll(&mut self.reader, cx) {
                if event.is_none() {
                    // A call that was cancelled with its session ends here; one that is read on elsewhere goes on.
                    self.run.take_if(|run| run.exchange().is_cancelled());
                }
                return Poll::Ready(event);
            }
            let (Some(run), Some(ticket)) = (&mut self.run, &self.ticket) else { return Poll::Pending };
            let step = std::task::ready!(run.poll(cx));
            if matches!(step, Step::HangUp) {
                self.go_on_alone();
                return Poll::Ready(None);
            }
            if put(&self.track, ticket, step) {
                self.run = None;
            }
        }
    }
}

impl<S: Service> SessionCallStream<S> {
    /// Lets the call go on without the stream; its events are kept.
    fn go_on_alone(&mut self) {
        if let (Some(mut run), Some(ticket)) = (self.run.take(), self.ticket.take()) {
            let track = Arc::clone(&self.track);
            // Without a runtime there is nothing to go on in: the call is dropped, which cancels it.
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move { while !put(&track, &ticket, run.next().await) {} });
            }
        }
    }
}

impl<S: Service> Drop for SessionCallStream<S> {
    fn drop(&mut self) {
        self.open = None;
        self.go_on_alone();
    }
}

/// Writes one step down; true if it was the last.
fn put<S: Service>(track: &Track, ticket: &Ticket<S>, step: Step) -> bool {
    match step {
        Step::Message(message) => {
            track.push(&message);
            false
        }
        Step::Answer(answer) => {
            track.push(&ticket.write(answer).1);
            track.finish();
            true
        }
        Step::Cancelled => {
            track.finish();
            true
        }
        // Old clients are asked with messages.
        Step::Asked | Step::HangUp => false,
    }
}

/// A stream that an old client reads on.
pub(super) struct ResumedStream {
    pub(super) track: Arc<Track>,
    pub(super) reader: Reader,
    pub(super) _open: OpenStream,
}

impl Source for ResumedStream {
    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        self.track.poll(&mut self.reader, cx)
    }
}

/// The stream on which an old client hears of changes.
pub(super) struct StandaloneStream {
    pub(super) session: Arc<Session>,
    pub(super) number: u64,
    pub(super) track: Arc<Track>,
    pub(super) reader: Reader,
    pub(super) priming: Option<Bytes>,
    pub(super) _open: OpenStream,
}

impl Source for StandaloneStream {
    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        if let Some(priming) = self.priming.take() {
            return Poll::Ready(Some(priming));
        }
        loop {
            if let Poll::Ready(event) = self.track.poll(&mut self.reader, cx) {
                return Poll::Ready(event);
            }
            // A change becomes an event only now, when somebody is there to read it.
            match std::task::ready!(self.session.inbox.poll(self.number, cx)) {
                Some(change) => self.track.push(&change.write(None)),
                None => return Poll::Ready(None),
            }
        }
    }
}

impl Drop for StandaloneStream {
    fn drop(&mut self) {
        self.session.inbox.leave(self.number);
    }
}

/// The stream of `subscriptions/listen`.
pub(super) struct ListenStream {
    pub(super) id: Id,
    pub(super) first: Option<Bytes>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) closing: Option<Bytes>,
    /// Tells the service when the stream ends.
    pub(super) exchange: Arc<Exchange>,
    pub(super) _seat: Seat,
}

/// A listener's place among the listeners; it is given up when dropped.
pub(super) struct Seat(pub(super) Box<dyn Fn() + Send>);

impl ListenStream {
    /// The next message; `None` at the end.
    pub(super) fn poll_message(&mut self, cx: &TaskContext<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        Poll::Ready(match std::task::ready!(self.inbox.poll(0, cx)) {
            Some(change) => Some(change.write(Some(&self.id))),
            None => self.closing.take(),
        })
    }
}

impl Source for ListenStream {
    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        self.poll_message(cx).map(|message| message.map(|message| event(&message)))
    }
}

impl Drop for ListenStream {
    fn drop(&mut self) {
        self.exchange.cancel();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The first message of `subscriptions/listen`: what was accepted.
pub(super) fn acknowledged(id: &Id, filter: &[u8]) -> Bytes {
    let mut params = BytesMut::from(&br#"{"notifications":"#[..]);
    params.put_slice(filter);
    params.put_u8(b',');
    put_subscription(&mut params, id);
    params.put_u8(b'}');
    write::notification("notifications/subscriptions/acknowledged", Some(&params))
}

/// The last message of `subscriptions/listen`, when we end it.
pub(super) fn listen_result(id: &Id) -> Bytes {
    let mut result = BytesMut::from(&br#"{"resultType":"complete","#[..]);
    put_subscription(&mut result, id);
    result.put_u8(b'}');
    write::reply(id, &result)
}
