//! Is it worth asking again, and when? Decided from the error, the number of attempts and what the provider asks for.

use std::time::{Duration, SystemTime};

use http::HeaderMap;

use super::options::Retry;
use crate::error::{ModelErrorKind, Waited};

impl Retry {
    /// How long to wait before the next attempt; none when there should be none.
    ///
    /// `acts` says that the provider itself may have acted on the request: then it is sent again only where it is known that
    /// nothing was begun. `chance` is between 0 and 1.
    pub(crate) fn pause(&self, attempts: u32, error: &ModelErrorKind, acts: bool, chance: f64) -> Option<Duration> {
        if attempts >= self.attempts || !may_ask_again(error, acts) {
            return None;
        }
        let doubled =
            self.first_pause.saturating_mul(1_u32.checked_shl(attempts.saturating_sub(1)).unwrap_or(u32::MAX));
        let own = doubled.min(self.longest_pause).mul_f64(0.5 + chance.clamp(0.0, 1.0) / 2.0);
        match retry_after(error) {
            Some(asked) if asked > self.longest_pause => None,
            // A little later than asked for, so that those who were sent away together do not come back together.
            Some(asked) => Some(asked.saturating_add(own.min(asked).mul_f64(0.1 * chance.clamp(0.0, 1.0)))),
            None => Some(own),
        }
    }
}

fn may_ask_again(error: &ModelErrorKind, acts: bool) -> bool {
    match error {
        ModelErrorKind::RateLimited { .. } | ModelErrorKind::Overloaded { .. } => true,
        ModelErrorKind::Unreachable { sent, .. } => !(acts && *sent),
        ModelErrorKind::Timeout { waited, .. } => *waited == Waited::Connect,
        // Seen here only while nothing was delivered.
        ModelErrorKind::ServerFailed { .. } | ModelErrorKind::Truncated => !acts,
        ModelErrorKind::AnswerFailed { temporary, .. } => *temporary && !acts,
        _ => false,
    }
}

fn retry_after(error: &ModelErrorKind) -> Option<Duration> {
    match error {
        ModelErrorKind::RateLimited { retry_after, .. }
        | ModelErrorKind::Overloaded { retry_after, .. }
        | ModelErrorKind::ServerFailed { retry_after, .. } => *retry_after,
        _ => None,
    }
}

/// What the provider asks for: `Retry-After-Ms`, or `Retry-After` in seconds or as a date.
pub(crate) fn asked(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |text: &str, unit: f64| {
        let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
        Duration::try_from_secs_f64((number * unit).max(0.0)).ok()
    };
    if let Some(pause) = text("retry-after-ms").and_then(|text| seconds(text, 0.001)) {
        return Some(pause);
    }
    let after = text("retry-after")?;
    seconds(after, 1.0).or_else(|| {
        let date = jiff::fmt::rfc2822::parse(after).ok()?;
        let then = SystemTime::from(date.timestamp());
        Some(then.duration_since(now).unwrap_or_default())
    })
}

/// A number between 0 and 1. Without entropy there is no jitter, which is no reason not to ask.
pub(crate) fn chance() -> f64 {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        Err(_) => 1.0,
    }
}

#[cfg(test)]
mod tests;
