//! How often something may happen: `100/s`, `600/min`, `5000/h`.

use std::time::Duration;

use toolmark_core::text::visible;

use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// So many times in so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    count: u32,
    per: Duration,
}

impl Rate {
    /// How many times.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.count
    }

    /// In how long.
    #[must_use]
    pub const fn per(self) -> Duration {
        self.per
    }
}

impl FromToml for Rate {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a rate such as \"100/s\"", reader, rate)
    }
}

fn rate(text: &str) -> Result<Rate, Refused> {
    let read = text.split_once('/').and_then(|(count, unit)| {
        let count = count.trim().parse().ok().filter(|count| *count > 0)?;
        let seconds = match unit.trim() {
            "s" => 1,
            "min" | "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        Some(Rate { count, per: Duration::from_secs(seconds) })
    });
    read.ok_or_else(|| {
        Refused::value(
            format!("`{}` is no rate", visible(text, 40)),
            "write how often and per what: `100/s`, `600/min`, `5000/h`",
        )
    })
}
