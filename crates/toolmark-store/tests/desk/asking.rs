//! From a call to an answer, while the caller waits or is told to call again.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolmark_core::approval::{Ruling, RunState, Scope};
use toolmark_core::explain::Explain as _;
use toolmark_runtime::approve::{ClientAnswer, DecideError, DeskSettings, NoClient};
use toolmark_runtime::{Keeping, NotKept, Record, Recorder, Stray};

use crate::place::Place;
use crate::stage::{Stage, User, sweep, until};

fn patient() -> DeskSettings {
    DeskSettings { wait: Duration::from_secs(600), ..DeskSettings::default() }
}

pub(crate) async fn identical_calls_at_once_are_one_question_and_each_runs_once(place: &impl Place) {
    let stage = Stage::with(place, patient()).await;
    let calls: Vec<_> = (0..12).map(|_| stage.calling("ann", sweep("users"), NoClient)).collect();
    let ask = stage.asked_by(12).await;
    assert_eq!(stage.open().await.len(), 1, "one question");
    assert!(stage.ran().is_empty());
    stage.approve(ask.id).await;
    for call in calls {
        let pass = call.await.expect("no panic").passed();
        assert_eq!(pass.by.as_deref(), Some("bob"));
    }
    assert_eq!(stage.ran().len(), 12, "each of them once");
    let again = stage.calling("ann", sweep("users"), NoClient);
    let new = stage.asked_by(1).await;
    assert_ne!(new.id, ask.id, "what comes later is asked anew");
    again.abort();
}

pub(crate) async fn calls_of_two_people_are_two_questions(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    stage.call("eve", &sweep("users"), &NoClient).await.waits();
    stage.call("ann", &sweep("orders"), &NoClient).await.waits();
    let open = stage.open().await;
    assert_eq!(open.len(), 3);
    let eves = open.iter().find(|ask| ask.principal == "eve").expect("hers");
    stage.approve(eves.id).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    stage.call("eve", &sweep("users"), &NoClient).await.passed();
    assert_eq!(stage.ran().len(), 1);
}

pub(crate) async fn the_first_decision_counts_and_the_form_is_withdrawn(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (mut user, form) = User::new();
    let call = stage.calling("ann", sweep("users"), form);
    let (text, _) = user.sees().await;
    assert!(text.contains("db.write_query") && text.contains("DELETE FROM users"), "{text}");
    assert!(!user.lost_the_form());
    let ask = stage.asked().await;
    stage.approve(ask.id).await;
    let pass = call.await.expect("no panic").passed();
    assert_eq!(pass.by.as_deref(), Some("bob"));
    assert!(user.lost_the_form(), "nobody is left with a question that was answered");
    let late = stage.decide(ask.id, Ruling::once(false, stage.given("carl"))).await.expect_err("bob was first");
    assert_eq!(late, DecideError::Decided(Box::new((true, "bob".into()))));
    assert_eq!(late.code().as_str(), "approval-decided");
    assert_eq!(stage.ran().len(), 1);
}

pub(crate) async fn the_user_of_the_client_may_be_first_and_others_are_told(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (mut user, form) = User::new();
    let call = stage.calling("ann", sweep("users"), form);
    user.sees().await;
    let ask = stage.asked().await;
    user.answers(ClientAnswer::Yes(Scope::Once));
    let pass = call.await.expect("no panic").passed();
    assert_eq!(pass.by.as_deref(), Some("ann"), "the user of the client is whom the client is known as");
    let late = stage.decide(ask.id, Ruling::once(false, stage.given("bob"))).await.expect_err("ann was first");
    assert_eq!(late, DecideError::Decided(Box::new((true, "ann".into()))));
    assert!(!user.lost_the_form());
    assert_eq!(stage.ran().len(), 1);
}

pub(crate) async fn a_call_that_nobody_can_be_asked_about_here_waits_is_approved_and_runs_once_when_it_is_repeated(
    place: &impl Place,
) {
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let ask = stage.asked().await;
    stage.approve(ask.id).await;
    assert!(stage.ran().is_empty(), "it runs when it is called, not when it is approved");
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.run_stands(ask.id, RunState::Done).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran(), [sweep("users").to_string()], "once");
    assert_ne!(stage.asked().await.id, ask.id);
}

/// Has no room for anything.
struct NoRoom;

impl Recorder for NoRoom {
    fn ready(&self) -> Keeping {
        Some(Box::pin(std::future::ready(Err(NotKept::new("there is no room")))))
    }

    fn record(&self, _: &Record<'_>) {}

    fn stray(&self, _: &Stray<'_>) {}
}

pub(crate) async fn an_approved_call_whose_record_cannot_be_kept_does_not_run_and_stays_approved(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let ask = stage.asked().await;
    stage.approve(ask.id).await;
    let full = stage.recorded(Arc::new(NoRoom));
    full.call("ann", &sweep("users"), &NoClient).await.refused("audit-unwritable");
    assert!(stage.ran().is_empty());
    stage.run_stands(ask.id, RunState::Parked).await;
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 1, "once");
}

pub(crate) async fn a_call_that_is_repeated_at_once_is_still_one_run(place: &impl Place) {
    let stage = Stage::new(place).await;
    for _ in 0..10 {
        stage.call("ann", &sweep("users"), &NoClient).await.waits();
    }
    let ask = stage.asked().await;
    let runs = stage.store.runs_of(ask.id).await.expect("runs");
    assert_eq!(runs.len(), 1, "whoever asks how it stands asks for no further run: {runs:?}");
    stage.approve(ask.id).await;
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 1);
}

pub(crate) async fn a_form_that_is_closed_decides_nothing(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (mut user, form) = User::new();
    let call = stage.calling("ann", sweep("users"), form);
    user.sees().await;
    user.answers(ClientAnswer::Dismissed);
    call.await.expect("no panic").waits();
    let ask = stage.asked().await;
    stage.approve(ask.id).await;
    let (_user, form) = User::new();
    stage.call("ann", &sweep("users"), &form).await.passed();
    assert_eq!(stage.ran().len(), 1);
}

pub(crate) async fn a_caller_that_goes_away_finds_its_answer_when_it_comes_again(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (mut user, form) = User::new();
    let call = stage.calling("ann", sweep("users"), form);
    user.sees().await;
    let ask = stage.asked().await;
    call.abort();
    stage.run_stands(ask.id, RunState::Parked).await;
    assert!(user.lost_the_form());
    stage.approve(ask.id).await;
    assert!(stage.ran().is_empty(), "nobody would get the result");
    stage.call("ann", &sweep("users"), &NoClient).await.passed();
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 1);
}

pub(crate) async fn the_word_of_whoever_says_no_reaches_the_model(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (mut user, form) = User::new();
    let call = stage.calling("ann", sweep("users"), form);
    user.sees().await;
    user.answers(ClientAnswer::No(Some("archive them \u{202e}instead".into())));
    let text = call.await.expect("no panic").rejected();
    assert!(text.contains("ann said no: archive them") && !text.contains('\u{202e}'), "{text}");
    stage.call("ann", &sweep("orders"), &NoClient).await.waits();
    let ask = stage.asked().await;
    stage.reject(ask.id, Some("orders are kept for ten years")).await;
    let text = stage.call("ann", &sweep("orders"), &NoClient).await.rejected();
    assert!(text.contains("bob said no: orders are kept for ten years"), "{text}");
    assert!(stage.ran().is_empty());
}

pub(crate) async fn edited_arguments_run_in_place_of_those_that_came(place: &impl Place) {
    let stage = Stage::with(place, patient()).await;
    let call = stage.calling("ann", sweep("users"), NoClient);
    let ask = stage.asked_by(1).await;
    let edited = json!({"query": "DELETE FROM users WHERE id = 7"}).to_string();
    let ruling = Ruling { edited: Some(edited.clone()), ..Ruling::once(true, stage.given("bob")) };
    stage.decide(ask.id, ruling).await.expect("it is open");
    let pass = call.await.expect("no panic").passed();
    assert_eq!(pass.edited.as_ref(), Some(&edited));
    assert_eq!(stage.ran(), [edited]);
    stage.run_stands(ask.id, RunState::Done).await;
}

pub(crate) async fn edited_arguments_are_judged_like_any(place: &impl Place) {
    let stage = Stage::with(place, patient()).await;
    for (table, edited, code) in
        [("a", json!({"query": 7}), "arguments-invalid"), ("b", json!({}), "arguments-invalid")]
    {
        let call = stage.calling("ann", sweep(table), NoClient);
        let ask = stage.asked_by(1).await;
        let ruling = Ruling { edited: Some(edited.to_string()), ..Ruling::once(true, stage.given("bob")) };
        stage.decide(ask.id, ruling).await.expect("it is open");
        call.await.expect("no panic").refused(code);
        // It is over, and not left as one that nobody heard of again.
        stage.run_stands(ask.id, RunState::Done).await;
    }
    assert!(stage.ran().is_empty());
    let call = stage.calling("ann", sweep("c"), NoClient);
    let ask = stage.asked_by(1).await;
    for broken in ["[]", "{", r#"{"query":"a","query":"b"}"#] {
        let ruling = Ruling { edited: Some(broken.into()), ..Ruling::once(true, stage.given("bob")) };
        let error = stage.decide(ask.id, ruling).await.expect_err("no arguments");
        assert_eq!(error.code().as_str(), "approval-edited-arguments", "{broken}");
    }
    let sticky =
        Ruling { edited: Some(sweep("d").to_string()), scope: Scope::Always, ..Ruling::once(true, stage.given("bob")) };
    let error = stage.decide(ask.id, sticky).await.expect_err("for one call only");
    assert_eq!(error.code().as_str(), "approval-edited-arguments");
    assert_eq!(stage.asked().await.id, ask.id, "nothing was decided");
    call.abort();
    until(async || (stage.store.runs_of(ask.id).await.ok()?.first()?.state == RunState::Parked).then_some(())).await;
}
