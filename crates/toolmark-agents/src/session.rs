//! What was said before? The history of a conversation, kept between runs.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_models::Item;
use toolmark_runtime::approve::Later;

/// Keeps a conversation. A run reads it when it begins, and adds to it when it ends well.
pub trait Session: Send + Sync {
    /// Its name, which rules and grants may be about.
    fn id(&self) -> &str;

    /// Everything that was said, oldest first; with a number, only the last so many.
    fn items(&self, most: Option<usize>) -> Later<'_, Result<Vec<Item>, SessionError>>;

    /// Adds what was said, all or nothing.
    fn append(&self, items: Vec<Item>) -> Later<'_, Result<(), SessionError>>;

    /// Takes the last item back.
    fn pop(&self) -> Later<'_, Result<Option<Item>, SessionError>>;

    /// Forgets everything.
    fn clear(&self) -> Later<'_, Result<(), SessionError>>;
}

/// A session that cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the session `{session}` cannot be used: {message}")]
pub struct SessionError {
    session: String,
    message: String,
}

/// A conversation that is kept in memory.
#[derive(Debug, Default)]
pub struct MemorySession {
    id: String,
    items: Mutex<Vec<Item>>,
}

impl SessionError {
    /// Why it cannot be used. The message must hold no secret.
    #[must_use]
    pub fn new(session: &str, message: impl fmt::Display) -> Self {
        Self { session: visible(session, 200), message: visible(&message.to_string(), 1000) }
    }
}

impl MemorySession {
    /// An empty conversation.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), items: Mutex::default() }
    }

    fn with<T: Send + 'static>(&self, done: impl FnOnce(&mut Vec<Item>) -> T) -> Later<'_, Result<T, SessionError>> {
        let result = done(&mut self.items.lock().unwrap_or_else(PoisonError::into_inner));
        Box::pin(std::future::ready(Ok(result)))
    }
}

impl Session for MemorySession {
    fn id(&self) -> &str {
        &self.id
    }

    fn items(&self, most: Option<usize>) -> Later<'_, Result<Vec<Item>, SessionError>> {
        self.with(|items| {
            let from = most.map_or(0, |most| items.len().saturating_sub(most));
            items.get(from..).unwrap_or_default().to_vec()
        })
    }

    fn append(&self, new: Vec<Item>) -> Later<'_, Result<(), SessionError>> {
        self.with(|items| items.extend(new))
    }

    fn pop(&self) -> Later<'_, Result<Option<Item>, SessionError>> {
        self.with(Vec::pop)
    }

    fn clear(&self) -> Later<'_, Result<(), SessionError>> {
        self.with(Vec::clear)
    }
}

impl Explain for SessionError {
    fn code(&self) -> Code {
        Code::new("session-unusable")
    }

    fn why(&self) -> String {
        "an agent that forgets half of a conversation answers another question".into()
    }

    fn fix(&self) -> String {
        "make sure that what keeps the session can be reached".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("session", self.session.as_str().into())])
    }
}
