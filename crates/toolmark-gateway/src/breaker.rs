//! A server that fails again and again gets a rest: calls are refused at once, until one that is let through succeeds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest rest.
const LONGEST: Duration = Duration::from_secs(60);

/// Counts failures in a row.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// True while there is a failure to remember: calls of a server that answers come by without waiting for each other.
    failing: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// After how many failures it rests, and how long the first time.
    settings: (u32, Duration),
    failures: u32,
    rest: Duration,
    /// Until when nobody is let through; whoever comes after is the one that tries.
    until: Option<Instant>,
    /// One was let through, and nobody knows yet what became of it.
    tried: bool,
}

/// A server that rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resting {
    pub(crate) failures: u32,
    pub(crate) left: Duration,
}

impl Breaker {
    /// A rest after so many failures; 0 for never.
    pub(crate) fn new(most: u32, first_rest: Duration) -> Self {
        Self { failing: AtomicBool::new(false), state: Mutex::new(State::new((most, first_rest))) }
    }

    /// Goes by the settings of another from now on. What was counted under others counts no more.
    pub(crate) fn adopt(&self, other: &Self) {
        let settings = other.state().settings;
        let mut state = self.state();
        if state.settings != settings {
            *state = State::new(settings);
            self.failing.store(false, Ordering::Relaxed);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// May a call go through now?
    pub(crate) fn admit(&self, now: Instant) -> Result<(), Resting> {
        if !self.failing.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut state = self.state();
        match state.until {
            None => Ok(()),
            Some(until) if now < until => Err(Resting { failures: state.failures, left: until - now }),
            Some(_) => {
                // This one tries. The others wait for what becomes of it, or for as long again.
                state.until = Some(now + state.rest);
                state.tried = true;
                Ok(())
            }
        }
    }

    /// How long it still rests, without asking to go through.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        if !self.failing.load(Ordering::Relaxed) {
            return None;
        }
        let state = self.state();
        state.until.and_then(|until| until.checked_duration_since(now))
    }

    /// A call was answered, whatever the answer; or another server is there than the one whose calls were counted.
    pub(crate) fn answered(&self) {
        if !self.failing.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.state();
        *state = State::new(state.settings);
        self.failing.store(false, Ordering::Relaxed);
    }

    /// A call got no answer. True when the rest begins with this one.
    pub(crate) fn failed(&self, now: Instant) -> bool {
        let mut state = self.state();
        let (most, _) = state.settings;
        if most == 0 {
            return false;
        }
        state.failures = state.failures.saturating_add(1);
        self.failing.store(true, Ordering::Relaxed);
        if state.failures < most {
            return false;
        }
        let first = state.until.is_none();
        // Calls that were under way when the rest began end with it, and say nothing new.
        if !first && !std::mem::take(&mut state.tried) {
            return false;
        }
        if !first {
            state.rest = (state.rest * 2).min(LONGEST);
        }
        state.until = Some(now + state.rest);
        first
    }
}

impl State {
    fn new(settings: (u32, Duration)) -> Self {
        Self { settings, failures: 0, rest: settings.1, until: None, tried: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: Duration = Duration::from_secs(10);

    #[test]
    fn failures_in_a_row_bring_a_rest_and_one_call_ends_it() {
        let (breaker, start) = (Breaker::new(3, REST), Instant::now());
        assert!(!breaker.failed(start));
        assert!(!breaker.failed(start));
        assert_eq!(breaker.admit(start), Ok(()));
        assert!(breaker.failed(start));
        assert_eq!(breaker.admit(start), Err(Resting { failures: 3, left: REST }));
        let later = start + REST;
        assert_eq!(breaker.admit(later), Ok(()), "one tries");
        assert!(breaker.admit(later).is_err(), "the others wait");
        breaker.answered();
        assert_eq!(breaker.admit(later), Ok(()));
    }

    #[test]
    fn an_answer_in_between_starts_the_count_again() {
        let (breaker, now) = (Breaker::new(2, REST), Instant::now());
        breaker.failed(now);
        breaker.answered();
        assert!(!breaker.failed(now));
        assert_eq!(breaker.admit(now), Ok(()));
    }

    #[test]
    fn rests_grow_while_every_try_fails() {
        let (breaker, start) = (Breaker::new(1, REST), Instant::now());
        breaker.failed(start);
        assert_eq!(breaker.admit(start + REST), Ok(()));
        assert!(!breaker.failed(start + REST));
        assert_eq!(breaker.admit(start + REST), Err(Resting { failures: 2, left: REST * 2 }));
    }

    #[test]
    fn calls_that_fail_together_make_no_rest_longer() {
        let (breaker, start) = (Breaker::new(2, REST), Instant::now());
        assert_eq!((0..20).filter(|_| breaker.failed(start)).count(), 1);
        assert_eq!(breaker.admit(start), Err(Resting { failures: 20, left: REST }));
        assert_eq!(breaker.admit(start + REST), Ok(()), "one tries");
        assert!(!breaker.failed(start + REST));
        assert_eq!(breaker.admit(start + REST).expect_err("it rests").left, REST * 2);
    }

    #[test]
    fn other_settings_hold_from_now_on_and_the_same_ones_change_nothing() {
        let (breaker, now) = (Breaker::new(2, REST), Instant::now());
        breaker.failed(now);
        breaker.adopt(&Breaker::new(2, REST));
        assert!(breaker.failed(now), "the count goes on");
        breaker.adopt(&Breaker::new(3, REST * 2));
        assert_eq!(breaker.admit(now), Ok(()), "the rest is over");
        assert!(!breaker.failed(now) && !breaker.failed(now) && breaker.failed(now));
        assert_eq!(breaker.admit(now), Err(Resting { failures: 3, left: REST * 2 }));
        breaker.adopt(&Breaker::new(0, REST));
        assert!(!breaker.failed(now));
        assert_eq!(breaker.admit(now), Ok(()));
    }

    #[test]
    fn without_a_limit_nothing_rests() {
        let (breaker, now) = (Breaker::new(0, REST), Instant::now());
        assert!((0..100).all(|_| !breaker.failed(now)));
        assert_eq!(breaker.admit(now), Ok(()));
    }
}
