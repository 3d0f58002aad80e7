//! What does the provider's server answer? One request over a pooled connection, with limits in time and size. No redirect is
//! followed, so that a key goes to the configured address only.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{Instant, timeout_at};
use toolmark_tls::{Connector, Distrust, Trust, connector, distrust};

use super::options::Timeouts;
use super::retry::asked;
use crate::error::{ModelErrorKind, Waited};
use crate::failure::of_status;

/// A client for one address.
pub(crate) struct Http {
    client: Client,
    address: Uri,
    headers: HeaderMap,
    timeouts: Timeouts,
    largest: usize,
}

enum Client {
    Plain(legacy::Client<HttpConnector, Full<Bytes>>),
    Tls(legacy::Client<Connector, Full<Bytes>>),
}

/// Idle connections are given up before common servers close them.
const POOLED: Duration = Duration::from_secs(4);

/// As much of a failure is read as anybody will look at.
const LARGEST_FAILURE: usize = 65_536;

/// How long a whole answer may take; when it must be there.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    pub(crate) limit: Duration,
}

impl Deadline {
    pub(crate) fn in_(limit: Duration) -> Self {
        let now = Instant::now();
        // A limit beyond what a clock can say is none.
        Self { at: now.checked_add(limit).unwrap_or(now + Duration::from_secs(86_400 * 365)), limit }
    }

    pub(crate) fn passed(self) -> ModelErrorKind {
        ModelErrorKind::Timeout { waited: Waited::Whole, limit: self.limit }
    }
}

impl Http {
    /// A client for this address that believes whom `trust` says. The headers are sent with every request.
    pub(crate) fn new(
        address: Uri,
        trust: &Trust,
        headers: HeaderMap,
        timeouts: Timeouts,
        largest: usize,
    ) -> Result<Self, String> {
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(POOLED).timer(TokioTimer::new());
        let client = if address.scheme_str() == Some("https") {
            Client::Tls(builder.build(connector(trust, timeouts.connect, false)?))
        } else {
            let mut connector = HttpConnector::new();
            connector.set_nodelay(true);
            connector.set_connect_timeout(Some(timeouts.connect));
            Client::Plain(builder.build(connector))
        };
        Ok(Self { client, address, headers, timeouts, largest })
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    pub(crate) fn host(&self) -> &str {
        self.address.host().unwrap_or_default()
    }

    /// Sends a request and waits for the head of an answer that is a success.
    pub(crate) async fn send(
        &self,
        body: Bytes,
        accept: &'static str,
        deadline: Deadline,
    ) -> Result<Response<Incoming>, ModelErrorKind> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.address.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(http::header::ACCEPT, http::HeaderValue::from_static(accept));
        let sent = async {
            match &self.client {
                Client::Plain(client) => client.request(request).await,
                Client::Tls(client) => client.request(request).await,
            }
        };
        let answered = timeout_at(deadline.at, sent).await.map_err(|_| deadline.passed())?;
        let response = answered.map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let pause = asked(response.headers(), SystemTime::now());
        // What a failing server says is worth having, but its status is enough.
        let body = read(response.into_body(), LARGEST_FAILURE, deadline).await;
        let said = match body {
            Ok(body) | Err((body, _)) => body,
        };
        Err(of_status(status, &said, pause))
    }

    /// Reads the whole answer.
    pub(crate) async fn whole(&self, body: Incoming, deadline: Deadline) -> Result<Vec<u8>, ModelErrorKind> {
        read(body, self.largest, deadline).await.map_err(|(_, error)| error)
    }

    fn unreachable(&self, error: &legacy::Error) -> ModelErrorKind {
        match distrust(error) {
            Some(Distrust::Certificate(reason)) => return ModelErrorKind::Certificate { reason },
            Some(Distrust::Handshake(reason)) => {
                return ModelErrorKind::Unreachable { reason, sent: !error.is_connect() };
            }
            _ => {}
        }
        let reason = innermost(error);
        let is_timeout = |cause: &(dyn std::error::Error + 'static)| {
            cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut)
        };
        if error.is_connect() && causes(error).any(is_timeout) {
            return ModelErrorKind::Timeout { waited: Waited::Connect, limit: self.timeouts.connect };
        }
        ModelErrorKind::Unreachable { reason, sent: !error.is_connect() }
    }
}

/// What kind of content an answer says it has.
pub(crate) fn content_type(response: &Response<Incoming>) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Reads a body up to a limit; an error comes with what was read before it.
async fn read(mut body: Incoming, limit: usize, deadline: Deadline) -> Result<Vec<u8>, (Vec<u8>, ModelErrorKind)> {
    let mut whole = Vec::new();
    loop {
        let frame = match timeout_at(deadline.at, body.frame()).await {
            Err(_) => return Err((whole, deadline.passed())),
            Ok(None) => return Ok(whole),
            Ok(Some(Err(error))) => return Err((whole, broken(&error))),
            Ok(Some(Ok(frame))) => frame,
        };
        if let Some(data) = frame.data_ref() {
            if whole.len() + data.len() > limit {
                return Err((whole, ModelErrorKind::TooLarge { limit }));
            }
            whole.extend_from_slice(data);
        }
    }
}

/// A connection that broke while the answer arrived.
pub(crate) fn broken(error: &hyper::Error) -> ModelErrorKind {
    let is_cut = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::UnexpectedEof)
    };
    let reason = match causes(error).any(is_cut) {
        // With TLS, an end without a farewell may be somebody's who does not want the rest to be read.
        true => "the connection was cut before the answer was whole".to_owned(),
        false => innermost(error),
    };
    ModelErrorKind::Unreachable { reason, sent: true }
}

fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    causes(error).last().map(ToString::to_string).unwrap_or_default()
}
