//! Several packs: names that collide, one that dies, and what is left when the gateway stops.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use toolmark_gateway::PackState;

use crate::addresses::send;
use crate::support::{Era, Running, by_http, by_stdio, call, http_fixture, read, store, text};

#[tokio::test]
async fn of_two_packs_with_the_same_names_each_keeps_its_own_tools() {
    let (one, two) = (http_fixture(toolmark_fixture::Era::Both).await, http_fixture(toolmark_fixture::Era::Both).await);
    let gateway = Running::start(&format!("{}{}", by_http("one", &one), by_http("two", &two))).await;
    let client = gateway.client(Era::New).await;
    let names: Vec<String> =
        client.list_all_tools().await.expect("tools").into_iter().map(|tool| tool.name.into_owned()).collect();
    let echoes: Vec<&String> = names.iter().filter(|name| name.ends_with("echo")).collect();
    assert_eq!(echoes.len(), 2, "{names:?}");
    for (name, pack) in echoes.iter().zip(["one.echo", "two.echo"]) {
        let result = call(&client, name, json!({ "text": pack })).await;
        assert_eq!(result.meta.expect("metadata").0["dev.toolmark/call"]["canonical"], pack);
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_pack_that_dies_says_so_and_comes_back_while_the_other_goes_on() {
    let well = http_fixture(toolmark_fixture::Era::Both).await;
    let config = format!("[names]\nexposure = \"prefixed\"\n{}{}", by_http("well", &well), by_stdio("ill", &[]));
    let gateway = Running::start(&config).await;
    let client = gateway.client(Era::Old).await;
    let crashed = call(&client, "ill__crash", json!({})).await;
    assert_eq!(crashed.is_error, Some(true));
    let echo = call(&client, "well__echo", json!({ "text": "still here" })).await;
    assert_eq!(text(&echo), "still here");
    let mut away = false;
    for _ in 0..1_000 {
        let result = call(&client, "ill__echo", json!({ "text": "back" })).await;
        if result.is_error == Some(true) {
            away = true;
        } else if away {
            assert_eq!(text(&result), "back");
            return gateway.stop().await;
        }
        assert_eq!(text(&call(&client, "well__echo", json!({ "text": "on" })).await), "on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the pack was away: {away}, and never came back");
}

#[tokio::test]
async fn a_gateway_that_stops_leaves_no_program_behind() {
    let gateway = Running::start(&by_stdio("fixture", &["--name", "left-behind-by-a-test"])).await;
    assert!(find("left-behind-by-a-test"), "the program runs");
    gateway.stop().await;
    for _ in 0..500 {
        if !find("left-behind-by-a-test") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the program still runs");
}

/// Whether a program with this argument runs.
pub(crate) fn find(argument: &str) -> bool {
    let entries = Path::new("/proc").read_dir().expect("a list of processes").flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes()))
}

#[tokio::test]
async fn a_pack_that_lacks_a_variable_or_a_file_keeps_no_other_from_running_and_is_tried_again_by_a_reload() {
    let well = http_fixture(toolmark_fixture::Era::Both).await;
    let (names, ill) = ("[names]\nexposure = \"prefixed\"\n", by_stdio("ill", &[]));
    let good = format!("{names}{}{ill}", by_http("well", &well));
    let store = store().await;
    Running::start_with(&good, &store).await.stop().await;
    for (lack, says) in [
        (
            "env = { TOKEN = \"${TOOLMARK_TEST_UNSET}\" }\n",
            "the variable `TOOLMARK_TEST_UNSET` is not set (`env.TOKEN`)",
        ),
        ("roots = [\"${TOOLMARK_TEST_UNSET}/notes\"]\n", "the variable `TOOLMARK_TEST_UNSET` is not set (`roots[0]`)"),
        ("env_file = \"nowhere.env\"\n", "its `env_file` `nowhere.env` cannot be read"),
    ] {
        let bad = format!("{good}{lack}");
        let gateway = Running::start_with(&bad, &store).await;
        let pack = gateway.gateway.packs().into_iter().find(|pack| pack.name().as_str() == "ill").expect("it is there");
        let PackState::Unavailable(why) = pack.state() else { panic!("{lack}: {:?}", pack.state()) };
        assert!(why.starts_with(says), "{why}");
        let (_, ready) = send(&gateway, http::Method::GET, "/readyz", &[], serde_json::Value::Null).await;
        let ready: serde_json::Value = serde_json::from_str(&ready).expect("JSON");
        assert_eq!(ready["ready"], true);
        assert_eq!(ready["packs"], json!({"ill": "unavailable", "well": "ready"}));
        let client = gateway.client(Era::New).await;
        let tools = client.list_all_tools().await.expect("tools");
        let listed = tools.iter().find(|tool| tool.name == "ill__echo").expect("what it listed is still listed");
        assert_eq!(listed.meta.as_ref().expect("metadata").0["dev.toolmark/pack"]["state"], "unavailable");
        assert_eq!(text(&call(&client, "well__echo", json!({ "text": "on" })).await), "on");
        let refused = call(&client, "ill__echo", json!({ "text": "on" })).await;
        assert!(text(&refused).contains(says), "{}", text(&refused));
        // Something else changes; it is still as it was.
        let other = format!("{bad}[[rules]]\nid = \"x\"\ntools = [\"well.crash\"]\nverdict = \"deny\"\n");
        let reloaded = gateway.gateway.reload(read(&other), None).await.expect("it is taken over");
        assert!(reloaded.restarted.is_empty(), "{reloaded:?}");
        // What it lacked is there.
        let reloaded = gateway.gateway.reload(read(&good), None).await.expect("it is taken over");
        assert_eq!(reloaded.restarted.len(), 1);
        gateway.gateway.settled().await;
        assert_eq!(text(&call(&client, "ill__echo", json!({ "text": "back" })).await), "back");
        gateway.gateway.reload(read(&bad), None).await.expect_err("what works is not replaced by what cannot");
        gateway.stop().await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_runs_on_as_many_processors_as_it_may_use() {
    let limits = "[packs.fixture.limits]\nprocessors = 1\n";
    let config = format!("{}{limits}", by_stdio("fixture", &["--name", "on-one-processor-in-a-test"]));
    let gateway = Running::start(&config).await;
    let processes = Path::new("/proc").read_dir().expect("a list of processes").flatten();
    let is_it = |line: &[u8]| line.split(|byte| *byte == 0).any(|part| part == b"on-one-processor-in-a-test");
    let it = processes
        .map(|entry| entry.path())
        .find(|path| std::fs::read(path.join("cmdline")).is_ok_and(|line| is_it(&line)))
        .expect("the program runs");
    let mut threads = 0;
    for thread in it.join("task").read_dir().expect("its threads").flatten() {
        let status = std::fs::read_to_string(thread.path().join("status")).expect("a status");
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("its processors");
        assert!(list.trim().parse::<u32>().is_ok(), "one processor: {list}");
        threads += 1;
    }
    assert!(threads > 0, "threads were looked at");
    gateway.stop().await;
}
