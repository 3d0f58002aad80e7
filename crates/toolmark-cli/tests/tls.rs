//! `toolmark run` with a model and a server behind certificates: of an authority that the configuration names, or that the machine believes.
#![cfg(target_os = "linux")]
#![expect(clippy::expect_used, reason = "a test that cannot go on must stop")]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;
use toolmark_fixture::{Fixture, Options, serve_http};
use toolmark_testkit::tls::{Authority, Door, Ends, Valid};

const KEY: &str = "sk-never-shown-0123456789";

/// A server of models without TLS: it calls a tool, and then says what came of it. Ends with the process.
fn model() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    address
}

fn answer(mut stream: TcpStream) {
    let mut asked = Vec::new();
    let mut buffer = [0; 65_536];
    loop {
        let text = String::from_utf8_lossy(&asked).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                break;
            }
        }
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => asked.extend(buffer.get(..count).expect("what was read")),
            _ => return,
        }
    }
    let asked = String::from_utf8_lossy(&asked).into_owned();
    let said = match asked.contains("\"role\":\"tool\"") {
        true => json!({"choices": [{"message": {"content": "It came through."}, "finish_reason": "stop"}]}),
        false => json!({"choices": [{"message": {"content": null, "tool_calls": [{"id": "c1", "type": "function",
            "function": {"name": "fixture__echo", "arguments": "{\"text\": \"hello\"}"}}]}, "finish_reason": "tool_calls"}]}),
    };
    let said = said.to_string();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{said}",
        said.len()
    );
}

fn run(folder: &Path, believed: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolmark"));
    command.current_dir(folder).args(["run", "talker", "say hello"]).stdin(Stdio::null());
    command.env("XDG_DATA_HOME", folder.join("data")).env("NO_COLOR", "1").env("MODEL_KEY", KEY);
    if let Some(file) = believed {
        command.env("SSL_CERT_FILE", folder.join(file)).env_remove("SSL_CERT_DIR");
    }
    command.output().expect("toolmark runs")
}

/// What is written to the configuration.
fn configure(folder: &Path, model: &Door, server: &Door, ca: Option<&str>) {
    let ca = ca.map(|file| format!("ca = \"{file}\"\n")).unwrap_or_default();
    let text = format!(
        "[models.small]\nmodel = \"openai-chat:small\"\nbase_url = \"https://{}/v1\"\nkey_variable = \"MODEL_KEY\"\nattempts = 1\n{ca}\n\
         [packs.fixture]\nurl = \"https://{}/mcp\"\n{ca}\n[packs.fixture.tools.echo]\nbehavior = \"PURE|READ|DATA\"\n\n\
         [agents.talker]\nmodel = \"small\"\ntools = [\"fixture.echo\"]\n",
        model.address(),
        server.address(),
    );
    std::fs::write(folder.join("toolmark.toml"), text).expect("a configuration");
}

fn ended(done: &Output) -> (Option<i32>, String) {
    let text = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(!text.contains(KEY), "{text}");
    (done.status.code(), text)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_and_a_server_are_believed_by_the_authority_that_is_named_and_by_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ours, others) = (Authority::new(), Authority::new());
    ours.write(&folder.path().join("ours.pem"));
    others.write(&folder.path().join("others.pem"));
    let fixture = Fixture::new(Options::default()).expect("a fixture");
    let fixture = serve_http(fixture, (Ipv4Addr::LOCALHOST, 0).into()).await.expect("a free port");
    let model = Door::open(model(), ours.server("127.0.0.1", Valid::Now), Ends::Well).await;
    let server = Door::open(fixture.address(), ours.server("127.0.0.1", Valid::Now), Ends::Well).await;
    let try_with = |ca: Option<&'static str>, believed: Option<&'static str>| {
        configure(folder.path(), &model, &server, ca);
        let folder = folder.path().to_owned();
        async move {
            let done = tokio::task::spawn_blocking(move || run(&folder, believed)).await.expect("it ran");
            ended(&done)
        }
    };
    for (ca, believed) in [(Some("ours.pem"), None), (Some("ours.pem"), Some("others.pem")), (None, Some("ours.pem"))] {
        let (code, text) = try_with(ca, believed).await;
        assert_eq!(code, Some(0), "{ca:?}, {believed:?}: {text}");
        assert!(text.contains("It came through.") && text.contains("hello"), "{text}");
    }
    // Whoever names an authority believes no other, whatever the machine says.
    let (code, text) = try_with(Some("others.pem"), Some("ours.pem")).await;
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("certificate is not accepted: nobody who is believed here has signed it"), "{text}");
    let (code, text) = try_with(Some("nowhere.pem"), None).await;
    assert_ne!(code, Some(0), "{text}");
    assert!(text.contains("nowhere.pem"), "{text}");
}
