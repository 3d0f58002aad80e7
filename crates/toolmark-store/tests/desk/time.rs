//! Time that runs out, and clocks that jump.

use std::time::Duration;

use toolmark_core::approval::{AskState, Ruling, Scope};
use toolmark_core::explain::Explain as _;
use toolmark_core::verdict::Decision;
use toolmark_policy::{Patience, Rule};
use toolmark_runtime::approve::{ClientAnswer, DeskSettings, NoClient};

use crate::place::Place;
use crate::stage::{HOUR, SECOND, START, Stage, Traveller, User, WRITES, moved, sweep, until, workspace};

const YES: Option<ClientAnswer> = Some(ClientAnswer::Yes(Scope::Once));

pub(crate) async fn a_question_that_nobody_answers_in_time_ends_with_a_no(place: &impl Place) {
    let stage = Stage::new(place).await.following();
    let (mut user, form) = User::new();
    let call = stage.calling("ann", sweep("users"), form);
    user.sees().await;
    let ask = stage.asked().await;
    let (run, held) = stage.call("ann", &sweep("orders"), &Traveller::default()).await.handed();
    moved(place, 599 * SECOND);
    stage.call("ann", &sweep("notes"), &NoClient).await.waits();
    moved(place, 600 * SECOND);
    let text = call.await.expect("no panic").rejected();
    assert!(text.contains("Nobody answered in time"), "{text}");
    assert!(user.lost_the_form());
    let late = stage.decide(ask.id, Ruling::once(true, stage.given("bob"))).await.expect_err("its time is over");
    assert_eq!(late.code().as_str(), "approval-expired");
    until(async || stage.store.ask(held).await.ok()?.filter(|ask| ask.state == AskState::Expired)).await;
    stage.call("ann", &sweep("orders"), &Traveller::back(run, YES)).await.refused("approval-expired");
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let open: Vec<_> = stage.open().await.iter().map(|ask| ask.id).collect();
    assert!(open.len() == 2 && !open.contains(&ask.id), "asked anew: {open:?}");
    assert!(stage.ran().is_empty());
}

pub(crate) async fn a_question_that_is_kept_can_be_answered_after_its_time(place: &impl Place) {
    let keep = DeskSettings { keep_pending: true, keep: Duration::from_secs(86_400), ..DeskSettings::default() };
    let stage = Stage::with(place, keep).await.following();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let ask = stage.asked().await;
    moved(place, 5 * HOUR);
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    stage.approve(ask.id).await;
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let ask = stage.asked().await;
    moved(place, 30 * HOUR);
    let late = stage.decide(ask.id, Ruling::once(true, stage.given("bob"))).await.expect_err("even that has an end");
    assert_eq!(late.code().as_str(), "approval-expired");
    assert_eq!(stage.ran().len(), 1);
}

pub(crate) async fn a_rule_may_say_how_long_its_question_is_open(place: &impl Place) {
    let stage = Stage::new(place).await;
    let patience = |seconds, keeps| Patience { timeout: Some(Duration::from_secs(seconds)), keeps: Some(keeps) };
    let rule = |id: &str, patience| {
        Rule::builder(Decision::Ask).id(id).tool("db.write_query").patience(patience).build().expect("a rule")
    };
    let strict =
        stage.reloaded(workspace(WRITES, vec![rule("long", patience(60, true)), rule("short", patience(5, false))]));
    strict.call("ann", &sweep("users"), &NoClient).await;
    let ask = stage.asked().await;
    assert_eq!(ask.expires.get() - START, 5 * SECOND, "the strictest");
    let kept = stage.reloaded(workspace(WRITES, vec![rule("long", patience(60, true))]));
    kept.call("ann", &sweep("orders"), &NoClient).await;
    let ask = stage.open().await.into_iter().find(|other| other.id != ask.id).expect("asked");
    assert!(ask.expires.get() - START > HOUR, "it is kept: {}", ask.expires);
}

pub(crate) async fn a_clock_that_goes_back_loses_no_decision_and_runs_nothing_twice(place: &impl Place) {
    let stage = Stage::new(place).await.following();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let users = stage.asked().await;
    stage.call("ann", &sweep("orders"), &NoClient).await.waits();
    let orders = stage.open().await.into_iter().find(|ask| ask.id != users.id).expect("asked");
    stage.approve(users.id).await;
    moved(place, -48 * HOUR);
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    stage.approve(orders.id).await;
    stage.call("ann", &sweep("orders"), &NoClient).await.passed();
    let (run, _) = stage.call("ann", &sweep("notes"), &Traveller::default()).await.handed();
    moved(place, -96 * HOUR);
    stage.call("ann", &sweep("notes"), &Traveller::back(run, YES)).await.passed();
    stage.call("ann", &sweep("notes"), &Traveller::back(run, YES)).await.refused("approval-spent");
    stage.call("ann", &sweep("orders"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 3);
}

pub(crate) async fn a_clock_that_jumps_ahead_and_returns_loses_no_decision(place: &impl Place) {
    let stage = Stage::new(place).await.following();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let users = stage.asked().await;
    stage.approve(users.id).await;
    moved(place, 24 * HOUR);
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    assert!(stage.ran().is_empty(), "an approval that nobody waits for any more runs nothing");
    moved(place, 2 * SECOND);
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    assert_eq!(stage.ran().len(), 1);
    let (run, held) = stage.call("ann", &sweep("orders"), &Traveller::default()).await.handed();
    moved(place, 24 * HOUR);
    until(async || stage.store.ask(held).await.ok()?.filter(|ask| ask.state == AskState::Expired)).await;
    moved(place, 2 * SECOND);
    stage.call("ann", &sweep("orders"), &Traveller::back(run, YES)).await.refused("approval-expired");
    assert_eq!(stage.ran().len(), 1, "what was over stays over");
}
