//! Servers that crash, come back, and change what they list.

use super::*;
use toolmark::mcp::McpServerError;
use toolmark::serde_json::json;

#[tokio::test]
async fn a_server_that_crashes_is_started_again_and_nothing_is_sent_twice() {
    let server = program("local").only(["echo", "crash"]).build().expect("a server");
    let (_toolbox, turn) = turn(server).await;
    let (said, error) = failed(&answer(&turn, "local", "crash", json!({"code": 3})).await);
    assert_eq!(
        said,
        "`crash` brought no result: its server gave no answer. It may have had an effect: check before you repeat it."
    );
    assert!(matches!(&error, McpCallError::Upstream(_)), "{error:?}");
    // In the same turn: the tool is what it was, so that it may be called.
    assert_eq!(text(&turn, "local", "echo", json!({"text": "back"})).await, "back");
}

#[tokio::test]
async fn a_tool_that_changed_while_its_server_was_away_is_not_called_in_the_same_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    let dies = r#"*die*) exit 3 ;;"#;
    let server = script("sh", folder.path(), dies).build().expect("a server");
    let (toolbox, turn) = turn(server).await;
    let before = turn.offered().map(|(tool, _)| tool.description().to_owned()).collect::<Vec<_>>();
    assert_eq!(before, ["start 1"]);
    failed(&answer(&turn, "sh", "note", json!({"x": "die"})).await);
    let (said, error) = failed(&answer(&turn, "sh", "note", json!({})).await);
    assert_eq!(said, "`note` was not called: its server has changed it. Look at it again before you call it.");
    assert!(matches!(error, McpCallError::Changed));
    assert!(!folder.path().join("calls").exists(), "nothing reached the new server");
    // The next turn lists it as it is now.
    let turn = toolbox.turn(context()).await.expect("a turn");
    let after = turn.offered().map(|(tool, _)| tool.description().to_owned()).collect::<Vec<_>>();
    assert_eq!(after, ["start 2"]);
    assert_eq!(text(&turn, "sh", "note", json!({})).await, "noted");
}

#[tokio::test]
async fn a_list_that_changes_is_picked_up_between_turns() {
    for era in [Era::Old, Era::New] {
        let fixture = listening(era).await;
        let server = McpServer::at("f", fixture.url()).build().expect("a server");
        let toolbox = Toolbox::builder().toolset(server).build();
        let turn = toolbox.turn(context()).await.expect("a turn");
        let has = |turn: &Turn| names(turn).iter().any(|name| name == "f.test_extra_tool");
        let before = has(&turn);
        text(&turn, "f", "test_trigger_tool_change", json!({})).await;
        let turn = eventually(|| async {
            let turn = toolbox.turn(context()).await.expect("a turn");
            (has(&turn) != before).then_some(turn)
        })
        .await;
        text(&turn, "f", "test_trigger_tool_change", json!({})).await;
        eventually(|| async { (has(&toolbox.turn(context()).await.expect("a turn")) == before).then_some(()) }).await;
    }
}

#[tokio::test]
async fn a_turn_whose_server_does_not_come_back_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let dies = r#"*die*) rm -f alive; exit 3 ;;"#;
    std::fs::write(folder.path().join("alive"), "").expect("a file");
    let server = script("sh", folder.path(), dies).build().expect("a server");
    let (toolbox, turn) = turn(server).await;
    // The folder goes with the server, so that it cannot be started in it again.
    failed(&answer(&turn, "sh", "note", json!({"x": "die"})).await);
    drop(folder);
    let (said, error) = failed(&answer(&turn, "sh", "note", json!({})).await);
    assert_eq!(said, "`note` was not called: its server is not there. Try again later, or go another way.");
    assert!(matches!(error, McpCallError::Unavailable(inner) if matches!(*inner, McpServerError::Connect { .. })));
    assert_eq!(toolbox.turn(context()).await.expect_err("no turn").code().as_str(), "tools-unlisted");
}
