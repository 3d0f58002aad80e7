//! A call as spans: one named after the tool that was really called, one below it for each stage that took place. The span of the
//! stage that reaches the server is the parent of whatever the server does. Names and attributes are those of the conventions of
//! OpenTelemetry for MCP, which say `tools/call` and the tool on both sides; the kind of a span tells them apart.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::{Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_mcp::downstream::{Incoming, Via};
use toolmark_mcp::wire::codes;
use toolmark_mcp::wire::version::ProtocolVersion;
use toolmark_runtime::{End, Record, Recorder, Stray, StrayKind};

use super::context::{Remote, Said};
use super::export::{Line, Traces};
use super::line;
use crate::pack::PackHandle;

/// The method of every call.
const METHOD: &str = "tools/call";

/// The longest text in an attribute: spans wait in a queue, and clients choose some of what they hold.
const LONGEST: usize = 256;

/// Bits of a span's flags: whether its parent is elsewhere is known, and is so.
pub(super) const PARENT_KNOWN: u32 = 0x100;
pub(super) const PARENT_REMOTE: u32 = 0x200;

/// A call under way.
pub(crate) struct CallSpan {
    line: Line,
    /// The span of the call.
    own: Remote,
    /// The span of its stage that reaches the server.
    sent: Remote,
    said: Said,
    /// Spans of the other stages.
    examined: [u8; 8],
    approved: [u8; 8],
    started: Instant,
    start: SystemTime,
    attributes: Vec<KeyValue>,
    /// How the server was reached, once it was.
    reached: OnceLock<Reached>,
    /// With which id; 0 before it is known.
    request: Arc<AtomicU64>,
    /// The code of the error that the server answered with.
    fault: OnceLock<i64>,
    told: AtomicBool,
}

/// How a server is reached.
struct Reached {
    version: ProtocolVersion,
    /// Its host and port; none at the other end of a pipe.
    address: Option<(String, u16)>,
}

impl Traces {
    /// Begins the span of a call; none where there is no randomness for its name.
    pub(crate) fn begin(&self, request: &Incoming) -> Option<Arc<CallSpan>> {
        let mut random = [0; 48];
        getrandom::fill(&mut random).ok()?;
        let (trace, rest) = random.split_first_chunk::<16>()?;
        let (own, rest) = rest.split_first_chunk::<8>()?;
        let (sent, rest) = rest.split_first_chunk::<8>()?;
        let (examined, rest) = rest.split_first_chunk::<8>()?;
        let (approved, _) = rest.split_first_chunk::<8>()?;
        let said = Said::by(request);
        let own = match &said.parent {
            Some(parent) => Remote { span: *own, ..parent.clone() },
            None => Remote { trace: *trace, span: *own, flags: 1, state: None },
        };
        let sent = Remote { span: *sent, ..own.clone() };
        let attributes = if own.is_sampled() { attributes(request) } else { Vec::new() };
        Some(Arc::new(CallSpan {
            line: self.line(),
            own,
            sent,
            said,
            examined: *examined,
            approved: *approved,
            started: Instant::now(),
            start: SystemTime::now(),
            attributes,
            reached: OnceLock::new(),
            request: Arc::default(),
            fault: OnceLock::new(),
            told: AtomicBool::new(false),
        }))
    }
}

impl CallSpan {
    /// The trace that the call is part of.
    pub(crate) fn trace(&self) -> [u8; 16] {
        self.own.trace
    }

    /// The `_meta` with which the server hears of the trace.
    pub(crate) fn meta(&self, request: &Incoming) -> Bytes {
        // A trace that nobody records is passed on as it came.
        let parent = match &self.said.parent {
            Some(parent) if !self.own.is_sampled() => parent,
            _ => &self.sent,
        };
        parent.put_into(request.params.object("_meta").as_ref(), self.said.baggage.as_deref())
    }

    /// Notes where the call goes; says where to write its id.
    pub(crate) fn reaches(&self, pack: &PackHandle, version: ProtocolVersion) -> Arc<AtomicU64> {
        let address = pack.address().map(|(host, port)| (host.trim_matches(['[', ']']).to_owned(), port));
        let _ = self.reached.set(Reached { version, address });
        Arc::clone(&self.request)
    }

    /// Notes that the server answered with an error of JSON-RPC.
    pub(crate) fn faulted(&self, code: i64) {
        let _ = self.fault.set(code);
    }

    /// What is told of the request to the server.
    fn of_request(&self, tool: &Tool) -> Vec<KeyValue> {
        let mut attributes = vec![
            text("gen_ai.operation.name", "execute_tool"),
            text("gen_ai.tool.name", tool.trace_name().as_str()),
            text("mcp.method.name", METHOD),
            text("toolmark.raw", tool.raw().as_str()),
            text("toolmark.pack", tool.pack().unwrap_or_default()),
        ];
        let request = self.request.load(Ordering::Relaxed);
        if request > 0 {
            attributes.push(text("jsonrpc.request.id", &request.to_string()));
        }
        if let Some(Reached { version, address }) = self.reached.get() {
            attributes.push(text("mcp.protocol.version", version.as_str()));
            attributes.push(text("network.transport", if address.is_some() { "tcp" } else { "pipe" }));
            if let Some((host, port)) = address {
                attributes.extend([text("server.address", host), number("server.port", i64::from(*port))]);
            }
        }
        attributes
    }

    fn whole(&self, name: String, attributes: Vec<KeyValue>, error: Option<&str>, took: Duration) -> Span {
        let parent = self.said.parent.as_ref();
        let links = self.said.link.iter().map(|link| Link {
            trace_id: link.trace.to_vec(),
            span_id: link.span.to_vec(),
            trace_state: link.state.clone().unwrap_or_default(),
            flags: u32::from(link.flags) | PARENT_KNOWN | PARENT_REMOTE,
            ..Link::default()
        });
        Span {
            parent_span_id: parent.map(|parent| parent.span.to_vec()).unwrap_or_default(),
            flags: u32::from(self.own.flags) | PARENT_KNOWN | if parent.is_some() { PARENT_REMOTE } else { 0 },
            links: links.collect(),
            attributes,
            ..self.span(self.own.span, name, SpanKind::Server, (self.start, took), error)
        }
    }

    /// A stage of the call.
    fn stage(
        &self,
        id: [u8; 8],
        name: String,
        kind: SpanKind,
        time: (SystemTime, Duration),
        error: Option<&str>,
    ) -> Span {
        Span {
            parent_span_id: self.own.span.to_vec(),
            flags: u32::from(self.own.flags) | PARENT_KNOWN,
            ..self.span(id, name, kind, time, error)
        }
    }

    fn span(
        &self,
        id: [u8; 8],
        name: String,
        kind: SpanKind,
        (start, took): (SystemTime, Duration),
        error: Option<&str>,
    ) -> Span {
        let status = error.map(|error| Status { code: StatusCode::Error as i32, message: error.to_owned() });
        Span {
            trace_id: self.own.trace.to_vec(),
            span_id: id.to_vec(),
            trace_state: self.own.state.clone().unwrap_or_default(),
            name,
            kind: kind as i32,
            start_time_unix_nano: nanos(start),
            end_time_unix_nano: nanos(start + took),
            status,
            ..Span::default()
        }
    }
}

impl Recorder for CallSpan {
    fn record(&self, record: &Record<'_>) {
        if !self.own.is_sampled() || self.told.swap(true, Ordering::AcqRel) {
            return;
        }
        let took = self.started.elapsed();
        let timings = record.timings;
        let name = visible(&format!("{METHOD} {}", record.tool.trace_name()), LONGEST);
        let fault = self.fault.get().map(ToString::to_string);
        let error = match record.end {
            End::Ran | End::Observed | End::Approved => None,
            End::ToolFailed => Some(fault.as_deref().unwrap_or("tool_error")),
            End::Invalid | End::Denied | End::Asked => Some(line::code(record)),
            End::Unrecorded => Some("audit-unwritable"),
            End::Failed(kind) => Some(kind.as_str()),
        };
        let mut attributes = self.attributes.clone();
        attributes.extend([
            text("gen_ai.tool.name", record.tool.trace_name().as_str()),
            text("toolmark.canonical", record.tool.canonical().as_str()),
            text("toolmark.mark", &record.identity.mark_text),
            text("toolmark.verdict", record.verdict.decision().as_str()),
            text("toolmark.outcome", record.end.as_str()),
        ]);
        attributes.extend(record.task.map(|task| text("toolmark.task", task)));
        let failed = |error: Option<&str>| {
            let code = fault.as_deref().filter(|_| error.is_some()).map(|code| text("rpc.response.status_code", code));
            code.into_iter().chain(error.map(|error| text("error.type", error)))
        };
        attributes.extend(failed(error));
        let mut spans = Vec::with_capacity(4);
        spans.push(self.whole(name.clone(), attributes, error, took));
        // The stages follow one another and end with the call.
        let mut at = self.start + took.saturating_sub(timings.total());
        spans.push(self.stage(self.examined, "examine".into(), SpanKind::Internal, (at, timings.examine), None));
        at += timings.examine;
        if !timings.approve.is_zero() {
            spans.push(self.stage(self.approved, "approve".into(), SpanKind::Internal, (at, timings.approve), None));
            at += timings.approve;
        }
        if !timings.dispatch.is_zero() {
            let error = error.filter(|_| matches!(record.end, End::ToolFailed | End::Failed(_)));
            let mut attributes = self.of_request(record.tool);
            attributes.extend(failed(error));
            let span = self.stage(self.sent.span, name, SpanKind::Client, (at, timings.dispatch), error);
            spans.push(Span { attributes, ..span });
        }
        self.line.send(spans);
    }

    fn stray(&self, stray: &Stray<'_>) {
        if !self.own.is_sampled() || self.told.swap(true, Ordering::AcqRel) {
            return;
        }
        let (code, mut attributes) = (stray.kind.code(), self.attributes.clone());
        // A name that leads nowhere is the caller's own, so it is not part of the span: there would be as many as it likes.
        let mut name = METHOD.to_owned();
        if let Some(tool) = stray.tool {
            let trace = tool.trace_name();
            name = visible(&format!("{METHOD} {trace}"), LONGEST);
            let canonical = text("toolmark.canonical", tool.canonical().as_str());
            attributes.extend([text("gen_ai.tool.name", trace.as_str()), canonical]);
        }
        attributes.extend([text("toolmark.outcome", stray.kind.as_str()), text("toolmark.code", code)]);
        // These two are answered with an error of JSON-RPC, the third with a result that says so.
        let rpc = matches!(stray.kind, StrayKind::Unknown | StrayKind::Ambiguous);
        let rpc = rpc.then(|| codes::INVALID_PARAMS.to_string());
        attributes.extend(rpc.as_deref().map(|rpc| text("rpc.response.status_code", rpc)));
        let error = rpc.as_deref().unwrap_or(code);
        attributes.push(text("error.type", error));
        attributes.extend(stray.task.map(|task| text("toolmark.task", task)));
        self.line.send(vec![self.whole(name, attributes, Some(error), self.started.elapsed())]);
    }
}

impl Remote {
    pub(super) fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }
}

/// What is known of a call before it is known what it calls.
fn attributes(request: &Incoming) -> Vec<KeyValue> {
    let id = request.id.to_string();
    let id = id.trim_matches('"');
    let meta = request.params.object("_meta");
    // Some clients say which call of the model it is; otherwise it is this request.
    let call = meta.as_ref().and_then(|meta| meta.text("claudecode/toolUseId"));
    let mut attributes = Vec::with_capacity(16);
    attributes.extend([
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.call.id", call.as_deref().unwrap_or(id)),
        text("jsonrpc.request.id", id),
        text("mcp.method.name", &request.method),
        text("mcp.protocol.version", request.version.as_str()),
        text("network.transport", if matches!(request.via, Via::Pipe) { "pipe" } else { "tcp" }),
    ]);
    attributes.extend(request.session.as_deref().map(|session| text("mcp.session.id", session)));
    attributes
}

/// A text attribute, not too long, and with nothing in it that shows as something else.
pub(super) fn text(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(Value::StringValue(visible(value, LONGEST))) };
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

fn number(key: &str, value: i64) -> KeyValue {
    let value = AnyValue { value: Some(Value::IntValue(value)) };
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

pub(super) fn nanos(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
