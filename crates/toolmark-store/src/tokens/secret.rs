//! The secret of a token and what may be kept of it: its hash, and a short name made from the hash.

use std::fmt;

use secrecy::zeroize::Zeroize as _;
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use toolmark_core::explain::{Code, Explain};

const PREFIX: &str = "tmk_";
const DOMAIN: &[u8] = b"toolmark/token/v1\0";

/// What a client shows to be let in: 256 random bits, written `tmk_` and 64 hexadecimal digits. Never printed by `Debug`.
pub struct TokenSecret(SecretBox<[u8; 32]>);

/// The hash of a secret. Comparing two takes the same time wherever they differ.
#[derive(Clone, Copy, Eq)]
pub struct TokenHash([u8; 32]);

/// What a token is called by in lists and commands: the first sixteen digits of its hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(String);

/// Text that is no secret of a token. The text itself is not repeated: it may be most of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a token: expected `tmk_` and 64 hexadecimal digits")]
pub struct ParseTokenError;

/// The operating system gave no random numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no random numbers: {0}")]
pub struct NoEntropyError(String);

impl TokenSecret {
    /// A secret from the operating system's random numbers.
    ///
    /// # Errors
    /// [`NoEntropyError`] when there are none.
    pub fn random() -> Result<Self, NoEntropyError> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| NoEntropyError(error.to_string()))?;
        let secret = Self(SecretBox::new(Box::new(bytes)));
        bytes.zeroize();
        Ok(secret)
    }

    /// Reads what a client sent.
    ///
    /// # Errors
    /// [`ParseTokenError`] for anything but `tmk_` and 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, ParseTokenError> {
        let digits = text.strip_prefix(PREFIX).ok_or(ParseTokenError)?.as_bytes();
        let mut bytes = [0u8; 32];
        if digits.len() != 64 {
            return Err(ParseTokenError);
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte =
                pair.iter().try_fold(0u8, |byte, digit| Some((byte << 4) | nibble(*digit)?)).ok_or(ParseTokenError)?;
        }
        let secret = Self(SecretBox::new(Box::new(bytes)));
        bytes.zeroize();
        Ok(secret)
    }

    /// The text to show once, to whoever will use the token.
    #[must_use]
    pub fn reveal(&self) -> SecretString {
        let mut text = String::with_capacity(PREFIX.len() + 64);
        text.push_str(PREFIX);
        push_hex(self.0.expose_secret(), &mut text);
        text.into()
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::new_with_prefix(DOMAIN).chain_update(self.0.expose_secret()).finalize().into())
    }
}

impl TokenHash {
    /// The hash as it was kept.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The short name of the token.
    #[must_use]
    pub fn id(&self) -> TokenId {
        let mut text = String::with_capacity(16);
        push_hex(self.0.get(..8).unwrap_or_default(), &mut text);
        TokenId(text)
    }
}

impl PartialEq for TokenHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// A hash that is kept anyway hashes to itself; maps need no second pass.
impl std::hash::Hash for TokenHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl TokenId {
    /// The id that somebody typed. One that no token has is found out when it is used.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(…)")
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenHash({}…)", self.id())
    }
}

impl Explain for ParseTokenError {
    fn code(&self) -> Code {
        Code::new("token-syntax")
    }

    fn why(&self) -> String {
        "a token that was shortened or retyped lets nobody in".into()
    }

    fn fix(&self) -> String {
        "copy the whole token again: `Authorization: Bearer tmk_…`".into()
    }
}

impl Explain for NoEntropyError {
    fn code(&self) -> Code {
        Code::new("token-no-entropy")
    }

    fn why(&self) -> String {
        "a token that can be guessed is worse than none".into()
    }

    fn fix(&self) -> String {
        "make the system's random numbers available: in a sandbox, allow `getrandom` or `/dev/urandom`".into()
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

fn push_hex(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(nibble), 16));
        }
    }
}
