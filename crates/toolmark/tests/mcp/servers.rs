//! How servers are started, told apart, and ended.

use super::*;
use toolmark::serde_json::json;
use toolmark::tools::OpenTurnError;

#[tokio::test]
async fn two_servers_with_the_same_tools_are_told_apart() {
    let (one, two) = (listening(Era::Both).await, listening(Era::Old).await);
    let toolbox = Toolbox::builder()
        .toolset(McpServer::at("one", one.url()).only(["echo", "stats"]).build().expect("a server"))
        .toolset(McpServer::at("two", two.url()).only(["echo", "stats"]).build().expect("a server"))
        .build();
    let turn = toolbox.turn(context()).await.expect("a turn");
    assert_eq!(names(&turn), ["one.echo", "one.stats", "two.echo", "two.stats"]);

    // A bare name means neither of them, and the model is told which there are.
    let stray = answer(&turn, "", "echo", json!({})).await;
    assert!(matches!(stray.ended, Ended::Stray(_)));
    assert!(stray.output.to_text().contains("`one.echo` or `two.echo`"), "{}", stray.output.to_text());

    assert_eq!(text(&turn, "two", "echo", json!({"text": "to the second"})).await, "to the second");
    let calls = |pack: &'static str| {
        let turn = turn.clone();
        async move { text(&turn, pack, "stats", json!({})).await }
    };
    assert!(!calls("one").await.contains("\"echo\""), "the other server was not called");
    assert!(calls("two").await.contains("\"echo\":1"));

    // What a tool is does not depend on what else there is, and says where it comes from.
    let marks: Vec<String> = turn.offered().map(|(_, tool)| tool.mark().to_string()).collect();
    assert_ne!(marks[0], marks[2], "the same definition from elsewhere is another tool");
    assert!(turn.offered().all(|(tool, entry)| tool.kind() == ToolKind::Mcp && entry.kind() == ToolKind::Mcp));
}

#[tokio::test]
async fn two_servers_of_one_name_are_refused_with_both_named() {
    let (one, two) = (listening(Era::New).await, listening(Era::New).await);
    let server = |url: String| McpServer::at("same", url).only(["echo"]).build().expect("a server");
    let toolbox = Toolbox::builder().toolset(server(one.url())).toolset(server(two.url())).build();
    let error = toolbox.turn(context()).await.expect_err("they collide");
    assert!(matches!(error, OpenTurnError::Catalog(_)), "{error}");
    let text = format!("{error} {}", error.fix());
    assert!(text.contains("same"), "{text}");
}

#[tokio::test]
async fn a_program_is_started_called_and_ended_with_the_server() {
    let server = program("local").env("GIVEN", "yes").only(["echo", "env"]).build().expect("a server");
    let (toolbox, turn) = turn(server.clone()).await;
    assert_eq!(text(&turn, "local", "echo", json!({"text": "hello"})).await, "hello");
    let seen = text(&turn, "local", "env", json!({})).await;
    assert!(seen.contains("GIVEN") && seen.contains("PATH"), "{seen}");
    assert!(!seen.contains("CARGO"), "nothing else of this process: {seen}");
    let before = children();
    assert_eq!(before.len(), 1, "one process for one server: {before:?}");
    drop((toolbox, turn, server));
    eventually(|| async { children().is_empty().then_some(()) }).await;
}

/// The servers that this process has started and that still run.
fn children() -> Vec<String> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let is_ours = |path: &std::path::Path| {
        let stat = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let mut after = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
        let (state, parent) = (after.next().unwrap_or("X"), after.next().unwrap_or_default());
        let given = std::fs::read(path.join("environ")).unwrap_or_default();
        state != "Z" && parent == own && given.windows(9).any(|window| window == b"GIVEN=yes")
    };
    processes.map(|entry| entry.path()).filter(|path| is_ours(path)).map(|path| path.display().to_string()).collect()
}

#[tokio::test]
async fn a_server_that_cannot_be_started_says_so_when_a_turn_begins() {
    let server = McpServer::program("absent", "/nowhere/at-all").build().expect("a server");
    assert_eq!(server.connect().await.expect_err("no program").code().as_str(), "upstream-start");
    let toolbox = Toolbox::builder().toolset(server).build();
    let error = toolbox.turn(context()).await.expect_err("no turn");
    assert_eq!(error.code().as_str(), "tools-unlisted");
    assert!(error.to_string().contains("`absent`"), "{error}");

    let gone = listening(Era::New).await;
    let server = McpServer::at("web", gone.url()).build().expect("a server");
    drop(gone);
    let error = server.connect().await.expect_err("nobody listens");
    assert_eq!(error.code().as_str(), "upstream-unreachable");
}

#[tokio::test]
async fn a_server_that_is_closed_stays_closed() {
    let server = program("local").only(["echo"]).build().expect("a server");
    let (toolbox, turn) = turn(server.clone()).await;
    server.close().await;
    let (said, error) = failed(&answer(&turn, "local", "echo", json!({})).await);
    assert_eq!(said, "`echo` was not called: its server is not there. Try again later, or go another way.");
    assert_eq!(error.code().as_str(), "mcp-server-closed");
    assert!(toolbox.turn(context()).await.expect_err("no turn").to_string().contains("was closed"));
}

#[tokio::test]
async fn everything_that_is_wrong_with_tools_is_said_at_once_and_they_can_be_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = r#"*tools/list*) answer "{\"tools\":[{\"name\":\"bad\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"nonsense\"}}}},{\"name\":\"\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":\"good\",\"inputSchema\":{\"type\":\"object\"}}]}" ;;"#;
    let build = || script("odd", folder.path(), list);
    let error = build().build().expect("a server").connect().await.expect_err("two tools are wrong");
    assert_eq!(error.code().as_str(), "mcp-server-tools");
    assert!(error.to_string().contains('2') && error.to_string().contains("bad"), "{error}");
    let tools = build().only(["good"]).build().expect("a server").connect().await;
    assert_eq!(tools.expect("the good one").len(), 1);
    let error = build().only(["good", "better"]).build().expect("a server").connect().await.expect_err("not there");
    assert_eq!((error.code().as_str(), error.to_string().contains("`better`")), ("mcp-server-lacks-tools", true));
}
