//! SHA-256 with a purpose: every digest names its domain and version, so that no two kinds can be mistaken for each other.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// Thirty-two bytes of SHA-256; the typed digests below wrap it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Bytes([u8; 32]);

/// What a digest is of. The text is hashed in front of the content and ends in a NUL, which canonical JSON never holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain(&'static str);

pub(crate) const DEFINITION: Domain = Domain("toolmark/definition/v1\0");
pub(crate) const BODY: Domain = Domain("toolmark/body/v1\0");
pub(crate) const PART: Domain = Domain("toolmark/part/v1\0");
pub(crate) const SCHEMA: Domain = Domain("toolmark/schema/v1\0");
pub(crate) const MARK: Domain = Domain("toolmark/mark/v1\0");
pub(crate) const CALL: Domain = Domain("toolmark/call/v1\0");
pub(crate) const ARGUMENTS: Domain = Domain("toolmark/arguments/v1\0");

/// Text that does not spell a digest of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind}: expected `{prefix}` and 64 hexadecimal digits")]
pub struct ParseDigestError {
    text: String,
    kind: &'static str,
    prefix: &'static str,
}

impl crate::explain::Explain for ParseDigestError {
    fn code(&self) -> crate::explain::Code {
        crate::explain::Code::new("digest-syntax")
    }

    fn why(&self) -> String {
        "a digest that was shortened or retyped would match nothing, or the wrong thing".into()
    }

    fn fix(&self) -> String {
        "copy it again from `toolmark inspect --json` or from `toolmark.lock`".into()
    }
}

macro_rules! digest {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Bytes);

        impl $name {
            pub(crate) fn of_bytes(domain: Domain, text: &[u8]) -> Self {
                Self(Bytes(Sha256::new_with_prefix(domain.0).chain_update(text).finalize().into()))
            }

            /// The digest with these bytes, for whoever kept them.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(Bytes(bytes))
            }

            /// The 32 bytes.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; 32] {
                &self.0.0
            }

            /// The first twelve hexadecimal digits: enough to recognise it, too few to rely on.
            #[must_use]
            pub fn short(&self) -> String {
                hex(self.0.0.get(..6).unwrap_or_default())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, hex(&self.0.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = ParseDigestError;

            fn from_str(text: &str) -> Result<Self, ParseDigestError> {
                text.strip_prefix($prefix).and_then(unhex).map(|bytes| Self(Bytes(bytes))).ok_or_else(|| ParseDigestError {
                    text: crate::text::visible(text, 80),
                    kind: $kind,
                    prefix: $prefix,
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

digest! {
    /// What the publisher says about a tool, all of it: the digest of its whole definition.
    DefinitionDigest, "sha256:", "definition digest"
}
digest! {
    /// A definition without its name: two tools that share it are one tool that was renamed.
    BodyDigest, "body1:", "body digest"
}
digest! {
    /// One part of a definition, such as its description; says *which* part changed when the text is gone.
    PartDigest, "part1:", "part digest"
}
digest! {
    /// What a schema accepts, without the words around it: tools that share it cannot be told apart by validation.
    SchemaDigest, "schema1:", "schema digest"
}
digest! {
    /// *This* tool in *this* version: its key, its definition and its behavior. Grants and pins bind to it.
    Mark, "tm1:", "mark"
}
digest! {
    /// What a call says, independent of how its JSON is spelled. One call id must keep one fingerprint.
    CallFingerprint, "call1:", "call fingerprint"
}
digest! {
    /// The arguments of a call, independent of how their JSON is spelled.
    ArgumentDigest, "args1:", "argument digest"
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            out.extend(char::from_digit(u32::from(nibble), 16));
        }
    }
    out
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u32> =
        text.chars().map(|digit| digit.to_digit(16).filter(|_| !digit.is_ascii_uppercase())).collect::<Option<_>>()?;
    let mut bytes = [0u8; 32];
    if digits.len() != 64 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair.iter().fold(0, |byte, digit| (byte << 4) | u8::try_from(*digit).unwrap_or(0));
    }
    Some(bytes)
}
