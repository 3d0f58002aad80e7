//! Points in time as people write them: so long ago, a day, a moment.

use std::str::FromStr as _;
use std::time::{Duration, SystemTime};

use toolmark_store::Micros;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct When(Micros);

const UNITS: &[(&str, u64)] =
    &[("s", 1), ("sec", 1), ("m", 60), ("min", 60), ("h", 3_600), ("d", 86_400), ("w", 604_800)];

impl When {
    /// Reads `90s`, `30min`, `1h`, `7d`, `2w` as so long ago, `2026-11-01` as the beginning of that day in UTC, and RFC 3339.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::at(text, Micros::from(SystemTime::now()))
    }

    fn at(text: &str, now: Micros) -> Result<Self, String> {
        let text = text.trim();
        let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(digits).unwrap_or((text, ""));
        if let Some((_, seconds)) = UNITS.iter().find(|(name, _)| *name == unit) {
            let all = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*seconds));
            // A hundred years ago there was nothing to record.
            let all = all.filter(|all| *all <= 100 * 366 * 86_400);
            return all.map(|all| Self(now.before(Duration::from_secs(all)))).ok_or_else(|| wrong(text));
        }
        let moment = jiff::Timestamp::from_str(text).ok();
        let day = || {
            let date = jiff::civil::Date::from_str(text).ok()?;
            Some(date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
        };
        let time = moment.or_else(day).ok_or_else(|| wrong(text))?;
        Ok(Self(Micros::new(time.as_microsecond())))
    }

    /// The time.
    pub(crate) fn time(self) -> Micros {
        self.0
    }
}

fn wrong(text: &str) -> String {
    let shown = toolmark_core::text::visible(text, 40);
    format!("`{shown}` is no time: write `1h`, `7d`, `2026-11-01` or `2026-11-01T08:00:00Z`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<i64> {
        When::at(text, Micros::new(10_000_000_000_000)).ok().map(|when| when.time().get())
    }

    #[test]
    fn so_long_ago_a_day_and_a_moment_are_times() {
        assert_eq!(read("90s"), Some(10_000_000_000_000 - 90_000_000));
        assert_eq!(read("1h"), Some(10_000_000_000_000 - 3_600_000_000));
        assert_eq!(read("2w"), Some(10_000_000_000_000 - 1_209_600_000_000));
        assert_eq!(read("1970-01-02"), Some(86_400_000_000));
        assert_eq!(read("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(read("1970-01-01T00:00:00.000001Z"), Some(1));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "h", "1", "1y", "99999999999999999999h", "2026-13-01", "yesterday", "-1h", "9999999w"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
