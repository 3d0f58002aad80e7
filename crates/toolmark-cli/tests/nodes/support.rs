//! A server that counts what really reaches it, gateways in front of it, and somebody who calls and decides.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// An MCP server of the old era over HTTP. Each call of `write` or `note` is an effect.
pub(crate) struct Effects {
    port: u16,
    book: Arc<Book>,
}

/// What happened at the server, and which answers it keeps back.
#[derive(Default)]
struct Book {
    seen: Mutex<BTreeMap<u64, u32>>,
    held: Mutex<BTreeSet<u64>>,
    freed: Condvar,
}

impl Effects {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let book: Arc<Book> = Arc::default();
        let counted = Arc::clone(&book);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || serve(stream, &counted));
            }
        });
        Self { port, book }
    }

    /// How often each number was written.
    pub(crate) fn seen(&self) -> BTreeMap<u64, u32> {
        self.book.seen.lock().expect("not poisoned").clone()
    }

    /// How often this number was written.
    pub(crate) fn of(&self, number: u64) -> u32 {
        self.seen().get(&number).copied().unwrap_or_default()
    }

    /// From now on the answer about this number is kept back; the effect is not.
    pub(crate) fn hold(&self, number: u64) {
        self.book.held.lock().expect("not poisoned").insert(number);
    }

    /// Lets it go.
    pub(crate) fn free(&self, number: u64) {
        self.book.held.lock().expect("not poisoned").remove(&number);
        self.book.freed.notify_all();
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

fn serve(stream: TcpStream, book: &Book) {
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
        let answer = (method == "POST").then(|| answer(&body, book)).flatten();
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

fn answer(body: &[u8], book: &Book) -> Option<Value> {
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
            *book.seen.lock().ok()?.entry(number).or_default() += 1;
            let held = book.held.lock().ok()?;
            drop(book.freed.wait_while(held, |held| held.contains(&number)).ok()?);
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
    // What takes its time is answered as an event, the last of its stream.
    let body = body.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(body);
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

/// Calls `write` as a client that cannot ask anybody.
pub(crate) fn write(address: &str, number: u64) -> Value {
    call(address, "write", number, &json!({}), &json!({})).expect("an answer")
}

/// What a result says.
pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// Waits until something is the case. Nothing is measured; this only ends what hangs.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let ends = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < ends, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
