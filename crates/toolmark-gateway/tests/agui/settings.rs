//! What the operator may set.

use http::{Method, StatusCode};
use serde_json::json;

use super::support::{ASKING, Stage, said, send};

#[tokio::test]
async fn old_clients_are_told_names_in_their_way_only_where_that_is_wanted() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", ASKING).await;
    let plain = gateway.run("parrot", &said("t", "say it"), &[]).await;
    let start = plain.of("TOOL_CALL_START")[0];
    assert!(start.get("toolDisplayName").is_none() && plain.of("CUSTOM").is_empty(), "{start}");
    assert_eq!(start["metadata"]["dev.toolmark/tool"]["names"]["nl"], "Nazeggen");
    gateway.stop().await;
    let more = "[agui]\ncustom_events = true\ntool_display_name = true\nnames = false\n";
    let gateway = stage.node("n2", &format!("{ASKING}\n{more}")).await;
    let answer = gateway.run("parrot", &said("t2", "say it"), &[("accept-language", "nl")]).await;
    let start = answer.of("TOOL_CALL_START")[0];
    assert_eq!((&start["toolDisplayName"], &start["toolDescription"]), (&json!("Nazeggen"), &json!("I repeat it")));
    assert!(start["metadata"]["dev.toolmark/tool"].get("names").is_none());
    let custom = answer.of("CUSTOM")[0];
    assert_eq!((&custom["name"], &custom["value"]["toolCallId"]), (&json!("dev.toolmark/tool"), &start["toolCallId"]));
    assert_eq!(custom["value"]["displayName"], "Nazeggen");
    gateway.stop().await;
}

#[tokio::test]
async fn what_is_switched_off_is_not_there() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", &format!("{ASKING}\n[agui]\nenabled = false\n")).await;
    assert_eq!(gateway.run("parrot", &said("t", "hi"), &[]).await.status, StatusCode::NOT_FOUND);
    gateway.stop().await;
    let gateway = stage.node("n2", &format!("{ASKING}\n[agui]\nfrontend_tools = false\n")).await;
    let mut body = said("t", "hi");
    body["tools"] = json!([{"name": "paint", "description": "Paints."}]);
    assert_eq!(gateway.run("parrot", &body, &[]).await.code(), "agui-frontend-tool");
    assert_eq!(gateway.run("parrot", &said("t", "hi"), &[]).await.outcome(), "success", "the thread is free again");
    gateway.stop().await;
}

#[tokio::test]
async fn a_run_that_takes_too_long_ends_and_what_was_done_stays() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", &format!("{ASKING}\n[agui]\ntimeout = \"1s\"\nruns = 1\n")).await;
    let body = said("t", "slow");
    let (slow, busy) = tokio::join!(gateway.run("parrot", &body, &[]), async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        gateway.run("parrot", &said("other", "hi"), &[]).await
    });
    assert_eq!((busy.status, busy.code().as_str()), (StatusCode::TOO_MANY_REQUESTS, "agui-busy"));
    assert_eq!(slow.code(), "agui-timeout", "{slow:#?}");
    let on = gateway.run("parrot", &body, &[]).await;
    assert_eq!(on.outcome(), "success", "{on:#?}");
    assert!(on.of("TOOL_CALL_START").is_empty(), "the call that ended is not made again");
    assert!(on.of("MESSAGES_SNAPSHOT")[0].to_string().contains("sleep_ms"));
    gateway.stop().await;
}

#[tokio::test]
async fn live_calls_are_shown_to_those_who_may_see_everything() {
    let stage = Stage::new().await;
    let gateway = stage.node("n1", ASKING).await;
    let approver = gateway.token("bob", true).await;
    let get = |headers: Vec<(&'static str, String)>| {
        let address = gateway.address;
        async move {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            send(address, Method::GET, "/agui/live", &headers, String::new()).await
        }
    };
    assert_eq!(get(Vec::new()).await.status, StatusCode::UNAUTHORIZED);
    let client = gateway.token("ann", false).await;
    assert_eq!(
        get(vec![("authorization", client)]).await.status,
        StatusCode::FORBIDDEN,
        "whoever calls sees no others"
    );
    let watching = tokio::spawn(get(vec![("authorization", approver), ("accept-language", "nl".into())]));
    let key = format!("Bearer {}", gateway.key);
    let with_key = tokio::spawn(get(vec![("authorization", key.clone())]));
    let forged = get(vec![("authorization", format!("{key}x"))]).await;
    assert_eq!(forged.status, StatusCode::UNAUTHORIZED);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert_eq!(gateway.run("parrot", &said("t", "slow"), &[]).await.outcome(), "success");
    gateway.stop().await;
    let seen = with_key.await.expect("it ends with the gateway");
    assert_eq!(
        (seen.status, seen.of("TOOL_CALL_START").len()),
        (StatusCode::OK, 1),
        "the key of the console opens it too"
    );
    let seen = watching.await.expect("it ends with the gateway");
    assert_eq!(
        (&seen.headers["content-language"], &seen.headers["vary"]),
        (&"nl".parse().expect("text"), &"Accept-Language".parse().expect("text"))
    );
    assert_eq!(seen.of("RUN_STARTED").len(), 1);
    let start = seen.of("TOOL_CALL_START")[0];
    assert_eq!(
        (&start["toolCallName"], &start["metadata"]["dev.toolmark/tool"]["id"]),
        (&json!("sleep_ms"), &json!("fixture.sleep_ms"))
    );
    assert_eq!(seen.of("TOOL_CALL_RESULT")[0]["metadata"]["dev.toolmark/call"]["outcome"], "ok");
    assert_eq!(seen.outcome(), "cancelled");
}
