//! Lists in the language of whoever reads: titles of tools, prompts, resources and templates, and what the headers say about it.

use std::path::PathBuf;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolmark_gateway::GatewayBuilder;

use crate::support::{Running, by_http, http_fixture, read};

const NAMES: &str = r#"
[names]
locales = ["locales/*.ftl", "locales/*.toml"]

[packs.fixture.tools.echo]
display_name = { nl = "Nazeggen" }

[packs.fixture.prompts.test_simple_prompt]
display_name = { en = "Simple", nl = "Eenvoudig" }

[packs.fixture.resources."test://static-text"]
display_name = "For everybody"
"#;

const FLUENT: &str = "prompt--fixture--test_simple_prompt = Wordt verdrongen\n\
    prompt--fixture--test_prompt_with_image = Met een plaatje\n\
    template--fixture--test_u3a__u2f__u2f_template_u2f__u7b_id_u7d__u2f_data = Sjabloon\n";
const TABLES: &str = "[resources]\n\"fixture.test://watched-resource\" = \"Wordt bekeken\"\n";

/// One request by POST: the headers and the body of the answer.
async fn post(gateway: &Running, headers: &[(&str, &str)], body: &Value) -> (HeaderMap, Value) {
    let mut request = Request::post(format!("http://{}/mcp", gateway.address));
    request =
        request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a request");
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let (head, body) = client.request(request).await.expect("an answer").into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    (head.headers, serde_json::from_slice(&body).unwrap_or_default())
}

/// A session of a client of 2025-11-25.
async fn session(gateway: &Running) -> String {
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a-test", "version": "1"}});
    let (headers, _) =
        post(gateway, &[], &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    headers.get("mcp-session-id").expect("a session").to_str().expect("text").to_owned()
}

/// A list for somebody who wants a language: its headers, and what it holds.
async fn list(gateway: &Running, session: &str, method: &str, language: Option<&str>) -> (HeaderMap, Value) {
    let mut headers = vec![("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    headers.extend(language.map(|language| ("accept-language", language)));
    let (headers, body) = post(gateway, &headers, &json!({"jsonrpc": "2.0", "id": 2, "method": method})).await;
    (headers, body.get("result").cloned().unwrap_or_default())
}

/// The entry of a name, without its title, and the title.
fn entry<'v>(list: &'v Value, member: &str, key: &str, name: &str) -> (Value, Option<&'v str>) {
    let all = list[member].as_array().unwrap_or_else(|| panic!("{list}"));
    let one = all.iter().find(|one| one[key] == name).unwrap_or_else(|| panic!("{list}"));
    let mut bare = one.clone();
    bare.as_object_mut().expect("an object").remove("title");
    (bare, one["title"].as_str())
}

async fn gateway(more: &str) -> (Running, toolmark_fixture::Listening, TempDir) {
    let folder = TempDir::new().expect("a folder");
    std::fs::create_dir(folder.path().join("locales")).expect("a folder");
    std::fs::write(folder.path().join("locales/nl.ftl"), FLUENT).expect("written");
    std::fs::write(folder.path().join("locales/more.nl.toml"), TABLES).expect("written");
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let config = format!("{more}\n{NAMES}\n{}", by_http("fixture", &fixture));
    let builder = GatewayBuilder::new(read(&config), PathBuf::from(folder.path()));
    (Running::of(builder).await, fixture, folder)
}

#[tokio::test]
async fn titles_of_prompts_resources_and_templates_are_in_the_language_of_the_reader_and_nothing_else_changes() {
    let (gateway, _fixture, _folder) = gateway("").await;
    let session = session(&gateway).await;
    for (method, member, key, name, title) in [
        ("prompts/list", "prompts", "name", "test_simple_prompt", "Eenvoudig"),
        ("prompts/list", "prompts", "name", "test_prompt_with_image", "Met een plaatje"),
        ("resources/list", "resources", "uri", "test://watched-resource", "Wordt bekeken"),
        ("resources/list", "resources", "uri", "test://static-text", "For everybody"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate", "test://template/{id}/data", "Sjabloon"),
        ("tools/list", "tools", "name", "echo", "Nazeggen"),
    ] {
        let (plain_headers, plain) = list(&gateway, &session, method, None).await;
        let (headers, dutch) = list(&gateway, &session, method, Some("nl-BE, en;q=0.5")).await;
        let ((before, _), (after, shown)) = (entry(&plain, member, key, name), entry(&dutch, member, key, name));
        assert_eq!((before, shown), (after, Some(title)), "{method}");
        assert_eq!(dutch["_meta"]["io.modelcontextprotocol/contentLanguage"], "nl", "{method}");
        assert_eq!(headers["content-language"], "nl", "{method}");
        for headers in [&headers, &plain_headers] {
            assert_eq!(headers["vary"], "Accept-Language", "{method}: its absence decides too");
        }
        assert!(plain_headers.get("content-language").is_none() && plain.get("_meta").is_none(), "{method}");
        let (headers, other) = list(&gateway, &session, method, Some("fr")).await;
        assert_eq!((&other, headers.get("content-language")), (&plain, None), "{method}: nobody made a French one");
        let (headers, odd) = list(&gateway, &session, method, Some(";;q=x")).await;
        assert_eq!(odd["_meta"]["dev.toolmark/language"]["code"], "accept-language", "{method}: {odd}");
        assert_eq!((&odd[member], &headers["vary"]), (&plain[member], &"Accept-Language".parse().expect("text")));
    }
    // Nothing is made up for what has no title in the language.
    let (_, dutch) = list(&gateway, &session, "prompts/list", Some("nl")).await;
    assert_eq!(entry(&dutch, "prompts", "name", "test_prompt_with_arguments").1, None);
    gateway.stop().await;
}

#[tokio::test]
async fn where_the_header_means_nothing_nothing_depends_on_it() {
    let (gateway, _fixture, _folder) = gateway("").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "a-test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": {"_meta": meta}});
    let own = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "prompts/list"), ("accept-language", "nl")];
    let (headers, answer) = post(&gateway, &own, &body).await;
    assert_eq!(entry(&answer["result"], "prompts", "name", "test_simple_prompt").1, None, "{answer}");
    assert!(headers.get("vary").is_none() && headers.get("content-language").is_none(), "{headers:?}");
    // A call has no language.
    let session = session(&gateway).await;
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}});
    let own = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25"), ("accept-language", "nl")];
    let (headers, answer) = post(&gateway, &own, &call).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert!(headers.get("vary").is_none() && headers.get("content-language").is_none(), "{headers:?}");
    gateway.stop().await;
}
