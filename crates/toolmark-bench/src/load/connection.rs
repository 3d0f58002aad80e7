//! One client: a connection, and a session where its era has them.

use std::time::Instant;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderName, HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::failure::Failure;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

/// Most pages that a list may have.
const PAGES: usize = 100;

pub(super) struct Connection {
    address: Uri,
    host: HeaderValue,
    sender: SendRequest<Full<Bytes>>,
    stateless: bool,
    session: Option<HeaderValue>,
    /// When the last answer had come, before anything was made of it.
    answered: Instant,
    bytes: usize,
}

impl Connection {
    pub(super) async fn open(url: &str, stateless: bool) -> Result<Self, Failure> {
        let address: Uri = url.parse()?;
        let host = address.authority().ok_or_else(|| Failure::new("the address has no host"))?.as_str().to_owned();
        let sender = connect(&host).await?;
        let mut connection = Self {
            address,
            host: HeaderValue::from_str(&host)?,
            sender,
            stateless,
            session: None,
            answered: Instant::now(),
            bytes: 0,
        };
        if !stateless {
            connection.initialize().await?;
        }
        Ok(connection)
    }

    async fn initialize(&mut self) -> Result<(), Failure> {
        let params =
            json!({"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = self.post("initialize", None, &message).await?;
        if answer.get("result").is_none() {
            return Err(Failure::new(format!("initialize: {answer}")));
        }
        let message = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.post("notifications/initialized", None, &message).await.map(drop)
    }

    /// When the last answer had come, before anything was made of it.
    pub(super) fn answered(&self) -> Instant {
        self.answered
    }

    /// How large the last answer was.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The names of all tools, page after page.
    pub(super) async fn list(&mut self, id: u64) -> Result<Vec<String>, Failure> {
        let mut names = Vec::new();
        let mut params = json!({});
        for _ in 0..PAGES {
            let mut answer = self.request(id, "tools/list", None, params.clone()).await?;
            let tools = answer.pointer("/result/tools").and_then(Value::as_array);
            let tools = tools.ok_or_else(|| Failure::new("there is no list"))?;
            names.extend(tools.iter().filter_map(|tool| Some(tool.get("name")?.as_str()?.to_owned())));
            match answer.pointer_mut("/result/nextCursor").map(Value::take) {
                Some(Value::String(cursor)) => params = json!({"cursor": cursor}),
                _ => return Ok(names),
            }
        }
        Err(Failure::new("the list does not end"))
    }

    pub(super) async fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.request(id, "tools/call", Some(tool), json!({"name": tool, "arguments": arguments})).await
    }

    async fn request(&mut self, id: u64, method: &str, name: Option<&str>, params: Value) -> Result<Value, Failure> {
        let mut params = params;
        if let Some(params) = params.as_object_mut().filter(|_| self.stateless) {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.post(method, name, &message).await
    }

    async fn post(&mut self, method: &str, name: Option<&str>, message: &Value) -> Result<Value, Failure> {
        let mut request = Request::post(self.address.path()).body(Full::new(Bytes::from(message.to_string())))?;
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if self.stateless {
            headers.insert(VERSION, HeaderValue::from_static(NEW));
            headers.insert(METHOD, HeaderValue::from_str(method)?);
            if let Some(name) = name {
                headers.insert(NAME, HeaderValue::from_str(name)?);
            }
        } else if method != "initialize" {
            headers.insert(VERSION, HeaderValue::from_static(OLD));
        }
        if let Some(session) = &self.session {
            headers.insert(SESSION, session.clone());
        }
        if self.sender.ready().await.is_err() {
            self.sender = connect(self.host.to_str()?).await?;
        }
        let response = self.sender.send_request(request).await?;
        let (head, body) = response.into_parts();
        if let (None, Some(session)) = (&self.session, head.headers.get(SESSION)) {
            self.session = Some(session.clone());
        }
        let body = body.collect().await?.to_bytes();
        self.answered = Instant::now();
        self.bytes = body.len();
        if head.status == StatusCode::ACCEPTED {
            return Ok(Value::Null);
        }
        let events = head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event"));
        let answer = if events { last_event(&body).unwrap_or_default() } else { &body };
        match serde_json::from_slice(answer) {
            Ok(answer) if head.status == StatusCode::OK => Ok(answer),
            _ => Err(Failure::new(format!("{}: {}", head.status, String::from_utf8_lossy(&body)))),
        }
    }
}

async fn connect(host: &str) -> Result<SendRequest<Full<Bytes>>, Failure> {
    let stream = TcpStream::connect(host).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    sender.ready().await?;
    Ok(sender)
}

/// The data of the last event that has any: the answer, since nothing follows it.
fn last_event(body: &[u8]) -> Option<&[u8]> {
    let lines = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter_map(|line| line.strip_prefix(b"data:")).map(<[u8]>::trim_ascii).rfind(|data| !data.is_empty())
}
