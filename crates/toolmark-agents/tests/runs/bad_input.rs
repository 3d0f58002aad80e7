use toolmark_models::scripted::{Fault, Turn};
use toolmark_models::{Finish, Item};
use toolmark_runtime::tools::{OnError, ToolError};

use super::*;

/// The model calls something wrong, hears of it, and goes on.
async fn told(turn: Turn) -> (String, Vec<String>) {
    let calls = Calls::default();
    let agent = agent("A", [turn, Turn::text("{output}")]).tool(calls.tool("note")).build().expect("an agent");
    (finished(&agent, "go").await.output().to_owned(), calls.all())
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_answered_with_those_that_are() {
    let (said, calls) = told(Turn::call("nota", text("x"))).await;
    assert_eq!(said, "Nothing was called: there is no tool `nota`. Offered are: `note`.");
    assert!(calls.is_empty());
    let elsewhere = ScriptedCall { namespace: Some("crm".into()), ..ScriptedCall::new("note", text("x")) };
    assert!(told(Turn::calls([elsewhere])).await.1.is_empty(), "a namespace is never left out");
}

#[tokio::test]
async fn an_empty_name_means_no_tool() {
    let (said, calls) = told(Turn::call("", text("x"))).await;
    assert_eq!(said, "Nothing was called: there is no tool ``. Offered are: `note`.");
    assert!(calls.is_empty());
}

#[tokio::test]
async fn a_handoff_to_nowhere_is_answered_with_those_that_are() {
    let b = agent("B", [Turn::text("b")]).build().expect("an agent");
    let turns = [Turn::call("transfer_to_nobody", json!({})), Turn::text("{output}")];
    let a = agent("A", turns).handoff(&b).build().expect("an agent");
    let said = finished(&a, "go").await.output().to_owned();
    assert!(said.contains("`transfer_to_nobody`") && said.contains("`transfer_to_b`"), "{said}");
}

#[tokio::test]
async fn arguments_that_are_cut_off_or_of_the_wrong_type_are_answered_and_nothing_runs() {
    let cut = Turn { finish: Some(Finish::Length), ..Turn::call("note", json!(r#"{"text": "ha"#)) };
    let wrong =
        [cut, Turn::call("note", json!({"text": 5})), Turn::call("note", json!(["x"])), Turn::call("note", json!({}))];
    for turn in wrong {
        let (said, calls) = told(turn).await;
        assert!(said.starts_with("`note` was not called: its arguments"), "{said}");
        assert!(calls.is_empty());
    }
}

#[tokio::test]
async fn a_call_that_comes_twice_runs_once() {
    let calls = Calls::default();
    let twice = Turn::calls([call("c", "note", json!({"text": "x"})), call("c", "note", json!(r#"{ "text" : "x" }"#))]);
    let again = Turn { text: Some("again".into()), ..Turn::calls([call("c", "note", text("x"))]) };
    let agent = agent("A", [twice, again]).tool(calls.tool("note")).build().expect("an agent");
    let result = finished(&agent, "go").await;
    assert_eq!((result.output(), calls.all()), ("again", vec!["note x".to_owned()]));
    let made = result.items().iter().filter(|item| matches!(item.item, Item::FunctionCall(_))).count();
    assert_eq!((made, outputs(&result).len()), (1, 1));
}

#[tokio::test]
async fn an_id_that_stands_for_two_calls_is_refused_before_anything_runs() {
    let calls = Calls::default();
    let turns = [
        Turn::calls([call("d", "note", text("x")), call("c", "note", text("y")), call("c", "note", text("z"))]),
        Turn::calls([call("c", "note", text("z"))]),
        Turn::text("done"),
    ];
    let agent = agent("A", turns).tool(calls.tool("note")).build().expect("an agent");
    let (code, state) = code(&agent).await;
    assert_eq!(code, "compat-approval-call-id-reused");
    assert!(calls.all().is_empty());
    let outcome = resumed(&agent, &state.expect("it is kept")).await;
    assert_eq!(outcome.finished().expect("the model got it right this time").output(), "done");
    assert_eq!(calls.all(), ["note z"]);
}

#[tokio::test]
async fn an_id_of_an_earlier_turn_with_other_content_is_refused_too() {
    let calls = Calls::default();
    let turns = [Turn::calls([call("c", "note", text("x"))]), Turn::calls([call("c", "note", text("y"))])];
    let agent = agent("A", turns).tool(calls.tool("note")).build().expect("an agent");
    assert_eq!(code(&agent).await.0, "compat-approval-call-id-reused");
    assert_eq!(calls.all(), ["note x"]);
}

#[tokio::test]
async fn a_model_that_only_repeats_itself_is_stopped() {
    let calls = Calls::default();
    let turns =
        [Turn::calls([call("c", "note", text("x"))]), Turn::calls([call("c", "note", text("x"))]), Turn::text("ok")];
    let agent = agent("A", turns).tool(calls.tool("note")).build().expect("an agent");
    let (code, state) = code(&agent).await;
    assert_eq!(code, "run-repeats");
    let outcome = resumed(&agent, &state.expect("it is kept")).await;
    assert_eq!(outcome.finished().expect("it has an answer").output(), "ok");
    assert_eq!(calls.all(), ["note x"]);
}

#[tokio::test]
async fn ids_and_names_that_are_none_are_errors_of_the_model_and_the_run_is_kept() {
    let id = |id: Value| ScriptedCall { call_id: Some(id), ..ScriptedCall::new("note", text("x")) };
    let name = ScriptedCall { name: json!(null), ..ScriptedCall::new("note", text("x")) };
    let wrong = [id(json!(5)), id(json!("")), id(json!({})), name];
    for one in wrong {
        let calls = Calls::default();
        let agent = agent("A", [Turn::calls([one]), Turn::text("done")]).tool(calls.tool("note")).build().expect("ok");
        let (code, state) = code(&agent).await;
        assert!(code.starts_with("model-"), "{code}");
        assert!(calls.all().is_empty());
        let outcome = resumed(&agent, &state.expect("it is kept")).await;
        assert_eq!(outcome.finished().expect("it has an answer").output(), "done");
    }
}

#[tokio::test]
async fn a_model_that_fails_leaves_a_run_that_can_go_on_and_nothing_runs_twice() {
    for fault in
        [Fault::Auth, Fault::RateLimited, Fault::ServerFailed, Fault::Timeout, Fault::Malformed, Fault::Truncated]
    {
        let calls = Calls::default();
        let turns = [Turn::call("note", text("x")), Turn::fail(fault), Turn::text("done")];
        let agent = agent("A", turns).tool(calls.tool("note")).build().expect("an agent");
        let (code, state) = code(&agent).await;
        assert!(code.starts_with("model-"), "{code}");
        let outcome = resumed(&agent, &state.expect("it is kept")).await;
        assert_eq!(outcome.finished().expect("it has an answer").output(), "done");
        assert_eq!(calls.all(), ["note x"]);
    }
}

#[tokio::test]
async fn a_tool_that_ends_the_run_is_not_called_again_when_it_goes_on() {
    let calls = Calls::default();
    let heard = calls.clone();
    let broken = FunctionTool::builder("broken").on_error(OnError::Propagate).run(move |_, _| {
        heard.say("broken");
        async { Err::<String, _>(ToolError::new("disk on fire")) }
    });
    let turn = Turn::calls([call("a", "broken", json!({})), call("b", "note", text("x"))]);
    let agent = agent("A", [turn, Turn::text("{output}")]).tool(broken).tool(calls.tool("note")).build().expect("ok");
    let error = Runner::new().run(&agent, "go", RunContext::new()).await.expect_err("it ends the run");
    assert_eq!(error.to_string(), "the tool `broken` failed: disk on fire");
    let state = error.into_state().expect("it is kept");
    let outcome = resumed(&agent, &state).await;
    let said = outcome.finished().expect("it has an answer").output().to_owned();
    assert!(said.contains("may have had an effect") && said.contains("note x"), "{said}");
    let mut ran = calls.all();
    ran.sort();
    assert_eq!(ran, ["broken", "note x"]);
}

#[tokio::test]
async fn texts_for_what_went_wrong_can_be_chosen_for_a_whole_run() {
    let broken = FunctionTool::builder("broken").run(|_, _| async { Err::<String, _>(ToolError::new("secret")) });
    let turn = Turn::calls([call("a", "broken", json!({})), call("b", "nothing", json!({}))]);
    let agent = agent("A", [turn, Turn::text("{output}")]).tool(broken).build().expect("an agent");
    let runner = Runner::new().say_faults(|fault| match fault {
        toolmark_agents::run::ToolFault::Failed { name, .. } => Some(format!("{name} is out of order")),
        _ => None,
    });
    let outcome = runner.run(&agent, "go", RunContext::new()).await.expect("it runs");
    let said = outcome.finished().expect("it has an answer").output();
    assert!(said.starts_with("broken is out of order\nNothing was called: there is no tool `nothing`."), "{said}");
}

#[tokio::test]
async fn an_agent_without_a_name_is_no_agent() {
    let error = Agent::builder(" ").build().expect_err("it has no name");
    assert_eq!(error.code().as_str(), "agent-without-name");
}
