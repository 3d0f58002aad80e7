//! Does the gateway at an address know a key? Asked before somebody is given an address that would open nothing.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// How long is waited for an answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The key opens the console.
    Yes,
    /// A gateway is there, and it knows no such key.
    No,
    /// No gateway answers there now.
    Nobody,
    /// It is not asked, or says something else.
    Unclear,
}

/// Asks the gateway there. One behind TLS is not asked: whose certificates are believed is the browser's matter.
pub(super) async fn knows(base: &str, key: &str) -> Known {
    let Ok(place) = base.parse::<Uri>() else { return Known::Unclear };
    if place.scheme_str() != Some("http") {
        return Known::Unclear;
    }
    match tokio::time::timeout(PATIENCE, ask(&place, key)).await {
        Ok(Some(status)) if status.is_success() => Known::Yes,
        Ok(Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)) => Known::No,
        Ok(Some(_)) => Known::Unclear,
        Ok(None) | Err(_) => Known::Nobody,
    }
}

async fn ask(place: &Uri, key: &str) -> Option<StatusCode> {
    let authority = place.authority()?;
    let host = authority.host().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, place.port_u16().unwrap_or(80))).await.ok()?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.ok()?;
    let connection = tokio::spawn(connection);
    let request = Request::get("/api/me")
        .header(header::HOST, authority.as_str())
        .header(header::AUTHORIZATION, format!("Bearer {key}"))
        .body(Empty::<Bytes>::new())
        .ok()?;
    let status = sender.send_request(request).await.ok().map(|response| response.status());
    connection.abort();
    status
}
