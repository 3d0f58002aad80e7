use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::sync::mpsc::Receiver;

use super::*;
use crate::upstream::request::{Answer, Question};
use crate::upstream::{EventSender, ListKind};

/// The other end: a server whose every word the test chooses.
pub(in crate::upstream) struct Server {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
}

impl Server {
    pub(in crate::upstream) async fn hears(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("a stream").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    pub(in crate::upstream) async fn says(&mut self, message: &str) {
        self.writes(message.as_bytes()).await;
    }

    async fn writes(&mut self, line: &[u8]) {
        self.output.write_all(line).await.expect("written");
        self.output.write_all(b"\n").await.expect("written");
    }
}

pub(in crate::upstream) struct Setup {
    pub(in crate::upstream) pipe: Arc<Pipe>,
    pub(in crate::upstream) server: Server,
    pub(in crate::upstream) events: Receiver<UpstreamEvent>,
    stray: Arc<Mutex<Vec<String>>>,
}

pub(in crate::upstream) fn setup(limits: UpstreamLimits) -> Setup {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (sender, events) = EventSender::channel(16);
    let (pipe, outgoing) = Pipe::new(Desk::new(sender, limits.bytes), limits);
    let (input, output) = tokio::io::split(ours);
    let stray = Arc::new(Mutex::new(Vec::new()));
    let heard = stray.clone();
    tokio::spawn(write_lines(pipe.clone(), outgoing, output, std::future::ready(())));
    let stray_line = move |line: &[u8]| heard.lock().expect("a lock").push(String::from_utf8_lossy(line).into_owned());
    tokio::spawn(read_lines(pipe.clone(), input, stray_line, std::future::ready(())));
    let (input, output) = tokio::io::split(theirs);
    Setup { pipe, server: Server { lines: BufReader::new(input).lines(), output }, events, stray }
}

pub(in crate::upstream) fn exchange(pipe: &Pipe) -> Exchange {
    let id = pipe.next_id();
    Exchange {
        id,
        message: write::request(&Id::number(id), "tools/call", Some(b"{}")),
        timeout: Some(Duration::from_secs(600)),
        cancel: Some(CancellationToken::new()),
        observer: None,
        token: None,
        askable: true,
        headers: Vec::new(),
    }
}

pub(in crate::upstream) fn start(
    pipe: &Arc<Pipe>,
    exchange: Exchange,
) -> tokio::task::JoinHandle<Result<Reply, UpstreamError>> {
    let pipe = pipe.clone();
    tokio::spawn(async move { pipe.exchange(exchange).await })
}

pub(in crate::upstream) fn result(reply: Result<Reply, UpstreamError>) -> String {
    match reply {
        Ok(Reply::Result(result)) => String::from_utf8_lossy(result.raw()).into_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn many_requests_are_under_way_at_once_and_answers_come_in_any_order() {
    let mut setup = setup(UpstreamLimits::default());
    let calls: Vec<_> = (0..20).map(|_| start(&setup.pipe, exchange(&setup.pipe))).collect();
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(setup.server.hears().await["id"].as_u64().expect("an id"));
    }
    for id in ids.iter().rev() {
        setup.server.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":{id}}}}}"#)).await;
    }
    for (index, call) in calls.into_iter().enumerate() {
        assert_eq!(result(call.await.expect("no panic")), format!("{{\"n\":{}}}", index + 1));
    }
}

#[tokio::test]
async fn a_server_that_answers_one_by_one_while_many_wait_gets_and_gives_everything() {
    let mut setup = setup(UpstreamLimits::default());
    let pipe = setup.pipe.clone();
    let callers: Vec<_> = (0..16)
        .map(|_| {
            let pipe = pipe.clone();
            tokio::spawn(async move {
                for _ in 0..20 {
                    let own = exchange(&pipe);
                    let id = own.id;
                    assert_eq!(result(pipe.exchange(own).await), format!("{{\"n\":{id}}}"));
                }
            })
        })
        .collect();
    let mut slow = false;
    for _ in 0..16 * 20 {
        let id = setup.server.hears().await["id"].as_u64().expect("an id");
        setup.server.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":{id}}}}}"#)).await;
        slow |= pipe.pace.is_slow(pipe.desk.under_way());
        tokio::task::yield_now().await;
    }
    for caller in callers {
        caller.await.expect("every answer came to whom it belongs");
    }
    assert!(slow, "it was one that answers one by one");
}

#[tokio::test]
async fn what_has_no_end_takes_nobodys_place() {
    let mut setup = setup(UpstreamLimits { in_flight: 1, ..UpstreamLimits::default() });
    let _endless = start(&setup.pipe, Exchange { timeout: None, ..exchange(&setup.pipe) });
    setup.server.hears().await;
    let call = start(&setup.pipe, exchange(&setup.pipe));
    let id = setup.server.hears().await["id"].as_u64().expect("an id");
    setup.server.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)).await;
    assert_eq!(result(call.await.expect("no panic")), "{}");
}

/// Whoever has changed their mind by the time it is their turn.
struct Stale;

impl CallObserver for Stale {
    fn progress(&self, _: Bytes) {}

    fn message(&self, _: Bytes) {}

    fn may_go(&self) -> bool {
        false
    }

    fn ask(&self, _: Question) -> BoxFuture<'static, Answer> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_call_that_had_to_wait_is_asked_once_more_whether_it_may_go_out() {
    let mut setup = setup(UpstreamLimits { in_flight: 1, ..UpstreamLimits::default() });
    let first = start(&setup.pipe, exchange(&setup.pipe));
    let id = setup.server.hears().await["id"].as_u64().expect("an id");
    let stale = start(&setup.pipe, Exchange { observer: Some(Arc::new(Stale)), ..exchange(&setup.pipe) });
    tokio::task::yield_now().await;
    setup.server.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)).await;
    first.await.expect("no panic").expect("answered");
    let error = stale.await.expect("no panic").expect_err("it does not go out");
    assert_eq!((error.kind(), error.delivery()), (&UpstreamErrorKind::Outdated, Delivery::Never));
    // What the server hears next is somebody else's, who gets the place.
    let next = start(&setup.pipe, exchange(&setup.pipe));
    let id = setup.server.hears().await["id"].as_u64().expect("an id");
    assert_eq!(id, 3);
    setup.server.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)).await;
    next.await.expect("no panic").expect("answered");
}

#[tokio::test]
async fn a_server_that_reads_nothing_and_answers_all_the_same_keeps_nobody_waiting() {
    let mut setup = setup(UpstreamLimits { in_flight: 1, ..UpstreamLimits::default() });
    // What is being written is more than the server takes, and what comes after it has no room.
    let long = Bytes::from(vec![b' '; 1 << 17]);
    setup.pipe.notify(long.clone()).await;
    tokio::task::yield_now().await;
    setup.pipe.notify(long).await;
    let call = start(&setup.pipe, exchange(&setup.pipe));
    while setup.pipe.desk.under_way() == 0 {
        tokio::task::yield_now().await;
    }
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{"early":true}}"#).await;
    let answer = tokio::time::timeout(Duration::from_secs(60), call).await.expect("it is not kept waiting");
    assert_eq!(result(answer.expect("no panic")), r#"{"early":true}"#);
}

/// Notes how many lines every write has.
struct Noted(Arc<Mutex<Vec<usize>>>);

impl AsyncWrite for Noted {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.0.lock().expect("a lock").push(lines);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

// One worker of a runtime with many: whom a task wakes there runs before the tasks that were ready already.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn requests_that_are_ready_together_go_out_together_and_one_alone_at_once() {
    let (sender, _events) = EventSender::channel(16);
    let limits = UpstreamLimits::default();
    let (pipe, outgoing) = Pipe::new(Desk::new(sender, limits.bytes), limits);
    let written = Arc::new(Mutex::new(Vec::new()));
    let so_far = || written.lock().expect("a lock").clone();
    tokio::spawn(write_lines(pipe.clone(), outgoing, Noted(written.clone()), std::future::ready(())));
    let until = async |lines: usize| {
        while so_far().iter().sum::<usize>() < lines {
            tokio::task::yield_now().await;
        }
    };
    let _first = start(&pipe, exchange(&pipe));
    until(1).await;
    assert_eq!(so_far(), [1]);
    let others = pipe.clone();
    let _others = tokio::spawn(async move { (0..5).map(|_| start(&others, exchange(&others))).collect::<Vec<_>>() });
    until(6).await;
    assert_eq!(so_far(), [1, 5]);
}

#[tokio::test]
async fn a_cancelled_request_is_taken_back_and_may_have_had_an_effect() {
    let mut setup = setup(UpstreamLimits::default());
    let request = exchange(&setup.pipe);
    let cancel = request.cancel.clone().expect("a word");
    let call = start(&setup.pipe, request);
    assert_eq!(setup.server.hears().await["id"], 1);
    cancel.cancel();
    let error = call.await.expect("no panic").expect_err("cancelled");
    assert_eq!((error.kind(), error.delivery()), (&UpstreamErrorKind::Cancelled, Delivery::Perhaps));
    let notice = setup.server.hears().await;
    assert_eq!((&notice["method"], &notice["params"]["requestId"]), (&json!("notifications/cancelled"), &json!(1)));
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    let next = start(&setup.pipe, exchange(&setup.pipe));
    assert_eq!(setup.server.hears().await["id"], 2);
    setup.server.says(r#"{"jsonrpc":"2.0","id":2,"result":{"late":false}}"#).await;
    assert_eq!(result(next.await.expect("no panic")), r#"{"late":false}"#);
}

#[tokio::test]
async fn a_request_whose_caller_goes_away_is_taken_back() {
    let mut setup = setup(UpstreamLimits::default());
    let call = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    call.abort();
    assert_eq!(setup.server.hears().await["method"], "notifications/cancelled");
}

#[tokio::test]
async fn a_request_that_is_cancelled_while_it_waits_is_never_written() {
    let limits = UpstreamLimits { in_flight: 1, queue: 1, ..UpstreamLimits::default() };
    let mut setup = setup(limits);
    let first = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    let second = exchange(&setup.pipe);
    let cancel = second.cancel.clone().expect("a word");
    let second = start(&setup.pipe, second);
    tokio::task::yield_now().await;
    while setup.pipe.waiting.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    let third = setup.pipe.exchange(exchange(&setup.pipe)).await.expect_err("no room");
    assert_eq!((third.kind(), third.delivery()), (&UpstreamErrorKind::Busy { limit: 1 }, Delivery::Never));
    cancel.cancel();
    assert_eq!(second.await.expect("no panic").expect_err("cancelled").delivery(), Delivery::Never);
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    first.await.expect("no panic").expect("answered");
    let fourth = start(&setup.pipe, exchange(&setup.pipe));
    assert_eq!(setup.server.hears().await["id"], 4, "neither the second nor the third was written");
    setup.server.says(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#).await;
    fourth.await.expect("no panic").expect("answered");
}

#[tokio::test]
async fn a_request_whose_turn_never_came_says_so_and_is_not_the_servers_silence() {
    let limits = UpstreamLimits { in_flight: 1, ..UpstreamLimits::default() };
    let mut setup = setup(limits);
    let _first = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    let after = Duration::from_millis(20);
    let second = Exchange { timeout: Some(after), ..exchange(&setup.pipe) };
    let error = setup.pipe.exchange(second).await.expect_err("no turn");
    assert_eq!((error.kind(), error.delivery()), (&UpstreamErrorKind::Queued { after, limit: 1 }, Delivery::Never));
}

#[tokio::test]
async fn a_request_that_waits_for_a_person_leaves_its_place_to_others() {
    let limits = UpstreamLimits { in_flight: 1, ..UpstreamLimits::default() };
    let mut setup = setup(limits);
    let first = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    let asking = setup.pipe.desk().stand_still(vec![1]);
    let second = start(&setup.pipe, exchange(&setup.pipe));
    assert_eq!(setup.server.hears().await["id"], 2, "it is written while somebody thinks about the first");
    setup.server.says(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
    second.await.expect("no panic").expect("answered");
    drop(asking);
    let third = start(&setup.pipe, exchange(&setup.pipe));
    let early = tokio::time::timeout(Duration::from_millis(50), setup.server.hears()).await;
    assert!(early.is_err(), "the first has its place again: {early:?}");
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    first.await.expect("no panic").expect("answered");
    assert_eq!(setup.server.hears().await["id"], 3);
    setup.server.says(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).await;
    third.await.expect("no panic").expect("answered");
    assert_eq!(setup.pipe.slots.available_permits(), 1, "no place is given back twice");
}

#[tokio::test]
async fn a_request_that_goes_on_while_others_have_all_places_is_the_next_to_get_one() {
    let limits = UpstreamLimits { in_flight: 1, ..UpstreamLimits::default() };
    let mut setup = setup(limits);
    let first = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    let asking = setup.pipe.desk().stand_still(vec![1]);
    let second = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    drop(asking);
    let third = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.says(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#).await;
    second.await.expect("no panic").expect("answered");
    let early = tokio::time::timeout(Duration::from_millis(50), setup.server.hears()).await;
    assert!(early.is_err(), "the first was there before: {early:?}");
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    first.await.expect("no panic").expect("answered");
    assert_eq!(setup.server.hears().await["id"], 3);
    third.abort();
}

#[tokio::test]
async fn nobody_else_hears_of_the_end_of_a_connection_that_did_not_come_about() {
    let mut setup = setup(UpstreamLimits::default());
    setup.pipe.connecting();
    setup.pipe.close("it stumbled");
    assert!(setup.events.try_recv().is_err());
    // One that ends as soon as it is there is heard of.
    setup.pipe.connected();
    assert!(matches!(setup.events.try_recv(), Ok(UpstreamEvent::Closed(reason)) if reason == "it stumbled"));
}

#[tokio::test]
async fn what_is_no_message_is_not_read_for_ever_before_a_server_says_who_it_is() {
    for noise in [b"y\n".repeat(MOST_NOISE), vec![0; 2 << 20]] {
        let mut setup = setup(UpstreamLimits { bytes: 1 << 20, ..UpstreamLimits::default() });
        setup.pipe.connecting();
        // Nobody reads the rest.
        let writing = tokio::spawn(async move { setup.server.output.write_all(&noise).await.is_err() });
        tokio::time::timeout(Duration::from_secs(60), setup.pipe.closed().cancelled()).await.expect("it is given up");
        writing.abort();
    }
}

#[tokio::test]
async fn a_stream_that_ends_fails_what_was_sent_as_perhaps_and_what_comes_later_as_never() {
    let mut setup = setup(UpstreamLimits::default());
    let call = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    drop(setup.server);
    assert_eq!(call.await.expect("no panic").expect_err("closed").delivery(), Delivery::Perhaps);
    let later = setup.pipe.exchange(exchange(&setup.pipe)).await.expect_err("closed");
    assert_eq!(later.delivery(), Delivery::Never);
    assert!(matches!(setup.events.recv().await, Some(UpstreamEvent::Closed(_))));
}

#[tokio::test]
async fn an_answer_beyond_the_limit_fails_only_its_request() {
    let mut setup = setup(UpstreamLimits { bytes: 4096, ..UpstreamLimits::default() });
    let large = "x".repeat(100_000);
    for (first, template) in [
        (true, r#"{"jsonrpc":"2.0","id":ID,"result":{"t":"LARGE"}}"#),
        (false, r#"{"result":{"t":"LARGE"},"jsonrpc":"2.0","id":ID}"#),
    ] {
        let (one, two) = (exchange(&setup.pipe), exchange(&setup.pipe));
        let id = one.id;
        let (one, two) = (start(&setup.pipe, one), start(&setup.pipe, two));
        setup.server.hears().await;
        setup.server.hears().await;
        setup.server.says(&template.replace("ID", &id.to_string()).replace("LARGE", &large)).await;
        let error = one.await.expect("no panic").expect_err("too large");
        assert_eq!(error.kind(), &UpstreamErrorKind::TooLarge { limit: 4096 }, "{first}");
        setup.server.says(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id + 1)).await;
        two.await.expect("no panic").expect("unharmed");
    }
}

#[tokio::test]
async fn lines_that_are_no_message_are_kept_apart_and_broken_answers_fail_their_request() {
    let mut setup = setup(UpstreamLimits::default());
    let call = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    setup.server.says("Server listening on stdio").await;
    setup.server.says("").await;
    setup.server.says("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1,\"a\":2}}\r").await;
    let error = call.await.expect("no panic").expect_err("broken");
    assert!(matches!(error.kind(), UpstreamErrorKind::Protocol { .. }));
    assert_eq!(*setup.stray.lock().expect("a lock"), ["Server listening on stdio"]);
}

#[derive(Default)]
struct Listener {
    heard: Mutex<Vec<String>>,
}

impl CallObserver for Listener {
    fn progress(&self, params: Bytes) {
        self.heard.lock().expect("a lock").push(format!("progress {}", String::from_utf8_lossy(&params)));
    }

    fn message(&self, params: Bytes) {
        self.heard.lock().expect("a lock").push(format!("message {}", String::from_utf8_lossy(&params)));
    }

    fn ask(&self, question: Question) -> BoxFuture<'static, Answer> {
        self.heard.lock().expect("a lock").push(format!("ask {}", question.method));
        Box::pin(async { Answer::Result(Bytes::from_static(br#"{"action":"accept"}"#)) })
    }
}

#[tokio::test]
async fn progress_and_questions_reach_the_one_who_called() {
    let mut setup = setup(UpstreamLimits::default());
    let listener = Arc::new(Listener::default());
    let mut request = exchange(&setup.pipe);
    request.observer = Some(listener.clone());
    request.token = Some(Bytes::from_static(b"\"theirs\""));
    let call = start(&setup.pipe, request);
    setup.server.hears().await;
    setup
        .server
        .says(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":5}}"#)
        .await;
    setup
        .server
        .says(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":6}}"#)
        .await;
    setup.server.says(r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?"}}"#).await;
    assert_eq!(setup.server.hears().await, json!({"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}));
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    call.await.expect("no panic").expect("answered");
    let expected = [r#"progress {"progressToken":"theirs","progress":5}"#, "ask elicitation/create"];
    assert_eq!(*listener.heard.lock().expect("a lock"), expected);
}

#[tokio::test]
async fn pings_are_answered_and_unknown_requests_refused() {
    let mut setup = setup(UpstreamLimits::default());
    setup.server.says(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
    assert_eq!(setup.server.hears().await, json!({"jsonrpc":"2.0","id":"p","result":{}}));
    setup.server.says(r#"{"jsonrpc":"2.0","id":"x","method":"tools/call"}"#).await;
    assert_eq!(setup.server.hears().await["error"]["code"], -32601);
}

#[tokio::test]
async fn changed_lists_are_reported_even_in_a_flood_of_logs() {
    let mut setup = setup(UpstreamLimits::default());
    for _ in 0..50 {
        setup
            .server
            .says(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#)
            .await;
    }
    setup.server.says(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#).await;
    setup.server.says(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#).await;
    setup.server.hears().await;
    let mut changed = false;
    while !changed {
        let event = setup.events.recv().await.expect("an event");
        changed = matches!(event, UpstreamEvent::ListChanged(ListKind::Tools));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_takes_too_long_is_given_up() {
    let mut setup = setup(UpstreamLimits::default());
    let mut request = exchange(&setup.pipe);
    request.timeout = Some(Duration::from_secs(5));
    let call = start(&setup.pipe, request);
    setup.server.hears().await;
    let error = call.await.expect("no panic").expect_err("too slow");
    assert_eq!(error.kind(), &UpstreamErrorKind::Timeout { after: Duration::from_secs(5) });
    assert_eq!(setup.server.hears().await["method"], "notifications/cancelled");
}

#[test]
fn the_id_of_an_answer_is_found_at_either_end() {
    assert_eq!(id_at_an_end(br#"{"jsonrpc":"2.0", "id": 12,"result"#, b"\"}}"), Some(12));
    assert_eq!(id_at_an_end(br#"{"result":{"id":9"#, br#"x"},"jsonrpc":"2.0","id":7}"#), Some(7));
    assert_eq!(id_at_an_end(br#"{"result":{"id":9"#, br#"x"},"id":7,"jsonrpc":"2.0"}"#), Some(7));
    assert_eq!(id_at_an_end(br#"{"result":{"id":9"#, br#"x","n":7}}"#), None);
}

#[tokio::test]
async fn a_flood_of_questions_is_answered_only_as_far_as_there_is_room() {
    let mut setup = setup(UpstreamLimits { in_flight: 4, ..UpstreamLimits::default() });
    for number in 0..5000 {
        setup.server.says(&format!(r#"{{"jsonrpc":"2.0","id":"p{number}","method":"ping"}}"#)).await;
    }
    let call = start(&setup.pipe, exchange(&setup.pipe));
    while setup.server.hears().await["method"] != "tools/call" {}
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    call.await.expect("no panic").expect("answered in spite of the flood");
}

#[tokio::test]
async fn a_question_that_the_server_takes_back_or_whose_request_ends_is_dropped() {
    struct Thinker(mpsc::UnboundedSender<&'static str>);
    struct Told(mpsc::UnboundedSender<&'static str>);
    impl Drop for Told {
        fn drop(&mut self) {
            let _ = self.0.send("dropped");
        }
    }
    impl CallObserver for Thinker {
        fn progress(&self, _params: Bytes) {}
        fn message(&self, _params: Bytes) {}
        fn ask(&self, _question: Question) -> BoxFuture<'static, Answer> {
            let told = Told(self.0.clone());
            let _ = self.0.send("asked");
            Box::pin(async move {
                let _told = told;
                std::future::pending().await
            })
        }
    }
    let mut setup = setup(UpstreamLimits::default());
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut request = exchange(&setup.pipe);
    request.observer = Some(Arc::new(Thinker(sender)));
    let call = start(&setup.pipe, request);
    setup.server.hears().await;
    setup.server.says(r#"{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{}}"#).await;
    assert_eq!(receiver.recv().await, Some("asked"));
    setup.server.says(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q1"}}"#).await;
    assert_eq!(receiver.recv().await, Some("dropped"));
    setup.server.says(r#"{"jsonrpc":"2.0","id":"q2","method":"elicitation/create","params":{}}"#).await;
    assert_eq!(receiver.recv().await, Some("asked"));
    setup.server.says(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
    call.await.expect("no panic").expect("answered");
    assert_eq!(receiver.recv().await, Some("dropped"));
}

#[tokio::test]
async fn answers_in_one_batch_find_their_requests() {
    let mut setup = setup(UpstreamLimits::default());
    let calls: Vec<_> = (0..3).map(|_| start(&setup.pipe, exchange(&setup.pipe))).collect();
    for _ in 0..3 {
        setup.server.hears().await;
    }
    let batch = r#"[{"jsonrpc":"2.0","id":2,"result":{"n":2}},{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},
        {"jsonrpc":"2.0","id":3,"result":7},[{"jsonrpc":"2.0","id":1,"result":{}}],{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}]"#;
    setup.server.says(&batch.replace('\n', " ")).await;
    let mut answers = Vec::new();
    for call in calls {
        answers.push(call.await.expect("no panic"));
    }
    assert!(matches!(&answers[0], Ok(Reply::Error(error)) if error.code() == Some(-32000)), "{:?}", answers[0]);
    assert_eq!(result(answers.swap_remove(1)), r#"{"n":2}"#);
    let error = answers.pop().expect("the third").expect_err("a result is an object");
    assert!(matches!(error.kind(), UpstreamErrorKind::Protocol { .. }), "{error}");
    assert!(matches!(setup.events.recv().await, Some(UpstreamEvent::ListChanged(ListKind::Tools))));
    assert!(setup.stray.lock().expect("a lock").is_empty());
}

#[tokio::test]
async fn an_answer_that_is_not_utf8_ends_its_request_and_no_other() {
    let mut setup = setup(UpstreamLimits::default());
    let first = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    let second = start(&setup.pipe, exchange(&setup.pipe));
    setup.server.hears().await;
    // What is no answer ends nothing, whatever its id.
    for line in
        [&b"caf\xe9 is open"[..], b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}"]
    {
        setup.server.writes(line).await;
    }
    setup.server.writes(b"{\"jsonrpc\":\"2.0\",\"result\":{\"text\":\"caf\xe9 \\\"id\\\":2\"},\"id\":1}").await;
    let error = first.await.expect("no panic").expect_err("nobody can read it");
    assert!(matches!(error.kind(), UpstreamErrorKind::Protocol { .. }), "{error}");
    assert_eq!(error.delivery(), Delivery::Perhaps);
    setup.server.says(r#"{"jsonrpc":"2.0","id":2,"result":{"n":2}}"#).await;
    assert_eq!(result(second.await.expect("no panic")), r#"{"n":2}"#);
    assert_eq!(setup.stray.lock().expect("a lock").len(), 2);
}
