//! What was said in a thread, who has it now, and what waits in it? The store has all of it, so that any process can go on.
//!
//! Old reader, new record: refused, with the version. New reader, old record: every version since 1 is read.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolmark_agents::{RunState, Session, SessionError};
use toolmark_agui::Id;
use toolmark_agui::history::Entry;
use toolmark_core::call::CallId;
use toolmark_core::text::visible;
use toolmark_models::Item;
use toolmark_runtime::approve::Later;
use toolmark_runtime::sessions::SessionKeeper as _;
use toolmark_store::{Micros, Store, TakenThread, ThreadClaim};
use uuid::Uuid;

use super::error::AguiError;

/// How long a thread is held without a sign of life, and how often one is given.
pub(super) const LEASE: Duration = Duration::from_secs(60);
pub(super) const SIGN: Duration = Duration::from_secs(15);

const VERSION: u64 = 1;

/// A thread that this request has.
pub(super) struct Thread {
    store: Store,
    key: String,
    holder: String,
    pub(super) entries: Vec<Entry>,
    pub(super) waits: Option<Waits>,
    /// The same as it is written, to be written again where nothing happened.
    written: Option<String>,
}

/// A run that waits: for a person, or for what the page brings.
pub(super) struct Waits {
    pub(super) state: RunState,
    /// What the ids of its messages begin with.
    pub(super) prefix: String,
    /// How often it was interrupted.
    pub(super) leg: u32,
    /// What was said when it began, which is no part of the history before it ends.
    pub(super) said: Vec<Entry>,
    /// The messages with what the page brought.
    pub(super) brought: HashMap<CallId, Id>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u64,
    item: Item,
    /// The message of AG-UI that it belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
}

/// What a thread of somebody with an agent is called in the store; nobody else's is.
pub(super) fn key(agent: &str, principal: &str, thread: &str) -> String {
    format!("agui:{}", json!([agent, principal, thread]))
}

impl Thread {
    /// Takes the thread of somebody; nobody else can have it meanwhile.
    pub(super) async fn take(store: &Store, key: String, principal: &str, most: u32) -> Result<Self, AguiError> {
        let holder = Uuid::now_v7().to_string();
        let until = Micros::from(SystemTime::now()).after(LEASE);
        let claim = ThreadClaim { thread: &key, owner: principal, most, holder: &holder, until };
        let written = match store.take_thread(claim).await? {
            TakenThread::Ours { waits, forgotten: 0 } => waits,
            TakenThread::Ours { waits, forgotten } => {
                tracing::info!(caller = principal, forgotten, "older threads of the caller made room for a new one");
                waits
            }
            TakenThread::Held => return Err(AguiError::ThreadBusy),
            TakenThread::Full => return Err(AguiError::ThreadsFull(most)),
        };
        let mut taken =
            Self { store: store.clone(), key, holder, entries: Vec::new(), waits: None, written: written.clone() };
        match taken.read(written.as_deref()).await {
            Ok(()) => Ok(taken),
            Err(error) => {
                taken.leave_as_it_is().await;
                Err(error)
            }
        }
    }

    async fn read(&mut self, waits: Option<&str>) -> Result<(), AguiError> {
        let report = |error: toolmark_runtime::sessions::KeepSessionError| {
            tracing::warn!(%error, "a thread cannot be read");
            AguiError::Report(Box::new(toolmark_core::explain::Explain::report(&error.for_callers())))
        };
        let texts = self.store.items(&self.key, None).await.map_err(report)?;
        self.entries = texts.iter().map(|text| read_entry(text)).collect::<Result<_, _>>()?;
        self.waits = waits.map(Waits::read).transpose()?;
        Ok(())
    }

    /// Its name among all threads.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Says that it is still in use; false where somebody else has it by now.
    pub(super) async fn sign(&self) -> bool {
        let until = Micros::from(SystemTime::now()).after(LEASE);
        // A store that is away for a moment takes nothing from anybody.
        self.store.keep_thread(&self.key, &self.holder, until).await.unwrap_or(true)
    }

    /// Adds what was said and writes down what waits, and gives the thread back.
    pub(super) async fn leave(&self, added: &[Entry], waits: Option<&Waits>) -> Result<(), AguiError> {
        let texts = added.iter().map(write_entry).collect::<Result<Vec<_>, _>>()?;
        let waits = waits.map(Waits::write).transpose()?;
        match self.store.leave_thread(&self.key, &self.holder, &texts, waits.as_deref()).await? {
            true => Ok(()),
            false => Err(AguiError::ThreadLost),
        }
    }

    /// Gives it back; whatever waits goes on waiting.
    pub(super) async fn leave_as_it_is(&self) {
        if let Err(error) = self.store.leave_thread(&self.key, &self.holder, &[], self.written.as_deref()).await {
            tracing::warn!(%error, "a thread was not given back; it is free again in a minute");
        }
    }

    /// The thread as a run sees it. What the run adds is written when it is over, together with what waits.
    pub(super) fn session(&self) -> ThreadSession {
        ThreadSession { id: self.key.clone(), items: self.entries.iter().map(|entry| entry.item.clone()).collect() }
    }
}

fn unreadable(problem: impl std::fmt::Display) -> AguiError {
    AguiError::Waits(visible(&problem.to_string(), 300))
}

fn read_entry(text: &str) -> Result<Entry, AguiError> {
    let value: Value = serde_json::from_str(text).map_err(unreadable)?;
    if let Some(version) = value.get("version").and_then(Value::as_u64).filter(|version| *version > VERSION) {
        return Err(unreadable(format!("an item has the version {version}, and only {VERSION} is known")));
    }
    let written: Written = serde_json::from_value(value).map_err(unreadable)?;
    let message = written.message.into();
    Ok(Entry { message, agent: written.agent, hidden: written.hidden, item: written.item })
}

fn write_entry(entry: &Entry) -> Result<String, AguiError> {
    serde_json::to_string(&Written {
        version: VERSION,
        item: entry.item.clone(),
        message: entry.message.as_str().to_owned(),
        agent: entry.agent.clone(),
        hidden: entry.hidden,
    })
    .map_err(unreadable)
}

impl Waits {
    fn write(&self) -> Result<String, AguiError> {
        let said = self.said.iter().map(write_entry).collect::<Result<Vec<_>, _>>()?;
        let brought: HashMap<&str, &str> =
            self.brought.iter().map(|(call, message)| (call.as_str(), message.as_str())).collect();
        let waits = json!({
            "version": VERSION, "prefix": self.prefix, "leg": self.leg, "said": said, "brought": brought,
            "state": self.state.to_json(),
        });
        Ok(waits.to_string())
    }

    fn read(text: &str) -> Result<Self, AguiError> {
        #[derive(Deserialize)]
        struct Read {
            version: u64,
            prefix: String,
            leg: u32,
            said: Vec<String>,
            brought: HashMap<String, String>,
            state: String,
        }
        let read: Read = serde_json::from_str(text).map_err(unreadable)?;
        if read.version > VERSION {
            return Err(unreadable(format!("it has the version {}, and only {VERSION} is known", read.version)));
        }
        let call =
            |(call, message): (String, String)| Ok((call.parse::<CallId>().map_err(unreadable)?, message.into()));
        Ok(Self {
            state: RunState::from_json(&read.state).map_err(unreadable)?,
            prefix: read.prefix,
            leg: read.leg,
            said: read.said.iter().map(|text| read_entry(text)).collect::<Result<_, _>>()?,
            brought: read.brought.into_iter().map(call).collect::<Result<_, AguiError>>()?,
        })
    }
}

/// The history of a thread, for the run that has it.
pub(super) struct ThreadSession {
    id: String,
    items: Vec<Item>,
}

fn now<T: Send + 'static>(value: T) -> Later<'static, Result<T, SessionError>> {
    Box::pin(std::future::ready(Ok(value)))
}

impl Session for ThreadSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn items(&self, most: Option<usize>) -> Later<'_, Result<Vec<Item>, SessionError>> {
        let from = most.map_or(0, |most| self.items.len().saturating_sub(most));
        now(self.items.get(from..).unwrap_or_default().to_vec())
    }

    fn append(&self, _: Vec<Item>) -> Later<'_, Result<(), SessionError>> {
        now(())
    }

    fn pop(&self) -> Later<'_, Result<Option<Item>, SessionError>> {
        now(None)
    }

    fn clear(&self) -> Later<'_, Result<(), SessionError>> {
        now(())
    }
}
