//! How is a response put together?

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use toolmark_core::explain::Code;

use crate::downstream::answer::Fault;
use crate::downstream::body::{Body, Listening, Pieces};
use crate::wire::{Id, codes};

/// Keeps proxies of the nginx family from holding events back.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) fn json(status: StatusCode, body: Bytes) -> Response<Body> {
    json_pieces(status, body.into())
}

pub(super) fn json_pieces(status: StatusCode, body: Pieces) -> Response<Body> {
    let mut response = plain(status, Body::pieces(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn events(body: Body) -> Response<Body> {
    let mut response = plain(StatusCode::OK, body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Events that somebody only listens to.
pub(super) fn listening(body: Body) -> Response<Body> {
    let mut response = events(body);
    response.extensions_mut().insert(Listening);
    response
}

/// A response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    plain(status, Body::empty())
}

pub(super) fn not_allowed(status: StatusCode, allowed: &'static str) -> Response<Body> {
    let mut response = empty(status);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

/// A request that never became a call.
pub(super) fn refuse(status: StatusCode, id: Option<&Id>, code: Code, message: impl Into<String>) -> Response<Body> {
    let fault = Fault::new(codes::INVALID_REQUEST, message.into()).coded(code);
    json(status, fault.write(id))
}

fn plain(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
