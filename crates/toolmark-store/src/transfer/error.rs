//! Why a store could not be taken along.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

use crate::error::StoreError;

/// An export that broke off. What was written lacks its last line, and no import takes it.
#[derive(Debug, thiserror::Error)]
pub enum ExportStoreError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The other end cannot be written.
    #[error("the export cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

/// An import that was refused. The store is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportStoreError {
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The other end cannot be read.
    #[error("the export cannot be read: {0}")]
    Read(#[from] std::io::Error),
    /// The store holds something already.
    #[error("the store is not empty: it holds at least one {0}")]
    NotEmpty(&'static str),
    /// The text does not begin as an export does.
    #[error("this is no export of a store: {0}")]
    NotAnExport(String),
    /// It was written by a newer version.
    #[error("the export is of version {found}, and this program reads up to {known}")]
    Newer {
        /// The version of the export.
        found: u64,
        /// The newest version this program reads.
        known: u64,
    },
    /// A line is of a kind that is not known.
    #[error("line {line}: `{kind}` is no kind that this program knows")]
    Kind {
        /// The line.
        line: u64,
        /// What it says.
        kind: String,
    },
    /// A line cannot be read.
    #[error("line {line}: {why}")]
    Line {
        /// The line.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// A line cannot be kept: it is there twice, or belongs to something that is not there.
    #[error("from line {line} on, not all can be kept: {why}")]
    Row {
        /// The first line that it may be.
        line: u64,
        /// What the database says.
        why: String,
    },
    /// It ends too early, or is not what was written.
    #[error("the export is not whole: {0}")]
    Broken(String),
}

impl Explain for ExportStoreError {
    fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Write(_) => Code::new("store-export"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Store(error) => error.why(),
            Self::Write(_) => "an export that stops half-way must not pass for a whole one".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Store(error) => error.fix(),
            Self::Write(_) => "write to another place, and remove what is there now".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Store(error) => error.facts(),
            Self::Write(error) => facts([("error", error.to_string().into())]),
        }
    }
}

impl Explain for ImportStoreError {
    fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Read(_) => Code::new("store-import-unreadable"),
            Self::NotEmpty(_) => Code::new("store-import-not-empty"),
            Self::NotAnExport(_) => Code::new("store-import-format"),
            Self::Newer { .. } => Code::new("store-import-newer"),
            Self::Kind { .. } => Code::new("store-import-kind"),
            Self::Line { .. } => Code::new("store-import-line"),
            Self::Row { .. } => Code::new("store-import-row"),
            Self::Broken(_) => Code::new("store-import-broken"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Store(error) => return error.why(),
            Self::Read(_) => "half an export is no store",
            Self::NotEmpty(_) => "two stores in one would mix their names, tokens and chains",
            Self::NotAnExport(_) => "what is no export would be read as an empty store",
            Self::Newer { .. } | Self::Kind { .. } => "what this program does not know would be lost without a word",
            Self::Line { .. } | Self::Row { .. } => {
                "a line that is guessed at or left out would make another store of it"
            }
            Self::Broken(_) => "what is missing or was changed may be what somebody wants to hide",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Store(error) => return error.fix(),
            Self::Read(_) => "check the path, and that you may read it",
            Self::NotEmpty(_) => "name a store that does not exist yet, or an empty database, with `--store`",
            Self::NotAnExport(_) => "give a file that `toolmark store export` wrote",
            Self::Newer { .. } | Self::Kind { .. } => "use the Toolmark that wrote the export, or a newer one",
            Self::Line { .. } | Self::Row { .. } | Self::Broken(_) => {
                "export the store again, and change nothing in it"
            }
        }
        .into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Store(error) => error.facts(),
            Self::Read(error) => facts([("error", error.to_string().into())]),
            Self::NotEmpty(kind) => facts([("kind", (*kind).into())]),
            Self::NotAnExport(why) | Self::Broken(why) => facts([("error", why.as_str().into())]),
            Self::Newer { found, known } => facts([("found", (*found).into()), ("known", (*known).into())]),
            Self::Kind { line, kind } => facts([("line", (*line).into()), ("kind", kind.as_str().into())]),
            Self::Line { line, why } | Self::Row { line, why } => {
                facts([("line", (*line).into()), ("error", why.as_str().into())])
            }
        }
    }
}
