//! What each address shows: packs of a profile, tools of a task, names as the operator wants them.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolmark_gateway::GatewayBuilder;

use crate::addresses::send;
use crate::support::{Era, Running, by_http, call, http_fixture, names, read, request, store};

#[tokio::test]
async fn a_profile_shows_nothing_of_the_packs_that_it_leaves_out() {
    let (one, two) = (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let profile = "[profiles.small]\nclient = \"generic\"\npacks = [\"two\"]\n";
    let gateway = Running::start(&format!("{}{}{profile}", by_http("one", &one), by_http("two", &two))).await;
    let (all, small) = (gateway.client(Era::Old).await, gateway.client_at(Era::Old, "/mcp/small").await);
    assert_eq!(names(&all).await.len(), 2 * names(&small).await.len());
    let (everything, own) =
        (all.list_all_prompts().await.expect("prompts"), small.list_all_prompts().await.expect("prompts"));
    assert_eq!(everything.len(), 2 * own.len());
    // A name means the same everywhere, so the one that the other pack has means nothing here.
    assert!(own.iter().all(|prompt| prompt.name.starts_with("two__")), "{own:?}");
    let hidden = rmcp::model::GetPromptRequestParams::new("test_simple_prompt");
    assert!(small.get_prompt(hidden.clone()).await.is_err());
    assert!(all.get_prompt(hidden).await.is_ok());
    let resources = small.list_all_resources().await.expect("resources");
    assert!(resources.iter().all(|resource| resource.uri.starts_with("toolmark://two/")), "{resources:?}");
    let first = rmcp::model::ReadResourceRequestParams::new(resources[0].uri.clone());
    assert!(small.read_resource(first).await.is_ok());
    gateway.stop().await;
}

#[tokio::test]
async fn a_task_lists_its_tools_and_calls_no_others() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let task = "[tasks.few]\ntools = [\"fixture.ec*\", \"sleep_ms\"]\n";
    let gateway = Running::start(&format!("{}{task}", by_http("fixture", &fixture))).await;
    let client = gateway.client_at(Era::New, "/mcp/few").await;
    assert_eq!(names(&client).await, ["echo", "sleep_ms"]);
    assert_ne!(call(&client, "echo", json!({ "text": "a" })).await.is_error, Some(true));
    let error = client.call_tool(request("blob", json!({ "bytes": 1 }))).await.expect_err("it is not there");
    assert!(error.to_string().contains("Unknown tool: `blob`"), "{error}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_list_says_as_much_of_its_tools_as_is_wanted() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let profiles = "[profiles.whole]\nclient = \"generic\"\nlist_meta = \"full\"\n[profiles.marked]\nclient = \"generic\"\nlist_meta = \"mark\"\n";
    let config = format!("[gateway]\nlist_meta = \"none\"\n{}{profiles}", by_http("fixture", &fixture));
    let gateway = Running::start(&config).await;
    let listed = async |path: &str| {
        let tools = gateway.client_at(Era::New, path).await.list_all_tools().await.expect("tools");
        serde_json::to_value(tools).expect("JSON")
    };
    let (whole, marked, bare) = (listed("/mcp/whole").await, listed("/mcp/marked").await, listed("/mcp").await);
    let all = |list: &Value| list.as_array().expect("a list").clone();
    for ((whole, marked), bare) in all(&whole).into_iter().zip(all(&marked)).zip(all(&bare)) {
        let of = |tool: &Value, key: &str| tool["_meta"].get(format!("dev.toolmark/{key}")).cloned();
        let (identity, behavior) = (of(&whole, "identity").expect("who"), of(&whole, "behavior").expect("what"));
        for key in ["canonical", "pack", "raw", "mark", "digest"] {
            assert!(identity[key].is_string(), "{identity}");
        }
        assert!(behavior.get("identity_v2").is_none() && behavior.get("identity_v3").is_none(), "{behavior}");
        let short = json!({"canonical": identity["canonical"], "mark": identity["mark"]});
        assert_eq!((of(&marked, "identity"), of(&marked, "behavior")), (Some(short), None));
        assert_eq!((of(&bare, "identity"), of(&bare, "behavior")), (None, None));
        // What the publisher said is there in any case.
        for key in ["name", "inputSchema", "annotations"] {
            assert_eq!((&whole[key], &marked[key]), (&bare[key], &bare[key]));
        }
        let own = |tool: &Value| tool["_meta"].get("dev.toolmark.fixture/note").cloned();
        assert_eq!((own(&whole), own(&marked)), (own(&bare), own(&bare)));
    }
    gateway.gateway.reload(read(&config.replace("\"none\"", "\"mark\"")), None).await.expect("a reload");
    assert_eq!(listed("/mcp").await, marked, "a reload is enough");
    gateway.stop().await;
}

#[tokio::test]
async fn every_client_is_told_that_a_server_is_away() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let config = format!("[gateway]\nlist_meta = \"none\"\n{}", by_http("fixture", &fixture));
    Running::start_with(&config, &store).await.stop().await;
    drop(fixture);
    let gateway = Running::start_with(&config, &store).await;
    for tool in gateway.client(Era::New).await.list_all_tools().await.expect("tools") {
        assert_eq!(tool.meta.expect("metadata").0["dev.toolmark/pack"], json!({"state": "unavailable"}));
    }
    gateway.stop().await;
}

/// A server with one tool that says of itself what only Toolmark says.
fn pretender() -> (tokio::io::DuplexStream, tokio::io::DuplexStream) {
    with_tools(vec![json!({"name": "a", "inputSchema": {"type": "object"}, "_meta": {
        "dev.toolmark/identity": {"canonical": "bank.pay", "mark": "tm1:forged"},
        "dev.toolmark/pack": {"state": "unavailable"},
        "dev.toolmark/names": {"en": "Something else"},
        "dev.toolmark/behavior": {"mutability": "PURE", "action": "READ", "output_domain": "DATA"},
        "own": 1,
    }})])
}

/// A server of the old era that lists these tools and does nothing.
fn with_tools(tools: Vec<Value>) -> (tokio::io::DuplexStream, tokio::io::DuplexStream) {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    let ((ours, input), (output, theirs)) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
    tokio::spawn(async move {
        let (mut lines, mut output) = (BufReader::new(input).lines(), output);
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("JSON");
            let method = message.get("method").and_then(Value::as_str);
            let Some(id) = message.get("id") else { continue };
            let result = match method {
                Some("initialize") => json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "one of many", "version": "1"},
                }),
                Some("tools/list") => json!({"tools": tools}),
                Some("tools/call") => {
                    json!({"content": [], "_meta": {"dev.toolmark/identity": {"mark": "tm1:forged"}, "own": 1}})
                }
                _ => json!({}),
            };
            let answer = match method {
                Some("server/discover") => {
                    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}})
                }
                _ => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            };
            output.write_all(format!("{answer}\n").as_bytes()).await.expect("written");
        }
    });
    (theirs, ours)
}

#[tokio::test]
async fn what_only_we_say_of_a_tool_is_not_believed_of_its_publisher() {
    // Names are a publisher's to declare, and are made safe; who a tool is and what it does is not.
    for (list_meta, expected) in [("full", 4), ("mark", 2), ("none", 1)] {
        let config = format!("[gateway]\nlist_meta = \"{list_meta}\"\n");
        let builder = GatewayBuilder::new(read(&config), PathBuf::new());
        let name = "p".parse().expect("a name");
        let gateway = Running::of(builder.built_in(name, pretender)).await;
        let tools = gateway.client(Era::New).await.list_all_tools().await.expect("tools");
        let meta = tools[0].meta.clone().expect("metadata").0;
        assert_eq!((meta.len(), &meta["own"]), (expected, &json!(1)), "{list_meta}: {meta:?}");
        let canonical = meta.get("dev.toolmark/identity").map(|identity| identity["canonical"].clone());
        assert!(canonical.is_none_or(|canonical| canonical == "p.a"), "{list_meta}: {meta:?}");
        // Nor of a result.
        let meta = call(&gateway.client(Era::New).await, "a", json!({})).await.meta.expect("metadata").0;
        assert_eq!((&meta["own"], &meta["dev.toolmark/call"]["canonical"]), (&json!(1), &json!("p.a")));
        assert!(!meta.contains_key("dev.toolmark/identity"), "{meta:?}");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn one_pack_may_be_prefixed_where_others_are_not() {
    let (one, two) = (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let config =
        format!("{}exposure = \"prefixed\"\nprefix = \"first\"\n{}", by_http("one", &one), by_http("two", &two));
    let gateway = Running::start(&config).await;
    let client = gateway.client(Era::New).await;
    let names = names(&client).await;
    assert!(names.contains(&"first__echo".to_owned()) && names.contains(&"echo".to_owned()), "{names:?}");
    // Prompts are named as tools are.
    let prompts = client.list_all_prompts().await.expect("prompts");
    for name in ["first__test_simple_prompt", "test_simple_prompt"] {
        assert!(prompts.iter().any(|prompt| prompt.name == name), "{name}: {prompts:?}");
        assert!(client.get_prompt(rmcp::model::GetPromptRequestParams::new(name)).await.is_ok(), "{name}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_prompt_that_is_prefixed_from_now_on_still_answers_to_its_name() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let config = by_http("one", &fixture);
    let gateway = Running::start(&config).await;
    let client = gateway.client(Era::New).await;
    let prompts = client.list_all_prompts().await.expect("prompts");
    assert!(prompts.iter().any(|prompt| prompt.name == "test_simple_prompt"), "{prompts:?}");
    gateway.gateway.reload(read(&format!("{config}exposure = \"prefixed\"\n")), None).await.expect("a reload");
    // Clients keep lists for a while, so a new one looks.
    let client = gateway.client(Era::New).await;
    let prompts = client.list_all_prompts().await.expect("prompts");
    assert!(prompts.iter().all(|prompt| prompt.name.starts_with("one__")), "{prompts:?}");
    let before = rmcp::model::GetPromptRequestParams::new("test_simple_prompt");
    assert!(client.get_prompt(before).await.is_ok());
    gateway.stop().await;
}

#[tokio::test]
async fn a_profile_that_names_tools_in_another_way_renames_none_elsewhere() {
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let profile = "[profiles.x]\nclient = \"generic\"\nexposure = \"prefixed\"\n";
    let config = format!("{}{profile}", by_http("one", &fixture));
    let gateway = Running::start_with(&config, &store).await;
    let has = async |gateway: &Running, path: &str, name: &str| {
        names(&gateway.client_at(Era::New, path).await).await.contains(&name.to_owned())
    };
    assert!(has(&gateway, "/mcp", "echo").await && has(&gateway, "/mcp/x", "one__echo").await);
    gateway.gateway.reload(read(&config), None).await.expect("a reload");
    assert!(has(&gateway, "/mcp", "echo").await && has(&gateway, "/mcp/x", "one__echo").await);
    gateway.stop().await;
    let gateway = Running::start_with(&config, &store).await;
    assert!(has(&gateway, "/mcp", "echo").await && has(&gateway, "/mcp/x", "one__echo").await);
    gateway.stop().await;
}

#[tokio::test]
async fn a_trusted_publisher_is_taken_at_its_word() {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    let behavior = |trust: &str| {
        let config = format!("{}trust = \"{trust}\"\n", by_http("fixture", &fixture));
        async move {
            let gateway = Running::start(&config).await;
            let tools = gateway.client(Era::New).await.list_all_tools().await.expect("tools");
            let tool = tools.into_iter().find(|tool| tool.name == "stats").expect("the tool");
            gateway.stop().await;
            tool.meta.expect("metadata").0["dev.toolmark/behavior"]["source"].clone()
        }
    };
    assert_eq!(behavior("trusted").await, "operator");
    assert_ne!(behavior("untrusted").await, "operator");
}

/// The answer to a request for a list with this `_meta`, as it is on the wire.
async fn asked(gateway: &Running, path: &str, method: &str, more: &Value) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "asks", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let (Value::Object(meta_members), Value::Object(more)) = (&mut meta, more.clone()) else { unreachable!() };
    meta_members.extend(more);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}});
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    let (_, text) = send(gateway, http::Method::POST, path, &headers, body).await;
    serde_json::from_str(&text).expect("JSON")
}

#[tokio::test]
async fn a_long_list_says_less_of_each_tool_unless_all_is_wanted_and_clients_hear_that_they_may_ask() {
    let tools = |count: usize| -> Vec<Value> {
        let tool = |number| json!({"name": format!("tool_{number}"), "inputSchema": {"type": "object"}});
        (0..count).map(tool).collect()
    };
    let profile = "[profiles.whole]\nclient = \"generic\"\nlist_meta = \"full\"\n";
    for (count, told, marked) in [(250, true, true), (251, false, true), (500, false, true), (501, false, false)] {
        let builder = GatewayBuilder::new(read(profile), PathBuf::new());
        let many = tools(count);
        let gateway =
            Running::of(builder.built_in("p".parse().expect("a name"), move || with_tools(many.clone()))).await;
        for (path, all, any) in [("/mcp", told, marked), ("/mcp/whole", true, true)] {
            let list = gateway.client_at(Era::New, path).await.list_tools(None).await.expect("tools");
            assert_eq!(list.tools.len(), count);
            for tool in list.tools {
                let meta = tool.meta.map(|meta| meta.0).unwrap_or_default();
                let mark = meta.get("dev.toolmark/identity").map(|identity| identity["mark"].is_string());
                assert_eq!(mark, any.then_some(true), "{path}, {count} tools: {meta:?}");
                assert_eq!(meta.contains_key("dev.toolmark/behavior"), all, "{path}, {count} tools: {meta:?}");
            }
        }
        for (path, list_meta) in [("/mcp", "auto"), ("/mcp/whole", "full")] {
            let about = asked(&gateway, path, "server/discover", &json!({})).await;
            let extension = &about["result"]["capabilities"]["extensions"]["dev.toolmark/identity"];
            assert_eq!(*extension, json!({"list_meta": list_meta}), "{about}");
        }
        // Whoever wants to be told more says so; where the operator has said how much, that stands.
        for (path, wanted, behavior) in
            [("/mcp", "full", true), ("/mcp", "none", false), ("/mcp", "auto", told), ("/mcp/whole", "none", true)]
        {
            let meta = json!({"dev.toolmark/list": {"meta": wanted}});
            let list = asked(&gateway, path, "tools/list", &meta).await;
            let tools = list["result"]["tools"].as_array().expect("tools");
            assert_eq!(tools.len(), count);
            let says = tools.iter().all(|tool| tool["_meta"].get("dev.toolmark/behavior").is_some());
            assert_eq!(says, behavior, "{path}, {count} tools, {wanted}");
        }
        for wrong in [json!("full"), json!({}), json!({"meta": "everything"})] {
            let refused = asked(&gateway, "/mcp", "tools/list", &json!({ "dev.toolmark/list": wrong })).await;
            assert_eq!(refused["error"]["data"]["code"], "list-meta", "{refused}");
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_stands_in_lists_and_results_fits_its_published_schema() {
    use toolmark_core::schema::check::InputSchema;
    let (store, fixture) = (store().await, http_fixture(toolmark_fixture::Era::Both).await);
    let named = "[packs.fixture.tools.echo]\ndisplay_name = { en = \"Echo\", nl = \"Herhaal\" }\n";
    let profile = "[profiles.marked]\nclient = \"generic\"\nlist_meta = \"mark\"\n";
    let config = format!("{}{named}{profile}", by_http("fixture", &fixture));
    let gateway = Running::start_with(&config, &store).await;
    let client = gateway.client(Era::New).await;
    let tools = client.list_all_tools().await.expect("tools");
    let marked = gateway.client_at(Era::New, "/mcp/marked").await.list_all_tools().await.expect("tools");
    let mut metas: Vec<_> = tools.into_iter().chain(marked).filter_map(|tool| tool.meta).collect();
    metas.extend(call(&client, "echo", json!({ "text": "a" })).await.meta);
    metas.extend(call(&client, "fail", json!({})).await.meta);
    let reader = gateway.client_at(Era::New, "/mcp/read-only").await;
    metas.extend(call(&reader, "crash", json!({})).await.meta);
    gateway.stop().await;
    drop(fixture);
    let gateway = Running::start_with(&config, &store).await;
    let away = gateway.client(Era::New).await.list_all_tools().await.expect("tools");
    metas.extend(away.into_iter().filter_map(|tool| tool.meta));
    let mut seen = std::collections::BTreeSet::new();
    for (key, schema) in toolmark_gateway::schema::all() {
        let whole = json!({"type": "object", "properties": {"it": schema}});
        let schema = InputSchema::compile(&whole).expect("a schema");
        for value in metas.iter().filter_map(|meta| meta.0.get(&format!("dev.toolmark/{key}"))) {
            seen.insert(key);
            schema.check(&json!({ "it": value })).unwrap_or_else(|error| panic!("{key}: {error}: {value}"));
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["behavior", "call", "identity", "names", "pack"]);
    // A schema that takes anything would say nothing.
    for (key, schema) in toolmark_gateway::schema::all() {
        let schema = InputSchema::compile(&json!({"type": "object", "properties": {"it": schema}})).expect("a schema");
        assert!(schema.check(&json!({ "it": 7 })).is_err(), "{key}");
    }
    gateway.stop().await;
}
