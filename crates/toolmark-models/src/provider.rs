//! A model behind an address: a request written in its wire format, sent, asked again where that is right, and read.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::chat::write::Dialect;
use crate::connection::{Deadline, Http, Retry, Secrets, Streaming, chance, content_type};
use crate::error::{ModelError, ModelErrorKind};
use crate::event::{ModelEvent, ModelStream};
use crate::failure::of_body;
use crate::model::{Model, ModelFuture};
use crate::name::ModelName;
use crate::pieces::pieces;
use crate::request::ModelRequest;
use crate::response::ModelResponse;
use crate::stream::StreamReader;
use crate::unsendable::UnsendableError;
use crate::{anthropic, chat, responses};

/// A model that is reached over HTTP. Cloning it shares its connections.
#[derive(Clone)]
pub(crate) struct Provided {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) name: ModelName,
    pub(crate) format: Format,
    pub(crate) http: Http,
    pub(crate) retry: Retry,
    pub(crate) secrets: Secrets,
}

/// The wire formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Responses,
    Chat(Dialect),
    Anthropic,
}

impl Format {
    fn body(self, model: &str, request: &ModelRequest, stream: bool) -> Result<Bytes, UnsendableError> {
        let body = match self {
            Self::Responses => responses::write::body(model, request, stream),
            Self::Chat(dialect) => chat::write::body(model, request, stream, dialect),
            Self::Anthropic => anthropic::write::body(model, request, stream),
        }?;
        Ok(Bytes::from(Value::Object(body).to_string()))
    }

    fn read(self, body: &[u8]) -> Result<ModelResponse, ModelErrorKind> {
        let value =
            || serde_json::from_slice(body).map_err(|error| of_body(200, body, &format!("it is no JSON: {error}")));
        match self {
            Self::Responses => responses::read::response(value()?, Vec::new()),
            Self::Chat(_) => chat::read::response(value()?),
            Self::Anthropic => anthropic::read::response(body),
        }
    }

    fn reader(self) -> Box<dyn StreamReader> {
        match self {
            Self::Responses => Box::new(responses::stream::Reader::default()),
            Self::Chat(_) => Box::new(chat::stream::Reader::default()),
            Self::Anthropic => Box::new(anthropic::stream::Reader::default()),
        }
    }
}

/// An answer that began: as a stream, or whole because the server does not stream.
enum Begun {
    Stream(Box<Streaming>),
    Whole(Box<ModelResponse>),
}

impl Provided {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl Inner {
    /// Tries until it works or is not worth it. What is tried must deliver nothing before it has worked.
    async fn ask<T, F: Future<Output = Result<T, ModelErrorKind>>>(
        &self,
        request: &ModelRequest,
        deadline: Deadline,
        attempt: impl Fn() -> F,
    ) -> Result<(T, u32), ModelError> {
        let acts = request.lets_provider_act();
        let mut attempts = 1;
        loop {
            let error = match attempt().await {
                Ok(answer) => return Ok((answer, attempts)),
                Err(error) => error,
            };
            let pause = self.retry.pause(attempts, &error, acts, chance());
            // A pause that outlasts the time that is left is none.
            let pause = pause.filter(|pause| Instant::now().checked_add(*pause).is_some_and(|then| then < deadline.at));
            let Some(pause) = pause else { return Err(self.error(error, attempts)) };
            tracing::debug!(model = %self.name, attempts, ?pause, "asking again");
            sleep(pause).await;
            attempts += 1;
        }
    }

    fn error(&self, kind: ModelErrorKind, attempts: u32) -> ModelError {
        ModelError::new(&self.name, self.secrets.clean_error(kind)).after(attempts)
    }

    fn deadline(&self, request: &ModelRequest) -> Deadline {
        Deadline::in_(request.settings.timeout.unwrap_or(self.http.timeouts().whole))
    }

    fn body(&self, request: &ModelRequest, stream: bool) -> Result<Bytes, ModelError> {
        self.format.body(self.name.model(), request, stream).map_err(|error| ModelError::new(&self.name, error))
    }

    async fn respond(&self, request: &ModelRequest) -> Result<ModelResponse, ModelError> {
        let body = self.body(request, false)?;
        let deadline = self.deadline(request);
        let attempt = || async {
            let response = self.http.send(body.clone(), "application/json", deadline).await?;
            let whole = self.http.whole(response.into_body(), deadline).await?;
            self.format.read(&whole)
        };
        Ok(self.ask(request, deadline, attempt).await?.0)
    }

    async fn stream(&self, request: &ModelRequest) -> Result<ModelStream, ModelError> {
        let body = self.body(request, true)?;
        let deadline = self.deadline(request);
        let (begun, attempts) = self.ask(request, deadline, || self.begin(body.clone(), deadline)).await?;
        Ok(match begun {
            Begun::Stream(streaming) => streaming.into_stream(self.name.clone(), self.secrets.clone(), attempts),
            Begun::Whole(response) => at_once(&response),
        })
    }

    /// Waits for the first event, so that a stream that fails before it can be asked for again.
    async fn begin(&self, body: Bytes, deadline: Deadline) -> Result<Begun, ModelErrorKind> {
        let response = self.http.send(body, "text/event-stream", deadline).await?;
        if content_type(&response).ends_with("json") {
            let whole = self.http.whole(response.into_body(), deadline).await?;
            return Ok(Begun::Whole(Box::new(self.format.read(&whole)?)));
        }
        let mut streaming = Streaming::new(&self.http, response.into_body(), self.format.reader(), deadline);
        if let Some(event) = streaming.next().await? {
            streaming.put_back(event);
        }
        Ok(Begun::Stream(Box::new(streaming)))
    }
}

/// The events of an answer that is there already.
pub(crate) fn at_once(response: &ModelResponse) -> ModelStream {
    let end = ModelEvent::Completed(Box::new(response.clone()));
    let events: Vec<_> = pieces(response, true).into_iter().chain([end]).map(Ok).collect();
    Box::pin(futures_util::stream::iter(events))
}

impl Model for Provided {
    fn name(&self) -> &ModelName {
        &self.inner.name
    }

    fn respond<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelResponse> {
        Box::pin(self.inner.respond(request))
    }

    fn stream<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelStream> {
        Box::pin(self.inner.stream(request))
    }
}

/// Name and host; neither headers nor the rest of the address.
impl fmt::Debug for Provided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, host) = (self.inner.name.to_string(), self.inner.http.host());
        f.debug_struct("Provided").field("name", &name).field("host", &host).finish_non_exhaustive()
    }
}
