//! What is kept to restore a file. It is written to disk, so it has a version; it holds the old text, so it is secret.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Edit, UnwrapError};
use crate::clients::Client;

/// What is needed to restore a file that was rewritten. Its text form is JSON.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    pub(super) client: Client,
    original: String,
    wrapped: String,
    pub(super) pieces: Vec<Piece>,
}

/// A piece of the old text and what stands in its place.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Piece {
    pub(super) old: String,
    pub(super) new: String,
}

/// The record as it is written. A reader refuses a version that it does not know; fields are never given another meaning.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    client: String,
    original: String,
    wrapped: String,
    pieces: Vec<Piece>,
}

const VERSION: u32 = 1;

impl Record {
    pub(super) fn new(client: Client, original: &str, wrapped: &str, edits: &[Edit]) -> Self {
        let piece = |edit: &Edit| Piece {
            old: original.get(edit.at.clone()).unwrap_or_default().to_owned(),
            new: edit.new.clone(),
        };
        let pieces = edits.iter().map(piece).collect();
        Self { client, original: original.to_owned(), wrapped: digest(wrapped), pieces }
    }

    /// Whose file it is.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client
    }

    /// The old text, for whoever wants it back whatever was changed since.
    #[must_use]
    pub fn original(&self) -> &str {
        &self.original
    }

    /// True when nothing was changed since.
    #[must_use]
    pub fn is_unchanged(&self, current: &str) -> bool {
        digest(current) == self.wrapped
    }

    /// The record as text, for a file that only its owner may read.
    #[must_use]
    pub fn to_text(&self) -> String {
        let written = Written {
            version: VERSION,
            client: self.client.as_str().to_owned(),
            original: self.original.clone(),
            wrapped: self.wrapped.clone(),
            pieces: self.pieces.clone(),
        };
        // Texts and numbers only: there is nothing that could fail.
        serde_json::to_string_pretty(&written).unwrap_or_default() + "\n"
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`UnwrapError::Record`] when it is none, or of a version that is not known.
    pub fn from_text(text: &str) -> Result<Self, UnwrapError> {
        let written: Written = serde_json::from_str(text).map_err(|_| UnwrapError::Record)?;
        let Written { version, client, original, wrapped, pieces } = written;
        let client = client.parse().map_err(|_| UnwrapError::Record)?;
        if version == VERSION { Ok(Self { client, original, wrapped, pieces }) } else { Err(UnwrapError::Record) }
    }
}

/// The old text may hold secrets.
impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Record({}, {} pieces)", self.client, self.pieces.len())
    }
}

fn digest(text: &str) -> String {
    let digest = Sha256::new_with_prefix("toolmark/wrapped/v1\0").chain_update(text).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
