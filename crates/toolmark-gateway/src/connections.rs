//! How long may a connection say nothing, and how many may there be? Whoever only holds one, with or without a token, keeps nobody out.
//!
//! hyper bounds the time for a head over HTTP/1 once it knows that it is one. What comes before that, and everything over HTTP/2, is watched
//! here. Nothing of it costs a request anything but a note that there was one.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulConnection;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep};

/// How many are looked at for one newcomer. Those that are passed over come last the next time.
const LOOKED_AT: usize = 64;
/// How often is said that there are too many.
const SAID: Duration = Duration::from_secs(60);
/// More connections than this are never useful to a gateway for one team, however many files it may open.
const MOST: usize = 16_384;
/// Where a process may open few files, so many connections are there at least.
const LEAST: usize = 16;

/// What connections may take, and how long.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// How long the head of a request may take, from the moment the connection is there or the request before was answered.
    pub head: Duration,
    /// How long the body of a request may take.
    pub body: Duration,
    /// How long a connection of HTTP/2 may be there without a request.
    pub idle: Duration,
    /// After how long the other end of a connection of HTTP/2 is asked whether it is there; it may take as long again to answer.
    pub ping: Duration,
    /// How many connections may be open. For one more, the longest silent one is closed; where all of them are in use, the new one is.
    pub most: usize,
    /// How many may wait for their next request. One more is closed when it was answered: whoever needs it again opens another, and ten
    /// thousand clients that come by now and then cost no more than these.
    pub kept: usize,
}

/// One connection, as whoever watches it knows it. Requests under way hold it.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// How many requests came. Written by the connection alone.
    requests: AtomicUsize,
    /// Whether several may be under way at once.
    many: AtomicBool,
    /// Whether the last answer is a stream that somebody only listens to.
    listens: AtomicBool,
}

/// All connections that are open, from the longest silent to the last that came.
#[derive(Default)]
pub(crate) struct Open {
    count: Arc<AtomicUsize>,
    /// Those of which no request was seen yet.
    silent: VecDeque<Entry>,
    known: VecDeque<Entry>,
    said: Option<Instant>,
}

struct Entry {
    line: Weak<Line>,
    /// How many requests there were when it was last looked at.
    seen: usize,
    task: AbortHandle,
}

/// Counts a connection for as long as it is open.
pub(crate) struct Counted(Arc<AtomicUsize>);

/// A connection that ends when it says nothing for too long, or when it is told to.
pub(crate) struct Watched<C> {
    connection: Pin<Box<C>>,
    line: Weak<Line>,
    limits: ConnectionLimits,
    /// Until the first request over HTTP/1, and always over HTTP/2.
    alarm: Option<Pin<Box<Sleep>>>,
    /// How many requests there were when the alarm last rang.
    seen: usize,
    /// Whether it was told that there will be no more requests.
    ending: bool,
    stop: Option<BoxFuture<'static, watch::Receiver<()>>>,
    /// Held until the connection is over, so that whoever stops the gateway can wait for that.
    _stopped: Option<watch::Receiver<()>>,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            idle: Duration::from_secs(120),
            ping: Duration::from_secs(20),
            most: most(),
            kept: 4096,
        }
    }
}

/// Three quarters of the files that this process may open: the rest is for servers, the store and the log.
fn most() -> usize {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let files = files.and_then(|files| usize::try_from(files).ok()).unwrap_or(usize::MAX);
    (files / 4).saturating_mul(3).clamp(LEAST, MOST)
}

impl ConnectionLimits {
    /// What serves connections within these limits.
    pub(crate) fn builder(&self) -> auto::Builder<TokioExecutor> {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(self.head);
        builder.http2().timer(TokioTimer::new()).keep_alive_interval(self.ping).keep_alive_timeout(self.ping);
        builder
    }
}

impl Line {
    /// Notes a request. Several may be under way at once where `many` is true.
    pub(crate) fn heard(&self, many: bool) {
        let before = self.requests.load(Ordering::Relaxed);
        self.requests.store(before.wrapping_add(1).max(1), Ordering::Relaxed);
        if before == 0 && many {
            self.many.store(true, Ordering::Relaxed);
        }
    }

    /// Notes that whoever opened it only listens from now on. Where several requests share a connection, that says nothing of the others.
    pub(crate) fn listens(&self) {
        if !self.many.load(Ordering::Relaxed) {
            self.listens.store(true, Ordering::Relaxed);
        }
    }
}

impl Open {
    /// How many there are, for whoever wants to know at any time.
    pub(crate) fn count(&self) -> &Arc<AtomicUsize> {
        &self.count
    }

    /// Counts one more.
    pub(crate) fn one_more(&mut self) -> Counted {
        self.count.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(&self.count))
    }

    /// Remembers a connection and what serves it.
    pub(crate) fn keep(&mut self, line: Weak<Line>, task: AbortHandle) {
        self.silent.push_back(Entry { line, seen: 0, task });
        if self.silent.len() + self.known.len() > 2 * self.count.load(Ordering::Relaxed) + LOOKED_AT {
            self.silent.retain(|entry| !entry.task.is_finished());
            self.known.retain(|entry| !entry.task.is_finished());
        }
    }

    /// Whether there is room for one more, where one of those that are there may have to go for it.
    pub(crate) fn has_room(&mut self, most: usize) -> bool {
        if self.count.load(Ordering::Relaxed) < most || self.make_room() {
            return true;
        }
        if self.said.is_none_or(|said| said.elapsed() >= SAID) {
            self.said = Some(Instant::now());
            tracing::warn!(most, "there are too many connections, and all of them are in use; new ones are closed");
        }
        false
    }

    /// Closes the longest silent connection: first of those that never said anything, then of those without a request, then of those that
    /// only listen, who will come back. False if there is none.
    pub(crate) fn make_room(&mut self) -> bool {
        while let Some(mut entry) = self.silent.pop_front() {
            match entry.line.upgrade().map(|line| line.requests.load(Ordering::Relaxed)) {
                None => {}
                Some(0) => {
                    entry.task.abort();
                    return true;
                }
                Some(_) => {
                    // One that has said something is asked again with the others.
                    entry.seen = 0;
                    self.known.push_back(entry);
                }
            }
        }
        let mut listening = None;
        for _ in 0..self.known.len().min(LOOKED_AT) {
            let Some(mut entry) = self.known.pop_front() else { break };
            let Some(line) = entry.line.upgrade() else { continue };
            let requests = line.requests.load(Ordering::Relaxed);
            // The service holds it, and so do we; whatever else does is a request.
            let busy = Arc::strong_count(&line) > 2;
            let before = std::mem::replace(&mut entry.seen, requests);
            match (busy, before == requests) {
                (false, true) => {
                    entry.task.abort();
                    return true;
                }
                (true, true) if listening.is_none() && line.listens.load(Ordering::Relaxed) => {
                    listening = Some(entry.task.clone());
                }
                _ => {}
            }
            self.known.push_back(entry);
        }
        listening.inspect(AbortHandle::abort).is_some()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<C> Watched<C> {
    /// Watches a connection; `stop` says when to end it in peace.
    pub(crate) fn new(
        connection: C,
        line: Weak<Line>,
        limits: ConnectionLimits,
        mut stop: watch::Receiver<()>,
    ) -> Self {
        Self {
            connection: Box::pin(connection),
            line,
            limits,
            alarm: Some(Box::pin(tokio::time::sleep(limits.head))),
            seen: 0,
            ending: false,
            stop: Some(Box::pin(async move {
                let _ = stop.changed().await;
                stop
            })),
            _stopped: None,
        }
    }
}

impl<C: GracefulConnection> Watched<C> {
    /// What the alarm means when it rings; true if the connection is over.
    fn is_over(&mut self) -> bool {
        let Some(line) = self.line.upgrade() else { return false };
        let requests = line.requests.load(Ordering::Relaxed);
        if requests == 0 || self.ending {
            return true;
        }
        let busy = Arc::strong_count(&line) > 2;
        if !busy && requests == self.seen {
            // Requests that are on their way now are refused, so that their client knows that they did not run.
            self.ending = true;
            self.connection.as_mut().graceful_shutdown();
        }
        self.seen = requests;
        false
    }

    /// Watched no longer over HTTP/1 once a request came: what follows is for hyper to watch.
    fn is_elsewhere(&self) -> bool {
        self.line
            .upgrade()
            .is_some_and(|line| line.requests.load(Ordering::Relaxed) > 0 && !line.many.load(Ordering::Relaxed))
    }
}

impl<C: GracefulConnection> Future for Watched<C> {
    type Output = Result<(), C::Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(Poll::Ready(stopped)) = this.stop.as_mut().map(|stop| stop.as_mut().poll(cx)) {
            this.stop = None;
            this._stopped = Some(stopped);
            this.connection.as_mut().graceful_shutdown();
        }
        if let Poll::Ready(ended) = this.connection.as_mut().poll(cx) {
            return Poll::Ready(ended);
        }
        if this.alarm.is_some() && this.is_elsewhere() {
            this.alarm = None;
        }
        while let Some(alarm) = &mut this.alarm {
            std::task::ready!(alarm.as_mut().poll(cx));
            if this.is_over() {
                tracing::debug!("a connection said nothing for too long");
                return Poll::Ready(Ok(()));
            }
            let wait = if this.ending { this.limits.head } else { this.limits.idle };
            if let Some(alarm) = &mut this.alarm {
                alarm.as_mut().reset(Instant::now() + wait);
            }
            if this.ending
                && let Poll::Ready(ended) = this.connection.as_mut().poll(cx)
            {
                return Poll::Ready(ended);
            }
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests;
