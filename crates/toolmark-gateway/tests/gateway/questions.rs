//! Questions of a program of the old era, which does not say for which of several calls it asks.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::service::ServiceError;
use serde_json::{Value, json};

use crate::replaced::{Deployed, Kind};
use crate::support::{Client, ERAS, Era, Running, by_stdio, call, request, text};

/// Does something while a call of this client is under way that does not end by itself.
async fn during_a_call(client: &Client, work: impl Future<Output = ()>) {
    let begun = async || -> u64 {
        let stats = call(client, "stats", json!({})).await.structured_content.unwrap_or_default();
        stats.pointer("/calls/sleep_ms").and_then(Value::as_u64).unwrap_or_default()
    };
    let before = begun().await;
    let work = async {
        // The patience only keeps a broken test from hanging.
        for _ in 0..1_000 {
            if begun().await > before {
                return work.await;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the server never began");
    };
    tokio::select! {
        ended = client.call_tool(request("sleep_ms", json!({ "ms": 600_000 }))) => panic!("{ended:?}"),
        () = work => {}
    }
}

#[tokio::test]
async fn a_person_with_several_calls_under_way_is_asked_what_a_program_wants_to_know() {
    for era in ERAS {
        let gateway = Running::start(&by_stdio("fixture", &["--era", "old"])).await;
        let client = gateway.client(era).await;
        let work = async {
            let (one, two) = tokio::join!(
                call(&client, "ask_user", json!({ "question": "Which color?" })),
                call(&client, "ask_user", json!({ "question": "Which size?" })),
            );
            for answer in [one, two] {
                assert_eq!(text(&answer), "The user answered: blue", "{era:?} client");
            }
            let mut heard = client.service().heard();
            heard.sort();
            heard.dedup();
            assert_eq!(heard, ["asked Which color?", "asked Which size?"], "{era:?} client");
        };
        during_a_call(&client, work).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_asks_nothing_that_can_be_answered_is_called_once() {
    for sessions in [false, true] {
        let server = Deployed::new(Kind { sessions, ..Kind::default() }, &[("x", "Reads x.")]).await;
        let config = format!("[packs.own]\nurl = \"http://{}/mcp\"\ntrust = \"trusted\"\n", server.address);
        let gateway = Running::start(&config).await;
        for era in ERAS {
            let client = gateway.client(era).await;
            for asked in [
                json!(null),
                json!({}),
                json!([1]),
                json!({"a": {"method": 5}}),
                json!({"a": {"method": "tools/call"}}),
            ] {
                let result = json!({"resultType": "input_required", "inputRequests": asked, "content": []});
                *server.own.result.lock().expect("a lock") = Some(result);
                let before = server.own.calls.load(Ordering::SeqCst);
                let ended = call(&client, "x", json!({})).await;
                // What a server of the old era calls its result means nothing.
                assert_eq!(ended.is_error == Some(true), !sessions, "{era:?} client: {ended:?}");
                assert!(sessions || text(&ended).contains("may have had an effect"), "{era:?} client: {ended:?}");
                assert_eq!(server.own.calls.load(Ordering::SeqCst), before + 1, "{era:?} client: {asked}");
            }
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn nobody_is_asked_while_calls_of_two_people_are_under_way() {
    for era in ERAS {
        let gateway = Running::start(&by_stdio("fixture", &["--era", "old"])).await;
        let (alice, bob) = (gateway.client_at(era, "/mcp/claude-code").await, gateway.client(era).await);
        let work = async {
            let refused = call(&alice, "ask_user", json!({ "question": "Which color?" })).await;
            assert_eq!(refused.is_error, Some(true), "{era:?} client");
            let why = text(&refused);
            assert!(why.contains("requests of different callers are under way"), "{era:?} client: {why}");
            for somebody in [&alice, &bob] {
                assert!(somebody.service().heard().is_empty(), "{era:?} client");
            }
        };
        during_a_call(&bob, work).await;
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_question_that_was_parked_in_a_call_that_ends_is_put_through_the_other() {
    let gateway = Running::start(&by_stdio("fixture", &["--era", "old"])).await;
    let client = gateway.client(Era::New).await;
    // This way of calling does not come back with answers: the call goes on without anybody, until it ends.
    let slow = client.peer().call_tool(request("sleep_ms", json!({ "ms": 1_500 })));
    let ask = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        call(&client, "ask_user", json!({ "question": "Which color?" })).await
    };
    let (slow, answer) = tokio::join!(slow, ask);
    assert!(
        matches!(slow, Err(ServiceError::UnexpectedResponse)),
        "the older call was to carry the question: {slow:?}"
    );
    assert_eq!(text(&answer), "The user answered: blue");
    assert_eq!(client.service().heard(), ["asked Which color?"]);
    gateway.stop().await;
}
