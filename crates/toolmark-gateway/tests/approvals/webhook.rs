//! Questions that go to a server of the operator: signed, answered at once or later.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::support::{ASK, Caller, Running, Stage, ran, said, send, until, waits};

const SECRET: &str = "a secret of more than sixteen characters";

/// A server that hears of questions, and answers each in its way.
struct Hook {
    url: String,
    heard: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    task: JoinHandle<()>,
}

impl Hook {
    async fn start(answer: impl Fn(usize, &Value) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let heard: Arc<Mutex<Vec<(HeaderMap, Bytes)>>> = Arc::default();
        let (kept, answer) = (Arc::clone(&heard), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                let service = service_fn(move |request: Request<Incoming>| {
                    let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.expect("a body").to_bytes();
                        let value = serde_json::from_slice(&body).expect("JSON");
                        let count = {
                            let mut kept = kept.lock().expect("no test panics with it");
                            kept.push((head.headers, body));
                            kept.len()
                        };
                        let (status, text) = answer(count, &value);
                        let response = Response::builder().status(status).body(Full::new(Bytes::from(text)));
                        Ok::<_, Infallible>(response.expect("a response"))
                    }
                });
                tokio::spawn(async move {
                    let server = auto::Builder::new(TokioExecutor::new());
                    let _ = server.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { url, heard, task }
    }

    fn config(&self) -> String {
        format!("[approvals.webhook]\nurl = \"{}\"\nsecret = \"{SECRET}\"\n{ASK}", self.url)
    }

    /// The questions that were heard, once there are so many; each with a good signature.
    async fn hears(&self, count: usize) -> Vec<Value> {
        let heard = until(async || {
            let heard = self.heard.lock().expect("no test panics with it").clone();
            (heard.len() >= count).then_some(heard)
        })
        .await;
        heard
            .iter()
            .map(|(headers, body)| {
                check_signature(headers, body);
                serde_json::from_slice(body).expect("JSON")
            })
            .collect()
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// As the operator's server would: over the time and the body, with another implementation than ours.
fn check_signature(headers: &HeaderMap, body: &[u8]) {
    let header = headers["toolmark-signature"].to_str().expect("a text");
    let (time, tag) = header.strip_prefix("t=").and_then(|rest| rest.split_once(",v1=")).expect("both parts");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let time_said: u64 = time.parse().expect("seconds");
    assert!(now.abs_diff(time_said) < 300, "{time}");
    let tag: Vec<u8> =
        (0..tag.len()).step_by(2).map(|at| u8::from_str_radix(&tag[at..at + 2], 16).expect("hex")).collect();
    let key = hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes());
    let signed = [format!("{time}.").as_bytes(), body].concat();
    hmac::verify(&key, &signed, &tag).expect("the signature is over the time and the body");
    let mut other = signed;
    other[0] ^= 1;
    hmac::verify(&key, &other, &tag).expect_err("another time has another signature");
}

fn hello() -> Value {
    json!({"text": "hello"})
}

async fn waiting(hook: &Hook) -> (Stage, Running) {
    let stage = Stage::new().await;
    let gateway = stage.gateway(&hook.config()).await;
    (stage, gateway)
}

#[tokio::test]
async fn a_webhook_answers_in_its_response() {
    let hook = Hook::start(|_, asked| {
        let yes = asked["approval"]["arguments"]["text"] == "hello";
        let decision =
            if yes { json!({"decision": "approve"}) } else { json!({"decision": "reject", "message": "only hello"}) };
        (200, decision.to_string())
    })
    .await;
    let stage = Stage::new().await;
    let gateway = stage.gateway(&format!("[approvals]\nwait = \"5min\"\n{}", hook.config())).await;
    let caller = Caller::mute(&gateway);
    let answer = caller.call("echo", hello()).await;
    assert_eq!(said(&answer), "hello");
    assert_eq!(answer["result"]["_meta"]["dev.toolmark/call"]["approved_by"], "webhook");
    let answer = caller.call("echo", json!({"text": "goodbye"})).await;
    assert!(said(&answer).contains("webhook said no: only hello"), "{answer}");
    let heard = hook.hears(2).await;
    assert_eq!(heard[0]["type"], "approval.asked");
    assert_eq!(heard[0]["approval"]["tool"], "fixture.echo");
    assert_eq!(gateway.ran("echo", None).await, 1);
    gateway.stop().await;
}

#[tokio::test]
async fn a_webhook_answers_later_with_the_token_of_its_question() {
    let hook = Hook::start(|_, _| (202, String::new())).await;
    let (_stage, gateway) = waiting(&hook).await;
    let caller = Caller::mute(&gateway);
    waits(&caller.call("echo", hello()).await);
    waits(&caller.call("echo", json!({"text": "other"})).await);
    let heard = hook.hears(2).await;
    let find = |text: &str| heard.iter().find(|asked| asked["approval"]["arguments"]["text"] == text).expect("heard");
    let (first, other) = (find("hello"), find("other"));
    let path = |asked: &Value| {
        let url = asked["decide"]["url"].as_str().expect("an address");
        url.parse::<http::Uri>().expect("an address").path().to_owned()
    };
    let token = |asked: &Value| format!("Bearer {}", asked["decide"]["token"].as_str().expect("a token"));
    let decide = async |path: &str, token: &str| {
        let yes = json!({"decision": "approve", "message": "fine"});
        send(gateway.address, Method::POST, path, &[("authorization", token)], &yes).await.status
    };
    assert_eq!(decide(&path(first), &token(other)).await, StatusCode::UNAUTHORIZED, "it is for its own question");
    let list =
        send(gateway.address, Method::GET, "/api/approvals", &[("authorization", &token(first))], &Value::Null).await;
    assert_eq!(list.status, StatusCode::UNAUTHORIZED, "and for nothing else");
    assert_eq!(decide(&path(first), &token(first)).await, StatusCode::OK);
    assert_eq!(decide(&path(first), &token(first)).await, StatusCode::CONFLICT, "once");
    ran(&caller.call("echo", hello()).await);
    waits(&caller.call("echo", json!({"text": "other"})).await);
    assert_eq!(gateway.ran("echo", None).await, 1);
    gateway.stop().await;
}

#[tokio::test]
async fn a_webhook_that_stumbles_is_tried_again_and_nonsense_decides_nothing() {
    let hook = Hook::start(|count, asked| match (count, asked["approval"]["arguments"]["text"].as_str()) {
        (1, _) => (503, "later".into()),
        (_, Some("hello")) => (200, json!({"decision": "approve"}).to_string()),
        _ => (200, json!({"decision": "approve", "everything": true}).to_string()),
    })
    .await;
    let (_stage, gateway) = waiting(&hook).await;
    let (caller, bob) = (Caller::mute(&gateway), gateway.approver().await);
    waits(&caller.call("echo", hello()).await);
    hook.hears(2).await;
    until(async || bob.open().await.is_empty().then_some(())).await;
    ran(&caller.call("echo", hello()).await);
    waits(&caller.call("echo", json!({"text": "other"})).await);
    hook.hears(3).await;
    assert_eq!(bob.open().await.len(), 1, "what is not understood decides nothing");
    bob.decides(json!({"decision": "reject"})).await;
    assert_eq!(gateway.ran("echo", None).await, 1);
    gateway.stop().await;
}

#[tokio::test]
async fn a_question_reaches_a_webhook_once_however_many_call() {
    let hook = Hook::start(|_, _| (200, "{}".into())).await;
    let (_stage, gateway) = waiting(&hook).await;
    let (caller, bob) = (Caller::mute(&gateway), gateway.approver().await);
    for _ in 0..5 {
        waits(&caller.call("echo", hello()).await);
    }
    waits(&caller.call("echo", json!({"text": "last"})).await);
    let heard = hook.hears(2).await;
    assert_eq!(heard.len(), 2);
    assert_eq!(bob.open().await.len(), 2);
    gateway.stop().await;
}
