//! Is the process gone that had a lease, or is it about to come back? Told by looking: a lease that stays as it is, while the server
//! answers, for longer than anybody who lives needs to connect again.
//!
//! No clock is compared with another, and time in which the server could not be asked hardly counts: nobody could have come back then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

/// For how long a lease must have been seen unchanged: several times what it takes to notice a lost connection and make another.
const GRACE: Duration = Duration::from_secs(6);
/// How much the time between two looks counts at most. Whatever kept us from looking may have kept others from coming back.
const STEP: Duration = Duration::from_secs(2);

/// What a process said last, and which server we heard it from: one that restarted has forgotten everybody's locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) holder: Uuid,
    pub(super) beat: i64,
    pub(super) server: i64,
}

/// What was seen of leases whose locks were free, by node.
#[derive(Default)]
pub(super) struct Absences(Mutex<HashMap<String, Absence>>);

struct Absence {
    lease: Lease,
    looked: Instant,
    unchanged: Duration,
}

impl Absences {
    /// Whether the process is gone, now that its lock was found free once more.
    pub(super) fn is_gone(&self, node: &str, lease: Lease, now: Instant) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Absence { lease, looked: now, unchanged: Duration::ZERO };
        let absence = all.entry(node.to_owned()).or_insert_with(fresh);
        if absence.lease == lease {
            absence.unchanged += now.saturating_duration_since(absence.looked).min(STEP);
            absence.looked = now;
        } else {
            *absence = fresh();
        }
        absence.unchanged >= GRACE
    }

    /// Its lock is not free, or is ours: what was seen before says nothing.
    pub(super) fn forget(&self, node: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Lease = Lease { holder: Uuid::from_u128(7), beat: 3, server: 1 };

    /// Looks at these moments, in milliseconds, and tells when the process first counted as gone.
    fn gone_at(looks: &[(u64, Lease)]) -> Option<u64> {
        let (absences, start) = (Absences::default(), Instant::now());
        let gone = |at: u64, lease| absences.is_gone("n", lease, start + Duration::from_millis(at));
        looks.iter().find(|(at, lease)| gone(*at, *lease)).map(|(at, _)| *at)
    }

    #[test]
    fn a_lease_that_stays_as_it_is_for_long_enough_is_nobodys() {
        let looks: Vec<_> = (0..100).map(|number| (number * 250, LEASE)).collect();
        assert_eq!(gone_at(&looks), Some(6000));
        let seldom: Vec<_> = (0..100).map(|number| (number * 2500, LEASE)).collect();
        assert_eq!(gone_at(&seldom), Some(7500));
    }

    #[test]
    fn one_look_is_never_enough_however_long_ago_the_one_before_was() {
        assert_eq!(gone_at(&[(0, LEASE)]), None);
        assert_eq!(gone_at(&[(0, LEASE), (3_600_000, LEASE), (3_602_000, LEASE)]), None);
        assert_eq!(gone_at(&[(0, LEASE), (3_600_000, LEASE), (3_602_000, LEASE), (3_604_000, LEASE)]), Some(3_604_000));
    }

    #[test]
    fn a_sign_of_life_another_holder_or_another_server_begin_it_anew() {
        for other in [Lease { beat: 4, ..LEASE }, Lease { holder: Uuid::nil(), ..LEASE }, Lease { server: 2, ..LEASE }]
        {
            let mut looks: Vec<_> = (0..24).map(|number| (number * 250, LEASE)).collect();
            looks.extend((24..100).map(|number| (number * 250, other)));
            assert_eq!(gone_at(&looks), Some(12_000));
        }
    }

    #[test]
    fn what_was_seen_before_somebody_had_the_lock_does_not_count() {
        let (absences, start) = (Absences::default(), Instant::now());
        for number in 0..24 {
            assert!(!absences.is_gone("n", LEASE, start + Duration::from_millis(number * 250)));
        }
        absences.forget("n");
        assert!(!absences.is_gone("n", LEASE, start + GRACE));
    }
}
