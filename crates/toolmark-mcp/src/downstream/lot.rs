//! Where do calls wait whose client of 2026-07-28 has been asked something? Here, in bounded number and for bounded time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::run::Run;
use super::share;

/// The parked calls. One that is taken out cannot be taken out again; one that is dropped is cancelled.
#[derive(Default)]
pub(super) struct Lot(Mutex<HashMap<[u8; 16], Parked>>);

struct Parked {
    run: Run,
    until: u64,
}

impl Lot {
    fn calls(&self) -> MutexGuard<'_, HashMap<[u8; 16], Parked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parks a call until `until` (seconds since the epoch); cancels it if there is no room. A call of whoever has the most makes room for
    /// somebody who has fewer, so that nobody who asks and never answers keeps the others out.
    pub(super) fn park(&self, mut run: Run, until: u64, most: usize) -> Option<[u8; 16]> {
        let evicted = {
            let mut calls = self.calls();
            let evicted = match calls.len() < most {
                true => None,
                false => gives_way(&calls, run.exchange().caller.principal()).and_then(|id| calls.remove(&id)),
            };
            if calls.len() < most {
                // While it waits, the call must go on hearing from its server.
                run.detach();
                let id = uuid::Uuid::new_v4().into_bytes();
                calls.insert(id, Parked { run, until });
                drop(calls);
                // Outside the lock, as below.
                drop(evicted);
                return Some(id);
            }
            evicted
        };
        drop((run, evicted));
        None
    }

    /// Takes a call out, once.
    pub(super) fn take(&self, id: &[u8]) -> Option<Run> {
        let id: [u8; 16] = id.try_into().ok()?;
        self.calls().remove(&id).map(|parked| parked.run)
    }

    /// Drops the calls whose time is over.
    pub(super) fn sweep(&self, now: u64) {
        let late: Vec<Parked> = {
            let mut calls = self.calls();
            let late: Vec<[u8; 16]> =
                calls.iter().filter(|(_, parked)| parked.until <= now).map(|(id, _)| *id).collect();
            late.iter().filter_map(|id| calls.remove(id)).collect()
        };
        // Outside the lock: dropping a call runs its destructors.
        drop(late);
    }

    pub(super) fn len(&self) -> usize {
        self.calls().len()
    }

    pub(super) fn clear(&self) {
        let all = std::mem::take(&mut *self.calls());
        drop(all);
    }
}

/// Which call makes room: of whoever has the most, the one that has waited longest, where the newcomer has fewer.
fn gives_way(calls: &HashMap<[u8; 16], Parked>, newcomer: &str) -> Option<[u8; 16]> {
    let owner = share::most(calls.values().map(|parked| parked.run.exchange().caller.principal()), newcomer)?;
    let own = calls.iter().filter(|(_, parked)| parked.run.exchange().caller.principal() == owner);
    own.min_by_key(|(_, parked)| parked.until).map(|(id, _)| *id)
}

#[cfg(test)]
mod tests;
