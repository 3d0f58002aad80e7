//! Client and server of different eras, with an endpoint and an upstream between them: all four pairings.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt as _};
use toolmark_mcp::downstream::{About, Answer, Caller, Context, Endpoint, Incoming, Service, Settings};
use toolmark_mcp::relay::Back;
use toolmark_mcp::upstream::{ConnectOptions, EventSender, Reply, Target, Upstream, UpstreamRequest};
use toolmark_mcp::wire::version::Era;
use toolmark_mcp::wire::{Limits, RawObject, codes};

use super::{Person, endpoint, exercise, modern, serve};

/// Hands every request on to one server.
struct Bridge(Upstream);

impl Service for Bridge {
    async fn call(&self, request: Incoming, context: Context) -> Answer {
        let asked = UpstreamRequest {
            cancel: Some(context.cancelled()),
            capabilities: Some(request.client.capabilities().clone()),
            observer: Some(Arc::new(Back::to(context))),
            ..UpstreamRequest::new(&request.method, request.params_for_server(&[]))
        };
        match self.0.request(asked).await {
            Ok(Reply::Result(result)) => Answer::Result(result),
            Ok(Reply::Error(error)) => Answer::Fault(error.into()),
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
