//! `toolmark run` on a real terminal: questions are asked there, Ctrl-C ends what is under way, and a conversation goes on under its name.
//! `toolmark up` ends with its terminal.
#![cfg(unix)]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use pty_process::blocking::Pty;

/// What runs on a terminal of its own.
struct Terminal {
    pty: Pty,
    child: Child,
    seen: String,
}

impl Terminal {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_with(folder, arguments, |command| command)
    }

    fn start_with(
        folder: &Path,
        arguments: &[&str],
        and: impl FnOnce(pty_process::blocking::Command) -> pty_process::blocking::Command,
    ) -> Self {
        let (pty, pts) = pty_process::blocking::open().expect("a terminal");
        pty.resize(pty_process::Size::new(40, 200)).expect("a size");
        let command = pty_process::blocking::Command::new(env!("CARGO_BIN_EXE_toolmark"))
            .args(arguments)
            .current_dir(folder)
            .env("XDG_DATA_HOME", folder.join("data"))
            .env("TOOLMARK_LOG", "error")
            .env("NO_COLOR", "1")
            .env("MODEL_KEY", "sk-test");
        let child = and(command).spawn(pts).expect("the program");
        Self { pty, child, seen: String::new() }
    }

    /// Reads until something stands there; everything that was read is kept.
    fn until(&mut self, wanted: &str) {
        let mut bytes = [0; 4096];
        while !self.seen.contains(wanted) {
            match self.pty.read(&mut bytes) {
                Ok(count) if count > 0 => self.seen.push_str(&String::from_utf8_lossy(&bytes[..count])),
                // A terminal whose last program has ended gives an error on some systems, and nothing on others.
                ended => {
                    let _ = self.child.kill();
                    assert!(self.seen.contains(wanted), "`{wanted}` never stood there ({ended:?}):\n{}", self.seen);
                }
            }
        }
    }

    fn type_in(&mut self, keys: &str) {
        self.pty.write_all(keys.as_bytes()).expect("a terminal that takes keys");
    }

    /// Reads to the end, and says how it ended.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut bytes = [0; 4096];
        while let Ok(count) = self.pty.read(&mut bytes) {
            if count == 0 {
                break;
            }
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        let status = self.child.wait().expect("an end");
        (status.code(), self.seen)
    }
}

#[test]
fn a_gateway_ends_with_its_terminal_though_a_hangup_asks_for_a_reload_and_takes_its_time_though_it_hears_of_it_twice() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim();
    if u64::from_str_radix(ignored, 16).expect("a mask") & 1 == 1 {
        return eprintln!("left out: whoever started this does not want anything to end with its terminal");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("toolmark.toml"), "[gateway]\n").expect("a file");
    let said = folder.path().join("said");
    let errors = std::fs::File::create(&said).expect("a file");
    let arguments = ["up", "--listen", "127.0.0.1:0"];
    let mut terminal = Terminal::start_with(folder.path(), &arguments, |command| command.stderr(errors));
    // The last that it writes there.
    terminal.until("console ");
    let Terminal { pty, mut child, .. } = terminal;
    drop(pty);
    // A shell at that terminal would pass on what it heard.
    let passed_on = Command::new("kill").args(["-HUP", &child.id().to_string()]).status();
    assert!(passed_on.expect("`kill`").success());
    // Far more than it needs, so that one that never ends fails here and is not left behind.
    let ended = (0..600).find_map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        child.try_wait().expect("a status")
    });
    if ended.is_none() {
        child.kill().expect("ended");
        child.wait().expect("an end");
    }
    let said = std::fs::read_to_string(said).expect("what it said");
    assert!(ended.expect("it outlived its terminal").success(), "{said}");
    assert!(said.contains("stopping") && !said.contains("at once"), "{said}");
}

const CTRL_C: &str = "\u{3}";
const PROMPT: &str = "approve? yes";

#[test]
fn a_question_is_asked_at_the_terminal_and_the_answer_reaches_the_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terminal = Terminal::start(folder.path(), &["run", "demo", "clean up"]);
    terminal.until(PROMPT);
    terminal.type_in("perhaps\n");
    terminal.until("that is none of them");
    terminal.type_in("no keep the orders\n");
    let (code, seen) = terminal.ended();
    assert_eq!(code, Some(0), "{seen}");
    let last = seen.rsplit("no keep the orders").next().expect("a rest");
    assert!(last.contains("keep the orders"), "the model reads why:\n{seen}");
}

#[test]
fn whoever_ends_a_question_with_ctrl_c_finds_the_run_saved_and_nothing_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = ["run", "demo", "clean up", "--save", "kept.json"];
    let mut terminal = Terminal::start(folder.path(), &arguments);
    terminal.until(PROMPT);
    terminal.type_in(CTRL_C);
    let (code, seen) = terminal.ended();
    assert_eq!(code, Some(1), "{seen}");
    assert!(folder.path().join("kept.json").exists(), "{seen}");
    assert!(!seen.contains("rows_changed"), "{seen}");
    let mut terminal = Terminal::start(folder.path(), &["run", "demo", "--resume", "kept.json"]);
    terminal.until(PROMPT);
    terminal.type_in("yes\n");
    let (code, seen) = terminal.ended();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("rows_changed"), "{seen}");
}

/// A server of models that says whom it was asked by, and answers those it is told to.
fn serve(answers: bool) -> (String, Receiver<String>, Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (heard, hears) = channel();
    let (over, end) = channel::<()>();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let body = body(&mut stream);
            if answers {
                let chunk =
                    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"heard"},"finish_reason":null}]}"#;
                let last = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
                let text = format!("data: {chunk}\n\ndata: {last}\n\ndata: [DONE]\n\n");
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
                let _ = write!(stream, "{head}content-length: {}\r\n\r\n{text}", text.len());
            } else {
                open.push(stream);
            }
            if heard.send(body).is_err() || end.try_recv().is_ok() {
                return;
            }
        }
    });
    (address, hears, over)
}

/// The body of a request, as far as it is text.
fn body(stream: &mut TcpStream) -> String {
    let mut all: Vec<u8> = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        if let Some(at) = all.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&all[..at]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).unwrap_or("0");
            if all.len() - at - 4 >= length.trim().parse().expect("a length") {
                return String::from_utf8_lossy(&all[at + 4..]).into_owned();
            }
        }
        match stream.read(&mut bytes) {
            Ok(count) if count > 0 => all.extend_from_slice(&bytes[..count]),
            _ => return String::from_utf8_lossy(&all).into_owned(),
        }
    }
}

fn configure(folder: &Path, address: &str) {
    let config = format!(
        "[models.local]\nmodel = \"openai-chat:small\"\nbase_url = \"{address}\"\nkey_variable = \"MODEL_KEY\"\n\n\
         [agents.talker]\nmodel = \"local\"\n"
    );
    std::fs::write(folder.join("toolmark.toml"), config).expect("a configuration");
}

fn toolmark(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.args(arguments).current_dir(folder).env("XDG_DATA_HOME", folder.join("data"));
    command.env("TOOLMARK_LOG", "error").env("NO_COLOR", "1").env("MODEL_KEY", "sk-test");
    command.stdin(std::process::Stdio::null()).output().expect("the program")
}

#[test]
fn a_conversation_goes_on_under_its_name_and_ctrl_c_gives_it_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let (address, asked, _end) = serve(true);
    configure(path, &address);
    let first = toolmark(path, &["run", "talker", "my name is Ada", "--session", "letters"]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    assert!(!asked.recv().expect("a question").contains("what is my name"));

    // A model that never answers: whoever waits does not want to any longer.
    let (silent, waiting, _end) = serve(false);
    configure(path, &silent);
    let mut terminal = Terminal::start(path, &["run", "talker", "never said", "--session", "letters"]);
    let _ = waiting.recv().expect("the model is asked");
    terminal.type_in(CTRL_C);
    let (code, seen) = terminal.ended();
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("cancelled"), "{seen}");

    configure(path, &address);
    let again = toolmark(path, &["run", "talker", "what is my name?", "--session", "letters"]);
    assert_eq!(again.status.code(), Some(0), "nobody has it: {}", String::from_utf8_lossy(&again.stderr));
    let asked = asked.recv().expect("a question");
    assert!(
        asked.contains("my name is Ada") && asked.contains("heard") && asked.contains("what is my name?"),
        "{asked}"
    );
    assert!(!asked.contains("never said"), "half of a turn is not a conversation: {asked}");
}

#[test]
fn a_run_is_told_to_the_receiver_of_the_configuration_without_what_was_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (address, _asked, _end) = serve(true);
    let (receiver, told, _end) = serve(true);
    configure(folder.path(), &address);
    let file = folder.path().join("toolmark.toml");
    let config = std::fs::read_to_string(&file).expect("a configuration");
    let receiver = receiver.trim_end_matches("/v1");
    std::fs::write(&file, format!("{config}\n[telemetry.otlp]\nendpoint = \"{receiver}\"\n")).expect("written");
    let ran = toolmark(folder.path(), &["run", "talker", "a secret"]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let wanted =
        ["invoke_agent talker", "turn 1", "chat small", "gen_ai.provider.name", "gen_ai.response.finish_reasons"];
    // They may come in several pieces.
    let mut all = String::new();
    while let Some(missing) = wanted.iter().find(|wanted| !all.contains(**wanted)) {
        let more = told.recv_timeout(Duration::from_secs(60));
        all.push_str(&more.unwrap_or_else(|_| panic!("{missing} is not in {all:?}")));
    }
    let told = all;
    assert!(!told.contains("secret") && !told.contains("heard"), "{told:?}");
}
