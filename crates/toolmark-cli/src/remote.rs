//! A gateway that is running: where it is, who we are to it, and why it cannot be reached.

use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Uri};
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_mcp::upstream::{
    ConnectError, ConnectOptions, EventSender, Said, Target, Upstream, UpstreamErrorKind, UpstreamLimits,
};

use crate::exit::Exit;
use crate::failure::Failure;

/// How long a gateway may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(10);

/// The variable that holds the token where no other is named.
const TOKEN: &str = "TOOLMARK_TOKEN";

/// Which gateway, and what of it.
#[derive(Debug, Args)]
pub(crate) struct Remote {
    /// Where the gateway is
    #[arg(long, visible_alias = "at", value_name = "URL", default_value = "http://127.0.0.1:7319/mcp")]
    url: String,

    /// The task whose expectation holds for every call
    #[arg(long, value_name = "NAME", conflicts_with = "profile")]
    task: Option<String>,

    /// The client that names are made for, or one of the configured profiles
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,

    /// The variable that holds the token to show [default: TOOLMARK_TOKEN, if it is set]
    #[arg(long, value_name = "VARIABLE")]
    token_env: Option<String>,
}

/// Why there is nobody to talk to.
#[derive(Debug, thiserror::Error)]
enum NoGateway {
    #[error("`{0}` is no address of a gateway")]
    Address(String),
    #[error("the variable `{0}` holds no token")]
    Token(String),
    #[error("nothing answers at `{0}`: {1}")]
    Nobody(String, String),
    #[error("the gateway at `{0}` does not let us in (status {1}{2})")]
    Denied(String, u16, String),
    #[error("the gateway at `{0}` turns us away: {2}")]
    TurnedAway(String, Turned, String),
    #[error("there is no MCP at `{0}` (status {1})")]
    Nothing(String, u16),
}

/// What of a request a gateway does not take, whoever sends it.
#[derive(Clone, Copy, Debug)]
enum Turned {
    Host,
    Origin,
}

impl Turned {
    fn of(said: &Said) -> Option<Self> {
        match said.code.as_deref() {
            Some("host-refused") => Some(Self::Host),
            Some("origin-refused") => Some(Self::Origin),
            _ => None,
        }
    }
}

impl Remote {
    /// The address that was asked for.
    fn address(&self) -> String {
        match self.task.as_ref().or(self.profile.as_ref()) {
            Some(name) => format!("{}/{name}", self.url.trim_end_matches('/')),
            None => self.url.clone(),
        }
    }

    fn headers(&self) -> Result<HeaderMap, NoGateway> {
        let name = self.token_env.as_deref().unwrap_or(TOKEN);
        let mut headers = HeaderMap::new();
        match std::env::var(name).ok().filter(|token| !token.is_empty()) {
            Some(token) => {
                let value = HeaderValue::try_from(format!("Bearer {}", token.trim()));
                let mut value = value.map_err(|_| NoGateway::Token(name.to_owned()))?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            None if self.token_env.is_some() => return Err(NoGateway::Token(name.to_owned())),
            None => {}
        }
        Ok(headers)
    }

    /// Connects, as a client that can do this much.
    pub(crate) async fn connect(&self, capabilities: &'static str) -> Result<Upstream, Failure> {
        let address = self.address();
        let refused = |exit, error: NoGateway| Failure::refused(exit, &error);
        let shown = || visible(&address, 200);
        let url = address.parse::<Uri>().ok().filter(|url| matches!(url.scheme_str(), Some("http" | "https")));
        let url = url.ok_or_else(|| refused(Exit::BadInput, NoGateway::Address(shown())))?;
        let headers = self.headers().map_err(|error| refused(Exit::BadInput, error))?;
        let options = ConnectOptions {
            client_info: Bytes::from_static(
                concat!(r#"{"name":"toolmark-cli","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#).as_bytes(),
            ),
            capabilities: Bytes::from_static(capabilities.as_bytes()),
            limits: UpstreamLimits { connect: PATIENCE, ..UpstreamLimits::default() },
            ..ConnectOptions::default()
        };
        // What the gateway says by itself interests nobody here; a channel without a reader takes it.
        let (events, _) = EventSender::channel(1);
        let error = match Upstream::connect(Target::Http { url, headers }, options, events).await {
            Ok(gateway) => return Ok(gateway),
            Err(error) => error,
        };
        Err(match &error {
            ConnectError::Request(request) => match request.kind() {
                UpstreamErrorKind::Status { status: status @ (401 | 403), said, .. } => {
                    let turned = said.as_deref().and_then(|said| Some((Turned::of(said)?, said.message.clone())));
                    refused(
                        Exit::Failed,
                        match turned {
                            Some((turned, message)) => NoGateway::TurnedAway(shown(), turned, message),
                            None => NoGateway::Denied(shown(), *status, message(said.as_deref())),
                        },
                    )
                }
                UpstreamErrorKind::Status { status: status @ (404 | 405), .. } => {
                    refused(Exit::BadInput, NoGateway::Nothing(shown(), *status))
                }
                UpstreamErrorKind::Transport { .. } | UpstreamErrorKind::Timeout { .. } => {
                    refused(Exit::Failed, NoGateway::Nobody(shown(), visible(&request.to_string(), 200)))
                }
                _ => Failure::refused(Exit::Failed, &error),
            },
            _ => Failure::refused(Exit::Failed, &error),
        })
    }
}

/// What a gateway says, to be put behind the status.
fn message(said: Option<&Said>) -> String {
    said.map(|said| format!(": {}", said.message)).unwrap_or_default()
}

impl Explain for NoGateway {
    fn code(&self) -> Code {
        match self {
            Self::Address(_) => Code::new("gateway-url"),
            Self::Token(_) => Code::new("gateway-token-missing"),
            Self::Nobody(..) => Code::new("gateway-unreachable"),
            Self::Denied(..) => Code::new("gateway-denied"),
            Self::TurnedAway(_, Turned::Host, _) => Code::new("host-refused"),
            Self::TurnedAway(_, Turned::Origin, _) => Code::new("origin-refused"),
            Self::Nothing(..) => Code::new("gateway-address-unknown"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Address(_) => "a guess could lead to somebody else's server",
            Self::Token(_) => "without the token that was named, the gateway would take us for somebody else",
            Self::Nobody(..) => "this command only talks to a gateway that is running; it starts none",
            Self::Denied(..) => "the gateway wants to know who calls, and this caller may not come here",
            Self::TurnedAway(_, Turned::Host, _) => "the gateway only answers to names that it was told are its own",
            Self::TurnedAway(_, Turned::Origin, _) => "the gateway takes requests of no page that it was not told of",
            Self::Nothing(..) => "a gateway has one address for all tools, and one for each task and profile",
        }
        .to_owned()
    }

    fn fix(&self) -> String {
        match self {
            Self::Address(_) => "write it as `http://127.0.0.1:7319/mcp`",
            Self::Token(_) => "set the variable to a token of this gateway",
            Self::Nobody(..) => "start it with `toolmark up`, or say with `--url` where it is",
            Self::Denied(..) => {
                "put a token of this gateway into `TOOLMARK_TOKEN`, or name the variable with `--token-env`"
            }
            Self::TurnedAway(_, Turned::Host, _) => {
                "use `127.0.0.1` or the address of `public_url`, or add the host to `allowed_hosts` in `[gateway]`"
            }
            Self::TurnedAway(_, Turned::Origin, _) => "add the origin to `allowed_origins` in `[gateway]`",
            Self::Nothing(..) => "end `--url` with `/mcp`, or use a task or a profile that its configuration knows",
        }
        .to_owned()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Token(variable) => facts([("variable", variable.as_str().into())]),
            Self::Address(url)
            | Self::Nobody(url, _)
            | Self::Denied(url, ..)
            | Self::TurnedAway(url, ..)
            | Self::Nothing(url, _) => facts([("url", url.as_str().into())]),
        }
    }
}
