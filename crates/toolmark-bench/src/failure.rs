//! Why a measurement has no figure.

use std::fmt;
use std::io::{self, Write as _};

/// A reason in words.
#[derive(Clone, Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Says it on standard error.
    pub(crate) fn show(&self) {
        let _ = writeln!(io::stderr(), "{self}");
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whatever went wrong below: here it only has to be told.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}
