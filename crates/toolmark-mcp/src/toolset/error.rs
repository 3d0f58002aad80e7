//! Why is a server not to be used, and why did a call bring nothing? Each says whether the server may have acted.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, Report, facts};
use toolmark_core::names::ParsePackNameError;
use toolmark_core::text::visible;
use toolmark_runtime::tools::ToolError;

use crate::upstream::{ConnectError, Delivery, ListError, UpstreamError, UpstreamErrorKind};

/// A server that cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpServerError {
    /// Its name is none.
    #[error(transparent)]
    Name(#[from] ParsePackNameError),
    /// It has no program.
    #[error("the server `{server}` has no program to start")]
    Command {
        /// The server.
        server: String,
    },
    /// Its address cannot be used.
    #[error("the address of the server `{server}` cannot be used: {reason}")]
    Address {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// A header cannot be used. Its value is not shown.
    #[error("the header `{header}` of the server `{server}` cannot be sent")]
    Header {
        /// The server.
        server: String,
        /// The name of the header.
        header: String,
    },
    /// The certificates to trust cannot be used.
    #[error(transparent)]
    Ca(#[from] toolmark_tls::ReadTrustError),
    /// It cannot be started or reached.
    #[error("the server `{server}` is not there: {error}")]
    Connect {
        /// The server.
        server: String,
        /// Why.
        error: ConnectError,
    },
    /// Its tools cannot be listed.
    #[error("the server `{server}` lists no tools: {error}")]
    List {
        /// The server.
        server: String,
        /// Why.
        error: ListError,
    },
    /// Some of its tools cannot be used.
    #[error("{} of the tools of the server `{server}` cannot be used: {}", reports.len(), whats(reports))]
    Definitions {
        /// The server.
        server: String,
        /// One for each of them.
        reports: Vec<Report>,
    },
    /// It lacks tools that the program wants.
    #[error("the server `{server}` has no tool `{}`", tools.join("`, `"))]
    Absent {
        /// The server.
        server: String,
        /// The tools.
        tools: Vec<String>,
    },
    /// The program closed it.
    #[error("the server `{server}` was closed")]
    Closed {
        /// The server.
        server: String,
    },
}

/// A call that brought no result of its own; found as the source of the [`ToolError`].
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpCallError {
    /// The server did not answer.
    #[error(transparent)]
    Upstream(UpstreamError),
    /// The server is not there, and could not be started again. Nothing was sent.
    #[error(transparent)]
    Unavailable(Box<McpServerError>),
    /// The server has another tool by that name now, or none. Nothing was sent.
    #[error("the tool is not what it was when the call was judged")]
    Changed,
    /// Whoever held the server let go of it. Nothing was sent.
    #[error("the server is not held by anybody any more")]
    Gone,
    /// The server answered with an error.
    #[error("the server refuses the call: {message} ({code})")]
    Refused {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The tool says that it failed.
    #[error("the tool failed: {}", visible(text, 1000))]
    Failed {
        /// What it says, for the model.
        text: String,
    },
    /// The server wants to ask a person or a model something first.
    #[error("the server asks something, and nobody can be asked")]
    Asks,
    /// The result cannot be read.
    #[error("the result cannot be read: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
}

fn whats(reports: &[Report]) -> String {
    reports.iter().map(Report::what).collect::<Vec<_>>().join("; ")
}

const PERHAPS: &str = "It may have had an effect: check before you repeat it.";

impl McpCallError {
    /// The error as the tool's, with a text for the model. Servers write theirs for models; ours name no address and no path.
    #[must_use]
    pub fn told(self, tool: &str) -> ToolError {
        let tool = visible(tool, 200);
        let changed =
            || format!("`{tool}` was not called: its server has changed it. Look at it again before you call it.");
        let text = match &self {
            Self::Changed => changed(),
            Self::Upstream(error) if matches!(error.kind(), UpstreamErrorKind::Outdated) => changed(),
            Self::Upstream(error) if error.delivery() == Delivery::Never => {
                format!("`{tool}` was not called: its server does not answer. Try again later, or go another way.")
            }
            Self::Upstream(_) => format!("`{tool}` brought no result: its server gave no answer. {PERHAPS}"),
            Self::Unavailable(_) | Self::Gone => {
                format!("`{tool}` was not called: its server is not there. Try again later, or go another way.")
            }
            Self::Refused { message, .. } => format!("`{tool}` was refused by its server: {message}"),
            Self::Failed { text } => text.clone(),
            Self::Asks => {
                format!("`{tool}` did not finish: its server asks for something first, and nobody can be asked here.")
            }
            Self::Unreadable { .. } => format!("`{tool}` brought something that cannot be read. {PERHAPS}"),
        };
        ToolError::told(text).caused_by(self)
    }
}

impl McpServerError {
    fn inner(&self) -> Option<&dyn Explain> {
        match self {
            Self::Name(error) => Some(error),
            Self::Ca(error) => Some(error),
            Self::Connect { error, .. } => Some(error),
            Self::List { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl Explain for McpServerError {
    fn code(&self) -> Code {
        match self {
            Self::Command { .. } | Self::Address { .. } | Self::Header { .. } => Code::new("mcp-server-unreachable"),
            Self::Definitions { .. } => Code::new("mcp-server-tools"),
            Self::Absent { .. } => Code::new("mcp-server-lacks-tools"),
            Self::Closed { .. } => Code::new("mcp-server-closed"),
            _ => self.inner().map_or(Code::new("mcp-server-closed"), Explain::code),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Command { .. } | Self::Address { .. } | Self::Header { .. } => {
                "without a server that can be reached, none of its tools can be listed or called".into()
            }
            Self::Definitions { .. } | Self::Absent { .. } => {
                "an agent with some of its tools is not the agent that was meant".into()
            }
            Self::Closed { .. } => "what was closed on purpose is not started again by a call".into(),
            _ => self.inner().map(Explain::why).unwrap_or_default(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Command { .. } => "name the program that is to be started".into(),
            Self::Address { .. } => "write the address as `https://host/path`".into(),
            Self::Header { .. } => "use letters, digits and `-` in names, and no line breaks in values".into(),
            Self::Definitions { reports, .. } => {
                let fixes = reports.iter().map(Report::fix).collect::<Vec<_>>().join("\n");
                format!("{fixes}\nor leave these tools out: `.without([…])`")
            }
            Self::Absent { .. } => "correct the names in `.only([…])`, or update the server".into(),
            Self::Closed { .. } => "build the server again".into(),
            _ => self.inner().map(Explain::fix).unwrap_or_default(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Command { server } | Self::Address { server, .. } | Self::Closed { server } => {
                facts([("server", server.as_str().into())])
            }
            Self::Header { server, header } => {
                facts([("server", server.as_str().into()), ("header", header.as_str().into())])
            }
            Self::Definitions { server, reports } => {
                facts([("server", server.as_str().into()), ("tools", reports.iter().map(Report::to_json).collect())])
            }
            Self::Absent { server, tools } => {
                facts([("server", server.as_str().into()), ("tools", tools.as_slice().into())])
            }
            _ => self.inner().map(Explain::facts).unwrap_or_default(),
        }
    }
}

impl Explain for McpCallError {
    fn code(&self) -> Code {
        match self {
            Self::Upstream(error) => error.code(),
            Self::Unavailable(error) => error.code(),
            Self::Changed => Code::new("mcp-tool-changed"),
            Self::Gone => Code::new("mcp-server-closed"),
            Self::Refused { .. } | Self::Failed { .. } => Code::new("mcp-tool-failed"),
            Self::Asks => Code::new("mcp-tool-asks"),
            Self::Unreadable { .. } => Code::new("mcp-tool-unreadable"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Upstream(error) => error.why(),
            Self::Unavailable(error) => error.why(),
            Self::Changed => {
                "what runs must be what was judged and, where a person was asked, what they agreed to".into()
            }
            Self::Gone => "a tool does not keep its server alive".into(),
            Self::Refused { .. } | Self::Failed { .. } => "the server says so".into(),
            Self::Asks => "a program that answers in a person's place would decide what nobody decided".into(),
            Self::Unreadable { .. } => "half of a result is another result".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Upstream(error) => error.fix(),
            Self::Unavailable(error) => error.fix(),
            Self::Changed => "begin another turn: the tool is listed as it is now".into(),
            Self::Gone => "keep the server, or the agent that has it, for as long as its tools are called".into(),
            Self::Refused { .. } | Self::Failed { .. } => "read the message; the model was given it".into(),
            Self::Asks => "use the tool through the gateway, where people can be asked, or leave it out".into(),
            Self::Unreadable { .. } => "tell the author of the server".into(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Upstream(error) => error.facts(),
            Self::Unavailable(error) => error.facts(),
            Self::Refused { code, .. } => facts([("code", (*code).into())]),
            _ => Map::new(),
        }
    }
}
