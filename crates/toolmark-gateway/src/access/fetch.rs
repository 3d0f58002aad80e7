//! One document from an authorization server: over TLS, or from this machine; no redirects, no endless answers.

use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use toolmark_config::sections::is_trusted_host;

use crate::https;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How large it may be.
const LARGEST: usize = 1024 * 1024;

/// Fetches documents.
pub(super) struct Fetcher(https::Client<Empty<Bytes>>);

impl Fetcher {
    pub(super) fn new() -> Result<Self, String> {
        https::client(PATIENCE).map(Self)
    }

    /// The document at an address.
    pub(super) async fn get(&self, url: &str) -> Result<Bytes, String> {
        let url = trusted(url)?;
        let request = Request::get(url).header(ACCEPT, "application/json").body(Empty::new());
        let request = request.map_err(|error| error.to_string())?;
        let work = async {
            let response = self.0.request(request).await.map_err(|error| error.to_string())?;
            if response.status() != StatusCode::OK {
                return Err(format!("the answer is {}", response.status()));
            }
            let body = Limited::new(response.into_body(), LARGEST).collect().await;
            body.map(http_body_util::Collected::to_bytes).map_err(|error| error.to_string())
        };
        tokio::time::timeout(PATIENCE, work).await.map_err(|_| "there is no answer in time".to_owned())?
    }
}

/// An address whose answer can be believed: anybody between here and there could give other keys over plain HTTP.
pub(super) fn trusted(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|error| format!("its address is none: {error}"))?;
    match is_trusted_host(uri.scheme_str().unwrap_or_default(), uri.host().unwrap_or_default()) {
        true => Ok(uri),
        false => Err("keys are fetched over `https://` only, or from this machine".to_owned()),
    }
}
