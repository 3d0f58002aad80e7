//! `tools/call`: identified by the names of the address, taken through the pipeline, sent to the pack that owns the tool.

use std::sync::Arc;
use std::time::Instant;

use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderName, HeaderValue};
use serde_json::json;
use toolmark_core::catalog::Resolution;
use toolmark_core::digest::DefinitionDigest;
use toolmark_core::explain::Explain as _;
use toolmark_core::names::CanonicalName;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::Decision;
use toolmark_mcp::downstream::{Answer, Context, Fault, Incoming, MetaMember, Via};
use toolmark_mcp::relay::Back;
use toolmark_mcp::upstream::{Delivery, Reply, Upstream, UpstreamError, UpstreamErrorKind, UpstreamRequest};
use toolmark_mcp::wire::params::CallParams;
use toolmark_mcp::wire::{Change, Limits, RawObject, ResultType, RpcError, codes, mentions, write};
use toolmark_policy::Caller;
use toolmark_runtime::approve::Pass;
use toolmark_runtime::{
    Arrived, Brought, DispatchError, DispatchErrorKind, Origin, Passage, Request, Settled, Stray, StrayKind, Task,
};

use super::ask::{Person, handed, wanted};
use super::{Front, TASK, addresses, object, theirs, view_of};
use crate::gateway::Gateway;
use crate::pack::{PackHandle, PackState};
use crate::snapshot::Snapshot;
use crate::telemetry::{self, CallSpan};
use crate::view::{OURS, View};

/// The key under which results say what became of the call.
pub(super) const CALL: &str = "dev.toolmark/call";

/// What a pack answered.
enum Output {
    Result(RawObject),
    Error(RpcError),
}

impl Front {
    pub(super) async fn call_tool(&self, request: &mut Incoming, context: &Context) -> Answer {
        let Some(person) = Person::of(request, context) else {
            return Answer::fault(codes::INVALID_PARAMS, "the request state is not one of this gateway");
        };
        let request = &*request;
        let span = self.gateway.traces().and_then(|traces| traces.begin(request));
        let traced = span.clone().map(|span| self.gateway.pipeline().also(span));
        let pipeline = traced.as_ref().unwrap_or_else(|| self.gateway.pipeline());
        let snapshot = self.gateway.snapshot();
        let view = match view_of(&snapshot, request) {
            Ok(view) => view,
            Err(fault) => return Answer::Fault(fault),
        };
        let params = match CallParams::of(&request.params) {
            Ok(params) => params,
            Err(error) => {
                return Answer::Fault(Fault::new(codes::INVALID_PARAMS, error.to_string()).coded(error.code()));
            }
        };
        let caller = Caller::new(request.caller.principal());
        let caller = match &request.session {
            Some(session) => caller.in_session(session),
            None => caller,
        };
        let origin = origin(request, span.as_deref());
        let raw = params.arguments().unwrap_or_else(|| Bytes::from_static(b"{}"));
        let stray = |tool, kind| Stray {
            lookup: params.name(),
            tool,
            caller,
            origin,
            task: view.task().map(Task::full_name),
            arguments_size: raw.len(),
            kind,
        };
        let Some(exposed) = view.resolve(params.name()) else {
            let (kind, fault) = unknown(&snapshot, &view, params.name());
            pipeline.stray(&stray(None, kind));
            return Answer::Fault(fault);
        };
        let tool = exposed.tool;
        // Read by the strict reader: what two readers may understand differently is refused before it is judged.
        let read = match std::str::from_utf8(&raw).ok().map(toolmark_core::json::read) {
            Some(Ok(read)) => read,
            unreadable => {
                pipeline.stray(&stray(Some(tool), StrayKind::Unreadable));
                let why = unreadable.and_then(Result::err).map(|error| error.to_string());
                return refused(why.as_deref().unwrap_or("the arguments are not UTF-8"), StrayKind::Unreadable.code());
            }
        };
        let arguments = read.to_value();
        let arrived = Arrived {
            id: self.gateway.ids.now(),
            lookup: params.name(),
            request: Request { tool, arguments: &arguments, task: view.task(), caller },
            read: &read,
            size: raw.len(),
            origin,
        };
        let named = view.name_of(tool).and_then(|name| view.param_headers(name));
        // The arguments that are sent, which may be others than those that came, are repeated in headers.
        let headers = |edited: Option<&str>| {
            let edited = edited.and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
            named.map(|headers| headers.headers(edited.as_ref().unwrap_or(&arguments))).unwrap_or_default()
        };
        let settled = pipeline
            .run(
                snapshot.workspace(),
                &arrived,
                &person,
                |other| view.name_of(other).map(str::to_owned),
                |output: &Output| match output {
                    Output::Result(result) => Brought {
                        failed: result.is_error(),
                        unfinished: result.result_type() == ResultType::InputRequired,
                        bytes: result.raw(),
                    },
                    Output::Error(error) => Brought { failed: true, unfinished: false, bytes: error.object().raw() },
                },
                |edited| {
                    let headers = headers(edited.as_deref());
                    let judged = (&self.gateway, &*snapshot, tool);
                    dispatch(judged, request, edited, headers, context.clone(), span.as_deref())
                },
            )
            .await;
        // Addresses in it are those that the client knows.
        let in_ours = |result: RawObject| match tool.pack().and_then(|pack| snapshot.pack(pack)) {
            Some(pack) => addresses::of_call(view.offers(), pack.name(), result),
            None => result,
        };
        match settled {
            Err(error) => Answer::Fault(Fault::new(codes::INTERNAL_ERROR, error.to_string()).coded(error.code())),
            Ok(Settled::Ran(Output::Error(error), passage)) => match theirs::for_the_client(&error, request) {
                Some(fault) => Answer::Fault(fault),
                None => {
                    let meta = meta(&snapshot, tool, &passage, Some(theirs::CODE.as_str()), Some(&error));
                    failure(&theirs::told(&error, params.name()), meta)
                }
            },
            Ok(Settled::Handed(question, _)) => handed(&question),
            Ok(Settled::Ran(Output::Result(result), passage)) if result.result_type() == ResultType::InputRequired => {
                wanted(in_ours(result), passage.pass.and_then(|pass| pass.run))
            }
            Ok(Settled::Ran(Output::Result(result), passage)) => {
                let result = without_ours(in_ours(self.tasks.note(&request.caller, tool, result)));
                let value = meta(&snapshot, tool, &passage, None, None).freeze();
                Answer::WithMeta(result, MetaMember { key: CALL, value })
            }
            Ok(Settled::Refused(refusal, passage)) => {
                failure(refusal.text(), meta(&snapshot, tool, &passage, Some(refusal.code()), None))
            }
            Ok(Settled::Failed(error, passage)) => {
                failure(&error.text(params.name()), meta(&snapshot, tool, &passage, Some(error.code().as_str()), None))
            }
        }
    }
}

/// How a call came in.
fn origin(request: &Incoming, span: Option<&CallSpan>) -> Origin {
    let transport = match request.via {
        Via::Pipe => "stdio",
        Via::Http(..) => "http",
    };
    let trace = span.map_or_else(|| telemetry::trace(request), |span| Some(span.trace()));
    Origin { era: Some(request.version.as_str()), transport: Some(transport), trace }
}

/// Sends the call to the pack of its tool, once.
async fn dispatch(
    (gateway, snapshot, tool): (&Arc<Gateway>, &Snapshot, &Tool),
    request: &Incoming,
    edited: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    context: Context,
    span: Option<&CallSpan>,
) -> Result<Output, DispatchError> {
    let (pack, upstream) = reach(gateway, snapshot, tool)?;
    let noted = span.map(|span| span.reaches(pack, upstream.version()));
    let meta = meta_for_server(request, span);
    let mut replaced: Vec<(&str, &[u8])> = meta.iter().map(|meta| ("_meta", &**meta)).collect();
    replaced.extend(edited.iter().map(|arguments| ("arguments", arguments.as_bytes())));
    let sent = UpstreamRequest {
        name: Some(tool.raw().as_str()),
        headers,
        timeout: Some(timeout(snapshot, tool, pack.timeout())),
        // A call that nobody waits for is dropped.
        cancel: None,
        capabilities: Some(request.client.capabilities().clone()),
        log_level: context.log_level(),
        observer: Some(Arc::new(Back::to(context).noting(noted).only_if(still_there(gateway, pack, tool)))),
        method: "tools/call",
        params: request.params_for_server(&replaced),
    };
    let reply = upstream.request(sent).await;
    note(pack, reply.as_ref().err());
    match reply {
        Ok(Reply::Result(result)) => Ok(Output::Result(result)),
        Ok(Reply::Error(error)) => {
            if let (Some(span), Some(code)) = (span, error.code()) {
                span.faulted(code);
            }
            Ok(Output::Error(error))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Whether a pack still offers a tool as it was when a call of it was judged, which may be a while ago if somebody was asked or others came
/// first. A pack that a reload took away is as it was for as long as calls may go to it.
pub(crate) fn still_there(
    gateway: &Arc<Gateway>,
    pack: &Arc<PackHandle>,
    tool: &Tool,
) -> impl Fn() -> bool + Send + Sync + 'static {
    // Whoever asks may be kept for longer than the call takes, and must keep no server from ending.
    let (gateway, pack) = (Arc::downgrade(gateway), Arc::downgrade(pack));
    let (canonical, digest) = (tool.canonical().clone(), tool.digest());
    move || match (gateway.upgrade(), pack.upgrade()) {
        (Some(gateway), Some(pack)) => is_still_there(&gateway.snapshot(), &pack, &canonical, digest),
        _ => false,
    }
}

fn is_still_there(now: &Snapshot, pack: &Arc<PackHandle>, canonical: &CanonicalName, digest: DefinitionDigest) -> bool {
    if pack.upstream().is_none() {
        return false;
    }
    if !now.pack(pack.name().as_str()).is_some_and(|current| Arc::ptr_eq(current, pack)) {
        return true;
    }
    let found = now.workspace().catalog().resolve(canonical.as_str());
    matches!(found, Resolution::Found(current) if current.digest() == digest)
}

/// The `_meta` that a server sees, where it is not the client's own. The task is named for us: a gateway behind may know no such task.
fn meta_for_server(request: &Incoming, span: Option<&CallSpan>) -> Option<Bytes> {
    let spanned = span.map(|span| span.meta(request));
    if !request.params.get("_meta").is_some_and(|meta| mentions(meta, TASK.as_bytes())) {
        return spanned;
    }
    let own = match spanned {
        Some(meta) => object(meta),
        None => request.params.object("_meta")?,
    };
    Some(own.rewrite(&[Change::Remove(TASK)]))
}

/// The pack of a tool and the connection to it, where calls may go to it now and it offers the tool as it was judged.
pub(crate) fn reach<'s>(
    gateway: &Gateway,
    snapshot: &'s Snapshot,
    tool: &Tool,
) -> Result<(&'s Arc<PackHandle>, Arc<Upstream>), DispatchError> {
    let unavailable = |why: &str| DispatchError::before_it_ran(DispatchErrorKind::Unavailable, why);
    let pack = tool.pack().and_then(|name| snapshot.pack(name)).ok_or_else(|| unavailable("its pack is gone"))?;
    let upstream = connected(pack).map_err(|why| unavailable(&why))?;
    // Looked at after the connection was taken: what came over it is in the snapshot before calls may go to it.
    if !is_still_there(&gateway.snapshot(), pack, tool.canonical(), tool.digest()) {
        return Err(unavailable(&UpstreamErrorKind::Outdated.to_string()));
    }
    rested(pack).map_err(|why| unavailable(&why))?;
    Ok((pack, upstream))
}

/// The connection to a pack, where something may be sent to it now; otherwise why not.
pub(super) fn admitted(pack: &PackHandle) -> Result<Arc<Upstream>, String> {
    let upstream = connected(pack)?;
    rested(pack)?;
    Ok(upstream)
}

fn connected(pack: &PackHandle) -> Result<Arc<Upstream>, String> {
    let upstream = pack.upstream().ok_or_else(|| match pack.state() {
        PackState::Unavailable(why) => format!("its server is not there: {why}"),
        PackState::Stopped => "the gateway is stopping".to_owned(),
        PackState::Starting | PackState::Ready => "its server is starting".to_owned(),
    })?;
    if upstream.has_lost_its_session() {
        return Err("its server has ended the session; what it offers now is read before anything runs".to_owned());
    }
    Ok(upstream)
}

/// Whoever is let through here has to [say](note) how it went.
fn rested(pack: &PackHandle) -> Result<(), String> {
    pack.breaker().admit(Instant::now()).map_err(|resting| {
        let seconds = resting.left.as_secs() + 1;
        format!("its last {} calls got no answer; it is tried again in {seconds} s", resting.failures)
    })
}

/// Tells the pack's breaker how it went. What the caller did, or what waits for a place, says nothing about the server.
pub(crate) fn note(pack: &PackHandle, error: Option<&UpstreamError>) {
    let Some(error) = error else { return pack.breaker().answered() };
    let silent = matches!(
        error.kind(),
        UpstreamErrorKind::Timeout { .. }
            | UpstreamErrorKind::Closed { .. }
            | UpstreamErrorKind::Transport { .. }
            | UpstreamErrorKind::SessionLost
    );
    if silent && pack.breaker().failed(Instant::now()) {
        tracing::warn!(pack = %pack.name(), %error, "a server gets a rest: its calls get no answer");
    }
}

pub(crate) fn timeout(snapshot: &Snapshot, tool: &Tool, usual: std::time::Duration) -> std::time::Duration {
    let packs = &snapshot.config().packs;
    let pack = packs.iter().find(|(name, _)| Some(name.as_str()) == tool.pack());
    pack.map_or(usual, |(_, pack)| pack.timeout(tool.raw()))
}

fn failed(error: &UpstreamError) -> DispatchError {
    let kind = match error.kind() {
        UpstreamErrorKind::Timeout { .. } => DispatchErrorKind::Timeout,
        UpstreamErrorKind::Cancelled => DispatchErrorKind::Cancelled,
        UpstreamErrorKind::TooLarge { .. } => DispatchErrorKind::TooLarge,
        UpstreamErrorKind::Busy { .. } | UpstreamErrorKind::Queued { .. } => DispatchErrorKind::Busy,
        UpstreamErrorKind::Closed { .. }
        | UpstreamErrorKind::Transport { .. }
        | UpstreamErrorKind::SessionLost
        | UpstreamErrorKind::Outdated => DispatchErrorKind::Unavailable,
        _ => DispatchErrorKind::Failed,
    };
    match error.delivery() {
        Delivery::Never => DispatchError::before_it_ran(kind, &error.to_string()),
        Delivery::Perhaps => DispatchError::while_it_ran(kind, &error.to_string()),
    }
}

/// Why a name leads nowhere, with every tool that could be meant, as far as it is seen here.
fn unknown(snapshot: &Snapshot, view: &View, name: &str) -> (StrayKind, Fault) {
    let seen = |tool: &Tool| view.name_of(tool).map(str::to_owned);
    let catalog = snapshot.workspace().catalog();
    let candidates: Vec<String> = match catalog.resolve(name) {
        Resolution::Ambiguous(owners) => owners.iter().filter_map(seen).collect(),
        Resolution::Found(tool) => seen(tool).into_iter().collect(),
        Resolution::NotFound => {
            catalog.suggest(name, |tool| seen(tool).is_some()).into_iter().filter_map(seen).collect()
        }
    };
    let ambiguous = matches!(catalog.resolve(name), Resolution::Ambiguous(_)) && candidates.len() > 1;
    let (kind, reason) = match ambiguous {
        true => (StrayKind::Ambiguous, "ambiguous_tool"),
        false => (StrayKind::Unknown, "unknown_tool"),
    };
    let name = visible(name, 200);
    let message = match kind {
        StrayKind::Ambiguous => format!("`{name}` is ambiguous: use one of {}", candidates.join(", ")),
        _ if candidates.is_empty() => format!("Unknown tool: `{name}`"),
        _ => format!("Unknown tool: `{name}`; there is {}", candidates.join(", ")),
    };
    let data = json!({"code": kind.code(), "reason": reason, "candidates": candidates});
    let data = Some(Bytes::from(data.to_string()));
    (kind, Fault { code: codes::INVALID_PARAMS, message: message.into(), data })
}

/// What became of a call, for `_meta`.
fn meta(snapshot: &Snapshot, tool: &Tool, passage: &Passage, code: Option<&str>, error: Option<&RpcError>) -> BytesMut {
    let verdict = passage.verdict.decision();
    let mut out = BytesMut::with_capacity(256);
    out.put_slice(br#"{"verdict":"#);
    write::quote_into(&mut out, verdict.as_str());
    out.put_slice(br#","outcome":"#);
    write::quote_into(&mut out, passage.outcome.as_str());
    out.put_slice(br#","canonical":"#);
    write::quote_into(&mut out, tool.canonical().as_str());
    if let Some(prepared) = snapshot.workspace().prepared(tool) {
        out.put_slice(br#","mark":"#);
        write::quote_into(&mut out, &prepared.identity(tool).mark_text);
    }
    if let Some(code) = code {
        out.put_slice(br#","code":"#);
        write::quote_into(&mut out, code);
    }
    if let Some(error) = error {
        theirs::put(&mut out, error);
    }
    if let Some(pass) = &passage.pass {
        approved(&mut out, pass);
    }
    if verdict > Decision::Allow
        && let Some(reasons) = passage.verdict.to_json().get("reasons")
    {
        out.put_slice(br#","reasons":"#);
        out.put_slice(reasons.to_string().as_bytes());
    }
    out.put_u8(b'}');
    out
}

/// A result without what only we say of tools and calls: it would be believed to be ours.
pub(super) fn without_ours(result: RawObject) -> RawObject {
    let Some(meta) = result.object("_meta") else { return result };
    let ours = OURS.iter().chain([&CALL]).filter(|key| meta.get(key).is_some());
    let changes: Vec<Change<'_>> = ours.map(|key| Change::Remove(key)).collect();
    if changes.is_empty() {
        return result;
    }
    let meta = meta.rewrite(&changes);
    let cleaned = result.rewrite(&[Change::Set("_meta", &meta)]);
    RawObject::read(cleaned, Limits::ADMITTED).unwrap_or(result)
}

/// What let a call through that was asked about.
fn approved(out: &mut BytesMut, pass: &Pass) {
    for (key, text) in [("grant", pass.grant.map(|grant| grant.to_string())), ("approved_by", pass.by.clone())] {
        if let Some(text) = text {
            out.put_slice(format!(",\"{key}\":").as_bytes());
            write::quote_into(out, &text);
        }
    }
    if let Some(edited) = &pass.edited {
        out.put_slice(b",\"edited_arguments\":");
        out.put_slice(edited.as_bytes());
    }
}

/// A result that says that the call failed, which the model can act on.
fn failure(text: &str, meta: BytesMut) -> Answer {
    let mut body = BytesMut::with_capacity(text.len() + 96);
    body.put_slice(br#"{"content":[{"type":"text","text":"#);
    write::quote_into(&mut body, text);
    body.put_slice(br#"}],"isError":true}"#);
    Answer::WithMeta(object(body.freeze()), MetaMember { key: CALL, value: meta.freeze() })
}

fn refused(text: &str, code: &str) -> Answer {
    let meta = json!({"verdict": "deny", "outcome": "refuse", "code": code}).to_string();
    failure(text, BytesMut::from(meta.as_bytes()))
}
