//! Answers that hold for later calls, and what they do not hold for.

use std::time::Duration;

use serde_json::json;
use toolmark_core::approval::{AskState, GrantId, Ruling, RunState, Scope};
use toolmark_core::verdict::Decision;
use toolmark_policy::Rule;
use toolmark_runtime::approve::{ClientAnswer, DecideError, DeskSettings, NoClient};

use crate::place::Place;
use crate::stage::{Came, Stage, Traveller, User, WRITES, sweep, until, workspace};

/// A standing answer of this caller about the tool, whatever the arguments.
async fn always(stage: &Stage, allows: bool) -> GrantId {
    stage.call("ann", &sweep("first"), &NoClient).await.waits();
    let ask = stage.asked().await;
    let ruling = Ruling { scope: Scope::Always, ..Ruling::once(allows, stage.given("bob")) };
    let decided = stage.decide(ask.id, ruling).await.expect("it is open");
    let came = stage.call("ann", &sweep("first"), &NoClient).await;
    assert_eq!(matches!(came, Came::Ran(_)), allows, "{came:?}");
    grant_of(&decided.state)
}

fn grant_of(state: &AskState) -> GrantId {
    let AskState::Decided(decided) = state else { panic!("{state:?}") };
    decided.grant.expect("something stays")
}

pub(crate) async fn an_answer_for_one_call_beats_a_standing_one_both_ways(place: &impl Place) {
    // A no to one call, asked before everything was allowed.
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let users = stage.asked().await;
    stage.call("ann", &sweep("first"), &NoClient).await.waits();
    let first = stage.open().await.into_iter().find(|ask| ask.id != users.id).expect("asked");
    stage.grant(first.id, Scope::Always, None).await;
    stage.reject(users.id, Some("these stay")).await;
    stage.call("ann", &sweep("other"), &NoClient).await.passed();
    let text = stage.call("ann", &sweep("users"), &NoClient).await.rejected();
    assert!(text.contains("these stay"), "{text}");
    // A yes to one call, asked before everything was forbidden.
    stage.call("eve", &sweep("users"), &NoClient).await.waits();
    let users = stage.asked().await;
    stage.call("eve", &sweep("first"), &NoClient).await.waits();
    let first = stage.open().await.into_iter().find(|ask| ask.id != users.id).expect("asked");
    let never = Ruling { scope: Scope::Always, ..Ruling::once(false, stage.given("bob")) };
    stage.decide(first.id, never).await.expect("it is open");
    stage.approve(users.id).await;
    stage.call("eve", &sweep("other"), &NoClient).await.rejected();
    let ran = stage.ran().len();
    stage.call("eve", &sweep("users"), &NoClient).await.passed();
    stage.call("eve", &sweep("users"), &NoClient).await.rejected();
    assert_eq!(stage.ran().len(), ran + 1, "the one call that was approved, once");
}

pub(crate) async fn a_no_for_one_call_holds_however_often_it_is_repeated(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let users = stage.asked().await;
    stage.call("ann", &sweep("first"), &NoClient).await.waits();
    let first = stage.open().await.into_iter().find(|ask| ask.id != users.id).expect("asked");
    stage.grant(first.id, Scope::Always, None).await;
    stage.reject(users.id, None).await;
    for _ in 0..4 {
        stage.call("ann", &sweep("users"), &NoClient).await.rejected();
    }
    // A desk that never heard of it finds it when it looks.
    let again = Stage::node(place, "n2", DeskSettings::default()).await.following();
    until(async || matches!(again.call("ann", &sweep("users"), &NoClient).await, Came::Refused { .. }).then_some(()))
        .await;
    assert!(stage.ran().is_empty());
}

pub(crate) async fn a_standing_yes_lets_later_calls_through_on_every_desk(place: &impl Place) {
    let patient = DeskSettings { wait: Duration::from_secs(600), ..DeskSettings::default() };
    let one = Stage::with(place, patient.clone()).await.following();
    let two = Stage::node(place, "n2", patient).await.following();
    // Asked on one, answered on the other, which is what a person at another node does.
    let call = one.calling("ann", sweep("users"), NoClient);
    let ask = one.asked_by(1).await;
    let grant = grant_of(&two.grant(ask.id, Scope::Always, None).await.state);
    call.await.expect("no panic").passed();
    for stage in [&one, &two] {
        for table in ["users", "orders", "users"] {
            let came = tokio::time::timeout(Duration::from_secs(60), stage.call("ann", &sweep(table), &NoClient)).await;
            assert_eq!(came.expect("nobody is asked").passed().grant, Some(grant), "{table}");
        }
    }
    assert!(one.open().await.is_empty(), "nobody is asked again");
}

pub(crate) async fn a_standing_yes_holds_so_often_and_no_more(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("t0"), &NoClient).await.waits();
    let ask = stage.asked().await;
    stage.grant(ask.id, Scope::Always, Some(3)).await;
    stage.call("ann", &sweep("t0"), &NoClient).await.passed();
    // Two are left, whoever takes them.
    let other = Stage::node(place, "n2", DeskSettings::default()).await;
    let calls: Vec<_> = (1..6)
        .map(|number| {
            let stage = if number % 2 == 0 { &stage } else { &other };
            stage.calling("ann", sweep(&format!("t{number}")), NoClient)
        })
        .collect();
    let mut ran = 0;
    for call in calls {
        ran += usize::from(matches!(call.await.expect("no panic"), Came::Ran(_)));
    }
    assert_eq!((ran, stage.ran().len() + other.ran().len()), (2, 3));
    // One use is the call that waits, and nothing stays.
    stage.call("eve", &sweep("t0"), &NoClient).await.waits();
    let ask = stage.open().await.into_iter().find(|ask| ask.principal == "eve").expect("asked");
    let decided = stage.grant(ask.id, Scope::Always, Some(1)).await;
    let AskState::Decided(decided) = &decided.state else { panic!("{decided:?}") };
    assert_eq!(decided.grant, None, "no grant is named that nobody can look up");
    stage.call("eve", &sweep("t0"), &NoClient).await.passed();
    stage.call("eve", &sweep("t1"), &NoClient).await.waits();
}

pub(crate) async fn one_call_approved_for_several_uses_is_for_those_arguments_only(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let ask = stage.asked().await;
    stage.grant(ask.id, Scope::Once, Some(2)).await;
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("orders"), &NoClient).await.waits();
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 2);
}

pub(crate) async fn a_revoked_yes_holds_no_more_and_what_waits_under_it_does_not_run(place: &impl Place) {
    let stage = Stage::new(place).await;
    let grant = always(&stage, true).await;
    stage.call("ann", &sweep("orders"), &NoClient).await.passed();
    stage.desk.revoke(grant, &stage.given("carl")).await.expect("it was there");
    stage.call("ann", &sweep("orders"), &NoClient).await.waits();
    let again = stage.desk.revoke(grant, &stage.given("carl")).await;
    assert_eq!(again, Err(DecideError::Unknown));
    let kept = stage.store.grants(true).await.expect("grants").into_iter().find(|kept| kept.id == grant);
    assert_eq!(kept.and_then(|grant| grant.revoked).map(|by| by.by).as_deref(), Some("carl"), "it is remembered");
    // Approved for good and not yet repeated, when it is taken back.
    let (run, ask) = stage.call("eve", &sweep("users"), &Traveller::default()).await.handed();
    let grant = grant_of(&stage.grant(ask, Scope::Always, None).await.state);
    stage.desk.revoke(grant, &stage.given("carl")).await.expect("it was there");
    stage.run_stands(ask, RunState::Withdrawn).await;
    let yes = Some(ClientAnswer::Yes(Scope::Once));
    stage.call("eve", &sweep("users"), &Traveller::back(run, yes)).await.refused("approval-spent");
    stage.call("eve", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran(), [sweep("first").to_string(), sweep("orders").to_string()]);
}

pub(crate) async fn a_standing_yes_says_nothing_about_another_tool_caller_or_policy(place: &impl Place) {
    let stage = Stage::new(place).await;
    always(&stage, true).await;
    stage.call("eve", &sweep("users"), &NoClient).await.waits();
    stage.of_tool("db.erase_query").call("ann", &sweep("users"), &NoClient).await.waits();
    let rule = Rule::builder(Decision::Deny).id("later").tool("db.erase_query").build().expect("a rule");
    stage.reloaded(workspace(WRITES, vec![rule])).call("ann", &sweep("users"), &NoClient).await.waits();
    let other = "Execute an INSERT, UPDATE, or DELETE query on the SQLite database.";
    stage.reloaded(workspace(other, Vec::new())).call("ann", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 1);
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
}

pub(crate) async fn a_standing_yes_for_a_session_ends_with_it(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (mut user, form) = User::new();
    let beside = stage.clone();
    let call = tokio::spawn(async move { beside.call_in("ann", Some("s1"), &sweep("users"), &form).await });
    let (_, offered) = user.sees().await;
    assert!(offered.contains(&Scope::Session), "{offered:?}");
    user.answers(ClientAnswer::Yes(Scope::Session));
    call.await.expect("no panic").passed();
    stage.call_in("ann", Some("s1"), &sweep("orders"), &NoClient).await.passed();
    stage.call_in("ann", Some("s2"), &sweep("notes"), &NoClient).await.waits();
    stage.call_in("eve", Some("s1"), &sweep("notes"), &NoClient).await.waits();
    stage.call("ann", &sweep("things"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 2);
}

pub(crate) async fn a_standing_yes_for_an_effect_covers_no_more_than_that(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let ask = stage.asked().await;
    stage.grant(ask.id, Scope::Effect, None).await;
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("orders"), &NoClient).await.passed();
    let update = json!({"query": "UPDATE users SET name = ''"});
    stage.call("ann", &update, &NoClient).await.waits();
    let both = json!({"query": "DELETE FROM users; UPDATE users SET name = ''"});
    stage.call("ann", &both, &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 2);
}
