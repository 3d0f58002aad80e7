//! Clients of 2026-07-28: sent away with the question, back with a sealed state and the answer.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::support::{ASK, Caller, KEY, Running, Stage, TOKENS, accept, code, handed, ran, said, until, waits};

fn hello() -> Value {
    json!({"text": "hello"})
}

#[tokio::test]
async fn a_call_comes_back_with_a_yes_and_runs_once() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let caller = Caller::new(&gateway);
    let (state, question) = handed(&caller.call("echo", hello()).await);
    let text = question["message"].as_str().expect("a text");
    assert!(text.contains("fixture.echo") && text.contains("\"text\": \"hello\""), "{text}");
    // There is no session, so no approval for one.
    let offered = &question["requestedSchema"]["properties"]["decision"]["enum"];
    assert_eq!(*offered, json!(["approve once", "approve always", "reject"]));
    assert_eq!(gateway.ran("echo", None).await, 0);
    let answer = caller.comes_back("echo", hello(), &state, accept("approve once")).await;
    ran(&answer);
    assert_eq!(said(&answer), "hello");
    for again in [accept("approve once"), accept("approve always"), json!({"action": "cancel"})] {
        let answer = caller.comes_back("echo", hello(), &state, again).await;
        assert_eq!(code(&answer), "approval-spent", "{answer}");
    }
    assert_eq!(gateway.ran("echo", None).await, 1, "a state that is played again runs nothing");
    handed(&caller.call("echo", hello()).await);
    gateway.stop().await;
}

#[tokio::test]
async fn a_no_is_a_no_whatever_comes_after_it() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let caller = Caller::new(&gateway);
    let (state, _) = handed(&caller.call("echo", hello()).await);
    let no = json!({"action": "accept", "content": {"decision": "reject", "reason": "not today"}});
    let answer = caller.comes_back("echo", hello(), &state, no).await;
    assert!(said(&answer).contains("said no: not today"), "{answer}");
    for again in [accept("approve once"), json!({"action": "decline"})] {
        let answer = caller.comes_back("echo", hello(), &state, again).await;
        assert!(answer["result"]["isError"] == true && said(&answer).contains("not today"), "{answer}");
    }
    let (state, _) = handed(&caller.call("echo", json!({"text": "other"})).await);
    let answer = caller.comes_back("echo", json!({"text": "other"}), &state, json!({"action": "decline"})).await;
    assert!(said(&answer).contains("said no"), "{answer}");
    assert_eq!(gateway.ran("echo", None).await, 0);
    gateway.stop().await;
}

#[tokio::test]
async fn a_question_that_is_closed_waits_for_somebody_else() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (caller, bob) = (Caller::new(&gateway), gateway.approver().await);
    let (state, _) = handed(&caller.call("echo", hello()).await);
    for unclear in [json!({"action": "cancel"}), accept("yes"), json!({"action": "accept"}), json!({})] {
        waits(&caller.comes_back("echo", hello(), &state, unclear).await);
    }
    bob.decides(json!({"decision": "approve"})).await;
    ran(&caller.call("echo", hello()).await);
    let answer = caller.comes_back("echo", hello(), &state, accept("approve once")).await;
    assert_eq!(code(&answer), "approval-spent");
    assert_eq!(gateway.ran("echo", None).await, 1);
    gateway.stop().await;
}

#[tokio::test]
async fn a_state_that_is_not_ours_or_not_theirs_is_refused() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(&format!("{TOKENS}{ASK}")).await;
    let (ann, eve) = (gateway.token("ann", false).await, gateway.token("eve", false).await);
    let (ann, eve) = (Caller::new(&gateway).with(&ann), Caller::new(&gateway).with(&eve));
    let (state, _) = handed(&ann.call("echo", hello()).await);
    let sealed = state.as_str().expect("a text").to_owned();
    let bytes = URL_SAFE_NO_PAD.decode(&sealed).expect("readable");
    let mut forged: Vec<String> = (0..bytes.len())
        .map(|at| {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            URL_SAFE_NO_PAD.encode(bytes)
        })
        .collect();
    forged.extend([String::new(), "AAAA".into(), sealed[..sealed.len() - 2].into(), format!("{sealed}AA")]);
    // What a client could write if nothing were sealed: the state of a run that waits.
    forged.push(URL_SAFE_NO_PAD.encode([&[1_u8][..], &[0; 16]].concat()));
    for state in forged {
        let answer = ann.comes_back("echo", hello(), &json!(state), accept("approve once")).await;
        assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{state}: {answer}");
        assert_ne!(answer["result"]["resultType"], "input_required", "{state}: {answer}");
    }
    let yes = || accept("approve once");
    for answer in [
        eve.comes_back("echo", hello(), &state, yes()).await,
        ann.comes_back("echo", json!({"text": "hello, all"}), &state, yes()).await,
        ann.comes_back("echo", json!({"text": "hello", "more": 1}), &state, yes()).await,
        ann.comes_back("fail", hello(), &state, yes()).await,
        ann.at("/mcp/claude-code").comes_back("echo", hello(), &state, yes()).await,
    ] {
        assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");
    }
    let ran_for_ann = async || gateway.ran("echo", ann.token).await;
    assert_eq!(ran_for_ann().await, 0, "nothing of this ran");
    assert_eq!(gateway.ran("fail", ann.token).await, 0);
    // It was for none of them, and still is for the call it was made for.
    ran(&ann.comes_back("echo", hello(), &state, yes()).await);
    assert_eq!(ran_for_ann().await, 1);
    gateway.stop().await;
}

#[tokio::test]
async fn a_state_whose_question_is_over_is_refused() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(&format!("[approvals]\ntimeout = \"1s\"\n{ASK}")).await;
    let (caller, bob) = (Caller::new(&gateway), gateway.approver().await);
    let (state, _) = handed(&caller.call("echo", hello()).await);
    until(async || bob.open().await.is_empty().then_some(())).await;
    let answer = caller.comes_back("echo", hello(), &state, accept("approve once")).await;
    assert_eq!(code(&answer), "approval-expired", "{answer}");
    assert_eq!(gateway.ran("echo", None).await, 0);
    gateway.stop().await;
}

/// Asked at one gateway, answered at another, played again at both.
async fn answered_elsewhere(stage: &Stage, first: &Running, second: &Running) {
    let before = second.ran("echo", None).await;
    let (state, _) = handed(&Caller::new(first).call("echo", hello()).await);
    ran(&Caller::new(second).comes_back("echo", hello(), &state, accept("approve once")).await);
    for gateway in [first, second] {
        let answer = Caller::new(gateway).comes_back("echo", hello(), &state, accept("approve once")).await;
        assert_eq!(code(&answer), "approval-spent", "{answer}");
    }
    assert_eq!(second.ran("echo", None).await, before + 1);
    drop(stage.store().await);
}

#[tokio::test]
async fn a_call_may_come_back_to_another_gateway_on_the_same_store() {
    let stage = Stage::new().await;
    let one = stage.node("n1", &stage.config(ASK)).await;
    let two = stage.node("n2", &stage.config(ASK)).await;
    answered_elsewhere(&stage, &one, &two).await;
    answered_elsewhere(&stage, &two, &one).await;
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn a_call_may_come_back_after_a_restart() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (state, _) = handed(&Caller::new(&gateway).call("echo", hello()).await);
    gateway.stop().await;
    let gateway = stage.gateway(ASK).await;
    let caller = Caller::new(&gateway);
    ran(&caller.comes_back("echo", hello(), &state, accept("approve once")).await);
    gateway.stop().await;
    let gateway = stage.gateway(ASK).await;
    let answer = Caller::new(&gateway).comes_back("echo", hello(), &state, accept("approve once")).await;
    assert_eq!(code(&answer), "approval-spent", "{answer}");
    assert_eq!(gateway.ran("echo", None).await, 1);
    gateway.stop().await;
}

#[tokio::test]
async fn many_who_come_back_with_one_state_at_once_run_it_once() {
    let stage = Stage::new().await;
    let one = stage.node("n1", &stage.config(ASK)).await;
    let two = stage.node("n2", &stage.config(ASK)).await;
    let (state, _) = handed(&Caller::new(&one).call("echo", hello()).await);
    let all: Vec<_> = (0..16)
        .map(|number| {
            let (caller, state) = (Caller::new(if number % 2 == 0 { &one } else { &two }), state.clone());
            tokio::spawn(async move { caller.comes_back("echo", hello(), &state, accept("approve once")).await })
        })
        .collect();
    let mut answers = Vec::new();
    for one in all {
        answers.push(one.await.expect("no panic"));
    }
    let through = answers.iter().filter(|answer| answer["result"]["isError"] != true).count();
    assert_eq!((through, one.ran("echo", None).await), (1, 1), "{answers:?}");
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn a_server_that_asks_keeps_the_approval_and_its_answer_is_used_once() {
    let stage = Stage::new().await;
    let rule = "[[rules]]\nverdict = \"ask\"\ntools = \"fixture.ask_user\"\n";
    let gateway = stage.gateway(rule).await;
    let caller = Caller::new(&gateway);
    let question = || json!({"question": "Which color?"});
    let (state, _) = handed(&caller.call("ask_user", question()).await);
    let asks = caller.comes_back("ask_user", question(), &state, accept("approve once")).await;
    assert_eq!(asks["result"]["resultType"], "input_required", "{asks}");
    assert!(asks["result"]["inputRequests"].get(KEY).is_none(), "the server asks, not we: {asks}");
    let own = &asks["result"]["requestState"];
    let blue = || json!({"answer": {"action": "accept", "content": {"answer": "blue"}}});
    let back = |state: &Value, answers: Value| json!({"requestState": state, "inputResponses": answers});
    let answer = caller.call_with("ask_user", question(), back(own, blue())).await;
    assert_eq!(said(&answer), "The user answered: blue", "{answer}");
    let before = gateway.ran("ask_user", None).await;
    for state in [own, &state] {
        let answer = caller.call_with("ask_user", question(), back(state, blue())).await;
        assert_eq!(code(&answer), "approval-spent", "{answer}");
        let answer = caller.comes_back("ask_user", question(), state, accept("approve once")).await;
        assert_eq!(code(&answer), "approval-spent", "{answer}");
    }
    assert_eq!(gateway.ran("ask_user", None).await, before, "the server heard nothing of it");
    gateway.stop().await;
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_told_to_call_again() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (caller, bob) = (Caller::mute(&gateway), gateway.approver().await);
    for _ in 0..3 {
        waits(&caller.call("echo", hello()).await);
    }
    bob.decides(json!({"decision": "approve"})).await;
    ran(&caller.call("echo", hello()).await);
    waits(&caller.call("echo", hello()).await);
    assert_eq!(gateway.ran("echo", None).await, 1);
    gateway.stop().await;
}
