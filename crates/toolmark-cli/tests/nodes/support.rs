//! A server that counts what really reaches it, gateways in front of it, and somebody who calls and decides.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// An MCP server of the old era over HTTP. Each call of `write` or `note` is an effect.
pub(crate) struct Effects {
    port: u16,
    seen: Arc<Mutex<BTreeMap<u64, u32>>>,
}

impl Effects {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen: Arc<Mutex<BTreeMap<u64, u32>>> = Arc::default();
        let counted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || serve(stream, &counted));
            }
        });
        Self { port, seen }
    }

    /// How often each number was written.
    pub(crate) fn seen(&self) -> BTreeMap<u64, u32> {
        self.seen.lock().expect("not poisoned").clone()
    }

    /// A configuration with this server: `write` is asked about, `note` is not.
    pub(crate) fn configuration(&self, more: &str) -> String {
        format!(
            "[packs.effects]\nurl = \"http://127.0.0.1:{}/mcp\"\n\n[[rules]]\nid = \"ask\"\nverdict = \"ask\"\ntools = [\"effects.write\"]\n\n\
             [audit]\ndurability = \"strict\"\n{more}",
            self.port
        )
    }
}

fn serve(stream: TcpStream, seen: &Mutex<BTreeMap<u64, u32>>) {
    let mut reader = BufReader::new(match stream.try_clone() {
        Ok(stream) => stream,
        Err(_) => return,
    });
    let mut writer = stream;
    loop {
        let (mut length, mut method, mut line) = (0, String::new(), String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let text = line.trim_end();
            if method.is_empty() {
                text.split(' ').next().unwrap_or_default().clone_into(&mut method);
            }
            if let Some((name, value)) = text.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
            if text.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let answer = (method == "POST").then(|| answer(&body, seen)).flatten();
        let head = match (&answer, method.as_str()) {
            (Some(_), _) => "200 OK",
            (None, "POST") => "202 Accepted",
            (None, _) => "405 Method Not Allowed",
        };
        let text = answer.map(|answer| answer.to_string()).unwrap_or_default();
        let response = format!(
            "HTTP/1.1 {head}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        );
        if writer.write_all(response.as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(body: &[u8], seen: &Mutex<BTreeMap<u64, u32>>) -> Option<Value> {
    let message: Value = serde_json::from_slice(body).ok()?;
    let id = message.get("id")?.clone();
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "effects", "version": "1"},
        }),
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
            let tool = |name: &str| json!({"name": name, "description": "Write a row", "inputSchema": schema});
            json!({"tools": [tool("write"), tool("note")]})
        }
        "tools/call" => {
            let number = message["params"]["arguments"]["n"].as_u64()?;
            *seen.lock().ok()?.entry(number).or_default() += 1;
            json!({"content": [{"type": "text", "text": format!("wrote {number}")}]})
        }
        _ => return Some(json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "not known"}})),
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

/// A gateway as a process of its own.
pub(crate) struct Node {
    child: Child,
    pub(crate) address: String,
}

impl Node {
    /// Starts it in a folder with `toolmark.toml`, and waits until it has its tools.
    pub(crate) fn start(folder: &Path, store: &str) -> Self {
        let mut child = toolmark(folder)
            .args(["up", "--listen", "127.0.0.1:0", "--store", store])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("toolmark starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let first = lines.next().expect("a line").expect("text");
        let address = first.strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.expect("where it listens").to_owned();
        let ready = lines.by_ref().map_while(Result::ok).find(|line| line.contains("tools in"));
        assert!(ready.is_some(), "it says which tools it has");
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn toolmark(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).env("USER", "ann").env_remove("TOOLMARK_LOG");
    command
}

/// Runs a command to its end and reads its JSON.
pub(crate) fn json_of(folder: &Path, arguments: &[&str]) -> Value {
    let output = toolmark(folder).args(arguments).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned()))
}

/// A request over a connection of its own.
pub(crate) fn send(address: &str, head: &str, body: &str) -> io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let request =
        format!("{head}\r\nHost: {address}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes())?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let broken = || io::Error::new(io::ErrorKind::UnexpectedEof, "no whole answer");
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(broken)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(broken)?;
    let value = serde_json::from_str(body).map_err(|_| broken())?;
    Ok((status, value))
}

/// Calls a tool as a client that cannot ask anybody. `more` are further members of the parameters.
pub(crate) fn call(address: &str, tool: &str, number: u64, capabilities: &Value, more: &Value) -> io::Result<Value> {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}"
    );
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let mut params = json!({"name": tool, "arguments": {"n": number}, "_meta": meta});
    if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
        params.extend(more.clone());
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let (_, answer) = send(address, &head, &body.to_string())?;
    Ok(answer)
}

/// Decides over HTTP.
pub(crate) fn decide(address: &str, token: &str, id: &str, decision: &Value) -> io::Result<(u16, Value)> {
    let head = format!(
        "POST /api/approvals/{id}/decision HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer {token}"
    );
    send(address, &head, &decision.to_string())
}

/// The id of the question that an answer in band names.
pub(crate) fn question(answer: &Value) -> Option<String> {
    let text = answer["result"]["content"][0]["text"].as_str()?;
    let (_, rest) = text.split_once("It waits for a person (")?;
    rest.split_once(')').map(|(id, _)| id.to_owned())
}

/// A token that decides.
pub(crate) fn approver(folder: &Path, store: &str) -> String {
    let made = json_of(folder, &["token", "create", "ann", "--approver", "--json", "--store", store]);
    made["token"].as_str().expect("a token").to_owned()
}
