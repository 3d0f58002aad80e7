//! Servers made with rmcp, which was written by others: both eras, in the same process and over HTTP.

use std::borrow::Cow;
use std::sync::Arc;

use ::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
    ErrorData, InputRequest, InputRequests, InputRequiredResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use ::rmcp::service::{RequestContext, RoleServer};
use ::rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use ::rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use ::rmcp::{ServerHandler, ServiceExt};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolmark_mcp::upstream::{
    Delivery, EventSender, ListKind, Reply, Target, Upstream, UpstreamErrorKind, UpstreamEvent,
};
use toolmark_mcp::wire::ResultType;
use toolmark_mcp::wire::version::Era;

use super::{call, connect, observed, options, parsed};

/// A server of one era with tools that say something, ask something, never end, or change the list.
#[derive(Clone)]
struct Peer {
    era: Era,
    /// Told when a call begins to hang, and when it is cancelled.
    hanging: mpsc::UnboundedSender<()>,
}

fn question() -> ElicitRequestParams {
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Name?".to_owned(),
        requested_schema: serde_json::from_value(json!({"type":"object","properties":{"name":{"type":"string"}}}))
            .expect("a schema"),
    }
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.era {
            Era::Session => Cow::Owned(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25).to_vec()),
            Era::Stateless => Cow::Borrowed(&[ProtocolVersion::V_2026_07_28]),
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: ::rmcp::service::SubscriptionContext) -> Result<(), ErrorData> {
        let _ = context.sink().notify_tool_list_changed().await;
        context.cancelled().await;
        Ok(())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(json!({"type":"object"}).as_object().cloned().unwrap_or_default());
        Ok(ListToolsResult::with_all_items(vec![Tool::new("echo", "says it again", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into());
        match &*request.name {
            "echo" => text(serde_json::to_string(&request.arguments).unwrap_or_default()),
            "progress" => {
                if let Some(token) = context.meta.get_progress_token() {
                    let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, 0.5)).await;
                }
                text("done".to_owned())
            }
            "ask" if self.era == Era::Session => {
                let answer = context.peer.create_elicitation(question()).await;
                text(answer.map_or_else(|error| format!("declined: {error}"), |answer| format!("{:?}", answer.content)))
            }
            "ask" if request.input_responses.is_none() => {
                let mut requests = InputRequests::new();
                requests.insert("who".to_owned(), InputRequest::Elicitation(ElicitRequest::new(question())));
                Ok(InputRequiredResult::new(Some(requests), Some("state".to_owned())).into())
            }
            "ask" => text(format!("{:?} {:?}", request.request_state, request.input_responses.is_some())),
            "change" => {
                let _ = context.peer.notify_tool_list_changed().await;
                text("changed".to_owned())
            }
            "hang" => {
                let _ = self.hanging.send(());
                context.ct.cancelled().await;
                let _ = self.hanging.send(());
                text("cancelled".to_owned())
            }
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }
}

struct Running {
    upstream: Upstream,
    events: mpsc::Receiver<UpstreamEvent>,
    hanging: mpsc::UnboundedReceiver<()>,
    _end: tokio_util::sync::DropGuard,
}

async fn in_process(era: Era) -> Running {
    let (hanging, receiver) = mpsc::unbounded_channel();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let end = CancellationToken::new();
    let stop = end.clone();
    tokio::spawn(async move {
        let running = Peer { era, hanging }.serve(theirs).await.expect("a handshake");
        stop.cancelled().await;
        let _ = running.cancel().await;
    });
    let (sender, events) = EventSender::channel(64);
    let (input, output) = tokio::io::split(ours);
    let upstream = Upstream::over(input, output, options(), sender).await.expect("connected");
    Running { upstream, events, hanging: receiver, _end: end.drop_guard() }
}

async fn over_http(era: Era, json_answers: bool) -> Running {
    let (hanging, receiver) = mpsc::unbounded_channel();
    let end = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(era == Era::Session)
        .with_json_response(json_answers)
        .with_cancellation_token(end.child_token());
    let peer = Peer { era, hanging };
    let service: StreamableHttpService<Peer, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(peer.clone()), Arc::default(), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let stop = end.clone();
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            let Ok((stream, _)) = accepted else { return };
            let _ = stream.set_nodelay(true);
            let service = service.clone();
            tokio::spawn(async move {
                let answer = service_fn(move |request| {
                    let service = service.clone();
                    async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
                });
                let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    let url = format!("http://{address}/mcp").parse().expect("an address");
    let (upstream, events) = connect(Target::Http { url, headers: ::http::HeaderMap::new() }).await;
    Running { upstream, events, hanging: receiver, _end: end.drop_guard() }
}

async fn every_peer() -> Vec<(&'static str, Era, Running)> {
    vec![
        ("old, in process", Era::Session, in_process(Era::Session).await),
        ("new, in process", Era::Stateless, in_process(Era::Stateless).await),
        ("old, over HTTP", Era::Session, over_http(Era::Session, false).await),
        ("new, over HTTP with events", Era::Stateless, over_http(Era::Stateless, false).await),
        ("new, over HTTP with JSON", Era::Stateless, over_http(Era::Stateless, true).await),
    ]
}

#[tokio::test]
async fn the_era_is_found_and_tools_are_listed_and_called() {
    for (name, era, peer) in every_peer().await {
        assert_eq!(peer.upstream.era(), era, "{name}");
        let listing = peer.upstream.list(ListKind::Tools).await.expect(name);
        assert_eq!(listing.items.len(), 1, "{name}");
        assert_eq!(listing.ttl_ms.is_some(), era == Era::Stateless, "{name}");
        let mut request = call(r#"{"name":"pack__echo","arguments":{"z":1,"a":"\u00e9"}}"#);
        request.name = Some("echo");
        let result = parsed(peer.upstream.request(request).await);
        let text = result["content"][0]["text"].as_str().expect("text");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(text).expect("JSON"),
            json!({"z":1,"a":"\u{e9}"}),
            "{name}"
        );
        let Ok(Reply::Error(error)) = peer.upstream.request(call(r#"{"name":"nothing"}"#)).await else {
            panic!("{name}")
        };
        assert_eq!(error.code(), Some(-32602), "{name}");
    }
}

#[tokio::test]
async fn progress_comes_back_under_the_callers_own_token() {
    for (name, _, peer) in every_peer().await {
        let (request, listener) = observed(call(r#"{"name":"progress","_meta":{"progressToken":"mine"}}"#));
        parsed(peer.upstream.request(request).await);
        let heard = listener.heard();
        assert!(
            name.contains("JSON") || (heard.len() == 1 && heard[0].contains(r#""progressToken":"mine""#)),
            "{name}: {heard:?}"
        );
    }
}

#[tokio::test]
async fn questions_of_old_servers_reach_the_caller_and_those_of_new_ones_are_results() {
    for (name, era, peer) in every_peer().await {
        let (request, listener) = observed(call(r#"{"name":"ask"}"#));
        let Ok(Reply::Result(result)) = peer.upstream.request(request).await else { panic!("{name}") };
        match era {
            Era::Session => {
                assert!(String::from_utf8_lossy(result.raw()).contains("Ada"), "{name}: {result:?}");
                assert_eq!(listener.heard(), ["ask elicitation/create"], "{name}");
            }
            Era::Stateless => {
                assert_eq!(result.result_type(), ResultType::InputRequired, "{name}");
                assert!(listener.heard().is_empty(), "{name}");
                let again = call(
                    r#"{"name":"ask","requestState":"state","inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}}}"#,
                );
                let text = parsed(peer.upstream.request(again).await).to_string();
                assert!(text.contains("state") && text.contains("true"), "{name}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn cancelling_reaches_the_server_whichever_way_its_era_has() {
    for (name, _, mut peer) in every_peer().await {
        let mut request = call(r#"{"name":"hang"}"#);
        let cancel = request.cancel.insert(tokio_util::sync::CancellationToken::new()).clone();
        let upstream = peer.upstream.clone();
        let running = tokio::spawn(async move { upstream.request(request).await });
        peer.hanging.recv().await.expect("it hangs");
        cancel.cancel();
        let error = running.await.expect("no panic").expect_err(name);
        assert_eq!((error.kind(), error.delivery()), (&UpstreamErrorKind::Cancelled, Delivery::Perhaps), "{name}");
        peer.hanging.recv().await.expect("it was told");
    }
}

#[tokio::test]
async fn a_changed_list_is_an_event_in_both_eras() {
    for (name, era, mut peer) in every_peer().await {
        if era == Era::Session {
            parsed(peer.upstream.request(call(r#"{"name":"change"}"#)).await);
        }
        loop {
            match peer.events.recv().await.expect(name) {
                UpstreamEvent::ListChanged(ListKind::Tools) => break,
                UpstreamEvent::Closed(reason) => panic!("{name}: {reason}"),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn many_calls_at_once_get_their_own_answers() {
    for (name, _, peer) in every_peer().await {
        let calls = (0..40).map(|number| {
            let upstream = peer.upstream.clone();
            tokio::spawn(async move {
                let params = format!(r#"{{"name":"echo","arguments":{{"n":{number}}}}}"#);
                (number, parsed(upstream.request(call(&params)).await).to_string())
            })
        });
        for call in calls.collect::<Vec<_>>() {
            let (number, text) = call.await.expect(name);
            assert!(text.contains(&format!(r#"{{\"n\":{number}}}"#)), "{name}: {text}");
        }
    }
}
