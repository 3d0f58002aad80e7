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

mod error;
mod shared;
mod writer;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

pub use self::error::RecordError;
pub use self::shared::AuditStats;
use self::shared::Shared;
use self::writer::Writer;
use super::node::NodeClaim;
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
    /// How long a caller waits for a place in the queue, and for a store that is away for a moment.
    pub patience: Duration,
}

/// Where records go. Cheap to clone; all clones share one queue.
#[derive(Clone)]
pub struct AuditSink {
    queue: mpsc::Sender<Message>,
    shared: Arc<Shared>,
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

impl SinkSettings {
    /// The usual settings for a node.
    #[must_use]
    pub fn new(node: &str) -> Self {
        Self {
            node: node.into(),
            durability: Durability::Batched,
            queue: 16 * 1024,
            queue_bytes: 64 * 1024 * 1024,
            batch: 2048,
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
        self.sink(settings, None)
    }

    /// The same for a chain that this process has for itself, for as long as the sink is there.
    #[must_use]
    pub fn audit_sink_of(&self, claim: NodeClaim, mut settings: SinkSettings) -> AuditSink {
        settings.node = Arc::clone(claim.node());
        self.sink(settings, Some(claim))
    }

    fn sink(&self, settings: SinkSettings, claim: Option<NodeClaim>) -> AuditSink {
        let (queue, waiting) = mpsc::channel(settings.queue.max(1));
        let shared = Arc::new(Shared::new(settings, claim));
        tokio::spawn(Writer::new(Arc::clone(self.backend()), waiting, Arc::clone(&shared)).run());
        AuditSink { queue, shared }
    }
}

impl AuditSink {
    /// The node whose chain the records join.
    #[must_use]
    pub fn node(&self) -> &Arc<str> {
        &self.shared.settings.node
    }

    /// Puts a record into the queue without waiting for anything, or gives it back when there is no place.
    ///
    /// # Errors
    /// The record, when the queue is full or the sink is closed. It is not counted as lost: that is up to the caller.
    pub fn offer(&self, record: AuditRecord) -> Result<(), Box<AuditRecord>> {
        self.enqueue(record, None).map_err(|(record, _)| record)
    }

    /// Puts a record into the queue without waiting for anything. When there is no place, it is lost, counted and logged: for
    /// callers that can neither wait nor fail, and that asked [`AuditSink::ready`] before.
    pub fn note(&self, record: AuditRecord) {
        if self.offer(record).is_err() {
            self.shared.lose(1, "the queue is full or the sink is closed");
        }
    }

    /// Returns at once while the queue has room to spare; otherwise waits for it, at most for `patience`. Asked before a call
    /// runs, it slows callers down before records are lost.
    ///
    /// # Errors
    /// [`RecordError::Full`] when there is no room after all, [`RecordError::Closed`] when there never will be.
    pub async fn ready(&self) -> Result<(), RecordError> {
        if self.has_room() {
            return Ok(());
        }
        let ends = tokio::time::Instant::now() + self.shared.settings.patience;
        loop {
            if self.shared.closed.load(Ordering::Acquire) || self.queue.is_closed() {
                return Err(RecordError::Closed);
            }
            if self.has_room() {
                return Ok(());
            }
            if tokio::time::Instant::now() >= ends {
                return Err(RecordError::Full);
            }
            self.shared.hurry.notify_one();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// An eighth is kept for calls that are under way already.
    fn has_room(&self) -> bool {
        let spare = self.queue.capacity() > self.queue.max_capacity() / 8;
        let settings = &self.shared.settings;
        let light = self.shared.bytes.load(Ordering::Acquire) <= settings.queue_bytes - settings.queue_bytes / 8;
        spare && light && !self.shared.closed.load(Ordering::Acquire)
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

    /// True when a record counts as kept only once it would survive a loss of power.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.shared.settings.durability == Durability::Strict
    }

    /// Whether a call may begin without waiting for room: an eighth of the queue is kept for calls that are under way already.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.has_room()
    }

    /// Puts a record into the queue now; what is returned is done when the record would survive a loss of power. It is written whether
    /// or not anybody waits.
    ///
    /// # Errors
    /// [`RecordError`]: the record is not kept. It was counted and logged.
    pub fn begin_strictly(
        &self,
        record: AuditRecord,
    ) -> Result<impl Future<Output = Result<(), RecordError>> + Send + 'static, RecordError> {
        let (reply, answer) = oneshot::channel();
        if self.enqueue(record, Some(reply)).is_err() {
            let closed = self.shared.closed.load(Ordering::Acquire) || self.queue.is_closed();
            let (why, error) = match closed {
                true => ("the sink is closed", RecordError::Closed),
                false => ("the queue is full", RecordError::Full),
            };
            self.shared.lose(1, why);
            return Err(error);
        }
        self.shared.hurry.notify_one();
        Ok(async move {
            match answer.await {
                Ok(result) => result.map_err(RecordError::Store),
                Err(_) => Err(RecordError::Closed),
            }
        })
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
