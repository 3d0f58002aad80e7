//! A server that speaks the formats of three providers: what it answers is said by the test, and what it was asked is kept.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What goes out for a path and a body: status and body.
type Answers = dyn Fn(&str, &Value) -> (u16, String) + Send + Sync;

pub(crate) struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Server {
    /// On a free port, for as long as the test runs.
    pub(crate) fn start(answers: impl Fn(&str, &Value) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, answers) = (Arc::clone(&asked), Arc::new(answers) as Arc<Answers>);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answers) = (Arc::clone(&kept), Arc::clone(&answers));
                std::thread::spawn(move || serve(stream, &kept, &*answers));
            }
        });
        Self { address, asked }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().expect("a lock").clone()
    }
}

/// A text in the format that belongs to a path.
pub(crate) fn answer(path: &str, text: &str) -> (u16, String) {
    let body = match path {
        "/v1/responses" => json!({
            "id": "resp_1", "object": "response", "status": "completed", "model": "m",
            "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}],
            "usage": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120},
        }),
        "/v1/messages" => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 100, "output_tokens": 20},
        }),
        _ => json!({
            "id": "c1", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }),
    };
    (200, body.to_string())
}

/// A call in the format of Chat Completions.
pub(crate) fn call(_: &str, name: &str, arguments: &str) -> (u16, String) {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}});
    let body = json!({
        "id": "c1", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [call]}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    });
    (200, body.to_string())
}

fn serve(mut stream: TcpStream, kept: &Mutex<Vec<(String, Value)>>, answers: &Answers) {
    let Some((path, body)) = read(&mut stream) else { return };
    kept.lock().expect("a lock").push((path.clone(), body.clone()));
    let (status, text) = answers(&path, &body);
    let head = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes()));
}

fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
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
                return Some((path, serde_json::from_slice(body).unwrap_or_default()));
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}
