//! Can this `requestState` be what we handed out, to this caller, for this request, and not too long ago?
//!
//! The state travels through the client, so it is the attacker's to write. A seal is an HMAC-SHA256 over the payload, its expiry and
//! a digest of whom and what it was made for. It hides nothing and stops no replay by itself; parked calls are taken out once.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use thiserror::Error;
use toolmark_core::explain::{Code, Explain};

/// The first byte of every seal; another number is another layout.
const LAYOUT: u8 = 1;
/// layout, expiry, binding
const HEAD: usize = 1 + 8 + 32;
const MAC: usize = 32;

/// The key that seals are made with; whoever has it can make states.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

/// Whom and what a state was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound([u8; 32]);

/// Why a `requestState` is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OpenSealError {
    /// It is not one of ours, or was changed on the way.
    #[error("the request state was not made by this gateway, or was changed")]
    Forged,
    /// It is ours, but for another caller or another request.
    #[error("the request state belongs to another caller or another request")]
    Mismatch,
    /// Its time is over.
    #[error("the request state has expired")]
    Expired,
    /// The call that it stands for was taken up before, or is gone.
    #[error("the request state was used before, or the call it stands for is gone")]
    Spent,
}

impl SealKey {
    /// A key from 32 secret bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key of this process only: states made with it are worth nothing after a restart.
    #[must_use]
    pub fn random() -> Self {
        // Two random UUIDs have 244 random bits; the digest spreads them over the key.
        let mut hash = Sha256::new();
        hash.update(uuid::Uuid::new_v4().as_bytes());
        hash.update(uuid::Uuid::new_v4().as_bytes());
        Self(hash.finalize().into())
    }

    /// Seals `payload` until `expiry` (seconds since the epoch).
    #[must_use]
    pub fn seal(&self, bound: Bound, expiry: u64, payload: &[u8]) -> String {
        let mut token = Vec::with_capacity(HEAD + payload.len() + MAC);
        token.push(LAYOUT);
        token.extend_from_slice(&expiry.to_be_bytes());
        token.extend_from_slice(&bound.0);
        token.extend_from_slice(payload);
        let mac = self.mac(&token).finalize().into_bytes();
        token.extend_from_slice(&mac);
        URL_SAFE_NO_PAD.encode(token)
    }

    /// Opens what [`SealKey::seal`] made, `now` being seconds since the epoch.
    ///
    /// # Errors
    /// [`OpenSealError`], never [`OpenSealError::Spent`].
    pub fn open(&self, bound: Bound, now: u64, text: &str) -> Result<Bytes, OpenSealError> {
        let token = URL_SAFE_NO_PAD.decode(text).map_err(|_| OpenSealError::Forged)?;
        let signed = token.len().checked_sub(MAC).filter(|signed| *signed >= HEAD).ok_or(OpenSealError::Forged)?;
        let (signed, mac) = token.split_at(signed);
        // Invariant: nothing of the token is believed before its MAC is checked, in constant time.
        self.mac(signed).verify_slice(mac).map_err(|_| OpenSealError::Forged)?;
        let (head, payload) = signed.split_at(HEAD);
        let (Some((&LAYOUT, rest)), true) = (head.split_first(), head.len() == HEAD) else {
            return Err(OpenSealError::Forged);
        };
        let (expiry, made_for) = rest.split_at(8);
        if made_for != bound.0 {
            return Err(OpenSealError::Mismatch);
        }
        if expiry.iter().fold(0, |number: u64, byte| (number << 8) | u64::from(*byte)) <= now {
            return Err(OpenSealError::Expired);
        }
        Ok(Bytes::copy_from_slice(payload))
    }

    fn mac(&self, signed: &[u8]) -> Hmac<Sha256> {
        // HMAC fills a key up to its block of 64 bytes with zeros; given whole blocks, making one cannot fail.
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(b"toolmark request state");
        mac.update(signed);
        mac
    }
}

impl Bound {
    /// Binds to a principal, a place (endpoint), a method and the canonical text of the request's own parameters.
    #[must_use]
    pub fn new(principal: &str, place: &str, method: &str, params: &[u8]) -> Self {
        let mut hash = Sha256::new();
        for part in [principal.as_bytes(), place.as_bytes(), method.as_bytes(), params] {
            // Lengths in front, so that no two lists of parts have one text.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

impl Explain for OpenSealError {
    fn code(&self) -> Code {
        match self {
            Self::Forged => Code::new("request-state-forged"),
            Self::Mismatch => Code::new("request-state-mismatch"),
            Self::Expired => Code::new("request-state-expired"),
            Self::Spent => Code::new("request-state-spent"),
        }
    }

    fn why(&self) -> String {
        let why = match self {
            Self::Forged => "the state comes back through the client, so what is not sealed by us is not read",
            Self::Mismatch => "an answer that was given to one request must not approve another",
            Self::Expired => "an old question may be about something that has changed since",
            Self::Spent => "an approved call runs at most once",
        };
        why.to_owned()
    }

    fn fix(&self) -> String {
        let fix = match self {
            Self::Forged => "send the state exactly as it came",
            Self::Mismatch => "repeat exactly the request that asked, as the same caller at the same address",
            Self::Expired | Self::Spent => "make the request again without `requestState` and `inputResponses`",
        };
        fix.to_owned()
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey(…)")
    }
}

#[cfg(test)]
mod tests;
