//! Guardrails and hooks, in the order in which they are documented.

use std::sync::{Arc, Mutex};

use toolmark::approve::{Approval, Approvals, Asking, Ending, Later, Pass};
use toolmark::prelude::*;
use toolmark::tools::{Ended, Guarded, InputGuardrail, OutputGuardrail, Raised, ToolBuilder, ToolHooks};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().expect("a lock").push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("a lock").clone()
    }
}

impl ToolHooks for Log {
    fn started<'a>(&'a self, context: &'a ToolContext) -> Later<'a, ()> {
        self.note(format!("started {}", context.tool()));
        Box::pin(std::future::ready(()))
    }

    fn ended<'a>(&'a self, _: &'a ToolContext, output: &'a ToolOutput) -> Later<'a, ()> {
        self.note(format!("ended {}", output.to_text()));
        Box::pin(std::future::ready(()))
    }
}

impl Approvals for Log {
    fn ask<'a>(&'a self, _: Asking<'a>) -> Later<'a, Approval> {
        self.note("approval");
        Box::pin(std::future::ready(Approval::Granted(Pass::default())))
    }

    fn ended(&self, _: &Pass, _: Ending) {}
}

fn input(log: &Log, name: &'static str, says: Guarded) -> InputGuardrail {
    let log = log.clone();
    InputGuardrail::new(name, move |_| {
        log.note(name);
        std::future::ready(says.clone())
    })
}

fn output(log: &Log, name: &'static str, says: Guarded) -> OutputGuardrail {
    let log = log.clone();
    OutputGuardrail::new(name, move |_, output| {
        log.note(format!("{name} {}", output.to_text()));
        std::future::ready(says.clone())
    })
}

fn tool(log: &Log) -> ToolBuilder {
    let log = log.clone();
    FunctionTool::builder("act").needs_approval(true).run(move |_, _| {
        log.note("body");
        async { Ok("raw") }
    })
}

async fn run(tool: ToolBuilder, log: &Log) -> Called {
    let toolbox = Toolbox::builder().toolset(super::one(tool)).approvals(Arc::new(log.clone())).build();
    let turn = toolbox.turn(TurnContext::new("assistant", RunContext::new())).await.expect("a turn");
    let id = "call_1".parse().expect("an id");
    turn.call(&ToolCall::new("act", &id, "{}").hooks(log)).await
}

#[tokio::test]
async fn everything_comes_in_its_order() {
    let log = Log::default();
    let tool = tool(&log)
        .input_guardrail(input(&log, "in 1", Guarded::Allow))
        .input_guardrail(input(&log, "in 2", Guarded::Allow))
        .output_guardrail(output(&log, "out 1", Guarded::Allow))
        .output_guardrail(output(&log, "out 2", Guarded::Reject("no".into())))
        .output_guardrail(output(&log, "out 3", Guarded::Allow));
    let called = run(tool, &log).await;
    let answer = called.answer().expect("an answer");
    assert_eq!(answer.output.to_text(), "no");
    assert!(matches!(&answer.ended, Ended::Guarded { guardrail } if guardrail == "out 2"));
    let order = ["approval", "in 1", "in 2", "started act", "body", "out 1 raw", "out 2 raw", "ended no"];
    assert_eq!(log.lines(), order);
}

#[tokio::test]
async fn what_an_input_guardrail_rejects_reaches_neither_hooks_nor_body() {
    let log = Log::default();
    let tool = tool(&log)
        .input_guardrail(input(&log, "in 1", Guarded::Reject("not that".into())))
        .input_guardrail(input(&log, "in 2", Guarded::Allow))
        .output_guardrail(output(&log, "out", Guarded::Allow));
    let called = run(tool, &log).await;
    assert_eq!(called.answer().expect("an answer").output.to_text(), "not that");
    assert_eq!(log.lines(), ["approval", "in 1"]);
}

#[tokio::test]
async fn a_guardrail_may_end_the_run_and_one_that_panics_does() {
    let log = Log::default();
    let called = run(tool(&log).input_guardrail(input(&log, "wire", Guarded::Raise("stop".into()))), &log).await;
    let Called::Raised(Raised::Guardrail { guardrail, message, .. }, _) = called else { panic!("{called:?}") };
    assert_eq!((guardrail.as_str(), message.as_str()), ("wire", "stop"));

    let broken = OutputGuardrail::new("broken", |_, _| async { panic!("oh") });
    let called = run(tool(&log).output_guardrail(broken), &log).await;
    assert!(matches!(called, Called::Raised(Raised::Guardrail { .. }, _)), "{called:?}");
}

#[tokio::test]
async fn guardrails_may_be_heard_before_a_person_is_asked() {
    let log = Log::default();
    let tool = || tool(&log).check_before_approval(true);
    let called = run(tool().input_guardrail(input(&log, "in", Guarded::Reject("no".into()))), &log).await;
    assert_eq!(called.answer().expect("an answer").output.to_text(), "no");
    assert_eq!(log.lines(), ["in"]);

    let log = Log::default();
    let tool = super::guardrails::tool(&log).check_before_approval(true);
    let called = run(tool.input_guardrail(input(&log, "in", Guarded::Allow)), &log).await;
    assert_eq!(called.answer().expect("an answer").output.to_text(), "raw");
    assert_eq!(log.lines(), ["in", "approval", "in", "started act", "body", "ended raw"]);
}
