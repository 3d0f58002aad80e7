//! Does the gateway at an address know a key? Asked before somebody is given an address that would open nothing.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Collected, Empty, Limited};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// How long is waited for an answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// More of an answer is not read.
const MOST: usize = 1 << 20;

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
        Ok(Some((status, _))) if status.is_success() => Known::Yes,
        // Others than the gateway may be in between, and want a login of their own.
        Ok(Some((_, body))) if refuses_the_key(&body) => Known::No,
        Ok(Some(_)) => Known::Unclear,
        Ok(None) | Err(_) => Known::Nobody,
    }
}

/// Whether it is the gateway that does not know the key.
fn refuses_the_key(body: &[u8]) -> bool {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let code = said.pointer("/error/code").and_then(Value::as_str);
    matches!(code, Some("approver-token-missing" | "approver-token-wrong"))
}

async fn ask(place: &Uri, key: &str) -> Option<(StatusCode, Bytes)> {
    let authority = place.authority()?;
    let host = authority.host().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, place.port_u16().unwrap_or(80))).await.ok()?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.ok()?;
    let connection = tokio::spawn(connection);
    let path = format!("{}/api/me", place.path().trim_end_matches('/'));
    let request = Request::get(path)
        .header(header::HOST, authority.as_str())
        .header(header::AUTHORIZATION, format!("Bearer {key}"))
        .body(Empty::<Bytes>::new())
        .ok()?;
    let response = sender.send_request(request).await.ok()?;
    let status = response.status();
    let body = Limited::new(response.into_body(), MOST).collect().await.ok().map(Collected::to_bytes);
    connection.abort();
    Some((status, body.unwrap_or_default()))
}
