//! How much may one caller take? So many requests at once, and so many in a time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use foldhash::HashMap;
use toolmark_config::sections::GatewayLimits;
use toolmark_core::explain::{Code, Explain};

/// The most callers that are remembered at a time.
const CALLERS: usize = 16_384;

/// Limits every caller by itself.
#[derive(Debug)]
pub struct Limiter {
    concurrency: u32,
    rate: Option<Pace>,
    start: Instant,
    callers: Mutex<HashMap<Arc<str>, Arc<Share>>>,
    most: usize,
}

/// Limits the only caller there is, who need not be looked for.
#[derive(Debug)]
pub struct Alone {
    concurrency: u32,
    rate: Option<Pace>,
    start: Instant,
    share: Arc<Share>,
}

/// How far apart requests are on average, and how many may come together; in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Pace {
    apart: u64,
    within: u64,
}

/// What one caller takes now.
#[derive(Debug, Default)]
struct Share {
    running: AtomicU32,
    /// When the bucket is full again, in nanoseconds since the start.
    full_at: AtomicU64,
}

/// A request that may run; gives its place back when dropped.
#[derive(Debug)]
#[must_use = "the request counts as over when this is dropped"]
pub struct Permit(Arc<Share>);

/// A caller takes too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMuch {
    /// Too many requests at once.
    #[error("this caller has {most} requests under way, and may not have more")]
    AtOnce {
        /// How many it may have.
        most: u32,
    },
    /// Too many in a time.
    #[error("this caller sends requests faster than it may; wait {seconds} s")]
    TooFast {
        /// After how long one is taken again.
        seconds: u64,
    },
    /// Too many callers.
    #[error("there are more callers than can be told apart")]
    Callers,
}

impl Limiter {
    /// Limits of the configuration.
    #[must_use]
    pub fn new(limits: &GatewayLimits) -> Self {
        let callers = Mutex::default();
        Self { concurrency: limits.concurrency, rate: Pace::of(limits), start: Instant::now(), callers, most: CALLERS }
    }

    /// Lets one request of a caller run.
    ///
    /// # Errors
    /// [`TooMuch`]; then nothing was counted.
    pub fn take(&self, principal: &Arc<str>) -> Result<Permit, TooMuch> {
        self.take_at(principal, u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn take_at(&self, principal: &Arc<str>, now: u64) -> Result<Permit, TooMuch> {
        let permit = Share::enter(self.share(principal, now)?, self.concurrency)?;
        if let Some(pace) = self.rate {
            permit.0.count(pace, now)?;
        }
        Ok(permit)
    }

    fn share(&self, principal: &Arc<str>, now: u64) -> Result<Arc<Share>, TooMuch> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = callers.get(principal) {
            return Ok(Arc::clone(share));
        }
        if callers.len() >= self.most {
            // Whoever takes nothing and could take all it may is like somebody never seen.
            callers.retain(|_, share| Arc::strong_count(share) > 1 || share.full_at.load(Ordering::Acquire) > now);
            if callers.len() >= self.most {
                return Err(TooMuch::Callers);
            }
        }
        let share = Arc::<Share>::default();
        callers.insert(Arc::clone(principal), Arc::clone(&share));
        Ok(share)
    }
}

impl Alone {
    /// Limits of the configuration.
    #[must_use]
    pub fn new(limits: &GatewayLimits) -> Self {
        let (concurrency, rate) = (limits.concurrency, Pace::of(limits));
        Self { concurrency, rate, start: Instant::now(), share: Arc::default() }
    }

    /// Lets one request run.
    ///
    /// # Errors
    /// [`TooMuch`]; then nothing was counted.
    pub fn take(&self) -> Result<Permit, TooMuch> {
        let permit = Share::enter(Arc::clone(&self.share), self.concurrency)?;
        if let Some(pace) = self.rate {
            permit.0.count(pace, u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))?;
        }
        Ok(permit)
    }
}

impl Pace {
    fn of(limits: &GatewayLimits) -> Option<Self> {
        limits.rate.map(|rate| {
            let within = u64::try_from(rate.per().as_nanos()).unwrap_or(u64::MAX);
            Self { apart: (within / u64::from(rate.count().max(1))).max(1), within }
        })
    }
}

impl Share {
    fn enter(share: Arc<Self>, most: u32) -> Result<Permit, TooMuch> {
        if share.running.fetch_add(1, Ordering::AcqRel) >= most {
            share.running.fetch_sub(1, Ordering::AcqRel);
            return Err(TooMuch::AtOnce { most });
        }
        Ok(Permit(share))
    }

    fn count(&self, pace: Pace, now: u64) -> Result<(), TooMuch> {
        let next = |full_at: u64| full_at.max(now).saturating_add(pace.apart);
        let limit = now.saturating_add(pace.within);
        let fits = |full_at: u64| Some(next(full_at)).filter(|then| *then <= limit);
        self.full_at.fetch_update(Ordering::AcqRel, Ordering::Acquire, fits).map(|_| ()).map_err(|full_at| {
            let seconds = next(full_at).saturating_sub(limit).div_ceil(1_000_000_000).max(1);
            TooMuch::TooFast { seconds }
        })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl TooMuch {
    /// After how many seconds it is worth another try.
    #[must_use]
    pub const fn retry_after(&self) -> u64 {
        match self {
            Self::TooFast { seconds } => *seconds,
            Self::AtOnce { .. } | Self::Callers => 1,
        }
    }
}

impl Explain for TooMuch {
    fn code(&self) -> Code {
        Code::new("caller-limit")
    }

    fn why(&self) -> String {
        "one caller must not take what all of them share".into()
    }

    fn fix(&self) -> String {
        "send less at a time, or raise `concurrency` or `rate` in `[gateway.limits]`".into()
    }
}

#[cfg(test)]
mod tests;
