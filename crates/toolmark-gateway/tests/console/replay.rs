//! What-if over recorded calls: nothing is switched on, one at a time, and what is no policy is refused with every problem.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{Events, Running};

async fn replayed(running: &Running, body: &Value) -> Vec<(String, Value)> {
    let shown = format!("Bearer {}", running.key);
    let headers = [("authorization", shown.as_str()), ("content-type", "application/json")];
    let response = running.begin(Method::POST, "/api/replay", &headers, body.to_string()).await;
    assert_eq!(response.status(), StatusCode::OK);
    Events::of_response(response.into_body()).rest().await
}

#[tokio::test]
async fn recorded_calls_are_judged_by_another_policy_and_nothing_changes() {
    let running = Running::start("").await;
    for _ in 0..5 {
        running.call("read_query", json!({"query": "SELECT 1"})).await;
    }
    // What packs list is written down a moment later; a replay needs it.
    for _ in 0..200 {
        if running.store.packs().await.expect("there").len() >= 5 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let version = running.shown("/api/policy").await["version"].clone();
    let rules = "[[rules]]\nid = \"x\"\nverdict = \"deny\"\ntools = [\"shop.read_query\"]\n";
    let events = replayed(&running, &json!({"rules": rules, "examples": 2})).await;
    let (name, report) = events.last().expect("there");
    assert_eq!(name, "report", "{events:?}");
    assert_eq!((&report["calls"], &report["newly_denied"], &report["whole"]), (&json!(5), &json!(5), &json!(true)));
    assert_eq!(
        (&report["by_rule"][0]["rule"], report["by_rule"][0]["examples"].as_array().expect("there").len()),
        (&json!("rule `x`"), 2)
    );
    assert_eq!(report["by_tool"][0]["shown"]["name"], "Query the shop");
    let events = replayed(&running, &json!({"preset": "balanced"})).await;
    assert_eq!(events.last().expect("there").1["unchanged"], 5);
    let cedar = "@id(\"c\")\nforbid(principal, action, resource);";
    let events = replayed(&running, &json!({"cedar": cedar})).await;
    assert_eq!(events.last().expect("there").1["newly_denied"], 5, "{events:?}");
    assert_eq!(running.shown("/api/policy").await["version"], version, "nothing was switched on");
    running.stop().await;
}

#[tokio::test]
async fn what_is_no_policy_is_refused_and_no_file_can_be_read_with_it() {
    let running = Running::start("").await;
    for (body, status) in [
        (json!({"rules": "[[rules]]\nverdict = \"perhaps\"\n"}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"rules": "not toml ["}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"rules": "[policy]\ncedar = [\"/etc/passwd\"]\n"}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"rules": "[packs.x]\ncommand = \"sh\"\n"}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"rules": "[gateway]\nlisten = \"0.0.0.0:1\"\n"}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"cedar": "forbid(principal, action"}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"preset": "lenient"}), StatusCode::UNPROCESSABLE_ENTITY),
        (json!({"since": "soon"}), StatusCode::BAD_REQUEST),
        (json!({"store": "x"}), StatusCode::BAD_REQUEST),
        (json!([]), StatusCode::BAD_REQUEST),
    ] {
        let answer = running.post("/api/replay", &body).await;
        assert_eq!(answer.status, status, "{body} {answer:?}");
        assert!(!answer.body.contains("root:"), "{body}");
        if status == StatusCode::UNPROCESSABLE_ENTITY {
            assert_eq!(answer.code(), "replay-tried");
            assert!(!answer.json()["problems"].as_array().expect("there").is_empty(), "{body}");
        }
    }
    let long = json!({"rules": "#".repeat(300_000)});
    assert_eq!(running.post("/api/replay", &long).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    running.stop().await;
}
