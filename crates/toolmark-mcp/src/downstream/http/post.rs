//! One message by POST. A call that only answers is answered as JSON, on the connection, without a task or a channel; one that talks
//! first, or is silent for long, becomes a stream.

use std::future::Future as _;
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use http::header::{CONTENT_LANGUAGE, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use toolmark_core::explain::{Code, Explain as _};

use super::response;
use crate::downstream::admit::{Admitted, Request, mismatch, named_version, unreadable, unsupported};
use crate::downstream::answer::{Answer, Spoken};
use crate::downstream::body::{Body, Source};
use crate::downstream::caller::Caller;
use crate::downstream::endpoint::Endpoint;
use crate::downstream::head::{Accepts, Speaks, is_json, speaks};
use crate::downstream::incoming::{Notification, Via};
use crate::downstream::intake::read_body;
use crate::downstream::listen;
use crate::downstream::run::{Run, Step};
use crate::downstream::service::Service;
use crate::downstream::stream::{CallStream, SessionCallStream};
use crate::downstream::ticket::Ticket;
use crate::wire::headers::{self, PROTOCOL_VERSION, SESSION_ID};
use crate::wire::version::ProtocolVersion;
use crate::wire::{Id, Message, RawObject, write};

/// What is left to do once a message was read.
enum Next<S: Service> {
    /// A call that runs, or its answer.
    Answer(Admitted<S>),
    /// The service hears of it; nothing is answered.
    Notify(Notification),
    /// This is all.
    Reply(Response<Body>),
}

impl<S: Service> Endpoint<S> {
    pub(super) async fn post<B>(&self, request: http::Request<B>, caller: Caller) -> Response<Body>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin,
    {
        let (accepts, next) = {
            let (head, body) = request.into_parts();
            let accepts = Accepts::read(&head.headers);
            if let Some(refused) = unfit(&head.headers, accepts) {
                return refused;
            }
            match self.read_body(&head.headers, body).await {
                Ok(body) => (accepts, self.take_in(&head.headers, &body, caller, accepts)),
                Err(refused) => return *refused,
            }
        };
        // While a call runs nothing of its request is held, so that its connection reads on in the memory that it came in.
        match next {
            Next::Answer(admitted) => self.answer(admitted, accepts).await,
            Next::Notify(notification) => {
                Box::pin(self.shared.service.notified(notification)).await;
                response::empty(StatusCode::ACCEPTED)
            }
            Next::Reply(response) => response,
        }
    }

    fn take_in(&self, headers: &HeaderMap, body: &Bytes, caller: Caller, accepts: Accepts) -> Next<S> {
        let message = match Message::read(body, self.shared.settings.limits) {
            Ok(message) => message,
            Err(error) => {
                let fault = unreadable(&error);
                return Next::Reply(response::json(StatusCode::BAD_REQUEST, fault.write(error.id())));
            }
        };
        let meta = match &message {
            Message::Request { params: Some(params), .. } | Message::Notification { params: Some(params), .. } => {
                params.object("_meta")
            }
            _ => None,
        };
        let speaks = speaks(headers, message.method(), named_version(meta.as_ref()).as_deref());
        let id = match &message {
            Message::Request { id, .. } => Some(id),
            _ => None,
        };
        match speaks {
            Err(error) => Next::Reply(response::json(StatusCode::BAD_REQUEST, mismatch(&error).write(id))),
            Ok(Speaks::Unknown) => {
                let version = headers.get(PROTOCOL_VERSION).map(|value| String::from_utf8_lossy(value.as_bytes()));
                let fault = unsupported(&version.unwrap_or_default());
                Next::Reply(response::json(StatusCode::BAD_REQUEST, fault.write(id)))
            }
            Ok(Speaks::Stateless) => match message {
                Message::Request { id, method, params } => {
                    let via = Via::headers(headers, &method);
                    let request = Request { id, method, params, caller, streams: accepts.events, via };
                    Next::Answer(self.shared.admit_stateless(request, meta.as_ref(), Some(headers)))
                }
                // Nothing that a new client can notify us of needs doing: it cancels by closing its stream.
                Message::Notification { .. } => Next::Reply(response::empty(StatusCode::ACCEPTED)),
                Message::Response { id, .. } => Next::Reply(no_answers(Some(&id))),
                Message::Error { id, .. } => Next::Reply(no_answers(id.as_ref())),
            },
            Ok(Speaks::Session(_)) => self.take_in_session(headers, message, caller, accepts),
        }
    }

    fn take_in_session(&self, headers: &HeaderMap, message: Message<'_>, caller: Caller, accepts: Accepts) -> Next<S> {
        // An old client need not repeat in headers what it says.
        if let Message::Request { id, method, params } = &message
            && let Err(error) = headers::check_given(headers, method, params.as_ref())
        {
            return Next::Reply(response::json(StatusCode::BAD_REQUEST, mismatch(&error).write(Some(id))));
        }
        if let Message::Request { id, method, params } = &message
            && method == "initialize"
        {
            return Next::Reply(self.initialized(id, params.as_ref(), &caller));
        }
        let session = match self.session(headers, &caller) {
            Ok(session) => session,
            Err(refused) => return Next::Reply(*refused),
        };
        match message {
            Message::Request { id, method, params } => {
                let via = Via::headers(headers, &method);
                let request = Request { id, method, params, caller, streams: accepts.events, via };
                Next::Answer(self.shared.admit_session(request, &session))
            }
            Message::Notification { method, params } => match self.shared.note(&method, params, &session) {
                Some(notification) => Next::Notify(notification),
                None => Next::Reply(response::empty(StatusCode::ACCEPTED)),
            },
            answer => {
                session.reply(answer);
                Next::Reply(response::empty(StatusCode::ACCEPTED))
            }
        }
    }

    fn initialized(&self, id: &Id, params: Option<&RawObject>, caller: &Caller) -> Response<Body> {
        match self.shared.initialize(params, caller) {
            Err(fault) => response::json(StatusCode::BAD_REQUEST, fault.write(Some(id))),
            Ok((session, _)) if !self.shared.open(&session) => {
                let message = "there are too many sessions; end one, or try again later";
                let code = Code::new("sessions-exhausted");
                response::refuse(StatusCode::SERVICE_UNAVAILABLE, Some(id), code, message)
            }
            Ok((session, result)) => {
                let mut response = response::json(StatusCode::OK, write::reply(id, &result));
                if let Ok(id) = HeaderValue::from_str(session.id()) {
                    response.headers_mut().insert(SESSION_ID, id);
                }
                response
            }
        }
    }

    async fn answer(&self, admitted: Admitted<S>, accepts: Accepts) -> Response<Body> {
        match admitted {
            Admitted::Reply(status, body) => response::json(status, body),
            Admitted::Noted(body, notification) => {
                Box::pin(self.shared.service.notified(notification)).await;
                response::json(StatusCode::OK, body)
            }
            Admitted::Call(ticket, run) if ticket.method == "subscriptions/listen" => {
                // Boxed, like what is below: calls make no room for it.
                Box::pin(self.answer_listen(ticket, run, accepts)).await
            }
            Admitted::Call(ticket, run) => self.answer_call(ticket, run, accepts).await,
        }
    }

    async fn answer_call(&self, ticket: Ticket<S>, mut run: Run, accepts: Accepts) -> Response<Body> {
        let first = {
            let mut patience = pin!(tokio::time::sleep(self.shared.settings.patience));
            let mut waiting = accepts.events;
            std::future::poll_fn(|cx| {
                loop {
                    match run.poll(cx) {
                        Poll::Ready(Step::Message(_) | Step::HangUp) if !accepts.events => {}
                        Poll::Ready(step) => return Poll::Ready(Some(step)),
                        Poll::Pending if waiting && patience.as_mut().poll(cx).is_ready() => {
                            waiting = false;
                            return Poll::Ready(None);
                        }
                        Poll::Pending => return Poll::Pending,
                    }
                }
            })
            .await
        };
        let message = match first {
            Some(Step::Answer(Answer::Listed(page, spoken))) => {
                return self.listed(&ticket, page, &spoken, accepts);
            }
            Some(Step::Answer(answer)) if accepts.json => {
                let (status, body) = ticket.write_pieces(answer);
                return response::json_pieces(status, body);
            }
            Some(Step::Asked) if accepts.json => {
                let (status, body) = ticket.park(run);
                return response::json(status, body);
            }
            // Whoever cancelled does not wait for an answer.
            Some(Step::Cancelled) => return response::empty(StatusCode::ACCEPTED),
            Some(Step::Answer(answer)) => return self.single_event(ticket.write(answer).1),
            Some(Step::Asked) => return self.single_event(ticket.park(run).1),
            Some(Step::Message(message)) => Some(message),
            Some(Step::HangUp) => {
                run.exchange().hang_up();
                None
            }
            None => None,
        };
        self.stream(ticket, run, message)
    }

    /// A list, with what caches and people have to know of its language.
    fn listed(&self, ticket: &Ticket<S>, page: Bytes, spoken: &Spoken, accepts: Accepts) -> Response<Body> {
        let (status, body) = ticket.write_pieces(Answer::Prepared(page));
        let mut response = match accepts.json {
            true => response::json_pieces(status, body),
            false => self.single_event(body.join()),
        };
        let headers = response.headers_mut();
        if spoken.by_header {
            headers.insert(VARY, HeaderValue::from_static("Accept-Language"));
        }
        if let Some(language) = spoken.language.as_deref().and_then(|tag| HeaderValue::from_str(tag).ok()) {
            headers.insert(CONTENT_LANGUAGE, language);
        }
        response
    }

    /// The answer to a client that takes nothing but events.
    fn single_event(&self, message: Bytes) -> Response<Body> {
        struct Single(Option<Bytes>);
        impl Source for Single {
            fn poll_event(&mut self, _: &mut std::task::Context<'_>) -> Poll<Option<Bytes>> {
                Poll::Ready(self.0.take().map(|message| crate::wire::sse::write(None, None, &message)))
            }
        }
        response::events(Body::events(Box::new(Single(Some(message))), self.shared.settings.keep_alive))
    }

    fn stream(&self, ticket: Ticket<S>, run: Run, first: Option<Bytes>) -> Response<Body> {
        let settings = &self.shared.settings;
        let source: Box<dyn Source> = match run.exchange().session.clone() {
            None => Box::new(CallStream { ticket, run: Some(run), first }),
            Some(session) => {
                let track = session.open_track();
                let reader = track.read_on();
                let retry = u64::try_from(settings.retry.as_millis()).unwrap_or(u64::MAX);
                // Before 2025-11-25 an event without data surprises clients.
                let priming = (session.version >= ProtocolVersion::V2025_11_25).then(|| track.priming(retry));
                if let Some(first) = first {
                    track.push(&first);
                }
                let open = Some(session.open_stream());
                Box::new(SessionCallStream { ticket: Some(ticket), run: Some(run), track, reader, priming, open })
            }
        };
        response::events(Body::events(source, settings.keep_alive))
    }

    async fn answer_listen(&self, ticket: Ticket<S>, mut run: Run, accepts: Accepts) -> Response<Body> {
        if !accepts.events {
            let message = "subscriptions/listen answers as text/event-stream, which the request does not accept";
            return response::refuse(
                StatusCode::NOT_ACCEPTABLE,
                Some(&ticket.id),
                Code::new("not-acceptable"),
                message,
            );
        }
        match listen::open(&ticket, &mut run).await {
            Ok(stream) => response::listening(Body::events(Box::new(stream), self.shared.settings.keep_alive)),
            Err(answer) => {
                let (status, body) = ticket.write(answer);
                response::json(status, body)
            }
        }
    }

    async fn read_body<B>(&self, headers: &HeaderMap, body: B) -> Result<Bytes, Box<Response<Body>>>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin,
    {
        let settings = &self.shared.settings;
        let read = read_body(headers, body, settings.limits.bytes, settings.body_time).await;
        read.map_err(|error| Box::new(response::refuse(error.status(), None, error.code(), error.to_string())))
    }
}

/// A request that says in its head that it is none.
fn unfit(headers: &HeaderMap, accepts: Accepts) -> Option<Response<Body>> {
    if !accepts.json && !accepts.events {
        let message = "answers are sent as application/json or text/event-stream, and the request accepts neither";
        return Some(response::refuse(StatusCode::NOT_ACCEPTABLE, None, Code::new("not-acceptable"), message));
    }
    if !is_json(headers) {
        let (status, code) = (StatusCode::UNSUPPORTED_MEDIA_TYPE, Code::new("media-type-unsupported"));
        return Some(response::refuse(
            status,
            None,
            code,
            "the body must be sent as application/json, and not compressed",
        ));
    }
    None
}

fn no_answers(id: Option<&Id>) -> Response<Body> {
    let message = "nothing was asked, so there is nothing to answer";
    response::refuse(StatusCode::BAD_REQUEST, id, Code::new("answer-unexpected"), message)
}
