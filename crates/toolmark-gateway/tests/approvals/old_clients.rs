//! Clients of 2025-11-25: those that show forms, and those that cannot ask anybody.

use serde_json::json;
use toolmark_fixture::{Era, Options};

use crate::support::{ASK, Does, Human, Stage, call, code, ran, said, until, waits};

fn says(decision: &str) -> Does {
    Does::Accepts(json!({"decision": decision}))
}

#[tokio::test]
async fn a_person_approves_in_a_form_and_the_call_runs_once() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let client = gateway.human(Human::who([says("approve once"), says("approve once")])).await;
    let answer = call(&client, "echo", json!({"text": "hello"})).await;
    ran(&answer);
    assert_eq!(said(&answer), "hello");
    let (text, schema) = client.service().heard().remove(0);
    for part in ["fixture.echo", "\"text\": \"hello\"", "words have effects"] {
        assert!(text.contains(part), "`{part}` is missing: {text}");
    }
    assert_eq!(
        schema["properties"]["decision"]["enum"],
        json!(["approve once", "approve for this session", "approve always", "reject"])
    );
    assert_eq!(gateway.ran("echo", None).await, 1);
    ran(&call(&client, "echo", json!({"text": "hello"})).await);
    assert_eq!(client.service().heard().len(), 2, "once means once");
    gateway.stop().await;
}

#[tokio::test]
async fn a_person_says_no_and_the_model_reads_why() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let no = Does::Accepts(json!({"decision": "reject", "reason": "ask me on Monday"}));
    let client = gateway.human(Human::who([no, Does::Declines])).await;
    let answer = call(&client, "echo", json!({"text": "hello"})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert!(said(&answer).contains("said no: ask me on Monday"), "{answer}");
    assert!(said(&answer).starts_with("`echo` was not called: it was not approved.\n"), "{answer}");
    // The no stands: nobody is asked the same again while it does.
    let again = call(&client, "echo", json!({"text": "hello"})).await;
    assert!(said(&again).contains("ask me on Monday"), "{again}");
    assert_eq!(client.service().heard().len(), 1);
    let answer = call(&client, "echo", json!({"text": "other"})).await;
    assert!(answer["result"]["isError"] == true && said(&answer).contains("said no"), "{answer}");
    assert_eq!(gateway.ran("echo", None).await, 0);
    gateway.stop().await;
}

#[tokio::test]
async fn a_form_that_is_closed_or_filled_in_badly_runs_nothing_and_leaves_the_question_open() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let unclear = [Does::Cancels, says("yes"), Does::Accepts(json!({})), says("APPROVE ONCE"), says("approve pattern")];
    let count = unclear.len();
    let client = gateway.human(Human::who(unclear)).await;
    let bob = gateway.approver().await;
    for _ in 0..count {
        waits(&call(&client, "echo", json!({"text": "hello"})).await);
        assert_eq!(bob.open().await.len(), 1);
    }
    assert_eq!(gateway.ran("echo", None).await, 0);
    bob.decides(json!({"decision": "approve"})).await;
    ran(&call(&client, "echo", json!({"text": "hello"})).await);
    assert_eq!((client.service().heard().len(), gateway.ran("echo", None).await), (count, 1));
    gateway.stop().await;
}

#[tokio::test]
async fn an_approval_for_a_session_holds_in_it_and_in_no_other() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let client = gateway.human(Human::who([says("approve for this session")])).await;
    for text in ["one", "two", "three"] {
        ran(&call(&client, "echo", json!({"text": text})).await);
    }
    assert_eq!(client.service().heard().len(), 1, "asked once");
    let other = gateway.human(Human::who([Does::Declines])).await;
    let answer = call(&other, "echo", json!({"text": "four"})).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(other.service().heard().len(), 1, "another session is asked");
    assert_eq!(gateway.ran("echo", None).await, 3);
    gateway.stop().await;
}

#[tokio::test]
async fn a_form_is_taken_away_when_somebody_else_decides() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let client = gateway.human(Human::who([Does::Thinks, Does::Thinks])).await;
    let bob = gateway.approver().await;
    for (text, decision, runs) in [("one", "approve", 1), ("two", "reject", 1)] {
        let seen = client.service().withdrawn();
        let (answer, decided) =
            tokio::join!(call(&client, "echo", json!({"text": text})), bob.decides(json!({"decision": decision})));
        assert_eq!(decided["decision"]["given"]["by"], "bob");
        assert_eq!(answer["result"]["isError"] == true, decision == "reject", "{answer}");
        until(async || (client.service().withdrawn() > seen).then_some(())).await;
        assert_eq!(gateway.ran("echo", None).await, runs);
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_how_to_go_on() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (client, bob) = (gateway.human(Human::mute()).await, gateway.approver().await);
    let answer = call(&client, "echo", json!({"text": "hello"})).await;
    waits(&answer);
    let id = bob.asked().await["id"].as_str().expect("an id").to_owned();
    assert!(said(&answer).contains(&format!("toolmark approvals approve {id}")), "{answer}");
    waits(&call(&client, "echo", json!({"text": "hello"})).await);
    assert_eq!(bob.decides(json!({"decision": "approve"})).await["state"], "approved");
    let answer = call(&client, "echo", json!({"text": "hello"})).await;
    ran(&answer);
    assert_eq!(answer["result"]["_meta"]["dev.toolmark/call"]["approved_by"], "bob");
    waits(&call(&client, "echo", json!({"text": "hello"})).await);
    assert_eq!(gateway.ran("echo", None).await, 1, "repeating it once more asks anew");
    gateway.stop().await;
}

#[tokio::test]
async fn a_call_may_wait_for_an_answer_where_nobody_can_be_asked() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(&format!("[approvals]\nwait = \"5min\"\n{ASK}")).await;
    let (client, bob) = (gateway.human(Human::mute()).await, gateway.approver().await);
    let (answer, _) = tokio::join!(
        call(&client, "echo", json!({"text": "hello"})),
        bob.decides(json!({"decision": "approve", "arguments": {"text": "hello, edited"}}))
    );
    assert_eq!(said(&answer), "hello, edited");
    let meta = &answer["result"]["_meta"]["dev.toolmark/call"];
    assert_eq!(meta["edited_arguments"], json!({"text": "hello, edited"}), "the model learns what ran: {meta}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_person_at_the_client_is_left_alone_where_the_operator_says_so() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(&format!("[approvals]\nclient = false\n{ASK}")).await;
    let client = gateway.human(Human::who([])).await;
    let answer = call(&client, "echo", json!({"text": "hello"})).await;
    waits(&answer);
    assert_eq!(code(&answer), "rule-asks");
    assert!(client.service().heard().is_empty());
    gateway.stop().await;
}

#[tokio::test]
async fn a_server_that_asks_a_question_of_its_own_is_asked_about_first() {
    let stage = Stage::new().await;
    let rule = "[[rules]]\nverdict = \"ask\"\ntools = \"fixture.ask_user\"\n";
    let gateway = stage.gateway(rule).await;
    let blue = Does::Accepts(json!({"answer": "blue"}));
    let client = gateway.human(Human::who([says("approve once"), blue])).await;
    let answer = call(&client, "ask_user", json!({"question": "Which color?"})).await;
    assert_eq!(said(&answer), "The user answered: blue");
    let heard: Vec<String> = client.service().heard().into_iter().map(|(text, _)| text).collect();
    assert!(heard[0].contains("fixture.ask_user") && heard[1] == "Which color?", "{heard:?}");
    gateway.stop().await;
}

#[tokio::test]
async fn edited_arguments_are_what_the_headers_of_the_call_say_too() {
    let stage = Stage::of(Options { era: Era::New, ..Options::default() }).await;
    let gateway = stage.gateway("[[rules]]\nverdict = \"ask\"\ntools = \"fixture.test_header_parameters\"\n").await;
    let (client, bob) = (gateway.human(Human::mute()).await, gateway.approver().await);
    let arguments = || json!({"query": "hello", "region": "us"});
    waits(&call(&client, "test_header_parameters", arguments()).await);
    bob.decides(json!({"decision": "approve", "arguments": {"query": "hello", "region": "eu", "priority": 3}})).await;
    // The server compares them with what is in the body, and refuses what differs.
    let answer = call(&client, "test_header_parameters", arguments()).await;
    ran(&answer);
    assert!(said(&answer).contains("eu"), "{answer}");
    gateway.stop().await;
}
