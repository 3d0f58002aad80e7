//! What a fixture knows: one state that all peers share, and what one peer has told about itself.

#![expect(deprecated, reason = "logging is on its way out of the protocol, but clients still have it")]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ErrorData, LoggingLevel, PaginatedRequestParams};
use rmcp::task_manager::TaskManager;
use serde_json::{Value, json};

use crate::ask::Seal;
use crate::catalog::{BuildCatalogError, Catalog};
use crate::changes::{Changes, Watched};
use crate::options::{Era, Options};
use crate::prompts::Prompts;
use crate::resources::Resources;

/// One MCP server as one peer sees it.
#[derive(Clone)]
pub struct Fixture {
    shared: Arc<Shared>,
    peer: Arc<Peer>,
}

/// What all peers share.
struct Shared {
    options: Options,
    catalog: Catalog,
    prompts: Prompts,
    resources: Resources,
    changes: Changes,
    seal: Seal,
    tasks: TaskManager,
    calls: Mutex<BTreeMap<String, u64>>,
    cancelled: AtomicU64,
}

/// What an old client has told about itself.
#[derive(Debug)]
struct Peer {
    level: Mutex<LoggingLevel>,
    watched: Watched,
}

/// A call that counts as cancelled unless it came to its end.
pub(crate) struct Running<'a> {
    cancelled: &'a AtomicU64,
    pub(crate) ended: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl fmt::Debug for Fixture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Fixture").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

impl Fixture {
    /// A fixture with its own state.
    ///
    /// # Errors
    ///
    /// When the options rename or describe a tool that is not there, or give two tools one name.
    pub fn new(options: Options) -> Result<Self, BuildCatalogError> {
        let shared = Shared {
            catalog: Catalog::new(&options)?,
            options,
            prompts: Prompts::default(),
            resources: Resources::default(),
            changes: Changes::default(),
            seal: Seal::new(),
            tasks: TaskManager::new(),
            calls: Mutex::default(),
            cancelled: AtomicU64::new(0),
        };
        Ok(Self { shared: Arc::new(shared), peer: Arc::new(Peer::new()) })
    }

    /// The same fixture for a peer that has said nothing yet.
    #[must_use]
    pub fn for_another_peer(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), peer: Arc::new(Peer::new()) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.shared.options.name
    }

    pub(crate) fn era(&self) -> Era {
        self.shared.options.era
    }

    pub(crate) fn answers_json(&self) -> bool {
        self.shared.options.json
    }

    pub(crate) fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    pub(crate) fn prompts(&self) -> &Prompts {
        &self.shared.prompts
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.shared.resources
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.shared.changes
    }

    pub(crate) fn tasks(&self) -> &TaskManager {
        &self.shared.tasks
    }

    pub(crate) fn seal(&self) -> &Seal {
        &self.shared.seal
    }

    /// The least important messages that an old client wants to hear.
    pub(crate) fn peer_level(&self) -> LoggingLevel {
        *self.peer.level.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_peer_level(&self, level: LoggingLevel) {
        *self.peer.level.lock().unwrap_or_else(PoisonError::into_inner) = level;
    }

    /// The resources that an old client wants to hear about.
    pub(crate) fn peer_watches(&self) -> &Watched {
        &self.peer.watched
    }

    /// Counts a call; it is cancelled unless what this returns is told that it ended.
    pub(crate) fn count(&self, tool: &str) -> Running<'_> {
        let mut calls = self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
        *calls.entry(tool.to_owned()).or_default() += 1;
        Running { cancelled: &self.shared.cancelled, ended: false }
    }

    pub(crate) fn stats(&self) -> Value {
        let calls = self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        json!({ "calls": calls, "cancelled": self.shared.cancelled.load(Ordering::SeqCst) })
    }

    /// One page of a list, and where the next begins.
    pub(crate) fn page<T>(
        &self,
        mut items: Vec<T>,
        request: Option<PaginatedRequestParams>,
    ) -> Result<(Vec<T>, Option<String>), ErrorData> {
        let bad = || ErrorData::invalid_params("there is no page with this cursor", None);
        let start = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => cursor.parse::<usize>().ok().filter(|start| *start < items.len()).ok_or_else(bad)?,
        };
        let mut items = items.split_off(start);
        let size = self.shared.options.page_size.map_or(usize::MAX, |size| size as usize);
        let next = (items.len() > size).then(|| (start + size).to_string());
        items.truncate(size);
        Ok((items, next))
    }
}

impl Peer {
    fn new() -> Self {
        Self { level: Mutex::new(LoggingLevel::Info), watched: Watched::default() }
    }
}
