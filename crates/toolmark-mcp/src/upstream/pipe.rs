//! How do many requests share one stream? They are written one after another without waiting, and answers find their request
//! by its id. This carries programs, in-process servers and the old event-stream transport.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use futures_util::future::BoxFuture;
use http::{HeaderName, HeaderValue};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, TryAcquireError, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::desk::{Call, Desk, Outlet, Source};
use super::event::UpstreamEvent;
use super::options::UpstreamLimits;
use super::pace::{Moment, Pace};
use super::patience::patience;
use super::request::{CallObserver, Delivery, Reply, UpstreamError, UpstreamErrorKind, may_go};
use crate::wire::{Id, Limits, Message, ReadMessageErrorKind, read_items, write};

/// One stream in each direction.
pub(crate) struct Pipe {
    desk: Arc<Desk>,
    next: AtomicU64,
    outgoing: mpsc::Sender<Outgoing>,
    slots: Arc<Semaphore>,
    waiting: Semaphore,
    limits: UpstreamLimits,
    closed: CancellationToken,
    reason: OnceLock<String>,
    /// Whether whoever connects has yet to hear how that goes: until then nobody else hears of the end.
    connecting: AtomicBool,
    pace: Pace,
}

/// A message on its way out, with its id if it is a request.
pub(crate) struct Outgoing {
    pub(crate) message: Bytes,
    pub(crate) id: Option<u64>,
}

/// What a request brings along.
pub(crate) struct Exchange {
    pub(crate) id: u64,
    pub(crate) message: Bytes,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) observer: Option<Arc<dyn CallObserver>>,
    pub(crate) token: Option<Bytes>,
    pub(crate) askable: bool,
    /// What a POST carries beside what every one does.
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
}

/// Waits for the word to stop, where somebody may give it.
pub(crate) async fn word(cancel: Option<&CancellationToken>) {
    match cancel {
        Some(cancel) => cancel.cancelled().await,
        None => std::future::pending().await,
    }
}

/// Forgets a request when nobody waits for it any more, and tells the server.
struct Waiting<'a> {
    pipe: &'a Pipe,
    id: u64,
    done: bool,
}

/// Sends answers to questions through the same stream.
struct PipeOutlet(mpsc::Sender<Outgoing>);

impl Outlet for PipeOutlet {
    fn post(&self, message: Bytes) -> BoxFuture<'static, ()> {
        let outgoing = self.0.clone();
        Box::pin(async move {
            let _ = outgoing.send(Outgoing { message, id: None }).await;
        })
    }

    fn offer(&self, message: Bytes) {
        let _ = self.0.try_send(Outgoing { message, id: None });
    }
}

impl Pipe {
    /// A pipe whose outgoing messages someone else takes from the receiver.
    pub(crate) fn new(desk: Arc<Desk>, limits: UpstreamLimits) -> (Arc<Self>, mpsc::Receiver<Outgoing>) {
        let (outgoing, receiver) = mpsc::channel(limits.in_flight.clamp(1, 1024));
        let pipe = Self {
            desk,
            next: AtomicU64::new(1),
            outgoing,
            slots: Arc::new(Semaphore::new(limits.in_flight.max(1))),
            waiting: Semaphore::new(limits.queue.max(1)),
            limits,
            closed: CancellationToken::new(),
            reason: OnceLock::new(),
            connecting: AtomicBool::new(false),
            pace: Pace::default(),
        };
        (Arc::new(pipe), receiver)
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn desk(&self) -> &Arc<Desk> {
        &self.desk
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn pace(&self) -> &Pace {
        &self.pace
    }

    pub(crate) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Ends everything that is under way. Only the first reason counts.
    pub(crate) fn close(&self, reason: &str) {
        if self.reason.set(reason.to_owned()).is_ok() && !self.connecting.load(Ordering::SeqCst) {
            self.desk.events().send(UpstreamEvent::Closed(reason.to_owned()));
        }
        // Requests that get no slot any more, then those under way, then those that slip in meanwhile.
        self.slots.close();
        self.desk.close_all(reason);
        self.closed.cancel();
    }

    /// From here on until it is [connected](Self::connected) nobody but whoever connects hears of its end, which may be followed by another try.
    pub(crate) fn connecting(&self) {
        self.connecting.store(true, Ordering::SeqCst);
    }

    /// It is what others work with from now on. If it has ended meanwhile they hear of it.
    pub(crate) fn connected(&self) {
        self.connecting.store(false, Ordering::SeqCst);
        if let Some(reason) = self.reason.get() {
            self.desk.events().send(UpstreamEvent::Closed(reason.clone()));
        }
    }

    pub(crate) async fn notify(&self, message: Bytes) {
        let _ = self.outgoing.send(Outgoing { message, id: None }).await;
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn exchange(&self, exchange: Exchange) -> Result<Reply, UpstreamError> {
        let Exchange { id, message, timeout, cancel, observer, token, askable, headers: _ } = exchange;
        let patience = patience(&self.desk, id, timeout);
        tokio::pin!(patience);
        let (waiter, mut answer) = oneshot::channel();
        let begun = AtomicBool::new(false);
        let send = async {
            // What has no end takes nobody's place.
            let place = match timeout.map(|_| Arc::clone(&self.slots).try_acquire_owned()) {
                None => None,
                Some(Ok(place)) => Some(place),
                Some(Err(TryAcquireError::Closed)) => return Err(self.is_closed()),
                Some(Err(TryAcquireError::NoPermits)) => {
                    let busy = UpstreamErrorKind::Busy { limit: self.limits.queue };
                    let _place = self.waiting.try_acquire().map_err(|_| UpstreamError::never(busy))?;
                    let place = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| self.is_closed())?;
                    may_go(observer.as_deref())?;
                    Some(place)
                }
            };
            let waiter = Some(waiter);
            begun.store(true, Ordering::Relaxed);
            let questions = Vec::new();
            self.desk.open(id, Call { observer, token, askable, waiter, sent: false, questions, clock: None, place });
            let mut waiting = Waiting { pipe: self, id, done: false };
            // Who has an answer does not wait to be written: a program that stopped reading may write it all the same.
            let answered = tokio::select! {
                biased;
                sent = self.outgoing.send(Outgoing { message, id: Some(id) }) => match sent {
                    Ok(()) => answer.await,
                    Err(_) => return Err(self.is_closed()),
                },
                answered = &mut answer => answered,
            };
            let answer = answered.unwrap_or_else(|_| Err(self.is_closed()));
            waiting.done = true;
            answer
        };
        tokio::pin!(send);
        let kind = tokio::select! {
            biased;
            answer = &mut send => return answer,
            () = self.closed.cancelled() => return match self.desk.close(id) {
                Some(call) => Err(UpstreamError::new(self.is_closed().kind().clone(), delivery(call.sent))),
                // Its answer, or its refusal, is on the way already.
                None => send.await,
            },
            () = word(cancel.as_ref()) => UpstreamErrorKind::Cancelled,
            kind = &mut patience => kind,
        };
        match self.forget(id) {
            Some(sent) => Err(UpstreamError::new(kind, delivery(sent))),
            None if !begun.load(Ordering::Relaxed) => {
                Err(UpstreamError::never(kind.while_queued(self.limits.in_flight)))
            }
            // Its answer came at this very moment.
            None => send.await,
        }
    }

    /// Forgets a request that waits and, if it was sent, tells the server. Says whether it was.
    fn forget(&self, id: u64) -> Option<bool> {
        let call = self.desk.abandon(id)?;
        if call.sent {
            let params = format!(r#"{{"requestId":{id},"reason":"the caller does not wait any longer"}}"#);
            let message = write::notification("notifications/cancelled", Some(params.as_bytes()));
            let _ = self.outgoing.try_send(Outgoing { message, id: None });
        }
        Some(call.sent)
    }

    fn is_closed(&self) -> UpstreamError {
        let reason = self.reason.get().cloned().unwrap_or_else(|| "it has ended".to_owned());
        UpstreamError::never(UpstreamErrorKind::Closed { reason })
    }

    pub(crate) fn outlet(&self) -> Arc<dyn Outlet> {
        Arc::new(PipeOutlet(self.outgoing.clone()))
    }

    /// Takes in one message from the server.
    pub(crate) fn hear(&self, message: &Bytes, outlet: &Arc<dyn Outlet>) -> Result<(), ReadMessageErrorKind> {
        self.take_in(message, outlet).or_else(|error| match error {
            ReadMessageErrorKind::Batch => self.hear_batch(message, outlet),
            ReadMessageErrorKind::NotUtf8 { .. } => self.hear_garbled(message, error),
            _ => Err(error),
        })
    }

    fn take_in(&self, message: &Bytes, outlet: &Arc<dyn Outlet>) -> Result<(), ReadMessageErrorKind> {
        match self.desk.sort(message, Source::Shared, outlet) {
            Ok(Some((id, reply))) => self.desk.answer(id, Ok(reply)),
            Ok(None) => {}
            Err(error) => match error.id().and_then(Id::as_number) {
                Some(id) => self.desk.answer(id, Err(UpstreamError::protocol(error.to_string()))),
                None => return Err(error.kind().clone()),
            },
        }
        Ok(())
    }

    /// Takes in several messages in one line, which 2025-03-26 allows, each by itself.
    fn hear_batch(&self, batch: &Bytes, outlet: &Arc<dyn Outlet>) -> Result<(), ReadMessageErrorKind> {
        let mut understood = false;
        for message in read_items(batch).unwrap_or_default() {
            understood |= self.take_in(&message, outlet).is_ok();
        }
        if understood { Ok(()) } else { Err(ReadMessageErrorKind::Batch) }
    }

    /// Gives up the requests that a line answers which is not UTF-8: nobody would send another answer. What it says is not used, only
    /// which requests it is about.
    fn hear_garbled(&self, line: &[u8], error: ReadMessageErrorKind) -> Result<(), ReadMessageErrorKind> {
        let readable = Bytes::from(String::from_utf8_lossy(line).into_owned());
        let limits = Limits { bytes: readable.len(), ..Limits::default() };
        let mut known = false;
        for message in read_items(&readable).unwrap_or_else(|| vec![readable]) {
            let id = match Message::read(&message, limits) {
                Ok(Message::Response { id, .. } | Message::Error { id: Some(id), .. }) => id.as_number(),
                _ => None,
            };
            if let Some(id) = id {
                known = true;
                self.desk.answer(id, Err(UpstreamError::protocol(error.to_string())));
            }
        }
        if known { Ok(()) } else { Err(error) }
    }

    /// Gives up the request that a message beyond the limit answers, if it can be told from its two ends.
    fn hear_too_large(&self, head: &[u8], tail: &[u8]) {
        if let Some(id) = id_at_an_end(head, tail).or_else(|| self.desk.only_call()) {
            let kind = UpstreamErrorKind::TooLarge { limit: self.limits.bytes };
            self.desk.answer(id, Err(UpstreamError::perhaps(kind)));
        }
    }
}

fn delivery(sent: bool) -> Delivery {
    if sent { Delivery::Perhaps } else { Delivery::Never }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Someone who was told why has been forgotten already; this is for those who went without a word.
        if !self.done {
            self.pipe.forget(self.id);
        }
    }
}

/// How many messages are written in one piece.
const MOST_AT_ONCE: usize = 64;

/// Writes what goes out. What waits is written in one piece; a request that was given up before is not written at all. Nothing more is
/// written once the pipe is closed, and whoever reads is told so `when`.
pub(crate) async fn write_lines(
    pipe: Arc<Pipe>,
    mut outgoing: mpsc::Receiver<Outgoing>,
    mut output: impl AsyncWrite + Unpin,
    when: impl Future<Output = ()>,
) {
    let mut batch = Vec::new();
    let mut ids = Vec::new();
    let mut buffer = BytesMut::new();
    let mut moment = Moment::default();
    loop {
        batch.clear();
        let count = tokio::select! {
            count = outgoing.recv_many(&mut batch, MOST_AT_ONCE) => count,
            () = pipe.closed.cancelled() => break,
        };
        if count == 0 {
            break;
        }
        // While others are under way more of them are about to come: whoever can write now writes first, and a server that is woken
        // for each line reads them at once. Alone, a request goes out as it comes.
        let waiting = pipe.desk.under_way();
        if waiting > count && count < MOST_AT_ONCE {
            match pipe.pace.is_slow(waiting) {
                true => moment.pass().await,
                false => tokio::task::yield_now().await,
            }
            while batch.len() < MOST_AT_ONCE
                && let Ok(another) = outgoing.try_recv()
            {
                batch.push(another);
            }
        }
        ids.clear();
        ids.extend(batch.iter().filter_map(|item| item.id));
        pipe.desk.mark_sent(&mut ids);
        buffer.clear();
        for item in &batch {
            if item.id.is_none_or(|id| ids.contains(&id)) {
                buffer.put_slice(&item.message);
                buffer.put_u8(b'\n');
            }
        }
        let written = async {
            output.write_all(&buffer).await?;
            output.flush().await
        };
        tokio::select! {
            result = written => if let Err(error) = result {
                pipe.close(&format!("writing failed: {}", error.kind()));
                break;
            },
            () = pipe.closed.cancelled() => break,
        }
        if buffer.capacity() > 1 << 20 {
            buffer = BytesMut::new();
        }
    }
    // Whoever still has something to send is not kept waiting.
    drop(outgoing);
    when.await;
    let _ = output.shutdown().await;
}

/// Reads what comes in, a message a line. Lines that are no message are handed to `stray`. Once the pipe is closed nothing more is read, and
/// whoever writes is told so `when`.
pub(crate) async fn read_lines(
    pipe: Arc<Pipe>,
    mut input: impl AsyncRead + Unpin,
    stray: impl Fn(&[u8]),
    when: impl Future<Output = ()>,
) {
    read_until_closed(&pipe, &mut input, stray).await;
    when.await;
}

async fn read_until_closed(pipe: &Pipe, input: &mut (impl AsyncRead + Unpin), stray: impl Fn(&[u8])) {
    let outlet = pipe.outlet();
    let limit = pipe.limits.bytes;
    let mut buffer = BytesMut::with_capacity(16 << 10);
    let mut searched = 0;
    // Of a line beyond the limit, its beginning: set while the rest is skipped.
    let mut skipping: Option<Bytes> = None;
    // What came before the server said who it is and was no message.
    let mut noise = 0;
    let mut moment = Moment::default();
    let (mut came, mut last) = (0, Instant::now());
    loop {
        while let Some(end) = memchr(b'\n', buffer.get(searched..).unwrap_or_default()) {
            let line = buffer.split_to(searched + end).freeze();
            buffer.advance(1);
            searched = 0;
            came += 1;
            if let Some(head) = skipping.take() {
                pipe.hear_too_large(&head, &line);
            } else if line.len() > limit {
                pipe.hear_too_large(&line, &line);
            } else if !line.trim_ascii().is_empty() && pipe.hear(&line, &outlet).is_err() {
                noise += line.len() + 1;
                stray(&line);
            }
        }
        let is_noisy = noise > MOST_NOISE || skipping.is_some() || buffer.len() > limit;
        if is_noisy && pipe.connecting.load(Ordering::Relaxed) {
            return pipe.close("it writes much that is no message of the protocol");
        }
        searched = buffer.len();
        if buffer.len() > limit || (skipping.is_some() && buffer.len() > 4 * ENDS) {
            if skipping.is_none() {
                skipping = Some(Bytes::copy_from_slice(buffer.get(..ENDS.min(buffer.len())).unwrap_or_default()));
            }
            buffer.advance(buffer.len().saturating_sub(ENDS));
            searched = buffer.len();
        }
        buffer.reserve(16 << 10);
        if came > 0 {
            let waiting = pipe.desk.under_way();
            let now = Instant::now();
            let after = now.saturating_duration_since(std::mem::replace(&mut last, now));
            pipe.pace.note(std::mem::take(&mut came), after, waiting);
            // The rest of an answer that has begun is read as it comes.
            if buffer.is_empty() && pipe.pace.is_slow(waiting) {
                moment.pass().await;
            }
        }
        let read = tokio::select! {
            read = input.read_buf(&mut buffer) => read,
            () = pipe.closed.cancelled() => return,
        };
        match read {
            Ok(0) => {
                // A program that ends closes its output first; how it ended says more.
                let _ = tokio::time::timeout(Duration::from_millis(200), pipe.closed.cancelled()).await;
                return pipe.close("the server closed its output");
            }
            Ok(_) => {}
            Err(error) => return pipe.close(&format!("reading failed: {}", error.kind())),
        }
    }
}

/// How much may be said that is no message before a server says who it is.
const MOST_NOISE: usize = 1 << 20;

/// How much of each end of a line beyond the limit is kept.
const ENDS: usize = 256;

/// The id of an answer of which only the two ends are known: servers write it first or last.
fn id_at_an_end(head: &[u8], tail: &[u8]) -> Option<u64> {
    let digits = |bytes: &[u8]| -> Option<u64> {
        let digits: Vec<u8> = bytes.iter().copied().take_while(u8::is_ascii_digit).collect();
        str::from_utf8(&digits).ok()?.parse().ok()
    };
    let squeezed =
        |bytes: &[u8]| -> Vec<u8> { bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect() };
    let head = squeezed(head.get(..ENDS.min(head.len())).unwrap_or_default());
    let tail = squeezed(tail.get(tail.len().saturating_sub(ENDS)..).unwrap_or_default());
    for start in [&br#"{"jsonrpc":"2.0","id":"#[..], br#"{"id":"#] {
        if let Some(rest) = head.strip_prefix(start) {
            return digits(rest);
        }
    }
    let tail = tail.strip_suffix(b"}")?;
    let tail = tail.strip_suffix(br#","jsonrpc":"2.0""#).unwrap_or(tail);
    let start = tail.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    let (before, number) = tail.split_at_checked(start)?;
    if before.ends_with(br#""id":"#) { digits(number) } else { None }
}

#[cfg(test)]
pub(super) mod tests;
