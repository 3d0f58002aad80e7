//! Which era is this server of, and who does it say it is? The new way of asking comes first; a server that does not
//! understand it is asked the old way.

use bytes::Bytes;
use http::HeaderValue;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};

use super::request::{Reply, UpstreamError, UpstreamErrorKind, UpstreamRequest};
use super::{Inner, Link};
use crate::wire::params::meta;
use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Change, RawObject, RpcError, codes, read_items, write};

/// What a server says about itself. None of it is to be trusted.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) version: ProtocolVersion,
    pub(crate) info: Option<Bytes>,
    pub(crate) capabilities: RawObject,
    pub(crate) instructions: Option<Bytes>,
}

/// A connection that did not come about.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program could not be started.
    #[error("`{command}` cannot be started: {reason}")]
    Start {
        /// The program.
        command: String,
        /// Why.
        reason: String,
    },
    /// The address cannot be used.
    #[error("the address of the server cannot be used: {reason}")]
    Address {
        /// Why.
        reason: String,
    },
    /// No revision in common.
    #[error("the server speaks only {supported}")]
    Version {
        /// What it speaks.
        supported: String,
    },
    /// The server answered the handshake with an error.
    #[error("the server refuses the handshake: {message} ({code})")]
    Refused {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// A request of the handshake failed.
    #[error(transparent)]
    Request(#[from] UpstreamError),
}

/// What asking the new way showed.
enum Probe {
    Modern(Peer),
    Old,
}

impl Inner {
    /// Finds out the era and introduces us.
    pub(crate) async fn introduce(&self) -> Result<Peer, ConnectError> {
        let old_only = matches!(self.link, Link::Pipe(_)) && self.old_transport;
        match self.options.era {
            Some(Era::Stateless) => match self.discover().await? {
                Probe::Modern(peer) => Ok(peer),
                Probe::Old => Err(ConnectError::Version { supported: "revisions before 2026-07-28".to_owned() }),
            },
            Some(Era::Session) => self.initialize().await,
            None if old_only => self.initialize().await,
            None => self.detect().await,
        }
    }

    async fn detect(&self) -> Result<Peer, ConnectError> {
        let probe = self.discover();
        tokio::pin!(probe);
        match tokio::time::timeout(self.options.limits.probe, &mut probe).await {
            Ok(Ok(Probe::Modern(peer))) => return Ok(peer),
            Ok(Ok(Probe::Old)) => return self.initialize().await,
            Ok(Err(error)) => return Err(error),
            Err(_) => {}
        }
        // Silent so far: an old server that ignores what it does not know, or one that is still starting. Whichever answer
        // comes first that shows the era, counts.
        let initialize = self.initialize();
        tokio::pin!(initialize);
        tokio::select! {
            biased;
            probed = &mut probe => match probed {
                Ok(Probe::Modern(peer)) => Ok(peer),
                Ok(Probe::Old) | Err(_) => initialize.await,
            },
            initialized = &mut initialize => initialized,
        }
    }

    async fn discover(&self) -> Result<Probe, ConnectError> {
        let request = UpstreamRequest::new("server/discover", RawObject::empty());
        let reply = self.exchange_as(Era::Stateless, request, None).await.map(|(reply, _)| reply);
        match reply {
            Ok(Reply::Result(result)) => discovered(&result),
            Ok(Reply::Error(error)) => refused(&error),
            Err(error) => match (&self.link, error.kind()) {
                (_, UpstreamErrorKind::Status { status: 401 | 403, .. }) => Err(error.into()),
                // It answers, but not as the new era does.
                (Link::Http(_), UpstreamErrorKind::Status { .. }) | (_, UpstreamErrorKind::Protocol { .. }) => {
                    Ok(Probe::Old)
                }
                _ => Err(error.into()),
            },
        }
    }

    /// Asks a server of the new era once more, which must still be one.
    pub(super) async fn discover_again(&self) -> Result<Peer, ConnectError> {
        let request = UpstreamRequest::new("server/discover", RawObject::empty());
        let found = match self.exchange_as(Era::Stateless, request, Some(self.options.limits.request)).await? {
            (Reply::Result(result), _) => discovered(&result)?,
            (Reply::Error(error), _) => return Err(refusal(&error)),
        };
        match found {
            Probe::Modern(peer) => Ok(peer),
            Probe::Old => Err(ConnectError::Version { supported: "revisions before 2026-07-28".to_owned() }),
        }
    }

    async fn initialize(&self) -> Result<Peer, ConnectError> {
        let version = write::quote(ProtocolVersion::LATEST_WITH_SESSION.as_str());
        let params = RawObject::empty().rewrite(&[
            Change::Set("protocolVersion", &version),
            Change::Set("capabilities", &self.options.capabilities),
            Change::Set("clientInfo", &self.options.client_info),
        ]);
        let params = RawObject::read(params, self.wire_limits()).map_err(|error| {
            UpstreamError::never(UpstreamErrorKind::Protocol {
                reason: format!("our own introduction is broken: {error}"),
            })
        })?;
        let request = UpstreamRequest::new("initialize", params);
        let (reply, session) = self.exchange_as(Era::Session, request, None).await?;
        let peer = match reply {
            Reply::Result(result) => initialized(&result)?,
            Reply::Error(error) => return Err(refusal(&error)),
        };
        self.settle(peer.version, session);
        self.notify(write::notification("notifications/initialized", None)).await?;
        Ok(peer)
    }

    /// Notes what was agreed on, so that every later request says so.
    pub(crate) fn settle(&self, version: ProtocolVersion, session: Option<HeaderValue>) {
        if let Link::Http(http) = &self.link {
            http.set_session(Some(version), session);
        }
    }
}

/// A list of revisions proves the new era; a result without one is what an old server says to whatever it is asked.
fn discovered(result: &RawObject) -> Result<Probe, ConnectError> {
    let Some(versions) = versions(result.slice("supportedVersions")) else { return Ok(Probe::Old) };
    if versions.iter().any(|version| version == ProtocolVersion::LATEST.as_str()) {
        let info = result.object("_meta").and_then(|meta| meta.slice(meta::SERVER_INFO));
        return Ok(Probe::Modern(Peer {
            version: ProtocolVersion::LATEST,
            info: info.or_else(|| result.slice("serverInfo")),
            capabilities: result.object("capabilities").unwrap_or_else(RawObject::empty),
            instructions: result.slice("instructions"),
        }));
    }
    old_or_nothing(&versions)
}

/// An error of the new era proves the era; any other means that the server is an old one.
fn refused(error: &RpcError) -> Result<Probe, ConnectError> {
    match error.code() {
        Some(codes::UNSUPPORTED_VERSION) => {
            let data = error.object().object("data");
            old_or_nothing(&versions(data.and_then(|data| data.slice("supported"))).unwrap_or_default())
        }
        Some(code) if codes::is_modern(code) => Err(refusal(error)),
        _ => Ok(Probe::Old),
    }
}

fn old_or_nothing(versions: &[String]) -> Result<Probe, ConnectError> {
    let known = |text: &String| text.parse::<ProtocolVersion>().is_ok_and(|version| version.era() == Era::Session);
    if versions.iter().any(known) {
        return Ok(Probe::Old);
    }
    let named: Vec<String> = versions.iter().take(8).map(|version| version.chars().take(32).collect()).collect();
    let supported = if named.is_empty() { "revisions that it does not name".to_owned() } else { named.join(", ") };
    Err(ConnectError::Version { supported })
}

fn versions(list: Option<Bytes>) -> Option<Vec<String>> {
    let items = read_items(&list?)?;
    Some(items.iter().filter_map(|item| serde_json::from_slice(item).ok()).collect())
}

fn initialized(result: &RawObject) -> Result<Peer, ConnectError> {
    let version = result.text("protocolVersion").unwrap_or_default();
    let known = version.parse::<ProtocolVersion>().ok().filter(|version| version.era() == Era::Session);
    let version = match known {
        Some(version) => version,
        None => {
            let named: String = version.chars().take(32).collect();
            let supported = if named.is_empty() { "revisions that it does not name".to_owned() } else { named };
            return Err(ConnectError::Version { supported });
        }
    };
    Ok(Peer {
        version,
        info: result.slice("serverInfo"),
        capabilities: result.object("capabilities").unwrap_or_else(RawObject::empty),
        instructions: result.slice("instructions"),
    })
}

fn refusal(error: &RpcError) -> ConnectError {
    let message = error.message().unwrap_or_default().chars().take(200).collect();
    ConnectError::Refused { code: error.code().unwrap_or(codes::INTERNAL_ERROR), message }
}

impl Explain for ConnectError {
    fn code(&self) -> Code {
        match self {
            Self::Start { .. } => Code::new("upstream-start"),
            Self::Address { .. } => Code::new("upstream-address"),
            Self::Version { .. } => Code::new("upstream-version"),
            Self::Refused { .. } => Code::new("upstream-refused"),
            Self::Request(error) => error.code(),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Request(error) => error.why(),
            _ => "without a server that answers, none of its tools can be listed or called".to_owned(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Start { .. } => "see that the program is installed and that `PATH` leads to it".to_owned(),
            Self::Address { .. } => "write the address as `https://host/path`".to_owned(),
            Self::Version { .. } => "update the server".to_owned(),
            Self::Refused { .. } => "see the log of the server".to_owned(),
            Self::Request(error) => error.fix(),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Start { command, .. } => facts([("command", Value::from(command.as_str()))]),
            Self::Version { supported } => facts([("supported", Value::from(supported.as_str()))]),
            Self::Refused { code, .. } => facts([("code", Value::from(*code))]),
            Self::Address { .. } => Map::new(),
            Self::Request(error) => error.facts(),
        }
    }
}
