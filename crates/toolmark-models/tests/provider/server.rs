//! A server that answers what it is told, byte for byte, and keeps what it was asked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A server on a free port. It ends with the test.
pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

/// What came in.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// What goes out for one request.
#[derive(Clone)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    /// How many bytes go out at a time; all at once if 0.
    piece: usize,
    /// Whether the connection stays open after that, saying nothing.
    hangs: bool,
}

impl Reply {
    /// A whole body with a status.
    pub(crate) fn new(status: u16, content_type: &str, body: &str) -> Self {
        Self::with(status, &format!("content-type: {content_type}\r\n"), body)
    }

    /// A body with further headers.
    pub(crate) fn with(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let text =
            format!("HTTP/1.1 {status} Status\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
        Self { bytes: text.into_bytes(), piece: 0, hangs: false }
    }

    pub(crate) fn json(value: &Value) -> Self {
        Self::new(200, "application/json", &value.to_string())
    }

    /// An event stream that ends with the connection.
    pub(crate) fn events(stream: &str) -> Self {
        let text = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n{stream}"
        );
        Self { bytes: text.into_bytes(), piece: 0, hangs: false }
    }

    /// Bytes that need not be HTTP.
    pub(crate) fn raw(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), piece: 0, hangs: false }
    }

    pub(crate) fn in_pieces(self, piece: usize) -> Self {
        Self { piece, ..self }
    }

    pub(crate) fn hanging(self) -> Self {
        Self { hangs: true, ..self }
    }
}

impl Server {
    /// Answers one request after the other; what comes after the last is not answered.
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let replies: Arc<Mutex<VecDeque<Reply>>> = Arc::new(Mutex::new(replies.into_iter().collect()));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&replies), Arc::clone(&kept)));
            }
        });
        Self { address, asked, task }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("a lock").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, replies: Arc<Mutex<VecDeque<Reply>>>, asked: Arc<Mutex<Vec<Asked>>>) {
    let Some(request) = read(&mut stream).await else { return };
    asked.lock().expect("a lock").push(request);
    let reply = replies.lock().expect("a lock").pop_front();
    let Some(reply) = reply else { return };
    let piece = if reply.piece == 0 { reply.bytes.len().max(1) } else { reply.piece };
    for part in reply.bytes.chunks(piece) {
        if stream.write_all(part).await.is_err() || stream.flush().await.is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    if reply.hangs {
        // Until the client goes away; nobody waits this long.
        tokio::time::sleep(Duration::from_secs(600)).await;
    }
    let _ = stream.shutdown().await;
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..at]).into_owned();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            let body = &bytes[at + 4..];
            if body.len() >= length.unwrap_or(0) {
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                return Some(Asked { path, head, body: serde_json::from_slice(body).unwrap_or_default() });
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}
