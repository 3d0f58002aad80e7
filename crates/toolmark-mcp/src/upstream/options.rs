//! Where is the server, who are we to it, and how much may it cost us? Nothing here reads the environment: it comes in.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Uri};
use tokio_util::task::TaskTracker;
use toolmark_tls::Trust;

use super::credentials::Credentials;
use super::processors::Processors;
use super::stdio::StderrTail;
use crate::wire::version::Era;

/// Where a server is.
#[derive(Clone, PartialEq, Eq)]
pub enum Target {
    /// A program that we start and talk to over its standard input and output. No shell is involved.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, beside what [`ConnectOptions::inherited`] passes on.
        env: BTreeMap<String, String>,
        /// Where it runs; our own folder if absent.
        cwd: Option<PathBuf>,
    },
    /// A server behind streamable HTTP.
    Http {
        /// Its address.
        url: Uri,
        /// Headers for every request, such as `Authorization`.
        headers: HeaderMap,
    },
    /// A server behind the HTTP transport of 2024-11-05, with an event stream of its own.
    Sse {
        /// The address of the event stream.
        url: Uri,
        /// Headers for every request.
        headers: HeaderMap,
    },
}

/// How to connect.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The era of the server, if the operator says so; otherwise the server is asked.
    pub era: Option<Era>,
    /// Who we are, as a JSON object.
    pub client_info: Bytes,
    /// What we are able to do for the server, as a JSON object.
    pub capabilities: Bytes,
    /// The few variables of our own environment that a program may see; see [`minimal_environment`].
    pub inherited: Vec<(OsString, OsString)>,
    /// What says who we are, where that changes while a connection lasts; otherwise headers do.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Whose certificates are believed, where the server shows one.
    pub trust: Trust,
    /// Where a program's standard error is kept, for whoever wants it beyond the connection.
    pub stderr: Option<StderrTail>,
    /// Counts the programs that were started and have not ended yet, for whoever waits until all have, also those of connections that
    /// never came about.
    pub programs: TaskTracker,
    /// Limits.
    pub limits: UpstreamLimits,
}

/// What one server may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamLimits {
    /// How long connecting may take, the handshake included.
    pub connect: Duration,
    /// How long a program may leave the first question of the new era unanswered before we also ask the old way.
    pub probe: Duration,
    /// How long a request may take that brings no limit of its own.
    pub request: Duration,
    /// How long a program may take to end after its input was closed, and again after it was asked to end.
    pub grace: Duration,
    /// Most bytes of one message from the server.
    pub bytes: usize,
    /// Most requests at the same time; more have to wait.
    pub in_flight: usize,
    /// Most requests that wait; more are refused.
    pub queue: usize,
    /// Most pages of one list.
    pub pages: usize,
    /// Most items of one list.
    pub items: usize,
    /// Most bytes of one list.
    pub list_bytes: usize,
    /// How many lines of a program's standard error are kept.
    pub stderr_lines: usize,
    /// The processors that a program may use; if absent, all of ours, or one while it answers more calls there.
    pub processors: Option<Processors>,
}

/// The variables that most programs cannot do without, and that hold no secret.
const MINIMAL: &[&str] = &["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "USER", "TZ"];

/// The part of an environment that every program may see: `PATH`, `HOME`, `USER`, `LANG`, `LC_ALL`, `TZ`, `TMPDIR`.
pub fn minimal_environment(all: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    all.into_iter().filter(|(name, _)| name.to_str().is_some_and(|name| MINIMAL.contains(&name))).collect()
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            era: None,
            client_info: Bytes::from_static(
                concat!(r#"{"name":"toolmark","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#).as_bytes(),
            ),
            capabilities: Bytes::from_static(b"{}"),
            inherited: Vec::new(),
            credentials: None,
            trust: Trust::machine(),
            stderr: None,
            programs: TaskTracker::new(),
            limits: UpstreamLimits::default(),
        }
    }
}

impl Default for UpstreamLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            probe: Duration::from_secs(3),
            request: Duration::from_secs(60),
            grace: Duration::from_secs(2),
            bytes: 16 << 20,
            in_flight: 256,
            queue: 1024,
            pages: 1000,
            items: 20_000,
            list_bytes: 64 << 20,
            stderr_lines: 200,
            processors: None,
        }
    }
}

/// Secrets stand in environments and headers, so only their names are shown.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &args.len())
                .field("env", &env.keys())
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers } => show(f, "Http", url, headers),
            Self::Sse { url, headers } => show(f, "Sse", url, headers),
        }
    }
}

fn show(f: &mut fmt::Formatter<'_>, name: &str, url: &Uri, headers: &HeaderMap) -> fmt::Result {
    f.debug_struct(name).field("host", &url.host()).field("headers", &headers.keys().collect::<Vec<_>>()).finish()
}
