//! One place where clients of both eras reach a service, over HTTP or stdio.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::caller::Caller;
use super::inbox::{Changed, Inbox, Interest};
use super::lot::Lot;
use super::run::Run;
use super::seal::SealKey;
use super::service::Service;
use super::session::Session;
use super::share;
use super::stream::Seat;
use super::table::Table;
use crate::wire::Limits;

/// How often idle sessions and late parked calls are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Turns requests of clients into calls of a [`Service`]. Cheap to clone.
pub struct Endpoint<S> {
    pub(super) shared: Arc<Shared<S>>,
}

/// Bounds, each with a default that suits a gateway for one team.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How large and deep a message may be.
    pub limits: Limits,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a call may be silent before its answer becomes a stream, so that both ends can tell that it is alive.
    pub patience: Duration,
    /// How long a stream may be silent before a comment is sent.
    pub keep_alive: Duration,
    /// How long a session lives without a request.
    pub session_idle: Duration,
    /// Most sessions.
    pub sessions: usize,
    /// How many bytes of events a session keeps for a client that lost its connection.
    pub replay_bytes: usize,
    /// When such a client should come back.
    pub retry: Duration,
    /// How long a call waits for an old client to answer a question.
    pub ask_time: Duration,
    /// How long a new client may take to repeat a request that asked.
    pub park_time: Duration,
    /// Most calls that wait for such a client.
    pub parked: usize,
    /// Most streams of `subscriptions/listen`.
    pub listeners: usize,
    /// What seals the state of requests that asked.
    pub seal: SealKey,
}

/// How much is held for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Sessions of old clients.
    pub sessions: usize,
    /// Calls that wait for a client to repeat its request.
    pub parked: usize,
    /// Streams of `subscriptions/listen`.
    pub listeners: usize,
}

pub(super) struct Shared<S> {
    pub(super) service: Arc<S>,
    pub(super) settings: Settings,
    pub(super) sessions: Table,
    pub(super) lot: Lot,
    listeners: Mutex<HashMap<u64, Listener>>,
    numbers: AtomicU64,
    started: Instant,
    sweeping: AtomicBool,
}

struct Listener {
    caller: Caller,
    interest: Interest,
    inbox: Arc<Inbox>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            body_time: Duration::from_secs(30),
            patience: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            session_idle: Duration::from_secs(30 * 60),
            sessions: 10_000,
            replay_bytes: 256 << 10,
            retry: Duration::from_secs(1),
            ask_time: Duration::from_secs(10 * 60),
            park_time: Duration::from_secs(10 * 60),
            parked: 1_000,
            listeners: 10_000,
            seal: SealKey::random(),
        }
    }
}

impl<S> Clone for Endpoint<S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<S: Service> Endpoint<S> {
    /// An endpoint in front of `service`.
    #[must_use]
    pub fn new(service: Arc<S>, settings: Settings) -> Self {
        Self {
            shared: Arc::new(Shared {
                service,
                settings,
                sessions: Table::default(),
                lot: Lot::default(),
                listeners: Mutex::default(),
                numbers: AtomicU64::new(1),
                started: Instant::now(),
                sweeping: AtomicBool::new(false),
            }),
        }
    }

    /// The service behind it.
    #[must_use]
    pub fn service(&self) -> &Arc<S> {
        &self.shared.service
    }

    /// Tells everybody who wants to hear of it. Never waits for a client.
    pub fn broadcast(&self, change: &Changed) {
        self.broadcast_to(change, |_| true);
    }

    /// Tells those callers who want to hear of it.
    pub fn broadcast_to(&self, change: &Changed, concerned: impl Fn(&Caller) -> bool) {
        self.shared.sessions.for_each(|session| {
            if concerned(&session.caller) {
                session.tell(change);
            }
        });
        for listener in self.shared.listeners().values() {
            if listener.interest.wants(change) && concerned(&listener.caller) {
                listener.inbox.add(change);
            }
        }
    }

    /// How much is held for clients.
    #[must_use]
    pub fn held(&self) -> Held {
        Held {
            sessions: self.shared.sessions.len(),
            parked: self.shared.lot.len(),
            listeners: self.shared.listeners().len(),
        }
    }

    /// Ends all sessions, listeners and parked calls; requests under way are answered.
    pub fn close(&self) {
        for session in self.shared.sessions.take_all() {
            self.shared.end(&session);
        }
        self.shared.lot.clear();
        self.shared.listeners().values().for_each(|listener| listener.inbox.close());
    }
}

impl<S> Shared<S> {
    fn listeners(&self) -> MutexGuard<'_, HashMap<u64, Listener>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Milliseconds since the endpoint was made.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Seconds since the epoch. States outlive a process, so they are dated by the wall clock.
    pub(super) fn unix_time(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
    }

    /// When a state that is made now expires.
    pub(super) fn expiry(&self) -> u64 {
        self.unix_time().saturating_add(self.settings.park_time.as_secs().max(1))
    }
}

impl<S: Service> Shared<S> {
    pub(super) fn end(&self, session: &Session) {
        session.close();
        self.service.session_ended(session.id());
    }

    /// Opens a session; false if there is no room.
    pub(super) fn open(self: &Arc<Self>, session: &Arc<Session>) -> bool {
        let Ok(evicted) = self.sessions.add(session, self.settings.sessions, self.now()) else { return false };
        if let Some(evicted) = evicted {
            self.end(&evicted);
        }
        self.sweep_later();
        true
    }

    /// Parks a call; cancels it if there is no room.
    pub(super) fn park(self: &Arc<Self>, run: Run, until: u64) -> Option<[u8; 16]> {
        let id = self.lot.park(run, until, self.settings.parked)?;
        self.sweep_later();
        Some(id)
    }

    /// Seats a listener; `None` if there is no room. A listener of whoever has the most makes room for somebody who has fewer.
    pub(super) fn listen(self: &Arc<Self>, caller: &Caller, interest: Interest) -> Option<(Arc<Inbox>, Seat)> {
        let (inbox, number) = (Arc::new(Inbox::default()), self.number());
        let mut listeners = self.listeners();
        if listeners.len() >= self.settings.listeners {
            let owner = share::most(listeners.values().map(|own| own.caller.principal()), caller.principal())?;
            let own = listeners.iter().filter(|(_, own)| own.caller.principal() == owner);
            let oldest = own.map(|(number, _)| *number).min()?;
            // Its stream ends as it would with the gateway; the client may come back.
            listeners.remove(&oldest)?.inbox.close();
        }
        listeners.insert(number, Listener { caller: caller.clone(), interest, inbox: Arc::clone(&inbox) });
        let shared = Arc::downgrade(self);
        let seat = Seat(Box::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.listeners().remove(&number);
            }
        }));
        Some((inbox, seat))
    }

    /// Makes sure that somebody looks for what is over, for as long as anything is held.
    fn sweep_later(self: &Arc<Self>) {
        if self.sweeping.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                let Some(shared) = shared.upgrade() else { return };
                if shared.sweep() {
                    continue;
                }
                shared.sweeping.store(false, Ordering::Release);
                // Something may have come in after the last look.
                if !shared.sweep() || shared.sweeping.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        });
    }

    /// Ends what is over; false if nothing is left to watch.
    fn sweep(&self) -> bool {
        let idle = u64::try_from(self.settings.session_idle.as_millis()).unwrap_or(u64::MAX);
        if let Some(then) = self.now().checked_sub(idle) {
            for session in self.sessions.take_idle(then) {
                self.end(&session);
            }
        }
        self.lot.sweep(self.unix_time());
        self.sessions.len() > 0 || self.lot.len() > 0
    }
}
