//! Who are we to a server, at this moment? A hook that gives each request its `Authorization`, for what changes while a connection lasts.

use std::fmt;

use futures_util::future::BoxFuture;
use http::HeaderValue;

/// Gives requests to one server their `Authorization`.
pub trait Credentials: fmt::Debug + Send + Sync {
    /// What the next request shows.
    fn current(&self) -> BoxFuture<'_, Result<HeaderValue, NoCredentials>>;

    /// The server refused what was shown. True when there is something else to show now; the request is then sent once more.
    fn refused<'a>(&'a self, shown: &'a HeaderValue) -> BoxFuture<'a, Result<bool, NoCredentials>>;
}

/// There is nothing to show. Holds no part of a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoCredentials {
    /// Why, and what to do about it.
    pub reason: String,
    /// A person can change that; nothing else can.
    pub needs_login: bool,
}
