//! What connects the two sides: a server's questions, progress and errors, put to the client whose request is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::downstream::{Context, Fault, Incoming, Question, Reply};
use crate::upstream::{self, CallObserver, CallerKey};
use crate::wire::{Change, Limits, RawObject, RpcError, codes, write};

/// The way back: what a server says in between goes to the client of the request.
pub struct Back {
    context: Context,
    noted: Option<Arc<AtomicU64>>,
    still: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl Back {
    /// To the client behind this.
    #[must_use]
    pub fn to(context: Context) -> Self {
        Self { context, noted: None, still: None }
    }

    /// The same; writes down with which id the request goes out, where somebody wants to know.
    #[must_use]
    pub fn noting(self, id: Option<Arc<AtomicU64>>) -> Self {
        Self { noted: id, ..self }
    }

    /// The same; the request goes out only if this still holds when its turn has come.
    #[must_use]
    pub fn only_if(self, still: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { still: Some(Box::new(still)), ..self }
    }
}

impl CallObserver for Back {
    fn progress(&self, params: Bytes) {
        if let Some(params) = object(params) {
            self.context.progress(&params);
        }
    }

    fn message(&self, params: Bytes) {
        if let Some(params) = object(params) {
            self.context.notify("notifications/message", &params);
        }
    }

    fn sent_as(&self, id: u64) {
        if let Some(noted) = &self.noted {
            noted.store(id, Ordering::Relaxed);
        }
    }

    fn may_go(&self) -> bool {
        self.still.as_ref().is_none_or(|still| still())
    }

    fn hung_up(&self) {
        self.context.release_stream();
    }

    fn visited(&self, elicitation: &str) {
        self.context.visited(elicitation);
    }

    fn can_answer(&self, question: &upstream::Question) -> bool {
        let params = question.params.as_ref().map_or(&b"{}"[..], |params| params.raw());
        self.context.can_ask(&question.method, params).is_ok()
    }

    /// One session, or, where there are none, one caller at one address with a program that says the same of itself.
    fn caller(&self) -> Option<CallerKey> {
        let (context, client) = (&self.context, self.context.client());
        Some(match context.session() {
            Some(session) => CallerKey::of(&[b"session", session.as_bytes()]),
            None => {
                let (who, place) = (context.caller().principal(), context.caller().place());
                let info = client.info().map(|info| &**info).unwrap_or_default();
                CallerKey::of(&[b"caller", who.as_bytes(), place.as_bytes(), info, client.capabilities()])
            }
        })
    }

    fn ask(&self, question: upstream::Question) -> BoxFuture<'static, upstream::Answer> {
        let context = self.context.clone();
        Box::pin(async move {
            let params = question.params.map_or(Bytes::from_static(b"{}"), |params| params.raw().clone());
            let question = Question { key: "question".to_owned(), method: question.method, params };
            let refused = |code: i64, why: &str| upstream::Answer::Error(write::error_member(code, why, None));
            match context.ask(vec![question]).await {
                Ok(replies) => match replies.into_iter().next() {
                    Some(Reply::Result(result)) => upstream::Answer::Result(result),
                    Some(Reply::Error(error)) => upstream::Answer::Error(error),
                    None => refused(codes::INTERNAL_ERROR, "there is no answer"),
                },
                Err(error) => refused(codes::INVALID_PARAMS, &error.to_string()),
            }
        })
    }
}

/// A server's error, as it goes to the client.
impl From<RpcError> for Fault {
    fn from(error: RpcError) -> Self {
        Self {
            code: error.code().unwrap_or(codes::INTERNAL_ERROR),
            message: error.message().unwrap_or_default().into_owned().into(),
            data: error.data().map(Bytes::copy_from_slice),
        }
    }
}

impl Incoming {
    /// Its parameters for a server: with some members replaced, and with the answers that the client repeated it with.
    #[must_use]
    pub fn params_for_server(&self, replaced: &[(&str, &[u8])]) -> RawObject {
        let mut changes: Vec<Change<'_>> = replaced.iter().map(|(key, value)| Change::Set(key, value)).collect();
        let state = self.input.state.as_deref().map(|state| write::quote(&String::from_utf8_lossy(state)));
        if let Some(responses) = &self.input.responses {
            changes.push(Change::Set("inputResponses", responses.raw()));
        }
        if let Some(state) = &state {
            changes.push(Change::Set("requestState", state));
        }
        if changes.is_empty() {
            return self.params.clone();
        }
        // An object with members replaced by JSON text is an object.
        object(self.params.rewrite(&changes)).unwrap_or_else(|| self.params.clone())
    }
}

fn object(raw: Bytes) -> Option<RawObject> {
    RawObject::read(raw, Limits::ADMITTED).ok()
}
