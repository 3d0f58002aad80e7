//! Which request is this? The id of a JSON-RPC message, kept as it was written.

use std::borrow::Cow;
use std::fmt;

use bytes::{Bytes, BytesMut};

use super::object::read_text;
use super::refusal::ReadMessageErrorKind;
use super::scan::Scanner;
use super::write::quote_into;

/// The id of a request as it was written: a string in quotes, or a whole number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Id(Bytes);

/// Longest id; it is repeated in every answer.
const LONGEST_ID: usize = 1024;

impl Id {
    /// An id of ours.
    #[must_use]
    pub fn number(number: u64) -> Self {
        Self(Bytes::from(number.to_string()))
    }

    /// An id that is a string.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let mut out = BytesMut::with_capacity(text.len() + 2);
        quote_into(&mut out, text);
        Self(out.freeze())
    }

    /// Reads an id that stands alone, such as `requestId` of a cancellation. `None` if it is neither a string nor a whole
    /// number.
    #[must_use]
    pub fn read(written: &Bytes) -> Option<Self> {
        let text = str::from_utf8(written).ok()?;
        let mut scanner = Scanner::new(text, 1);
        scanner.value().and_then(|()| scanner.finish()).ok()?;
        Self::from_written(written, text.trim_ascii()).ok().flatten()
    }

    /// `Ok(None)` for `null`.
    pub(super) fn from_written(bytes: &Bytes, written: &str) -> Result<Option<Self>, ReadMessageErrorKind> {
        if written == "null" {
            return Ok(None);
        }
        if written.len() > LONGEST_ID {
            return Err(ReadMessageErrorKind::Id);
        }
        if written.starts_with('"') {
            // Written anew where something is escaped, so that two spellings of one id are one id.
            return match read_text(written.as_bytes()) {
                Some(Cow::Borrowed(_)) => Ok(Some(Self(bytes.slice_ref(written.as_bytes())))),
                Some(Cow::Owned(text)) => Ok(Some(Self::text(&text))),
                None => Err(ReadMessageErrorKind::Id),
            };
        }
        let digits = written.strip_prefix('-').unwrap_or(written);
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(Some(Self(bytes.slice_ref(written.as_bytes()))));
        }
        Err(ReadMessageErrorKind::Id)
    }

    /// The id as JSON text.
    #[must_use]
    pub fn as_json(&self) -> &[u8] {
        &self.0
    }

    /// The number, if it is one of ours.
    #[must_use]
    pub fn as_number(&self) -> Option<u64> {
        str::from_utf8(&self.0).ok()?.parse().ok()
    }

    /// The same id in memory of its own, for keeping longer than the message it came in.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self(Bytes::copy_from_slice(&self.0))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}
