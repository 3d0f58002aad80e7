//! What does the service get to see of a request?

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use super::caller::{Caller, Client};
use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Id, RawObject};

/// One request of a client, checked against the rules of its era.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The revision that the client speaks.
    pub version: ProtocolVersion,
    /// The id as it was sent.
    pub id: Id,
    /// The method.
    pub method: Cow<'static, str>,
    /// The parameters as they were sent, `_meta` included; without `inputResponses` and `requestState` of 2026-07-28, which are
    /// in `input`.
    pub params: RawObject,
    /// Who calls.
    pub caller: Caller,
    /// With which program.
    pub client: Client,
    /// In which session, up to 2025-11-25.
    pub session: Option<Arc<str>>,
    /// Answers to what the service asked with [`Answer::InputRequired`](super::Answer::InputRequired).
    pub input: Input,
    /// How it came.
    pub via: Via,
}

/// How a request came.
#[derive(Clone, Debug, Default)]
pub enum Via {
    /// Over standard input.
    #[default]
    Pipe,
    /// Over HTTP, with what its headers say about the trace that it is part of and, for lists, about languages.
    Http(Option<Box<TraceHeaders>>, Option<Box<str>>),
}

/// The headers of [Trace Context](https://www.w3.org/TR/trace-context/) and Baggage, as they were sent.
#[derive(Clone, Debug)]
pub struct TraceHeaders {
    /// The span that the request is part of.
    pub traceparent: HeaderValue,
    /// What tracing systems add to it.
    pub tracestate: Option<HeaderValue>,
    /// What is to be known all along the way.
    pub baggage: Option<HeaderValue>,
}

impl Via {
    /// What headers say.
    pub(super) fn headers(headers: &HeaderMap, method: &str) -> Self {
        let trace = headers.get("traceparent").map(|traceparent| {
            Box::new(TraceHeaders {
                traceparent: traceparent.clone(),
                tracestate: headers.get("tracestate").cloned(),
                baggage: headers.get("baggage").cloned(),
            })
        });
        // Nothing else is said in a language.
        let languages = if method.ends_with("/list") { accept_language(headers) } else { None };
        Self::Http(trace, languages)
    }
}

/// What `Accept-Language` says; several of them are one list.
fn accept_language(headers: &HeaderMap) -> Option<Box<str>> {
    let all: Vec<std::borrow::Cow<'_, str>> = headers
        .get_all(http::header::ACCEPT_LANGUAGE)
        .iter()
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    (!all.is_empty()).then(|| all.join(", ").into())
}

/// What a client sends along when it repeats a request that asked for something.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// One member for each answer, each of them an object.
    pub responses: Option<RawObject>,
    /// The state that the service handed out, checked to be that state.
    pub state: Option<Bytes>,
}

/// One notification of a client.
#[derive(Clone, Debug)]
pub struct Notification {
    /// The method; also `logging/setLevel`, which the endpoint answers itself.
    pub method: Cow<'static, str>,
    /// The parameters as they were sent.
    pub params: RawObject,
    /// Who sent it.
    pub caller: Caller,
    /// In which session, up to 2025-11-25.
    pub session: Option<Arc<str>>,
}

impl Incoming {
    /// The era that the client speaks.
    #[must_use]
    pub fn era(&self) -> Era {
        self.version.era()
    }

    /// Everything but the parameters and answers.
    pub(super) fn without_params(&self) -> Self {
        Self {
            version: self.version,
            id: self.id.clone(),
            method: self.method.clone(),
            params: RawObject::empty(),
            caller: self.caller.clone(),
            client: self.client.clone(),
            session: self.session.clone(),
            input: Input::default(),
            via: self.via.clone(),
        }
    }
}

/// Whether a request may be answered with a question in 2026-07-28.
pub(super) fn may_ask(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// Whether results must say how long they hold in 2026-07-28.
pub(super) fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// Methods that are there in one era only.
pub(super) fn is_of_other_era(method: &str, era: Era) -> bool {
    match era {
        Era::Session => matches!(method, "server/discover" | "subscriptions/listen"),
        Era::Stateless => matches!(
            method,
            "initialize" | "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
        ),
    }
}

/// The method without a copy, where it is one that everybody uses.
pub(super) fn method_name(method: &str) -> Cow<'static, str> {
    const KNOWN: [&str; 12] = [
        "tools/call",
        "tools/list",
        "prompts/get",
        "prompts/list",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "completion/complete",
        "initialize",
        "ping",
        "server/discover",
        "subscriptions/listen",
    ];
    match KNOWN.into_iter().find(|known| *known == method) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(method.to_owned()),
    }
}
