//! Can this server be reached, and did the request reach it? A pooled client, plain or with TLS, that follows no redirect.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{AUTHORIZATION, CONTENT_LENGTH, LOCATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Body as _;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use toolmark_tls::{Connector, Distrust, Trust, connector, distrust};

use super::pool::{Arriving, Pool};
use crate::upstream::credentials::{Credentials, NoCredentials};
use crate::upstream::request::{UpstreamError, UpstreamErrorKind};

/// A client for one server.
#[derive(Clone)]
pub(crate) struct Client {
    wire: Wire,
    credentials: Option<Arc<dyn Credentials>>,
}

#[derive(Clone)]
enum Wire {
    Plain(Arc<Pool>),
    Tls(Box<legacy::Client<Connector, Full<Bytes>>>),
}

/// Common servers close idle connections after five seconds. Since a request is never repeated, one that meets such a closing
/// is lost, so idle connections are given up a little earlier.
const IDLE: Duration = Duration::from_secs(4);

impl Client {
    /// A client for addresses like this one that believes whom `trust` says.
    pub(crate) fn new(address: &Uri, trust: &Trust, connect: Duration, most_idle: usize) -> Result<Self, String> {
        match (address.scheme_str(), address.host()) {
            (Some("http"), Some(_)) if trust.is_of_file() => {
                Err("certificates are named for it, and the address is called without encryption".to_owned())
            }
            (Some("http"), Some(_)) => {
                let mut connector = HttpConnector::new();
                connector.set_nodelay(true);
                connector.set_connect_timeout(Some(connect));
                Pool::new(connector, address, most_idle, IDLE)
                    .map(|pool| Self::over(Wire::Plain(pool)))
                    .ok_or_else(|| "the address has no host that can be sent".to_owned())
            }
            (Some("https"), Some(_)) => {
                let mut builder = legacy::Client::builder(TokioExecutor::new());
                builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).pool_max_idle_per_host(most_idle);
                builder.timer(TokioTimer::new());
                let client = builder.build(connector(trust, connect, false)?);
                Ok(Self::over(Wire::Tls(Box::new(client))))
            }
            _ => Err("the address is neither `http://…` nor `https://…`".to_owned()),
        }
    }

    fn over(wire: Wire) -> Self {
        Self { wire, credentials: None }
    }

    /// What every request says is its host, where that is not left to the connection.
    pub(crate) fn host(&self) -> Option<&HeaderValue> {
        match &self.wire {
            Wire::Plain(pool) => Some(pool.host()),
            Wire::Tls(_) => None,
        }
    }

    /// Shows these with every request.
    pub(crate) fn with(mut self, credentials: Option<Arc<dyn Credentials>>) -> Self {
        self.credentials = credentials;
        self
    }

    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
    pub(crate) fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> impl Future<Output = Result<Response<Arriving>, UpstreamError>> + Send {
        async move {
            // What is not the usual way is boxed, so that requests do not carry the room for it.
            match (&self.credentials, &self.wire) {
                (None, Wire::Plain(pool)) => pool.send(request).await,
                (None, wire) => Box::pin(wire.send(request)).await,
                (Some(credentials), wire) => Box::pin(wire.send_as(credentials.as_ref(), request)).await,
            }
        }
    }
}

impl Wire {
    /// Sends with credentials. A request that is refused for them was not acted on, so it may be sent once more with others.
    async fn send_as(
        &self,
        credentials: &dyn Credentials,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Arriving>, UpstreamError> {
        let missing = |error: NoCredentials| UpstreamError::never(UpstreamErrorKind::Credentials(error));
        let shown = credentials.current().await.map_err(missing)?;
        request.headers_mut().insert(AUTHORIZATION, shown.clone());
        let mut again = request.clone();
        let response = self.send(request).await?;
        if response.status() != StatusCode::UNAUTHORIZED || !credentials.refused(&shown).await.map_err(missing)? {
            return Ok(response);
        }
        again.headers_mut().insert(AUTHORIZATION, credentials.current().await.map_err(missing)?);
        self.send(again).await
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Arriving>, UpstreamError> {
        match self {
            Self::Plain(pool) => pool.send(request).await,
            Self::Tls(client) => match client.request(request).await {
                Ok(response) => Ok(response.map(Arriving::alone)),
                Err(error) => {
                    let kind = UpstreamErrorKind::Transport { reason: reason(&error) };
                    Err(if error.is_connect() { UpstreamError::never(kind) } else { UpstreamError::perhaps(kind) })
                }
            },
        }
    }
}

/// Why a server with TLS cannot be reached.
fn reason(error: &legacy::Error) -> String {
    match distrust(error) {
        Some(Distrust::Certificate(reason)) => format!("its certificate is not accepted: {reason}"),
        Some(Distrust::Handshake(reason)) => reason,
        _ => innermost(error),
    }
}

/// The cause of a failure, without the layers around it.
pub(super) fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// A status that is no answer. With some of them the protocol says that the request was not acted on.
pub(super) fn status(response: &Response<Arriving>, in_session: bool) -> UpstreamError {
    let status = response.status();
    if in_session && status == StatusCode::NOT_FOUND {
        return UpstreamError::never(UpstreamErrorKind::SessionLost);
    }
    let text = |name| Some(response.headers().get(name)?.to_str().ok()?.chars().take(1024).collect());
    let (challenge, location) = (text(WWW_AUTHENTICATE), text(LOCATION));
    let kind = UpstreamErrorKind::Status { status: status.as_u16(), challenge, location, said: None };
    match status {
        StatusCode::UNAUTHORIZED
        | StatusCode::FORBIDDEN
        | StatusCode::METHOD_NOT_ALLOWED
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNSUPPORTED_MEDIA_TYPE => UpstreamError::never(kind),
        status if status.is_redirection() => UpstreamError::never(kind),
        _ => UpstreamError::perhaps(kind),
    }
}

/// Reads a body of at most `limit` bytes. One that arrives in one piece is not copied.
pub(crate) async fn collect(headers: &HeaderMap, mut body: Arriving, limit: usize) -> Result<Bytes, UpstreamError> {
    let too_large = || UpstreamError::perhaps(UpstreamErrorKind::TooLarge { limit });
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut first = Bytes::new();
    let mut rest: Option<BytesMut> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| UpstreamError::perhaps(UpstreamErrorKind::Transport { reason: innermost(&error) }))?;
        let Ok(data) = frame.into_data() else { continue };
        match &mut rest {
            None if first.is_empty() => first = data,
            None => {
                let mut joined = BytesMut::with_capacity(announced.unwrap_or(0).max(first.len() + data.len()));
                joined.extend_from_slice(&first);
                joined.extend_from_slice(&data);
                rest = Some(joined);
            }
            Some(joined) => joined.extend_from_slice(&data),
        }
        if rest.as_ref().map_or(first.len(), BytesMut::len) > limit {
            return Err(too_large());
        }
        if body.is_end_stream() {
            break;
        }
    }
    Ok(rest.map_or(first, BytesMut::freeze))
}

/// An address on the same server that `location` leads to from `address`; `None` if it leads elsewhere.
pub(super) fn same_origin(address: &Uri, location: &str) -> Option<Uri> {
    let scheme = address.scheme_str()?;
    let authority = address.authority()?;
    let target: Uri = if location.starts_with("//") {
        format!("{scheme}:{location}").parse().ok()?
    } else if location.starts_with('/') {
        format!("{scheme}://{authority}{location}").parse().ok()?
    } else if location.contains("://") {
        location.parse().ok()?
    } else if let Some(query) = location.strip_prefix('?') {
        format!("{scheme}://{authority}{}?{query}", address.path()).parse().ok()?
    } else {
        let folder = address.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{authority}{folder}/{location}").parse().ok()?
    };
    let port = |uri: &Uri| uri.port_u16().or(if uri.scheme_str() == Some("https") { Some(443) } else { Some(80) });
    let same = target.scheme_str() == Some(scheme)
        && target.host().is_some_and(|host| address.host().is_some_and(|own| own.eq_ignore_ascii_case(host)))
        && port(&target) == port(address)
        // A name and password in the address would be sent to wherever it leads.
        && !target.authority().is_some_and(|authority| authority.as_str().contains('@'));
    same.then_some(target)
}

#[cfg(test)]
mod tests;
