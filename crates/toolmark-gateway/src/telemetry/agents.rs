//! What is told about runs of agents: their spans, which are those of `tracing`, on the same way as the spans of calls. Until a gateway
//! with a receiver is there, and where it has none, they are let go.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use http::HeaderMap;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use toolmark_agents::run::TRACE_TARGET;
use toolmark_core::text::visible;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber, info_span};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::context::{Remote, TRACEPARENT, TRACESTATE};
use super::export::Line;
use super::span::{PARENT_KNOWN, PARENT_REMOTE, nanos, text};
use crate::gateway::Gateway;

/// A layer of `tracing` that takes the spans of agents to the receiver of a gateway. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct AgentSpans(Arc<OnceLock<Line>>);

/// The longest name of a span.
const LONGEST: usize = 256;

/// The fields in which a span says that it is part of one elsewhere. They are not told.
const PARENT: &str = "toolmark.parent";
const PARENT_STATE: &str = "toolmark.parent.state";

/// A span under way.
struct Own {
    /// As others name it.
    own: Remote,
    parent: Option<[u8; 8]>,
    /// Whether the parent is elsewhere.
    far: bool,
    start: SystemTime,
    said: Said,
}

/// What is said about a span.
#[derive(Default)]
struct Said {
    name: Option<String>,
    kind: SpanKind,
    /// The span elsewhere that it is part of.
    parent: Option<String>,
    state: Option<String>,
    error: Option<String>,
    attributes: Vec<KeyValue>,
}

impl AgentSpans {
    /// Spans that go nowhere yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends them where the gateway sends its own, if it has a receiver.
    pub fn connect(&self, gateway: &Gateway) {
        if let Some(traces) = gateway.traces() {
            let _ = self.0.set(traces.line());
        }
    }

    /// True for what it takes: a filter for whoever puts layers together.
    #[must_use]
    pub fn takes(metadata: &Metadata<'_>) -> bool {
        metadata.target() == TRACE_TARGET
    }
}

/// A request that runs an agent, as a span within the trace that its headers name.
pub(crate) fn served(agent: &str, headers: &HeaderMap) -> tracing::Span {
    let only = |name: &str| {
        let mut all = headers.get_all(name).iter();
        let first = all.next()?.to_str().ok();
        // Two parents are none.
        first.filter(|_| all.next().is_none())
    };
    info_span!(
        target: TRACE_TARGET,
        parent: None,
        "serve_agent",
        otel.name = "POST /agui/{agent}",
        otel.kind = "server",
        http.request.method = "POST",
        http.route = "/agui/{agent}",
        gen_ai.agent.name = agent,
        toolmark.parent = only(TRACEPARENT),
        toolmark.parent.state = only(TRACESTATE),
    )
}

/// The span of an agent that this is called within, for the server that the agent calls; none where nobody is told.
pub(crate) fn current() -> Option<Remote> {
    tracing::dispatcher::get_default(|dispatch| {
        let registry = dispatch.downcast_ref::<Registry>()?;
        let current = dispatch.current_span();
        let span = registry.span(current.id()?)?;
        span.scope().find_map(|span| span.extensions().get::<Own>().map(|own| own.own.clone()))
    })
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for AgentSpans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut random = [0; 24];
        let (Some(span), Ok(())) = (context.span(id), getrandom::fill(&mut random)) else { return };
        if self.0.get().is_none() {
            return;
        }
        let (Some((trace, rest)), mut said) = (random.split_first_chunk::<16>(), Said::default()) else { return };
        let Some((own, _)) = rest.split_first_chunk::<8>() else { return };
        attributes.record(&mut said);
        let above = span.parent().and_then(|above| above.extensions().get::<Own>().map(|above| above.own.clone()));
        let elsewhere = said.parent.take().and_then(|parent| Remote::read(&parent, said.state.as_deref()));
        let far = above.is_none() && elsewhere.is_some();
        let parent = above.or(elsewhere);
        let own = match &parent {
            Some(parent) => Remote { span: *own, ..parent.clone() },
            None => Remote { trace: *trace, span: *own, flags: 1, state: None },
        };
        let own = Own { own, parent: parent.map(|parent| parent.span), far, start: SystemTime::now(), said };
        span.extensions_mut().insert(own);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(own) = span.extensions_mut().get_mut::<Own>() {
            values.record(&mut own.said);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let (Some(line), Some(span)) = (self.0.get(), context.span(&id)) else { return };
        let Some(own) = span.extensions_mut().remove::<Own>() else { return };
        // Whoever does not record its trace does not want it recorded here.
        if !own.own.is_sampled() {
            return;
        }
        let kind = match own.said.kind {
            SpanKind::Unspecified => SpanKind::Internal,
            said => said,
        };
        line.send(vec![Span {
            trace_id: own.own.trace.to_vec(),
            span_id: own.own.span.to_vec(),
            trace_state: own.own.state.unwrap_or_default(),
            parent_span_id: own.parent.map(|parent| parent.to_vec()).unwrap_or_default(),
            flags: u32::from(own.own.flags) | PARENT_KNOWN | if own.far { PARENT_REMOTE } else { 0 },
            name: own.said.name.unwrap_or_else(|| span.name().to_owned()),
            kind: kind as i32,
            start_time_unix_nano: nanos(own.start),
            end_time_unix_nano: nanos(SystemTime::now()),
            attributes: own.said.attributes,
            status: own.said.error.map(|message| Status { code: StatusCode::Error as i32, message }),
            ..Span::default()
        }]);
    }
}

impl Said {
    fn add(&mut self, key: &str, value: Value) {
        self.attributes.push(KeyValue {
            key: key.to_owned(),
            value: Some(AnyValue { value: Some(value) }),
            ..KeyValue::default()
        });
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "otel.name" => self.name = Some(visible(value, LONGEST)),
            "otel.kind" => {
                self.kind = match value {
                    "client" => SpanKind::Client,
                    "server" => SpanKind::Server,
                    _ => SpanKind::Internal,
                }
            }
            PARENT => self.parent = Some(value.to_owned()),
            PARENT_STATE => self.state = Some(value.to_owned()),
            // The conventions have a list of them.
            name @ "gen_ai.response.finish_reasons" => {
                let only = AnyValue { value: Some(Value::StringValue(visible(value, LONGEST))) };
                self.add(name, Value::ArrayValue(ArrayValue { values: vec![only] }));
            }
            name => {
                if name == "error.type" {
                    self.error = Some(visible(value, LONGEST));
                }
                self.attributes.push(text(name, value));
            }
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), Value::IntValue(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), Value::BoolValue(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.attributes.push(text(field.name(), &format!("{value:?}")));
    }
}
