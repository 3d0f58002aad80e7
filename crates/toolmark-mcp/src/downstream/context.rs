//! What can a service do for its caller while a call is running? Report, ask, and hear that nobody waits any more.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use toolmark_core::explain::{Code, Explain};
use uuid::Uuid;

use super::answer::Fault;
use super::caller::{Caller, Client, is_url};
use super::exchange::Exchange;
use crate::wire::version::{Era, ProtocolVersion};
use crate::wire::{Change, Limits, LogLevel, RawObject, codes, write};

/// The way back to the client while one call is running. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub(super) exchange: Arc<Exchange>,
}

/// Something to ask the client: `elicitation/create`, `sampling/createMessage` or `roots/list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// A name for it, unique among the questions of a call.
    pub key: String,
    /// The method.
    pub method: String,
    /// The parameters, the text of an object.
    pub params: Bytes,
}

/// What the client answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A result, the text of an object.
    Result(Bytes),
    /// An error, the text of its object; only clients up to 2025-11-25 can send one.
    Error(Bytes),
}

/// Why a question got no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AskError {
    /// The client did not declare that it can answer; holds the capabilities that it would need, as the text of an object.
    #[error("the client cannot answer: it did not declare `{0}`")]
    Incapable(&'static str),
    /// There is no way to the client: it takes no event stream, or this request cannot ask in its era.
    #[error("the client cannot be asked during this request")]
    NoWay,
    /// The client went away, or its session ended.
    #[error("the client is gone")]
    Gone,
    /// The client took too long.
    #[error("the client did not answer in time")]
    Late,
}

impl Context {
    /// Sends a notification that belongs to this call. Log messages below the client's level, progress that it did not ask for and
    /// what its era does not know are left out; so is what a slow client has no room for.
    pub fn notify(&self, method: &str, params: &RawObject) {
        let wanted = match method {
            "notifications/progress" => self.exchange.way().progress_token.is_some(),
            "notifications/message" => self.wants_log(params.text("level").and_then(|level| level.parse().ok())),
            _ => self.exchange.version.era() == Era::Session,
        };
        if wanted && !self.exchange.push(write::notification(method, Some(params.raw()))) {
            tracing::debug!(method, "no room for a notification");
        }
    }

    /// Tells the client that a page was visited to which it sent its user, also after the call is over. Only 2025-11-25 has a word for that.
    pub fn visited(&self, elicitation: &str) {
        if let (ProtocolVersion::V2025_11_25, Some(session)) = (self.exchange.version, &self.exchange.session) {
            session.visited(elicitation);
        }
    }

    /// Reports progress under the token of the client, whatever token the parameters have.
    pub fn progress(&self, params: &RawObject) {
        if let Some(token) = self.progress_token() {
            let params = params.rewrite(&[Change::Set("progressToken", &token)]);
            if !self.exchange.push(write::notification("notifications/progress", Some(&params))) {
                tracing::debug!("no room for progress");
            }
        }
    }

    /// The token under which the client wants to hear of progress, as JSON text.
    #[must_use]
    pub fn progress_token(&self) -> Option<Bytes> {
        self.exchange.way().progress_token
    }

    /// What the client says about itself.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.exchange.client
    }

    /// Who calls.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.exchange.caller
    }

    /// The session that the call was made in, up to 2025-11-25.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.exchange.session.as_ref().map(|session| &**session.id())
    }

    /// Whether a question has a chance to be answered.
    ///
    /// # Errors
    /// [`AskError::Incapable`] or [`AskError::NoWay`].
    pub fn can_ask(&self, method: &str, params: &[u8]) -> Result<(), AskError> {
        let way = match self.exchange.version.era() {
            Era::Session => self.exchange.way().streams,
            Era::Stateless => self.exchange.may_ask,
        };
        match self.exchange.client.lacks(method, params) {
            Some(lacking) => Err(AskError::Incapable(lacking)),
            None if !way => Err(AskError::NoWay),
            None => Ok(()),
        }
    }

    /// Asks the client and waits for all answers, in the order of the questions. An old client is asked on the stream of this
    /// request; for a new one the call is parked until the request is repeated.
    ///
    /// # Errors
    /// [`AskError`], for all of them at once.
    pub async fn ask(&self, questions: Vec<Question>) -> Result<Vec<Reply>, AskError> {
        for question in &questions {
            self.can_ask(&question.method, &question.params)?;
        }
        let mut replies = Vec::with_capacity(questions.len());
        match &self.exchange.session {
            Some(session) => {
                // The guards tell the client to forget a question that is given up.
                let questions = questions.into_iter().map(Question::for_a_session);
                let waiting: Vec<_> = questions.map(|question| session.ask(&self.exchange, &question)).collect();
                let all = async {
                    for mut asked in waiting {
                        replies.push(asked.reply().await?);
                    }
                    Ok(())
                };
                tokio::time::timeout(self.exchange.ask_time, all).await.map_err(|_| AskError::Late)??;
            }
            None => {
                for receiver in self.exchange.ask(questions) {
                    replies.push(receiver.await.map_err(|_| AskError::Gone)?);
                }
            }
        }
        Ok(replies)
    }

    /// Fires when nobody waits for the answer any more.
    #[must_use]
    pub fn cancelled(&self) -> CancellationToken {
        self.exchange.token()
    }

    /// Ends the stream of this request while the call goes on, so that the client comes back for the rest (2025-11-25). Does
    /// nothing where that is not possible.
    pub fn release_stream(&self) {
        // Earlier clients get no event to come back with before the first message.
        if self.exchange.version == ProtocolVersion::V2025_11_25 {
            self.exchange.hang_up();
        }
    }

    /// From which level on an old client wants log messages. A new one says so in the parameters of its requests.
    #[must_use]
    pub fn log_level(&self) -> Option<LogLevel> {
        let session = self.exchange.session.as_ref()?;
        // A server of the new era says nothing unless it is asked, and a client that chose no level leaves the choice to servers.
        Some(session.log_level().unwrap_or(LogLevel::Info))
    }

    fn wants_log(&self, level: Option<LogLevel>) -> bool {
        match &self.exchange.session {
            // An old client that never chose a level gets everything.
            Some(session) => session.log_level().is_none_or(|least| level.is_none_or(|level| level >= least)),
            None => self.exchange.way().log_level.is_some_and(|least| level.is_none_or(|level| level >= least)),
        }
    }
}

impl Question {
    /// As clients of the old era know it: a page to be visited has a name there, which servers of the new one do not give it.
    fn for_a_session(self) -> Self {
        if self.method != "elicitation/create" || !is_url(&self.params) {
            return self;
        }
        match RawObject::read(self.params.clone(), Limits::ADMITTED) {
            Ok(params) if params.get("elicitationId").is_none() => {
                let name = write::quote(&Uuid::new_v4().to_string());
                Self { params: params.rewrite(&[Change::Set("elicitationId", &name)]), ..self }
            }
            _ => self,
        }
    }

    /// As a member of `inputRequests`.
    pub(super) fn write(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.method.len() + self.params.len() + 32);
        out.put_slice(br#"{"method":"#);
        write::quote_into(&mut out, &self.method);
        out.put_slice(br#","params":"#);
        out.put_slice(&self.params);
        out.put_u8(b'}');
        out.freeze()
    }

    /// Reads a member of `inputRequests`.
    pub(super) fn read(key: &str, member: &[u8]) -> Option<Self> {
        let member = RawObject::read(Bytes::copy_from_slice(member), Limits::ADMITTED).ok()?;
        let params = member.slice("params").unwrap_or_else(|| Bytes::from_static(b"{}"));
        Some(Self { key: key.to_owned(), method: member.text("method")?.into_owned(), params })
    }
}

impl Explain for AskError {
    fn code(&self) -> Code {
        match self {
            Self::Incapable(_) => Code::new("client-cannot-answer"),
            Self::NoWay => Code::new("client-not-askable"),
            Self::Gone => Code::new("client-gone"),
            Self::Late => Code::new("client-too-late"),
        }
    }

    fn why(&self) -> String {
        let why = match self {
            Self::Incapable(_) => "a client must not be asked what it did not offer to answer",
            Self::NoWay => "the question would never reach anybody",
            Self::Gone => "without an answer the call cannot go on, and nobody is left to ask",
            Self::Late => "a call that waits holds resources here and at the server",
        };
        why.to_owned()
    }

    fn fix(&self) -> String {
        let fix = match self {
            Self::Incapable(_) => "use a client that declares the capability, or a tool that does not ask",
            Self::NoWay => "send `Accept: application/json, text/event-stream`",
            Self::Gone => "make the call again from a new session",
            Self::Late => "answer sooner, or make the call again",
        };
        fix.to_owned()
    }
}

impl AskError {
    /// The error for a client of this era.
    #[must_use]
    pub fn fault(&self, era: Era) -> Fault {
        let code = self.code();
        match (self, era) {
            (Self::Incapable(needed), Era::Stateless) => Fault {
                code: codes::MISSING_CAPABILITY,
                message: self.to_string().into(),
                data: Some(Bytes::from(format!(r#"{{"requiredCapabilities":{needed},"code":"{code}"}}"#))),
            },
            (Self::Incapable(_), Era::Session) => Fault::new(codes::INVALID_PARAMS, self.to_string()).coded(code),
            _ => Fault::new(codes::INTERNAL_ERROR, self.to_string()).coded(code),
        }
    }
}
