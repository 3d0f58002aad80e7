//! How records leave the hot path: a bounded queue in front of one task that writes them in batches.
//!
//! * A record costs its caller one place in the queue: no lock, no copy, no database.
//! * A batch is written when it is full, when its oldest record has waited for `linger`, or at once when somebody waits.
//! * A queue that is full means that the store cannot keep up. [`AuditSink::record`] then waits for at most `patience`, so
//!   that callers slow down; after that the record is lost, which is counted, logged and returned as an error. Nothing is
//!   dropped in silence.
//! * A batch that cannot be written is kept and tried again while the queue fills up behind it.
//! * What may be lost when the process is killed is what has not been written yet: at most `linger` and one batch.
//!   [`Durability::Strict`] closes that window: `record` returns when the record would survive a loss of power.

mod writer;

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{Notify, mpsc, oneshot};
use toolmark_core::explain::{Code, Explain, facts};

use self::writer::Writer;
use super::record::AuditRecord;
use crate::error::StoreError;
use crate::store::Store;

/// When a record counts as kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When it is in the queue.
    #[default]
    Batched,
    /// When it would survive a loss of power.
    Strict,
}

/// How a sink works.
#[derive(Clone, Debug)]
pub struct SinkSettings {
    /// The node whose chain the records join.
    pub node: Arc<str>,
    /// When a record counts as kept.
    pub durability: Durability,
    /// How many records may wait.
    pub queue: usize,
    /// How many bytes may wait.
    pub queue_bytes: usize,
    /// How many records are written at once.
    pub batch: usize,
    /// How long a record waits for others.
    pub linger: Duration,
    /// How long a caller waits for a place in the queue.
    pub patience: Duration,
}

/// Where records go. Cheap to clone; all clones share one queue.
#[derive(Clone)]
pub struct AuditSink {
    queue: mpsc::Sender<Message>,
    shared: Arc<Shared>,
}

/// How a sink is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditStats {
    /// Records that were taken.
    pub accepted: u64,
    /// Records that are in the store.
    pub written: u64,
    /// Records that were lost, each of them reported to its caller or to the log.
    pub lost: u64,
    /// Batches that were written.
    pub batches: u64,
    /// Attempts to write a batch that failed.
    pub failures: u64,
    /// Why the last attempt failed, as long as none has succeeded since.
    pub trouble: Option<StoreError>,
}

/// A record that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// There was no place in the queue for longer than anybody wants to wait.
    Full,
    /// The sink was closed.
    Closed,
    /// It could not be written.
    Store(StoreError),
}

/// How long a sink that closes may take to find a place for being told so.
const CLOSING: Duration = Duration::from_secs(10);

type Reply = oneshot::Sender<Result<(), StoreError>>;

#[expect(clippy::large_enum_variant, reason = "nearly every message is a record; a box would cost each an allocation")]
enum Message {
    Record(AuditRecord, Option<Reply>),
    Flush(Reply),
    Close(Reply),
}

/// What callers and the task share.
struct Shared {
    settings: SinkSettings,
    /// Wakes the task before its batch has waited long enough.
    hurry: Notify,
    bytes: AtomicUsize,
    closed: AtomicBool,
    accepted: AtomicU64,
    written: AtomicU64,
    lost: AtomicU64,
    batches: AtomicU64,
    failures: AtomicU64,
    trouble: Mutex<Option<StoreError>>,
}

impl SinkSettings {
    /// The usual settings for a node.
    #[must_use]
    pub fn new(node: &str) -> Self {
        Self {
            node: node.into(),
            durability: Durability::Batched,
            queue: 16 * 1024,
            queue_bytes: 64 * 1024 * 1024,
            batch: 1024,
            linger: Duration::from_millis(100),
            patience: Duration::from_secs(1),
        }
    }
}

impl Store {
    /// Starts a sink: a task on the current runtime that writes to this store until it is closed, or until its last clone
    /// is dropped and its queue is empty.
    ///
    /// Several sinks, in one process or in many, may write to the chain of one node.
    #[must_use]
    pub fn audit_sink(&self, settings: SinkSettings) -> AuditSink {
        let (queue, waiting) = mpsc::channel(settings.queue.max(1));
        let shared = Arc::new(Shared::new(settings));
        tokio::spawn(Writer::new(Arc::clone(self.backend()), waiting, Arc::clone(&shared)).run());
        AuditSink { queue, shared }
    }
}

impl AuditSink {
    /// Puts a record into the queue without waiting for anything, or gives it back when there is no place.
    ///
    /// # Errors
    /// The record, when the queue is full or the sink is closed. It is not counted as lost: that is up to the caller.
    pub fn offer(&self, record: AuditRecord) -> Result<(), Box<AuditRecord>> {
        self.enqueue(record, None).map_err(|(record, _)| record)
    }

    /// Keeps a record. Returns at once when there is a place in the queue; with [`Durability::Strict`], when it is written.
    ///
    /// # Errors
    /// [`RecordError`]: the record is not kept. It was counted and logged.
    pub async fn record(&self, record: AuditRecord) -> Result<(), RecordError> {
        match self.shared.settings.durability {
            Durability::Strict => self.record_strictly(record).await,
            Durability::Batched => match self.enqueue(record, None) {
                Ok(()) => Ok(()),
                Err((record, reply)) => self.wait_for_a_place(record, reply).await,
            },
        }
    }

    /// Keeps a record and returns when it would survive a loss of power, whatever the settings say.
    ///
    /// # Errors
    /// [`RecordError`]: the record is not kept. It was counted and logged.
    pub async fn record_strictly(&self, record: AuditRecord) -> Result<(), RecordError> {
        let (reply, answer) = oneshot::channel();
        if let Err((record, reply)) = self.enqueue(record, Some(reply)) {
            self.wait_for_a_place(record, reply).await?;
        }
        self.shared.hurry.notify_one();
        match answer.await {
            Ok(result) => result.map_err(RecordError::Store),
            Err(_) => Err(RecordError::Closed),
        }
    }

    /// Returns when everything that was taken before is written.
    ///
    /// # Errors
    /// [`RecordError`] when it could not be; unless the sink is closed, it will be tried again.
    pub async fn flush(&self) -> Result<(), RecordError> {
        self.tell(Message::Flush).await
    }

    /// Takes no more records, writes what is there, and ends.
    ///
    /// # Errors
    /// [`RecordError`] when the rest could not be written; it was counted as lost.
    pub async fn close(&self) -> Result<(), RecordError> {
        if self.shared.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.tell(Message::Close).await
    }

    /// How the sink is doing.
    #[must_use]
    pub fn stats(&self) -> AuditStats {
        self.shared.stats()
    }

    async fn tell(&self, message: fn(Reply) -> Message) -> Result<(), RecordError> {
        let (reply, answer) = oneshot::channel();
        let closed = || self.stats().trouble.map_or(RecordError::Closed, RecordError::Store);
        self.shared.hurry.notify_one();
        let place = self.queue.send_timeout(message(reply), self.shared.settings.patience.max(CLOSING)).await;
        place.map_err(|error| match error {
            mpsc::error::SendTimeoutError::Timeout(_) => RecordError::Full,
            mpsc::error::SendTimeoutError::Closed(_) => closed(),
        })?;
        self.shared.hurry.notify_one();
        match answer.await {
            Ok(result) => result.map_err(RecordError::Store),
            Err(_) => Err(RecordError::Closed),
        }
    }

    fn enqueue(&self, record: AuditRecord, reply: Option<Reply>) -> Result<(), (Box<AuditRecord>, Option<Reply>)> {
        let weight = record.weight();
        if self.shared.closed.load(Ordering::Acquire) || !self.shared.reserve(weight) {
            return Err((Box::new(record), reply));
        }
        match self.queue.try_send(Message::Record(record, reply)) {
            Ok(()) => {
                self.shared.accepted.fetch_add(1, Ordering::Relaxed);
                if self.queue.max_capacity() - self.queue.capacity() >= self.shared.settings.batch {
                    self.shared.hurry.notify_one();
                }
                Ok(())
            }
            Err(mpsc::error::TrySendError::Full(message) | mpsc::error::TrySendError::Closed(message)) => {
                self.shared.release(weight);
                match message {
                    Message::Record(record, reply) => Err((Box::new(record), reply)),
                    Message::Flush(_) | Message::Close(_) => Ok(()),
                }
            }
        }
    }

    async fn wait_for_a_place(&self, record: Box<AuditRecord>, reply: Option<Reply>) -> Result<(), RecordError> {
        let ends = tokio::time::Instant::now() + self.shared.settings.patience;
        let (mut record, mut reply) = (record, reply);
        let mut pause = Duration::from_micros(500);
        loop {
            if self.shared.closed.load(Ordering::Acquire) || self.queue.is_closed() {
                self.shared.lose(1, "the sink is closed");
                return Err(RecordError::Closed);
            }
            let now = tokio::time::Instant::now();
            if now >= ends {
                self.shared.lose(1, "the queue is full");
                return Err(RecordError::Full);
            }
            self.shared.hurry.notify_one();
            tokio::time::sleep_until(ends.min(now + pause)).await;
            pause = (pause * 2).min(Duration::from_millis(20));
            match self.enqueue(*record, reply) {
                Ok(()) => return Ok(()),
                Err(back) => (record, reply) = back,
            }
        }
    }
}

impl Shared {
    fn new(settings: SinkSettings) -> Self {
        Self {
            settings,
            hurry: Notify::new(),
            bytes: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            written: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            trouble: Mutex::new(None),
        }
    }

    /// Takes room for so many bytes, if there is any.
    fn reserve(&self, weight: usize) -> bool {
        let before = self.bytes.fetch_add(weight, Ordering::AcqRel);
        let fits = before.saturating_add(weight) <= self.settings.queue_bytes;
        if !fits {
            self.release(weight);
        }
        fits
    }

    fn release(&self, weight: usize) {
        self.bytes.fetch_sub(weight, Ordering::AcqRel);
    }

    /// Counts lost records, and says so at the first, the second, the fourth and so on: a full disk must not fill the log.
    fn lose(&self, count: u64, why: &str) {
        let before = self.lost.fetch_add(count, Ordering::AcqRel);
        let after = before.saturating_add(count);
        if before.checked_ilog2() != after.checked_ilog2() {
            tracing::error!(lost = after, node = &*self.settings.node, "audit records are lost: {why}");
        }
    }

    fn failed(&self, error: &StoreError) {
        let failures = self.failures.fetch_add(1, Ordering::AcqRel) + 1;
        if failures.is_power_of_two() {
            tracing::error!(failures, node = &*self.settings.node, "the audit cannot be written: {error}");
        }
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
    }

    fn wrote(&self, count: usize) {
        self.written.fetch_add(count as u64, Ordering::AcqRel);
        self.batches.fetch_add(1, Ordering::AcqRel);
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn stats(&self) -> AuditStats {
        AuditStats {
            accepted: self.accepted.load(Ordering::Acquire),
            written: self.written.load(Ordering::Acquire),
            lost: self.lost.load(Ordering::Acquire),
            batches: self.batches.load(Ordering::Acquire),
            failures: self.failures.load(Ordering::Acquire),
            trouble: self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("the audit has no room for another record"),
            Self::Closed => f.write_str("the audit is closed"),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RecordError {}

impl Explain for RecordError {
    fn code(&self) -> Code {
        match self {
            Self::Full => Code::new("audit-queue-full"),
            Self::Closed => Code::new("audit-closed"),
            Self::Store(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Full => "the store cannot keep up, and a record that is not kept is never dropped in silence".into(),
            Self::Closed => "the last record has been written; another would be lost".into(),
            Self::Store(error) => error.why(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Full => "look at the log for why the store is slow or cannot be written, such as a full disk".into(),
            Self::Closed => "start Toolmark again".into(),
            Self::Store(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Full | Self::Closed => facts([]),
            Self::Store(error) => error.facts(),
        }
    }
}
