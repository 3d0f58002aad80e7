//! The streams of old clients, and the end of their sessions.

use std::sync::Arc;

use http::{HeaderMap, Response, StatusCode};

use toolmark_core::explain::Code;

use super::response;
use crate::downstream::body::Body;
use crate::downstream::caller::Caller;
use crate::downstream::endpoint::Endpoint;
use crate::downstream::head::{Accepts, Speaks, speaks};
use crate::downstream::service::Service;
use crate::downstream::session::Session;
use crate::downstream::stream::{ResumedStream, StandaloneStream};
use crate::downstream::track::EventId;
use crate::wire::headers::{LAST_EVENT_ID, SESSION_ID};
use crate::wire::version::ProtocolVersion;

impl<S: Service> Endpoint<S> {
    pub(super) fn get(&self, headers: &HeaderMap, caller: &Caller) -> Response<Body> {
        // New clients have no such stream, and neither has anybody without a session.
        if matches!(speaks(headers, None, None), Ok(Speaks::Stateless)) {
            return response::not_allowed(StatusCode::METHOD_NOT_ALLOWED, "POST");
        }
        if !Accepts::read(headers).events {
            let message = "a stream is sent as text/event-stream, which the request does not accept";
            return response::refuse(StatusCode::NOT_ACCEPTABLE, None, Code::new("not-acceptable"), message);
        }
        let session = match self.session(headers, caller) {
            Ok(session) => session,
            Err(refused) => return *refused,
        };
        let settings = &self.shared.settings;
        let source: Box<dyn crate::downstream::body::Source> = match headers.get(LAST_EVENT_ID) {
            Some(last) => {
                let last = last.to_str().ok().and_then(EventId::read);
                let Some((track, reader)) = last.and_then(|last| session.resume(last)) else {
                    let message = "the events after this id are not there any more, or never were";
                    return response::refuse(StatusCode::BAD_REQUEST, None, Code::new("event-id-unknown"), message);
                };
                if track.number() == 0 {
                    self.standalone(&session, track, reader, None)
                } else {
                    Box::new(ResumedStream { track, reader, _open: session.open_stream() })
                }
            }
            None => {
                let track = session.standalone();
                let retry = u64::try_from(settings.retry.as_millis()).unwrap_or(u64::MAX);
                let priming = (session.version >= ProtocolVersion::V2025_11_25).then(|| track.priming(retry));
                let reader = track.read_on();
                self.standalone(&session, track, reader, priming)
            }
        };
        response::listening(Body::events(source, settings.keep_alive))
    }

    fn standalone(
        &self,
        session: &Arc<Session>,
        track: Arc<crate::downstream::track::Track>,
        reader: crate::downstream::track::Reader,
        priming: Option<bytes::Bytes>,
    ) -> Box<StandaloneStream> {
        let number = self.shared.number();
        let open = session.open_stream();
        Box::new(StandaloneStream { session: Arc::clone(session), number, track, reader, priming, _open: open })
    }

    pub(super) fn delete(&self, headers: &HeaderMap, caller: &Caller) -> Response<Body> {
        if matches!(speaks(headers, None, None), Ok(Speaks::Stateless)) {
            return response::not_allowed(StatusCode::METHOD_NOT_ALLOWED, "POST");
        }
        match self.session(headers, caller) {
            Ok(session) => {
                // Of two requests that end a session at once, one does.
                if let Some(session) = self.shared.sessions.remove(session.id(), caller) {
                    self.shared.end(&session);
                }
                response::empty(StatusCode::NO_CONTENT)
            }
            Err(refused) => *refused,
        }
    }

    /// The session that a request names, or what to answer.
    pub(super) fn session(&self, headers: &HeaderMap, caller: &Caller) -> Result<Arc<Session>, Box<Response<Body>>> {
        let Some(id) = headers.get(SESSION_ID) else {
            let message =
                "the request names no session: send `initialize` first, then the `Mcp-Session-Id` it answers with";
            return Err(Box::new(response::refuse(
                StatusCode::BAD_REQUEST,
                None,
                Code::new("session-required"),
                message,
            )));
        };
        match id.to_str().ok().and_then(|id| self.shared.sessions.find(id, caller)) {
            Some(session) => {
                session.touch(self.shared.now());
                Ok(session)
            }
            None => {
                let message = "there is no such session: it has ended, or it is not yours";
                Err(Box::new(response::refuse(StatusCode::NOT_FOUND, None, Code::new("session-unknown"), message)))
            }
        }
    }
}
