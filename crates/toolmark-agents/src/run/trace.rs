//! What is told about a run while it goes on? Spans of `tracing`, named and filled as OpenTelemetry's conventions for generative AI have
//! it: the run, its turns, questions to models, calls of tools, handoffs. No contents, unless the program asks for them.

use toolmark_core::explain::Explain as _;
use toolmark_core::tool::ToolKind;
use toolmark_models::{Finish, FunctionCall, Model, ModelError, ModelResponse};
use toolmark_runtime::tools::{FunctionTool, Turn};
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::error::RunErrorKind;
use super::runner::Runner;
use super::state::RunState;

/// The target of all of them, for whoever wants these and no others.
pub const TARGET: &str = "toolmark_agents::trace";

/// The longest content that is told, in bytes.
const LONGEST: usize = 16 << 10;

pub(super) fn run(agent: &str, state: &RunState) -> Span {
    let session = state.session.as_ref().map(|session| session.id.as_str());
    let kept = state.conversation.as_ref().map(|conversation| conversation.id.as_str());
    info_span!(
        target: TARGET,
        "invoke_agent",
        otel.name = format!("invoke_agent {agent}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = agent,
        gen_ai.conversation.id = session.or(kept),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        toolmark.outcome = Empty,
        error.r#type = Empty,
    )
}

/// How the run ended.
pub(super) fn ran(span: &Span, state: &RunState, ended: Result<bool, &RunErrorKind>) {
    let used = state.usage();
    span.record("gen_ai.usage.input_tokens", used.input_tokens);
    span.record("gen_ai.usage.output_tokens", used.output_tokens);
    span.record(
        "toolmark.outcome",
        match ended {
            Ok(true) => "finished",
            Ok(false) => "interrupted",
            Err(_) => "failed",
        },
    );
    if let Err(error) = ended {
        span.record("error.type", error.code().as_str());
    }
}

pub(super) fn turn(agent: &str, number: u32) -> Span {
    info_span!(target: TARGET, "turn", otel.name = format!("turn {number}"), gen_ai.agent.name = agent, toolmark.turn = number)
}

pub(super) fn chat(turn: &Span, model: &dyn Model, streamed: bool) -> Span {
    let name = model.name();
    info_span!(
        target: TARGET,
        parent: turn,
        "chat",
        otel.name = format!("chat {}", name.model()),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = name.provider().as_str(),
        gen_ai.request.model = name.model(),
        gen_ai.request.stream = streamed,
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.output.messages = Empty,
        error.r#type = Empty,
    )
}

/// What a model answered.
pub(super) fn chatted(span: &Span, runner: &Runner, answer: &Result<ModelResponse, ModelError>) {
    match answer {
        Ok(response) => {
            span.record("gen_ai.response.id", response.response_id.as_deref());
            span.record("gen_ai.response.model", response.model.as_deref());
            span.record(
                "gen_ai.response.finish_reasons",
                match &response.finish {
                    Finish::Stop => "stop",
                    Finish::ToolCalls => "tool_calls",
                    Finish::Length => "length",
                    Finish::Refused => "content_filter",
                    Finish::Paused => "pause",
                    Finish::Other(other) => other.as_str(),
                },
            );
            span.record("gen_ai.usage.input_tokens", response.usage.input_tokens);
            span.record("gen_ai.usage.output_tokens", response.usage.output_tokens);
            if runner.traces_contents {
                span.record("gen_ai.output.messages", cut(&response.text()));
            }
        }
        Err(error) => {
            span.record("error.type", error.code().as_str());
        }
    }
}

/// A call, by the name that the identity of its tool has in traces. A name that leads nowhere is the model's own, and is not told.
pub(super) fn call(parent: &Span, runner: &Runner, turn: &Turn, call: &FunctionCall) -> Span {
    let found = turn.find(&call.name, call.namespace.as_deref()).ok();
    let name = found.map_or_else(|| "unknown".to_owned(), |(own, _)| trace_name(own));
    let canonical = found.map(|(_, tool)| tool.canonical().to_string());
    let arguments = runner.traces_contents.then(|| cut(&call.arguments).to_owned());
    info_span!(
        target: TARGET,
        parent: parent,
        "execute_tool",
        otel.name = format!("execute_tool {name}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.call.id = call.call_id.as_str(),
        gen_ai.tool.call.arguments = arguments,
        gen_ai.tool.call.result = Empty,
        toolmark.canonical = canonical,
        toolmark.outcome = Empty,
        error.r#type = Empty,
    )
}

/// The name of a tool in traces. A computer has the name of a version on the wire, which says nothing to people.
fn trace_name(tool: &FunctionTool) -> String {
    match tool.lookup_key().trace_name().to_string() {
        name if name == "computer_use_preview" && tool.kind() == ToolKind::Hosted => "computer".to_owned(),
        name => name,
    }
}

/// What became of a call: `outcome` is `answered`, `waiting`, `inside` or `outside`.
pub(super) fn called(span: &Span, runner: &Runner, outcome: &str, output: Option<&str>, code: Option<&str>) {
    span.record("toolmark.outcome", outcome);
    span.record("error.type", code);
    if let Some(output) = output.filter(|_| runner.traces_contents) {
        span.record("gen_ai.tool.call.result", cut(output));
    }
}

pub(super) fn handoff(turn: &Span, from: &str, to: &str) -> Span {
    info_span!(
        target: TARGET,
        parent: turn,
        "handoff",
        otel.name = format!("handoff {to}"),
        toolmark.handoff.from = from,
        toolmark.handoff.to = to,
    )
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or(text)
}
