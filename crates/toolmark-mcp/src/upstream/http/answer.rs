//! What did the server answer? JSON, a stream of events that ends with the answer, or a status. A stream of the old era that
//! breaks after an id is taken up again; nothing else is tried twice.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use http_body_util::BodyExt;

use super::client::{collect, innermost, status};
use super::pool::Arriving;
use super::{EVENTS, Http, Session};
use crate::upstream::desk::Source;
use crate::upstream::request::{Reply, Said, UpstreamError, UpstreamErrorKind};
use crate::wire::version::Era;
use crate::wire::{Id, Message, headers, sse};

/// How often taking a stream up again may fail, one time after the other.
const RESUMES: usize = 5;
/// How long to wait before that, unless the server says otherwise.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a stream may go on after its answer before it is closed.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Shortest and longest pause that a server may ask for.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(10));

/// Reads the answer to the request `id`.
pub(super) async fn read(
    http: &Arc<Http>,
    session: &Session,
    id: u64,
    response: Response<Arriving>,
) -> Result<(Reply, Option<HeaderValue>), UpstreamError> {
    let new_session = response.headers().get(headers::SESSION_ID).cloned();
    let kind = content(response.headers());
    let status_code = response.status();
    if !status_code.is_success() {
        // What most answers are not is boxed, so that they need no room for it.
        return Box::pin(refused(http, session, id, response)).await.map(|reply| (reply, None));
    }
    match kind {
        Content::Json => {
            let (parts, body) = response.into_parts();
            let bytes = collect(&parts.headers, body, http.limits.bytes).await?;
            read_json(http, id, &bytes).map(|reply| (reply, new_session))
        }
        Content::Events => {
            // A session that this very answer opens has to be known for taking its stream up again.
            let session = match &new_session {
                Some(id) => &session.known_as(id),
                None => session,
            };
            let events = Box::pin(read_events(http, session, id, response.into_body()));
            events.await.map(|reply| (reply, new_session))
        }
        Content::Other => {
            Err(UpstreamError::protocol(format!("an answer with status {status_code} that is neither JSON nor events")))
        }
    }
}

/// Most bytes that are read of what a server says that turns us away.
const MOST_SAID: usize = 4096;

/// The code of servers that have no better one.
const UNNAMED: i64 = -32000;

enum Content {
    Json,
    Events,
    Other,
}

fn content(headers: &HeaderMap) -> Content {
    let kind = headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let is = |name: &[u8]| kind.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if is(b"application/json") {
        Content::Json
    } else if is(b"text/event-stream") {
        Content::Events
    } else {
        Content::Other
    }
}

/// A status other than success: it may carry a JSON-RPC error, which then is the answer.
async fn refused(
    http: &Arc<Http>,
    session: &Session,
    id: u64,
    response: Response<Arriving>,
) -> Result<Reply, UpstreamError> {
    let in_session = session.id.is_some();
    let mut failure = status(&response, in_session);
    if matches!(failure.kind(), UpstreamErrorKind::SessionLost) {
        http.lost(session);
        return Err(failure);
    }
    // Credentials are the operator's business; the model must not be told about them as if it were a tool's answer.
    if response.status() == StatusCode::FORBIDDEN {
        let (parts, body) = response.into_parts();
        if let Ok(bytes) = collect(&parts.headers, body, MOST_SAID).await {
            failure.hear(Said::read(&bytes));
        }
        return Err(failure);
    }
    let hidden = response.status() == StatusCode::UNAUTHORIZED;
    if !hidden && matches!(content(response.headers()), Content::Json) {
        let (parts, body) = response.into_parts();
        let bytes = collect(&parts.headers, body, http.limits.bytes.min(1 << 20)).await.map_err(|_| failure.clone())?;
        if let Ok(Message::Error { id: answered, error }) = Message::read(&bytes, http.desk.limits())
            && answered.is_none_or(|answered| answered == Id::number(id))
        {
            // Many servers say in this way, instead of by 404, that they do not know the session: the next request opens
            // a new one, which does no harm where something else was meant.
            if in_session && parts.status == StatusCode::BAD_REQUEST && error.code() == Some(UNNAMED) {
                http.lost(session);
            }
            return Ok(Reply::Error(error));
        }
    }
    Err(failure)
}

fn read_json(http: &Http, id: u64, bytes: &Bytes) -> Result<Reply, UpstreamError> {
    match Message::read(bytes, http.desk.limits()) {
        Ok(Message::Response { id: answered, result }) if answered.as_number() == Some(id) => Ok(Reply::Result(result)),
        Ok(Message::Error { id: answered, error })
            if answered.as_ref().is_none_or(|other| other.as_number() == Some(id)) =>
        {
            Ok(Reply::Error(error))
        }
        Ok(_) => Err(UpstreamError::protocol("the answer belongs to another request")),
        Err(error) => Err(UpstreamError::protocol(error.to_string())),
    }
}

async fn read_events(http: &Arc<Http>, session: &Session, id: u64, body: Arriving) -> Result<Reply, UpstreamError> {
    let outlet = http.outlet();
    let mut reader = sse::Reader::new(http.limits.bytes);
    let mut body = Some(body);
    let mut resumes = 0;
    loop {
        let Some(stream) = &mut body else {
            body = resume(http, session, &reader, &mut resumes).await?;
            continue;
        };
        match stream.frame().await {
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else { continue };
                reader.feed(&data);
                while let Some(event) = reader
                    .next_event()
                    .map_err(|_| UpstreamError::perhaps(UpstreamErrorKind::TooLarge { limit: http.limits.bytes }))?
                {
                    if event.data.is_empty() || event.event.as_deref().is_some_and(|name| name != "message") {
                        continue;
                    }
                    match http.desk.sort(&event.data, Source::Call(id), &outlet) {
                        Ok(Some((answered, reply))) if answered == id => {
                            if let Some(body) = body.take() {
                                release(body);
                            }
                            return Ok(reply);
                        }
                        Ok(_) => {}
                        Err(error) if error.id().is_some_and(|answered| *answered == Id::number(id)) => {
                            return Err(UpstreamError::protocol(error.to_string()));
                        }
                        // As a program that writes what is no message: its answer may yet come.
                        Err(error) => tracing::debug!(%error, "an event that is no message"),
                    }
                }
            }
            Some(Err(error)) if !may_resume(session, &reader) => {
                return Err(UpstreamError::perhaps(UpstreamErrorKind::Transport { reason: innermost(&error) }));
            }
            None if !may_resume(session, &reader) => {
                return Err(UpstreamError::protocol("the stream ended before the answer"));
            }
            ended @ (Some(Err(_)) | None) => {
                if ended.is_none() {
                    http.desk.hung_up(id);
                }
                body = None;
                reader.restart();
            }
        }
    }
}

/// Reads the end of a stream that has said all it had to, so that its connection can be used again. The answer does not wait
/// for that.
fn release(mut body: Arriving) {
    if matches!(body.frame().now_or_never(), Some(None | Some(Err(_)))) {
        return;
    }
    tokio::spawn(async move {
        let rest = async { while let Some(Ok(_)) = body.frame().await {} };
        let _ = tokio::time::timeout(LAST_WORDS, rest).await;
    });
}

/// Only streams of the old era can be taken up again, and only after an id.
fn may_resume(session: &Session, reader: &sse::Reader) -> bool {
    session.era() != Some(Era::Stateless) && reader.last_id().is_some()
}

/// Takes a stream up again after its last id.
async fn resume(
    http: &Arc<Http>,
    session: &Session,
    reader: &sse::Reader,
    resumes: &mut usize,
) -> Result<Option<Arriving>, UpstreamError> {
    *resumes += 1;
    if *resumes > RESUMES {
        return Err(UpstreamError::protocol("the stream breaks off again and again"));
    }
    tokio::time::sleep(reader.retry().map_or(PAUSE, Duration::from_millis).clamp(PAUSES.0, PAUSES.1)).await;
    let mut request = http.post(session, Vec::new(), Bytes::new());
    *request.method_mut() = Method::GET;
    request.headers_mut().remove(CONTENT_TYPE);
    request.headers_mut().insert(ACCEPT, EVENTS);
    if let Some(Ok(last)) = reader.last_id().map(HeaderValue::from_str) {
        request.headers_mut().insert(headers::LAST_EVENT_ID, last);
    }
    match http.client.send(request).await {
        // A server may close its streams on purpose and have us come back; only failures count.
        Ok(response) if response.status().is_success() => {
            *resumes = 0;
            Ok(Some(response.into_body()))
        }
        Ok(response) if response.status().is_server_error() => Ok(None),
        Ok(response) => {
            let reason = format!("the stream cannot be taken up again (status {})", response.status().as_u16());
            Err(UpstreamError::protocol(reason))
        }
        Err(_) => Ok(None),
    }
}
