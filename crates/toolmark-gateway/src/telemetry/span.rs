//! A call as spans: one named after the tool that was really called, one below it for each stage that took place. The span of the
//! stage that reaches the server is the parent of whatever the server does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::{Link, SpanKind};
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use toolmark_core::text::visible;
use toolmark_mcp::downstream::{Incoming, Via};
use toolmark_runtime::{End, Record, Recorder, Stray};

use super::context::{Remote, Said};
use super::export::{Line, Traces};
use super::line;

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
    told: AtomicBool,
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
        let canonical = visible(record.tool.canonical().as_str(), LONGEST);
        let error = match record.end {
            End::Ran | End::Observed | End::Approved => None,
            End::ToolFailed => Some("tool_error"),
            End::Invalid | End::Denied | End::Asked => Some(line::code(record)),
            End::Unrecorded => Some("audit-unwritable"),
            End::Failed(kind) => Some(kind.as_str()),
        };
        let mut attributes = self.attributes.clone();
        attributes.extend([
            text("gen_ai.tool.name", &canonical),
            text("toolmark.canonical", &canonical),
            text("toolmark.mark", &record.identity.mark_text),
            text("toolmark.verdict", record.verdict.decision().as_str()),
            text("toolmark.outcome", record.end.as_str()),
        ]);
        attributes.extend(record.task.map(|task| text("toolmark.task", task)));
        attributes.extend(error.map(|error| text("error.type", error)));
        let mut spans = Vec::with_capacity(4);
        spans.push(self.whole(format!("execute_tool {canonical}"), attributes, error, took));
        // The stages follow one another and end with the call.
        let mut at = self.start + took.saturating_sub(timings.total());
        spans.push(self.stage(self.examined, "examine".into(), SpanKind::Internal, (at, timings.examine), None));
        at += timings.examine;
        if !timings.approve.is_zero() {
            spans.push(self.stage(self.approved, "approve".into(), SpanKind::Internal, (at, timings.approve), None));
            at += timings.approve;
        }
        if !timings.dispatch.is_zero() {
            let name = format!("tools/call {canonical}");
            let error = error.filter(|_| matches!(record.end, End::ToolFailed | End::Failed(_)));
            let mut attributes = vec![
                text("mcp.method.name", "tools/call"),
                text("gen_ai.tool.name", &visible(record.tool.raw().as_str(), LONGEST)),
                text("toolmark.pack", record.tool.pack().unwrap_or_default()),
            ];
            attributes.extend(error.map(|error| text("error.type", error)));
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
        let canonical = stray.tool.map(|tool| visible(tool.canonical().as_str(), LONGEST));
        if let Some(canonical) = &canonical {
            attributes.extend([text("gen_ai.tool.name", canonical), text("toolmark.canonical", canonical)]);
        }
        attributes.extend([text("toolmark.outcome", stray.kind.as_str()), text("error.type", code)]);
        attributes.extend(stray.task.map(|task| text("toolmark.task", task)));
        let name = format!("execute_tool {}", canonical.as_deref().unwrap_or("unknown"));
        self.line.send(vec![self.whole(name, attributes, Some(code), self.started.elapsed())]);
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

pub(super) fn nanos(time: SystemTime) -> u64 {
    u64::try_from(time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
