//! A text that is used but never shown: whatever prints it prints a mask.

use std::fmt;

/// A text that no log, error or preview shows.
///
/// ```
/// # use toolmark_config::values::Secret;
/// let secret = Secret::new("t0p");
/// assert_eq!(format!("{secret} {secret:?} {}", serde_json::to_string(&secret).unwrap()), "•••• •••• \"••••\"");
/// assert_eq!(secret.expose(), "t0p");
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

/// What is shown in its place.
const MASK: &str = "••••";

impl Secret {
    /// Keeps a text from being shown.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl serde::Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}
