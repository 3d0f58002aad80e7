//! Clients that come before the packs: what they are told at once, what waits, and for how long it holds.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use toolmark_gateway::{Front, GatewayBuilder};
use toolmark_mcp::downstream::{Caller, Endpoint, SealKey, Settings};

use crate::raw::{Raw, scripted, tool};
use crate::support::{ERAS, Era, Running, read};

/// A gateway with one pack that lists nothing before it is let go.
fn hanging(let_go: &Arc<AtomicBool>) -> GatewayBuilder {
    let let_go = Arc::clone(let_go);
    let build = move || {
        let let_go = Arc::clone(&let_go);
        let ((ours, mut input), (output, theirs)) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        tokio::spawn(async move {
            // Everything that comes waits for the word.
            while !let_go.load(Ordering::Acquire) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let (mut far_output, mut far_input) = scripted(json!({}), |method, _| {
                Some(Ok(if method == "tools/list" { json!({"tools": [tool("late")]}) } else { json!({}) }))
            })();
            let mut output = output;
            tokio::join!(tokio::io::copy(&mut input, &mut far_input), tokio::io::copy(&mut far_output, &mut output))
        });
        (theirs, ours)
    };
    GatewayBuilder::new(read(""), PathBuf::new()).built_in("slow".parse().expect("a name"), build)
}

#[tokio::test]
async fn everything_that_packs_may_offer_is_declared_before_they_do() {
    let gateway = Running::at_once(hanging(&Arc::default())).await;
    for era in ERAS {
        let about = Raw::new(&gateway, era).await.about;
        let capabilities = &about["result"]["capabilities"];
        assert_eq!(capabilities["resources"], json!({"listChanged": true, "subscribe": true}), "{era:?}: {about}");
        assert_eq!(capabilities["prompts"], json!({"listChanged": true}), "{era:?}: {about}");
        assert_eq!(capabilities["completions"], json!({}), "{era:?}: {about}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_list_made_while_a_pack_is_starting_does_not_hold_for_long() {
    let let_go = Arc::<AtomicBool>::default();
    let gateway = Running::at_once(hanging(&let_go)).await;
    let client = Raw::new(&gateway, Era::New).await;
    assert_eq!(client.about["result"]["ttlMs"], 1_000);
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        assert_eq!(client.result(method, json!({})).await["ttlMs"], 1_000, "{method}");
    }
    let_go.store(true, Ordering::Release);
    gateway.gateway.settled().await;
    // The snapshot that says so comes a moment after the pack.
    for _ in 0..500 {
        let tools = client.result("tools/list", json!({})).await;
        if tools["ttlMs"] == 60_000 {
            assert_eq!(tools["tools"][0]["name"], "late");
            return gateway.stop().await;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("lists never hold for long");
}

/// A client over pipes.
struct Piped {
    input: DuplexStream,
    output: tokio::io::Lines<BufReader<DuplexStream>>,
}

impl Piped {
    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.expect("written");
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let line = self.output.next_line().await.expect("a line").expect("more");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn a_client_over_pipes_is_greeted_at_once_and_its_first_list_waits_for_the_packs() {
    let let_go = Arc::<AtomicBool>::default();
    let gateway = hanging(&let_go).start().expect("the gateway starts");
    let front = Front::new(Arc::clone(&gateway)).patient(Duration::from_secs(600));
    let endpoint = Endpoint::new(Arc::new(front), Settings { seal: SealKey::random(), ..Settings::default() });
    let ((input, theirs_in), (theirs_out, output)) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
    let serving = tokio::spawn(async move { endpoint.stdio(theirs_in, theirs_out, Caller::new("local")).await });
    let mut client = Piped { input, output: BufReader::new(output).lines() };
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    // It would not come before the pack is let go, if it waited.
    assert!(client.answer(1).await["result"]["capabilities"].is_object());
    client.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    let_go.store(true, Ordering::Release);
    let tools = client.answer(2).await;
    assert_eq!(tools["result"]["tools"][0]["name"], "late", "{tools}");
    drop(client);
    let _ = serving.await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_pack_that_hangs_holds_the_first_list_up_for_a_while_only() {
    let gateway = hanging(&Arc::default()).start().expect("the gateway starts");
    let front = Front::new(Arc::clone(&gateway)).patient(Duration::from_millis(50));
    let endpoint = Endpoint::new(Arc::new(front), Settings { seal: SealKey::random(), ..Settings::default() });
    let ((input, theirs_in), (theirs_out, output)) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
    let serving = tokio::spawn(async move { endpoint.stdio(theirs_in, theirs_out, Caller::new("local")).await });
    let mut client = Piped { input, output: BufReader::new(output).lines() };
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    client.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    client.answer(1).await;
    client.send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    assert_eq!(client.answer(2).await["result"]["tools"], json!([]));
    drop(client);
    let _ = serving.await;
    gateway.stop().await;
}
