use serde_json::json;
use toolmark_core::explain::Explain as _;
use toolmark_runtime::tools::{Part, ToolOutput};

use super::*;

fn read(result: &serde_json::Value) -> ToolOutput {
    content::read(result.to_string().as_bytes(), false).expect("a result")
}

#[test]
fn content_becomes_what_models_read_and_look_at() {
    assert_eq!(read(&json!({"content": [{"type": "text", "text": "hi"}]})), ToolOutput::text("hi"));
    assert_eq!(read(&json!({"content": []})), ToolOutput::text(""));
    assert_eq!(read(&json!({})), ToolOutput::text(""));
    let blob = json!({"uri": "file:///a/report.pdf", "mimeType": "application/pdf", "blob": "YQ=="});
    let output = read(&json!({"content": [
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "audio", "data": "BBBB", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "text": "inside"}},
        {"type": "resource", "resource": blob},
        {"type": "resource_link", "uri": "a:b", "name": "b"},
        {"type": "image"},
        7,
    ]}));
    let ToolOutput::Parts(parts) = output else { panic!("several parts") };
    assert_eq!(parts[0], Part::image_url("data:image/png;base64,AAAA"));
    assert_eq!(parts[1], Part::file_data("audio.wav", "data:audio/wav;base64,BBBB"));
    assert_eq!(parts[2], Part::Text("inside".into()));
    assert_eq!(parts[3], Part::file_data("report.pdf", "data:application/pdf;base64,YQ=="));
    // What has no form that models know is text, and nothing is lost.
    assert!(matches!(&parts[4], Part::Text(text) if text.contains("resource_link") && text.contains("a:b")));
    assert_eq!(parts[5], Part::Text(r#"{"type":"image"}"#.into()));
    assert_eq!(parts[6], Part::Text("7".into()));
}

#[test]
fn structured_content_is_used_where_it_is_wanted_or_all_there_is() {
    let both = json!({"content": [{"type": "text", "text": "n = 1"}], "structuredContent": {"n": 1}});
    assert_eq!(read(&both), ToolOutput::text("n = 1"));
    let wanted = content::read(both.to_string().as_bytes(), true).expect("a result");
    assert_eq!(wanted, ToolOutput::Json(json!({"n": 1})));
    assert_eq!(read(&json!({"content": [], "structuredContent": {"n": 1}})), ToolOutput::Json(json!({"n": 1})));
    // What a failure says stands in its texts.
    let failed = json!({"content": [{"type": "text", "text": "no"}], "structuredContent": {"n": 1}, "isError": true});
    assert_eq!(content::read(failed.to_string().as_bytes(), true).expect("a result"), ToolOutput::text("no"));
    assert!(content::read(br#"{"content": "text"}"#, false).is_err());
    assert!(content::read(b"[", false).is_err());
}

#[test]
fn what_is_wrong_with_a_server_is_said_before_it_is_started() {
    let code = |built: Result<McpServer, McpServerError>| built.expect_err("it cannot be used").code().as_str();
    assert_eq!(code(McpServer::program("Git Hub", "x").build()), "pack-name-syntax");
    assert_eq!(code(McpServer::program("github", " ").build()), "mcp-server-unreachable");
    for url in ["nowhere", "ftp://host/x", "https://", "http://a b/"] {
        assert_eq!(code(McpServer::at("docs", url).build()), "mcp-server-unreachable", "{url}");
    }
    let secret = McpServer::at("docs", "https://host/mcp").bearer("s3cret\n").build().expect_err("no header");
    assert_eq!(secret.code().as_str(), "mcp-server-unreachable");
    assert!(!secret.to_string().contains("s3cret"));
}

#[test]
fn the_source_of_a_server_names_no_secret() {
    let program = McpServer::program("a", "/usr/bin/tool").args(["--token", "s3cret"]).build().expect("a server");
    let text = program.0.namespace.source().to_string();
    assert!(text.starts_with("stdio:tool#") && !text.contains("s3cret"), "{text}");
    let other = McpServer::program("a", "/usr/bin/tool").arg("--other").build().expect("a server");
    assert_ne!(text, other.0.namespace.source().to_string(), "other arguments are another server");
    let address = McpServer::at("b", "https://me:s3cret@host:8443/mcp?key=s3cret").build().expect("a server");
    assert_eq!(address.0.namespace.source().to_string(), "https://host:8443/mcp");
}
