//! One HTTP request in, one response out: POST carries messages, GET opens streams of old clients, DELETE ends their sessions.

mod get;
mod post;
mod response;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};

use super::body::Body;
use super::caller::Caller;
use super::endpoint::Endpoint;
use super::service::Service;

impl<S: Service> Endpoint<S> {
    /// Answers one request of a caller who was let in. Host and origin are checked before, by
    /// [`Guard`](super::origin::Guard).
    pub async fn http<B>(&self, request: Request<B>, caller: Caller) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin,
    {
        match *request.method() {
            Method::POST => self.post(request, caller).await,
            Method::GET => self.get(request.headers(), &caller),
            Method::DELETE => self.delete(request.headers(), &caller),
            _ => response::not_allowed(StatusCode::METHOD_NOT_ALLOWED, "GET, POST, DELETE"),
        }
    }
}
