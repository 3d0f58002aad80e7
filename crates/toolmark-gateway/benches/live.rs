//! What does a page that looks on cost? Exits with 1 when the budget is exceeded.
//!
//! | what | budget |
//! |---|---|
//! | a call over HTTP while one page looks on, beside one while nobody does | at most 1.5 times as long |
//! | calls per second that reach a page without any being missed, four pages open | at least 500 |
//!
//! Rounds with and without pages alternate, so that whatever else the machine does weighs on both.
#![expect(clippy::print_stdout, reason = "a benchmark reports on standard output")]
#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolmark_gateway::{Serve, demo};

const ROUNDS: usize = 40;
const CALLS: u32 = 100;
const BUDGET: f64 = 1.5;

type Web = Client<HttpConnector, Full<Bytes>>;

/// What pages were told.
#[derive(Default)]
struct Told {
    calls: AtomicU64,
    missed: AtomicU64,
}

async fn call(web: &Web, address: SocketAddr) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "read_query", "arguments": {"query": "SELECT 1"}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let request = Request::post(format!("http://{address}/mcp"))
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "read_query")
        .body(Full::new(Bytes::from(body)))
        .expect("a request");
    let answer = web.request(request).await.expect("an answer");
    assert!(answer.status().is_success(), "{}", answer.status());
    let _ = answer.into_body().collect().await;
}

/// A page that reads everything it is told.
async fn page(web: &Web, address: SocketAddr, key: &str, told: Arc<Told>) -> JoinHandle<()> {
    let request = Request::get(format!("http://{address}/api/live"))
        .header("authorization", format!("Bearer {key}"))
        .body(Full::default())
        .expect("a request");
    let answer: Response<Incoming> = web.request(request).await.expect("an answer");
    assert!(answer.status().is_success());
    let mut body = answer.into_body();
    // The greeting: from here on it looks on.
    let _ = body.frame().await;
    tokio::spawn(async move {
        while let Some(Ok(frame)) = body.frame().await {
            let data = frame.into_data().unwrap_or_default();
            let count = |name: &[u8]| data.windows(name.len()).filter(|part| *part == name).count() as u64;
            told.calls.fetch_add(count(b"event: call\n"), Ordering::Relaxed);
            told.missed.fetch_add(count(b"event: missed\n"), Ordering::Relaxed);
        }
    })
}

async fn round(web: &Web, address: SocketAddr) -> Duration {
    let start = Instant::now();
    for _ in 0..CALLS {
        call(web, address).await;
    }
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1e6 / f64::from(CALLS)
}

#[tokio::main]
async fn main() -> ExitCode {
    let gateway = demo::builder().start().expect("a gateway");
    gateway.settled().await;
    let serve = Serve::bind(Arc::clone(&gateway), SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("an address");
    let (address, key) = (serve.address(), serve.console_key().expect("a key").to_owned());
    let stop = CancellationToken::new();
    let serving = tokio::spawn(serve.run(stop.clone()));
    let web: Web = Client::builder(TokioExecutor::new()).build_http();
    round(&web, address).await;
    let (mut alone, mut watched, mut by_four) = (Vec::new(), Vec::new(), Vec::new());
    let (told, mut slowest) = (Arc::new(Told::default()), f64::MAX);
    for _ in 0..ROUNDS {
        alone.push(round(&web, address).await);
        for (pages, times) in [(1, &mut watched), (4, &mut by_four)] {
            let mut open = Vec::new();
            for _ in 0..pages {
                open.push(page(&web, address, &key, Arc::clone(&told)).await);
            }
            let took = round(&web, address).await;
            slowest = slowest.min(f64::from(CALLS) / took.as_secs_f64());
            times.push(took);
            // What was told last is on its way.
            tokio::time::sleep(Duration::from_millis(150)).await;
            open.iter().for_each(JoinHandle::abort);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    stop.cancel();
    let _ = serving.await;
    let (alone, watched, by_four) = (median(alone), median(watched), median(by_four));
    let wanted = u64::from(CALLS) * ROUNDS as u64 * 5;
    let (calls, missed) = (told.calls.load(Ordering::Relaxed), told.missed.load(Ordering::Relaxed));
    println!("a call, nobody looks    {alone:8.1} µs");
    println!("a call, one page looks  {watched:8.1} µs   {:.2} ×", watched / alone);
    println!("a call, four pages look {by_four:8.1} µs   {:.2} ×", by_four / alone);
    println!("told {calls} of {wanted} calls, {missed} times some were missed; slowest round {slowest:.0} calls/s");
    let good = watched / alone <= BUDGET && slowest >= 500.0 && missed == 0 && calls == wanted;
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
