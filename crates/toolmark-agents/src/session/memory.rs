//! A conversation that is gone with the process.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use toolmark_models::Item;
use toolmark_runtime::approve::Later;
use uuid::Uuid;

use super::{Session, SessionError};

/// A conversation that is kept in memory.
#[derive(Debug, Default)]
pub struct MemorySession {
    id: String,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    items: Vec<Item>,
    holder: Option<Uuid>,
    /// Runs that have said what they say.
    finished: HashSet<Uuid>,
}

impl MemorySession {
    /// An empty conversation.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), kept: Mutex::default() }
    }

    fn with<T: Send + 'static>(
        &self,
        done: impl FnOnce(&mut Kept) -> Result<T, SessionError>,
    ) -> Later<'_, Result<T, SessionError>> {
        let result = done(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        Box::pin(std::future::ready(result))
    }
}

impl Kept {
    fn last(&self, most: Option<usize>) -> Vec<Item> {
        let from = most.map_or(0, |most| self.items.len().saturating_sub(most));
        self.items.get(from..).unwrap_or_default().to_vec()
    }
}

impl Session for MemorySession {
    fn id(&self) -> &str {
        &self.id
    }

    fn items(&self, most: Option<usize>) -> Later<'_, Result<Vec<Item>, SessionError>> {
        self.with(|kept| Ok(kept.last(most)))
    }

    fn append(&self, new: Vec<Item>) -> Later<'_, Result<(), SessionError>> {
        self.with(|kept| {
            kept.items.extend(new);
            Ok(())
        })
    }

    fn pop(&self) -> Later<'_, Result<Option<Item>, SessionError>> {
        self.with(|kept| Ok(kept.items.pop()))
    }

    fn clear(&self) -> Later<'_, Result<(), SessionError>> {
        self.with(|kept| {
            kept.items.clear();
            Ok(())
        })
    }

    fn begin(&self, run: Uuid, most: Option<usize>, take_over: bool) -> Later<'_, Result<Vec<Item>, SessionError>> {
        self.with(|kept| {
            if kept.holder.is_some_and(|holder| holder != run) && !take_over {
                return Err(SessionError::busy(&self.id));
            }
            kept.holder = Some(run);
            Ok(kept.last(most))
        })
    }

    fn finish(&self, run: Uuid, items: Vec<Item>) -> Later<'_, Result<(), SessionError>> {
        self.with(|kept| {
            let said = kept.finished.contains(&run);
            if !said && kept.holder != Some(run) {
                return Err(SessionError::taken(&self.id));
            }
            if !said {
                kept.items.extend(items);
                kept.finished.insert(run);
            }
            kept.holder = kept.holder.filter(|holder| *holder != run);
            Ok(())
        })
    }

    fn replace(&self, run: Uuid, oldest: usize, items: Vec<Item>) -> Later<'_, Result<bool, SessionError>> {
        self.with(|kept| {
            let may = kept.holder == Some(run) && oldest <= kept.items.len();
            if may {
                kept.items.splice(..oldest, items);
            }
            Ok(may)
        })
    }

    fn release(&self, run: Uuid) -> Later<'_, Result<(), SessionError>> {
        self.with(|kept| {
            kept.holder = kept.holder.filter(|holder| *holder != run);
            Ok(())
        })
    }
}
