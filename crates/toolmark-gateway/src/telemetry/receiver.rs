//! One request to a receiver of OpenTelemetry data: protobuf over HTTP. No redirects, no endless answers, no environment variables.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use prost::Message as _;
use toolmark_config::sections::check_receiver;
use toolmark_config::values::Secret;
use toolmark_core::explain::{Code, Explain};

use crate::https;

/// Where traces are, below the address of a receiver.
const PATH: &str = "/v1/traces";
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How large it may be.
const LARGEST: usize = 64 * 1024;
/// The longest that a receiver may ask us to wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Where spans are sent.
pub(super) struct Receiver {
    client: https::Client<Full<Bytes>>,
    url: Uri,
    headers: HeaderMap,
}

/// How a request went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Undelivered {
    /// It may be tried again, after this time if the receiver said so.
    Later(String, Option<Duration>),
    /// It will never be taken.
    Never(String),
}

/// A receiver that can never be reached as it is configured. Holds neither its address nor its headers: both may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("traces cannot be sent: {why}")]
pub struct OtlpUnusable {
    why: String,
}

impl Receiver {
    pub(super) fn new(endpoint: &Secret, headers: &[(String, Secret)]) -> Result<Self, OtlpUnusable> {
        let refuse = |why: String| OtlpUnusable { why };
        let mut kept = HeaderMap::new();
        kept.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        kept.insert(USER_AGENT, HeaderValue::from_static(concat!("toolmark/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in headers {
            let header = HeaderName::try_from(name).map_err(|_| refuse(format!("`{name}` is no name of a header")))?;
            let value = HeaderValue::try_from(value.expose());
            let mut value = value.map_err(|_| refuse(format!("the header `{header}` has no valid value")))?;
            value.set_sensitive(true);
            kept.insert(header, value);
        }
        let client = https::client(PATIENCE).map_err(refuse)?;
        Ok(Self { client, url: address(endpoint.expose()).map_err(refuse)?, headers: kept })
    }

    /// Sends spans. Says how many the receiver did not want.
    pub(super) async fn send(&self, spans: &ExportTraceServiceRequest) -> Result<u64, Undelivered> {
        let mut request = Request::new(Full::new(Bytes::from(spans.encode_to_vec())));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.url.clone();
        request.headers_mut().clone_from(&self.headers);
        let work = async {
            let response = self.client.request(request).await;
            let response = response.map_err(|error| Undelivered::Later(cause(&error), None))?;
            read(response).await
        };
        let late = || Undelivered::Later("there is no answer in time".to_owned(), None);
        tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| Err(late()))
    }
}

async fn read(response: Response<Incoming>) -> Result<u64, Undelivered> {
    let status = response.status();
    if status.is_success() {
        let body = Limited::new(response.into_body(), LARGEST).collect().await;
        // A receiver that takes everything need not say so in so many words.
        let answer = body.ok().and_then(|body| ExportTraceServiceResponse::decode(body.to_bytes()).ok());
        let refused = answer.and_then(|answer| answer.partial_success).map_or(0, |partial| partial.rejected_spans);
        return Ok(u64::try_from(refused).unwrap_or_default());
    }
    let why = format!("the receiver answers {status}");
    let again = [
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::BAD_GATEWAY,
        StatusCode::SERVICE_UNAVAILABLE,
        StatusCode::GATEWAY_TIMEOUT,
    ];
    if !again.contains(&status) {
        return Err(Undelivered::Never(why));
    }
    let seconds = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.trim().parse().ok());
    Err(Undelivered::Later(why, seconds.map(|seconds| Duration::from_secs(seconds).min(LONGEST_WAIT))))
}

/// The innermost cause, which is what helps: all others say that a request failed.
fn cause(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(next) = last.source() {
        last = next;
    }
    last.to_string()
}

/// Where spans go: below the address, unless that names the place already.
fn address(endpoint: &str) -> Result<Uri, String> {
    let base = endpoint.trim().trim_end_matches('/');
    check_receiver(base).map_err(|why| format!("`endpoint` {why}"))?;
    let uri: Uri = base.parse().map_err(|error| format!("`endpoint` is no address: {error}"))?;
    if uri.path().ends_with(PATH) {
        return Ok(uri);
    }
    format!("{base}{PATH}").parse().map_err(|error| format!("`endpoint` is no address: {error}"))
}

impl Explain for OtlpUnusable {
    fn code(&self) -> Code {
        Code::new("otlp-unusable")
    }

    fn why(&self) -> String {
        "spans that go nowhere are missed when something has to be found out".into()
    }

    fn fix(&self) -> String {
        "set `endpoint` in `[telemetry.otlp]` to an address such as `http://127.0.0.1:4318`".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_go_below_the_address_unless_it_names_the_place() {
        let written = |endpoint: &str| address(endpoint).map(|uri| uri.to_string());
        assert_eq!(written("http://127.0.0.1:4318").as_deref(), Ok("http://127.0.0.1:4318/v1/traces"));
        assert_eq!(written("https://x.example/otlp/").as_deref(), Ok("https://x.example/otlp/v1/traces"));
        assert_eq!(written("http://x:1/v1/traces").as_deref(), Ok("http://x:1/v1/traces"));
        for wrong in [
            "",
            "127.0.0.1:4318",
            "grpc://x:4317",
            "http://",
            "/v1/traces",
            "http://x/?key=1",
            "http://a:b@x",
            "http://a b",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_header_that_is_none_is_refused_without_its_value() {
        let error = Receiver::new(&Secret::new("http://x:1"), &[("key".into(), Secret::new("s3cret\n"))]).err();
        let error = error.expect("a line break is not part of a header").to_string();
        assert!(error.contains("`key`") && !error.contains("s3cret"), "{error}");
    }
}
