//! One call on its way: the service's future and the messages it produces, polled by whoever delivers them.
//!
//! No task is spawned for a call that is answered on the connection it came in. Only a call that outlives its request (parked, or
//! left by an old client that may come back) moves into a task of its own.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use serde_json::Value;
use tokio::task::AbortHandle;
use toolmark_core::explain::{Code, Explain as _};

use super::answer::{Answer, Fault, InputRequired};
use super::context::{Context, Question, Reply};
use super::exchange::{Exchange, News};
use super::incoming::{Incoming, Input};
use super::service::Service;
use super::session::Running;
use crate::wire::version::Era;
use crate::wire::{Change, Limits, RawObject, codes};

/// Questions of one call to an old client, one after another; a service that asks more often goes in circles.
const ROUNDS: usize = 32;
/// How long a server that only wants to be asked again is left alone, the first time and at most; twice as long each time.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// A call that is running. Dropping it cancels the call.
pub(super) struct Run {
    exchange: Arc<Exchange>,
    source: Source,
    answer: Option<Answer>,
    /// Keeps the call findable for `notifications/cancelled`.
    running: Option<Running>,
}

enum Source {
    Here(Pin<Box<dyn Future<Output = Answer> + Send>>),
    Task(AbortHandle),
    Over,
}

/// What a call does next.
pub(super) enum Step {
    Message(Bytes),
    Answer(Answer),
    /// The call waits for a client that has to repeat its request.
    Asked,
    HangUp,
    Cancelled,
}

impl Run {
    pub(super) fn start<S: Service>(
        service: Arc<S>,
        request: Incoming,
        exchange: Arc<Exchange>,
        running: Option<Running>,
    ) -> Self {
        let context = Context { exchange: Arc::clone(&exchange) };
        let call = async move {
            // A service that panics has failed one call; the connection and its other calls go on.
            let served = AssertUnwindSafe(serve(&*service, request, context)).catch_unwind().await;
            served.unwrap_or_else(|_| broken())
        };
        Self { exchange, source: Source::Here(Box::pin(call)), answer: None, running }
    }

    pub(super) fn exchange(&self) -> &Arc<Exchange> {
        &self.exchange
    }

    pub(super) fn poll(&mut self, cx: &mut TaskContext<'_>) -> Poll<Step> {
        self.exchange.watch(cx);
        if self.exchange.is_cancelled() {
            self.stop();
            return Poll::Ready(Step::Cancelled);
        }
        if let Source::Here(call) = &mut self.source
            && let Poll::Ready(answer) = call.as_mut().poll(cx)
        {
            self.source = Source::Over;
            self.answer = Some(answer);
        }
        match self.exchange.news(&mut self.answer) {
            Some(News::Message(message)) => Poll::Ready(Step::Message(message)),
            Some(News::Answer(answer)) => {
                self.source = Source::Over;
                self.running = None;
                Poll::Ready(Step::Answer(answer))
            }
            Some(News::Asked) => Poll::Ready(Step::Asked),
            Some(News::HangUp) => Poll::Ready(Step::HangUp),
            None => Poll::Pending,
        }
    }

    pub(super) async fn next(&mut self) -> Step {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// Lets the call go on by itself; its messages wait in the exchange.
    pub(super) fn detach(&mut self) {
        if let Source::Here(call) = std::mem::replace(&mut self.source, Source::Over) {
            let guard = FinishGuard(Some(Arc::clone(&self.exchange)));
            let cancelled = self.exchange.token();
            let task = tokio::spawn(async move {
                // Whoever polled it would have seen the word to stop, and now nobody may.
                if let Some(answer) = cancelled.run_until_cancelled_owned(call).await {
                    guard.finish(answer);
                }
            });
            self.source = Source::Task(task.abort_handle());
        }
    }

    fn stop(&mut self) {
        if let Source::Task(task) = std::mem::replace(&mut self.source, Source::Over) {
            task.abort();
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !matches!(self.source, Source::Over) {
            self.exchange.cancel();
            self.stop();
        }
    }
}

/// Answers for a task that ends without an answer.
struct FinishGuard(Option<Arc<Exchange>>);

impl FinishGuard {
    fn finish(mut self, answer: Answer) {
        if let Some(exchange) = self.0.take() {
            exchange.finish(answer);
        }
    }
}

impl Drop for FinishGuard {
    fn drop(&mut self) {
        if let Some(exchange) = self.0.take() {
            exchange.finish(broken());
        }
    }
}

fn broken() -> Answer {
    Answer::fault(codes::INTERNAL_ERROR, "the call broke off inside the gateway")
}

/// Calls the service; for an old client, asks what the service wants to know and calls it again.
#[expect(clippy::manual_async_fn, reason = "an `async fn` keeps its arguments twice")]
fn serve<S: Service>(service: &S, request: Incoming, context: Context) -> impl Future<Output = Answer> + Send {
    async move {
        let seed = (request.era() == Era::Session).then(|| Seed::of(&request));
        let answer = service.call(request, context.clone()).await.settled();
        match (seed, answer) {
            // Boxed: few calls ask.
            (Some(seed), Answer::InputRequired(wanted)) => Box::pin(ask(service, &seed, &context, wanted)).await,
            (Some(seed), answer) => {
                seed.remember(&context, &answer);
                answer
            }
            (None, answer) => answer,
        }
    }
}

async fn ask<S: Service>(service: &S, seed: &Seed, context: &Context, mut wanted: InputRequired) -> Answer {
    let mut pause = PAUSE;
    for _ in 0..ROUNDS {
        let questions: Option<Vec<_>> =
            wanted.requests.iter().map(|(key, member)| Question::read(&key, member)).collect();
        if wanted.requests.is_empty() {
            // Nothing but to come back later.
            if wanted.state.is_none() {
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        } else {
            pause = PAUSE;
        }
        let Some(questions) = questions else {
            let fault = Fault::new(codes::INTERNAL_ERROR, "the server asks something that cannot be read");
            return seed.in_vain(None, fault);
        };
        let asked: Vec<(String, bool)> =
            questions.iter().map(|one| (one.key.clone(), one.method == "elicitation/create")).collect();
        let replies = match context.ask(questions).await {
            Ok(replies) => replies,
            Err(error) => return seed.in_vain(Some(error.code()), error.fault(Era::Session)),
        };
        let mut responses = RawObject::empty();
        for ((key, is_form), reply) in asked.iter().zip(replies) {
            let result = match reply {
                Reply::Result(result) => result,
                // A server of the new era can be told so, and decides how it goes on; the error itself has no place in an answer to it.
                Reply::Error(_) if *is_form => Bytes::from_static(br#"{"action":"cancel"}"#),
                Reply::Error(error) => return seed.in_vain(None, refused(error)),
            };
            let changed = responses.rewrite(&[Change::Set(key, &result)]);
            responses = RawObject::read(changed, Limits::ADMITTED).unwrap_or(responses);
        }
        let input = Input { responses: Some(responses), state: wanted.state };
        match service.call(seed.with(input), context.clone()).await.settled() {
            Answer::InputRequired(more) => wanted = more,
            answer => {
                seed.remember(context, &answer);
                return answer;
            }
        }
    }
    let message = "the server keeps asking; it may have had an effect, so check before you repeat it";
    seed.in_vain(None, Fault::new(codes::INTERNAL_ERROR, message))
}

/// The client's own error, handed back to it as the end of its call.
fn refused(error: Bytes) -> Fault {
    let error = RawObject::read(error, Limits::ADMITTED).unwrap_or_else(|_| RawObject::empty());
    let code = error.get("code").and_then(|code| str::from_utf8(code).ok()?.parse().ok());
    Fault {
        code: code.unwrap_or(codes::INTERNAL_ERROR),
        message: error.text("message").map_or("the client could not answer".into(), |text| text.into_owned().into()),
        data: error.slice("data"),
    }
}

/// What it takes to make the same request once more. The places of the parameters are not kept: most calls never ask.
struct Seed {
    request: Incoming,
    params: Bytes,
}

impl Seed {
    fn of(request: &Incoming) -> Self {
        Self { request: request.without_params(), params: request.params.raw().clone() }
    }

    /// A subscription that the service took on is remembered in the session, so that updates find their way.
    fn remember(&self, context: &Context, answer: &Answer) {
        let took = matches!(answer, Answer::Result(_) | Answer::Prepared(_));
        let subscribes = match &*self.request.method {
            "resources/subscribe" => true,
            "resources/unsubscribe" => false,
            _ => return,
        };
        let params = self.with(Input::default()).params;
        if let (true, Some(session), Some(uri)) = (took, &context.exchange.session, params.text("uri")) {
            if !subscribes {
                session.unsubscribe(&uri);
            } else if !session.subscribe(&uri) {
                tracing::warn!("a session subscribes to too many resources");
            }
        }
    }

    /// The end of a request whose server asked something that was not answered. For a call it is a result that the model can act on, as it
    /// is where a server of the old era asks.
    fn in_vain(&self, code: Option<Code>, fault: Fault) -> Answer {
        if self.request.method != "tools/call" {
            return Answer::Fault(fault);
        }
        let code = code.map(|code| format!(" (`{code}`)")).unwrap_or_default();
        let text = format!("The server asks something before it goes on, and got no answer: {}{code}", fault.message);
        let text = Value::from(text);
        let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#);
        match RawObject::read(Bytes::from(result), Limits::ADMITTED) {
            Ok(result) => Answer::Result(result),
            Err(_) => Answer::Fault(fault),
        }
    }

    fn with(&self, input: Input) -> Incoming {
        let params = RawObject::read(self.params.clone(), Limits::ADMITTED);
        Incoming { params: params.unwrap_or_else(|_| RawObject::empty()), input, ..self.request.without_params() }
    }
}
