//! What was said before? The history of a conversation, kept between runs.
//!
//! A run takes the session when it begins and gives it back when it is over: what it says is added whole, once, and what another run
//! says does not come between. A run that waits for a person keeps the session; one that ended with an error does not.

mod compact;
mod memory;
mod stored;

use std::fmt;

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_models::Item;
use toolmark_runtime::approve::Later;
use uuid::Uuid;

pub use compact::CompactingSession;
pub use memory::MemorySession;
pub use stored::StoredSession;

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

    /// Takes the session for a run and gives what was said. A run that has it already gets it again. Sessions that cannot tell runs
    /// apart give it to everybody.
    ///
    /// The error for a session that another run has is [`SessionError::busy`], unless it is to be taken over.
    fn begin(&self, run: Uuid, most: Option<usize>, take_over: bool) -> Later<'_, Result<Vec<Item>, SessionError>> {
        let _ = (run, take_over);
        self.items(most)
    }

    /// Adds what a run said, all or nothing, and gives the session back; for a run that did so before, nothing changes.
    ///
    /// The error for a run that does not have the session is [`SessionError::taken`].
    fn finish(&self, run: Uuid, items: Vec<Item>) -> Later<'_, Result<(), SessionError>> {
        let _ = run;
        self.append(items)
    }

    /// Puts items in the place of the oldest so many, all or nothing, while a run has the session. Says no, and changes nothing, where the
    /// run does not have it or there are not so many; sessions that cannot do this never do.
    fn replace(&self, run: Uuid, oldest: usize, items: Vec<Item>) -> Later<'_, Result<bool, SessionError>> {
        let _ = (run, oldest, items);
        Box::pin(std::future::ready(Ok(false)))
    }

    /// Gives the session back without adding anything, if the run has it.
    fn release(&self, run: Uuid) -> Later<'_, Result<(), SessionError>> {
        let _ = run;
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A session that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct SessionError {
    session: String,
    why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    Unusable(String),
    Busy,
    Taken,
    Other(Option<String>),
    Twice,
}

impl SessionError {
    /// It cannot be read or written. The message must hold no secret.
    #[must_use]
    pub fn new(session: &str, message: impl fmt::Display) -> Self {
        Self::of(session, Why::Unusable(visible(&message.to_string(), 1000)))
    }

    /// Another run has it.
    #[must_use]
    pub fn busy(session: &str) -> Self {
        Self::of(session, Why::Busy)
    }

    /// Another run has taken it over, so that nothing can be added to it.
    #[must_use]
    pub fn taken(session: &str) -> Self {
        Self::of(session, Why::Taken)
    }

    /// A saved run belongs to this session, and is resumed with another or with none.
    pub(crate) fn other(session: &str, given: Option<&str>) -> Self {
        Self::of(session, Why::Other(given.map(|given| visible(given, 200))))
    }

    /// True when another run has it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.why == Why::Busy
    }

    /// The provider keeps the same conversation.
    pub(crate) fn twice(session: &str) -> Self {
        Self::of(session, Why::Twice)
    }

    fn of(session: &str, why: Why) -> Self {
        Self { session: visible(session, 200), why }
    }

    fn sentence(&self) -> String {
        let session = &self.session;
        match &self.why {
            Why::Unusable(message) => format!("the session `{session}` cannot be used: {message}"),
            Why::Busy => format!("another run has the session `{session}`"),
            Why::Taken => format!("another run has taken over the session `{session}`; nothing was added to it"),
            Why::Other(Some(given)) => format!("the run belongs to the session `{session}`, not to `{given}`"),
            Why::Twice => format!("the session `{session}` and the provider both keep the conversation"),
            Why::Other(None) => format!("the run belongs to the session `{session}`, and is resumed without one"),
        }
    }
}

impl Explain for SessionError {
    fn code(&self) -> Code {
        match self.why {
            Why::Unusable(_) => Code::new("session-unusable"),
            Why::Busy => Code::new("session-busy"),
            Why::Taken => Code::new("session-taken"),
            Why::Other(_) => Code::new("session-other"),
            Why::Twice => Code::new("session-twice"),
        }
    }

    fn why(&self) -> String {
        match self.why {
            Why::Unusable(_) | Why::Other(_) => "an agent that forgets half of a conversation answers another question",
            Why::Busy => "two runs that do not hear each other would tear the conversation apart",
            Why::Twice => "the model would read everything twice",
            Why::Taken => "what this run says does not follow what was said in the meantime",
        }
        .into()
    }

    fn fix(&self) -> String {
        match &self.why {
            Why::Unusable(_) => "make sure that what keeps the session can be reached".into(),
            Why::Busy => "wait until that run is over, resume it if it waits for a person, or take the session over: \
                          `Runner::take_over(true)`"
                .into(),
            Why::Taken => "use the answer, which is in the state of the run, or ask again".into(),
            Why::Twice => "use a session, `previous_response_id` or `conversation_id`, not two of them".into(),
            Why::Other(_) => format!("resume it with the session `{}`", self.session),
        }
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("session", self.session.as_str().into())])
    }
}
