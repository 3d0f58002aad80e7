//! Client and server of different eras, with an endpoint and an upstream between them: all four pairings.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _};
use toolmark_mcp::downstream::{
    About, Answer, Caller, Context, Endpoint, Fault, Incoming, Question, Reply, Service, Settings,
};
use toolmark_mcp::upstream::{self, CallObserver, ConnectOptions, EventSender, Target, Upstream, UpstreamRequest};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Change, Limits, RawObject, codes, write};

use super::{Person, endpoint, exercise, modern, serve};

/// Hands every request on to one server.
struct Bridge(Upstream);

impl Service for Bridge {
    async fn call(&self, request: Incoming, context: Context) -> Answer {
        let state = request.input.state.as_deref().map(|state| write::quote(&String::from_utf8_lossy(state)));
        let mut changes = Vec::new();
        if let Some(responses) = &request.input.responses {
            changes.push(Change::Set("inputResponses", responses.raw()));
        }
        if let Some(state) = &state {
            changes.push(Change::Set("requestState", state));
        }
        let params = if changes.is_empty() { request.params.clone() } else { object(request.params.rewrite(&changes)) };
        let asked = UpstreamRequest {
            cancel: context.cancelled(),
            capabilities: Some(request.client.capabilities().clone()),
            observer: Some(Arc::new(Back(context))),
            ..UpstreamRequest::new(&request.method, params)
        };
        match self.0.request(asked).await {
            Ok(upstream::Reply::Result(result)) => Answer::Result(result),
            Ok(upstream::Reply::Error(error)) => Answer::Fault(Fault {
                code: error.code().unwrap_or(codes::INTERNAL_ERROR),
                message: error.message().unwrap_or_default().into_owned().into(),
                data: error.data().map(Bytes::copy_from_slice),
            }),
            Err(error) => Answer::fault(codes::INTERNAL_ERROR, error.to_string()),
        }
    }

    fn about(&self, _: &Caller) -> Arc<About> {
        static ABOUT: OnceLock<Arc<About>> = OnceLock::new();
        Arc::clone(ABOUT.get_or_init(|| {
            Arc::new(About {
                server_info: Bytes::from_static(br#"{"name":"bridge","version":"0"}"#),
                capabilities: object(Bytes::from_static(br#"{"tools":{}}"#)),
                instructions: None,
                ttl_ms: 0,
                public: false,
            })
        }))
    }
}

/// The way back: what a server says goes to the client of the call.
struct Back(Context);

impl CallObserver for Back {
    fn progress(&self, params: Bytes) {
        self.0.progress(&object(params));
    }

    fn message(&self, params: Bytes) {
        self.0.notify("notifications/message", &object(params));
    }

    fn ask(&self, question: upstream::Question) -> BoxFuture<'static, upstream::Answer> {
        let context = self.0.clone();
        Box::pin(async move {
            let params = question.params.map_or(Bytes::from_static(b"{}"), |params| params.raw().clone());
            let question = Question { key: "question".to_owned(), method: question.method, params };
            match context.ask(vec![question]).await.map(|replies| replies.into_iter().next()) {
                Ok(Some(Reply::Result(result))) => upstream::Answer::Result(result),
                Ok(Some(Reply::Error(error))) => upstream::Answer::Error(error),
                _ => upstream::Answer::Error(write::error_member(codes::INTERNAL_ERROR, "no answer", None)),
            }
        })
    }
}

fn object(raw: Bytes) -> RawObject {
    RawObject::read(raw, Limits::default()).expect("an object")
}

async fn bridge(client: ClientLifecycleMode, server: Era) {
    let behind = endpoint();
    let target =
        Target::Http { url: serve(&behind).await.parse().expect("an address"), headers: http::HeaderMap::new() };
    let options = ConnectOptions {
        era: Some(server),
        capabilities: Bytes::from_static(br#"{"elicitation":{}}"#),
        ..ConnectOptions::default()
    };
    let (events, _heard) = EventSender::channel(16);
    let upstream = Upstream::connect(target, options, events).await.expect("an upstream");
    assert_eq!(upstream.era(), server);
    let front = Endpoint::new(Arc::new(Bridge(upstream)), Settings::default());
    let person = Person::default();
    let transport = StreamableHttpClientTransport::from_uri(serve(&front).await);
    let client = person.clone().serve_with_lifecycle(transport, client).await.expect("a client");
    exercise(&client, &person, &behind).await;
}

#[tokio::test]
async fn an_old_client_of_an_old_server() {
    bridge(ClientLifecycleMode::Initialize, Era::Session).await;
}

#[tokio::test]
async fn an_old_client_of_a_new_server() {
    bridge(ClientLifecycleMode::Initialize, Era::Stateless).await;
}

#[tokio::test]
async fn a_new_client_of_an_old_server() {
    bridge(modern(), Era::Session).await;
}

#[tokio::test]
async fn a_new_client_of_a_new_server() {
    bridge(modern(), Era::Stateless).await;
}
