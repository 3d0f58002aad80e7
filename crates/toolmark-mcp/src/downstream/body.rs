//! The body of a response: nothing, one piece, or events as they come.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::wire::sse;

/// What [`Endpoint::http`](super::Endpoint::http) answers with.
pub struct Body(Inner);

enum Inner {
    Piece(Option<Bytes>),
    Events(Box<Events>),
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
        Self(Inner::Piece(None))
    }

    /// These bytes.
    #[must_use]
    pub fn whole(bytes: Bytes) -> Self {
        Self(Inner::Piece((!bytes.is_empty()).then_some(bytes)))
    }

    /// Events, with a comment whenever nothing was said for `period`, so that both ends notice a dead connection.
    pub(super) fn events(source: Box<dyn Source>, period: Duration) -> Self {
        let quiet = Box::pin(tokio::time::sleep(period));
        Self(Inner::Events(Box::new(Events { source, over: false, period, quiet })))
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let events = match &mut self.0 {
            Inner::Piece(piece) => return Poll::Ready(piece.take().map(|piece| Ok(Frame::data(piece)))),
            Inner::Events(events) => events,
        };
        if events.over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(event) = events.source.poll_event(cx) {
            events.over = event.is_none();
            events.quiet.as_mut().reset(Instant::now() + events.period);
            return Poll::Ready(event.map(|event| Ok(Frame::data(event))));
        }
        std::task::ready!(events.quiet.as_mut().poll(cx));
        events.quiet.as_mut().reset(Instant::now() + events.period);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(sse::KEEP_ALIVE)))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Inner::Piece(piece) => piece.is_none(),
            Inner::Events(events) => events.over,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Inner::Piece(piece) => SizeHint::with_exact(piece.as_ref().map_or(0, |piece| piece.len() as u64)),
            Inner::Events(_) => SizeHint::default(),
        }
    }
}
