//! Questions, runs and grants.

use serde_json::json;
use toolmark_core::approval::{
    ArgumentPattern, Ask, AskId, AskKey, AskState, Given, GrantId, Outcome, Ruling, RunId, RunState, Scope, Way,
};
use toolmark_core::digest::{ArgumentDigest, Mark};
use toolmark_store::approvals::AskFilter;
use toolmark_store::{Change, Micros, Store};

use crate::place::Place;

const MARK: &str = "tm1:00000000000000000000000000000000000000000000000000000000000000aa";

fn ask(number: u128, arguments: &str) -> Ask {
    let mark: Mark = MARK.parse().expect("a mark");
    let digest = ArgumentDigest::of(&toolmark_core::json::read(arguments).expect("JSON"));
    Ask {
        id: AskId::new(number),
        key: AskKey::of("ann", &mark, &digest, None, "p1"),
        principal: "ann".into(),
        session: Some("s1".into()),
        called: "delete".into(),
        canonical: "shop.delete".into(),
        mark,
        behavior: "MUTATES|DELETE|RECORD".into(),
        arguments: arguments.into(),
        digest,
        effects: vec!["DELETE \u{202e}".into()],
        bound: None,
        reasons: json!([{"message": "it deletes"}]),
        changes: Vec::new(),
        task: Some("tidy".into()),
        policy: "p1".into(),
        created: Micros::new(10),
        expires: Micros::new(1000),
        state: AskState::Pending,
    }
}

fn given(at: i64) -> Given {
    Given { by: "bob".into(), way: Way::Cli, at: Micros::new(at), from: Some("a terminal".into()) }
}

async fn decide(store: &Store, ask: &Ask, ruling: &Ruling) -> Outcome {
    let (decided, grant) = ask.settle(ruling, GrantId::new(ask.id.get() + 500)).expect("settled");
    store.decide_ask(ask.id, &decided, grant.as_ref(), ruling.given.at.after(FIFTY)).await.expect("asked")
}

const FIFTY: std::time::Duration = std::time::Duration::from_micros(50);

async fn approve(store: &Store, ask: &Ask, at: i64) {
    let made = decide(store, ask, &Ruling::once(true, given(at))).await;
    assert!(matches!(made, Outcome::Made(_)), "{made:?}");
}

async fn joined(store: &Store, ask: &Ask) -> RunId {
    store.join_ask(ask, "n1").await.expect("joined").run.expect("a run").id
}

pub(crate) async fn a_question_comes_back_as_it_was_asked(place: &impl Place) {
    let store = place.open().await;
    let ask = ask(1, r#"{"n":1}"#);
    let first = store.join_ask(&ask, "n1").await.expect("joined");
    assert!(first.fresh);
    let run = first.run.expect("a run");
    assert_eq!((run.state, run.round, run.node.as_str()), (RunState::Waiting, 0, "n1"));
    let again = place.open().await;
    assert_eq!(again.ask(ask.id).await.expect("read"), Some(ask.clone()));
    assert_eq!(again.run(run.id).await.expect("read"), Some((run, ask)));
    assert_eq!(again.ask(AskId::new(9)).await.expect("read"), None);
    assert_eq!(again.run(RunId::new(9)).await.expect("read"), None);
}

pub(crate) async fn the_same_call_joins_the_question_that_stands(place: &impl Place) {
    let store = place.open().await;
    let first = ask(1, r#"{"n":1,"m":2}"#);
    joined(&store, &first).await;
    let same = Ask { id: AskId::new(2), ..ask(2, r#"{ "m": 2, "n": 1 }"#) };
    let second = store.join_ask(&same, "n2").await.expect("joined");
    assert!(!second.fresh);
    assert_eq!(second.ask.id, first.id, "one prompt for both");
    let other = store.join_ask(&ask(3, r#"{"n":2}"#), "n1").await.expect("joined");
    assert!(other.fresh);
    assert_eq!(store.runs_of(first.id).await.expect("runs").len(), 2);
    place.clock().set(20);
    assert_eq!(store.pending_asks().await.expect("counted"), 2);
}

pub(crate) async fn whoever_decides_first_decides(place: &impl Place) {
    let (store, other) = (place.open().await, place.open().await);
    let ask = ask(1, "{}");
    joined(&store, &ask).await;
    let yes = Ruling::once(true, given(20));
    let no = Ruling { message: Some("not today".into()), ..Ruling::once(false, given(20)) };
    let (first, second) = tokio::join!(decide(&store, &ask, &yes), decide(&other, &ask, &no));
    let made = [&first, &second].into_iter().filter(|decision| matches!(decision, Outcome::Made(_))).count();
    assert_eq!(made, 1, "{first:?} {second:?}");
    let late = [&first, &second].into_iter().filter(|decision| matches!(decision, Outcome::TooLate(_))).count();
    assert_eq!(late, 1);
    assert_eq!(decide(&store, &Ask { id: AskId::new(77), ..ask }, &yes).await, Outcome::Unknown);
}

pub(crate) async fn an_approved_run_begins_once_however_many_try(place: &impl Place) {
    let store = place.open().await;
    let ask = ask(1, "{}");
    let run = joined(&store, &ask).await;
    place.clock().set(30);
    assert!(!store.start_run(run, "n1").await.expect("asked"), "nobody has answered");
    approve(&store, &ask, 20).await;
    let nodes = ["n1", "n2", "n3", "n4", "n5", "n6"];
    let tries = nodes.map(|node| {
        let store = store.clone();
        tokio::spawn(async move { store.start_run(run, node).await.expect("asked") })
    });
    let mut began = 0;
    for one in tries {
        began += u32::from(one.await.expect("joined"));
    }
    assert_eq!(began, 1);
    assert!(store.move_run(run, &[RunState::Running], RunState::Done).await.expect("moved"));
    assert!(!store.start_run(run, "n1").await.expect("asked"));
}

pub(crate) async fn a_question_whose_time_is_over_takes_no_answer(place: &impl Place) {
    let store = place.open().await;
    let ask = ask(1, "{}");
    let run = joined(&store, &ask).await;
    assert!(store.move_run(run, &[RunState::Waiting], RunState::Parked).await.expect("moved"));
    let late = decide(&store, &ask, &Ruling::once(true, given(1000))).await;
    assert!(matches!(late, Outcome::TooLate(_)), "{late:?}");
    place.clock().set(999);
    assert_eq!(store.expire_asks().await.expect("expired"), 0);
    place.clock().set(1000);
    assert_eq!(store.expire_asks().await.expect("expired"), 1);
    let (run, ask) = store.run(run).await.expect("read").expect("there");
    assert_eq!((run.state, ask.state), (RunState::Withdrawn, AskState::Expired));
}

pub(crate) async fn a_yes_in_the_last_minute_is_still_of_use(place: &impl Place) {
    let store = place.open().await;
    let ask = ask(1, "{}");
    let run = joined(&store, &ask).await;
    approve(&store, &ask, 999).await;
    place.clock().set(1040);
    assert_eq!(store.expire_asks().await.expect("expired"), 0);
    assert!(store.start_run(run, "n1").await.expect("began"));
}

pub(crate) async fn a_no_holds_for_the_same_call_until_its_time_is_over(place: &impl Place) {
    let store = place.open().await;
    let first = ask(1, "{}");
    let run = joined(&store, &first).await;
    let no = Ruling { message: Some("not today".into()), ..Ruling::once(false, given(20)) };
    assert!(matches!(decide(&store, &first, &no).await, Outcome::Made(_)));
    place.clock().set(21);
    assert!(!store.start_run(run, "n1").await.expect("asked"));
    let again = store.join_ask(&Ask { created: Micros::new(30), ..ask(2, "{}") }, "n1").await.expect("joined");
    assert_eq!((again.run, again.ask.id), (None, first.id), "nobody is asked twice");
    let later = Ask { created: Micros::new(1001), expires: Micros::new(2000), ..ask(3, "{}") };
    assert!(store.join_ask(&later, "n1").await.expect("joined").fresh);
}

pub(crate) async fn a_call_that_is_repeated_takes_up_the_run_that_was_parked(place: &impl Place) {
    let store = place.open().await;
    let first = ask(1, "{}");
    let run = joined(&store, &first).await;
    assert!(store.move_run(run, &[RunState::Waiting], RunState::Parked).await.expect("moved"));
    let before = store.join_ask(&ask(2, "{}"), "n2").await.expect("joined");
    assert_eq!(before.run.as_ref().map(|run| run.id), Some(run), "still the same question and the same run");
    assert!(store.move_run(run, &[RunState::Waiting], RunState::Parked).await.expect("moved"));
    approve(&store, &first, 20).await;
    place.clock().set(25);
    let after = store.join_ask(&ask(3, "{}"), "n2").await.expect("joined");
    let taken = after.run.expect("the run");
    assert_eq!((taken.id, taken.node.as_str(), after.ask.state.as_str()), (run, "n2", "approved"));
    assert!(store.start_run(run, "n2").await.expect("began"));
    let fresh = store.join_ask(&Ask { created: Micros::new(30), ..ask(4, "{}") }, "n2").await.expect("joined");
    assert!(fresh.fresh, "one approval, one run: the next call is a question of its own");
}

pub(crate) async fn a_held_run_is_taken_up_by_its_state_only(place: &impl Place) {
    let store = place.open().await;
    let first = ask(1, "{}");
    let run = joined(&store, &first).await;
    assert!(store.move_run(run, &[RunState::Waiting], RunState::Held).await.expect("moved"));
    let other = store.join_ask(&ask(2, "{}"), "n1").await.expect("joined").run.expect("a run");
    assert_ne!(other.id, run);
    approve(&store, &first, 20).await;
    place.clock().set(25);
    assert!(store.start_run(run, "n9").await.expect("began"));
    assert!(store.start_run(other.id, "n1").await.expect("began"), "both were waiting when somebody said yes");
}

pub(crate) async fn what_a_node_leaves_behind_is_parked_or_lost(place: &impl Place) {
    let store = place.open().await;
    let (waits, runs) = (ask(1, r#"{"n":1}"#), ask(2, r#"{"n":2}"#));
    let (waiting, running) = (joined(&store, &waits).await, joined(&store, &runs).await);
    let elsewhere = store.join_ask(&ask(3, r#"{"n":3}"#), "n2").await.expect("joined").run.expect("a run").id;
    approve(&store, &runs, 20).await;
    place.clock().set(25);
    assert!(store.start_run(running, "n1").await.expect("began"));
    assert_eq!(store.leave_behind("n1").await.expect("left"), (1, 1));
    let state = async |run| store.run(run).await.expect("read").expect("there").0.state;
    assert_eq!(state(waiting).await, RunState::Parked);
    assert_eq!(state(running).await, RunState::Lost);
    assert_eq!(state(elsewhere).await, RunState::Waiting);
    assert!(!store.start_run(running, "n1").await.expect("asked"), "it may have had an effect");
}

pub(crate) async fn each_round_of_a_run_begins_once(place: &impl Place) {
    let store = place.open().await;
    let ask = ask(1, "{}");
    let run = joined(&store, &ask).await;
    assert!(!store.continue_run(run, 0, "n1").await.expect("asked"), "it does not run");
    approve(&store, &ask, 20).await;
    place.clock().set(25);
    assert!(store.start_run(run, "n1").await.expect("began"));
    assert!(store.continue_run(run, 0, "n1").await.expect("went on"));
    assert!(!store.continue_run(run, 0, "n1").await.expect("asked"), "a state that is sent twice");
    assert!(store.continue_run(run, 1, "n2").await.expect("went on"));
}

pub(crate) async fn a_grant_is_given_with_its_decision_and_used_so_often_and_no_more(place: &impl Place) {
    let store = place.open().await;
    let ask = ask(1, r#"{"n":1,"m":2}"#);
    joined(&store, &ask).await;
    let pattern = ArgumentPattern::freeing(&ask.arguments(), &["n".into()]);
    let ruling = Ruling { scope: Scope::Pattern, pattern, uses: Some(3), ..Ruling::once(true, given(20)) };
    assert!(matches!(decide(&store, &ask, &ruling).await, Outcome::Made(_)));
    let grants = place.open().await.grants(false).await.expect("grants");
    assert_eq!(grants.len(), 1);
    let (_, expected) = ask.settle(&ruling, GrantId::new(ask.id.get() + 500)).expect("settled");
    assert_eq!(Some(&grants[0]), expected.as_ref());
    for left in [true, true, false] {
        assert_eq!(store.use_grant(grants[0].id).await.expect("used"), left);
    }
    assert_eq!(store.grants(false).await.expect("grants")[0].used, 2);
}

pub(crate) async fn a_revoked_grant_stays_revoked(place: &impl Place) {
    let store = place.open().await;
    let ask = ask(1, "{}");
    joined(&store, &ask).await;
    let ruling = Ruling { scope: Scope::Always, ..Ruling::once(true, given(20)) };
    assert!(matches!(decide(&store, &ask, &ruling).await, Outcome::Made(_)));
    let id = store.grants(false).await.expect("grants")[0].id;
    assert!(store.revoke_grant(id, &given(30)).await.expect("revoked"));
    assert!(!store.revoke_grant(id, &given(31)).await.expect("asked"));
    assert!(!store.use_grant(id).await.expect("asked"));
    assert!(store.grants(false).await.expect("grants").is_empty());
    assert_eq!(store.grants(true).await.expect("grants")[0].revoked, Some(given(30)));
}

pub(crate) async fn a_revoked_grant_takes_back_the_runs_that_have_not_begun(place: &impl Place) {
    let store = place.open().await;
    let odd = |number| Ask { called: "de\u{0}lete".into(), ..ask(number, &format!(r#"{{"n":{number}}}"#)) };
    let (first, other) = (odd(1), odd(2));
    let (run, stays) = (joined(&store, &first).await, joined(&store, &other).await);
    let ruling = Ruling { scope: Scope::Always, ..Ruling::once(true, given(20)) };
    assert!(matches!(decide(&store, &first, &ruling).await, Outcome::Made(_)));
    approve(&store, &other, 20).await;
    let id = store.grants(false).await.expect("grants")[0].id;
    let before = store.approvals_version().await.expect("a version");
    assert!(store.revoke_grant(id, &given(30)).await.expect("revoked"));
    let state = async |run| store.run(run).await.expect("read").expect("there").0.state;
    assert_eq!(state(run).await, RunState::Withdrawn);
    assert_eq!(state(stays).await, RunState::Waiting);
    let after = store.approvals_version().await.expect("a version");
    assert!(after.asks > before.asks && after.grants > before.grants, "whoever waits is told");
}

pub(crate) async fn versions_grow_with_every_change(place: &impl Place) {
    let (store, other) = (place.open().await, place.open().await);
    let start = other.approvals_version().await.expect("a version");
    let ask = ask(1, "{}");
    joined(&store, &ask).await;
    let asked = other.approvals_version().await.expect("a version");
    assert!(asked.asks > start.asks && asked.grants == start.grants);
    let ruling = Ruling { scope: Scope::Always, ..Ruling::once(true, given(20)) };
    assert!(matches!(decide(&store, &ask, &ruling).await, Outcome::Made(_)));
    let decided = other.approvals_version().await.expect("a version");
    assert!(decided.asks > asked.asks && decided.grants > asked.grants);
}

pub(crate) async fn many_who_ask_the_same_at_once_ask_one_question(place: &impl Place) {
    let mut tasks = Vec::new();
    for number in 1..=8u128 {
        let store = place.open().await;
        tasks.push(tokio::spawn(async move {
            let joined = store.join_ask(&ask(number, "{}"), &format!("n{number}")).await.expect("joined");
            (joined.ask.id, joined.fresh)
        }));
    }
    let mut asked = Vec::new();
    for task in tasks {
        asked.push(task.await.expect("no panic"));
    }
    assert_eq!(asked.iter().filter(|(_, fresh)| *fresh).count(), 1, "{asked:?}");
    assert!(asked.iter().all(|(id, _)| *id == asked[0].0), "{asked:?}");
    let store = place.open().await;
    assert_eq!(store.runs_of(asked[0].0).await.expect("runs").len(), 8);
}

pub(crate) async fn questions_and_answers_are_told(place: &impl Place) {
    let (store, other) = (place.open().await, place.open().await);
    let mut changes = other.watch().await.expect("watched");
    let ask = ask(1, "{}");
    joined(&store, &ask).await;
    let about = |change: Option<Change>| matches!(change, Some(Change::Unknown)) || change == Some(Change::Ask(ask.id));
    while !about(changes.next().await) {}
    let ruling = Ruling { scope: Scope::Always, ..Ruling::once(true, given(20)) };
    assert!(matches!(decide(&store, &ask, &ruling).await, Outcome::Made(_)));
    while changes.next().await.expect("watched") != Change::Grants {}
}

pub(crate) async fn a_shared_key_is_one_for_all(place: &impl Place) {
    let (store, other) = (place.open().await, place.open().await);
    let (one, two) = tokio::join!(store.shared_key("seal"), other.shared_key("seal"));
    assert_eq!(one.as_ref().expect("a key"), two.as_ref().expect("a key"));
    assert_ne!(store.shared_key("webhook").await.expect("a key"), one.expect("a key"));
}

pub(crate) async fn old_questions_go_and_those_under_way_stay(place: &impl Place) {
    let store = place.open().await;
    let (old, runs) = (ask(1, r#"{"n":1}"#), ask(2, r#"{"n":2}"#));
    let (gone, running) = (joined(&store, &old).await, joined(&store, &runs).await);
    approve(&store, &old, 20).await;
    approve(&store, &runs, 20).await;
    place.clock().set(25);
    assert!(store.start_run(gone, "n1").await.expect("began") && store.start_run(running, "n1").await.expect("began"));
    assert!(store.move_run(gone, &[RunState::Running], RunState::Done).await.expect("done"));
    assert_eq!(store.trim_asks(Micros::new(5000), 100).await.expect("trimmed"), 1);
    assert_eq!(store.run(gone).await.expect("read"), None);
    assert!(store.run(running).await.expect("read").is_some());
}

pub(crate) async fn questions_are_listed_newest_first_in_pages(place: &impl Place) {
    let store = place.open().await;
    for number in 1..=5 {
        joined(&store, &ask(number, &format!(r#"{{"n":{number}}}"#))).await;
    }
    approve(&store, &ask(3, r#"{"n":3}"#), 20).await;
    let ids = |asks: Vec<Ask>| asks.iter().map(|ask| ask.id.get()).collect::<Vec<_>>();
    let pending = AskFilter { state: Some("pending".into()), ..AskFilter::default() };
    assert_eq!(ids(store.asks(&pending, None, 3).await.expect("asks")), [5, 4, 2]);
    assert_eq!(ids(store.asks(&pending, Some(AskId::new(2)), 3).await.expect("asks")), [1]);
    let of = AskFilter { principal: Some("eve".into()), ..AskFilter::default() };
    assert!(store.asks(&of, None, 3).await.expect("asks").is_empty());
    let tool = AskFilter { mark: MARK.parse().ok(), ..AskFilter::default() };
    assert_eq!(store.asks(&tool, None, 100).await.expect("asks").len(), 5);
}

pub(crate) async fn an_answer_is_taken_by_one_call_and_a_no_by_all(place: &impl Place) {
    let store = place.open().await;
    let first = ask(1, r#"{"n":1}"#);
    place.clock().set(20);
    assert_eq!(store.take_answer(&first.key, "n1").await.expect("read"), None, "nobody asked");
    let run = joined(&store, &first).await;
    store.move_run(run, &[RunState::Waiting], RunState::Parked).await.expect("moved");
    assert_eq!(store.take_answer(&first.key, "n1").await.expect("read"), None, "nobody answered");
    approve(&store, &first, 20).await;
    let (one, two) = tokio::join!(store.take_answer(&first.key, "n1"), store.take_answer(&first.key, "n2"));
    let taken: Vec<_> = [one, two].into_iter().filter_map(|taken| taken.expect("read")).collect();
    let [taken] = taken.as_slice() else { panic!("{taken:?}") };
    let state = taken.run.as_ref().map(|taken| (taken.id, taken.state));
    assert_eq!((state, taken.fresh), (Some((run, RunState::Waiting)), false));
    let no = ask(2, r#"{"n":2}"#);
    joined(&store, &no).await;
    decide(&store, &no, &Ruling::once(false, given(20))).await;
    for node in ["n1", "n2", "n1"] {
        let taken = store.take_answer(&no.key, node).await.expect("read").expect("it stands");
        assert_eq!((taken.ask.id, taken.run, taken.fresh), (no.id, None, false));
    }
    place.clock().set(1000);
    assert_eq!(store.take_answer(&no.key, "n1").await.expect("read"), None, "its time is over");
}
