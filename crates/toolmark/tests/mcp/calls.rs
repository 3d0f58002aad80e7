//! What becomes of calls: results, failures, questions of servers, time.

use super::*;
use toolmark::serde_json::json;
use toolmark::tools::{ImagePart, ToolOutput};

#[tokio::test]
async fn results_have_a_shape_that_models_can_look_at() {
    let fixture = listening(Era::Both).await;
    let (_toolbox, turn) = turn(McpServer::at("f", fixture.url()).build().expect("a server")).await;
    let output = answer(&turn, "f", "test_image_content", json!({})).await.output;
    let ToolOutput::Parts(parts) = &output else { panic!("{output:?}") };
    assert!(
        matches!(&parts[..], [Part::Image(ImagePart { url: Some(url), .. })] if url.starts_with("data:image/png;base64,"))
    );
    let output = answer(&turn, "f", "test_audio_content", json!({})).await.output;
    assert_eq!(output.to_wire()[0]["type"], "input_file");
    assert_eq!(output.to_wire()[0]["filename"], "audio.wav");
    let output = answer(&turn, "f", "test_multiple_content_types", json!({})).await.output;
    let kinds: Vec<Value> =
        output.to_wire().as_array().expect("parts").iter().map(|part| part["type"].clone()).collect();
    assert_eq!(kinds, ["input_text", "input_image", "input_text"]);
    let said = text(&turn, "f", "test_embedded_resource", json!({})).await;
    assert_eq!(said, "This is an embedded resource content.");

    let structured = McpServer::at("f", fixture.url()).structured(true).only(["stats"]).build().expect("a server");
    let (_toolbox, turn) = super::turn(structured).await;
    let output = answer(&turn, "f", "stats", json!({})).await.output;
    assert!(matches!(output, ToolOutput::Json(value) if value["calls"]["test_image_content"] == 1));
}

#[tokio::test]
async fn what_a_server_says_of_a_failure_is_what_the_model_reads() {
    let fixture = listening(Era::New).await;
    let (_toolbox, turn) = turn(McpServer::at("f", fixture.url()).build().expect("a server")).await;
    let (said, error) = failed(&answer(&turn, "f", "fail", json!({"message": "no such file"})).await);
    assert_eq!(said, "no such file");
    assert!(matches!(error, McpCallError::Failed { .. }));
    // An error of the protocol is one that the server refuses the call with.
    let (said, error) = failed(&answer(&turn, "f", "blob", json!({"bytes": 1_000_000_000})).await);
    assert!(said.contains("`blob` was refused by its server") && said.contains("is above"), "{said}");
    assert_eq!(error.code().as_str(), "mcp-tool-failed");
    // Arguments are checked before anything is sent.
    let refused = answer(&turn, "f", "sleep_ms", json!({"ms": "long"})).await;
    assert!(matches!(refused.ended, Ended::Refused { code: "arguments-invalid" }), "{refused:?}");
    assert!(!text(&turn, "f", "stats", json!({})).await.contains("sleep_ms"));
}

#[tokio::test]
async fn questions_of_servers_are_refused_clearly() {
    for era in [Era::Old, Era::New] {
        let fixture = listening(era).await;
        let (_toolbox, turn) = turn(McpServer::at("f", fixture.url()).build().expect("a server")).await;
        for (tool, arguments) in [
            ("ask_user", json!({"question": "Really?"})),
            ("test_input_required_result_elicitation", json!({})),
            ("test_sampling", json!({"prompt": "hi"})),
        ] {
            let (said, _) = failed(&answer(&turn, "f", tool, arguments).await);
            assert!(said.contains(tool), "{era:?}: {said}");
            assert!(said.contains("nobody can be asked") || said.contains("refused by its server"), "{era:?}: {said}");
        }
    }
}

/// A server of the old era that asks without being allowed to gets a refusal, and what it makes of it is no answer.
#[tokio::test]
async fn a_server_that_asks_all_the_same_is_told_that_nobody_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let asks = r#"*tools/call*) call=$id; echo "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"Sure?\"}}"; read -r line; echo "$line" > told; id=$call; answer "{\"content\":[{\"type\":\"text\",\"text\":\"gave up\"}],\"isError\":true}" ;;"#;
    let (_toolbox, turn) = turn(script("odd", folder.path(), asks).build().expect("a server")).await;
    let (said, error) = failed(&answer(&turn, "odd", "note", json!({})).await);
    assert_eq!(said, "`note` did not finish: its server asks for something first, and nobody can be asked here.");
    assert_eq!(error.code().as_str(), "mcp-tool-asks");
    let told = std::fs::read_to_string(folder.path().join("told")).expect("the server was told");
    assert!(told.contains("nobody can be asked"), "{told}");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up_and_the_server_is_told() {
    let fixture = listening(Era::New).await;
    let quick = McpServer::at("f", fixture.url()).timeout(Duration::from_millis(100)).build().expect("a server");
    let (_toolbox, turn) = turn(quick).await;
    let late = answer(&turn, "f", "sleep_ms", json!({"ms": 60_000})).await;
    assert!(late.output.to_text().contains("It took longer than 0.1 seconds"), "{late:?}");
    let patient = McpServer::at("f", fixture.url()).only(["stats"]).build().expect("a server");
    let (_toolbox, turn) = super::turn(patient).await;
    eventually(|| async { text(&turn, "f", "stats", json!({})).await.contains("\"cancelled\":1").then_some(()) }).await;
}

#[tokio::test]
async fn arguments_that_travel_in_headers_do() {
    let fixture = listening(Era::New).await;
    let (_toolbox, turn) = turn(McpServer::at("f", fixture.url()).build().expect("a server")).await;
    // A server of 2026-07-28 refuses the call where a header is missing or says something else.
    let arguments = json!({"query": "x", "region": "zürich", "priority": 3, "dry_run": true});
    let said = text(&turn, "f", "test_header_parameters", arguments).await;
    assert!(said.contains("zürich"), "{said}");
}
