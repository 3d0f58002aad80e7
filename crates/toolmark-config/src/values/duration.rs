//! How long something may take: a number and a unit, `500ms`, `30s`, `5min`, `2h`.

use std::time::Duration;

use crate::read::{FromToml, Node, Reader, Refused, parsed};

const UNITS: &[(&str, u64)] =
    &[("ms", 1), ("s", 1_000), ("min", 60_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// The longest time that is taken: a year.
const MAX: u64 = 365 * 86_400_000;

impl FromToml for Duration {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a time such as \"30s\"", reader, duration)
    }
}

/// Reads a time.
pub(crate) fn duration(text: &str) -> Result<Duration, Refused> {
    let wrong =
        |message: String| Refused::value(message, "write a whole number and a unit: `500ms`, `30s`, `5min`, `2h`");
    let Some((number, unit)) = super::size::number_and_unit(text) else {
        return Err(wrong(format!("`{}` is no time", toolmark_core::text::visible(text, 40))));
    };
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let Some(milliseconds) = factor.and_then(|factor| number.checked_mul(factor)) else {
        return Err(wrong(format!("`{}` is no time", toolmark_core::text::visible(text, 40))));
    };
    match milliseconds {
        0 => Err(wrong("no time at all would let nothing through".into())),
        1..=MAX => Ok(Duration::from_millis(milliseconds)),
        _ => Err(wrong("more than a year is no limit".into())),
    }
}
