//! The ids of calls: UUIDs of version 7, which sort by time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

/// Makes ids: UUIDs of version 7, in order. Asking the system for random bytes for each would cost as much as the rest of
/// recording; it is asked once, and what tells ids of one process apart is a number that grows.
pub(crate) struct Ids {
    salt: u64,
    last: AtomicU64,
}

impl Ids {
    pub(crate) fn new() -> Self {
        let (salt, _) = Uuid::new_v4().as_u64_pair();
        Self { salt, last: AtomicU64::new(0) }
    }

    /// The next one.
    pub(crate) fn now(&self) -> Uuid {
        self.next(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// The next one, at this time since 1970.
    fn next(&self, now: Duration) -> Uuid {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        // Twelve bits that keep the order within a millisecond, and the salt with the number in it, which no two share.
        let mut bytes = [0; 10];
        let (order, rest) = bytes.split_at_mut(2);
        order.copy_from_slice(&(u16::try_from(number & 0x0fff).unwrap_or(0)).to_be_bytes());
        rest.copy_from_slice(&(self.salt ^ number.rotate_left(20)).to_be_bytes());
        let millis = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_of_version_7_in_order_and_never_the_same() {
        let ids = Ids::new();
        let all: Vec<Uuid> = (0..10_000).map(|at| ids.next(Duration::from_millis(1_000 + at / 100))).collect();
        assert!(all.iter().all(|id| id.get_version_num() == 7 && id.get_variant() == uuid::Variant::RFC4122));
        let distinct: std::collections::HashSet<&Uuid> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        let ordered = all.windows(2).filter(|pair| pair.first() < pair.last()).count();
        assert!(ordered >= all.len() - 4, "only where twelve bits run over within a millisecond");
        assert_ne!(Ids::new().next(Duration::ZERO), Ids::new().next(Duration::ZERO));
    }
}
