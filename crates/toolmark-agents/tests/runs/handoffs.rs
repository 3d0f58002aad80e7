use toolmark_agents::Handoff;
use toolmark_core::display::{LanguageTag, Languages};
use toolmark_core::explain::Explain as _;
use toolmark_models::scripted::Turn;
use toolmark_runtime::tools::ToolBuilder;

use super::*;

#[tokio::test]
async fn the_conversation_passes_to_another_agent_under_a_name_made_of_its_own() {
    let billing = agent("Billing Agent", [Turn::text("paid")]).handoff_description("Knows bills.").build().expect("ok");
    let model = scripted([Turn::call("transfer_to_billing_agent", json!({}))]);
    let triage = Agent::builder("Triage").model(model.clone()).handoff(&billing).build().expect("an agent");
    let result = finished(&triage, "go").await;
    assert_eq!((result.output(), result.agent()), ("paid", "Billing Agent"));
    let tools: Vec<String> = model.requests()[0].tools.iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(tools, ["transfer_to_billing_agent"]);
    assert_eq!(outputs(&result)[0].1, r#"{"assistant":"Billing Agent"}"#);
}

#[tokio::test]
async fn the_first_handoff_wins_after_all_tools_and_the_others_are_told() {
    let calls = Calls::default();
    let (b, c) = (agent("B", [Turn::text("b")]), agent("C", [Turn::text("c")]));
    let turn = Turn::calls([
        call("1", "transfer_to_c", json!({})),
        call("2", "note", text("x")),
        call("3", "transfer_to_b", json!({})),
    ]);
    let a = agent("A", [turn]).tool(calls.tool("note"));
    let a = a.handoff(b.build().expect("ok")).handoff(c.build().expect("ok")).build().expect("an agent");
    let result = finished(&a, "go").await;
    assert_eq!((result.output(), calls.all()), ("c", vec!["note x".to_owned()]));
    let said: Vec<_> = outputs(&result).into_iter().map(|(id, text)| format!("{id}: {text}")).collect();
    assert_eq!(said, [r#"1: {"assistant":"C"}"#, "2: note x", "3: Multiple handoffs detected, ignoring this one."]);
}

#[tokio::test]
async fn a_filter_decides_what_the_next_agent_reads() {
    let model = scripted([Turn::text("done")]);
    let b = Agent::builder("B").model(model.clone()).build().expect("an agent");
    let a = agent("A", [Turn::call("transfer_to_b", json!({}))]);
    let a = a.handoff(Handoff::to(&b).without_tools()).build().expect("an agent");
    let result = finished(&a, "go").await;
    assert_eq!(model.requests()[0].input, [toolmark_models::Item::user("go")]);
    assert_eq!(result.items().len(), 3, "what the run added is whole all the same");
}

#[tokio::test]
async fn a_handoff_may_ask_for_something_and_is_not_made_without_it() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Escalation {
        #[expect(dead_code, reason = "only its shape counts")]
        reason: String,
    }
    let calls = Calls::default();
    let heard = calls.clone();
    let b = agent("B", [Turn::text("b")]).build().expect("an agent");
    let handoff = Handoff::to(&b).name("escalate").input::<Escalation>().on_handoff(move |handed| {
        heard.say(format!("{} {}", handed.to, handed.input["reason"].as_str().unwrap_or_default()));
        async {}
    });
    let turns = [
        Turn::call("escalate", json!({"why": 1})),
        Turn::call("escalate", json!(r#"{"reason": "#)),
        Turn::call("escalate", json!({"reason": "angry"})),
    ];
    let a = agent("A", turns).handoff(handoff).build().expect("an agent");
    let result = finished(&a, "go").await;
    assert_eq!((result.output(), result.turns(), calls.all()), ("b", 4, vec!["B angry".to_owned()]));
    assert!(outputs(&result)[0].1.starts_with("Nothing was handed over: "), "{:?}", outputs(&result));
}

#[tokio::test]
async fn agents_may_hand_over_in_a_circle() {
    let b = agent("B", [Turn::call("transfer_to_a", json!({}))]).handoff(Handoff::to_named("A")).build().expect("ok");
    let a = agent("A", [Turn::call("transfer_to_b", json!({})), Turn::text("back")]).handoff(&b).build().expect("ok");
    let result = finished(&a, "go").await;
    assert_eq!((result.output(), result.agent(), result.turns()), ("back", "A", 3));
}

#[tokio::test]
async fn agents_that_cannot_be_told_apart_are_refused_before_anything_runs() {
    let twin = || agent("B", [Turn::text("b")]).build().expect("an agent");
    let a = agent("A", [Turn::text("a")]).handoff(twin()).handoff(Handoff::to(&twin()).name("other"));
    assert_eq!(code(&a.build().expect("an agent")).await.0, "agents-named-alike");
    let lost = agent("A", [Turn::text("a")]).handoff(Handoff::to_named("Nobody")).build().expect("an agent");
    assert_eq!(code(&lost).await.0, "handoff-to-nowhere");
}

#[tokio::test]
async fn names_that_collide_are_refused_before_a_model_is_asked() {
    let calls = Calls::default();
    let b = |name: &str| agent(name, [Turn::text("b")]).build().expect("an agent");
    let tool = agent("A", [Turn::text("a")]).tool(calls.tool("transfer_to_b")).handoff(b("B")).build().expect("ok");
    let alike = agent("A", [Turn::text("a")]).handoff(b("B C")).handoff(b("B-C")).build().expect("an agent");
    for agent in [tool, alike] {
        let error = Runner::new().run(&agent, "go", RunContext::new()).await.expect_err("it is refused");
        assert!(error.code().as_str().starts_with("compat-"), "{}", error.code());
    }
}

#[tokio::test]
async fn a_handoff_that_is_not_enabled_is_not_offered_and_cannot_be_called() {
    let b = agent("B", [Turn::text("b")]).build().expect("an agent");
    let model = scripted([Turn::call("transfer_to_b", json!({})), Turn::text("done: {output}")]);
    let a = Agent::builder("A").model(model.clone()).handoff(Handoff::to(&b).enabled(false)).build().expect("an agent");
    let result = finished(&a, "go").await;
    assert!(model.requests()[0].tools.is_empty());
    assert_eq!(result.output(), "done: Nothing was called: there is no tool `transfer_to_b`. No tool is offered.");
}

#[tokio::test]
async fn a_run_that_was_handed_over_is_resumed_where_it_was() {
    let calls = Calls::default();
    let b = agent("B", [Turn::calls([call("p", "pay", text("x"))]), Turn::text("b: {output}")]);
    let b = b.tool(calls.tool("pay").needs_approval(true)).build().expect("an agent");
    let a = agent("A", [Turn::call("transfer_to_b", json!({}))]).handoff(&b).build().expect("an agent");
    let mut state = interrupted(&a, "go").await;
    assert_eq!((state.agent(), state.pending()[0].agent()), ("B", "B"));
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    let outcome = resumed(&a, &state).await;
    assert_eq!(outcome.finished().expect("it has an answer").output(), "b: pay x");
}

#[tokio::test]
async fn a_handoff_waits_until_everything_beside_it_is_decided() {
    let calls = Calls::default();
    let b = agent("B", [Turn::text("b")]).build().expect("an agent");
    let turn = Turn::calls([call("1", "transfer_to_b", json!({})), call("2", "pay", text("x"))]);
    let a = agent("A", [turn]).tool(calls.tool("pay").needs_approval(true)).handoff(&b).build().expect("an agent");
    let mut state = interrupted(&a, "go").await;
    assert_eq!(state.agent(), "A");
    let pending = state.pending();
    state.approve(&pending[0]).expect("it waits");
    let outcome = resumed(&a, &state).await;
    assert_eq!(outcome.finished().expect("it has an answer").agent(), "B");
    assert_eq!(calls.all(), ["pay x"]);
}

#[test]
fn agents_and_handoffs_have_names_in_every_language() {
    let model = scripted([Turn::text("done")]);
    let builder = || Agent::builder("billing_desk").model(model.clone());
    let dutch = Languages::accept("nl-BE, en;q=0.5").expect("languages");
    let plain = builder().build().expect("an agent");
    assert_eq!((plain.display_name(), plain.shown(&dutch).name.as_str()), ("billing_desk", "Billing desk"));
    let agent = builder().display_name("Billing").display_name_in("nl", "Facturen").build().expect("an agent");
    assert_eq!((agent.display_name(), agent.shown(&dutch).name.as_str()), ("Billing", "Facturen"));
    assert_eq!(agent.shown(&Languages::default()).name.as_str(), "Billing");
    let wrong = builder().display_name_in("dutch language", "x").build().expect_err("no language");
    assert_eq!(wrong.code().as_str(), "language-tag");
    let handoff = Handoff::to(&agent);
    assert_eq!(handoff.names().in_words(), "Transfer to billing desk");
    let handoff = handoff.display_name_in("nl".parse().expect("a language"), "Overdragen aan de administratie");
    let shown = handoff.names().shown(&dutch, &LanguageTag::english());
    assert_eq!(shown.name.as_str(), "Overdragen aan de administratie");
    let tool: ToolBuilder = agent.as_tool().into();
    let tool = tool.build().expect("a tool");
    assert_eq!(tool.display_names().in_locale("nl"), Some("Facturen"));
}
