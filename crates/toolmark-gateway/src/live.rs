//! What is happening right now? Calls as they begin and end, for whoever looks on; for nobody, nothing is done but asking whether
//! anybody does.
//!
//! What a page needs of the past is in the audit. The hub keeps the last calls only while somebody looks, so that what was seen can
//! be looked at again, and forgets them when the last one leaves.

mod call;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};
use toolmark_config::sections::Audit;
use toolmark_runtime::{Keeping, Record, Recorder, Stray};
use uuid::Uuid;

use crate::audit::redact::Redactor;

pub(crate) use self::call::{LiveCall, shortened};

/// How many events a listener may be behind before it misses some.
const BEHIND: usize = 2048;
/// How many calls that ended are kept while somebody looks.
const KEPT: usize = 512;
/// How many calls that run are kept in mind.
const RUNNING: usize = 4096;

/// Tells listeners of calls.
pub(crate) struct Hub {
    listening: AtomicUsize,
    /// Made when somebody listens for the first time.
    events: OnceLock<broadcast::Sender<LiveEvent>>,
    recent: Mutex<Recent>,
    seq: AtomicU64,
    redactor: Redactor,
}

/// What was seen since somebody looks.
#[derive(Default)]
struct Recent {
    ended: VecDeque<Arc<LiveCall>>,
    running: HashMap<Uuid, Arc<LiveCall>>,
}

/// What happens to calls.
#[derive(Clone, Debug)]
pub(crate) enum LiveEvent {
    /// It was judged, and now runs or waits for a person. Comes again when a person put other arguments in place of its own.
    Begun(Arc<LiveCall>),
    /// It is over, however it ended.
    Ended(Arc<LiveCall>),
}

/// What a listener hears next.
#[derive(Clone, Debug)]
pub(crate) enum Heard {
    /// Something that happened.
    Event(LiveEvent),
    /// It was too slow, and so many events are gone.
    Missed(u64),
}

/// Somebody who looks on, until dropped.
pub(crate) struct Listener {
    hub: Arc<Hub>,
    events: broadcast::Receiver<LiveEvent>,
}

/// Tells the hub of every record, and passes it on.
pub(crate) struct Shown {
    hub: Arc<Hub>,
    next: Arc<dyn Recorder>,
}

impl Hub {
    /// A hub that blacks out what the audit would not keep.
    pub(crate) fn new(audit: &Audit) -> Self {
        Self {
            listening: AtomicUsize::new(0),
            events: OnceLock::new(),
            recent: Mutex::default(),
            seq: AtomicU64::new(0),
            redactor: Redactor::new(&audit.redact),
        }
    }

    /// Hears of everything from now on.
    pub(crate) fn subscribe(self: &Arc<Self>) -> Listener {
        let sender = self.events.get_or_init(|| broadcast::channel(BEHIND).0);
        let events = sender.subscribe();
        let mut recent = self.recent();
        if self.listening.fetch_add(1, Ordering::AcqRel) == 0 {
            *recent = Recent::default();
        }
        drop(recent);
        Listener { hub: Arc::clone(self), events }
    }

    /// How many look on.
    pub(crate) fn listeners(&self) -> usize {
        self.listening.load(Ordering::Relaxed)
    }

    /// What blacks out secrets.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// A call that was seen a moment ago.
    pub(crate) fn recall(&self, id: Uuid) -> Option<Arc<LiveCall>> {
        let recent = self.recent();
        let ended = recent.ended.iter().rev().find(|call| call.id == id);
        ended.or_else(|| recent.running.get(&id)).cloned()
    }

    /// Calls that began and have not ended, oldest first, as far as somebody looked when they began.
    pub(crate) fn running(&self) -> Vec<Arc<LiveCall>> {
        let mut running: Vec<_> = self.recent().running.values().cloned().collect();
        running.sort_by_key(|call| call.id);
        running
    }

    /// The number of the last call that was told.
    pub(crate) fn seq(&self) -> u64 {
        self.seq.load(Ordering::Relaxed)
    }

    fn recent(&self) -> std::sync::MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begun(&self, record: &Record<'_>) {
        let call = Arc::new(LiveCall::begun(record, &self.redactor));
        {
            let mut recent = self.recent();
            if recent.running.len() < RUNNING {
                recent.running.insert(call.id, Arc::clone(&call));
            }
        }
        self.send(LiveEvent::Begun(call));
    }

    fn ended(&self, record: &Record<'_>) {
        let began = self.recent().running.remove(&record.id);
        let seq = self.seq.fetch_add(1, Ordering::Relaxed) + 1;
        let call = Arc::new(LiveCall::ended(record, began.as_deref(), seq, &self.redactor));
        self.keep(Arc::clone(&call));
        self.send(LiveEvent::Ended(call));
    }

    fn strayed(&self, stray: &Stray<'_>) {
        let seq = self.seq.fetch_add(1, Ordering::Relaxed) + 1;
        let call = Arc::new(LiveCall::stray(stray, seq));
        self.keep(Arc::clone(&call));
        self.send(LiveEvent::Ended(call));
    }

    fn keep(&self, call: Arc<LiveCall>) {
        let mut recent = self.recent();
        if recent.ended.len() >= KEPT {
            recent.ended.pop_front();
        }
        recent.ended.push_back(call);
    }

    fn send(&self, event: LiveEvent) {
        if let Some(events) = self.events.get() {
            // The last listener may have left just now.
            let _ = events.send(event);
        }
    }
}

impl Listener {
    /// What happens next. Nothing once the gateway is gone.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        match self.events.recv().await {
            Ok(event) => Some(Heard::Event(event)),
            Err(RecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// What has happened already and was not heard yet.
    pub(crate) fn waiting(&mut self) -> Option<Heard> {
        match self.events.try_recv() {
            Ok(event) => Some(Heard::Event(event)),
            Err(TryRecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut recent = self.hub.recent();
        if self.hub.listening.fetch_sub(1, Ordering::AcqRel) == 1 {
            *recent = Recent::default();
        }
    }
}

impl Shown {
    pub(crate) fn new(hub: Arc<Hub>, next: Arc<dyn Recorder>) -> Self {
        Self { hub, next }
    }

    fn is_looked_at(&self) -> bool {
        self.hub.listening.load(Ordering::Relaxed) > 0
    }
}

impl Recorder for Shown {
    fn ready(&self) -> Keeping {
        self.next.ready()
    }

    fn is_watched(&self) -> bool {
        self.is_looked_at() || self.next.is_watched()
    }

    fn begin(&self, record: &Record<'_>) {
        if self.is_looked_at() {
            self.hub.begun(record);
        }
        self.next.begin(record);
    }

    fn intend(&self, record: &Record<'_>) -> Keeping {
        self.next.intend(record)
    }

    fn keep(&self, record: &Record<'_>) -> Keeping {
        if self.is_looked_at() {
            self.hub.ended(record);
        }
        self.next.keep(record)
    }

    fn record(&self, record: &Record<'_>) {
        if self.is_looked_at() {
            self.hub.ended(record);
        }
        self.next.record(record);
    }

    fn stray(&self, stray: &Stray<'_>) {
        if self.is_looked_at() {
            self.hub.strayed(stray);
        }
        self.next.stray(stray);
    }
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").field("listening", &self.listening).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
