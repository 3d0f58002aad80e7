//! A conversation that outlives the process: items as texts of a known version, in whatever keeps them.
//!
//! Old reader, new item: refused, with the version. New reader, old item: every version since 1 is read.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolmark_models::Item;
use toolmark_runtime::approve::Later;
use toolmark_runtime::sessions::{Claimed, KeepSessionError, SessionKeeper};
use uuid::Uuid;

use super::{Session, SessionError};

/// The version that is written.
const VERSION: u64 = 1;

/// A conversation in a store. Everybody who opens it under the same name has the same one.
#[derive(Clone)]
pub struct StoredSession {
    id: String,
    keeper: Arc<dyn SessionKeeper>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    version: u64,
    item: Item,
}

impl StoredSession {
    /// The conversation of this name; a new one is empty.
    #[must_use]
    pub fn new(keeper: Arc<dyn SessionKeeper>, id: impl Into<String>) -> Self {
        Self { id: id.into(), keeper }
    }

    fn failed(&self, error: &KeepSessionError) -> SessionError {
        SessionError::new(&self.id, error)
    }

    fn write(&self, items: Vec<Item>) -> Result<Vec<String>, SessionError> {
        let one = |item: Item| serde_json::to_string(&Written { version: VERSION, item });
        let all: Result<Vec<String>, _> = items.into_iter().map(one).collect();
        all.map_err(|error| SessionError::new(&self.id, error))
    }

    fn read(&self, text: &str) -> Result<Item, SessionError> {
        let unreadable = |error: serde_json::Error| {
            SessionError::new(&self.id, format_args!("an item of it cannot be read: {error}"))
        };
        let value: Value = serde_json::from_str(text).map_err(unreadable)?;
        match value.get("version").and_then(Value::as_u64) {
            Some(version) if version > VERSION => {
                let message = format!("an item of it has the version {version}, and only {VERSION} is known");
                Err(SessionError::new(&self.id, message))
            }
            _ => serde_json::from_value::<Written>(value).map(|written| written.item).map_err(unreadable),
        }
    }

    fn read_all(&self, texts: &[String]) -> Result<Vec<Item>, SessionError> {
        texts.iter().map(|text| self.read(text)).collect()
    }
}

fn count(most: Option<usize>) -> Option<u64> {
    most.map(|most| u64::try_from(most).unwrap_or(u64::MAX))
}

impl Session for StoredSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn items(&self, most: Option<usize>) -> Later<'_, Result<Vec<Item>, SessionError>> {
        Box::pin(async move {
            let texts = self.keeper.items(&self.id, count(most)).await.map_err(|error| self.failed(&error))?;
            self.read_all(&texts)
        })
    }

    fn append(&self, items: Vec<Item>) -> Later<'_, Result<(), SessionError>> {
        Box::pin(async move {
            let texts = self.write(items)?;
            self.keeper.add(&self.id, &texts).await.map_err(|error| self.failed(&error))
        })
    }

    fn pop(&self) -> Later<'_, Result<Option<Item>, SessionError>> {
        Box::pin(async move {
            let text = self.keeper.pop(&self.id).await.map_err(|error| self.failed(&error))?;
            text.map(|text| self.read(&text)).transpose()
        })
    }

    fn clear(&self) -> Later<'_, Result<(), SessionError>> {
        Box::pin(async move { self.keeper.clear(&self.id).await.map_err(|error| self.failed(&error)) })
    }

    fn begin(&self, run: Uuid, most: Option<usize>, take_over: bool) -> Later<'_, Result<Vec<Item>, SessionError>> {
        Box::pin(async move {
            let claimed = self.keeper.claim(&self.id, &run.to_string(), count(most), take_over).await;
            match claimed.map_err(|error| self.failed(&error))? {
                Claimed::Ours(texts) => self.read_all(&texts),
                Claimed::Held => Err(SessionError::busy(&self.id)),
            }
        })
    }

    fn finish(&self, run: Uuid, items: Vec<Item>) -> Later<'_, Result<(), SessionError>> {
        Box::pin(async move {
            let texts = self.write(items)?;
            let finished = self.keeper.finish(&self.id, &run.to_string(), &texts).await;
            match finished.map_err(|error| self.failed(&error))? {
                true => Ok(()),
                false => Err(SessionError::taken(&self.id)),
            }
        })
    }

    fn replace(&self, run: Uuid, oldest: usize, items: Vec<Item>) -> Later<'_, Result<bool, SessionError>> {
        Box::pin(async move {
            let texts = self.write(items)?;
            let oldest = u64::try_from(oldest).unwrap_or(u64::MAX);
            let replaced = self.keeper.replace(&self.id, &run.to_string(), oldest, &texts).await;
            replaced.map_err(|error| self.failed(&error))
        })
    }

    fn release(&self, run: Uuid) -> Later<'_, Result<(), SessionError>> {
        Box::pin(
            async move { self.keeper.release(&self.id, &run.to_string()).await.map_err(|error| self.failed(&error)) },
        )
    }
}

impl fmt::Debug for StoredSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredSession").field("id", &self.id).finish_non_exhaustive()
    }
}
