use toolmark_models::Usage;
use toolmark_models::scripted::Turn;
use toolmark_runtime::tools::ToolError;

use super::*;

#[tokio::test]
async fn an_agent_is_a_tool_and_the_conversation_stays_where_it_is() {
    let usage = Usage { input_tokens: 5, ..Usage::default() };
    let spanish = agent("Spanish Agent", [Turn { usage, ..Turn::text("hola: {user}") }]).build().expect("an agent");
    let turns = [Turn { usage, ..Turn::call("spanish_agent", json!({"input": "hello"})) }, Turn::text("{output}")];
    let outer = agent("Orchestrator", turns).tool(spanish.as_tool().description("Translates.")).build().expect("ok");
    let result = finished(&outer, "go").await;
    assert_eq!((result.output(), result.agent()), ("hola: hello", "Orchestrator"));
    assert_eq!((result.usage().input_tokens, result.usage().requests), (10, 3), "nested runs count");
}

#[tokio::test]
async fn what_is_made_of_a_nested_run_can_be_chosen() {
    let calls = Calls::default();
    let inner = agent("Data", [Turn::call("note", text("x")), Turn::text("chatty")]).tool(calls.tool("note"));
    let tool = inner.build().expect("an agent").as_tool().name("get_data").output(|result| async move {
        let last = outputs(&result).pop().ok_or_else(|| ToolError::told("There is none."))?;
        Ok(last.1)
    });
    let outer = agent("A", [Turn::call("get_data", json!({"input": "x"})), Turn::text("{output}")]).tool(tool);
    assert_eq!(finished(&outer.build().expect("an agent"), "go").await.output(), "note x");
}

#[tokio::test]
async fn an_agent_as_a_tool_may_be_offered_to_some_only() {
    struct Language(&'static str);
    let french = agent("French", [Turn::text("bonjour")]).build().expect("an agent");
    for (language, offered) in [("french", 1), ("dutch", 0)] {
        let model = scripted([Turn::text("done")]);
        let tool = french.as_tool().enabled_if(|turn| turn.get::<Language>().is_some_and(|own| own.0 == "french"));
        let outer = Agent::builder("A").model(model.clone()).tool(tool).build().expect("an agent");
        let outcome =
            Runner::new().run(&outer, "go", RunContext::new().with(Language(language))).await.expect("it runs");
        assert!(outcome.finished().is_some());
        assert_eq!(model.requests()[0].tools.len(), offered);
    }
}

/// An agent that calls an agent that calls an agent that pays.
fn deep(calls: &Calls) -> Agent {
    let inner = agent("Inner", [Turn::calls([call("i", "pay", text("x"))]), Turn::text("inner {output}")]);
    let inner = inner.tool(calls.tool("pay").needs_approval(true)).build().expect("an agent");
    let middle =
        agent("Middle", [Turn::calls([call("m", "inner", json!({"input": "go"}))]), Turn::text("middle {output}")]);
    let middle = middle.tool(inner.as_tool()).build().expect("an agent");
    let turn = Turn::calls([call("o", "middle", json!({"input": "go"})), call("n", "note", text("y"))]);
    agent("Outer", [turn, Turn::text("outer {output}")])
        .tool(middle.as_tool())
        .tool(calls.tool("note"))
        .build()
        .expect("an agent")
}

#[tokio::test]
async fn approvals_of_nested_agents_surface_on_the_outer_run_and_are_resumed_where_they_belong() {
    let calls = Calls::default();
    // Another process has agents of its own, whose models have said nothing yet: only what is left to say is said.
    let mut state = interrupted(&deep(&calls), "go").await;
    let pending = state.pending();
    assert_eq!(pending.len(), 1);
    assert_eq!((pending[0].agent(), pending[0].tool(), pending[0].depth()), ("Inner", "pay", 2));
    assert_eq!(calls.all(), ["note y"]);
    state.approve(&pending[0]).expect("it waits");
    let inner = agent("Inner", [Turn::text("inner {output}")]).tool(calls.tool("pay").needs_approval(true));
    let middle = agent("Middle", [Turn::text("middle {output}")]).tool(inner.build().expect("ok").as_tool());
    let outer = agent("Outer", [Turn::text("outer {output}")]);
    let outer = outer.tool(middle.build().expect("ok").as_tool()).tool(calls.tool("note")).build().expect("an agent");
    let outcome = resumed(&outer, &state).await;
    let result = outcome.finished().expect("it has an answer");
    assert_eq!(result.output(), "outer middle inner pay x\nnote y");
    assert_eq!(calls.all(), ["note y", "pay x"]);
}

#[tokio::test]
async fn a_nested_call_that_is_rejected_tells_the_nested_model() {
    let calls = Calls::default();
    let agent = deep(&calls);
    let mut state = interrupted(&agent, "go").await;
    let pending = state.pending();
    state.reject(&pending[0], Some("no")).expect("it waits");
    let outcome = resumed(&agent, &state).await;
    assert_eq!(outcome.finished().expect("it has an answer").output(), "outer middle inner no\nnote y");
    assert_eq!(calls.all(), ["note y"]);
}

#[tokio::test]
async fn an_agent_whose_run_fails_is_a_tool_that_failed() {
    let inner = agent("Inner", [Turn::fail(toolmark_models::scripted::Fault::Auth)]).build().expect("an agent");
    let turns = [Turn::call("inner", json!({"input": "x"})), Turn::text("{output}")];
    let outer = agent("A", turns).tool(inner.as_tool()).build().expect("an agent");
    let said = finished(&outer, "go").await.output().to_owned();
    assert!(said.starts_with("`inner` failed."), "{said}");
}
