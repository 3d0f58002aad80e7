//! Everything a store holds, as text, and back: one JSON object a line, each with its `kind`.
//!
//! The first line says what the file is and which version of the store it is from, the last how many lines there are and what they hash
//! to, so that half a file is never taken for a whole one. Lines come in one order whatever back end they are from: two stores that
//! hold the same give the same bytes. Keys that nodes share are secrets and are left out; a store that is read in makes its own.

mod error;
mod export;
mod import;
mod line;
mod tables;

pub use error::{ExportStoreError, ImportStoreError};
pub use export::Exported;
pub use import::Imported;
pub use tables::{Cell, Column, Row, Rows, Shape, Sql, TABLES, Table};

/// What the first line of an export calls itself.
const NAME: &str = "toolmark-store";
/// How exports are written. Tables and columns may come without a new number: the version of the store tells of them.
const FORMAT: u64 = 1;
/// The kind of the last line.
const END: &str = "end";

/// What the reading side of an import is sent.
#[derive(Debug)]
pub enum Part {
    /// Rows of one table.
    Rows(Rows),
    /// There is nothing more: what was sent may be kept.
    End,
}

/// What became of rows that were sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// All are kept.
    All,
    /// None is kept: the store already holds something of this kind.
    NotEmpty(&'static str),
    /// None is kept: some of those from this line on cannot be.
    Refused {
        /// The line of the first of them.
        line: u64,
        /// What the database says.
        why: String,
    },
    /// None is kept: whoever sent them did not come to an end.
    Abandoned,
}
