//! What has changed that one client wants to hear of and has not been told yet?
//!
//! Changes are remembered as facts, not as messages: the same change twice is one fact. So a slow client costs a few bits, and
//! nobody ever waits for it.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};

use bytes::{BufMut, Bytes, BytesMut};

use crate::wire::params::meta;
use crate::wire::{Id, RawObject, write};

/// Most resources whose updates wait for one client; past that, it is told that the list changed.
const UPDATES: usize = 1_000;

/// Something that clients may want to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The content of one resource.
    Resource(Arc<str>),
    /// A page that the user was sent to (2025-11-25): somebody was there.
    Visited(Arc<str>),
}

/// What a client asked to hear of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interest {
    /// Changes of the list of tools.
    pub tools: bool,
    /// Changes of the list of prompts.
    pub prompts: bool,
    /// Changes of the list of resources.
    pub resources: bool,
    /// Updates of these resources.
    pub uris: HashSet<String>,
}

/// What one client has not heard yet.
#[derive(Default)]
pub(super) struct Inbox(Mutex<State>);

#[derive(Default)]
struct State {
    tools: bool,
    prompts: bool,
    resources: bool,
    updated: VecDeque<Arc<str>>,
    visited: VecDeque<Arc<str>>,
    /// Who waits; the last one is told, since a message goes out on one stream only.
    readers: Vec<(u64, Waker)>,
    closed: bool,
}

impl Changed {
    /// As a notification; on a stream of `subscriptions/listen` it says which.
    pub(super) fn write(&self, subscription: Option<&Id>) -> Bytes {
        let (method, of) = match self {
            Self::Tools => ("notifications/tools/list_changed", None),
            Self::Prompts => ("notifications/prompts/list_changed", None),
            Self::Resources => ("notifications/resources/list_changed", None),
            Self::Resource(uri) => ("notifications/resources/updated", Some((br#"{"uri":"#.as_slice(), uri))),
            Self::Visited(page) => {
                ("notifications/elicitation/complete", Some((br#"{"elicitationId":"#.as_slice(), page)))
            }
        };
        let mut params = BytesMut::new();
        if let Some((key, text)) = of {
            params.put_slice(key);
            write::quote_into(&mut params, text);
        }
        if let Some(subscription) = subscription {
            params.put_slice(if params.is_empty() { b"{" } else { b"," });
            put_subscription(&mut params, subscription);
        }
        if params.is_empty() {
            return write::notification(method, None);
        }
        params.put_u8(b'}');
        write::notification(method, Some(&params))
    }
}

/// `"_meta":{…}` that names a subscription.
pub(super) fn put_subscription(out: &mut BytesMut, id: &Id) {
    out.put_slice(format!(r#""_meta":{{"{}":"#, meta::SUBSCRIPTION_ID).as_bytes());
    out.put_slice(id.as_json());
    out.put_u8(b'}');
}

impl Interest {
    /// Reads the filter of `subscriptions/listen`.
    pub(super) fn read(filter: &RawObject) -> Self {
        let uris =
            filter.get("resourceSubscriptions").and_then(|uris| serde_json::from_slice::<Vec<String>>(uris).ok());
        Self {
            tools: filter.flag("toolsListChanged") == Some(true),
            prompts: filter.flag("promptsListChanged") == Some(true),
            resources: filter.flag("resourcesListChanged") == Some(true),
            uris: uris.unwrap_or_default().into_iter().take(UPDATES).collect(),
        }
    }

    /// What is in both.
    pub(super) fn both(&self, other: &Self) -> Self {
        Self {
            tools: self.tools && other.tools,
            prompts: self.prompts && other.prompts,
            resources: self.resources && other.resources,
            uris: self.uris.intersection(&other.uris).cloned().collect(),
        }
    }

    pub(super) fn wants(&self, change: &Changed) -> bool {
        match change {
            Changed::Tools => self.tools,
            Changed::Prompts => self.prompts,
            Changed::Resources => self.resources,
            Changed::Resource(uri) => self.uris.contains(&**uri),
            Changed::Visited(_) => false,
        }
    }

    /// As the filter of `notifications/subscriptions/acknowledged`.
    pub(super) fn write(&self) -> Bytes {
        let mut object = serde_json::Map::new();
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                object.insert(name.to_owned(), true.into());
            }
        }
        if !self.uris.is_empty() {
            let mut uris: Vec<&String> = self.uris.iter().collect();
            uris.sort_unstable();
            object.insert("resourceSubscriptions".to_owned(), uris.into_iter().cloned().collect::<Vec<_>>().into());
        }
        Bytes::from(serde_json::Value::Object(object).to_string())
    }
}

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, change: &Changed) {
        let waker = {
            let mut state = self.state();
            match change {
                Changed::Tools => state.tools = true,
                Changed::Prompts => state.prompts = true,
                Changed::Resources => state.resources = true,
                Changed::Resource(uri) if state.updated.contains(uri) => {}
                Changed::Resource(uri) if state.updated.len() < UPDATES => state.updated.push_back(Arc::clone(uri)),
                Changed::Resource(_) => {
                    state.updated.clear();
                    state.resources = true;
                }
                // Who hears of so many pages at once listens to none; they are all still there when it comes back to its call.
                Changed::Visited(page) if state.visited.len() < UPDATES => state.visited.push_back(Arc::clone(page)),
                Changed::Visited(_) => {}
            }
            state.readers.pop()
        };
        if let Some((_, waker)) = waker {
            waker.wake();
        }
    }

    /// No more will come.
    pub(super) fn close(&self) {
        let readers = {
            let mut state = self.state();
            state.closed = true;
            std::mem::take(&mut state.readers)
        };
        readers.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// The next change; `None` after the end.
    pub(super) fn poll(&self, reader: u64, cx: &TaskContext<'_>) -> Poll<Option<Changed>> {
        let mut state = self.state();
        let next = if std::mem::take(&mut state.tools) {
            Some(Changed::Tools)
        } else if std::mem::take(&mut state.prompts) {
            Some(Changed::Prompts)
        } else if std::mem::take(&mut state.resources) {
            Some(Changed::Resources)
        } else {
            let visited = state.visited.pop_front().map(Changed::Visited);
            visited.or_else(|| state.updated.pop_front().map(Changed::Resource))
        };
        if next.is_some() || state.closed {
            return Poll::Ready(next);
        }
        state.readers.retain(|(other, _)| *other != reader);
        state.readers.push((reader, cx.waker().clone()));
        Poll::Pending
    }

    /// A reader that is gone must not be the one that is told.
    pub(super) fn leave(&self, reader: u64) {
        let waker = {
            let mut state = self.state();
            state.readers.retain(|(other, _)| *other != reader);
            let told = state.updated.is_empty() && state.visited.is_empty();
            let waiting = state.tools || state.prompts || state.resources || !told;
            if waiting { state.readers.pop() } else { None }
        };
        if let Some((_, waker)) = waker {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests;
