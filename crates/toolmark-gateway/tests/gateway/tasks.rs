//! Requests that name a task themselves: they get less than their address gives, never more.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolmark_fixture::Listening;
use toolmark_gateway::GatewayBuilder;
use toolmark_store::audit::{AuditFilter, Durability, Order, SinkSettings};

use crate::raw::Raw;
use crate::support::{ERAS, Era, Running, by_http, http_fixture, read, store};

const KEY: &str = "dev.toolmark/task";

/// `meta` reads, `echo` creates and `env` deletes, as far as anybody knows here. The first says which `_meta` its server saw.
const CONFIG: &str = "
[packs.p.tools.meta]
behavior = \"PURE|READ|DATA\"
[packs.p.tools.echo]
behavior = \"MUTATES|CREATE|DATA\"
[packs.p.tools.env]
behavior = \"MUTATES|DELETE|DATA\"
[[rules]]
verdict = \"allow\"
tools = [\"p.meta\", \"p.echo\", \"p.env\"]
[[rules]]
verdict = \"deny\"
tools = [\"p.meta\"]
task = \"blind\"
[tasks.making]
expect = [\"PURE|*|*\", \"MUTATES|CREATE|*\"]
[tasks.dropping]
expect = [\"PURE|*|*\", \"MUTATES|DELETE|*\"]
[tasks.blind]
expect = [\"*|*|*\"]
[tasks.few]
tools = [\"p.meta\"]
expect = [\"*|*|*\"]
";

const TOOLS: [&str; 3] = ["meta", "echo", "env"];

async fn fixture() -> (String, Listening) {
    let fixture = http_fixture(toolmark_fixture::Era::Both).await;
    (format!("{}{CONFIG}", by_http("p", &fixture)), fixture)
}

fn call(tool: &str, task: &Value) -> Value {
    json!({"name": tool, "arguments": {}, "_meta": {KEY: task}})
}

async fn runs(client: &Raw<'_>, tool: &str, task: &str) -> bool {
    let result = client.result("tools/call", call(tool, &json!(task))).await;
    assert_eq!(result["_meta"]["dev.toolmark/call"]["canonical"], format!("p.{tool}"));
    result["isError"] != true
}

#[tokio::test]
async fn a_call_is_judged_by_the_task_that_it_names() {
    let (config, _fixture) = fixture().await;
    let gateway = Running::start(&config).await;
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        assert!(client.call("env", json!({})).await["isError"] != true, "{era:?}");
        for (task, expected) in
            [("read-only", [true, false, false]), ("making", [true, true, false]), ("blind", [false, true, true])]
        {
            for (tool, expected) in TOOLS.into_iter().zip(expected) {
                assert_eq!(runs(&client, tool, task).await, expected, "{era:?} {tool} {task}");
            }
        }
    }
    gateway.stop().await;
}

#[tokio::test]
async fn the_task_of_the_address_holds_as_well() {
    let (config, _fixture) = fixture().await;
    let gateway = Running::start(&config).await;
    for era in ERAS {
        let client = Raw::at(&gateway, era, "/mcp/making").await;
        for (task, expected) in [
            ("making", [true, true, false]),
            ("dropping", [true, false, false]),
            ("read-only", [true, false, false]),
            ("blind", [false, true, false]),
        ] {
            for (tool, expected) in TOOLS.into_iter().zip(expected) {
                assert_eq!(runs(&client, tool, task).await, expected, "{era:?} {tool} {task}");
            }
        }
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_task_that_nobody_described_is_an_error_and_nothing_runs() {
    let (config, _fixture) = fixture().await;
    let gateway = Running::start(&config).await;
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        for (task, code) in [
            (json!("nope"), "task-unknown"),
            (json!(""), "task-unknown"),
            (json!({"name": "making"}), "task-name"),
            (json!(null), "task-name"),
        ] {
            for (method, params) in [("tools/call", call("meta", &task)), ("tools/list", json!({"_meta": {KEY: task}}))]
            {
                let (_, answer) = client.ask(method, params).await;
                assert_eq!(answer["error"]["code"], -32602, "{era:?} {method} {task}: {answer}");
                assert_eq!(answer["error"]["data"]["code"], code, "{era:?} {method} {task}: {answer}");
            }
        }
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_list_shows_what_the_named_task_lists_and_calls_reach_no_more() {
    let (config, _fixture) = fixture().await;
    let gateway = Running::start(&config).await;
    for era in ERAS {
        let client = Raw::new(&gateway, era).await;
        let listed = client.result("tools/list", json!({"_meta": {KEY: "few"}})).await;
        let names: Vec<&str> =
            listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert_eq!(names, ["meta"], "{era:?}");
        let (_, answer) = client.ask("tools/call", call("echo", &json!("few"))).await;
        assert_eq!(answer["error"]["data"]["reason"], "unknown_tool", "{era:?}: {answer}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn the_audit_says_which_tasks_held_and_servers_hear_nothing_of_them() {
    let store = store().await;
    let (config, _fixture) = fixture().await;
    let builder = GatewayBuilder::new(read(&config), PathBuf::new());
    let sink = store.audit_sink(SinkSettings { durability: Durability::Strict, ..SinkSettings::new("a-test") });
    let gateway = Running::of(builder.store(store.clone()).audit(sink)).await;
    let client = Raw::at(&gateway, Era::New, "/mcp/making").await;
    let result = client.result("tools/call", call("meta", &json!("read-only"))).await;
    assert!(!result["content"].to_string().contains(KEY), "{result}");
    let (alone, plain) = (Raw::new(&gateway, Era::Old).await, Raw::new(&gateway, Era::Old).await);
    alone.result("tools/call", call("meta", &json!("read-only"))).await;
    plain.call("meta", json!({})).await;
    let filter = AuditFilter { rows: true, ..AuditFilter::default() };
    let rows = store.audit(filter, Order::Oldest).all().await.expect("rows");
    let tasks: Vec<Option<&str>> = rows.iter().map(|row| row.record.task.as_deref()).collect();
    assert_eq!(tasks, [Some("making+read-only"), Some("read-only"), None]);
    gateway.stop().await;
}
