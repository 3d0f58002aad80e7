//! Which session does this id mean, and whose is it?

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::caller::Caller;
use super::session::Session;

/// How long a session must have been idle before a newcomer may take its place.
const GRACE_MS: u64 = 60_000;

#[derive(Default)]
pub(super) struct Table {
    sessions: RwLock<HashMap<Arc<str>, Arc<Session>>>,
}

impl Table {
    /// Adds a session; gives it back if there is no room. Sessions that made room come along.
    pub(super) fn add(&self, session: &Arc<Session>, most: usize, now: u64) -> Result<Option<Arc<Session>>, ()> {
        let mut sessions = self.sessions.write().unwrap_or_else(PoisonError::into_inner);
        let mut evicted = None;
        if sessions.len() >= most {
            let idle = sessions.values().filter_map(|session| Some((session.idle_since()?, session)));
            let oldest = idle.min_by_key(|(since, _)| *since).filter(|(since, _)| since + GRACE_MS <= now);
            let id = Arc::clone(oldest.ok_or(())?.1.id());
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

#[cfg(test)]
mod tests;
