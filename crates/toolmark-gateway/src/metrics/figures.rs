//! Figures that people look at: how long calls took, and how many there were minute by minute. Counted without locks or allocation.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolmark_core::time::Micros;

/// How many steps: the last one is for more than half an hour.
const STEPS: usize = 32;
/// How many minutes are remembered.
const MINUTES: usize = 64;
/// How many of them are shown.
const SHOWN: u64 = 60;

/// How long something took, in steps of a factor of two from one microsecond on.
#[derive(Debug)]
pub(super) struct Spread([AtomicU32; STEPS]);

/// The same, read at one moment; can be added up.
#[derive(Clone, Debug)]
pub(crate) struct Times([u64; STEPS]);

/// How many calls there were in each of the last minutes.
#[derive(Debug)]
pub(super) struct Minutes([Minute; MINUTES]);

#[derive(Debug, Default)]
struct Minute {
    /// Which minute since 1970.
    at: AtomicU64,
    calls: AtomicU32,
    errors: AtomicU32,
    asked: AtomicU32,
    denied: AtomicU32,
}

/// What a minute counts beside calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Badly,
    Asked,
    Denied,
}

impl Default for Spread {
    fn default() -> Self {
        Self([const { AtomicU32::new(0) }; STEPS])
    }
}

impl Spread {
    pub(super) fn add(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let step = (u64::BITS - micros.leading_zeros()) as usize;
        if let Some(count) = self.0.get(step.min(STEPS - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn read(&self) -> Times {
        let mut times = Times::default();
        for (count, own) in self.0.iter().zip(&mut times.0) {
            *own = u64::from(count.load(Ordering::Relaxed));
        }
        times
    }
}

impl Default for Times {
    fn default() -> Self {
        Self([0; STEPS])
    }
}

impl Times {
    pub(super) fn add(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own += other;
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// How many microseconds that part of all took at most: within its step as if all in it were spread evenly.
    fn below(&self, part: f64) -> Option<u64> {
        let all = self.count();
        if all == 0 {
            return None;
        }
        let wanted = (all as f64 * part).ceil().max(1.0);
        let mut seen = 0.0;
        for (step, count) in self.0.iter().enumerate() {
            let count = *count as f64;
            if count > 0.0 && seen + count >= wanted {
                let (from, to) =
                    if step == 0 { (0.0, 1.0) } else { (2f64.powi(step as i32 - 1), 2f64.powi(step as i32)) };
                return Some((from + (to - from) * (wanted - seen) / count).round() as u64);
            }
            seen += count;
        }
        None
    }

    /// Count and percentiles.
    pub(super) fn to_json(&self) -> Value {
        let at = |part| self.below(part);
        json!({"count": self.count(), "p50_us": at(0.5), "p95_us": at(0.95), "p99_us": at(0.99)})
    }
}

impl Default for Minutes {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Minute::default()))
    }
}

impl Minutes {
    /// Counts a call of a minute since 1970.
    pub(super) fn add(&self, at: u64, ended: Ended) {
        let Some(minute) = usize::try_from(at % MINUTES as u64).ok().and_then(|place| self.0.get(place)) else {
            return;
        };
        let before = minute.at.load(Ordering::Relaxed);
        // A call that began before the minute that took its place is too late to be counted.
        if before > at {
            return;
        }
        if before < at && minute.at.compare_exchange(before, at, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            for count in [&minute.calls, &minute.errors, &minute.asked, &minute.denied] {
                count.store(0, Ordering::Relaxed);
            }
        }
        minute.calls.fetch_add(1, Ordering::Relaxed);
        match ended {
            Ended::Well => {}
            Ended::Badly => _ = minute.errors.fetch_add(1, Ordering::Relaxed),
            Ended::Asked => _ = minute.asked.fetch_add(1, Ordering::Relaxed),
            Ended::Denied => _ = minute.denied.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// The last hour, oldest first, with minutes in which nothing happened.
    pub(super) fn to_json(&self, now: u64) -> Value {
        let minute = |at: u64| {
            let own = usize::try_from(at % MINUTES as u64).ok().and_then(|place| self.0.get(place));
            let own = own.filter(|minute| minute.at.load(Ordering::Relaxed) == at);
            let count = |of: fn(&Minute) -> &AtomicU32| own.map_or(0, |minute| of(minute).load(Ordering::Relaxed));
            let micros = i64::try_from(at.saturating_mul(60_000_000)).unwrap_or(0);
            json!({
                "time": Micros::new(micros).to_string(),
                "calls": count(|minute| &minute.calls),
                "errors": count(|minute| &minute.errors),
                "asked": count(|minute| &minute.asked),
                "denied": count(|minute| &minute.denied),
            })
        };
        (now.saturating_sub(SHOWN - 1)..=now).map(minute).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_right_to_within_their_step() {
        let spread = Spread::default();
        for micros in 1..=1000 {
            spread.add(Duration::from_micros(micros));
        }
        let times = spread.read();
        assert_eq!(times.count(), 1000);
        for (part, right) in [(0.5, 500.0), (0.95, 950.0), (0.99, 990.0)] {
            let shown = times.below(part).unwrap() as f64;
            assert!(shown >= right / 2.0 && shown <= right * 2.0, "{part}: {shown}");
        }
        assert_eq!(Times::default().below(0.5), None);
        let longest = Spread::default();
        longest.add(Duration::MAX);
        longest.add(Duration::ZERO);
        assert_eq!(longest.read().count(), 2);
    }

    #[test]
    fn a_minute_is_forgotten_when_another_takes_its_place() {
        let minutes = Minutes::default();
        minutes.add(1_000, Ended::Badly);
        minutes.add(1_000, Ended::Well);
        minutes.add(1_001, Ended::Denied);
        let shown = minutes.to_json(1_001);
        let all = shown.as_array().unwrap();
        assert_eq!(all.len(), 60);
        assert_eq!((&all[58]["calls"], &all[58]["errors"]), (&json!(2), &json!(1)));
        assert_eq!((&all[59]["calls"], &all[59]["denied"]), (&json!(1), &json!(1)));
        minutes.add(1_064, Ended::Well);
        minutes.add(1_000, Ended::Well);
        assert_eq!(minutes.to_json(1_064).as_array().unwrap()[59]["calls"], 1, "what is too late is not counted");
    }
}
