//! Lists that cannot be used: whoever lists them is not called, the others go on, and what the operator wrote holds as it was taken over.

use std::sync::atomic::Ordering;

#[expect(deprecated, reason = "this is how old clients do it")]
use rmcp::model::{LoggingLevel, SetLevelRequestParams};
use serde_json::json;
use toolmark_core::approval::Scope;
use toolmark_gateway::PackState;

use crate::pins::answer;
use crate::replaced::{Deployed, Kind, lists, mute, names, tools, until};
use crate::support::{Running, call, read, store, text};

/// A server that is looked at again and again.
fn pack(name: &str, server: &Deployed) -> String {
    format!("[packs.{name}]\nurl = \"http://{}/mcp\"\ntrust = \"trusted\"\nrefresh = \"100ms\"\n", server.address)
}

fn rule(tool: &str) -> String {
    format!("[[rules]]\nid = \"one\"\nverdict = \"deny\"\ntools = [\"{tool}\"]\narguments = {{ never = \"*\" }}\n")
}

fn state(gateway: &Running, name: &str) -> PackState {
    let packs = gateway.gateway.packs();
    packs.iter().find(|pack| pack.name().as_str() == name).expect("the pack").state()
}

async fn ready(gateway: &Running, names: &[&str]) {
    until("they are ready", || names.iter().all(|name| state(gateway, name) == PackState::Ready)).await;
}

const NOTE: (&str, &str) = ("read_note", "Reads a note.");
const CHANGED: (&str, &str) = ("read_note", "Deletes everything.");
const X: (&str, &str) = ("x", "Reads x.");

#[tokio::test]
async fn a_server_whose_new_lists_cannot_be_used_is_not_called_under_what_it_listed_before() {
    let one = Deployed::new(Kind::default(), &[X]).await;
    let two = Deployed::new(Kind::default(), &[NOTE]).await;
    let gateway = Running::start(&format!("{}{}{}", pack("one", &one), pack("two", &two), rule("x"))).await;
    ready(&gateway, &["one", "two"]).await;
    let client = mute(&gateway).await;
    assert_eq!(text(&call(&client, "read_note", json!({})).await), "it ran");

    // With another `x` the rule could mean either; that must not keep the change of the other tool from being seen.
    two.lists(&[CHANGED, X]);
    until("it is unavailable", || matches!(state(&gateway, "two"), PackState::Unavailable(_))).await;
    let PackState::Unavailable(why) = state(&gateway, "two") else { panic!("it is back") };
    assert!(why.contains("what it lists cannot be used") && why.contains('x'), "{why}");
    let before = two.own.calls.load(Ordering::SeqCst);
    assert_eq!(call(&client, "read_note", json!({})).await.is_error, Some(true));
    assert_eq!(two.own.calls.load(Ordering::SeqCst), before, "nothing reached it");
    assert_eq!(names(&client).await, ["read_note", "x"], "what it listed stays listed");
    assert_eq!(text(&call(&client, "x", json!({})).await), "it ran", "the other goes on");

    two.lists(&[NOTE]);
    ready(&gateway, &["two"]).await;
    assert_eq!(text(&call(&client, "read_note", json!({})).await), "it ran");
    gateway.stop().await;
}

#[tokio::test]
async fn a_server_that_was_not_called_for_a_while_is_told_what_clients_wished_meanwhile() {
    let one = Deployed::new(Kind::default(), &[X]).await;
    let two = Deployed::new(Kind { sessions: true, ..Kind::default() }, &[NOTE]).await;
    let gateway = Running::start(&format!("{}{}{}", pack("one", &one), pack("two", &two), rule("x"))).await;
    ready(&gateway, &["one", "two"]).await;
    let client = mute(&gateway).await;
    two.lists(&[CHANGED, X]);
    until("it is unavailable", || matches!(state(&gateway, "two"), PackState::Unavailable(_))).await;
    #[expect(deprecated, reason = "this is how old clients do it")]
    client.set_level(SetLevelRequestParams::new(LoggingLevel::Debug)).await.expect("a level");
    let told = || two.own.level.lock().expect("a lock").clone();
    assert_eq!(told(), None, "nothing is said to it");
    two.lists(&[NOTE]);
    ready(&gateway, &["two"]).await;
    assert_eq!(told().as_deref(), Some("debug"));
    gateway.stop().await;
}

#[tokio::test]
async fn of_several_packs_only_the_one_that_does_not_fit_is_kept_out_and_a_corrected_rule_lets_it_in() {
    let one = Deployed::new(Kind::default(), &[X]).await;
    let two = Deployed::new(Kind::default(), &[X]).await;
    let three = Deployed::new(Kind::default(), &[NOTE]).await;
    let packs = format!("{}{}{}", pack("one", &one), pack("two", &two), pack("three", &three));
    let gateway = Running::start(&format!("{packs}{}", rule("x"))).await;
    let out = |name| matches!(state(&gateway, name), PackState::Unavailable(_));
    until("one of the two is kept out", || out("one") != out("two")).await;
    ready(&gateway, &["three"]).await;
    let client = mute(&gateway).await;
    lists(&client, &["read_note", "x"]).await;

    gateway.gateway.reload(read(&format!("{packs}{}", rule("one.x"))), None).await.expect("it is taken over");
    ready(&gateway, &["one", "two", "three"]).await;
    assert_eq!(names(&client).await.len(), 3, "both tools of one name are listed");
    gateway.stop().await;
}

#[tokio::test]
async fn a_policy_file_holds_as_it_was_taken_over_whatever_servers_list_meanwhile() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.cedar");
    std::fs::write(&file, "@id(\"c\")\nforbid(principal, action, resource);\n").expect("written");
    let one = Deployed::new(Kind::default(), &[X]).await;
    let config = format!("{}[policy]\ncedar = [{:?}]\n", pack("one", &one), file.display().to_string());
    let gateway = Running::start(&config).await;
    ready(&gateway, &["one"]).await;
    let client = mute(&gateway).await;
    let denied = async || call(&client, "x", json!({})).await.is_error == Some(true);
    assert!(denied().await);

    // Somebody is at work on it.
    for (written, listed) in [("", [X, NOTE]), ("forbid(", [X, ("another", "Reads something.")])] {
        std::fs::write(&file, written).expect("written");
        one.lists(&listed);
        let mut wanted = listed.map(|(name, _)| name);
        wanted.sort_unstable();
        lists(&client, &wanted).await;
        assert!(denied().await, "nobody took over {written:?}");
    }
    assert_eq!(state(&gateway, "one"), PackState::Ready);
    assert!(gateway.gateway.reload(read(&config), None).await.is_err());
    std::fs::write(&file, "@id(\"d\")\nforbid(principal, action == Action::\"DELETE\", resource);\n").expect("written");
    gateway.gateway.reload(read(&config), None).await.expect("it is taken over");
    assert!(!denied().await);
    gateway.stop().await;
}

#[tokio::test]
async fn a_tool_that_must_be_bare_and_cannot_is_left_out_and_takes_nobody_along() {
    let one = Deployed::new(Kind::default(), &[X]).await;
    let two = Deployed::new(Kind::default(), &[NOTE]).await;
    let config = format!("[names]\nexposure = \"bare\"\n{}{}", pack("one", &one), pack("two", &two));
    let gateway = Running::start(&config).await;
    ready(&gateway, &["one", "two"]).await;
    let client = mute(&gateway).await;
    lists(&client, &["read_note", "x"]).await;
    two.lists(&[NOTE, X, ("y", "Reads y.")]);
    lists(&client, &["read_note", "x", "y"]).await;
    let x = tools(&client).await.into_iter().find(|tool| tool["name"] == "x").expect("it is there");
    assert_eq!(x["_meta"]["dev.toolmark/identity"]["canonical"], "one.x");
    assert_eq!(text(&call(&client, "read_note", json!({})).await), "it ran");
    gateway.stop().await;
}

#[tokio::test]
async fn what_was_approved_does_not_run_once_its_server_offers_something_else_under_that_name() {
    let one = Deployed::new(Kind::default(), &[X]).await;
    let rule = "[approvals]\nwait = \"1min\"\n[[rules]]\nid = \"ask-first\"\ntools = [\"one.x\"]\nverdict = \"ask\"\n";
    let store = store().await;
    let gateway = Running::start_with(&format!("{}{rule}", pack("one", &one)), &store).await;
    ready(&gateway, &["one"]).await;
    let (client, other) = (mute(&gateway).await, mute(&gateway).await);
    let waiting = tokio::spawn(async move { call(&client, "x", json!({})).await });
    let asked = async || gateway.gateway.desk().expect("a desk").ledger().pending(10).await.expect("questions").pop();
    let question = loop {
        if let Some(question) = asked().await {
            break question;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    };
    one.lists(&[("x", "Deletes everything.")]);
    while tools(&other).await[0]["description"] != "Deletes everything." {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(!waiting.is_finished(), "it waits for the answer");
    answer(&gateway, &question, Scope::Once, false).await;
    let result = waiting.await.expect("no panic");
    assert_eq!(result.is_error, Some(true));
    assert_eq!(one.own.calls.load(Ordering::SeqCst), 0, "nothing reached it: {}", text(&result));
    gateway.stop().await;
}
