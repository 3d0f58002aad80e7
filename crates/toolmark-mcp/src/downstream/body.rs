//! The body of a response: nothing, a few pieces, or events as they come.

use std::future::Future as _;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep};

use crate::wire::sse;

/// What [`Endpoint::http`](super::Endpoint::http) answers with.
pub struct Body(Inner);

/// Marks a response, among its extensions, as a stream on which somebody only listens: it may stay open for days, and no call runs for it.
#[derive(Clone, Copy, Debug)]
pub struct Listening;

enum Inner {
    Pieces(Pieces),
    Events(Box<Events>),
}

/// A message as up to three pieces, one after the other, so that what is large and there already is not copied to be sent. They are
/// one frame of a body: what is written whole leaves in one go, however large it is.
#[derive(Clone, Debug, Default)]
pub struct Pieces([Bytes; 3]);

impl Pieces {
    /// A message in pieces; empty ones are left out.
    pub(super) fn new(pieces: [Bytes; 3]) -> Self {
        Self(pieces)
    }

    /// The message in one piece.
    #[must_use]
    pub fn join(self) -> Bytes {
        let [first, second, third] = self.0;
        if second.is_empty() && third.is_empty() {
            return first;
        }
        [first, second, third].concat().into()
    }

    #[cfg(test)]
    pub(super) fn second(&self) -> &Bytes {
        let [_, second, _] = &self.0;
        second
    }

    /// The rest of the message, unless nothing is left.
    fn take(&mut self) -> Option<Self> {
        self.has_remaining().then(|| std::mem::take(self))
    }
}

impl Buf for Pieces {
    fn remaining(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.0.iter().find(|piece| !piece.is_empty()).map_or(&[], |piece| piece)
    }

    fn advance(&mut self, mut count: usize) {
        for piece in &mut self.0 {
            let part = count.min(piece.len());
            piece.advance(part);
            count -= part;
        }
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let pieces = self.0.iter().filter(|piece| !piece.is_empty());
        slices.iter_mut().zip(pieces).map(|(slice, piece)| *slice = IoSlice::new(piece)).count()
    }
}

impl From<Bytes> for Pieces {
    fn from(whole: Bytes) -> Self {
        Self([whole, Bytes::new(), Bytes::new()])
    }
}

/// Where the events of a stream come from.
pub(super) trait Source: Send {
    /// The next event, written out; `None` at the end.
    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>>;
}

struct Events {
    source: Box<dyn Source>,
    over: bool,
    period: Duration,
    quiet: Pin<Box<Sleep>>,
}

impl Body {
    /// No bytes.
    #[must_use]
    pub fn empty() -> Self {
        Self(Inner::Pieces(Pieces::default()))
    }

    /// These bytes.
    #[must_use]
    pub fn whole(bytes: Bytes) -> Self {
        Self(Inner::Pieces(bytes.into()))
    }

    pub(super) fn pieces(pieces: Pieces) -> Self {
        Self(Inner::Pieces(pieces))
    }

    /// Events, with a comment whenever nothing was said for `period`, so that both ends notice a dead connection.
    pub(super) fn events(source: Box<dyn Source>, period: Duration) -> Self {
        let quiet = Box::pin(tokio::time::sleep(period));
        Self(Inner::Events(Box::new(Events { source, over: false, period, quiet })))
    }
}

impl Body {
    /// Events that somebody else writes, until they end; with a comment whenever nothing was said for `period`.
    #[must_use]
    pub fn following(events: mpsc::Receiver<Bytes>, period: Duration) -> Self {
        Self::events(Box::new(events), period)
    }
}

impl Source for mpsc::Receiver<Bytes> {
    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        self.poll_recv(cx)
    }
}

impl hyper::body::Body for Body {
    type Data = Pieces;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Pieces>, Self::Error>>> {
        let events = match &mut self.0 {
            Inner::Pieces(pieces) => return Poll::Ready(pieces.take().map(|rest| Ok(Frame::data(rest)))),
            Inner::Events(events) => events,
        };
        if events.over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(event) = events.source.poll_event(cx) {
            events.over = event.is_none();
            events.quiet.as_mut().reset(Instant::now() + events.period);
            return Poll::Ready(event.map(|event| Ok(Frame::data(event.into()))));
        }
        std::task::ready!(events.quiet.as_mut().poll(cx));
        events.quiet.as_mut().reset(Instant::now() + events.period);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(sse::KEEP_ALIVE).into()))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Pieces(pieces) => !pieces.has_remaining(),
            Inner::Events(events) => events.over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Pieces(pieces) => SizeHint::with_exact(pieces.remaining() as u64),
            Inner::Events(_) => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests;
