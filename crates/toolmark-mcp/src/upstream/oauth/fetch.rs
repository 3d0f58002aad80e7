//! One request to an authorization server: over TLS, or on this machine for servers that are here too; no redirect, no endless answer.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use serde_json::Value;
use toolmark_core::text::visible;
use toolmark_tls::Trust;

use super::OAuthError;
use crate::upstream::http::{Client, collect};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How large it may be.
const LARGEST: usize = 256 * 1024;

/// What came back.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Where requests may go. A server out there must not send us to addresses in here.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// To this machine, without TLS too.
    near: bool,
    /// Into the own network.
    inside: bool,
}

impl Reach {
    /// As far as the operator may send us.
    pub(super) const ALL: Self = Self { near: true, inside: true };

    /// As far as a server may send us: not further in than where it is itself.
    pub(super) fn of(server: &Uri) -> Self {
        let host = server.host().unwrap_or_default();
        Self { near: is_near(host), inside: is_inside(host) }
    }

    /// An address that may be used.
    pub(super) fn check(self, url: &str) -> Result<Uri, OAuthError> {
        let refuse = |why| OAuthError::Untrusted { url: shown(url), why };
        let uri: Uri = url.parse().map_err(|_| refuse("it is no address"))?;
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| refuse("it names no host"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(refuse("it names a user"));
        }
        if (is_near(host) && !self.near) || (is_inside(host) && !self.inside) {
            return Err(refuse(LEADS_INSIDE));
        }
        match uri.scheme_str() {
            Some("https") => Ok(uri),
            Some("http") if is_near(host) => Ok(uri),
            _ => Err(refuse("only `https://` keeps it secret")),
        }
    }

    /// An address that may be used, also by what its name stands for: a name can be given to any address.
    pub(super) async fn admit(self, url: &str) -> Result<Uri, OAuthError> {
        let uri = self.check(url)?;
        if self.inside {
            return Ok(uri);
        }
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        // One that stands for nothing is found out when it is used.
        let found = tokio::net::lookup_host((host, uri.port_u16().unwrap_or(443))).await;
        if found.is_ok_and(|mut all| all.any(|address| is_inside(&address.ip().to_string()))) {
            return Err(OAuthError::Untrusted { url: shown(url), why: LEADS_INSIDE });
        }
        Ok(uri)
    }
}

/// An address as messages name it: where it leads, without users, paths and queries, which may be secret.
pub(super) fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let more = if rest.len() > authority.len() { "/…" } else { "" };
    match scheme {
        "" => visible(host, 200) + more,
        scheme => format!("{}://{}{more}", visible(scheme, 20), visible(host, 200)),
    }
}

const LEADS_INSIDE: &str = "a server elsewhere must not lead to this machine or its own network";

fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']']).parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

/// The address that may be reached in the end: some of IPv6 only carry one of IPv4, and somebody on the way takes it out.
fn reached(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = ip else { return ip };
    let within = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match six.segments() {
        // An old way to write one; `::` and `::1` are addresses of their own.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 || low > 1 => within(high, low),
        // Translated by a gateway: NAT64 with its own prefix, and with those of a network (RFC 8215) in the form of /96.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 1, _, _, _, high, low] => within(high, low),
        // Tunnelled: 6to4.
        [0x2002, high, low, ..] => within(high, low),
        _ => ip,
    }
}

fn is_near(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || address(host).is_some_and(|ip| ip.is_loopback())
}

fn is_inside(host: &str) -> bool {
    is_near(host)
        || address(host).is_some_and(|ip| match reached(ip) {
            IpAddr::V4(ip) => is_inside_v4(ip),
            IpAddr::V6(ip) => {
                let site_local = ip.segments().first().is_some_and(|first| first & 0xffc0 == 0xfec0);
                ip.is_unique_local()
                    || ip.is_unicast_link_local()
                    || site_local
                    || ip.is_multicast()
                    || ip.is_unspecified()
            }
        })
}

/// Ranges that no server on the internet has, by the registry of special addresses (RFC 6890). Some clouds answer with secrets there.
fn is_inside_v4(ip: Ipv4Addr) -> bool {
    let shared = matches!(ip.octets(), [100, 64..=127, ..]);
    let protocol = matches!(ip.octets(), [192, 0, 0, _]);
    let benchmarks = matches!(ip.octets(), [198, 18 | 19, ..]);
    // "This network", multicast, reserved, broadcast.
    let never = matches!(ip.octets(), [0 | 224.., ..]);
    ip.is_private() || ip.is_link_local() || ip.is_loopback() || shared || protocol || benchmarks || never
}

/// Asks for a document.
pub(super) async fn get(url: &Uri, trust: &Trust) -> Result<Answer, OAuthError> {
    send(url, trust, Method::GET, None, &[], Bytes::new()).await
}

/// Sends fields as a form, and who we are as RFC 6749 prefers it.
pub(super) async fn post_form(
    url: &Uri,
    trust: &Trust,
    fields: &[(&str, &str)],
    basic: Option<(&str, &str)>,
) -> Result<Answer, OAuthError> {
    let body = fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect::<Vec<_>>().join("&");
    let basic = basic.map(|(id, secret)| {
        let pair = STANDARD.encode(format!("{}:{}", encode(id), encode(secret)));
        let mut value = HeaderValue::try_from(format!("Basic {pair}")).unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        (AUTHORIZATION, value)
    });
    let more: Vec<_> = basic.into_iter().collect();
    send(url, trust, Method::POST, Some("application/x-www-form-urlencoded"), &more, body.into()).await
}

pub(super) async fn post_json(url: &Uri, trust: &Trust, body: &Value) -> Result<Answer, OAuthError> {
    send(url, trust, Method::POST, Some("application/json"), &[], body.to_string().into()).await
}

/// What the server itself says to somebody who shows nothing.
pub(super) async fn knock(server: &Uri, trust: &Trust) -> Result<Answer, OAuthError> {
    let body = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let accept = [(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"))];
    send(server, trust, Method::POST, Some("application/json"), &accept, body).await
}

async fn send(
    url: &Uri,
    trust: &Trust,
    method: Method,
    kind: Option<&'static str>,
    more: &[(http::HeaderName, HeaderValue)],
    body: Bytes,
) -> Result<Answer, OAuthError> {
    let host = url.host().unwrap_or_default();
    let unreachable = |why: String| OAuthError::Unreachable { host: visible(host, 100), why };
    let client = Client::new(url, trust, PATIENCE, 0).map_err(&unreachable)?;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = url.clone();
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
    if let Some(kind) = kind {
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    for (name, value) in more {
        request.headers_mut().insert(name, value.clone());
    }
    let work = async {
        let (head, body) = client.send(request).await?.into_parts();
        // A stream of events has no end that is worth waiting for.
        let events =
            head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let body = if events { Bytes::new() } else { collect(&head.headers, body, LARGEST).await? };
        Ok(Answer { status: head.status, headers: head.headers, body })
    };
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(answer) => answer.map_err(|error: crate::upstream::UpstreamError| unreachable(error.to_string())),
        Err(_) => Err(unreachable("there is none in time".into())),
    }
}

/// Text within a form or a query.
pub(super) fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::with_capacity(text.len()), |mut all, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            all.push(char::from(byte));
        } else {
            let _ = write!(all, "%{byte:02X}");
        }
        all
    })
}

/// The fields of a query. What cannot be read is left out.
pub(super) fn fields(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .filter_map(|(name, value)| Some((decode(name)?, decode(value)?)))
        .collect()
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [char::from(rest.next()?), char::from(rest.next()?)].map(|digit| digit.to_digit(16));
                let [Some(high), Some(low)] = digits else { return None };
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests;
