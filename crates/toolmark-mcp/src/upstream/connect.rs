//! How does a connection come about? A program is started, an address is reached, or two streams are taken as they are; then
//! the server is asked who it is.

use std::sync::Arc;

use ::http::{HeaderMap, Uri};
#[cfg(target_os = "linux")]
use rustix::process::Pid;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::process::Child;

use super::desk::Desk;
use super::http::{Client, Http, old};
use super::pipe::{Pipe, read_lines, write_lines};
use super::stdio::{Program, StderrTail, start};
#[cfg(target_os = "linux")]
use super::trial;
use super::{
    ConnectError, ConnectOptions, EventSender, Inner, Link, Target, Upstream, UpstreamError, UpstreamErrorKind,
};
use crate::wire::version::Era;

impl Upstream {
    /// Starts or reaches a server and asks it who it is.
    ///
    /// # Errors
    /// When it cannot be started or reached, does not answer in time, or speaks no revision that we speak.
    pub async fn connect(target: Target, options: ConnectOptions, events: EventSender) -> Result<Self, ConnectError> {
        let after = options.limits.connect;
        let late = || ConnectError::Request(UpstreamError::never(UpstreamErrorKind::Timeout { after }));
        let connecting = async {
            match target {
                Target::Stdio { command, args, env, cwd } => {
                    let begin = |options: &ConnectOptions| {
                        let processors = options.limits.processors;
                        start(&command, &args, &env, &options.inherited, cwd.as_deref(), processors).map_err(|error| {
                            ConnectError::Start { command: command.clone(), reason: error.to_string() }
                        })
                    };
                    match Self::attend(begin(&options)?, options.clone(), events.clone()).await {
                        // Some old programs give up when they hear something that they do not know.
                        Err(ConnectError::Request(error))
                            if options.era.is_none() && matches!(error.kind(), UpstreamErrorKind::Closed { .. }) =>
                        {
                            let options = ConnectOptions { era: Some(Era::Session), ..options };
                            Self::attend(begin(&options)?, options, events).await
                        }
                        other => other,
                    }
                }
                Target::Http { url, headers } => Self::reach(url, &headers, options, events).await,
                Target::Sse { url, headers } => {
                    let client = client(&url, &options)?;
                    let desk = Desk::new(events, options.limits.bytes);
                    let pipe = old::connect(client, &url, &headers, desk, options.limits).await?;
                    Inner::new(Link::Pipe(pipe), options, None, true).open().await
                }
            }
        };
        tokio::time::timeout(after, connecting).await.map_err(|_| late())?
    }

    /// Talks to a server over two streams, a message a line, as with a program: for servers in the same process.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn over(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        options: ConnectOptions,
        events: EventSender,
    ) -> Result<Self, ConnectError> {
        let after = options.limits.connect;
        let (pipe, outgoing) = Pipe::new(Desk::new(events, options.limits.bytes), options.limits);
        tokio::spawn(write_lines(pipe.clone(), outgoing, output, std::future::ready(())));
        tokio::spawn(read_lines(
            pipe.clone(),
            input,
            |_| tracing::debug!("a line that is no message"),
            std::future::ready(()),
        ));
        let opening = Inner::new(Link::Pipe(pipe), options, None, false).open();
        let late = |_| ConnectError::Request(UpstreamError::never(UpstreamErrorKind::Timeout { after }));
        tokio::time::timeout(after, opening).await.map_err(late)?
    }

    async fn attend(child: Child, options: ConnectOptions, events: EventSender) -> Result<Self, ConnectError> {
        let limits = options.limits;
        let (pipe, outgoing) = Pipe::new(Desk::new(events, limits.bytes), limits);
        let tail = options.stderr.clone().unwrap_or_else(|| StderrTail::new(limits.stderr_lines));
        #[cfg(target_os = "linux")]
        if limits.processors.is_none()
            && let Some(id) = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
        {
            tokio::spawn(trial::attend(pipe.clone(), id));
        }
        pipe.connecting();
        let program = Program::attend(child, &pipe, outgoing, tail, limits.grace, &options.programs);
        let upstream = Inner::new(Link::Pipe(Arc::clone(&pipe)), options, Some(program), false).open().await?;
        pipe.connected();
        Ok(upstream)
    }

    async fn reach(
        url: Uri,
        headers: &HeaderMap,
        options: ConnectOptions,
        events: EventSender,
    ) -> Result<Self, ConnectError> {
        let client = client(&url, &options)?;
        let desk = Desk::new(events, options.limits.bytes);
        let http = Http::new(client.clone(), url.clone(), headers, desk.clone(), options.limits);
        let inner = Inner::new(Link::Http(http.clone()), options.clone(), None, false);
        let mut result = inner.introduce().await;
        for _ in 0..3 {
            // The usual missing or superfluous slash at the end; never to another server.
            let Err(ConnectError::Request(error)) = &result else { break };
            let UpstreamErrorKind::Status { status: 307 | 308, location: Some(location), .. } = error.kind() else {
                break;
            };
            if !http.moved(location) {
                break;
            }
            result = inner.introduce().await;
        }
        let error = match result {
            Ok(peer) => return Ok(inner.opened(peer)),
            Err(error) => error,
        };
        // A server that takes no POST at this address may be one of 2024-11-05.
        let maybe_old = options.era != Some(Era::Stateless)
            && matches!(&error, ConnectError::Request(error)
                if matches!(error.kind(), UpstreamErrorKind::Status { status: 400 | 404 | 405, .. }));
        if maybe_old && let Ok(pipe) = old::connect(client, &url, headers, desk, options.limits).await {
            return Inner::new(Link::Pipe(pipe), options, None, true).open().await;
        }
        Err(error)
    }
}

fn client(url: &Uri, options: &ConnectOptions) -> Result<Client, ConnectError> {
    Client::new(url, &options.trust, options.limits.connect, options.limits.in_flight)
        .map(|client| client.with(options.credentials.clone()))
        .map_err(|reason| ConnectError::Address { reason })
}
