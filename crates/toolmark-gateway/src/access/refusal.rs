//! How is somebody told that they may not come in, and where to get what they need?

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, RETRY_AFTER, WWW_AUTHENTICATE};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri};
use serde_json::json;
use toolmark_core::explain::{Code, Explain as _};
use toolmark_mcp::downstream::{Body, Fault};

use super::Access;
use super::limits::TooMuch;

/// Where the metadata of a protected resource is, by RFC 9728.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The code of what the gateway itself refuses, in the range that JSON-RPC leaves to servers.
const REFUSED: i64 = -32_000;

/// A request that is not let in, with its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    why: Why,
    challenge: Option<String>,
}

/// Why a request is not let in. Holds nothing of what was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// No token was shown.
    Missing,
    /// The header cannot be read.
    Malformed(&'static str),
    /// A token is part of the address.
    InQuery,
    /// The token is not good, for this reason.
    Invalid(Code, String),
    /// The token is good, but not for this.
    Scope,
    /// Whether the token is good cannot be found out now.
    Unavailable,
}

impl Why {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Missing => Code::new("access-token-missing"),
            Self::Malformed(_) | Self::InQuery => Code::new("access-token-misplaced"),
            Self::Invalid(code, _) => *code,
            Self::Scope => Code::new("access-scope"),
            Self::Unavailable => Code::new("access-unavailable"),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Missing => "a token is needed: `Authorization: Bearer …`",
            Self::Malformed(text) => text,
            Self::InQuery => "a token must not be part of an address; it counts as lost now",
            Self::Invalid(_, text) => text,
            Self::Scope => "the token is not for this address",
            Self::Unavailable => "tokens cannot be checked now",
        }
    }

    const fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid(..) => StatusCode::UNAUTHORIZED,
            Self::Malformed(_) | Self::InQuery => StatusCode::BAD_REQUEST,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The word of RFC 6750. A request without a token gets none.
    const fn error(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::Unavailable => None,
            Self::Malformed(_) | Self::InQuery => Some("invalid_request"),
            Self::Invalid(..) => Some("invalid_token"),
            Self::Scope => Some("insufficient_scope"),
        }
    }
}

impl Refusal {
    /// Why.
    #[must_use]
    pub fn why(&self) -> &Why {
        &self.why
    }

    /// The answer.
    #[must_use]
    pub fn response(&self) -> Response<Body> {
        let mut response = refused(self.why.status(), self.why.code(), self.why.text());
        if let Some(challenge) = self.challenge.as_deref().and_then(|text| HeaderValue::from_str(text).ok()) {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        if self.why == Why::Unavailable {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

impl TooMuch {
    /// The same for a client that speaks over pipes.
    #[must_use]
    pub fn fault(&self) -> Fault {
        Fault::new(REFUSED, self.to_string()).coded(self.code())
    }

    /// The answer.
    #[must_use]
    pub fn response(&self) -> Response<Body> {
        let mut response = refused(StatusCode::TOO_MANY_REQUESTS, self.code(), &self.to_string());
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(self.retry_after()));
        response
    }
}

impl Access {
    /// The answer to somebody who wanted to come to an address, of a task or of none.
    pub(super) fn refuse(&self, uri: &Uri, headers: &HeaderMap, why: Why, task: Option<&str>) -> Refusal {
        if why == Why::Unavailable {
            return Refusal { why, challenge: None };
        }
        let mut parts = Vec::new();
        if let Some(base) = self.base(uri, headers) {
            // What is no resource of MCP, such as the figures, is described with the whole gateway.
            let path = Some(uri.path()).filter(|path| is_resource(path)).unwrap_or_default();
            parts.push(format!(r#"resource_metadata="{}""#, quoted(&format!("{base}{WELL_KNOWN}{path}"))));
        }
        let scope = self.issuer.as_ref().and_then(|issuer| issuer.scope_for(task));
        parts.extend(scope.map(|scope| format!(r#"scope="{}""#, quoted(scope))));
        if let Some(error) = why.error() {
            parts.push(format!(r#"error="{error}", error_description="{}""#, quoted(why.text())));
        }
        let parts = parts.join(", ");
        let challenge = if parts.is_empty() { "Bearer".to_owned() } else { format!("Bearer {parts}") };
        Refusal { why, challenge: Some(challenge) }
    }

    /// The metadata of the resource at a path, by RFC 9728. None where nobody has to show a token.
    #[must_use]
    pub fn metadata(&self, uri: &Uri, headers: &HeaderMap) -> Option<String> {
        let path = uri.path().strip_prefix(WELL_KNOWN)?;
        if !self.is_required() || !(path.is_empty() || is_resource(path)) {
            return None;
        }
        let base = self.base(uri, headers)?;
        let address = format!("{base}{path}");
        let mut document = json!({
            "resource": self.issuer.as_ref().map_or_else(|| address.clone(), |issuer| issuer.resource(&address)),
            "resource_name": "Toolmark",
            "bearer_methods_supported": ["header"],
        });
        if let (Some(issuer), Some(document)) = (&self.issuer, document.as_object_mut()) {
            document.insert("authorization_servers".into(), json!([issuer.name()]));
            let scopes: Vec<&str> = issuer.scopes().collect();
            if !scopes.is_empty() {
                document.insert("scopes_supported".into(), json!(scopes));
            }
        }
        Some(document.to_string())
    }

    /// The resource that a request is for, where the operator says under which address it is: tokens made for it are good. A host that the
    /// client names is none: tokens for `localhost` are made for many.
    pub(super) fn resource(&self, uri: &Uri) -> Option<String> {
        let path = Some(uri.path()).filter(|path| is_resource(path)).unwrap_or_default();
        self.public_url.as_ref().map(|url| format!("{url}{path}"))
    }

    /// The address that the client used, whose host was checked before; or the one that the operator gives.
    fn base(&self, uri: &Uri, headers: &HeaderMap) -> Option<String> {
        if let Some(url) = &self.public_url {
            return Some(url.clone());
        }
        let host = uri.authority().map(Authority::as_str);
        let host = host.or_else(|| headers.get(HOST).and_then(|host| host.to_str().ok()))?;
        let plain =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | ':' | '[' | ']' | '_');
        host.chars().all(plain).then(|| format!("http://{host}"))
    }
}

fn is_resource(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/mcp/")
}

/// Text within quotes of a header.
fn quoted(text: &str) -> String {
    let kept = |letter: &char| matches!(letter, ' '..='~') && !matches!(letter, '"' | '\\');
    text.chars().map(|letter| if letter == '…' { '.' } else { letter }).filter(kept).collect()
}

/// A refusal that a client of MCP can read.
pub(crate) fn refused(status: StatusCode, code: Code, text: &str) -> Response<Body> {
    let body = json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {"code": REFUSED, "message": text, "data": {"code": code.as_str()}},
    });
    let mut response = Response::new(Body::whole(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
