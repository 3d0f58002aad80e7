//! How does a server of 2024-11-05 talk? Over one event stream for everything it says, whose first event tells where to post
//! what we say.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use tokio::sync::mpsc;

use super::client::{Client, innermost, same_origin, status};
use super::pool::Arriving;
use super::{EVENTS, JSON};
use crate::upstream::desk::Desk;
use crate::upstream::options::UpstreamLimits;
use crate::upstream::pipe::{Outgoing, Pipe};
use crate::upstream::request::{UpstreamError, UpstreamErrorKind};
use crate::wire::sse;

/// Opens the stream and waits to be told where to post.
pub(crate) async fn connect(
    client: Client,
    address: &Uri,
    own: &HeaderMap,
    desk: Arc<Desk>,
    limits: UpstreamLimits,
) -> Result<Arc<Pipe>, UpstreamError> {
    let mut request = Request::new(Full::new(Bytes::new()));
    *request.method_mut() = Method::GET;
    *request.uri_mut() = address.clone();
    *request.headers_mut() = own.clone();
    request.headers_mut().insert(ACCEPT, EVENTS);
    let response = client.send(request).await?;
    if !response.status().is_success() {
        return Err(status(&response, false));
    }
    let is_stream =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    if !is_stream {
        return Err(UpstreamError::protocol("the address answers, but with no event stream"));
    }
    let mut body = response.into_body();
    let mut reader = sse::Reader::new(limits.bytes);
    let endpoint = loop {
        match next(&mut body, &mut reader, limits.bytes).await? {
            Some(event) if event.event.as_deref() == Some("endpoint") => break event.data,
            Some(_) => {}
            None => return Err(UpstreamError::protocol("the stream ended before it said where to post")),
        }
    };
    let endpoint = str::from_utf8(&endpoint).ok().and_then(|location| same_origin(address, location.trim()));
    let endpoint =
        endpoint.ok_or_else(|| UpstreamError::protocol("the server wants messages posted to another server"))?;
    let (pipe, outgoing) = Pipe::new(desk, limits);
    let mut headers = own.clone();
    headers.insert(CONTENT_TYPE, JSON);
    tokio::spawn(post(pipe.clone(), client, endpoint, headers, outgoing));
    tokio::spawn(listen(pipe.clone(), body, reader, limits.bytes));
    Ok(pipe)
}

async fn next(
    body: &mut Arriving,
    reader: &mut sse::Reader,
    limit: usize,
) -> Result<Option<sse::Event>, UpstreamError> {
    loop {
        let event = reader.next_event();
        let event = event.map_err(|_| UpstreamError::perhaps(UpstreamErrorKind::TooLarge { limit }))?;
        if event.is_some() {
            return Ok(event);
        }
        match body.frame().await {
            None => return Ok(None),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    reader.feed(&data);
                }
            }
            Some(Err(error)) => {
                return Err(UpstreamError::perhaps(UpstreamErrorKind::Transport { reason: innermost(&error) }));
            }
        }
    }
}

async fn listen(pipe: Arc<Pipe>, mut body: Arriving, mut reader: sse::Reader, limit: usize) {
    let outlet = pipe.outlet();
    let closed = pipe.closed().clone();
    loop {
        let event = tokio::select! {
            event = next(&mut body, &mut reader, limit) => event,
            () = closed.cancelled() => return,
        };
        match event {
            Ok(Some(event)) if event.event.as_deref().is_some_and(|name| name != "message") => {}
            Ok(Some(event)) => {
                if let Err(error) = pipe.hear(&event.data, &outlet) {
                    tracing::debug!(%error, "an event that is no message");
                }
            }
            Ok(None) => return pipe.close("the server closed its event stream"),
            Err(error) => return pipe.close(&error.to_string()),
        }
    }
}

/// Posts what goes out. Requests do not wait for one another; what has no answer is posted in its order.
async fn post(
    pipe: Arc<Pipe>,
    client: Client,
    endpoint: Uri,
    headers: HeaderMap,
    mut outgoing: mpsc::Receiver<Outgoing>,
) {
    let closed = pipe.closed().clone();
    loop {
        let item = tokio::select! {
            item = outgoing.recv() => item,
            () = closed.cancelled() => None,
        };
        let Some(Outgoing { message, id }) = item else { return };
        let mut ids: Vec<u64> = id.into_iter().collect();
        pipe.desk().mark_sent(&mut ids);
        if id.is_some() && ids.is_empty() {
            continue;
        }
        let mut request = Request::new(Full::new(message));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = endpoint.clone();
        *request.headers_mut() = headers.clone();
        let (client, desk) = (client.clone(), pipe.desk().clone());
        let send = async move {
            let failure = match client.send(request).await {
                Ok(response) if response.status().is_success() => return,
                Ok(response) => status(&response, false),
                Err(error) => error,
            };
            match id {
                Some(id) => desk.answer(id, Err(failure)),
                None => tracing::debug!(%failure, "a message could not be posted"),
            }
        };
        match id {
            Some(_) => drop(tokio::spawn(send)),
            None => send.await,
        }
    }
}
