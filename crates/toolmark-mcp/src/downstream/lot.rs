//! Where do calls wait whose client of 2026-07-28 has been asked something? Here, in bounded number and for bounded time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::run::Run;

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

    /// Parks a call until `until` (seconds since the epoch); cancels it if there is no room.
    pub(super) fn park(&self, mut run: Run, until: u64, most: usize) -> Option<[u8; 16]> {
        {
            let mut calls = self.calls();
            if calls.len() < most {
                // While it waits, the call must go on hearing from its server.
                run.detach();
                let id = uuid::Uuid::new_v4().into_bytes();
                calls.insert(id, Parked { run, until });
                return Some(id);
            }
        }
        drop(run);
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

#[cfg(test)]
mod tests;
