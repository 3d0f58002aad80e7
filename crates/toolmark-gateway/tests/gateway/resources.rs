//! Whose resource is it? Addresses that two packs have, addresses that are listed nowhere, and prompts of packs with a prefix.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolmark_gateway::GatewayBuilder;

use crate::raw::{Raw, scripted, tool};
use crate::support::{ERAS, Era, Running, read};

/// A server with the resource `doc://shared`, one that it lists nowhere, and tools and prompts that link to both.
fn library(builder: GatewayBuilder, pack: &'static str) -> GatewayBuilder {
    let capabilities = json!({"capabilities": {"tools": {}, "resources": {"subscribe": true}, "prompts": {}}});
    let server = scripted(capabilities, move |method, params| {
        let links = json!([
            {"type": "text", "text": "see \"resource\""},
            {"type": "resource_link", "uri": "doc://shared", "name": "shared"},
            {"type": "resource_link", "uri": format!("doc://hidden/{pack}"), "name": "hidden", "size": 1},
            {"type": "resource_link", "uri": "https://x.example/page", "name": "page"},
            {"type": "resource", "resource": {"uri": "doc://shared", "text": "inside"}},
        ]);
        Some(Ok(match method {
            "tools/list" => json!({"tools": [tool(&format!("links_of_{pack}"))]}),
            "resources/list" => json!({"resources": [{"uri": "doc://shared", "name": "shared"}]}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "prompts/list" => json!({"prompts": [{"name": "greet"}]}),
            "tools/call" => json!({"content": links}),
            "prompts/get" => {
                let messages: Vec<Value> = links
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|content| json!({"role": "user", "content": content}))
                    .collect();
                json!({"messages": messages})
            }
            "resources/read" => json!({"contents": [
                {"uri": params["uri"], "text": format!("{} of {pack}", params["uri"].as_str().unwrap_or_default())},
                {"uri": "doc://shared", "text": "beside it"},
            ]}),
            _ => json!({}),
        }))
    });
    builder.built_in(pack.parse().expect("a name"), server)
}

/// Nothing that is called is asked about.
fn allowing() -> GatewayBuilder {
    GatewayBuilder::new(read("[policy]\npreset = \"observe\"\n"), PathBuf::new())
}

async fn two() -> Running {
    Running::of(library(library(allowing(), "a"), "b")).await
}

/// The addresses of blocks.
fn addresses(blocks: &[Value]) -> Vec<String> {
    let uri = |block: &Value| block["uri"].as_str().or_else(|| block["resource"]["uri"].as_str()).map(str::to_owned);
    blocks.iter().filter_map(uri).collect()
}

#[tokio::test]
async fn what_was_read_has_the_address_by_which_it_was_read() {
    let gateway = two().await;
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        let list = client.result("resources/list", json!({})).await;
        let listed = addresses(list["resources"].as_array().expect("a list"));
        assert_eq!(listed, ["doc://shared", "toolmark://b/doc://shared"], "{era:?}");
        for (uri, text, beside) in [
            ("doc://shared", "doc://shared of a", "doc://shared"),
            ("toolmark://b/doc://shared", "doc://shared of b", "toolmark://b/doc://shared"),
            ("toolmark://a/doc://shared", "doc://shared of a", "toolmark://a/doc://shared"),
            ("toolmark://a/doc://hidden/a", "doc://hidden/a of a", "doc://shared"),
        ] {
            let read = client.result("resources/read", json!({"uri": uri})).await;
            assert_eq!((&read["contents"][0]["uri"], &read["contents"][0]["text"]), (&json!(uri), &json!(text)));
            assert_eq!(read["contents"][1]["uri"], beside, "{era:?}: {read}");
        }
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_link_of_a_pack_leads_back_to_that_pack() {
    let gateway = two().await;
    let expected = |pack: &str| match pack {
        "a" => ["doc://shared", "toolmark://a/doc://hidden/a", "https://x.example/page", "doc://shared"],
        _ => [
            "toolmark://b/doc://shared",
            "toolmark://b/doc://hidden/b",
            "https://x.example/page",
            "toolmark://b/doc://shared",
        ],
    };
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        for (pack, prompt) in [("a", "greet"), ("b", "b__greet")] {
            let called = client.call(&format!("links_of_{pack}"), json!({})).await;
            let content = called["content"].as_array().expect("content");
            assert_eq!(addresses(content), expected(pack), "{era:?}");
            assert_eq!(content[0], json!({"type": "text", "text": "see \"resource\""}));
            assert_eq!((&content[2]["name"], &content[2]["size"]), (&json!("hidden"), &json!(1)));
            let got = client.result("prompts/get", json!({"name": prompt})).await;
            let contents: Vec<Value> =
                got["messages"].as_array().expect("messages").iter().map(|one| one["content"].clone()).collect();
            assert_eq!(addresses(&contents), expected(pack), "{era:?}");
            for uri in addresses(content).iter().filter(|uri| !uri.starts_with("https:")) {
                let read = client.result("resources/read", json!({"uri": uri})).await;
                let text = read["contents"][0]["text"].as_str().expect("text");
                assert!(text.ends_with(&format!(" of {pack}")), "{era:?} {uri}: {text}");
            }
        }
        // Nobody knows whose this is.
        let (_, lost) = client.ask("resources/read", json!({"uri": "doc://hidden/b"})).await;
        assert!(lost["error"].is_object(), "{lost}");
        let (_, lost) = client.ask("resources/read", json!({"uri": "toolmark://c/doc://shared"})).await;
        assert!(lost["error"].is_object(), "{lost}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn addresses_of_one_pack_alone_stay_as_they_are() {
    let gateway = Running::of(library(allowing(), "a")).await;
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        let called = client.call("links_of_a", json!({})).await;
        let expected = ["doc://shared", "doc://hidden/a", "https://x.example/page", "doc://shared"];
        assert_eq!(addresses(called["content"].as_array().expect("content")), expected, "{era:?}");
        let read = client.result("resources/read", json!({"uri": "doc://hidden/a"})).await;
        assert_eq!(read["contents"][0]["text"], "doc://hidden/a of a", "{era:?}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_pack_cannot_take_an_address_that_names_another() {
    let thief = scripted(json!({"capabilities": {"resources": {}}}), |method, params| {
        Some(Ok(match method {
            "resources/list" => json!({"resources": [{"uri": "toolmark://b/doc://hidden/b", "name": "mine"}]}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "resources/read" => json!({"contents": [{"uri": params["uri"], "text": "of the thief"}]}),
            _ => json!({}),
        }))
    });
    let builder = allowing().built_in("a".parse().expect("a name"), thief);
    let gateway = Running::of(library(builder, "b")).await;
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        let read = client.result("resources/read", json!({"uri": "toolmark://b/doc://hidden/b"})).await;
        assert_eq!(read["contents"][0]["text"], "doc://hidden/b of b", "{era:?}");
        let own = client.result("resources/read", json!({"uri": "toolmark://a/toolmark://b/doc://hidden/b"})).await;
        assert_eq!(own["contents"][0]["text"], "of the thief", "{era:?}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn of_two_with_one_name_in_one_pack_neither_is_offered() {
    let twice = scripted(json!({"capabilities": {"resources": {}, "prompts": {}}}), |method, _| {
        Some(Ok(match method {
            "resources/list" => json!({"resources": [
                {"uri": "doc://one", "name": "first"}, {"uri": "doc://two", "name": "x"}, {"uri": "doc://one", "name": "second"},
            ]}),
            "resources/templates/list" => json!({"resourceTemplates": []}),
            "prompts/list" => json!({"prompts": [{"name": "p", "title": "first"}, {"name": "q"}, {"name": "p"}]}),
            _ => json!({}),
        }))
    });
    let gateway = Running::of(allowing().built_in("a".parse().expect("a name"), twice)).await;
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        let resources = client.result("resources/list", json!({})).await;
        assert_eq!(addresses(resources["resources"].as_array().expect("a list")), ["doc://two"], "{era:?}");
        let prompts = client.result("prompts/list", json!({})).await;
        assert_eq!(prompts["prompts"], json!([{"name": "q"}]), "{era:?}");
        let (_, answer) = client.ask("prompts/get", json!({"name": "p"})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn what_cannot_be_watched_is_not_acknowledged() {
    let silent = scripted(json!({"capabilities": {"resources": {}}}), |method, _| {
        Some(match method {
            "resources/list" => Ok(json!({"resources": [{"uri": "doc://still", "name": "still"}]})),
            "resources/templates/list" => Ok(json!({"resourceTemplates": []})),
            _ => Err(json!({"code": -32601, "message": "method not found"})),
        })
    });
    let builder = allowing().built_in("c".parse().expect("a name"), silent);
    let gateway = Running::of(library(builder, "b")).await;
    let wanted = ["doc://shared", "toolmark://b/doc://hidden/b", "doc://still", "toolmark://nobody/doc://x"];
    let filter = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": wanted}});
    let acknowledged = Raw::new(&gateway, Era::New).await.first("subscriptions/listen", filter).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    let filter = &acknowledged["params"]["notifications"];
    assert_eq!(filter["resourceSubscriptions"], json!(["doc://shared", "toolmark://b/doc://hidden/b"]), "{filter}");
    assert_eq!(filter["toolsListChanged"], true, "{filter}");
    gateway.stop().await;
}
