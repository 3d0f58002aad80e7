//! How large something may be: a number and a unit, `64KiB`, `16MiB`, `2GB`, or bytes alone.

use std::fmt;

use toml::de::DeValue;
use toolmark_core::text::visible;

use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

const UNITS: &[(&str, u64)] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("KB", 1_000),
    ("B", 1),
];

impl Size {
    /// So many times 1,024 bytes.
    #[must_use]
    pub const fn kibibytes(count: u32) -> Self {
        Self((count as u64) << 10)
    }

    /// So many times 1,048,576 bytes.
    #[must_use]
    pub const fn mebibytes(count: u32) -> Self {
        Self((count as u64) << 20)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// The number of bytes, as far as this machine can address them.
    #[must_use]
    pub fn as_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl FromToml for Size {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        if let DeValue::Integer(_) = node.value {
            return u32::from_toml(node, reader).map(|bytes| Self(bytes.into()));
        }
        parsed(node, "a size such as \"16MiB\"", reader, size)
    }
}

fn size(text: &str) -> Result<Size, Refused> {
    let read = number_and_unit(text).and_then(|(number, unit)| {
        let factor = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        number.checked_mul(factor)
    });
    let fix = "write a whole number and a unit: `64KiB`, `16MiB`, `2GB`";
    read.map(Size).ok_or_else(|| Refused::value(format!("`{}` is no size", visible(text, 40)), fix))
}

/// `30s` → 30 and `s`. A space between them is accepted.
pub(super) fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.strip_prefix(' ').unwrap_or(unit)))
}

/// In the largest unit that holds it whole.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |factor: u64| self.0 >= factor && self.0.is_multiple_of(factor);
        let binary = UNITS.iter().filter(|(unit, _)| unit.ends_with("iB")).find(|(_, factor)| whole(*factor));
        let (unit, factor) = binary.copied().unwrap_or(("B", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}
