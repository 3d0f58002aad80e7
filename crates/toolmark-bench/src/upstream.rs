//! An MCP server that does as little as it can, over HTTP or stdio, and counts what really arrives.
//!
//! `/mcp` has 50 tools; `/mcp/<count>` as many as that; `/mcp/<count>/<prefix>` puts a prefix in front of their names. `GET /posts`
//! answers with the number of POSTs so far.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use clap::Args;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::tools;

/// What a blob is made of.
const PATTERN: &str = "A plain sentence that repeats itself until there is enough of it. ";

#[derive(Args)]
pub(crate) struct Upstream {
    /// Where it listens; without it, it speaks over standard input and output
    #[arg(long)]
    listen: Option<String>,
}

/// What it has, and what has come in.
#[derive(Default)]
struct Server {
    lists: Mutex<HashMap<String, Arc<str>>>,
    posts: AtomicU64,
}

#[derive(Deserialize)]
struct Asked<'a> {
    id: Option<Value>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    bytes: Option<usize>,
}

impl Upstream {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let server = Arc::new(Server::default());
        match self.listen {
            Some(address) => listen(server, &address).await,
            None => converse(&server).await,
        }
    }
}

async fn listen(server: Arc<Server>, address: &str) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let server = Arc::clone(&server);
                async move { Ok::<_, Infallible>(server.respond(request).await) }
            });
            // A client that goes away is no failure.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Answers line by line; what comes in together is answered together.
async fn converse(server: &Server) -> Result<(), Failure> {
    let mut input = BufReader::with_capacity(1 << 16, tokio::io::stdin());
    let mut output = tokio::io::stdout();
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line).await? > 0 {
        if let Some(answer) = server.answer("/mcp", &line) {
            answers.extend_from_slice(answer.as_bytes());
            answers.push(b'\n');
        }
        line.clear();
        if memchr::memchr(b'\n', input.buffer()).is_none() {
            output.write_all(&answers).await?;
            output.flush().await?;
            answers.clear();
        }
    }
    Ok(())
}

impl Server {
    async fn respond(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_owned();
        match *request.method() {
            Method::POST => {}
            Method::GET if path == "/posts" => {
                return response(StatusCode::OK, self.posts.load(Ordering::Relaxed).to_string());
            }
            Method::DELETE => return response(StatusCode::OK, String::new()),
            _ => return response(StatusCode::METHOD_NOT_ALLOWED, String::new()),
        }
        self.posts.fetch_add(1, Ordering::Relaxed);
        let Ok(body) = request.into_body().collect().await else {
            return response(StatusCode::BAD_REQUEST, String::new());
        };
        match self.answer(&path, &body.to_bytes()) {
            None => response(StatusCode::ACCEPTED, String::new()),
            Some(answer) => {
                let mut response = response(StatusCode::OK, answer);
                response.headers_mut().insert("mcp-session-id", HeaderValue::from_static("the-only-session"));
                response
            }
        }
    }

    /// The answer to a message; none to what wants none.
    fn answer(&self, path: &str, message: &[u8]) -> Option<String> {
        let error = |id: &Value, code: i64, why: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{why}"}}}}"#)
        };
        let Ok(message) = serde_json::from_slice::<Asked<'_>>(message) else {
            return Some(error(&Value::Null, -32700, "unreadable"));
        };
        let id = message.id?;
        let result = match message.method.as_deref() {
            Some("initialize") => {
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}"#
                    .to_owned()
            }
            Some("ping") => "{}".to_owned(),
            Some("tools/list") => format!(r#"{{"tools":{}}}"#, self.list(path)),
            Some("tools/call") => match message.params.as_ref().and_then(call) {
                Some(text) => format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":false}}"#),
                None => return Some(error(&id, -32602, "bad parameters")),
            },
            _ => return Some(error(&id, -32601, "method not found")),
        };
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    /// The tools at an address, written when they are first asked for.
    fn list(&self, path: &str) -> Arc<str> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = lists.get(path) {
            return Arc::clone(list);
        }
        let mut parts = path.split('/').skip(2);
        let count = parts.next().and_then(|count| count.parse().ok()).unwrap_or(50);
        let list: Arc<str> = tools::list(parts.next().unwrap_or_default(), count).into();
        lists.insert(path.to_owned(), Arc::clone(&list));
        list
    }
}

/// What a tool says, as a JSON string.
fn call(params: &Params<'_>) -> Option<String> {
    let (name, arguments) = (params.name.as_deref()?, params.arguments.as_ref()?);
    if name.ends_with("echo") {
        serde_json::to_string(arguments.text.as_deref()?).ok()
    } else if name.ends_with("blob") {
        let bytes = arguments.bytes?;
        let mut text = String::with_capacity(bytes + PATTERN.len() + 2);
        text.push('"');
        while text.len() <= bytes {
            text.push_str(PATTERN);
        }
        text.truncate(bytes + 1);
        text.push('"');
        Some(text)
    } else {
        Some(r#""done""#.to_owned())
    }
}

fn response(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
