//! Models of every wire format against a local server that speaks it, well and badly.
#![expect(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on must stop")]

#[path = "provider/anthropic.rs"]
mod anthropic;
#[path = "provider/bad_calls.rs"]
mod bad_calls;
#[path = "provider/chat.rs"]
mod chat;
#[path = "provider/failures.rs"]
mod failures;
#[path = "provider/requests.rs"]
mod requests;
#[path = "provider/responses.rs"]
mod responses;
#[path = "provider/secrets.rs"]
mod secrets;
#[path = "provider/server.rs"]
mod server;
#[path = "provider/silence.rs"]
mod silence;
#[path = "provider/tls.rs"]
mod tls;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use toolmark_models::{Model, ModelError, ModelEvent, ModelRequest, ModelResponse, Options, Retry, open};

use server::Server;

/// A key that must never be seen.
const KEY: &str = "sk-very-secret-0123456789";

/// Options for a server of this machine, with pauses that no test waits for.
fn options(server: &Server) -> Options {
    Options {
        base_url: Some(format!("http://{}/v1", server.address())),
        key_variable: Some("TEST_KEY".to_owned()),
        retry: Retry { first_pause: Duration::from_millis(1), ..Retry::default() },
        ..Options::default()
    }
}

fn open_with(name: &str, options: &Options) -> Arc<dyn Model> {
    let name = name.parse().expect("a model name");
    open(&name, options, &|variable| (variable == "TEST_KEY").then(|| KEY.to_owned())).expect("a model")
}

fn model(name: &str, server: &Server) -> Arc<dyn Model> {
    open_with(name, &options(server))
}

/// All events of a stream, and the error that ended it.
async fn streamed(model: &dyn Model, request: &ModelRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "something follows an error");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// The answer at the end of a stream.
async fn answer(model: &dyn Model, request: &ModelRequest) -> ModelResponse {
    let (mut events, error) = streamed(model, request).await;
    assert_eq!(error, None);
    match events.pop() {
        Some(ModelEvent::Completed(response)) => *response,
        other => panic!("the last event is {other:?}"),
    }
}
