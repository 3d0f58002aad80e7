use std::sync::atomic::{AtomicUsize, Ordering};

use tokio_util::sync::CancellationToken;
use toolmark_core::call::CallId;

use super::*;
use crate::approve::Later;
use crate::tools::{Called, Ended, RunContext, ToolCall, ToolContext, ToolHooks, Tools};

fn tools(names: &[&str]) -> Tools {
    let tool = |name: &&str| FunctionTool::builder(*name).run(|_, _| async { Ok("done") });
    names.iter().map(tool).fold(Tools::builder(), crate::tools::ToolsBuilder::tool).build().unwrap()
}

fn context() -> TurnContext {
    TurnContext::new("assistant", RunContext::new())
}

#[tokio::test]
async fn a_workspace_is_made_once_for_the_same_tools() {
    let toolbox = Toolbox::builder().toolset(tools(&["a", "b"])).build();
    let (one, other) = (toolbox.turn(context()).await.unwrap(), toolbox.turn(context()).await.unwrap());
    assert!(std::ptr::eq(one.workspace(), other.workspace()));
}

#[tokio::test]
async fn conditions_are_asked_in_every_turn() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let tool = FunctionTool::builder("odd")
        .enabled_if(move |_| count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2))
        .run(|_, _| async { Ok("done") });
    let toolbox = Toolbox::builder().toolset(Tools::builder().tool(tool).build().unwrap()).build();
    for turn in 0..4 {
        let offered = toolbox.turn(context()).await.unwrap().offered().count();
        assert_eq!(offered, usize::from(turn % 2 == 0));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn an_entry_of_another_turn_is_not_called() {
    let (one, other) =
        (Toolbox::builder().toolset(tools(&["a"])).build(), Toolbox::builder().toolset(tools(&["a"])).build());
    let (here, elsewhere) = (one.turn(context()).await.unwrap(), other.turn(context()).await.unwrap());
    let id: CallId = "call_1".parse().unwrap();
    let call = ToolCall::new("a", &id, "{}");
    let (_, own) = here.offered().next().unwrap();
    assert!(
        matches!(here.call_entry(own, &call).await, Called::Answered(answer) if matches!(answer.ended, Ended::Ran))
    );
    let (_, foreign) = elsewhere.offered().next().unwrap();
    assert!(
        matches!(here.call_entry(foreign, &call).await, Called::Answered(answer) if matches!(answer.ended, Ended::Stray(_)))
    );
}

/// Gives a call up when it begins.
struct GivesUp(CancellationToken);

impl ToolHooks for GivesUp {
    fn started<'a>(&'a self, _: &'a ToolContext) -> Later<'a, ()> {
        self.0.cancel();
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_says_whether_it_may_have_run() {
    let tool = FunctionTool::builder("forever").run(|_, _| std::future::pending::<Result<&str, _>>());
    let toolbox = Toolbox::builder().toolset(Tools::builder().tool(tool).build().unwrap()).build();
    let turn = toolbox.turn(context()).await.unwrap();
    let id: CallId = "call_1".parse().unwrap();
    let cancel = CancellationToken::new();
    let gives_up = GivesUp(cancel.clone());
    let call = ToolCall::new("forever", &id, "{}").cancelled_by(&cancel);
    // The first is given up while it runs, the second before it begins.
    for (call, ends) in [(call.hooks(&gives_up), "check before you repeat it."), (call, "It did not run.")] {
        let called = turn.call(&call).await;
        let answer = called.answer().unwrap();
        assert_eq!(answer.ended.code(), Some("call-cancelled"));
        assert!(answer.output.to_text().ends_with(ends), "{}", answer.output.to_text());
    }
}
