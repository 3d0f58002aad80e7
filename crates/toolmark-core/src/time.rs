//! When something happened: microseconds since 1970, as an integer, from a clock that the caller gives.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Microseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Micros(i64);

/// Where the time comes from. Any function that returns [`Micros`] is a clock.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Micros;
}

impl<F: Fn() -> Micros + Send + Sync> Clock for F {
    fn now(&self) -> Micros {
        self()
    }
}

impl Micros {
    /// So many microseconds since 1970; negative before it.
    #[must_use]
    pub const fn new(micros: i64) -> Self {
        Self(micros)
    }

    /// The number of microseconds.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// A moment in RFC 3339, such as `2026-11-16T08:00:00Z`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|time| Self(time.as_microsecond()))
    }

    /// This much later; the end of time stays the end of time.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }

    /// This much earlier.
    #[must_use]
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)))
    }
}

impl From<SystemTime> for Micros {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self(0).after(since),
            Err(earlier) => Self(0).before(earlier.duration()),
        }
    }
}

/// RFC 3339 in UTC with all six digits; a number that no calendar holds is printed as it is.
impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) => write!(f, "{time:.6}"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}
