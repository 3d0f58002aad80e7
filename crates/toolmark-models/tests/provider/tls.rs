use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use toolmark_core::explain::Explain as _;
use toolmark_models::error::{ModelErrorKind, Waited};
use toolmark_models::{ModelError, ModelRequest, Options, Retry, Timeouts};
use toolmark_testkit::tls::{Authority, Door, Ends, Valid, self_signed};

use super::server::{Reply, Server};
use super::{KEY, answer, open_with, streamed};

const CHAT: &str = include_str!("../wire/chat-text.sse");

/// A folder with the certificate of an authority.
struct Believed {
    authority: Authority,
    folder: TempDir,
}

impl Believed {
    fn new() -> Self {
        let believed = Self { authority: Authority::new(), folder: tempfile::tempdir().expect("a folder") };
        believed.authority.write(&believed.file());
        believed
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Options for a server of this machine that shows a certificate.
    fn options(&self, address: SocketAddr) -> Options {
        Options { ca: Some(self.file()), ..options(address) }
    }
}

fn options(address: SocketAddr) -> Options {
    Options {
        base_url: Some(format!("https://{address}/v1")),
        key_variable: Some("TEST_KEY".to_owned()),
        retry: Retry { first_pause: Duration::from_millis(1), ..Retry::default() },
        ..Options::default()
    }
}

fn fine() -> Reply {
    Reply::json(&json!({"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}))
}

/// What becomes of a question, streamed and not, when nobody should be told anything.
async fn refused(server: &Server, options: &Options) -> ModelError {
    let model = open_with("openai-chat:m", options);
    let error = model.respond(&ModelRequest::of_text("x")).await.expect_err("an error");
    let (events, other) = streamed(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert_eq!((events.len(), other.as_ref()), (0, Some(&error)));
    assert!(server.asked().is_empty(), "something was said to a server that is not believed");
    assert!(!format!("{error} {error:?}").contains(KEY));
    error
}

fn reason(error: &ModelError) -> &str {
    assert_eq!((error.code().as_str(), error.attempts(), error.is_temporary()), ("model-certificate", 1, false));
    match error.kind() {
        ModelErrorKind::Certificate { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_with_a_certificate_of_the_named_authority_is_asked_in_every_format() {
    let believed = Believed::new();
    let shows = believed.authority.server("127.0.0.1", Valid::Now);
    for (name, whole, stream, path) in [
        (
            "openai:m",
            json!({"status": "completed", "output": [
                {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}]}),
            include_str!("../wire/responses-text.sse"),
            "/v1/responses",
        ),
        (
            "openai-chat:m",
            json!({"choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}]}),
            CHAT,
            "/v1/chat/completions",
        ),
        (
            "anthropic:m",
            json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hello"}],
                   "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}),
            include_str!("../wire/anthropic-calls.sse"),
            "/v1/messages",
        ),
    ] {
        let server = Server::start([Reply::json(&whole), Reply::events(stream).in_pieces(7)]).await;
        let door = Door::open(server.address(), shows.clone(), Ends::Well).await;
        let model = open_with(name, &believed.options(door.address()));
        let response = model.respond(&ModelRequest::of_text("x")).await.expect("an answer");
        assert_eq!(response.text(), "hello", "{name}");
        answer(model.as_ref(), &ModelRequest::of_text("x")).await;
        for asked in server.asked() {
            assert_eq!(asked.path, path);
            assert!(asked.head.contains(KEY), "{name} was asked without its key");
        }
    }
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_told_nothing() {
    let (believed, other) = (Believed::new(), Authority::new());
    let server = Server::start([fine(), fine()]).await;
    let door = Door::open(server.address(), other.server("127.0.0.1", Valid::Now), Ends::Well).await;
    // By another authority than the one that is named, and by none that this machine knows.
    for options in [believed.options(door.address()), options(door.address())] {
        let error = refused(&server, &options).await;
        assert_eq!(reason(&error), "nobody who is believed here has signed it");
        assert!(error.fix().contains("ca = "), "{}", error.fix());
    }
}

#[tokio::test]
async fn a_certificate_for_another_host_or_another_time_is_not_accepted() {
    let believed = Believed::new();
    for (shows, says) in [
        (believed.authority.server("models.example", Valid::Now), "it is for `models.example`, not for `127.0.0.1`"),
        (believed.authority.server("10.0.0.7", Valid::Now), "it is for `10.0.0.7`, not for `127.0.0.1`"),
        (believed.authority.server("127.0.0.1", Valid::Past), "it has expired"),
        (believed.authority.server("127.0.0.1", Valid::Future), "it is not valid yet"),
    ] {
        let server = Server::start([fine(), fine()]).await;
        let door = Door::open(server.address(), shows, Ends::Well).await;
        let error = refused(&server, &believed.options(door.address())).await;
        assert_eq!(reason(&error), says);
    }
}

#[tokio::test]
async fn a_certificate_that_signed_itself_as_an_authority_is_said_to_be_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("self.pem");
    let (shows, pem) = self_signed("127.0.0.1");
    std::fs::write(&file, pem).expect("a file");
    let server = Server::start([fine(), fine()]).await;
    let door = Door::open(server.address(), shows, Ends::Well).await;
    let error = refused(&server, &Options { ca: Some(file), ..options(door.address()) }).await;
    assert_eq!(reason(&error), "it is that of an authority, not of a server");
}

#[tokio::test]
async fn a_server_without_tls_is_told_nothing_either() {
    let believed = Believed::new();
    // What it says to everybody, before it was asked anything that it understands.
    let server = Server::start([]).await;
    let greeting = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = greeting.local_addr().expect("an address");
    let task = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        while let Ok((mut stream, _)) = greeting.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    let error = refused(&server, &believed.options(address)).await;
    assert_eq!((error.code().as_str(), error.attempts()), ("model-unreachable", 3));
    assert!(error.to_string().contains("the server does not speak TLS at this port"), "{error}");
    task.abort();
}

#[tokio::test]
async fn an_address_without_tls_at_a_port_with_it_is_an_error() {
    let believed = Believed::new();
    let server = Server::start([fine(), fine()]).await;
    let door = Door::open(server.address(), believed.authority.server("127.0.0.1", Valid::Now), Ends::Well).await;
    let plain = Options { base_url: Some(format!("http://{}/v1", door.address())), ..options(door.address()) };
    let error = refused(&server, &plain).await;
    assert_eq!(error.code().as_str(), "model-unreachable");
}

#[tokio::test]
async fn a_connection_that_is_cut_is_made_again_and_an_answer_that_was_cut_off_is_not_taken_for_whole() {
    let believed = Believed::new();
    let shows = believed.authority.server("127.0.0.1", Valid::Now);
    let cut =
        Reply::raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{\"choices\"");
    let server = Server::start([Reply::raw(b""), cut, fine()]).await;
    let door = Door::open(server.address(), shows.clone(), Ends::Cut).await;
    let model = open_with("openai-chat:m", &believed.options(door.address()));
    assert_eq!(model.respond(&ModelRequest::of_text("x")).await.expect("an answer").text(), "hello");
    assert_eq!(server.asked().len(), 3);
    // Without a length, only the farewell says that this is all: whoever cuts the connection could cut the answer.
    let body = json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]});
    let open_end = Reply::raw(format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{body}").as_bytes());
    for (ends, whole) in [(Ends::Well, true), (Ends::Cut, false)] {
        let server = Server::start(std::iter::repeat_n(open_end.clone(), 3)).await;
        let door = Door::open(server.address(), shows.clone(), ends).await;
        let model = open_with("openai-chat:m", &believed.options(door.address()));
        let answered = model.respond(&ModelRequest::of_text("x")).await;
        assert_eq!(answered.as_ref().ok().map(toolmark_models::ModelResponse::text), whole.then(|| "yes".to_owned()));
        assert_eq!(
            answered.err().map(|error| error.code().to_string()),
            (!whole).then(|| "model-unreachable".to_owned())
        );
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_truncated_and_one_that_said_all_is_whole() {
    let believed = Believed::new();
    let shows = believed.authority.server("127.0.0.1", Valid::Now);
    let half = CHAT.split("\n\n").next().expect("an event").to_owned() + "\n\n";
    let server = Server::start([Reply::events(&half), Reply::events(CHAT)]).await;
    let door = Door::open(server.address(), shows, Ends::Cut).await;
    let model = open_with("openai-chat:m", &believed.options(door.address()));
    let (events, error) = streamed(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert_eq!(events.len(), 1);
    assert_eq!(error.expect("an error").code().as_str(), "model-stream-truncated");
    assert_eq!(server.asked().len(), 1, "what has begun is not asked for again");
    answer(model.as_ref(), &ModelRequest::of_text("x")).await;
}

#[tokio::test]
async fn a_server_that_takes_the_connection_and_says_nothing_is_not_waited_for_as_for_an_answer() {
    let believed = Believed::new();
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let timeouts = Timeouts { connect: Duration::from_millis(50), ..Timeouts::default() };
    let options = Options { timeouts, ..believed.options(silent.local_addr().expect("an address")) };
    let error = open_with("openai-chat:m", &options).respond(&ModelRequest::of_text("x")).await.expect_err("an error");
    assert!(matches!(error.kind(), ModelErrorKind::Timeout { waited: Waited::Connect, .. }), "{error}");
}

#[test]
fn certificates_that_cannot_be_used_are_refused_before_anybody_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ca.pem");
    let open = |options: &Options| {
        let name = "openai-chat:m".parse().expect("a name");
        toolmark_models::open(&name, options, &|_| Some(KEY.to_owned())).expect_err("an error")
    };
    let address = "127.0.0.1:1".parse().expect("an address");
    let options = Options { ca: Some(file.clone()), ..options(address) };
    let missing = open(&options);
    assert_eq!(missing.code().as_str(), "ca-unusable");
    assert!(missing.to_string().contains("ca.pem"), "{missing}");
    std::fs::write(&file, "no certificate").expect("a file");
    assert_eq!(open(&options).code().as_str(), "ca-unusable");
    Authority::new().write(&file);
    let plain = Options { base_url: Some("http://127.0.0.1:1/v1".to_owned()), ..options };
    assert_eq!(open(&plain).code().as_str(), "ca-in-vain");
}
