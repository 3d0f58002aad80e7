//! Servers that say exactly what a test wants, and requests whose answers are seen as they are on the wire.

use std::sync::Arc;

use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use crate::addresses::send;
use crate::support::{Era, Running};

/// What a server answers to a method with parameters: a result or an error; nothing where it keeps still.
pub(crate) trait Script: Fn(&str, &Value) -> Option<Result<Value, Value>> + Send + Sync + 'static {}
impl<F: Fn(&str, &Value) -> Option<Result<Value, Value>> + Send + Sync + 'static> Script for F {}

/// A server of 2025-11-25 that says this of itself and answers by a script.
pub(crate) fn scripted(about: Value, script: impl Script) -> impl Fn() -> (DuplexStream, DuplexStream) + Send + Sync {
    let script = Arc::new(script);
    move || {
        let ((ours, input), (output, theirs)) = (tokio::io::duplex(1 << 20), tokio::io::duplex(1 << 20));
        let (script, about) = (Arc::clone(&script), about.clone());
        tokio::spawn(async move {
            let (mut lines, mut output) = (BufReader::new(input).lines(), output);
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).expect("JSON");
                let method = message["method"].as_str().unwrap_or_default();
                let Some(id) = message.get("id") else { continue };
                let answer = match method {
                    "server/discover" => Some(Err(json!({"code": -32601, "message": "no"}))),
                    "initialize" => {
                        let mut result = json!({
                            "protocolVersion": "2025-11-25",
                            "capabilities": {"tools": {}},
                            "serverInfo": {"name": "scripted", "version": "1"},
                        });
                        for (key, value) in about.as_object().into_iter().flatten() {
                            result[key] = value.clone();
                        }
                        Some(Ok(result))
                    }
                    _ => script(method, &message["params"]),
                };
                // What a server says of its own accord, before it answers.
                let said = match &answer {
                    Some(Ok(result)) => result["$says"].as_array().cloned().unwrap_or_default(),
                    _ => Vec::new(),
                };
                for said in said {
                    if output.write_all(format!("{said}\n").as_bytes()).await.is_err() {
                        return;
                    }
                }
                let answer = match answer {
                    None => continue,
                    Some(Ok(result)) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Some(Err(error)) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
                };
                if output.write_all(format!("{answer}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        (theirs, ours)
    }
}

/// A tool without parameters.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// A client that shows what came over the wire.
pub(crate) struct Raw<'g> {
    gateway: &'g Running,
    era: Era,
    path: String,
    session: Option<String>,
    /// The answer to `initialize` or `server/discover`.
    pub(crate) about: Value,
}

impl<'g> Raw<'g> {
    pub(crate) async fn new(gateway: &'g Running, era: Era) -> Self {
        Self::at(gateway, era, "/mcp").await
    }

    pub(crate) async fn at(gateway: &'g Running, era: Era, path: &str) -> Self {
        let mut raw = Self { gateway, era, path: path.to_owned(), session: None, about: Value::Null };
        match era {
            Era::Old => {
                let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": {"name": "a-test", "version": "1"},
                }});
                let (_, headers, text) = crate::addresses::sent(gateway, Method::POST, path, &[], body).await;
                let session = headers.get("mcp-session-id").expect("a session");
                raw.session = Some(session.to_str().expect("text").to_owned());
                raw.about = read(&text);
            }
            Era::New => raw.about = raw.ask("server/discover", json!({})).await.1,
        }
        raw
    }

    /// One request, and what came back: the status and the message.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> (StatusCode, Value) {
        let (headers, body) = self.request(method, params);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let (status, text) = send(self.gateway, Method::POST, &self.path, &headers, body).await;
        (status, read(&text))
    }

    /// The first message of the answer to a request that does not end by itself.
    pub(crate) async fn first(&self, method: &str, params: Value) -> Value {
        let (headers, body) = self.request(method, params);
        self.first_of(Method::POST, headers, body).await
    }

    /// The first message that comes of its own accord.
    pub(crate) async fn told(&self) -> Value {
        let (headers, _) = self.request("", json!({}));
        self.first_of(Method::GET, headers, Value::Null).await
    }

    async fn first_of(&self, method: Method, headers: Vec<(&'static str, String)>, body: Value) -> Value {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let mut text = String::new();
        let mut stream = crate::addresses::open(self.gateway, method, &self.path, &headers, body).await;
        while let Some(frame) = stream.frame().await {
            let bytes = frame.expect("a frame").into_data().unwrap_or_default();
            text.push_str(&String::from_utf8_lossy(&bytes));
            let message = read(&text);
            if !message.is_null() {
                return message;
            }
        }
        panic!("the stream ended: {text}");
    }

    fn request(&self, method: &str, params: Value) -> (Vec<(&'static str, String)>, Value) {
        let mut params = params;
        let mut headers = vec![("mcp-protocol-version", "2025-11-25".to_owned())];
        let named = params["name"].as_str().or_else(|| params["uri"].as_str()).map(str::to_owned);
        match self.era {
            Era::Old => headers.extend(self.session.clone().map(|session| ("mcp-session-id", session))),
            Era::New => {
                headers = vec![("mcp-protocol-version", "2026-07-28".to_owned()), ("mcp-method", method.to_owned())];
                headers.extend(named.map(|name| ("mcp-name", name)));
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "a-test", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                for (key, value) in meta.as_object().into_iter().flatten() {
                    params["_meta"][key] = value.clone();
                }
            }
        }
        (headers, json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    /// The result of a request that succeeds.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let (_, answer) = self.ask(method, params).await;
        assert!(answer["result"].is_object(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The result of a call.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments})).await
    }
}

/// The last message of a body, which may be a stream of events.
fn read(body: &str) -> Value {
    let last = body.lines().rev().find_map(|line| line.strip_prefix("data: ").filter(|data| !data.is_empty()));
    serde_json::from_str(last.unwrap_or(body)).unwrap_or(Value::Null)
}
