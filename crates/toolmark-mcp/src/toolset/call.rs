//! What becomes of a call that may run? It is sent once, to the tool that was judged; where that tool is another by now, to nobody.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderName, HeaderValue};
use toolmark_core::text::visible;
use toolmark_runtime::tools::{Arguments, ToolContext, ToolError, ToolOutput};

use super::content;
use super::error::McpCallError;
use super::{Inner, Known};
use crate::upstream::{Answer, CallObserver, CallerKey, Question, Reply, Upstream, UpstreamRequest};
use crate::wire::{Limits, RawObject, ResultType, codes, write};

pub(super) async fn call(
    server: Weak<Inner>,
    known: Arc<Known>,
    context: ToolContext,
    arguments: Arguments,
) -> Result<ToolOutput, ToolError> {
    let Some(server) = server.upgrade() else { return Err(McpCallError::Gone.told(&known.raw)) };
    let upstream = server.upstream(&known).await.map_err(|error| error.told(&known.raw))?;
    let call = Sent {
        raw: &known.raw,
        headers: known.headers.headers(arguments.value()),
        timeout: None,
        structured: server.settings.structured,
        meta: None,
        still: None,
    };
    send(&upstream, call, &context, &arguments).await.map_err(|error| error.told(&known.raw))
}

/// A call on its way to a server.
#[derive(Debug)]
pub struct Sent<'a> {
    /// The name that the server knows the tool by.
    pub raw: &'a str,
    /// Headers that repeat arguments.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// How long it may take, where that is not the connection's own limit.
    pub timeout: Option<Duration>,
    /// Whether structured content comes before content in words.
    pub structured: bool,
    /// What the server is told beside the arguments, as a JSON object.
    pub meta: Option<Bytes>,
    /// Whether it may still go out, where it had to wait for its turn.
    pub still: Option<Still>,
}

/// Whether something that was so when a call was judged still is.
pub struct Still(Box<dyn Fn() -> bool + Send + Sync>);

impl Still {
    /// So long as this holds.
    #[must_use]
    pub fn that(holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Box::new(holds))
    }
}

impl std::fmt::Debug for Still {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Still")
    }
}

/// Sends a call that may run, once, through a connection that somebody holds. Whoever calls it has made sure that the server has the tool
/// that was judged; nothing else but the pipeline should.
///
/// # Errors
/// [`McpCallError`], which says what the model may be told.
pub async fn send(
    upstream: &Upstream,
    call: Sent<'_>,
    context: &ToolContext,
    arguments: &Arguments,
) -> Result<ToolOutput, McpCallError> {
    let asked = Arc::new(Refusing { asked: AtomicBool::new(false), still: call.still });
    let request = UpstreamRequest {
        headers: call.headers,
        timeout: call.timeout,
        cancel: Some(context.cancellation().clone()),
        observer: Some(Arc::clone(&asked) as Arc<dyn CallObserver>),
        ..UpstreamRequest::new("tools/call", params(call.raw, arguments, call.meta.as_deref()))
    };
    match upstream.request(request).await {
        Ok(Reply::Result(result)) if result.result_type() == ResultType::InputRequired => Err(McpCallError::Asks),
        Ok(Reply::Result(result)) => match content::read(result.raw(), call.structured) {
            Ok(output) if result.is_error() => Err(match asked.was_asked() {
                true => McpCallError::Asks,
                false => McpCallError::Failed { text: output.to_text() },
            }),
            Ok(output) => Ok(output),
            Err(reason) => Err(McpCallError::Unreadable { reason }),
        },
        Ok(Reply::Error(error)) if asked.was_asked() || wants_answers(error.code()) => Err(McpCallError::Asks),
        Ok(Reply::Error(error)) => Err(McpCallError::Refused {
            code: error.code().unwrap_or(codes::INTERNAL_ERROR),
            message: visible(&error.message().unwrap_or_default(), 1000),
        }),
        Err(error) => Err(McpCallError::Upstream(error)),
    }
}

/// Whether an error says that the server would have to ask something, and was told before that it cannot.
fn wants_answers(code: Option<i64>) -> bool {
    matches!(code, Some(codes::MISSING_CAPABILITY | codes::URL_ELICITATION_REQUIRED))
}

impl Inner {
    /// The connection to call a tool through, once it is certain that the server still has exactly this tool.
    async fn upstream(self: &Arc<Self>, known: &Known) -> Result<Upstream, McpCallError> {
        if let Some((upstream, signals)) = self.live()
            && !upstream.is_closed()
            && !signals.changed()
        {
            return Ok(upstream);
        }
        // The server was gone, or says that its list changed: nothing was sent, so that it can be asked again.
        let tools = self.tools().await.map_err(|error| McpCallError::Unavailable(Box::new(error)))?;
        let same = |digest| digest == known.digest;
        if !tools.iter().any(|tool| same(tool.definition().digest())) {
            return Err(McpCallError::Changed);
        }
        self.live().map(|(upstream, _)| upstream).ok_or(McpCallError::Gone)
    }
}

/// The parameters of a call, with the arguments as the text that was judged.
fn params(name: &str, arguments: &Arguments, meta: Option<&[u8]>) -> RawObject {
    let name = write::quote(name);
    let mut text = [br#"{"name":"#, &*name, br#","arguments":"#, arguments.text().as_bytes()].concat();
    if let Some(meta) = meta {
        text.extend_from_slice(br#","_meta":"#);
        text.extend_from_slice(meta);
    }
    text.push(b'}');
    RawObject::read(text.into(), Limits::ADMITTED).unwrap_or_else(|_| RawObject::empty())
}

/// Answers every question of a server with a refusal: there is nobody here who could be asked.
struct Refusing {
    asked: AtomicBool,
    still: Option<Still>,
}

impl Refusing {
    fn was_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }
}

impl CallObserver for Refusing {
    fn progress(&self, _: Bytes) {}

    fn message(&self, _: Bytes) {}

    fn may_go(&self) -> bool {
        self.still.as_ref().is_none_or(|still| (still.0)())
    }

    fn ask(&self, _: Question) -> BoxFuture<'static, Answer> {
        self.asked.store(true, Ordering::Release);
        let why = "nobody can be asked: the call comes from a program";
        Box::pin(std::future::ready(Answer::Error(write::error_member(codes::INVALID_PARAMS, why, None))))
    }

    fn caller(&self) -> Option<CallerKey> {
        Some(CallerKey::of(&[b"program"]))
    }
}
