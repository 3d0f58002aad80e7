//! Decisions that depend on nothing but who calls which tool for which task, kept: the second such call costs a lookup.
//!
//! A cache belongs to one policy in one version, and what it holds is bounded.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Arc, PoisonError, RwLock};

use hashbrown::HashTable;
use toolmark_core::behavior::{Agreement, Behavior, BehaviorSource, Mutability};

use super::evaluate::Outcome;
use crate::request::{Caller, Request};
use crate::tools::ToolAt;

/// Everything that a kept decision may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<'a> {
    pub(super) caller: Caller<'a>,
    pub(super) task: Option<&'a str>,
    pub(super) tool: ToolAt,
    pub(super) behavior: Option<Behavior>,
    pub(super) mutability: Option<Mutability>,
    pub(super) source: Option<BehaviorSource>,
    pub(super) agreement: Agreement,
}

/// Decisions, spread over shards so that readers seldom meet a writer.
pub(super) struct Cache {
    hasher: RandomState,
    shards: Box<[RwLock<HashTable<Entry>>]>,
}

struct Entry {
    caller: Box<str>,
    agent: Option<Box<str>>,
    session: Option<Box<str>>,
    task: Option<Box<str>>,
    tool: ToolAt,
    behavior: Option<Behavior>,
    mutability: Option<Mutability>,
    source: Option<BehaviorSource>,
    agreement: Agreement,
    kept: Kept,
}

/// A decision. The usual one, that nothing is said, is copied without touching a shared counter.
#[derive(Clone)]
pub(super) enum Kept {
    /// Nothing is said; whether some policy permits.
    Silent { permitted: bool },
    /// Something is said.
    Said(Arc<Outcome>),
}

const SHARDS: usize = 16;
/// A shard that is full starts again: the calls that matter are back after one evaluation each.
const MOST_IN_A_SHARD: usize = 4_096;
/// Names longer than this together are not kept, so that what is kept has a limit in bytes too.
const LONGEST_NAMES: usize = 1_024;

impl<'a> Key<'a> {
    /// What a request says, without the names that no policy looks at.
    pub(super) fn of(request: &Request<'a>, tool: ToolAt, agent: bool, session: bool, task: bool) -> Self {
        let behavior = request.behavior.behavior_of(request.arguments);
        Self {
            caller: request.caller.only(agent, session),
            task: request.task.filter(|_| task),
            tool,
            behavior,
            mutability: behavior.map(|behavior| behavior.mutability()).or(request.behavior.mutability()),
            source: request.behavior.source(),
            agreement: request.behavior.agreement(),
        }
    }

    /// Only what usually differs is hashed; behaviors that differ for one caller and tool are few, and compared.
    fn hash(&self, hasher: &RandomState) -> u64 {
        let mut state = hasher.build_hasher();
        state.write(self.caller.name().as_bytes());
        for name in [self.caller.agent(), self.caller.session(), self.task] {
            state.write_u8(0xff);
            state.write(name.unwrap_or_default().as_bytes());
        }
        state.write_u32(self.tool.0);
        state.finish()
    }

    fn names(&self) -> usize {
        let others = [self.caller.agent(), self.caller.session(), self.task];
        self.caller.name().len() + others.into_iter().flatten().map(str::len).sum::<usize>()
    }
}

impl Entry {
    fn of(key: &Key<'_>, kept: Kept) -> Self {
        Self {
            caller: key.caller.name().into(),
            agent: key.caller.agent().map(Into::into),
            session: key.caller.session().map(Into::into),
            task: key.task.map(Into::into),
            tool: key.tool,
            behavior: key.behavior,
            mutability: key.mutability,
            source: key.source,
            agreement: key.agreement,
            kept,
        }
    }

    /// The key again. Comparing it compares everything: a hash alone decides nothing.
    fn key(&self) -> Key<'_> {
        let caller = Caller::new(&self.caller);
        let caller = self.agent.as_deref().map_or(caller, |agent| caller.through_agent(agent));
        let caller = self.session.as_deref().map_or(caller, |session| caller.in_session(session));
        Key {
            caller,
            task: self.task.as_deref(),
            tool: self.tool,
            behavior: self.behavior,
            mutability: self.mutability,
            source: self.source,
            agreement: self.agreement,
        }
    }
}

impl Cache {
    pub(super) fn new() -> Self {
        Self { hasher: RandomState::new(), shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }

    /// The decision, if it was made before; else the one that `decide` makes, which is kept.
    pub(super) fn get_or(&self, key: &Key<'_>, decide: impl FnOnce() -> Kept) -> Kept {
        let hash = key.hash(&self.hasher);
        // The table uses the high bits of a hash; the shard is chosen by low ones.
        let Some(shard) = self.shards.get(hash as usize % SHARDS) else { return decide() };
        let read = shard.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = read.find(hash, |entry| entry.key() == *key) {
            return entry.kept.clone();
        }
        drop(read);
        let kept = decide();
        if key.names() <= LONGEST_NAMES {
            let mut table = shard.write().unwrap_or_else(PoisonError::into_inner);
            if table.len() >= MOST_IN_A_SHARD {
                table.clear();
            }
            if table.find(hash, |entry| entry.key() == *key).is_none() {
                table.insert_unique(hash, Entry::of(key, kept.clone()), |entry| entry.key().hash(&self.hasher));
            }
        }
        kept
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().unwrap().len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key<'a>(caller: &'a str, task: Option<&'a str>, tool: u32) -> Key<'a> {
        Key {
            caller: Caller::new(caller),
            task,
            tool: ToolAt(tool),
            behavior: None,
            mutability: None,
            source: None,
            agreement: Agreement::Unknown,
        }
    }

    fn ask(cache: &Cache, key: &Key<'_>) -> bool {
        let mut decided = false;
        let _ = cache.get_or(key, || {
            decided = true;
            Kept::Silent { permitted: true }
        });
        decided
    }

    #[test]
    fn a_decision_is_made_once_for_each_caller_tool_and_task() {
        let cache = Cache::new();
        let behavior = Some("PURE|READ|DATA".parse().unwrap());
        let keys = [
            key("alice", None, 1),
            key("alice", None, 2),
            key("bob", None, 1),
            key("alice", Some("release"), 1),
            Key { behavior, ..key("alice", None, 1) },
            Key { caller: Caller::new("alice").in_session("7"), ..key("alice", None, 1) },
            Key { caller: Caller::new("alice").through_agent("7"), ..key("alice", None, 1) },
            Key { agreement: Agreement::Disputed, ..key("alice", None, 1) },
        ];
        for key in &keys {
            assert!(ask(&cache, key), "{key:?}");
        }
        for key in &keys {
            assert!(!ask(&cache, key), "{key:?}");
        }
        assert_eq!(cache.len(), keys.len());
    }

    #[test]
    fn what_is_kept_has_a_limit() {
        let cache = Cache::new();
        for at in 0..(SHARDS * MOST_IN_A_SHARD * 2) {
            ask(&cache, &key("alice", None, u32::try_from(at).unwrap()));
        }
        assert!(cache.len() <= SHARDS * MOST_IN_A_SHARD);
        let long = "x".repeat(LONGEST_NAMES + 1);
        let cache = Cache::new();
        assert!(ask(&cache, &key(&long, None, 1)) && ask(&cache, &key(&long, None, 1)));
        assert_eq!(cache.len(), 0);
    }
}
