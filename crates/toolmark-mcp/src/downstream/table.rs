//! Which session does this id mean, and whose is it?

use std::sync::{Arc, PoisonError, RwLock};

use foldhash::HashMap;

use super::caller::Caller;
use super::session::Session;

/// How long a session must have been idle before a newcomer may take its place.
const GRACE_MS: u64 = 60_000;

#[derive(Default)]
pub(super) struct Table {
    sessions: RwLock<HashMap<Arc<str>, Arc<Session>>>,
}

impl Table {
    /// Adds a session; an error if there is no room. One that made room comes back, to be ended.
    pub(super) fn add(&self, session: &Arc<Session>, most: usize, now: u64) -> Result<Option<Arc<Session>>, ()> {
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        let mut evicted = None;
        if sessions.len() >= most {
            let id = gives_way(&sessions, session.caller.principal(), now).ok_or(())?;
            evicted = sessions.remove(&id);
        }
        sessions.insert(Arc::clone(session.id()), Arc::clone(session));
        Ok(evicted)
    }

    /// The session with this id, if it belongs to this caller.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        // Invariant: to anybody but its owner, a session does not exist.
        sessions.get(id).filter(|session| session.caller == *caller).cloned()
    }

    pub(super) fn remove(&self, id: &str, caller: &Caller) -> Option<Arc<Session>> {
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        sessions.get(id).filter(|session| session.caller == *caller)?;
        sessions.remove(id)
    }

    /// Takes out what has been idle since before `then`.
    pub(super) fn take_idle(&self, then: u64) -> Vec<Arc<Session>> {
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        let idle: Vec<Arc<Session>> = sessions
            .values()
            .filter(|session| session.idle_since().is_some_and(|since| since < then))
            .cloned()
            .collect();
        for session in &idle {
            sessions.remove(session.id());
        }
        idle
    }

    pub(super) fn take_all(&self) -> Vec<Arc<Session>> {
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *sessions).into_values().collect()
    }

    pub(super) fn for_each(&self, mut visit: impl FnMut(&Session)) {
        let sessions = self.sessions.read().unwrap_or_else(PoisonError::into_inner);
        sessions.values().for_each(|session| visit(session));
    }

    pub(super) fn len(&self) -> usize {
        self.sessions.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Which session makes room: the longest idle of whoever has the most. To somebody who has fewer it gives way at once, and where all of
/// them are in use the one that was longest not heard of does, so that nobody who opens one session after another keeps the others out.
fn gives_way(sessions: &HashMap<Arc<str>, Arc<Session>>, newcomer: &str, now: u64) -> Option<Arc<str>> {
    let mut counts: HashMap<&str, usize> = HashMap::default();
    for session in sessions.values() {
        *counts.entry(session.caller.principal()).or_default() += 1;
    }
    let count = |principal: &str| counts.get(principal).copied().unwrap_or_default();
    let most = counts.values().copied().max()?;
    let at_once = count(newcomer) + 1 < most;
    let of_most = || sessions.values().filter(|session| count(session.caller.principal()) == most);
    let idle = of_most().filter_map(|session| Some((session.idle_since()?, session)));
    match idle.min_by_key(|(since, _)| *since) {
        Some((since, session)) => (at_once || since + GRACE_MS <= now).then(|| Arc::clone(session.id())),
        None if at_once => of_most().min_by_key(|session| session.seen()).map(|session| Arc::clone(session.id())),
        None => None,
    }
}

#[cfg(test)]
mod tests;
