//! How long something is kept: a number and a unit, `12h`, `90d`, up to ten years.

use std::time::Duration;

use toolmark_core::text::visible;

use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// A time in which things are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(Duration);

const UNITS: &[(&str, u64)] = &[("min", 60), ("h", 3_600), ("d", 86_400), ("w", 604_800)];

/// Ten years.
const MAX: u64 = 3_660 * 86_400;

impl Span {
    /// So many days.
    pub(crate) const fn days(days: u32) -> Self {
        Self(Duration::from_secs(days as u64 * 86_400))
    }

    /// How long that is.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl FromToml for Span {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a time such as \"90d\"", reader, span)
    }
}

fn span(text: &str) -> Result<Span, Refused> {
    let wrong = |message: String| Refused::value(message, "write a whole number and a unit: `12h`, `90d`, `52w`");
    let seconds = super::size::number_and_unit(text).and_then(|(number, unit)| {
        let factor = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        number.checked_mul(factor)
    });
    match seconds {
        None => Err(wrong(format!("`{}` is no time", visible(text, 40)))),
        Some(0) => Err(wrong("no time at all would keep nothing".into())),
        Some(seconds @ 1..=MAX) => Ok(Span(Duration::from_secs(seconds))),
        Some(_) => Err(wrong("more than ten years is for ever; leave it out".into())),
    }
}
