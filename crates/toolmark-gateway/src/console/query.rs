//! What does the query of an address say? Read strictly: what nobody knows, what comes twice and what cannot be read is refused.

use toolmark_core::text::visible;
use toolmark_core::time::Micros;

use super::error::ConsoleError;

/// The longest query.
const LONGEST: usize = 4096;

/// The parameters of a request.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query that may have these parameters, and `lang`. One without a value counts as absent.
    pub(crate) fn read(text: Option<&str>, known: &[&str]) -> Result<Self, ConsoleError> {
        let text = text.unwrap_or_default();
        if text.len() > LONGEST {
            return Err(ConsoleError::Query("its length".into()));
        }
        let mut all: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let refused = || ConsoleError::Query(visible(key, 60));
            let key = decoded(key, true).ok_or_else(refused)?;
            let value = decoded(value, true).ok_or_else(refused)?;
            let twice = all.iter().any(|(other, _)| *other == key);
            if twice || !(known.contains(&key.as_str()) || key == "lang") {
                return Err(refused());
            }
            if !value.is_empty() {
                all.push((key, value));
            }
        }
        Ok(Self(all))
    }

    /// A parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A parameter as it is kept.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// A number, at most this.
    pub(crate) fn number(&self, name: &str, usual: u64, most: u64) -> Result<u64, ConsoleError> {
        match self.get(name) {
            None => Ok(usual),
            Some(text) => {
                text.parse().map(|number: u64| number.clamp(1, most)).map_err(|_| ConsoleError::Query(name.to_owned()))
            }
        }
    }

    /// A moment: RFC 3339, or microseconds since 1970.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Micros>, ConsoleError> {
        self.get(name).map(|text| time(text).ok_or_else(|| ConsoleError::Query(name.to_owned()))).transpose()
    }

    /// A word that must be one of some.
    pub(crate) fn word<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, ConsoleError> {
        self.get(name).map(|text| parse(text).ok_or_else(|| ConsoleError::Query(name.to_owned()))).transpose()
    }
}

/// A moment: RFC 3339, or microseconds since 1970.
pub(crate) fn time(text: &str) -> Option<Micros> {
    text.parse::<i64>().ok().map(Micros::new).or_else(|| Micros::parse(text))
}

/// A part of an address without its `%xx`; in queries, `+` is a space.
pub(crate) fn decoded(text: &str, in_query: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(rest.next())?, digit(rest.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            b'+' if in_query => b' ',
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_and_what_is_no_parameter_is_refused() {
        let read = |text: &str| Query::read(Some(text), &["tool", "limit", "since"]);
        let query = read("tool=a.b%20c+d&limit=9999&since=2026-11-16T00:00:00Z&lang=nl").unwrap();
        assert_eq!(query.get("tool"), Some("a.b c d"));
        assert_eq!(query.number("limit", 5, 500).unwrap(), 500);
        assert_eq!(query.time("since").unwrap(), Some(Micros::new(1_794_787_200_000_000)));
        assert_eq!(read("tool=").unwrap().get("tool"), None);
        for wrong in ["tool=a&tool=b", "who=me", "tool=%zz", "tool=%ff", "tool=%4"] {
            assert!(matches!(read(wrong), Err(ConsoleError::Query(_))), "{wrong}");
        }
        assert!(read(&format!("tool={}", "x".repeat(5000))).is_err());
        for wrong in ["limit=-1", "limit=x", "limit=1.5"] {
            assert!(read(wrong).unwrap().number("limit", 1, 9).is_err(), "{wrong}");
        }
        for wrong in ["since=yesterday", "since=2026-13-01T00:00:00Z", "since=2026-11-16"] {
            assert!(read(wrong).unwrap().time("since").is_err(), "{wrong}");
        }
    }
}
