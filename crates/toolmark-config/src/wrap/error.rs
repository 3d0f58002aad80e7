//! Why a client's file is not rewritten, or not restored. In both cases it stays as it is.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;

use crate::clients::Client;

/// A file that is not rewritten.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WrapError {
    /// It cannot be read.
    #[error("{}", .0.report().what())]
    Unreadable(Box<Problem>),
    /// It holds no table of settings.
    #[error("the file holds no table of settings")]
    Shape,
    /// Toolmark stands there already.
    #[error("`{}` already goes through Toolmark", visible(label, 200))]
    Already {
        /// The file.
        label: String,
    },
    /// The client starts programs only.
    #[error("{} takes no address in its file", client.title())]
    NoAddresses {
        /// The client.
        client: Client,
    },
    /// The new text would not say what it should.
    #[error("`{}` is written in a way that cannot be changed safely", visible(label, 200))]
    Failed {
        /// The file.
        label: String,
    },
}

/// A file that is not restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnwrapError {
    /// It was changed since, and the change would be lost.
    #[error("the servers in the file were changed after it was wrapped")]
    Changed,
    /// It was removed since.
    #[error("the file was removed after it was wrapped")]
    Gone,
    /// What was kept to restore it cannot be read.
    #[error("the record of the old file cannot be read")]
    Record,
}

impl Explain for WrapError {
    fn code(&self) -> Code {
        match self {
            Self::Unreadable(problem) => problem.code(),
            Self::Shape => Code::new("client-file-shape"),
            Self::Already { .. } => Code::new("wrap-already"),
            Self::NoAddresses { .. } => Code::new("wrap-no-addresses"),
            Self::Failed { .. } => Code::new("wrap-failed"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Unreadable(problem) => return problem.report().why().to_owned(),
            Self::Shape => "it is not the file of a client",
            Self::Already { .. } => "wrapping it again would make Toolmark a server of itself",
            Self::NoAddresses { .. } => "it would ignore the entry, and have no servers at all",
            Self::Failed { .. } => {
                "a file that its client cannot read any more would lose every server; it was left as it is"
            }
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Unreadable(problem) => problem.report().fix().to_owned(),
            Self::Shape => "give the file in which the client keeps its MCP servers".into(),
            Self::Already { .. } => {
                "restore it first: `toolmark unwrap CLIENT`; an entry `toolmark` that was written by hand is removed by hand".into()
            },
            Self::NoAddresses { .. } => "leave out `--url`, so that the client starts `toolmark stdio`".into(),
            Self::Failed { .. } => "make one plain table of its servers, or add Toolmark by hand".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Unreadable(problem) => problem.report().facts().clone(),
            Self::Already { label } | Self::Failed { label } => facts([("file", visible(label, 200).into())]),
            Self::NoAddresses { client } => facts([("client", client.as_str().into())]),
            Self::Shape => Map::new(),
        }
    }
}

impl Explain for UnwrapError {
    fn code(&self) -> Code {
        match self {
            Self::Changed | Self::Gone => Code::new("unwrap-changed"),
            Self::Record => Code::new("unwrap-record"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Changed => "restoring the old servers would lose what was changed since; the file was left as it is",
            Self::Gone => "whoever removed it may not want it back",
            Self::Record => "without it nobody knows what the file was; the file was left as it is",
        }
        .into()
    }

    fn fix(&self) -> String {
        match self {
            Self::Changed => {
                "move new servers into `toolmark.toml`, or restore the old file and lose the changes with `--force`"
            }
            Self::Gone => "write the old file anew with `--force`; what was kept of it is still there",
            Self::Record => "remove the entry `toolmark` from the client's file and write its servers there again",
        }
        .into()
    }
}
