//! What strangers say is data in every answer: JSON that no browser takes for a page, with nothing invisible where people read it.

use http::StatusCode;
use serde_json::{Value, json};

use crate::support::{ASK, Running, SCRIPT};

/// Every text under a key that people read as it is.
fn read(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(text)
                        if ["name", "text", "says", "called", "about", "summary"].contains(&key.as_str()) =>
                    {
                        texts.push(text.clone());
                    }
                    _ => read(value, texts),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| read(item, texts)),
        _ => {}
    }
}

#[tokio::test]
async fn hostile_names_arguments_and_results_are_text_everywhere() {
    let running = Running::start(&format!("{ASK}[audit]\nbodies = \"all\"\n")).await;
    let mut page = running.live("").await;
    page.of("hello").await;
    running.call("slow", json!({"text": SCRIPT})).await;
    running.call("touch", json!({"text": SCRIPT})).await;
    running.call(SCRIPT.trim_end_matches('\u{200B}').split('\u{202E}').next().expect("there"), json!({})).await;
    let live = page.of("call").await;
    let id = live["id"].as_str().expect("there");
    let hostile = "/api/catalog/own.%3Cb%3Ebold%E2%80%AE";
    let paths = [
        "/api/me".to_owned(),
        "/api/calls".to_owned(),
        format!("/api/calls/{id}"),
        "/api/catalog".to_owned(),
        "/api/confusables".to_owned(),
        "/api/policy".to_owned(),
        "/api/health".to_owned(),
        "/api/agents".to_owned(),
        "/api/approvals".to_owned(),
    ];
    for path in &paths {
        let answer = running.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        assert_eq!(answer.header("content-type"), "application/json", "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        let mut texts = Vec::new();
        let mut shown = answer.json();
        // What runs is shown as it is to whoever decides; `prompt` is what people read of it.
        if path == "/api/approvals" {
            let prompt = shown["approvals"][0]["prompt"].as_str().expect("a prompt");
            assert!(prompt.contains("onerror") && !prompt.contains(['\u{202E}', '\u{200B}']), "{prompt:?}");
            shown["approvals"][0]["arguments"] = Value::Null;
        }
        read(&shown, &mut texts);
        for text in texts {
            assert!(!text.contains(['\u{202E}', '\u{200B}', '\n']), "{path}: {text:?}");
        }
    }
    let mut texts = Vec::new();
    read(&live, &mut texts);
    assert!(texts.iter().all(|text| !text.contains(['\u{202E}', '\u{200B}'])), "{live}");
    let card = running.get(hostile).await;
    if card.status == StatusCode::OK {
        assert_eq!(card.json()["description"], SCRIPT, "a card shows what the publisher says, as it is said");
        assert!(!card.json()["shown"]["name"].as_str().expect("there").contains('\u{202E}'));
    } else {
        assert_eq!(card.status, StatusCode::NOT_FOUND, "or the tool was refused");
    }
    let told = running.shown(&format!("/api/calls/{id}")).await;
    assert!(told["call"]["result"]["text"].as_str().expect("there").contains("onerror"), "kept as text: {told}");
    running.stop().await;
}

#[tokio::test]
async fn large_and_deep_arguments_are_cut_and_say_so() {
    let running = Running::start("[audit]\nbodies = \"all\"\n").await;
    let mut page = running.live("").await;
    page.of("hello").await;
    running.call("slow", json!({"text": "x".repeat(100_000)})).await;
    let call = page.of("call").await;
    assert_eq!(call["arguments"]["cut"], true);
    assert!(call["arguments"]["text"].as_str().expect("there").len() <= 9 << 10);
    running.call("slow", json!({"text": "y".repeat(600_000)})).await;
    let call = page.of("call").await;
    assert_eq!((&call["arguments"]["text"], &call["arguments"]["cut"]), (&Value::Null, &json!(true)));
    assert!(call["arguments"]["size"].as_u64().expect("there") > 600_000);
    running.stop().await;
}
