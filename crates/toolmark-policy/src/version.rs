//! One short name for what a policy says, so that a grant can be bound to it and a log can tell which policy decided.

use std::fmt;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolmark_core::canonical::to_canonical;
use toolmark_core::json::Json;

/// The digest of everything the author of a policy wrote: rules, Cedar texts, default and preset.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyVersion([u8; 32]);

/// Hashed in front, so that no digest of another kind can be mistaken for this one.
const DOMAIN: &str = "toolmark/policy/v1\0";

impl PolicyVersion {
    pub(crate) fn of(written: &Value) -> Self {
        let text = to_canonical(&Json::from(written));
        Self(Sha256::new_with_prefix(DOMAIN).chain_update(text).finalize().into())
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PolicyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("policy1:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PolicyVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for PolicyVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
