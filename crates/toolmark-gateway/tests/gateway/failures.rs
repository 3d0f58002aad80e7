//! Servers that answer with errors of the protocol: what the model reads, what the client's own program hears, and what nobody must take
//! for an error of the gateway.

use std::path::PathBuf;

use http::StatusCode;
use serde_json::{Value, json};
use toolmark_gateway::GatewayBuilder;
use toolmark_store::audit::{AuditFilter, Durability, Order, Outcome, SinkSettings};

use crate::raw::{Raw, scripted, tool};
use crate::support::{ERAS, Era, Running, by_http, http_fixture, read, store};

/// A server whose every answer but lists is this error.
fn failing(error: Value) -> GatewayBuilder {
    let capabilities = json!({"capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}});
    let server = scripted(capabilities, move |method, _| {
        Some(match method {
            "tools/list" => Ok(json!({"tools": [tool("work")]})),
            "resources/list" => Ok(json!({"resources": [{"uri": "doc://one", "name": "one"}]})),
            "resources/templates/list" => Ok(json!({"resourceTemplates": []})),
            "prompts/list" => Ok(json!({"prompts": [{"name": "greet"}]})),
            _ => Err(error.clone()),
        })
    });
    // What is not known of a tool would be asked about.
    let config = "[policy]\npreset = \"observe\"\n";
    GatewayBuilder::new(read(config), PathBuf::new()).built_in("p".parse().expect("a name"), server)
}

#[tokio::test]
async fn an_error_of_a_server_is_a_failure_that_the_model_reads() {
    let errors = [
        json!({"code": -32022, "message": "not this version", "data": {"supported": ["1999-01-01"]}}),
        json!({"code": -32601, "message": "method not found"}),
        json!({"code": -32020, "message": "headers differ"}),
        json!({"code": -32021, "message": "it lacks nothing", "data": {"requiredCapabilities": {}}}),
        json!({"code": -32600, "message": "no request"}),
        json!({"code": -32700, "message": "no JSON"}),
        json!({"code": -32602, "message": "`n` must be a number"}),
        json!({"code": -32000, "message": "the disk is full"}),
    ];
    for error in errors {
        let gateway = Running::of(failing(error.clone())).await;
        for era in ERAS {
            let client = Raw::new(&gateway, era).await;
            let (status, answer) = client.ask("tools/call", json!({"name": "work", "arguments": {}})).await;
            assert_eq!(status, StatusCode::OK, "{era:?}: {answer}");
            let result = &answer["result"];
            assert_eq!(result["isError"], true, "{era:?}: {answer}");
            let text = result["content"][0]["text"].as_str().expect("text");
            assert!(text.contains(error["message"].as_str().expect("text")), "{era:?}: {text}");
            assert!(text.contains(&error["code"].to_string()), "{era:?}: {text}");
            let call = &result["_meta"]["dev.toolmark/call"];
            assert_eq!((&call["code"], &call["canonical"]), (&json!("upstream-error"), &json!("p.work")), "{era:?}");
            assert_eq!(call["upstream"]["code"], error["code"], "{era:?}: {call}");
            assert_eq!(call["upstream"].get("data"), error.get("data"), "{era:?}: {call}");
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_a_failure_says_is_bounded_and_hides_nothing() {
    let message = format!("line one\nline two \u{202e}backwards {}", "x".repeat(100_000));
    let error = json!({"code": -32000, "message": message, "data": "y".repeat(100_000)});
    let gateway = Running::of(failing(error)).await;
    for era in ERAS {
        let result = Raw::new(&gateway, era).await.call("work", json!({})).await;
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(text.contains("line one\nline two \\u{202e}backwards"), "{era:?}");
        assert!(text.len() < 4_000 && result.to_string().len() < 8_000, "{era:?}: {}", text.len());
        assert!(result["_meta"]["dev.toolmark/call"]["upstream"].get("data").is_none(), "{era:?}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_page_that_has_to_be_visited_is_told_to_a_client_that_knows_what_that_means() {
    let data = json!({"elicitations": [{"mode": "url", "elicitationId": "e1", "url": "https://x.example", "message": "log in"}]});
    let gateway = Running::of(failing(json!({"code": -32042, "message": "log in first", "data": data}))).await;
    let (_, old) = Raw::new(&gateway, Era::Old).await.ask("tools/call", json!({"name": "work"})).await;
    assert_eq!((&old["error"]["code"], &old["error"]["data"]), (&json!(-32042), &data), "{old}");
    let new = Raw::new(&gateway, Era::New).await.call("work", json!({})).await;
    assert_eq!(new["isError"], true, "{new}");
    assert!(new["content"][0]["text"].as_str().is_some_and(|text| text.contains("https://x.example")), "{new}");
    gateway.stop().await;
}

#[tokio::test]
async fn that_a_page_was_visited_is_told_to_whom_it_was_shown() {
    let server = scripted(json!({}), |method, params| {
        let done = |id: &str| json!({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": id}});
        let page = json!({"mode": "url", "elicitationId": "e1", "url": "https://x.example", "message": "log in"});
        Some(match (method, params["name"].as_str()) {
            ("tools/list", _) => Ok(json!({"tools": [tool("work"), tool("visit")]})),
            ("tools/call", Some("work")) => {
                Err(json!({"code": -32042, "message": "log in first", "data": {"elicitations": [page]}}))
            }
            // Nobody was sent to the first of them.
            ("tools/call", _) => Ok(json!({"content": [], "$says": [done("e0"), done("e1"), done("e1")]})),
            _ => Ok(json!({})),
        })
    });
    let config = read("[policy]\npreset = \"observe\"\n");
    let builder = GatewayBuilder::new(config, PathBuf::new()).built_in("p".parse().expect("a name"), server);
    let gateway = Running::of(builder).await;
    let (alice, bob) = (Raw::new(&gateway, Era::Old).await, Raw::new(&gateway, Era::Old).await);
    let (_, sent) = alice.ask("tools/call", json!({"name": "work", "arguments": {}})).await;
    assert_eq!(sent["error"]["code"], -32042, "{sent}");
    bob.call("visit", json!({})).await;
    let told = alice.told().await;
    assert_eq!(told["method"], "notifications/elicitation/complete", "{told}");
    assert_eq!(told["params"], json!({"elicitationId": "e1"}), "{told}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_client_hears_which_capability_it_lacks_only_where_it_does() {
    let fixture = http_fixture(toolmark_fixture::Era::New).await;
    let gateway = Running::start(&by_http("fixture", &fixture)).await;
    let (status, answer) =
        Raw::new(&gateway, Era::New).await.ask("tools/call", json!({"name": "test_missing_capability"})).await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::BAD_REQUEST, &json!(-32021)), "{answer}");
    // The old era has no such code.
    let old = Raw::new(&gateway, Era::Old).await.call("test_missing_capability", json!({})).await;
    assert_eq!(old["isError"], true, "{old}");
    gateway.stop().await;
}

#[tokio::test]
async fn an_error_of_a_server_is_never_taken_for_one_of_the_gateway() {
    for code in [-32022, -32021, -32020, -32601, -32600, -32700] {
        let gateway =
            Running::of(failing(json!({"code": code, "message": "so it is", "data": {"supported": []}}))).await;
        for era in ERAS {
            let client = Raw::new(&gateway, era).await;
            for (method, params) in [
                ("resources/read", json!({"uri": "doc://one"})),
                ("prompts/get", json!({"name": "greet"})),
                (
                    "completion/complete",
                    json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "a", "value": ""}}),
                ),
            ] {
                let (status, answer) = client.ask(method, params).await;
                assert_eq!((status, &answer["error"]["code"]), (StatusCode::OK, &json!(-32603)), "{method}: {answer}");
                assert_eq!(answer["error"]["message"], "so it is", "{method}: {answer}");
                let data = &answer["error"]["data"];
                assert_eq!((&data["code"], &data["upstream"]["code"]), (&json!("upstream-error"), &json!(code)));
            }
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_resource_that_is_gone_is_told_in_the_way_of_the_era() {
    let gateway = Running::of(failing(json!({"code": -32002, "message": "gone"}))).await;
    for (era, code) in [(Era::Old, -32002), (Era::New, -32602)] {
        let (status, answer) = Raw::new(&gateway, era).await.ask("resources/read", json!({"uri": "doc://one"})).await;
        assert_eq!((status, &answer["error"]["code"]), (StatusCode::OK, &json!(code)), "{era:?}: {answer}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn the_audit_says_that_the_tool_failed() {
    let store = store().await;
    let sink = store.audit_sink(SinkSettings { durability: Durability::Strict, ..SinkSettings::new("a-test") });
    let builder = failing(json!({"code": -32000, "message": "the disk is full"}));
    let gateway = Running::of(builder.store(store.clone()).audit(sink)).await;
    Raw::new(&gateway, Era::New).await.call("work", json!({})).await;
    let filter = AuditFilter { rows: true, ..AuditFilter::default() };
    let rows = store.audit(filter, Order::Newest).all().await.expect("rows");
    assert_eq!(rows[0].record.outcome, Outcome::ToolError);
    gateway.stop().await;
}
