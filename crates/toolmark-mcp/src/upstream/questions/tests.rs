use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::*;
use crate::upstream::pipe::Exchange;
use crate::upstream::pipe::tests::{Setup, exchange, setup, start};
use crate::upstream::{Reply, UpstreamError, UpstreamErrorKind, UpstreamLimits};

/// Somebody with several calls under way, who answers when the test says so.
struct Person {
    name: &'static str,
    told: mpsc::UnboundedSender<String>,
    answers: Arc<Mutex<Vec<oneshot::Sender<&'static str>>>>,
}

/// One of their calls.
struct Through {
    person: Arc<Person>,
    label: &'static str,
    able: AtomicBool,
}

impl CallObserver for Through {
    fn progress(&self, _params: Bytes) {}
    fn message(&self, params: Bytes) {
        let _ = self.person.told.send(format!("{} hears {}", self.label, String::from_utf8_lossy(&params)));
    }

    fn can_answer(&self, _question: &Question) -> bool {
        self.able.load(Ordering::Relaxed)
    }

    fn caller(&self) -> Option<CallerKey> {
        (!self.person.name.is_empty()).then(|| CallerKey::of(&[self.person.name.as_bytes()]))
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Answer> {
        let _ = self.person.told.send(format!("{} asked {}", self.label, question.method));
        let (sender, receiver) = oneshot::channel();
        self.person.answers.lock().expect("a lock").push(sender);
        Box::pin(async move {
            match receiver.await {
                Ok(answer) => Answer::Result(Bytes::from_static(answer.as_bytes())),
                Err(_) => std::future::pending().await,
            }
        })
    }
}

struct People {
    setup: Setup,
    told: mpsc::UnboundedSender<String>,
    hears: mpsc::UnboundedReceiver<String>,
}

type Calling = (u64, JoinHandle<Result<Reply, UpstreamError>>);

impl People {
    fn gather() -> Self {
        let (told, hears) = mpsc::unbounded_channel();
        Self { setup: setup(UpstreamLimits::default()), told, hears }
    }

    fn person(&self, name: &'static str) -> Arc<Person> {
        Arc::new(Person { name, told: self.told.clone(), answers: Arc::default() })
    }

    async fn calls(&mut self, person: &Arc<Person>, label: &'static str, able: bool) -> Calling {
        self.calls_within(None, person, label, able).await
    }

    async fn calls_within(
        &mut self,
        timeout: Option<Duration>,
        person: &Arc<Person>,
        label: &'static str,
        able: bool,
    ) -> Calling {
        let mut request = Exchange { timeout, ..exchange(&self.setup.pipe) };
        let observer = Through { person: person.clone(), label, able: AtomicBool::new(able) };
        request.observer = Some(Arc::new(observer));
        let id = request.id;
        let call = start(&self.setup.pipe, request);
        assert_eq!(self.setup.server.hears().await["id"], id);
        (id, call)
    }

    async fn asks(&mut self, id: &str) {
        let question = json!({"jsonrpc":"2.0","id":id,"method":"elicitation/create","params":{"message":"?"}});
        self.setup.server.says(&question.to_string()).await;
    }

    async fn answers_call(&mut self, id: u64) {
        self.setup.server.says(&json!({"jsonrpc":"2.0","id":id,"result":{}}).to_string()).await;
    }

    /// What the server hears when a question is put to nobody.
    async fn refusal(&mut self) -> (Value, String) {
        let answer = self.setup.server.hears().await;
        (answer["id"].clone(), answer["error"]["message"].as_str().unwrap_or_default().to_owned())
    }
}

fn answer(person: &Person, text: &'static str) {
    let sender = person.answers.lock().expect("a lock").pop().expect("somebody was asked");
    sender.send(text).expect("somebody waits");
}

const STRANGERS: &str =
    "requests of different callers are under way, and it cannot be told to whom this question belongs";

#[tokio::test]
async fn a_question_among_several_calls_of_one_caller_is_put_to_them_once() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let _calls = (people.calls(&alice, "first", true).await, people.calls(&alice, "second", true).await);
    people.asks("q").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("first asked elicitation/create"));
    answer(&alice, r#"{"action":"accept"}"#);
    let heard = people.setup.server.hears().await;
    assert_eq!(heard, json!({"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}));
    assert!(people.hears.try_recv().is_err(), "nobody was asked twice");
}

#[tokio::test]
async fn a_question_is_not_put_through_a_call_that_waits_for_an_answer_already() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let _calls = (people.calls(&alice, "first", true).await, people.calls(&alice, "second", true).await);
    people.asks("left open").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("first asked elicitation/create"));
    for id in ["one", "two"] {
        people.asks(id).await;
        assert_eq!(people.hears.recv().await.as_deref(), Some("second asked elicitation/create"));
        answer(&alice, r#"{"action":"accept"}"#);
        assert_eq!(people.setup.server.hears().await["id"], id);
    }
}

#[tokio::test]
async fn a_question_is_put_through_the_oldest_call_that_can_be_answered() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let _first = people.calls(&alice, "first", false).await;
    let _others = (people.calls(&alice, "second", true).await, people.calls(&alice, "third", true).await);
    people.asks("q").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("second asked elicitation/create"));
}

#[tokio::test]
async fn a_question_is_put_to_nobody_while_calls_of_different_callers_are_under_way() {
    let mut people = People::gather();
    let (alice, bob) = (people.person("alice"), people.person("bob"));
    let _alice = people.calls(&alice, "alice", true).await;
    let (number, call) = people.calls(&bob, "bob", false).await;
    people.asks("q").await;
    assert_eq!(people.refusal().await, (json!("q"), STRANGERS.to_owned()), "even if only one of them could answer");
    let Some(UpstreamEvent::Declined { method, reason }) = people.setup.events.recv().await else {
        panic!("the operator is told")
    };
    assert_eq!((method.as_str(), reason.as_str()), ("elicitation/create", STRANGERS));
    assert!(people.hears.try_recv().is_err(), "nobody was asked");
    people.answers_call(number).await;
    call.await.expect("no panic").expect("an answer");
    people.asks("again").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("alice asked elicitation/create"));
}

#[tokio::test]
async fn calls_that_nobody_is_known_to_have_made_are_not_taken_for_one_caller_s() {
    let mut people = People::gather();
    let nobody = people.person("");
    let _calls = (people.calls(&nobody, "first", true).await, people.calls(&nobody, "second", true).await);
    people.asks("q").await;
    assert_eq!(people.refusal().await.1, STRANGERS);
}

#[tokio::test]
async fn a_question_whose_call_ends_is_put_through_another_call_of_the_same_caller() {
    let mut people = People::gather();
    let (alice, bob) = (people.person("alice"), people.person("bob"));
    let (first, call) = people.calls(&alice, "first", true).await;
    let _second = people.calls(&alice, "second", true).await;
    people.asks("q").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("first asked elicitation/create"));
    // Whoever joins later cannot have caused it.
    let _bob = people.calls(&bob, "bob", true).await;
    people.answers_call(first).await;
    call.await.expect("no panic").expect("an answer");
    assert_eq!(people.hears.recv().await.as_deref(), Some("second asked elicitation/create"));
    answer(&alice, r#"{"action":"decline"}"#);
    assert_eq!(people.setup.server.hears().await["result"], json!({"action":"decline"}));
}

#[tokio::test]
async fn a_question_that_moved_to_another_call_can_still_be_taken_back() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let (first, call) = people.calls(&alice, "first", true).await;
    let _second = people.calls(&alice, "second", true).await;
    people.asks("q").await;
    assert!(people.hears.recv().await.is_some());
    people.answers_call(first).await;
    call.await.expect("no panic").expect("an answer");
    assert!(people.hears.recv().await.is_some());
    people
        .setup
        .server
        .says(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#)
        .await;
    let mut sender = alice.answers.lock().expect("a lock").pop().expect("somebody was asked");
    // Nobody waits for the answer any more.
    sender.closed().await;
}

#[tokio::test]
async fn a_server_is_told_when_every_call_its_question_could_belong_to_has_ended() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let (first, one) = people.calls(&alice, "first", true).await;
    let (second, two) = people.calls(&alice, "second", true).await;
    people.asks("q").await;
    assert!(people.hears.recv().await.is_some());
    // A call that begins later has not caused it.
    let _third = people.calls(&alice, "third", true).await;
    people.answers_call(second).await;
    people.answers_call(first).await;
    two.await.expect("no panic").expect("an answer");
    one.await.expect("no panic").expect("an answer");
    let over = "the requests that this question could belong to ended before it was answered";
    assert_eq!(people.refusal().await, (json!("q"), over.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_question_due_to_a_call_that_was_given_up_does_not_reach_somebody_else() {
    let mut people = People::gather();
    let (alice, bob) = (people.person("alice"), people.person("bob"));
    let (_, given_up) = people.calls(&bob, "bob", true).await;
    given_up.abort();
    assert_eq!(people.setup.server.hears().await["method"], "notifications/cancelled");
    let (number, call) = people.calls(&alice, "alice", true).await;
    people.asks("q").await;
    assert_eq!(people.refusal().await.1, STRANGERS);
    tokio::time::advance(LINGERS).await;
    people.asks("much later").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("alice asked elicitation/create"));
    people.answers_call(number).await;
    call.await.expect("no panic").expect("an answer");
}

#[tokio::test]
async fn a_call_that_was_given_up_and_answered_after_all_is_over() {
    let mut people = People::gather();
    let (alice, bob) = (people.person("alice"), people.person("bob"));
    let (number, given_up) = people.calls(&bob, "bob", true).await;
    given_up.abort();
    assert_eq!(people.setup.server.hears().await["method"], "notifications/cancelled");
    let _alice = people.calls(&alice, "alice", true).await;
    people.answers_call(number).await;
    people.asks("q").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("alice asked elicitation/create"));
}

#[tokio::test]
async fn a_question_without_any_call_is_put_to_nobody() {
    let mut people = People::gather();
    people.asks("q").await;
    assert_eq!(people.refusal().await.1, "no request is under way that this question could belong to");
}

#[tokio::test]
async fn a_log_line_reaches_the_one_caller_whose_calls_are_under_way_and_nobody_if_there_are_two() {
    let mut people = People::gather();
    let (alice, bob) = (people.person("alice"), people.person("bob"));
    let _calls = (people.calls(&alice, "first", true).await, people.calls(&alice, "second", true).await);
    let line = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}"#;
    people.setup.server.says(line).await;
    assert_eq!(people.hears.recv().await.as_deref(), Some(r#"first hears {"data":"x"}"#));
    let _bob = people.calls(&bob, "bob", true).await;
    people.setup.server.says(line).await;
    assert!(matches!(people.setup.events.recv().await, Some(UpstreamEvent::Log(_))));
    assert!(people.hears.try_recv().is_err());
}

#[test]
fn keys_are_equal_only_if_all_their_parts_are() {
    assert_eq!(CallerKey::of(&[b"ab", b"c"]), CallerKey::of(&[b"ab", b"c"]));
    assert_ne!(CallerKey::of(&[b"ab", b"c"]), CallerKey::of(&[b"a", b"bc"]));
    assert_ne!(CallerKey::of(&[b"ab"]), CallerKey::of(&[b"ab", b""]));
}

const TEN: Duration = Duration::from_secs(10);

/// Whether a call ran out of its ten seconds.
async fn ran_out(call: JoinHandle<Result<Reply, UpstreamError>>) -> bool {
    let error = call.await.expect("no panic").expect_err("nobody answers");
    *error.kind() == UpstreamErrorKind::Timeout { after: TEN }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_stands_still_while_somebody_thinks_and_goes_on_with_what_is_left() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let begun = Instant::now();
    let (_, call) = people.calls_within(Some(TEN), &alice, "only", true).await;
    for (before, thinks) in [(4, 600), (3, 900)] {
        tokio::time::sleep(Duration::from_secs(before)).await;
        people.asks("q").await;
        assert_eq!(people.hears.recv().await.as_deref(), Some("only asked elicitation/create"));
        tokio::time::sleep(Duration::from_secs(thinks)).await;
        assert!(!call.is_finished(), "the call waits for a person");
        answer(&alice, r#"{"action":"accept"}"#);
        assert_eq!(people.setup.server.hears().await["result"]["action"], "accept");
    }
    assert!(ran_out(call).await);
    assert_eq!(begun.elapsed().as_secs(), 10 + 600 + 900, "three seconds were left");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_taken_back_stops_no_clock_any_longer() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let begun = Instant::now();
    let (_, call) = people.calls_within(Some(TEN), &alice, "only", true).await;
    people.asks("q").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("only asked elicitation/create"));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let back = json!({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}});
    people.setup.server.says(&back.to_string()).await;
    assert!(ran_out(call).await);
    assert_eq!(begun.elapsed().as_secs(), 10 + 60);
}

#[tokio::test(start_paused = true)]
async fn every_call_that_may_have_caused_a_question_waits_for_its_answer_and_no_other() {
    let mut people = People::gather();
    let alice = people.person("alice");
    let begun = Instant::now();
    let (_, first) = people.calls_within(Some(TEN), &alice, "first", true).await;
    let (_, second) = people.calls_within(Some(TEN), &alice, "second", true).await;
    people.asks("q").await;
    assert_eq!(people.hears.recv().await.as_deref(), Some("first asked elicitation/create"));
    // This one came after the question.
    let (_, third) = people.calls_within(Some(TEN), &alice, "third", true).await;
    assert!(ran_out(third).await);
    assert_eq!(begun.elapsed().as_secs(), 10);
    tokio::time::sleep(Duration::from_secs(90)).await;
    assert!(!first.is_finished() && !second.is_finished());
    answer(&alice, r#"{"action":"accept"}"#);
    assert!(ran_out(first).await && ran_out(second).await);
    assert_eq!(begun.elapsed().as_secs(), 110);
}
