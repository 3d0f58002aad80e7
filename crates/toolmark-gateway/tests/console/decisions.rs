//! Deciding in the console: who is recorded, what is shown before, and what the extras say.

use http::{Method, StatusCode};
use serde_json::json;

use crate::support::{ASK, Running};

#[tokio::test]
async fn a_blocked_call_is_approved_with_the_key_and_runs_and_it_is_recorded_who_said_so() {
    let running = Running::start(ASK).await;
    let blocked = running.call("touch", json!({"text": "a"})).await;
    assert_eq!(blocked["result"]["isError"], true, "{blocked}");
    let open = running.shown("/api/approvals").await;
    let id = open["approvals"][0]["id"].as_str().expect("there").to_owned();
    let ask = running.shown(&format!("/api/approvals/{id}")).await;
    for key in ["shown", "pack_shown", "facts", "diff", "proposals", "runs", "offered", "prompt"] {
        assert!(!ask[key].is_null(), "{key}: {ask}");
    }
    assert_eq!((&ask["still_there"], &ask["facts"], &ask["diff"]), (&json!(true), &json!([]), &json!([])));
    let decision = json!({"decision": "approve", "scope": "always", "arguments_digest": ask["arguments_digest"]});
    let decided = running.post(&format!("/api/approvals/{id}/decision"), &decision).await;
    assert_eq!(decided.status, StatusCode::OK, "{decided:?}");
    let given = decided.json()["decision"]["given"].clone();
    assert_eq!((&given["by"], &given["way"]), (&json!("console:ann"), &json!("console")));
    let ran = running.call("touch", json!({"text": "a"})).await;
    assert_ne!(ran["result"]["isError"], true, "{ran}");
    let again = running.post(&format!("/api/approvals/{id}/decision"), &decision).await;
    assert_eq!(again.status, StatusCode::CONFLICT, "a question is answered once");
    // It is told in the trace, and the grant can be taken back.
    let _ = running.get("/api/calls/01a1e33b-9d7b-746c-9bd1-3160ee6f0e20").await;
    let call = running.shown("/api/calls?outcome=approved").await["calls"][0].clone();
    let told = running.shown(&format!("/api/calls/{}", call["id"].as_str().expect("there"))).await;
    assert_eq!(told["call"]["approved_by"], "console:ann", "{told}");
    assert_eq!(told["stages"][4]["state"], "passed");
    let grants = running.shown("/api/grants").await;
    assert_eq!(grants["grants"][0]["shown"]["name"], "Touch");
    let grant = grants["grants"][0]["id"].as_str().expect("there").to_owned();
    let revoked = running.ask(Method::DELETE, &format!("/api/grants/{grant}"), &[], String::new()).await;
    assert_eq!(revoked.json()["revoked"]["by"], "console:ann");
    running.stop().await;
}

#[tokio::test]
async fn what_a_query_would_do_is_shown_beside_the_question() {
    let rules = "[[rules]]\nid = \"see\"\nverdict = \"ask\"\ntools = [\"shop.write_query\"]\n";
    let running = Running::start(rules).await;
    running.call("write_query", json!({"query": "DELETE FROM users WHERE id = 7"})).await;
    let id = running.shown("/api/approvals").await["approvals"][0]["id"].as_str().expect("there").to_owned();
    let ask = running.shown(&format!("/api/approvals/{id}")).await;
    assert_eq!(
        (&ask["facts"][0]["language"], &ask["facts"][0]["effects"][0]["action"]),
        (&json!("sql"), &json!("DELETE"))
    );
    for wrong in ["?lang=%21", "?state=x"] {
        assert_eq!(running.get(&format!("/api/approvals{wrong}")).await.status, StatusCode::BAD_REQUEST, "{wrong}");
    }
    running.stop().await;
}
