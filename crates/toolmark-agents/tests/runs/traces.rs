//! Spans of runs: who is the parent of whom, what they are called and what they hold, and that they hold no contents.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, Mutex};

use toolmark_agents::run::TRACE_TARGET;
use tracing::field::{Field, Visit};
use tracing::instrument::WithSubscriber as _;
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

use super::*;

/// Keeps every span that has ended.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Seen>>>);

#[derive(Clone, Debug, Default)]
struct Seen {
    parent: Option<String>,
    fields: BTreeMap<String, String>,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name().to_owned(), value.to_owned());
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).expect("a span");
        assert_eq!(span.metadata().target(), TRACE_TARGET);
        let name = |span: tracing_subscriber::registry::SpanRef<'_, S>| {
            span.extensions().get::<Seen>().expect("what was seen").fields["otel.name"].clone()
        };
        let mut seen = Seen { parent: span.parent().map(name), ..Seen::default() };
        attributes.record(&mut seen);
        span.extensions_mut().insert(seen);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).expect("a span");
        values.record(span.extensions_mut().get_mut::<Seen>().expect("what was seen"));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).expect("a span");
        let seen = span.extensions_mut().remove::<Seen>().expect("what was seen");
        self.0.lock().expect("a lock").push(seen);
    }
}

impl Spans {
    /// Runs something while they are kept.
    async fn of<T>(run: impl Future<Output = T>) -> (T, Vec<Seen>) {
        // While there is one subscriber only, `tracing` takes the word of whichever thread meets a span first. Threads of other tests have no
        // subscriber, and the span would be lost to this one.
        static ANOTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(tracing_subscriber::registry()));
        LazyLock::force(&ANOTHER);
        let spans = Self::default();
        let only = tracing_subscriber::filter::filter_fn(|metadata| metadata.target() == TRACE_TARGET);
        let subscriber = tracing_subscriber::registry().with(spans.clone().with_filter(only));
        let subscriber = Dispatch::new(subscriber);
        tracing::callsite::rebuild_interest_cache();
        let done = run.with_subscriber(subscriber).await;
        let seen = spans.0.lock().expect("a lock").clone();
        (done, seen)
    }
}

fn named<'s>(spans: &'s [Seen], name: &str) -> Vec<&'s Seen> {
    spans.iter().filter(|span| span.fields["otel.name"] == name).collect()
}

#[tokio::test]
async fn a_run_is_told_as_spans_that_stand_in_one_another_and_hold_no_contents() {
    let calls = Calls::default();
    let inner = agent("Inner", [Turn::text("inside")]).build().expect("an agent");
    let second = agent("Second", [Turn::text("the end")]).build().expect("an agent");
    let turns = [
        Turn::calls([
            call("c1", "note", text("a secret")),
            call("c2", "inner", json!({"input": "another secret"})),
            call("c3", "nowhere", json!({})),
        ]),
        Turn::call("transfer_to_second", json!({})),
    ];
    let outer = agent("Outer", turns)
        .tool(calls.tool("note"))
        .tool(inner.as_tool())
        .handoff(&second)
        .build()
        .expect("an agent");
    let (outcome, spans) = Spans::of(Runner::new().run(&outer, "my secret", RunContext::new())).await;
    assert!(outcome.expect("a run").finished().is_some());
    let parents: Vec<(String, Option<String>)> = {
        let mut all: Vec<_> =
            spans.iter().map(|span| (span.fields["otel.name"].clone(), span.parent.clone())).collect();
        all.sort();
        all
    };
    let pair = |name: &str, parent: Option<&str>| (name.to_owned(), parent.map(str::to_owned));
    assert_eq!(
        parents,
        [
            pair("chat code", Some("turn 1")),
            pair("chat code", Some("turn 1")),
            pair("chat code", Some("turn 2")),
            pair("chat code", Some("turn 3")),
            pair("execute_tool inner", Some("turn 1")),
            pair("execute_tool note", Some("turn 1")),
            pair("execute_tool unknown", Some("turn 1")),
            pair("handoff Second", Some("turn 2")),
            pair("invoke_agent Inner", Some("execute_tool inner")),
            pair("invoke_agent Outer", None),
            pair("turn 1", Some("invoke_agent Inner")),
            pair("turn 1", Some("invoke_agent Outer")),
            pair("turn 2", Some("invoke_agent Outer")),
            pair("turn 3", Some("invoke_agent Outer")),
        ]
    );
    let run = named(&spans, "invoke_agent Outer")[0];
    assert_eq!(run.fields["gen_ai.operation.name"], "invoke_agent");
    assert_eq!(
        (run.fields["gen_ai.agent.name"].as_str(), run.fields["toolmark.outcome"].as_str()),
        ("Outer", "finished")
    );
    let tool = named(&spans, "execute_tool note")[0];
    assert_eq!((tool.fields["gen_ai.tool.name"].as_str(), tool.fields["gen_ai.tool.call.id"].as_str()), ("note", "c1"));
    assert_eq!(named(&spans, "execute_tool unknown")[0].fields["error.type"], "tool-not-found");
    let chat = named(&spans, "chat code")[0];
    assert_eq!(chat.fields["gen_ai.provider.name"], "scripted");
    assert!(chat.fields.contains_key("gen_ai.usage.input_tokens"));
    let all = format!("{spans:?}");
    assert!(!all.contains("secret") && !all.contains("the end") && !all.contains("nowhere"), "{all}");
}

#[tokio::test]
async fn contents_are_told_where_the_program_asks_for_them_and_failures_by_their_code() {
    let calls = Calls::default();
    let turns =
        [Turn::calls([call("c1", "note", text("x"))]), Turn::fail(toolmark_models::scripted::Fault::Overloaded)];
    let agent = agent("A", turns).tool(calls.tool("note")).build().expect("an agent");
    let runner = Runner::new().trace_contents(true);
    let (outcome, spans) = Spans::of(runner.run(&agent, "go", RunContext::new())).await;
    let code = outcome.expect_err("the model is away").code().as_str();
    let tool = named(&spans, "execute_tool note")[0];
    assert_eq!(tool.fields["gen_ai.tool.call.arguments"], r#"{"text":"x"}"#);
    assert_eq!(tool.fields["gen_ai.tool.call.result"], "note x");
    let run = named(&spans, "invoke_agent A")[0];
    assert_eq!((run.fields["error.type"].as_str(), run.fields["toolmark.outcome"].as_str()), (code, "failed"));
}
