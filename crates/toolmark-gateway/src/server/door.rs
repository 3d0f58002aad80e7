//! What becomes of a request? Every one passes the same way: who may ask from where, how much at once, and only then what is asked.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, Version, header};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolmark_core::explain::{Code, Explain};
use toolmark_mcp::downstream::origin::{Guard, RefuseRequestError};
use toolmark_mcp::downstream::{Body, Endpoint, Listening, Pieces};

use super::bindings::Addresses;
use crate::access::{Access, Limiter, Permit, Refusal, WELL_KNOWN, refused};
use crate::agui::{self, Agui, Wanted};
use crate::approvals::Api;
use crate::connections::Line;
use crate::console::error::ConsoleError;
use crate::console::keeper::Keeper;
use crate::console::{Console, assets};
use crate::cors;
use crate::gateway::Gateway;
use crate::metrics;
use crate::pack::PackState;
use crate::service::Front;

const PLAIN: &str = "text/plain; charset=utf-8";

/// What every connection leads to.
pub(super) struct Within {
    pub(super) gateway: Arc<Gateway>,
    pub(super) endpoint: Endpoint<Front>,
    pub(super) way: Arc<WayIn>,
    /// How many connections are open.
    pub(super) open: Arc<AtomicUsize>,
    /// How many of them may wait for their next request.
    pub(super) kept: usize,
}

/// One connection, seen from within.
#[derive(Clone)]
pub(super) struct Door {
    pub(super) within: Arc<Within>,
    pub(super) line: Arc<Line>,
    pub(super) peer: SocketAddr,
    /// The address of this machine that it came to, where it listens on all of them.
    pub(super) local: Option<SocketAddr>,
}

impl std::ops::Deref for Door {
    type Target = Within;

    fn deref(&self) -> &Within {
        &self.within
    }
}

/// What a request has to pass, in this order.
pub(super) struct WayIn {
    pub(super) guard: Guard,
    /// The pages that may read answers: those that the configuration names.
    pub(super) pages: Guard,
    pub(super) access: Access,
    pub(super) limiter: Limiter,
    pub(super) addresses: Addresses,
    /// Whether figures are served.
    pub(super) metrics: bool,
    /// Where people decide.
    pub(super) api: Option<Api>,
    /// What people look at.
    pub(super) console: Option<Console>,
    /// What user interfaces talk to.
    pub(super) agui: Option<Agui>,
    /// Who may look and decide.
    pub(super) keeper: Arc<Keeper>,
    /// When those who look on are sent away.
    pub(super) leaving: CancellationToken,
    /// Whether every pack of the first start has started or failed. What is added later does not take that back.
    pub(super) settled: AtomicBool,
}
/// A body that holds its caller's place until it was sent.
pub(super) struct Counted {
    body: Body,
    _permit: Option<Permit>,
    /// Whoever was let in uses their connection until then; others have what they get once it is written.
    _line: Option<Arc<Line>>,
}
impl Door {
    /// Boxed, so that a connection that waits for its next request holds no room for answering it, and a call none for what else there is.
    pub(super) fn answer(
        self,
        request: Request<Incoming>,
    ) -> BoxFuture<'static, Result<Response<Counted>, Infallible>> {
        let one_at_a_time = request.version() < Version::HTTP_2;
        let origin = match self.guard(&request) {
            Ok(origin) => origin,
            Err(error) => {
                self.turn_away(error.status(), error.code());
                // Clients of MCP show what they can read; pages and people get the words.
                let response = match is_mcp(request.uri().path()) {
                    true => refused(error.status(), error.code(), &error.to_string()),
                    false => text(error.status(), PLAIN, error.to_string()),
                };
                return Box::pin(std::future::ready(Ok(self.last_look(response, one_at_a_time, None, false))));
            }
        };
        let path = request.uri().path();
        let mcp = is_mcp(path);
        if origin.is_some()
            && (mcp || path.starts_with(WELL_KNOWN))
            && self.way.pages.check_origin(request.uri(), request.headers()).is_ok()
        {
            let origin = origin.cloned();
            return Box::pin(async move {
                let mut permit = None;
                let mut response = match cors::is_preflight(&request) {
                    true => cors::preflight(request.headers()),
                    false if mcp => self.mcp(request, &mut permit).await,
                    false => self.elsewhere(request, &mut permit).await,
                };
                cors::share(origin.as_ref(), &mut response);
                cors::expose(&mut response);
                Ok(self.last_look(response, one_at_a_time, permit, mcp))
            });
        }
        if mcp {
            return Box::pin(async move {
                let mut permit = None;
                let response = self.mcp(request, &mut permit).await;
                Ok(self.last_look(response, one_at_a_time, permit, true))
            });
        }
        let for_people = Agui::covers(path) || Console::covers(path);
        Box::pin(async move {
            let mut permit = None;
            let response = self.elsewhere(request, &mut permit).await;
            Ok(self.last_look(response, one_at_a_time, permit, for_people))
        })
    }

    /// May a request with this host and this origin come here at all? On a machine with several addresses, the one that it came to is ours
    /// too: looked at only where nothing else lets it in.
    fn guard<'a>(&self, request: &'a Request<Incoming>) -> Result<Option<&'a HeaderValue>, RefuseRequestError> {
        let guard = &self.way.guard;
        guard.check(request.uri(), request.headers()).or_else(|error| match self.local {
            Some(local) => guard.clone().allow_address(local).check(request.uri(), request.headers()),
            None => Err(error),
        })
    }

    fn last_look(
        self,
        mut response: Response<Body>,
        one_at_a_time: bool,
        permit: Option<Permit>,
        in_use: bool,
    ) -> Response<Counted> {
        if one_at_a_time && self.open.load(Ordering::Relaxed) > self.kept {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let line = in_use.then_some(self.line);
        response.map(|body| Counted { body, _permit: permit, _line: line })
    }

    /// Everything but MCP.
    async fn elsewhere(&self, request: Request<Incoming>, permit: &mut Option<Permit>) -> Response<Body> {
        let (uri, headers) = (request.uri(), request.headers());
        let path = uri.path();
        if Agui::covers(path)
            && let Some(agui) = &self.way.agui
        {
            return Box::pin(self.agui(agui, request, permit)).await;
        }
        if Api::covers(path)
            && let Some(api) = &self.way.api
        {
            // Boxed, as below, so that calls make no room for what few requests are.
            return self.noted(Box::pin(api.answer(request, self.peer)).await);
        }
        if let Some(console) = &self.way.console {
            if Console::covers(path) {
                return self.noted(Box::pin(console.answer(request, self.endpoint.held())).await);
            }
            if assets::covers(path) {
                return assets::answer(request.method(), path, headers);
            }
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let is_there = matches!(path, "/healthz" | "/readyz")
                || (path == "/metrics" && self.way.metrics)
                || (path.starts_with(WELL_KNOWN) && self.way.access.metadata(uri, headers).is_some());
            if !is_there {
                return text(StatusCode::NOT_FOUND, PLAIN, "not found".into());
            }
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "this can only be read".into());
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match path {
            "/healthz" => text(StatusCode::OK, PLAIN, "ok".into()),
            "/readyz" => Box::pin(self.ready(uri, headers)).await,
            "/metrics" if self.way.metrics => match Box::pin(self.way.access.admit_to_all(uri, headers)).await {
                Ok(_) => text(StatusCode::OK, metrics::CONTENT_TYPE, self.gateway.figures(self.endpoint.held())),
                Err(refusal) => self.refuse(&refusal),
            },
            _ if path.starts_with(WELL_KNOWN) => match self.way.access.metadata(uri, headers) {
                Some(document) => text(StatusCode::OK, "application/json", document),
                None => text(StatusCode::NOT_FOUND, PLAIN, "not found".into()),
            },
            _ => text(StatusCode::NOT_FOUND, PLAIN, "not found; MCP is at /mcp".into()),
        }
    }

    /// Who is it, may they come here, and do they not take too much? Only then the request is read.
    #[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
    fn mcp(
        &self,
        request: Request<Incoming>,
        permit: &mut Option<Permit>,
    ) -> impl Future<Output = Response<Body>> + Send {
        async move {
            let (uri, headers) = (request.uri(), request.headers());
            let name = uri.path().strip_prefix("/mcp/");
            let binding = match name {
                None => Some(Arc::clone(&self.way.addresses.unbound)),
                Some(name) => self.way.addresses.find(&self.gateway.snapshot(), name),
            };
            // Whoever is not let in does not learn which addresses there are.
            let wanted = binding.as_ref().unwrap_or(&self.way.addresses.unbound);
            let admitted = match self.way.access.admit(uri, headers, wanted).await {
                Ok(admitted) => admitted,
                Err(refusal) => return self.refuse(&refusal),
            };
            let Some(binding) = binding else {
                return text(StatusCode::NOT_FOUND, PLAIN, "there is no such task or profile".into());
            };
            if request.method() == Method::POST {
                match self.way.limiter.take(&admitted.principal) {
                    Ok(taken) => *permit = Some(taken),
                    Err(error) => {
                        let response = error.response();
                        self.turn_away(response.status(), error.code());
                        return response;
                    }
                }
            }
            let response = self.endpoint.http(request, admitted.caller.clone().bound_to(binding)).await;
            if response.extensions().get::<Listening>().is_some() {
                // A client that listens must be able to call meanwhile. Such streams are limited by their own number.
                *permit = None;
                self.line.listens();
            }
            response
        }
    }

    /// The same for user interfaces. Pages of origins that may come here read the answer.
    async fn agui(&self, agui: &Agui, request: Request<Incoming>, permit: &mut Option<Permit>) -> Response<Body> {
        let origin = request.headers().get(header::ORIGIN).cloned();
        let mut response = match *request.method() == Method::OPTIONS {
            true => agui::preflight(),
            false => self.agui_admitted(agui, request, permit).await,
        };
        cors::share(origin.as_ref(), &mut response);
        response
    }

    async fn agui_admitted(
        &self,
        agui: &Agui,
        request: Request<Incoming>,
        permit: &mut Option<Permit>,
    ) -> Response<Body> {
        let (uri, headers) = (request.uri(), request.headers());
        let unbound = &self.way.addresses.unbound;
        let by_key = self.way.keeper.has_key(headers);
        let admitted = match (agui.wants(uri.path()), by_key) {
            (_, true) => Ok(format!("console:{}", self.way.keeper.user()).into()),
            (Wanted::Live, false) => match self.way.keeper.approver(headers).await {
                Ok(approver) => Ok(approver.name.into()),
                Err(error) => return self.noted(ConsoleError::from(error).response()),
            },
            (Wanted::List, false) => {
                self.way.access.admit(uri, headers, unbound).await.map(|own| own.principal.clone())
            }
            (Wanted::Agent(binding), false) => {
                self.way.access.admit(uri, headers, &binding).await.map(|own| own.principal.clone())
            }
        };
        let principal: Arc<str> = match admitted {
            Ok(principal) => principal,
            Err(refusal) => return self.refuse(&refusal),
        };
        if request.method() == Method::POST {
            match self.way.limiter.take(&principal) {
                Ok(taken) => *permit = Some(taken),
                Err(error) => {
                    let response = error.response();
                    self.turn_away(response.status(), error.code());
                    return response;
                }
            }
        }
        agui.answer(request, &principal).await
    }

    fn refuse(&self, refusal: &Refusal) -> Response<Body> {
        let response = refusal.response();
        self.turn_away(response.status(), refusal.why().code());
        response
    }

    /// What the console and the approvals answered; whom they turned away is counted as everywhere.
    fn noted(&self, response: Response<Body>) -> Response<Body> {
        match response.status() {
            status @ StatusCode::UNAUTHORIZED => self.turn_away(status, Code::new("approver-token-missing")),
            status @ StatusCode::FORBIDDEN => self.turn_away(status, Code::new("approver-token-wrong")),
            _ => {}
        }
        response
    }

    /// Counts a request that was not let in. Whoever sends many must not fill the log.
    fn turn_away(&self, status: StatusCode, code: Code) {
        tracing::debug!(status = status.as_u16(), %code, "a request was not let in");
        self.gateway.metrics().turn_away(status, code);
    }

    /// Ready once the first start is over, however it ended, and from then on: a pack that is added later takes nobody's calls away. Which
    /// packs there are is for whoever may see all of them.
    async fn ready(&self, uri: &Uri, headers: &HeaderMap) -> Response<Body> {
        let packs = self.gateway.packs();
        let starts = packs.iter().any(|pack| pack.state() == PackState::Starting);
        let ready = self.way.settled.load(Ordering::Relaxed) || !starts;
        let mut states = BTreeMap::<&str, usize>::new();
        for pack in &packs {
            *states.entry(pack.state().as_str()).or_default() += 1;
        }
        let mut body = json!({"ready": ready, "states": states});
        if self.way.access.admit_to_all(uri, headers).await.is_ok()
            && let Some(members) = body.as_object_mut()
        {
            let all = packs.iter().map(|pack| (pack.name().to_string(), json!(pack.state().as_str())));
            members.insert("packs".into(), Value::Object(all.collect()));
        }
        let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        text(status, "application/json", body.to_string())
    }
}
fn is_mcp(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/mcp/")
}
impl hyper::body::Body for Counted {
    type Data = Pieces;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Pieces>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.body.size_hint()
    }
}
fn text(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}
