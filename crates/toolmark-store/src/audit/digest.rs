//! Was this the result? A digest over its bytes, which says what it was made with.

use sha2::{Digest as _, Sha256};

use super::record::hex;

/// Results that are longer than this many bytes get a BLAKE3 digest: SHA-256 over them would cost more than passing them on does. Below, SHA-256
/// is as fast where processors have instructions for it.
const LONG: usize = 16 << 10;

/// What the bytes of a BLAKE3 digest begin with where it is kept: its code as a multihash, and its length. A SHA-256 digest is kept bare, as
/// all of them were before there were others.
const BLAKE3: [u8; 2] = [0x1e, 32];

/// A digest over the bytes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultDigest {
    /// SHA-256, of results that are not long.
    Sha256([u8; 32]),
    /// BLAKE3, of results of more than 16 KiB.
    Blake3([u8; 32]),
}

impl ResultDigest {
    /// The digest of a result.
    #[must_use]
    pub fn of(result: &[u8]) -> Self {
        if result.len() > LONG {
            Self::Blake3(blake3::hash(result).into())
        } else {
            Self::Sha256(Sha256::digest(result).into())
        }
    }

    /// What it was made with: `sha256`, `blake3`.
    #[must_use]
    pub const fn algorithm(&self) -> &'static str {
        match self {
            Self::Sha256(_) => "sha256",
            Self::Blake3(_) => "blake3",
        }
    }

    /// The 32 bytes of the digest, without what it was made with.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        match self {
            Self::Sha256(bytes) | Self::Blake3(bytes) => bytes,
        }
    }

    /// The SHA-256 digest in hexadecimal digits, if it is one.
    #[must_use]
    pub fn sha256(&self) -> Option<String> {
        matches!(self, Self::Sha256(_)).then(|| hex(self.bytes()))
    }

    /// The BLAKE3 digest in hexadecimal digits, if it is one.
    #[must_use]
    pub fn blake3(&self) -> Option<String> {
        matches!(self, Self::Blake3(_)).then(|| hex(self.bytes()))
    }

    /// As it is kept and chained: 32 bytes, or 34 which say that they are BLAKE3.
    #[must_use]
    pub fn to_kept(self) -> Vec<u8> {
        match self {
            Self::Sha256(bytes) => bytes.to_vec(),
            Self::Blake3(bytes) => [BLAKE3.as_slice(), bytes.as_slice()].concat(),
        }
    }

    /// What was kept.
    #[must_use]
    pub fn from_kept(bytes: &[u8]) -> Option<Self> {
        match bytes.strip_prefix(&BLAKE3) {
            Some(rest) if rest.len() == 32 => rest.try_into().ok().map(Self::Blake3),
            _ => bytes.try_into().ok().map(Self::Sha256),
        }
    }
}

#[cfg(test)]
mod tests;
