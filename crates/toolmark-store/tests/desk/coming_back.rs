//! Callers that were sent away with a question, and nodes that come and go.

use std::time::Duration;

use toolmark_core::approval::{RunId, RunState, Scope};
use toolmark_core::verdict::Decision;
use toolmark_policy::Rule;
use toolmark_runtime::approve::{ClientAnswer, DeskSettings, NoClient};

use crate::place::Place;
use crate::stage::{HOUR, SECOND, Stage, Traveller, WRITES, moved, sweep, until, workspace};

const YES: Option<ClientAnswer> = Some(ClientAnswer::Yes(Scope::Once));

pub(crate) async fn a_call_that_was_handed_over_runs_once_with_the_answer_it_brings(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    assert!(stage.ran().is_empty());
    stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.passed();
    stage.run_stands(ask, RunState::Done).await;
    for answer in [YES, None, Some(ClientAnswer::Dismissed), Some(ClientAnswer::No(None))] {
        let text = stage.call("ann", &sweep("users"), &Traveller::back(run, answer)).await;
        text.refused("approval-spent");
    }
    assert_eq!(stage.ran().len(), 1, "a state that is played again runs nothing");
}

pub(crate) async fn a_no_that_comes_back_decides_and_a_repetition_is_told(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (run, _) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    let no = Some(ClientAnswer::No(Some("not that one".into())));
    let text = stage.call("ann", &sweep("users"), &Traveller::back(run, no)).await.rejected();
    assert!(text.contains("ann said no: not that one"), "{text}");
    let text = stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.rejected();
    assert!(text.contains("not that one"), "an answer cannot be taken back: {text}");
    assert!(stage.ran().is_empty());
}

pub(crate) async fn a_call_that_is_not_the_one_that_was_shown_does_not_run(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    let back = Traveller::back(run, YES);
    let one_more = || Rule::builder(Decision::Deny).id("later").tool("db.erase_query").build().expect("a rule");
    let other_policy = stage.reloaded(workspace(WRITES, vec![one_more()]));
    let other_mark = stage.reloaded(workspace("Execute any query whatsoever on the SQLite database", Vec::new()));
    stage.call("ann", &sweep("orders"), &back).await.refused("approval-changed");
    stage.call("eve", &sweep("users"), &back).await.refused("approval-changed");
    stage.of_tool("db.erase_query").call("ann", &sweep("users"), &back).await.refused("approval-changed");
    other_policy.call("ann", &sweep("users"), &back).await.refused("approval-changed");
    other_mark.call("ann", &sweep("users"), &back).await.refused("approval-changed");
    let nobodys = Traveller::back(RunId::new(7), YES);
    stage.call("ann", &sweep("users"), &nobodys).await.refused("approval-unknown");
    assert!(stage.ran().is_empty());
    assert_eq!(stage.asked().await.id, ask, "what cannot be used decides nothing");
    stage.approve(ask).await;
    stage.call("ann", &sweep("orders"), &back).await.refused("approval-changed");
    other_mark.call("ann", &sweep("users"), &back).await.refused("approval-changed");
    stage.call("ann", &sweep("users"), &back).await.passed();
    assert_eq!(stage.ran(), [sweep("users").to_string()]);
}

pub(crate) async fn each_round_of_a_run_begins_once(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.wants_more(true);
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    let pass = stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.passed();
    assert_eq!(pass.run, Some((run, 0)));
    let pass = stage.call("ann", &sweep("users"), &Traveller::going_on(run, 0)).await.passed();
    assert_eq!(pass.run, Some((run, 1)), "approved as before");
    assert_eq!(pass.by.as_deref(), Some("ann"));
    stage.call("ann", &sweep("users"), &Traveller::going_on(run, 0)).await.refused("approval-spent");
    stage.call("ann", &sweep("orders"), &Traveller::going_on(run, 1)).await.refused("approval-changed");
    stage.call("eve", &sweep("users"), &Traveller::going_on(run, 1)).await.refused("approval-changed");
    stage.wants_more(false);
    stage.call("ann", &sweep("users"), &Traveller::going_on(run, 1)).await.passed();
    stage.run_stands(ask, RunState::Done).await;
    for round in 0..4 {
        stage.call("ann", &sweep("users"), &Traveller::going_on(run, round)).await.refused("approval-spent");
    }
    assert_eq!(stage.ran().len(), 3);
}

pub(crate) async fn what_others_decided_meanwhile_counts_when_the_call_comes_back(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    stage.approve(ask).await;
    stage.call("ann", &sweep("users"), &Traveller::back(run, None)).await.passed();
    let (run, ask) = stage.call("ann", &sweep("orders"), &Traveller::default()).await.handed();
    stage.reject(ask, Some("no")).await;
    let text = stage.call("ann", &sweep("orders"), &Traveller::back(run, YES)).await.rejected();
    assert!(text.contains("bob said no"), "{text}");
    assert_eq!(stage.ran(), [sweep("users").to_string()]);
    // Without an answer it waits, and from then on the plain call is the one that waits.
    let (run, ask) = stage.call("ann", &sweep("notes"), &Traveller::default()).await.handed();
    stage.call("ann", &sweep("notes"), &Traveller::back(run, None)).await.waits();
    stage.approve(ask).await;
    stage.call("ann", &sweep("notes"), &Traveller::default()).await.passed();
    stage.call("ann", &sweep("notes"), &Traveller::back(run, YES)).await.refused("approval-spent");
    assert_eq!(stage.ran().len(), 2);
}

pub(crate) async fn whoever_sits_in_front_may_take_back_what_others_approved(place: &impl Place) {
    let stage = Stage::new(place).await;
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    stage.approve(ask).await;
    let no = Some(ClientAnswer::No(None));
    stage.call("ann", &sweep("users"), &Traveller::back(run, no)).await.rejected();
    stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.refused("approval-spent");
    assert!(stage.ran().is_empty());
}

pub(crate) async fn an_answer_comes_after_a_restart(place: &impl Place) {
    let stage = Stage::with(place, DeskSettings { wait: Duration::from_secs(600), ..DeskSettings::default() }).await;
    let (run, held) = stage.call("ann", &sweep("held"), &Traveller::default()).await.handed();
    // One that waits when its process ends: the caller goes with it.
    let waiting = stage.calling("ann", sweep("waiting"), NoClient);
    let asked = loop {
        let open = stage.open().await;
        if let Some(ask) = open.into_iter().find(|ask| ask.id != held) {
            break ask.id;
        }
        tokio::task::yield_now().await;
    };
    let again = Stage::node(place, "n1", DeskSettings::default()).await;
    waiting.abort();
    drop(stage);
    assert_eq!(again.open().await.len(), 2, "questions outlive the process");
    again.approve(asked).await;
    again.call("ann", &sweep("waiting"), &NoClient).await.passed();
    again.call("ann", &sweep("held"), &Traveller::back(run, YES)).await.passed();
    again.call("ann", &sweep("waiting"), &NoClient).await.waits();
    again.call("ann", &sweep("held"), &Traveller::back(run, YES)).await.refused("approval-spent");
    assert_eq!(again.ran().len(), 2);
    // Approved before, and called after, a restart.
    again.call("ann", &sweep("third"), &NoClient).await.waits();
    let third = again.open().await.into_iter().next().expect("the newest");
    again.approve(third.id).await;
    let last = Stage::node(place, "n1", DeskSettings::default()).await;
    last.call("ann", &sweep("third"), &NoClient).await.passed();
    last.call("ann", &sweep("third"), &NoClient).await.waits();
    assert_eq!(last.ran().len(), 1);
}

pub(crate) async fn a_run_under_way_is_not_repeated_after_a_restart(place: &impl Place) {
    let stage = Stage::new(place).await;
    stage.wants_more(true);
    let (run, ask) = stage.call("ann", &sweep("users"), &Traveller::default()).await.handed();
    stage.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.passed();
    let again = Stage::node(place, "n1", DeskSettings::default()).await;
    again.run_stands(ask, RunState::Lost).await;
    again.call("ann", &sweep("users"), &Traveller::back(run, YES)).await.refused("approval-spent");
    again.call("ann", &sweep("users"), &Traveller::going_on(run, 0)).await.refused("approval-spent");
    again.call("ann", &sweep("users"), &NoClient).await.waits();
    assert!(again.ran().is_empty());
}

pub(crate) async fn two_desks_share_questions_answers_and_runs(place: &impl Place) {
    let patient = DeskSettings { wait: Duration::from_secs(600), ..DeskSettings::default() };
    let one = Stage::with(place, patient.clone()).await.following();
    let two = Stage::node(place, "n2", patient).await.following();
    let (first, second) = (one.calling("ann", sweep("users"), NoClient), two.calling("ann", sweep("users"), NoClient));
    let ask = one.asked_by(2).await;
    assert_eq!(two.open().await.len(), 1, "one question on both");
    two.approve(ask.id).await;
    first.await.expect("no panic").passed();
    second.await.expect("no panic").passed();
    assert_eq!((one.ran().len(), two.ran().len()), (1, 1), "each call once, where it was made");
    // A run that one handed out is begun by whichever is first, and by one of them.
    let (run, _) = one.call("ann", &sweep("orders"), &Traveller::default()).await.handed();
    let (back, orders) = (Traveller::back(run, YES), sweep("orders"));
    let (here, there) = tokio::join!(one.call("ann", &orders, &back), two.call("ann", &orders, &back));
    let ran = [here, there].into_iter().filter(|came| matches!(came, crate::stage::Came::Ran(_))).count();
    assert_eq!((ran, one.ran().len() + two.ran().len()), (1, 3));
}

pub(crate) async fn runs_of_nodes_that_went_away_are_taken_up_and_those_of_others_are_not(place: &impl Place) {
    let stage = Stage::new(place).await.following();
    let claim = stage.store.claim_node("n2").await.expect("a name");
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    let ask = stage.asked().await;
    let run = async |node: &str| stage.store.join_ask(&ask, node).await.expect("joined").run.expect("a run").id;
    // The one that was parked goes to whoever comes first; the others are new.
    let (first, held) = (run("gone").await, run(claim.node()).await);
    moved(place, 60 * SECOND);
    let state = async |id| stage.store.run(id).await.expect("read").expect("there").0.state;
    until(async || (state(first).await == RunState::Parked).then_some(())).await;
    // Whatever the clock says, it is looked for again.
    moved(place, -48 * HOUR);
    assert_eq!(run("gone").await, first);
    until(async || (state(first).await == RunState::Parked).then_some(())).await;
    assert_eq!(state(held).await, RunState::Waiting, "its process is there");
    drop(claim);
    moved(place, 0);
    until(async || (state(held).await == RunState::Parked).then_some(())).await;
    stage.approve(ask.id).await;
    for _ in 0..2 {
        stage.call("ann", &sweep("users"), &NoClient).await.passed();
    }
    stage.call("ann", &sweep("users"), &NoClient).await.waits();
    assert_eq!(stage.ran().len(), 2, "each that was asked for, once");
}
