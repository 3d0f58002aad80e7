//! What does the server say when nobody asked? The GET stream of the old era and the answer stream of `subscriptions/listen`
//! of the new one, opened again when they break.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Response};
use http_body_util::BodyExt;
use tokio_util::sync::CancellationToken;

use super::pool::Arriving;
use super::{EVENTS, Http, Session};
use crate::upstream::desk::Source;
use crate::upstream::event::UpstreamEvent;
use crate::upstream::request::UpstreamError;
use crate::wire::{headers, sse};

/// Shortest and longest pause before a stream is opened again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// How a stream went.
pub(crate) enum Ended {
    /// It delivered something.
    Opened,
    /// It delivered nothing, but might later.
    Failed,
    /// There is no such stream.
    Never,
}

/// A growing pause.
pub(crate) struct Pause(Duration);

impl Pause {
    pub(crate) fn new() -> Self {
        Self(PAUSE.0)
    }

    pub(crate) async fn after(&mut self, ended: &Ended, wished: Option<Duration>) {
        if matches!(ended, Ended::Opened) {
            self.0 = PAUSE.0;
        }
        tokio::time::sleep(wished.unwrap_or(self.0).clamp(PAUSE.0 / 10, PAUSE.1)).await;
        self.0 = (self.0 * 2).min(PAUSE.1);
    }
}

impl Http {
    /// Keeps the GET stream of a session open until the session is over.
    pub(crate) fn follow_session(self: &Arc<Self>) {
        let (http, session) = (self.clone(), self.session());
        tokio::spawn(async move {
            let mut reader = sse::Reader::new(http.limits.bytes);
            let mut pause = Pause::new();
            let work = async {
                for again in std::iter::once(false).chain(std::iter::repeat(true)) {
                    let ended = http.follow_once(&session, &mut reader, again).await;
                    session.heard.cancel();
                    if matches!(ended, Ended::Never) {
                        break;
                    }
                    reader.restart();
                    pause.after(&ended, reader.retry().map(Duration::from_millis)).await;
                }
            };
            tokio::select! {
                () = work => {}
                () = session.over.cancelled() => {}
            }
        });
    }

    async fn follow_once(self: &Arc<Self>, session: &Session, reader: &mut sse::Reader, again: bool) -> Ended {
        let mut request = self.post(session, Vec::new(), Bytes::new());
        *request.method_mut() = Method::GET;
        request.headers_mut().remove(CONTENT_TYPE);
        request.headers_mut().insert(ACCEPT, EVENTS);
        if let Some(Ok(last)) = reader.last_id().map(HeaderValue::from_str) {
            request.headers_mut().insert(headers::LAST_EVENT_ID, last);
        }
        match self.client.send(request).await {
            Err(error) => self.unheard(&error),
            Ok(response) if response.status() == http::StatusCode::NOT_FOUND && session.id.is_some() => {
                self.lost(session);
                Ended::Never
            }
            Ok(response) => self.follow(response, reader, again, Some(&session.heard)).await,
        }
    }

    /// Posts `subscriptions/listen` and reads its answer stream to the end. `again` says that it is not the first such stream.
    pub(crate) async fn listen_once(
        self: &Arc<Self>,
        message: Bytes,
        extra: Vec<(HeaderName, HeaderValue)>,
        again: bool,
    ) -> Ended {
        let request = self.post(&self.session(), extra, message);
        match self.client.send(request).await {
            Err(error) => self.unheard(&error),
            Ok(response) => self.follow(response, &mut sse::Reader::new(self.limits.bytes), again, None).await,
        }
    }

    /// A stream that could not be opened, because the server may be gone.
    fn unheard(&self, error: &UpstreamError) -> Ended {
        self.doubt(error);
        Ended::Failed
    }

    async fn follow(
        self: &Arc<Self>,
        response: Response<Arriving>,
        reader: &mut sse::Reader,
        again: bool,
        heard: Option<&CancellationToken>,
    ) -> Ended {
        let status = response.status();
        let is_stream =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if !status.is_success() || !is_stream {
            return if status.is_server_error() {
                self.unheard(&super::client::status(&response, false))
            } else {
                Ended::Never
            };
        }
        if let Some(heard) = heard {
            heard.cancel();
        }
        if again {
            self.desk.events().send(UpstreamEvent::ListeningAgain);
        }
        let outlet = self.outlet();
        let mut body = response.into_body();
        let mut ended = Ended::Failed;
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            reader.feed(&data);
            ended = Ended::Opened;
            loop {
                match reader.next_event() {
                    Ok(None) => break,
                    Ok(Some(event)) if event.data.is_empty() => {}
                    Ok(Some(event)) => {
                        if let Err(error) = self.desk.sort(&event.data, Source::Shared, &outlet) {
                            tracing::debug!(%error, "an event that is no message");
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a stream of a server is given up");
                        return Ended::Never;
                    }
                }
            }
        }
        ended
    }
}
