//! Approvals over HTTP: listing, showing, deciding, watching, and who may.

use http::{Method, StatusCode};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use crate::support::{ASK, Caller, Human, Running, Stage, TOKENS, call, ran, said, send, send_text, until, waits};

fn hello() -> Value {
    json!({"text": "hello"})
}

#[tokio::test]
async fn questions_are_listed_shown_and_decided() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (caller, bob) = (Caller::mute(&gateway), gateway.approver().await);
    assert!(bob.open().await.is_empty());
    for number in 0..3 {
        waits(&caller.call("echo", json!({"text": format!("issue {number}"), "repo": "a/b"})).await);
    }
    let answer = bob.ask(Method::GET, "/api/approvals?limit=2", &Value::Null).await.json();
    assert_eq!(answer["pending"], 3);
    let page = answer["approvals"].as_array().expect("a list");
    assert_eq!(page.len(), 2);
    assert_eq!(page[0]["arguments"]["text"], "issue 2", "newest first");
    let before = page[1]["id"].as_str().expect("an id");
    let rest = bob.ask(Method::GET, &format!("/api/approvals?before={before}"), &Value::Null).await.json();
    assert_eq!(rest["approvals"].as_array().map(Vec::len), Some(1));
    for wrong in ["state=open", "limit=many", "limit=-1", "before=soon"] {
        let refused = bob.ask(Method::GET, &format!("/api/approvals?{wrong}"), &Value::Null).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{wrong}");
        assert!(refused.json()["error"]["code"].is_string(), "{wrong}");
    }
    let path = format!("/api/approvals/{}", page[0]["id"].as_str().expect("an id"));
    let shown = bob.ask(Method::GET, &path, &Value::Null).await.json();
    assert_eq!(
        (&shown["tool"], &shown["state"], &shown["whole"]),
        (&json!("fixture.echo"), &json!("pending"), &json!(true))
    );
    assert_eq!(shown["proposals"][0]["vary"], json!(["text"]), "{shown}");
    assert_eq!(shown["proposals"][0]["calls"], 3);
    assert_eq!(shown["proposals"][0]["text"], "these 3 calls differ only in `text`");
    assert_eq!(shown["runs"][0]["state"], "parked");
    assert!(shown["reasons"][0]["message"].as_str().is_some_and(|text| text.contains("words have effects")), "{shown}");
    // One answer for all that differ so.
    let decided = bob.decide(&shown["id"], &json!({"decision": "approve", "vary": ["text"]})).await;
    assert_eq!(decided.status, StatusCode::OK, "{decided:?}");
    assert_eq!(decided.json()["decision"]["scope"], "pattern");
    for number in 0..9 {
        ran(&caller.call("echo", json!({"text": format!("issue {number}"), "repo": "a/b"})).await);
    }
    waits(&caller.call("echo", json!({"text": "issue 1", "repo": "a/c"})).await);
    waits(&caller.call("echo", json!({"text": "issue 1", "repo": "a/b", "more": 1})).await);
    assert_eq!(gateway.ran("echo", None).await, 9);
    let all = bob.ask(Method::GET, "/api/approvals?state=approved", &Value::Null).await.json();
    assert_eq!(all["approvals"].as_array().map(Vec::len), Some(1));
    gateway.stop().await;
}

#[tokio::test]
async fn a_decision_is_made_once_and_read_strictly() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (caller, bob) = (Caller::mute(&gateway), gateway.approver().await);
    waits(&caller.call("echo", hello()).await);
    let ask = bob.asked().await;
    let digest = ask["arguments_digest"].clone();
    for (decision, status, code) in [
        (json!({}), 400, "approval-decision-syntax"),
        (json!([]), 400, "approval-decision-syntax"),
        (json!({"decision": "yes"}), 400, "approval-decision-syntax"),
        (json!({"decision": "approve", "tool": "fixture.crash"}), 400, "approval-decision-syntax"),
        (json!({"decision": "approve", "arguments": 7}), 400, "approval-decision-syntax"),
        (json!({"decision": "approve", "uses": -1}), 400, "approval-decision-syntax"),
        (json!({"decision": "approve", "uses": 0}), 422, "approval-empty"),
        (json!({"decision": "approve", "scope": "session"}), 422, "approval-scope-not-offered"),
        (json!({"decision": "approve", "scope": "pattern"}), 422, "approval-pattern"),
        (json!({"decision": "approve", "vary": ["nothing"]}), 422, "approval-pattern"),
        (json!({"decision": "approve", "scope": "once", "vary": ["text"]}), 400, "approval-decision-syntax"),
        (json!({"decision": "reject", "arguments": {}}), 422, "approval-edited-arguments"),
        (json!({"decision": "approve", "scope": "always", "arguments": {}}), 422, "approval-edited-arguments"),
    ] {
        let answer = bob.decide(&ask["id"], &decision).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code), "{decision}: {answer:?}");
    }
    let shown = format!("Bearer {}", bob.token);
    let path = format!("/api/approvals/{}/decision", ask["id"].as_str().expect("an id"));
    let yes = json!({"decision": "approve"});
    let form = [("authorization", shown.as_str()), ("content-type", "text/plain")];
    assert_eq!(
        send(gateway.address, Method::POST, &path, &form, &yes).await.status,
        StatusCode::UNSUPPORTED_MEDIA_TYPE
    );
    let large = json!({"decision": "reject", "message": "x".repeat(300 * 1024)}).to_string();
    let answer = send_text(gateway.address, Method::POST, &path, &[("authorization", &shown)], large).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    for (method, path, status) in [
        (Method::GET, "/api/approvals/xyz", 400),
        (Method::GET, "/api/approvals/00000000-0000-0000-0000-000000000001", 404),
        (Method::DELETE, "/api/approvals", 405),
        (Method::GET, "/api/approvals/a/b/c", 404),
        (Method::DELETE, "/api/grants/00000000-0000-0000-0000-000000000001", 404),
        (Method::GET, "/api/approvals?before=xyz", 400),
    ] {
        assert_eq!(bob.ask(method.clone(), path, &Value::Null).await.status.as_u16(), status, "{method} {path}");
    }
    let (kind, digits) = digest.as_str().and_then(|text| text.split_once(':')).expect("a digest");
    let other = format!("{kind}:{}", digits.chars().rev().collect::<String>());
    let answer = bob.decide(&ask["id"], &json!({"decision": "approve", "arguments_digest": other})).await;
    assert_eq!((answer.status.as_u16(), answer.code().as_str()), (422, "approval-changed"), "{answer:?}");
    assert_eq!(bob.asked().await["id"], ask["id"], "nothing of this decided");
    let answer = bob.decide(&ask["id"], &json!({"decision": "approve", "arguments_digest": digest})).await;
    assert_eq!(answer.status, StatusCode::OK);
    let late = bob.decide(&ask["id"], &json!({"decision": "reject"})).await;
    assert_eq!((late.status, late.code().as_str()), (StatusCode::CONFLICT, "approval-decided"));
    ran(&caller.call("echo", hello()).await);
    gateway.stop().await;
}

#[tokio::test]
async fn grants_are_listed_and_taken_back() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (caller, bob) = (Caller::mute(&gateway), gateway.approver().await);
    waits(&caller.call("echo", hello()).await);
    let decided = bob.decides(json!({"decision": "approve", "scope": "always", "expires_in": 3600})).await;
    let id = decided["decision"]["grant"].as_str().expect("a grant").to_owned();
    for text in ["hello", "one", "two"] {
        let answer = caller.call("echo", json!({"text": text})).await;
        assert_eq!(answer["result"]["_meta"]["dev.toolmark/call"]["grant"], json!(id), "{answer}");
    }
    let grants = bob.ask(Method::GET, "/api/grants", &Value::Null).await.json();
    let grant = &grants["grants"][0];
    assert_eq!((&grant["id"], &grant["tool"], &grant["scope"]), (&json!(id), &json!("fixture.echo"), &json!("always")));
    assert_eq!((&grant["given"]["by"], &grant["given"]["way"]), (&json!("bob"), &json!("http")));
    assert!(grant["revoked"].is_null() && grant["expires"].is_string());
    let revoked = bob.ask(Method::DELETE, &format!("/api/grants/{id}"), &Value::Null).await;
    assert_eq!(revoked.status, StatusCode::OK);
    waits(&caller.call("echo", json!({"text": "three"})).await);
    let again = bob.ask(Method::DELETE, &format!("/api/grants/{id}"), &Value::Null).await;
    assert_eq!(again.status, StatusCode::NOT_FOUND);
    let grants = bob.ask(Method::GET, "/api/grants", &Value::Null).await.json();
    assert_eq!(grants["grants"][0]["revoked"]["by"], "bob", "it is remembered");
    assert_eq!(gateway.ran("echo", None).await, 3);
    gateway.stop().await;
}

/// Every address of the interface.
fn addresses(id: &str) -> [(Method, String); 6] {
    [
        (Method::GET, "/api/approvals".into()),
        (Method::GET, "/api/approvals/events".into()),
        (Method::GET, format!("/api/approvals/{id}")),
        (Method::POST, format!("/api/approvals/{id}/decision")),
        (Method::GET, "/api/grants".into()),
        (Method::DELETE, format!("/api/grants/{id}")),
    ]
}

#[tokio::test]
async fn only_a_token_of_an_approver_decides_and_it_calls_nothing() {
    let stage = Stage::new().await;
    for config in [ASK.to_owned(), format!("{TOKENS}{ASK}")] {
        let gateway = stage.gateway(&config).await;
        let ann = gateway.token("ann", false).await;
        let bob = gateway.approver().await;
        let caller = Caller::mute(&gateway).with(&ann);
        waits(&caller.call("echo", hello()).await);
        let id = bob.asked().await["id"].as_str().expect("an id").to_owned();
        let yes = json!({"decision": "approve"});
        for (method, path) in addresses(&id) {
            let wrong = format!("Bearer tma_{}", "0".repeat(64));
            let unknown = format!("Bearer {}x", &bob.token[..bob.token.len() - 1]);
            let tries: [(&[(&str, &str)], u16); 6] = [
                (&[], 401),
                (&[("authorization", "Bearer ")], 401),
                (&[("authorization", "Basic Ym9iOmJvYg==")], 401),
                (&[("authorization", &wrong)], 401),
                (&[("authorization", &unknown)], 401),
                (&[("authorization", &format!("Bearer {ann}"))], 403),
            ];
            for (headers, status) in tries {
                let answer = send(gateway.address, method.clone(), &path, headers, &yes).await;
                assert_eq!(answer.status.as_u16(), status, "{method} {path} {headers:?}: {answer:?}");
                assert!(!answer.body.contains("hello"), "nothing is told: {answer:?}");
                assert_eq!(answer.headers.contains_key("www-authenticate"), status == 401, "{answer:?}");
            }
        }
        assert_eq!(bob.asked().await["id"], id.as_str(), "nobody decided");
        // Whoever decides does not call: otherwise an agent that gets hold of it approves its own calls.
        if config.contains("tokens") {
            let answer = Caller::mute(&gateway).with(&bob.token).call("echo", hello()).await;
            assert!(answer["error"].is_object(), "{answer}");
        }
        bob.decides(json!({"decision": "reject"})).await;
        assert!(said(&caller.call("echo", hello()).await).contains("bob said no"));
        assert_eq!(gateway.ran("echo", Some(&ann)).await, 0);
        let store = gateway.store.clone();
        for token in store.tokens().await.expect("tokens") {
            store.revoke_token(&token.token.id).await.expect("revoked");
        }
        let answer = bob.ask(Method::GET, "/api/approvals", &Value::Null).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "a revoked token decides nothing");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_foreign_origin_alone_and_a_foreign_host_alone_are_refused() {
    let stage = Stage::new().await;
    let gateway = stage.gateway(ASK).await;
    let (caller, bob) = (Caller::mute(&gateway), gateway.approver().await);
    waits(&caller.call("echo", hello()).await);
    let id = bob.asked().await["id"].as_str().expect("an id").to_owned();
    let shown = format!("Bearer {}", bob.token);
    for (method, path) in addresses(&id) {
        for (name, value) in [
            ("origin", "https://evil.example"),
            ("origin", "null"),
            ("host", "evil.example"),
            ("host", "127.0.0.1.evil.example"),
        ] {
            let headers = [("authorization", shown.as_str()), (name, value)];
            let answer = send(gateway.address, method.clone(), &path, &headers, &json!({"decision": "approve"})).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path} {name}: {value}");
        }
    }
    assert_eq!(bob.asked().await["id"], id.as_str());
    gateway.stop().await;
}

/// Events as they come.
struct Events(hyper::body::Incoming, String);

impl Events {
    async fn open(gateway: &Running, token: &str) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http::<Empty<bytes::Bytes>>();
        let request = http::Request::get(format!("http://{}/api/approvals/events", gateway.address))
            .header("authorization", format!("Bearer {token}"))
            .body(Empty::new())
            .expect("a request");
        let response = client.request(request).await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(response.into_body(), String::new())
    }

    async fn next(&mut self) -> (String, Value) {
        loop {
            while let Some((event, rest)) = self.1.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.1 = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                if let (Some(name), Some(data)) = (field("event: "), field("data: ")) {
                    return (name, serde_json::from_str(&data).expect("JSON"));
                }
            }
            let frame = self.0.frame().await.expect("the stream goes on").expect("a frame");
            if let Ok(data) = frame.into_data() {
                self.1.push_str(&String::from_utf8_lossy(&data));
            }
        }
    }

    /// The next event of this name about this call.
    async fn find(&mut self, wanted: &str, text: &str) -> Value {
        loop {
            let (name, data) = self.next().await;
            if name == wanted && data["arguments"]["text"] == text {
                return data;
            }
        }
    }
}

#[tokio::test]
async fn whoever_watches_hears_of_questions_and_answers_of_every_gateway() {
    let stage = Stage::new().await;
    let one = stage.node("n1", &stage.config(ASK)).await;
    let two = stage.node("n2", &stage.config(ASK)).await;
    let (caller, bob) = (Caller::mute(&one), one.approver().await);
    waits(&caller.call("echo", hello()).await);
    let mut here = Events::open(&one, &bob.token).await;
    let mut there = Events::open(&two, &bob.token).await;
    for events in [&mut here, &mut there] {
        let (name, data) = events.next().await;
        assert_eq!((name.as_str(), data["approvals"].as_array().map(Vec::len)), ("open", Some(1)));
    }
    waits(&caller.call("echo", json!({"text": "second"})).await);
    let asked = here.find("asked", "second").await;
    assert_eq!(there.find("asked", "second").await["id"], asked["id"]);
    assert_eq!(bob.decide(&asked["id"], &json!({"decision": "reject", "message": "no"})).await.status, StatusCode::OK);
    for events in [&mut here, &mut there] {
        let settled = events.find("settled", "second").await;
        assert_eq!((&settled["state"], &settled["decision"]["message"]), (&json!("rejected"), &json!("no")));
    }
    drop((here, there));
    one.stop().await;
    two.stop().await;
}

#[tokio::test]
async fn a_decision_at_one_gateway_reaches_a_form_at_another() {
    let stage = Stage::new().await;
    let one = stage.node("n1", &stage.config(ASK)).await;
    let two = stage.node("n2", &stage.config(ASK)).await;
    let client = one.human(Human::who([crate::support::Does::Thinks])).await;
    let bob = two.approver().await;
    let (answer, _) =
        tokio::join!(call(&client, "echo", hello()), bob.decides(json!({"decision": "approve", "scope": "always"})));
    ran(&answer);
    until(async || (client.service().withdrawn() == 1).then_some(())).await;
    // What was said for good holds on both, for the call that was asked about too.
    for gateway in [&two, &one] {
        for text in ["hello", "other"] {
            ran(&Caller::mute(gateway).call("echo", json!({"text": text})).await);
        }
    }
    assert!(bob.open().await.is_empty(), "nobody is asked again");
    one.stop().await;
    two.stop().await;
}
