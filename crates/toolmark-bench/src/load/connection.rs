//! One client: a connection, and a session where its era has them.

use std::time::Instant;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderName, HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
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
    /// What was answered last. It is read into the same memory every time.
    answer: Vec<u8>,
}

/// What an answer says.
#[derive(Deserialize)]
struct Answer<T> {
    result: T,
}

/// A page of a list.
#[derive(Deserialize)]
struct Tools<T> {
    tools: Vec<T>,
    #[serde(rename = "nextCursor")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
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
            answer: Vec::new(),
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
        self.post("initialize", None, &message).await?;
        serde_json::from_slice::<Answer<IgnoredAny>>(&self.answer).map_err(|_| self.refused())?;
        let message = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        match self.post("notifications/initialized", None, &message).await? {
            StatusCode::ACCEPTED | StatusCode::OK => Ok(()),
            _ => Err(self.refused()),
        }
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
        Ok(self.pages::<Named>(id).await?.into_iter().map(|tool| tool.name).collect())
    }

    /// How many tools there are. Nothing is built from what is listed: what a client keeps, and how its allocator copes with that, is not
    /// the server's.
    pub(super) async fn count(&mut self, id: u64) -> Result<usize, Failure> {
        Ok(self.pages::<IgnoredAny>(id).await?.len())
    }

    async fn pages<T: DeserializeOwned>(&mut self, id: u64) -> Result<Vec<T>, Failure> {
        let mut all = Vec::new();
        let mut params = json!({});
        for _ in 0..PAGES {
            let page: Answer<Tools<T>> = self.request(id, "tools/list", None, params).await?;
            all.extend(page.result.tools);
            match page.result.next {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok(all),
            }
        }
        Err(Failure::new("the list does not end"))
    }

    pub(super) async fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.request(id, "tools/call", Some(tool), json!({"name": tool, "arguments": arguments})).await
    }

    async fn request<T: DeserializeOwned>(
        &mut self,
        id: u64,
        method: &str,
        name: Option<&str>,
        params: Value,
    ) -> Result<T, Failure> {
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
        if self.post(method, name, &message).await? != StatusCode::OK {
            return Err(self.refused());
        }
        serde_json::from_slice(&self.answer).map_err(|_| self.refused())
    }

    fn refused(&self) -> Failure {
        Failure::new(format!("no answer: {}", String::from_utf8_lossy(&self.answer)))
    }

    /// Posts a message and reads what comes back.
    async fn post(&mut self, method: &str, name: Option<&str>, message: &Value) -> Result<StatusCode, Failure> {
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
        let (head, mut body) = response.into_parts();
        if let (None, Some(session)) = (&self.session, head.headers.get(SESSION)) {
            self.session = Some(session.clone());
        }
        self.answer.clear();
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                self.answer.extend_from_slice(&data);
            }
        }
        self.answered = Instant::now();
        self.bytes = self.answer.len();
        if head.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event")) {
            self.answer = last_event(&self.answer).unwrap_or_default().to_vec();
        }
        Ok(head.status)
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
