//! Sixteen hexadecimal digits for a behavior. 64 bits over a small space make a label to compare, never a proof.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::digest::hex;

/// Sixteen hexadecimal digits for a behavior: a label to compare, not a secret to rely on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BehaviorIdentity([u8; 8]);

/// Text that is not sixteen lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an identity is sixteen digits of `0123456789abcdef`")]
pub struct ParseIdentityError;

impl BehaviorIdentity {
    pub(super) fn of(text: &str) -> Self {
        let digest: [u8; 32] = Sha256::digest(text).into();
        let mut first = [0; 8];
        first.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(first)
    }
}

impl fmt::Display for BehaviorIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for BehaviorIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BehaviorIdentity {
    type Err = ParseIdentityError;

    fn from_str(text: &str) -> Result<Self, ParseIdentityError> {
        let canonical = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() != 16 || !canonical {
            return Err(ParseIdentityError);
        }
        let number = u64::from_str_radix(text, 16).map_err(|_| ParseIdentityError)?;
        Ok(Self(number.to_be_bytes()))
    }
}

impl serde::Serialize for BehaviorIdentity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
