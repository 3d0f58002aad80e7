//! One client on a pair of pipes, one message a line, both eras on the same pipe.
//!
//! Every call runs in a task of its own; one task writes. A reader that is slow makes the calls wait, never the memory grow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use toolmark_core::explain::Code;

use super::admit::{Admitted, Request, named_version, unreadable};
use super::answer::Fault;
use super::caller::Caller;
use super::endpoint::Endpoint;
use super::exchange::Exchange;
use super::head::{Speaks, speaks};
use super::incoming::Via;
use super::listen;
use super::run::{Run, Step};
use super::service::Service;
use super::session::Session;
use super::ticket::Ticket;
use crate::wire::{Id, Message, RawObject, ReadMessageError, codes, write};

/// Lines that wait for the writer.
const WAITING: usize = 256;

/// How long running calls may take once the client has closed its end.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long what was already said may take to be read once we are to end.
const LAST_LINES: Duration = Duration::from_millis(200);

/// What is known of the client on the other end.
struct Connection<S, A> {
    endpoint: Endpoint<S>,
    caller: Caller,
    /// Says whether one more request may run.
    admit: A,
    lines: mpsc::Sender<Bytes>,
    session: Option<Arc<Session>>,
    /// Running calls of 2026-07-28, by id.
    running: Arc<Mutex<HashMap<Id, Arc<Exchange>>>>,
    calls: JoinSet<()>,
    /// Tasks that tell of changes; they end with the connection.
    watchers: JoinSet<()>,
}

/// What was found at the end of a line.
enum Line {
    Whole,
    TooLong,
    End,
}

impl<S: Service> Endpoint<S> {
    /// Serves one client until its pipe ends. Calls that are still running then have a few seconds to finish.
    ///
    /// # Errors
    /// When reading or writing fails.
    pub async fn stdio<R, W>(&self, reader: R, writer: W, caller: Caller) -> std::io::Result<()>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        self.stdio_until(reader, writer, caller, || Ok(()), std::future::pending()).await
    }

    /// The same, until `end` at the latest: then calls that are still running are given up. `admit` is asked before each request is looked
    /// at, and what it gives is held until the request is answered.
    ///
    /// # Errors
    /// As [`stdio`](Self::stdio).
    pub async fn stdio_until<R, W, A, P, E>(
        &self,
        reader: R,
        writer: W,
        caller: Caller,
        admit: A,
        end: E,
    ) -> std::io::Result<()>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin + 'static,
        A: Fn() -> Result<P, Fault>,
        P: Send + 'static,
        E: Future<Output = ()>,
    {
        let (lines, queue) = mpsc::channel(WAITING);
        let mut writing = tokio::spawn(write_lines(writer, queue));
        let mut connection = Connection {
            endpoint: self.clone(),
            caller,
            admit,
            lines,
            session: None,
            running: Arc::default(),
            calls: JoinSet::new(),
            watchers: JoinSet::new(),
        };
        let mut end = std::pin::pin!(end);
        let heard = tokio::select! {
            biased;
            heard = connection.hear(BufReader::new(reader), &mut writing) => heard,
            () = &mut end => Heard::Enough,
        };
        let mut ended = matches!(heard, Heard::Enough);
        let calls = &mut connection.calls;
        if let Heard::End(_) = heard {
            // A script that writes its requests and closes the pipe still reads the answers.
            ended = tokio::select! {
                _ = tokio::time::timeout(LAST_WORDS, async { while calls.join_next().await.is_some() {} }) => false,
                () = &mut end => true,
            };
        }
        // What becomes of a call is written down when it is let go of, so it is over before anybody goes on.
        calls.shutdown().await;
        if let Some(session) = &connection.session {
            self.shared.sessions.remove(session.id(), &connection.caller);
            self.shared.end(session);
        }
        drop(connection);
        let read = match heard {
            Heard::Unread(written) => return written,
            Heard::End(read) => read,
            Heard::Enough => Ok(()),
        };
        let enough = async {
            if !ended {
                end.await;
            }
            tokio::time::sleep(LAST_LINES).await;
        };
        tokio::select! {
            written = &mut writing => read.and(written.unwrap_or(Ok(()))),
            // Whoever is told to end does not wait for a client that reads nothing any more.
            () = enough => {
                writing.abort();
                read
            }
        }
    }
}

/// How the reading of a pipe ended.
enum Heard {
    /// The client closed it, or it broke.
    End(std::io::Result<()>),
    /// Nobody reads what we write.
    Unread(std::io::Result<()>),
    /// We are to end.
    Enough,
}

impl<S: Service, A, P> Connection<S, A>
where
    A: Fn() -> Result<P, Fault>,
    P: Send + 'static,
{
    /// Takes one line after another until the pipe ends.
    async fn hear<R>(&mut self, mut reader: BufReader<R>, writing: &mut JoinHandle<std::io::Result<()>>) -> Heard
    where
        R: AsyncRead + Send + Unpin,
    {
        let limits = self.endpoint.shared.settings.limits;
        loop {
            let mut line = BytesMut::new();
            let found = tokio::select! {
                found = read_line(&mut reader, &mut line, limits.bytes) => found,
                written = &mut *writing => return Heard::Unread(written.unwrap_or(Ok(()))),
            };
            match found {
                Err(error) => return Heard::End(Err(error)),
                Ok(Line::End) if line.is_empty() => return Heard::End(Ok(())),
                Ok(Line::TooLong) => {
                    let message = format!("the message has more than {} bytes", limits.bytes);
                    let fault = Fault::new(codes::INVALID_REQUEST, message);
                    // Its id usually stands before what makes it long; without it the client would wait for an answer.
                    let whole = str::from_utf8(&line).map_or_else(|error| error.valid_up_to(), str::len);
                    line.truncate(whole);
                    let error = Message::read(&line.freeze(), limits).err();
                    let id = error.as_ref().and_then(ReadMessageError::id);
                    self.send(fault.coded(Code::new("body-too-large")).write(id)).await;
                }
                Ok(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(_) => self.take(line.freeze()).await,
            }
            // Calls that are over are let go of as we go.
            while self.calls.try_join_next().is_some() {}
            while self.watchers.try_join_next().is_some() {}
        }
    }

    async fn send(&self, line: Bytes) {
        // The writer ends only with the pipe, which the reader notices too.
        drop(self.lines.send(line).await);
    }

    async fn take(&mut self, line: Bytes) {
        let shared = Arc::clone(&self.endpoint.shared);
        let message = match Message::read(&line, shared.settings.limits) {
            Ok(message) => message,
            Err(error) => return self.send(unreadable(&error).write(error.id())).await,
        };
        let place = match &message {
            Message::Request { id, .. } => match (self.admit)() {
                Ok(place) => Some(place),
                Err(fault) => return self.send(fault.write(Some(id))).await,
            },
            _ => None,
        };
        let meta = match &message {
            Message::Request { params: Some(params), .. } => params.object("_meta"),
            _ => None,
        };
        let headers = http::HeaderMap::new();
        let speaks = speaks(&headers, message.method(), named_version(meta.as_ref()).as_deref());
        match message {
            Message::Request { id, method, params } if matches!(speaks, Ok(Speaks::Stateless)) => {
                let request =
                    Request { id, method, params, caller: self.caller.clone(), streams: true, via: Via::Pipe };
                let admitted = shared.admit_stateless(request, meta.as_ref(), None);
                self.start(admitted, place).await;
            }
            Message::Request { id, method, params } if method == "initialize" => {
                self.initialize(&id, params.as_ref()).await;
            }
            Message::Request { id, method, params } => {
                let Some(session) = self.session.clone() else {
                    // Whether anybody is there may be asked before anything else.
                    if method == "ping" {
                        return self.send(write::reply(&id, b"{}")).await;
                    }
                    let fault = Fault::new(codes::INVALID_REQUEST, "send `initialize` first");
                    return self.send(fault.coded(Code::new("session-required")).write(Some(&id))).await;
                };
                let request =
                    Request { id, method, params, caller: self.caller.clone(), streams: true, via: Via::Pipe };
                let admitted = shared.admit_session(request, &session);
                self.start(admitted, place).await;
            }
            Message::Notification { method, params } => self.note(&method, params).await,
            answer => {
                if let Some(session) = &self.session {
                    session.reply(answer);
                }
            }
        }
    }

    async fn initialize(&mut self, id: &Id, params: Option<&RawObject>) {
        let shared = &self.endpoint.shared;
        match shared.initialize(params, &self.caller) {
            Err(fault) => self.send(fault.write(Some(id))).await,
            Ok((session, result)) => {
                if let Some(before) = self.session.replace(Arc::clone(&session)) {
                    self.endpoint.shared.sessions.remove(before.id(), &self.caller);
                    self.endpoint.shared.end(&before);
                }
                self.send(write::reply(id, &result)).await;
                if !self.endpoint.shared.open(&session) {
                    tracing::warn!("there are too many sessions for this one to hear of changes");
                }
                let lines = self.lines.clone();
                let number = self.endpoint.shared.number();
                let open = session.open_stream();
                self.watchers.spawn(async move {
                    let _open = open;
                    while let Some(change) = std::future::poll_fn(|cx| session.inbox.poll(number, cx)).await {
                        if lines.send(change.write(None)).await.is_err() {
                            return;
                        }
                    }
                });
            }
        }
    }

    async fn note(&self, method: &str, params: Option<RawObject>) {
        if method == "notifications/cancelled"
            && let Some(id) = params.as_ref().and_then(|params| Id::read(&params.slice("requestId")?))
        {
            let call = lock(&self.running).get(&id).cloned();
            if let Some(call) = call {
                call.cancel();
                return;
            }
        }
        if let Some(session) = &self.session
            && let Some(notification) = self.endpoint.shared.note(method, params, session)
        {
            self.endpoint.shared.service.notified(notification).await;
        }
    }

    async fn start(&mut self, admitted: Admitted<S>, place: Option<P>) {
        match admitted {
            Admitted::Reply(_, line) => self.send(line).await,
            Admitted::Noted(line, notification) => {
                self.endpoint.shared.service.notified(notification).await;
                self.send(line).await;
            }
            Admitted::Call(ticket, run) => {
                let stateless = run.exchange().session.is_none();
                if stateless && !self.enter(&ticket.id, run.exchange()) {
                    let fault = Fault::new(codes::INVALID_REQUEST, "a request with this id is still running");
                    return self.send(fault.coded(Code::new("request-id-reused")).write(Some(&ticket.id))).await;
                }
                let (lines, running) = (self.lines.clone(), Arc::clone(&self.running));
                let watches = ticket.method == "subscriptions/listen";
                let tasks = if watches { &mut self.watchers } else { &mut self.calls };
                tasks.spawn(async move {
                    let _place = place;
                    let id = ticket.id.clone();
                    if watches {
                        follow_changes(ticket, run, &lines).await;
                    } else {
                        follow(ticket, run, &lines).await;
                    }
                    if stateless {
                        lock(&running).remove(&id);
                    }
                });
            }
        }
    }

    fn enter(&self, id: &Id, exchange: &Arc<Exchange>) -> bool {
        let mut running = lock(&self.running);
        if running.contains_key(id) {
            return false;
        }
        running.insert(id.clone(), Arc::clone(exchange));
        true
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes what a call says until it ends.
async fn follow<S: Service>(ticket: Ticket<S>, mut run: Run, lines: &mpsc::Sender<Bytes>) {
    loop {
        let (line, last) = match run.next().await {
            Step::Message(message) => (message, false),
            Step::Answer(answer) => (ticket.write(answer).1, true),
            Step::Asked => {
                drop(lines.send(ticket.park(run).1).await);
                return;
            }
            Step::Cancelled => return,
            Step::HangUp => continue,
        };
        if lines.send(line).await.is_err() || last {
            return;
        }
    }
}

async fn follow_changes<S: Service>(ticket: Ticket<S>, mut run: Run, lines: &mpsc::Sender<Bytes>) {
    let mut stream = match listen::open(&ticket, &mut run).await {
        Ok(stream) => stream,
        Err(answer) => return drop(lines.send(ticket.write(answer).1).await),
    };
    let cancelled = stream.exchange.token();
    loop {
        let next = tokio::select! {
            next = std::future::poll_fn(|cx| stream.poll_message(cx)) => next,
            () = cancelled.cancelled() => return,
        };
        let Some(line) = next else { return };
        if lines.send(line).await.is_err() {
            return;
        }
    }
}

/// Reads one line; of one that is too long only the beginning is kept, but it is read to its end, so that the next line is a line again.
async fn read_line<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    line: &mut BytesMut,
    limit: usize,
) -> std::io::Result<Line> {
    let mut too_long = false;
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(Line::End);
        }
        let end = memchr::memchr(b'\n', available);
        let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        let room = limit.saturating_sub(line.len());
        too_long |= piece.len() > room;
        line.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
        let used = end.map_or(available.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Whole });
        }
    }
}

async fn write_lines<W: AsyncWrite + Unpin>(mut writer: W, mut lines: mpsc::Receiver<Bytes>) -> std::io::Result<()> {
    while let Some(line) = lines.recv().await {
        // Nothing that we write has a line break in it, but what a server sent may.
        if memchr::memchr2(b'\n', b'\r', &line).is_some() {
            let flat: Vec<u8> =
                line.iter().map(|&byte| if byte == b'\n' || byte == b'\r' { b' ' } else { byte }).collect();
            writer.write_all(&flat).await?;
        } else {
            writer.write_all(&line).await?;
        }
        writer.write_all(b"\n").await?;
        if lines.is_empty() {
            writer.flush().await?;
        }
    }
    writer.flush().await
}
