//! How often something is looked at again: a time such as `60s`, or `0s` for never.

use std::time::Duration;

use super::duration::duration;
use crate::read::{FromToml, Node, Reader, Refused, parsed};

/// How often something is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refresh(Option<Duration>);

impl Refresh {
    /// Every so many seconds.
    pub(crate) const fn seconds(seconds: u64) -> Self {
        Self(Some(Duration::from_secs(seconds)))
    }

    /// The time between two looks; `None` for never.
    #[must_use]
    pub const fn every(self) -> Option<Duration> {
        self.0
    }
}

impl FromToml for Refresh {
    fn from_toml(node: &Node<'_>, reader: &mut Reader) -> Option<Self> {
        parsed(node, "a time such as \"60s\", or \"0s\" for never", reader, refresh)
    }
}

fn refresh(text: &str) -> Result<Refresh, Refused> {
    match super::size::number_and_unit(text) {
        Some((0, unit)) if duration(&format!("1{unit}")).is_ok() => Ok(Refresh(None)),
        _ => duration(text).map(|time| Refresh(Some(time))),
    }
}
