//! Which pages may read what we answer? Those of origins that the configuration names; never with credentials that a browser adds by itself.

use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use toolmark_mcp::downstream::Body;

/// What a client of MCP in a page has to read of an answer besides its body.
const EXPOSED: &str = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After";

/// Lets a page of an origin that may come here read the answer. Which origins may was found out before.
pub(crate) fn share(origin: Option<&HeaderValue>, response: &mut Response<Body>) {
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
}

/// Lets it read also the headers that MCP needs.
pub(crate) fn expose(response: &mut Response<Body>) {
    let exposed = HeaderValue::from_static(EXPOSED);
    response.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}

/// True for what a browser asks before it sends a request of another origin. It brings no token, and nothing is done for it.
pub(crate) fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to that. A page that may send requests may send every header: some are named after arguments of tools.
pub(crate) fn preflight(asked: &HeaderMap) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    if let Some(wanted) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        headers.append(header::VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}
