//! How often does a program that answers one request at a time wake us, and we it? While many requests wait for it, it is read from and
//! written to a few times a millisecond, with whatever has come by then: each wake-up costs both sides more than a small message does,
//! and it has enough to do meanwhile. A program that answers many at once, and one with little to do, is served as things come.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// How long is waited for more. Much less than what whoever is one of many waits anyway.
const MOMENT: Duration = Duration::from_micros(200);
/// With fewer requests under way than these, nobody is made to wait.
const MANY: usize = 8;
/// A program that answers fewer than one in so many of them at a time answers one by one.
const PART: usize = 4;

/// A program that is at work says something more often than this.
const LONG: Duration = Duration::from_millis(1);

/// Whether a program answers one by one while many wait for it.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    slow: AtomicBool,
    answers: AtomicU64,
    /// Whether somebody wants to know when it is slow.
    wanted: AtomicBool,
    became: Notify,
}

impl Pace {
    /// Notes that so many answers came at once, how long after those before, and how many requests still wait. A program that says nothing for
    /// long does not work on what waits, whatever that waits for.
    pub(crate) fn note(&self, came: usize, after: Duration, waiting: usize) {
        self.slow.store(after < LONG && came.saturating_mul(PART) < waiting, Ordering::Relaxed);
        self.answers.fetch_add(u64::try_from(came).unwrap_or(u64::MAX), Ordering::Relaxed);
        if self.wanted.load(Ordering::Relaxed) && self.is_slow(waiting) && self.wanted.swap(false, Ordering::Relaxed) {
            self.became.notify_one();
        }
    }

    /// How many answers ever came.
    #[cfg(target_os = "linux")]
    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Waits until it answers one by one while many wait for it.
    #[cfg(target_os = "linux")]
    pub(crate) async fn is_slow_again(&self) {
        self.wanted.store(true, Ordering::Relaxed);
        self.became.notified().await;
    }

    /// Whether more is worth waiting for while so many requests wait.
    pub(crate) fn is_slow(&self, waiting: usize) -> bool {
        waiting >= MANY && self.slow.load(Ordering::Relaxed)
    }
}

/// Waits for a moment that is shorter than timers of the runtime can be.
#[derive(Debug, Default)]
pub(crate) struct Moment(Option<clock::Clock>);

impl Moment {
    /// Waits. Where the system has no such clock, it does not.
    pub(crate) async fn pass(&mut self) {
        if self.0.is_none() {
            self.0 = clock::Clock::new();
        }
        if let Some(clock) = &self.0 {
            clock.ring_after(MOMENT).await;
        }
    }
}

#[cfg(target_os = "linux")]
mod clock {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A timer that is a file, which the runtime waits for as for any other. Its own timers count milliseconds.
    #[derive(Debug)]
    pub(super) struct Clock(AsyncFd<OwnedFd>);

    impl Clock {
        pub(super) fn new() -> Option<Self> {
            let file =
                timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC).ok()?;
            #[expect(deprecated, reason = "unsound for files that others may close; nobody else has this one")]
            AsyncFd::with_interest(file, Interest::READABLE).ok().map(Self)
        }

        pub(super) async fn ring_after(&self, time: Duration) {
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            let Ok(it_value) = Timespec::try_from(time) else { return };
            let once = Itimerspec { it_interval: zero, it_value };
            if timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once).is_err() {
                return;
            }
            if let Ok(mut ready) = self.0.readable().await {
                // How often it rang does not matter.
                let _ = rustix::io::read(self.0.get_ref(), &mut [0; 8]);
                ready.clear_ready();
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod clock {
    use std::time::Duration;

    #[derive(Debug)]
    pub(super) struct Clock;

    impl Clock {
        pub(super) fn new() -> Option<Self> {
            None
        }

        pub(super) async fn ring_after(&self, _time: Duration) {}
    }
}

#[cfg(test)]
mod tests;
