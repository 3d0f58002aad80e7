use serde_json::json;
use toolmark_core::explain::Explain as _;
use toolmark_models::{ModelError, ModelRequest, Options, open};

use super::server::{Reply, Server};
use super::{KEY, model, open_with, options, streamed};

const HEADER: &str = "another-secret-42";

fn shows_nothing(error: &ModelError) {
    let texts =
        [error.to_string(), format!("{error:?}"), error.report().to_json().to_string(), error.report().to_string()];
    for text in texts {
        assert!(!text.contains(KEY) && !text.contains(HEADER) && !text.contains("0123456789"), "{text}");
    }
}

/// Servers that repeat what they were told, in every way in which an error is read.
fn echoes() -> Vec<Reply> {
    let long = format!("{}{KEY} and {HEADER}", "x".repeat(990));
    let mut replies = Vec::new();
    for said in [format!("bad key {KEY}, header {HEADER}"), long] {
        let object = json!({"error": {"message": said, "type": "server_error"}}).to_string();
        for status in [400, 401, 403, 404, 429, 500, 503] {
            replies.push(Reply::new(status, "application/json", &object));
            replies.push(Reply::new(status, "text/plain", &said));
            replies.push(Reply::new(status, "text/html", &format!("<html><title>{said}</title></html>")));
        }
        replies.push(Reply::new(200, "application/json", &object));
        replies.push(Reply::new(200, "text/html", &format!("<html><title>{said}</title></html>")));
        replies.push(Reply::new(200, "application/json", &said));
        replies.push(Reply::events(&format!("event: error\ndata: {object}\n\n")));
        replies.push(Reply::events(&said));
    }
    replies
}

#[tokio::test]
async fn a_key_that_a_server_repeats_is_in_no_error() {
    for reply in echoes() {
        for name in ["openai:m", "openai-chat:m", "anthropic:m"] {
            let server = Server::start(std::iter::repeat_n(reply.clone(), 6)).await;
            let headers = vec![("x-extra".to_owned(), HEADER.to_owned().into())];
            let model = open_with(name, &Options { headers, ..options(&server) });
            shows_nothing(&model.respond(&ModelRequest::of_text("x")).await.expect_err("an error"));
            let (_, error) = streamed(model.as_ref(), &ModelRequest::of_text("x")).await;
            shows_nothing(&error.expect("an error"));
        }
    }
}

#[tokio::test]
async fn a_key_is_in_no_debug_text() {
    let server = Server::start([]).await;
    let headers = vec![("x-extra".to_owned(), HEADER.to_owned().into())];
    let options = Options { headers, ..options(&server) };
    let model = open_with("anthropic:m", &options);
    let text = format!("{model:?} {options:?}");
    assert!(text.contains("anthropic:m") && text.contains("x-extra"));
    assert!(!text.contains(KEY) && !text.contains(HEADER), "{text}");
}

#[tokio::test]
async fn a_key_does_not_follow_a_redirect() {
    let other = Server::start([]).await;
    let location = format!("location: http://{}/\r\n", other.address());
    let server = Server::start([Reply::with(307, &location, "")]).await;
    model("openai:m", &server).respond(&ModelRequest::of_text("x")).await.expect_err("an error");
    assert!(other.asked().is_empty());
}

#[test]
fn a_key_that_cannot_be_sent_is_not_shown_either() {
    let key = format!("{KEY}\n");
    let name = "openai:m".parse().expect("a name");
    let error = open(&name, &Options::default(), &|_| Some(key.clone())).expect_err("an error");
    assert_eq!(error.code().as_str(), "model-key-invalid");
    assert!(!format!("{error:?} {error}").contains(KEY));
}
