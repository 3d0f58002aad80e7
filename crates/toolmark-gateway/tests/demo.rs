//! The demo workspace through the gateway, as clients of both eras see it: every tool works, and the gate keeps calls to what they say.
#![expect(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test that cannot go on must stop")]

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_config::Config;
use toolmark_gateway::{Gateway, GatewayBuilder, Serve, demo};
use toolmark_mcp::upstream::{ConnectOptions, EventSender, ListKind, Reply, Target, Upstream, UpstreamRequest};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Limits, RawObject};

/// A gateway with the demo that listens, and a client that is connected to it.
struct Running {
    gateway: Arc<Gateway>,
    client: Upstream,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Running {
    async fn start(era: Era) -> Self {
        Self::start_with(demo::builder(), era).await
    }

    async fn start_with(builder: GatewayBuilder, era: Era) -> Self {
        Self::start_saying(builder, era, None).await
    }

    /// A client that sends `Accept-Language` with every request.
    async fn start_saying(builder: GatewayBuilder, era: Era, languages: Option<&str>) -> Self {
        let gateway = builder.start().expect("a gateway");
        gateway.settled().await;
        let serve = Serve::bind(Arc::clone(&gateway), SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("an address");
        let url = format!("http://{}/mcp", serve.address()).parse().expect("an address");
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve.run(stop.clone()));
        let options = ConnectOptions { era: Some(era), ..ConnectOptions::default() };
        let (events, _) = EventSender::channel(64);
        let languages =
            languages.map(|languages| (http::header::ACCEPT_LANGUAGE, languages.parse().expect("a header")));
        let target = Target::Http { url, headers: HeaderMap::from_iter(languages) };
        let client = Upstream::connect(target, options, events).await.expect("a connection");
        assert_eq!(client.era(), era);
        Self { gateway, client, stop, serving }
    }

    async fn reply(&self, tool: &str, arguments: &Value) -> Reply {
        let params = json!({"name": tool, "arguments": arguments}).to_string();
        let params = RawObject::read(Bytes::from(params), Limits::default()).expect("an object");
        self.client.request(UpstreamRequest::new("tools/call", params)).await.expect("an answer")
    }

    async fn result(&self, tool: &str, arguments: Value) -> Value {
        match self.reply(tool, &arguments).await {
            Reply::Result(result) => serde_json::from_slice(result.raw()).expect("JSON"),
            Reply::Error(error) => panic!("`{tool}` failed: {:?}", error.message()),
        }
    }

    /// What a call gives that must succeed. The text says the same.
    async fn data(&self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments).await;
        assert_ne!(result["isError"], true, "`{tool}`: {result}");
        let text: Value = serde_json::from_str(text(&result)).expect("JSON in the text");
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// What a call says that must fail.
    async fn failure(&self, tool: &str, arguments: Value) -> String {
        let result = self.result(tool, arguments).await;
        assert_eq!(result["isError"], true, "`{tool}`: {result}");
        text(&result).to_owned()
    }

    async fn error(&self, tool: &str) -> (i64, String, Value) {
        match self.reply(tool, &json!({"query": "lamp"})).await {
            Reply::Result(result) => panic!("`{tool}` gave {:?}", result.raw()),
            Reply::Error(error) => {
                let data = serde_json::from_slice(error.data().expect("data")).expect("JSON");
                (error.code().expect("a code"), error.message().unwrap_or_default().into_owned(), data)
            }
        }
    }

    async fn count(&self, table: &str) -> Value {
        let rows = self.data("read_query", json!({"query": format!("SELECT count(*) AS n FROM {table}")})).await;
        rows["rows"][0]["n"].clone()
    }

    async fn stop(self) {
        self.client.close().await;
        self.stop.cancel();
        self.serving.await.expect("it ends in peace");
        drop(self.gateway);
    }
}

/// What `tools/list` answers, with this `_meta`.
async fn list(running: &Running, meta: Value) -> Result<Value, (i64, String)> {
    let params = if meta.is_null() { json!({}) } else { json!({ "_meta": meta }) }.to_string();
    let params = RawObject::read(Bytes::from(params), Limits::default()).expect("an object");
    match running.client.request(UpstreamRequest::new("tools/list", params)).await.expect("an answer") {
        Reply::Result(result) => Ok(serde_json::from_slice(result.raw()).expect("JSON")),
        Reply::Error(error) => Err((error.code().expect("a code"), error.message().unwrap_or_default().into_owned())),
    }
}

/// The title of a tool in a list.
fn title<'l>(list: &'l Value, name: &str) -> &'l str {
    let tools = list["tools"].as_array().expect("tools");
    let tool = tools.iter().find(|tool| tool["name"] == name).expect("the tool");
    assert!(tool["description"].as_str().is_some_and(str::is_ascii), "descriptions are for models");
    tool["title"].as_str().expect("a title")
}

const LANGUAGE: &str = "io.modelcontextprotocol/contentLanguage";

#[tokio::test]
async fn old_clients_read_titles_in_the_language_that_they_accept() {
    let plain = Running::start(Era::Session).await;
    let usual = list(&plain, Value::Null).await.expect("a list");
    assert_eq!(title(&usual, "search_regulations"), "Search regulations");
    plain.stop().await;
    let dutch = Running::start_saying(demo::builder(), Era::Session, Some("nl-BE, en;q=0.5")).await;
    let read = list(&dutch, Value::Null).await.expect("a list");
    assert_eq!(title(&read, "search_regulations"), "Zoeken in regelgeving");
    assert_eq!(title(&read, "read_page"), "Read a page", "what has no Dutch name keeps its own title");
    assert_eq!(read["_meta"][LANGUAGE], "nl");
    dutch.stop().await;
    // What there is nothing of, and what asks for nothing, changes nothing.
    for languages in ["*", "fi", "fr-CA, fi;q=0.3"] {
        let other = Running::start_saying(demo::builder(), Era::Session, Some(languages)).await;
        assert_eq!(list(&other, Value::Null).await.expect("a list"), usual, "{languages}");
        other.stop().await;
    }
}

#[tokio::test]
async fn a_wish_that_cannot_be_read_gets_the_usual_list_and_is_told() {
    let running = Running::start_saying(demo::builder(), Era::Session, Some("nl;q=7")).await;
    let read = list(&running, Value::Null).await.expect("a list");
    assert_eq!(title(&read, "search_regulations"), "Search regulations");
    assert_eq!(read["_meta"]["dev.toolmark/language"]["code"], "accept-language");
    running.stop().await;
}

#[tokio::test]
async fn the_language_of_meta_counts_where_the_operator_lets_it() {
    let wish = || json!({"io.modelcontextprotocol/acceptLanguage": "nl"});
    let listening = |text: &str| {
        let config = Config::read(text, "toolmark.toml").expect("a configuration");
        demo::attach(GatewayBuilder::new(config, std::path::PathBuf::from(".")))
    };
    let off = Running::start_saying(listening(""), Era::Stateless, Some("nl")).await;
    let read = list(&off, wish()).await.expect("a list");
    assert_eq!(title(&read, "search_regulations"), "Search regulations", "a draft that nobody switched on");
    off.stop().await;
    let on = Running::start_with(listening("[names]\nhonour_language_meta = true\n"), Era::Stateless).await;
    let read = list(&on, wish()).await.expect("a list");
    assert_eq!(title(&read, "search_regulations"), "Zoeken in regelgeving");
    assert_eq!((&read["_meta"][LANGUAGE], &read["cacheScope"]), (&json!("nl"), &json!("private")));
    let (code, _) = list(&on, json!({"io.modelcontextprotocol/acceptLanguage": 7})).await.expect_err("no text");
    assert_eq!(code, -32602);
    on.stop().await;
    let torn =
        Running::start_saying(listening("[names]\nhonour_language_meta = true\n"), Era::Stateless, Some("en")).await;
    let (code, _) = list(&torn, wish()).await.expect_err("the header says something else");
    assert_eq!(code, -32020);
    let read = list(&torn, Value::Null).await.expect("a list");
    assert_eq!(read["_meta"].get(LANGUAGE), None, "a header alone means nothing");
    torn.stop().await;
}

#[tokio::test]
async fn files_of_translations_are_followed_and_a_broken_one_changes_nothing() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("names-of-the-demo");
    std::fs::create_dir_all(folder.join("locales")).expect("a folder");
    let file = folder.join("locales/nl.ftl");
    let config = || Config::read("[names]\nlocales = [\"locales/*.ftl\"]\n", "toolmark.toml").expect("a configuration");
    let write = |text: &str| std::fs::write(&file, text).expect("a file");
    write("wiki--read_page = Pagina lezen\n");
    let builder = demo::attach(GatewayBuilder::new(config(), folder.clone()));
    let running = Running::start_saying(builder, Era::Session, Some("nl")).await;
    let read = async || list(&running, Value::Null).await.expect("a list");
    assert_eq!(title(&read().await, "read_page"), "Pagina lezen");
    write("wiki--read_page = Een pagina lezen\nagora--search_regulations = Regels zoeken\n");
    running.gateway.reload(config(), None).await.expect("a reload");
    let now = read().await;
    assert_eq!(title(&now, "read_page"), "Een pagina lezen");
    assert_eq!(title(&now, "search_regulations"), "Regels zoeken", "a file goes before what the tool says");
    write("wiki--read_page = { $broken }\n");
    let refused = running.gateway.reload(config(), None).await.expect_err("a broken file");
    let place = refused.problems()[0].place().expect("a place");
    assert_eq!((place.line, refused.problems()[0].code().as_str()), (1, "locale-file"));
    assert_eq!(read().await, now);
    let names = running.gateway.snapshot();
    let tool = names.workspace().catalog().find("wiki.read_page", |_| true).expect("the tool");
    assert_eq!(names.names(tool).get("nl").map(String::as_str), Some("Een pagina lezen"));
    running.stop().await;
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().expect("text")
}

const ERAS: [Era; 2] = [Era::Session, Era::Stateless];

#[tokio::test]
async fn all_tools_are_listed_and_the_second_search_under_the_name_of_its_pack() {
    for era in ERAS {
        let running = Running::start(era).await;
        let tools = running.client.list(ListKind::Tools).await.expect("a list").items;
        let tools: Vec<Value> = tools.iter().map(|tool| serde_json::from_slice(tool).expect("JSON")).collect();
        assert_eq!(tools.len(), 30);
        let others = tools.iter().filter(|tool| tool["_meta"]["dev.toolmark/identity"]["pack"] != "agora");
        let mut names: Vec<&str> = others.filter_map(|tool| tool["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "close_issue",
                "create_issue",
                "delete_issue",
                "delete_message",
                "describe_table",
                "get_issue",
                "list_messages",
                "list_tables",
                "read_page",
                "read_query",
                "search",
                "send_message",
                "update_page",
                "wiki__search",
                "write_query"
            ]
        );
        running.stop().await;
    }
}

#[tokio::test]
async fn a_query_that_reads_gives_rows() {
    for era in ERAS {
        let running = Running::start(era).await;
        let query = "SELECT name, city FROM users WHERE id <= 2 ORDER BY id";
        let data = running.data("read_query", json!({"query": query})).await;
        let rows = json!([{"name": "Ada de Vries", "city": "Utrecht"}, {"name": "Bram Jansen", "city": "Gent"}]);
        assert_eq!(data, json!({"count": 2, "truncated": false, "rows": rows}));
        running.stop().await;
    }
}

#[tokio::test]
async fn a_query_that_deletes_is_not_called_and_the_rows_are_still_there() {
    for era in ERAS {
        let running = Running::start(era).await;
        let said = running.failure("read_query", json!({"query": "DELETE FROM users"})).await;
        assert!(said.contains("`read_query` was not called"), "{said}");
        assert!(said.contains("`write_query`"), "{said}");
        assert_eq!(running.count("users").await, 8);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_bounded_update_changes_what_it_says() {
    for era in ERAS {
        let running = Running::start(era).await;
        let query = "UPDATE products SET stock = 60 WHERE id = 4";
        assert_eq!(running.data("write_query", json!({"query": query})).await, json!({"rows_changed": 1}));
        let data = running.data("read_query", json!({"query": "SELECT stock FROM products WHERE id = 4"})).await;
        assert_eq!(data["rows"], json!([{"stock": 60}]));
        running.stop().await;
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_that_names_candidates() {
    for era in ERAS {
        let running = Running::start(era).await;
        let (code, message, data) = running.error("read_querry").await;
        assert_eq!(code, -32602);
        assert_eq!(data["code"], "tool-not-found");
        assert!(data["candidates"].as_array().is_some_and(|all| all.contains(&json!("read_query"))), "{data}");
        assert!(message.contains("read_query"), "{message}");
        running.stop().await;
    }
}

#[tokio::test]
async fn each_search_is_answered_by_its_own_pack() {
    let running = Running::start(Era::Stateless).await;
    let issues = running.data("search", json!({"query": "tea sold"})).await;
    assert_eq!(issues["issues"][0]["number"], 2);
    let pages = running.data("wiki__search", json!({"query": "REFUND five"})).await;
    assert_eq!(pages["pages"][0]["title"], "Refund policy");
    running.stop().await;
}

#[tokio::test]
async fn a_short_name_that_two_packs_share_is_refused_with_both_where_names_have_prefixes() {
    for era in ERAS {
        let config = Config::read("[names]\nexposure = \"prefixed\"\n", "toolmark.toml").expect("a configuration");
        let builder = demo::attach(GatewayBuilder::new(config, ".".into()));
        let running = Running::start_with(builder, era).await;
        let (code, message, data) = running.error("search").await;
        assert_eq!((code, &data["code"]), (-32602, &json!("ambiguous-tool")), "{message}");
        let mut candidates: Vec<&str> =
            data["candidates"].as_array().expect("candidates").iter().filter_map(Value::as_str).collect();
        candidates.sort_unstable();
        assert_eq!(candidates, ["tracker__search", "wiki__search"]);
        let found = running.data("tracker__search", json!({"query": "refund"})).await;
        assert_eq!(found["issues"][0]["number"], 4);
        running.stop().await;
    }
}

#[tokio::test]
async fn a_name_in_another_case_is_no_name_of_either_search() {
    let running = Running::start(Era::Stateless).await;
    let (code, message, data) = running.error("Search").await;
    assert_eq!((code, &data["code"]), (-32602, &json!("tool-not-found")), "{message}");
    assert!(data["candidates"].as_array().is_some_and(|all| all.contains(&json!("search"))), "{data}");
    running.stop().await;
}

#[tokio::test]
async fn what_one_pack_writes_another_reads() {
    for era in ERAS {
        let running = Running::start(era).await;
        let letter = json!({"to": "grace@example.com", "subject": "Your shelf", "body": "It ships today."});
        assert_eq!(running.data("send_message", letter).await["number"], 1);
        assert_eq!(running.count("outbox").await, 1);
        running.data("close_issue", json!({"number": 2})).await;
        let open = running.data("read_query", json!({"query": "SELECT state FROM issues WHERE number = 2"})).await;
        assert_eq!(open["rows"], json!([{"state": "closed"}]));
        running.stop().await;
    }
}

#[tokio::test]
async fn a_change_without_a_limit_or_outside_the_database_waits_for_a_person() {
    let running = Running::start(Era::Stateless).await;
    for query in ["DELETE FROM users", "ATTACH DATABASE 'other.db' AS other", "VACUUM INTO 'copy.db'"] {
        let said = running.failure("write_query", json!({"query": query})).await;
        assert!(said.contains("`write_query` was not called: a person must approve"), "{said}");
    }
    assert_eq!(running.count("users").await, 8);
    running.stop().await;
}

#[tokio::test]
async fn a_second_statement_does_not_hide_behind_the_first() {
    let running = Running::start(Era::Stateless).await;
    let said = running.failure("read_query", json!({"query": "SELECT 1; DROP TABLE users"})).await;
    assert!(said.contains("`read_query` was not called"), "{said}");
    assert_eq!(running.count("users").await, 8);
    running.stop().await;
}

#[tokio::test]
async fn what_goes_wrong_is_a_result_that_says_so() {
    for era in ERAS {
        let running = Running::start(era).await;
        let said = running.failure("read_query", json!({"query": "SELECT * FROM nope"})).await;
        assert_eq!(said, "SQL error: no such table: nope");
        let said = running.failure("read_query", json!({"sql": "SELECT 1"})).await;
        assert!(said.contains("`read_query` was not called: its arguments do not fit"), "{said}");
        let said = running.failure("get_issue", json!({"number": 99})).await;
        assert_eq!(said, "there is no issue 99");
        running.stop().await;
    }
}

#[tokio::test]
async fn two_gateways_have_data_of_their_own() {
    let (one, other) = (Running::start(Era::Session).await, Running::start(Era::Stateless).await);
    one.data("create_issue", json!({"title": "Only here"})).await;
    assert_eq!(one.count("issues").await, 6);
    assert_eq!(other.count("issues").await, 5);
    one.stop().await;
    other.stop().await;
}
