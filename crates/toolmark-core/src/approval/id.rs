//! The numbers of questions, answers and runs: 128 bits each, one type each.

use std::fmt;
use std::str::FromStr;

use crate::explain::{Code, Explain};
use crate::text::visible;

/// Text that is no id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id: expected 32 hexadecimal digits")]
pub struct ParseIdError(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            /// An id with this number; whoever makes ids makes each once.
            #[must_use]
            pub const fn new(number: u128) -> Self {
                Self(number)
            }

            /// The number.
            #[must_use]
            pub const fn get(self) -> u128 {
                self.0
            }

            /// The last eight digits: enough for people to tell a few apart.
            #[must_use]
            pub fn short(self) -> String {
                format!("{:08x}", self.0 & 0xffff_ffff)
            }
        }

        /// As a UUID is written.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let n = self.0;
                let group = |shift: u32, digits: u32| (n >> shift) & ((1 << (4 * digits)) - 1);
                write!(
                    f,
                    "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                    group(96, 8),
                    group(80, 4),
                    group(64, 4),
                    group(48, 4),
                    group(0, 12)
                )
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                let digits: String = text.chars().filter(|character| *character != '-').collect();
                let refuse = || ParseIdError(visible(text, 60));
                if digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err(refuse());
                }
                u128::from_str_radix(&digits, 16).map(Self).map_err(|_| refuse())
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

id! {
    /// One question to a person.
    AskId
}
id! {
    /// One answer that holds for later calls.
    GrantId
}
id! {
    /// One run of a call that was asked for: a row of the call ledger.
    RunId
}

impl Explain for ParseIdError {
    fn code(&self) -> Code {
        Code::new("approval-id")
    }

    fn why(&self) -> String {
        "an id that was shortened or retyped could name another question".into()
    }

    fn fix(&self) -> String {
        "copy it from `toolmark approvals list`".into()
    }
}
