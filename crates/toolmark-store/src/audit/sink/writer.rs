//! The task behind a sink: gathers records, writes them, and does not give up while there is hope.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::{AuditRecord, Message, Reply, Shared};
use crate::backend::Backend;
use crate::error::{Fault, StoreError};

/// How often the last batches are tried when the sink closes.
const LAST_ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

pub(super) struct Writer {
    backend: Arc<dyn Backend>,
    queue: mpsc::Receiver<Message>,
    shared: Arc<Shared>,
    batch: Vec<AuditRecord>,
    /// Who waits for the record at the same place in the batch.
    waiting: Vec<Option<Reply>>,
    flushing: Vec<Reply>,
    closing: Vec<Reply>,
    /// Somebody waits: the batch is written at once.
    hurry: bool,
    ended: bool,
}

impl Writer {
    pub(super) fn new(backend: Arc<dyn Backend>, queue: mpsc::Receiver<Message>, shared: Arc<Shared>) -> Self {
        Self {
            backend,
            queue,
            shared,
            batch: Vec::new(),
            waiting: Vec::new(),
            flushing: Vec::new(),
            closing: Vec::new(),
            hurry: false,
            ended: false,
        }
    }

    pub(super) async fn run(mut self) {
        let mut pause = FIRST_PAUSE;
        let mut attempts = 0;
        let mut failing: Option<Instant> = None;
        loop {
            if self.batch.is_empty() && !self.hurry {
                match self.queue.recv().await {
                    Some(message) => self.take(message),
                    None => self.ended = true,
                }
            }
            self.linger().await;
            self.gather();
            match self.write().await {
                Ok(()) => {
                    (pause, attempts, failing) = (FIRST_PAUSE, 0, None);
                    self.answer(&Ok(()));
                    if self.ended && self.queue.is_empty() {
                        break;
                    }
                }
                Err(error) => {
                    attempts += 1;
                    self.shared.failed(&error);
                    // A sink that is told to close may have no room in its queue to be told so.
                    let ending = self.ended || self.shared.closed.load(Ordering::Acquire);
                    // A call that ran must not lose its answer because a connection broke just then.
                    failing = self.is_awaited().then(|| failing.unwrap_or_else(Instant::now));
                    let passing = matches!(error.fault(), Fault::Unreachable | Fault::Busy) && !ending;
                    if passing && failing.is_some_and(|since| since.elapsed() < self.shared.settings.patience) {
                        self.pause(FIRST_PAUSE).await;
                        continue;
                    }
                    self.answer_failed(&error);
                    if error.fault() == Fault::Closed || ending && attempts >= LAST_ATTEMPTS {
                        self.give_up(&error);
                        return;
                    }
                    if !self.batch.is_empty() {
                        self.pause(pause).await;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
        }
        for reply in self.closing.drain(..) {
            let _ = reply.send(Ok(()));
        }
    }

    /// Whether somebody waits for records to be written.
    fn is_awaited(&self) -> bool {
        !self.flushing.is_empty() || self.waiting.iter().any(Option::is_some)
    }

    /// Waits for company, without being woken for each record.
    async fn linger(&self) {
        let enough = self.batch.len() + self.queue.len() >= self.shared.settings.batch;
        if self.hurry || self.ended || enough {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(self.shared.settings.linger) => {}
            () = self.shared.hurry.notified() => {}
        }
    }

    /// Waits before the next attempt, but not long once the sink is to close.
    async fn pause(&self, pause: Duration) {
        let ends = Instant::now() + pause;
        while Instant::now() < ends && !self.shared.closed.load(Ordering::Acquire) {
            tokio::time::sleep(FIRST_PAUSE.min(pause)).await;
        }
    }

    fn gather(&mut self) {
        while self.batch.len() < self.shared.settings.batch.max(1) {
            match self.queue.try_recv() {
                Ok(message) => self.take(message),
                Err(mpsc::error::TryRecvError::Empty) => break,
                Err(mpsc::error::TryRecvError::Disconnected) => {
                    self.ended = true;
                    break;
                }
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Record(record, reply) => {
                self.hurry |= reply.is_some();
                self.batch.push(record);
                self.waiting.push(reply);
            }
            Message::Flush(reply) => {
                self.hurry = true;
                self.flushing.push(reply);
            }
            Message::Close(reply) => {
                self.queue.close();
                self.ended = true;
                self.closing.push(reply);
            }
        }
    }

    async fn write(&mut self) -> Result<(), StoreError> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let strict = self.waiting.iter().any(Option::is_some);
        let records: Vec<&AuditRecord> = self.batch.iter().collect();
        self.backend.append(&self.shared.settings.node, &records, strict).await?;
        self.shared.wrote(self.batch.len());
        for record in self.batch.drain(..) {
            self.shared.release(record.weight());
        }
        Ok(())
    }

    fn answer(&mut self, result: &Result<(), StoreError>) {
        self.hurry = false;
        for reply in self.waiting.drain(..).flatten().chain(self.flushing.drain(..)) {
            // Whoever asked may have gone; the record stays where it is.
            let _ = reply.send(result.clone());
        }
    }

    /// Those who wait are told now, and their records are theirs to deal with; the others stay in the batch.
    fn answer_failed(&mut self, error: &StoreError) {
        self.hurry = false;
        for reply in self.flushing.drain(..) {
            let _ = reply.send(Err(error.clone()));
        }
        let (mut kept, mut told) = (Vec::new(), 0);
        for (record, reply) in self.batch.drain(..).zip(self.waiting.drain(..)) {
            match reply {
                None => kept.push(record),
                Some(reply) => {
                    told += 1;
                    self.shared.release(record.weight());
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
        if told > 0 {
            self.shared.lose(told, "the store cannot be written");
        }
        self.waiting.resize_with(kept.len(), || None);
        self.batch = kept;
    }

    fn give_up(&mut self, error: &StoreError) {
        self.queue.close();
        while let Ok(message) = self.queue.try_recv() {
            self.take(message);
        }
        let left = self.batch.len() as u64;
        if left > 0 {
            self.shared.lose(left, "the store cannot be written, and the sink ends");
        }
        for record in self.batch.drain(..) {
            self.shared.release(record.weight());
        }
        for reply in self.waiting.drain(..).flatten().chain(self.flushing.drain(..)).chain(self.closing.drain(..)) {
            let _ = reply.send(Err(error.clone()));
        }
    }
}
