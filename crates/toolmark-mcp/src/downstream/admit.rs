//! Is this request one that its era allows, and what becomes of it? The rules that HTTP and stdio share.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;
use toolmark_core::explain::{Code, Explain as _};

use super::answer::Fault;
use super::caller::{Caller, Client};
use super::endpoint::Shared;
use super::exchange::{Exchange, Way};
use super::incoming::{Incoming, Input, Notification, Via, is_of_other_era, may_ask, method_name};
use super::run::Run;
use super::service::{Service, supported_versions};
use super::session::Session;
use super::ticket::{Opened, Ticket};
use crate::wire::headers::{self, HeaderMismatchError};
use crate::wire::params::{meta, progress_token};
use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Change, Id, Limits, LogLevel, RawObject, codes, write};

/// What becomes of a request.
pub(super) enum Admitted<S> {
    /// It is answered already.
    Reply(StatusCode, Bytes),
    /// It is answered, and the service should hear of it.
    Noted(Bytes, Notification),
    /// It is a call.
    Call(Ticket<S>, Run),
}

/// A request as it was read.
pub(super) struct Request<'a> {
    pub(super) id: Id,
    pub(super) method: Cow<'a, str>,
    pub(super) params: Option<RawObject>,
    pub(super) caller: Caller,
    /// Whether the client can be told anything before the result.
    pub(super) streams: bool,
    pub(super) via: Via,
}

/// The version that a request names in its `_meta`, if any.
pub(super) fn named_version(meta: Option<&RawObject>) -> Option<Cow<'_, str>> {
    meta?.text(meta::PROTOCOL_VERSION)
}

fn refuse<S>(status: StatusCode, id: &Id, fault: &Fault) -> Admitted<S> {
    Admitted::Reply(status, fault.write(Some(id)))
}

/// The error for a header that does not say what the body says.
pub(super) fn mismatch(error: &HeaderMismatchError) -> Fault {
    Fault::new(codes::HEADER_MISMATCH, error.to_string()).coded(error.code())
}

/// The error for a version that is not spoken here.
pub(super) fn unsupported(requested: &str) -> Fault {
    let code = Code::new("mcp-version-unknown");
    let requested: String = requested.chars().take(64).collect();
    let data = format!(
        r#"{{"supported":{},"requested":{},"code":"{code}"}}"#,
        supported_versions(),
        Value::from(requested.as_str())
    );
    let message = format!("`{requested}` is no revision of MCP that is spoken here");
    Fault { code: codes::UNSUPPORTED_VERSION, message: message.into(), data: Some(data.into()) }
}

fn no_such_method(method: &str) -> Fault {
    let method: String = method.chars().take(128).collect();
    Fault::new(codes::METHOD_NOT_FOUND, format!("there is no method `{method}`")).coded(Code::new("method-unknown"))
}

impl<S: Service> Shared<S> {
    /// A request of 2026-07-28; over HTTP, with its headers.
    pub(super) fn admit_stateless(
        self: &Arc<Self>,
        request: Request<'_>,
        meta: Option<&RawObject>,
        http: Option<&HeaderMap>,
    ) -> Admitted<S> {
        let Request { id, method, params, caller, streams, via } = request;
        let bad = |fault: &Fault| refuse(StatusCode::BAD_REQUEST, &id, fault);
        let version = named_version(meta);
        if let Some(headers) = http
            && let Err(error) = headers::check_version(headers, version.as_deref().unwrap_or_default())
            // Which version a body means that names none can only be said by the header; that is checked below.
            && (version.is_some() || headers.get(headers::PROTOCOL_VERSION).is_none())
        {
            return bad(&mismatch(&error));
        }
        let capabilities = meta.and_then(|meta| meta.slice(meta::CLIENT_CAPABILITIES));
        let (Some(meta), Some(version), Some(capabilities)) =
            (meta, version, capabilities.filter(|capabilities| capabilities.starts_with(b"{")))
        else {
            let message = format!("`_meta` must have `{}` and `{}`", meta::PROTOCOL_VERSION, meta::CLIENT_CAPABILITIES);
            return bad(&Fault::new(codes::INVALID_PARAMS, message).coded(Code::new("request-meta-missing")));
        };
        let Some(version) = version.parse().ok().filter(|version: &ProtocolVersion| version.era() == Era::Stateless)
        else {
            return bad(&unsupported(&version));
        };
        if let Some(headers) = http
            && let Err(error) = self.check_headers(headers, &method, params.as_ref(), &caller)
        {
            return bad(&mismatch(&error));
        }
        if is_of_other_era(&method, Era::Stateless) {
            return refuse(StatusCode::NOT_FOUND, &id, &no_such_method(&method));
        }
        if method == "server/discover" {
            let about = self.service.about(&caller);
            return Admitted::Reply(StatusCode::OK, write::reply(&id, &about.discover()));
        }
        let params = params.unwrap_or_else(RawObject::empty);
        let client = Client::new(meta.slice(meta::CLIENT_INFO), capabilities);
        let log_level = meta.text(meta::LOG_LEVEL).and_then(|level| level.parse().ok());
        let way = Way { progress_token: progress_token(meta), log_level, streams };
        let method = method_name(&method);
        let ticket = Ticket {
            shared: Arc::clone(self),
            version,
            id: id.clone(),
            method: method.clone(),
            params: params.raw().clone(),
            caller: caller.clone(),
        };
        let (params, input) = if may_ask(&method) {
            match self.take_input(&ticket, params) {
                Ok(Taken::New(params, input)) => (params, input),
                Ok(Taken::Parked(run)) => {
                    run.exchange().redirect(way);
                    return Admitted::Call(ticket, run);
                }
                Err(fault) => return refuse(StatusCode::OK, &id, &fault),
            }
        } else {
            (params, Input::default())
        };
        let (who, may_ask, ask_time) = (caller.clone(), may_ask(&method), self.settings.ask_time);
        let exchange = Arc::new(Exchange::new(version, who, client.clone(), None, may_ask, ask_time, way));
        let incoming = Incoming { version, id, method, params, caller, client, session: None, input, via };
        Admitted::Call(ticket, Run::start(Arc::clone(&self.service), incoming, exchange, None))
    }

    fn check_headers(
        &self,
        headers: &HeaderMap,
        method: &str,
        params: Option<&RawObject>,
        caller: &Caller,
    ) -> Result<(), HeaderMismatchError> {
        headers::check(headers, method, params)?;
        if method == "tools/call"
            && let Some(params) = params
            && let Some(expected) = params.text("name").and_then(|tool| self.service.param_headers(caller, &tool))
            && !expected.is_empty()
        {
            let arguments = params.get("arguments").and_then(|text| serde_json::from_slice(text).ok());
            expected.check(headers, &arguments.unwrap_or(Value::Null))?;
        }
        Ok(())
    }

    /// Takes answers and state out of the parameters, and the call that they continue out of the lot.
    fn take_input(self: &Arc<Self>, ticket: &Ticket<S>, params: RawObject) -> Result<Taken, Fault> {
        let wrong = |message: &'static str| {
            Fault::new(codes::INVALID_PARAMS, message).coded(Code::new("input-responses-invalid"))
        };
        let responses = match params.get("inputResponses") {
            None => None,
            Some(_) => {
                let responses = params.object("inputResponses").ok_or(wrong("`inputResponses` must be an object"))?;
                if responses.iter().any(|(_, response)| !response.starts_with(b"{")) {
                    return Err(wrong("every member of `inputResponses` must be an object"));
                }
                Some(responses)
            }
        };
        let state = match params.get("requestState") {
            None if responses.is_none() => return Ok(Taken::New(params, Input::default())),
            None => None,
            Some(_) => {
                let text = params.text("requestState").ok_or(wrong("`requestState` must be a string"))?;
                match ticket.open(&text) {
                    Ok(Opened::Parked(run)) => {
                        // A client that repeats without an answer is asked again.
                        run.exchange().answer(&responses.unwrap_or_else(RawObject::empty));
                        return Ok(Taken::Parked(run));
                    }
                    Ok(Opened::State(state)) => Some(state),
                    Err(error) => return Err(Fault::new(codes::INVALID_PARAMS, error.to_string()).coded(error.code())),
                }
            }
        };
        let own = params.rewrite(&[Change::Remove("inputResponses"), Change::Remove("requestState")]);
        let own = RawObject::read(own, Limits::ADMITTED);
        let own = own.map_err(|_| wrong("the parameters cannot be read"))?;
        Ok(Taken::New(own, Input { responses, state }))
    }

    /// A request in a session.
    pub(super) fn admit_session(self: &Arc<Self>, request: Request<'_>, session: &Arc<Session>) -> Admitted<S> {
        let Request { id, method, params, caller, streams, via } = request;
        let params = params.unwrap_or_else(RawObject::empty);
        match &*method {
            "ping" => return Admitted::Reply(StatusCode::OK, write::reply(&id, b"{}")),
            "logging/setLevel" => return self.set_log_level(&id, &params, caller, session),
            method if is_of_other_era(method, Era::Session) => {
                return refuse(StatusCode::OK, &id, &no_such_method(method));
            }
            _ => {}
        }
        let method = method_name(&method);
        let progress_token = params.object("_meta").and_then(|meta| progress_token(&meta));
        let way = Way { progress_token, log_level: None, streams };
        let (client, within) = (session.client.clone(), Some(Arc::clone(session)));
        let (who, ask_time) = (session.caller.clone(), self.settings.ask_time);
        let exchange = Arc::new(Exchange::new(session.version, who, client, within, false, ask_time, way));
        let Some(running) = session.enter(&id, &exchange) else {
            let fault = Fault::new(codes::INVALID_REQUEST, format!("a request with the id `{id}` is still running"));
            return refuse(StatusCode::BAD_REQUEST, &id, &fault.coded(Code::new("request-id-reused")));
        };
        let ticket = Ticket {
            shared: Arc::clone(self),
            version: session.version,
            id: id.clone(),
            method: method.clone(),
            params: Bytes::new(),
            caller: caller.clone(),
        };
        let incoming = Incoming {
            version: session.version,
            id,
            method,
            params,
            caller,
            client: session.client.clone(),
            session: Some(Arc::clone(session.id())),
            input: Input::default(),
            via,
        };
        Admitted::Call(ticket, Run::start(Arc::clone(&self.service), incoming, exchange, Some(running)))
    }

    fn set_log_level(&self, id: &Id, params: &RawObject, caller: Caller, session: &Session) -> Admitted<S> {
        if self.service.about(&caller).capabilities.get("logging").is_none() {
            return refuse(StatusCode::OK, id, &no_such_method("logging/setLevel"));
        }
        let Some(level) = params.text("level").and_then(|level| level.parse::<LogLevel>().ok()) else {
            let fault = Fault::new(codes::INVALID_PARAMS, "`level` must be the name of a log level");
            return refuse(StatusCode::OK, id, &fault.coded(Code::new("log-level-unknown")));
        };
        session.set_log_level(level);
        let (method, session) = (Cow::Borrowed("logging/setLevel"), Some(Arc::clone(session.id())));
        Admitted::Noted(write::reply(id, b"{}"), Notification { method, params: params.clone(), caller, session })
    }

    /// `initialize`: a session and the reply, or the fault.
    pub(super) fn initialize(
        &self,
        params: Option<&RawObject>,
        caller: &Caller,
    ) -> Result<(Arc<Session>, Bytes), Fault> {
        let wrong =
            |message: &'static str| Fault::new(codes::INVALID_PARAMS, message).coded(Code::new("initialize-invalid"));
        let params = params.ok_or(wrong("`initialize` needs parameters"))?;
        let asked = params.text("protocolVersion").ok_or(wrong("`protocolVersion` must be a string"))?;
        let capabilities = params.slice("capabilities").filter(|text| text.starts_with(b"{"));
        let capabilities = capabilities.ok_or(wrong("`capabilities` must be an object"))?;
        // A version that we do not speak, or that has no handshake, is answered with the newest that has one.
        let version = asked.parse().ok().filter(|version: &ProtocolVersion| version.era() == Era::Session);
        let version = version.unwrap_or(ProtocolVersion::LATEST_WITH_SESSION);
        let client = Client::new(params.slice("clientInfo"), capabilities).detached();
        let session = Session::new(caller.clone(), client, version, self.settings.replay_bytes, self.now());
        Ok((Arc::new(session), self.service.about(caller).initialize(version)))
    }

    /// A notification in a session, as far as the endpoint is concerned; what the service should hear is given back.
    pub(super) fn note(&self, method: &str, params: Option<RawObject>, session: &Session) -> Option<Notification> {
        match method {
            "notifications/cancelled" => {
                let id = params.as_ref().and_then(|params| params.slice("requestId"));
                if let Some(id) = id.and_then(|id| Id::read(&id)) {
                    session.cancel(&id);
                }
                return None;
            }
            "notifications/initialized" => session.initialized(),
            _ => {}
        }
        Some(Notification {
            method: method_name(method),
            params: params.unwrap_or_else(RawObject::empty),
            caller: session.caller.clone(),
            session: Some(Arc::clone(session.id())),
        })
    }
}

enum Taken {
    New(RawObject, Input),
    Parked(Run),
}

/// The fault for a message that cannot be read.
pub(super) fn unreadable(error: &crate::wire::ReadMessageError) -> Fault {
    Fault::new(error.rpc_code(), error.to_string()).coded(error.code())
}
