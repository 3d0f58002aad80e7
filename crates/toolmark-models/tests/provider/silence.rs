//! Servers that say nothing. Limits are short, and no test measures how short.

use std::time::Duration;

use toolmark_core::explain::Explain as _;
use toolmark_models::error::{ModelErrorKind, Waited};
use toolmark_models::{ModelRequest, Options, Settings, Timeouts};

use super::server::{Reply, Server};
use super::{open_with, options, streamed};

const SHORT: Duration = Duration::from_millis(50);

fn waited(kind: &ModelErrorKind) -> Waited {
    match kind {
        ModelErrorKind::Timeout { waited, .. } => *waited,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_ends_at_the_limit_for_the_whole() {
    let server = Server::start([
        Reply::raw(b"").hanging(),
        Reply::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").hanging(),
    ])
    .await;
    let timeouts = Timeouts { whole: SHORT, ..Timeouts::default() };
    let model = open_with("openai-chat:m", &Options { timeouts, ..options(&server) });
    for _ in 0..2 {
        let error = model.respond(&ModelRequest::of_text("x")).await.expect_err("an error");
        assert_eq!(error.code().as_str(), "model-timeout");
        assert_eq!(waited(error.kind()), Waited::Whole);
    }
}

#[tokio::test]
async fn a_request_may_bring_a_limit_of_its_own() {
    let server = Server::start([Reply::raw(b"").hanging()]).await;
    let model = open_with("openai-chat:m", &options(&server));
    let settings = Settings { timeout: Some(SHORT), ..Settings::default() };
    let error = model.respond(&ModelRequest { settings, ..ModelRequest::of_text("x") }).await.expect_err("an error");
    assert_eq!(waited(error.kind()), Waited::Whole);
}

#[tokio::test]
async fn a_stream_that_falls_silent_ends_at_the_limit_for_silence() {
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n";
    let server = Server::start([Reply::events(half).hanging()]).await;
    let timeouts = Timeouts { idle: SHORT, ..Timeouts::default() };
    let model = open_with("openai-chat:m", &Options { timeouts, ..options(&server) });
    let (events, error) = streamed(model.as_ref(), &ModelRequest::of_text("x")).await;
    assert_eq!(events.len(), 1);
    assert_eq!(waited(error.expect("an error").kind()), Waited::Idle);
    assert_eq!(server.asked().len(), 1);
}
