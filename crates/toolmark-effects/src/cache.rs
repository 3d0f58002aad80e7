//! Facts that were found before, by the tool and the digest of the arguments: a call that is repeated costs a lookup.
//!
//! What it holds is bounded in entries and in bytes. Reading is deterministic and bounded in steps, not in time, so what is kept
//! is always what would be found again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use toolmark_core::facts::{Facts, Reading};

use crate::analyzer::Analyzer;

/// How many parts the cache has, so that threads seldom meet.
const SHARDS: usize = 16;

/// How much a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheLimits {
    /// The most calls.
    pub entries: usize,
    /// The most bytes, counted with what the facts hold.
    pub bytes: usize,
}

/// Facts by tool and arguments. Shared between threads by reference.
#[derive(Debug)]
pub struct EffectCache {
    shards: Box<[Mutex<Shard>]>,
    empty: Arc<Facts>,
}

impl Default for CacheLimits {
    fn default() -> Self {
        Self { entries: 16 * 1024, bytes: 16 * 1024 * 1024 }
    }
}

/// What a call would do, looked up or found and kept.
#[must_use]
pub fn analyze_cached(cache: &EffectCache, analyzer: &Analyzer, arguments: &Value) -> Arc<Facts> {
    if analyzer.sees_nothing() {
        return Arc::clone(&cache.empty);
    }
    if analyzer.carries_nothing() {
        // Flags and choices are read in less time than it takes to recognize them.
        let facts = analyzer.analyze(arguments);
        return if facts.is_empty() { Arc::clone(&cache.empty) } else { Arc::new(facts) };
    }
    let Some(key) = analyzer.recognize(arguments) else { return Arc::new(analyzer.analyze(arguments)) };
    if let Some(facts) = cache.get(&key) {
        return facts;
    }
    // Nobody waits while arguments are read; two that read the same find the same.
    let facts = Arc::new(analyzer.analyze(arguments));
    cache.put(key, &facts);
    facts
}

type Key = [u8; 32];

impl EffectCache {
    /// An empty cache.
    #[must_use]
    pub fn new(limits: CacheLimits) -> Self {
        let each = CacheLimits { entries: limits.entries.div_ceil(SHARDS), bytes: limits.bytes / SHARDS };
        Self { shards: (0..SHARDS).map(|_| Mutex::new(Shard::new(each))).collect(), empty: Arc::default() }
    }

    /// How many calls are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).slots.len()).sum()
    }

    /// True when nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes are kept, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).bytes).sum()
    }

    fn get(&self, key: &Key) -> Option<Arc<Facts>> {
        self.shard(key)?.lock().unwrap_or_else(PoisonError::into_inner).get(key)
    }

    fn put(&self, key: Key, facts: &Arc<Facts>) {
        if let Some(shard) = self.shard(&key) {
            shard.lock().unwrap_or_else(PoisonError::into_inner).put(key, facts);
        }
    }

    fn shard(&self, key: &Key) -> Option<&Mutex<Shard>> {
        self.shards.get(usize::from(*key.first()?) % SHARDS)
    }
}

impl Default for EffectCache {
    fn default() -> Self {
        Self::new(CacheLimits::default())
    }
}

/// One part of the cache. A hand goes round over the slots and takes the first that was not used since it came by.
#[derive(Debug)]
struct Shard {
    limits: CacheLimits,
    places: HashMap<Key, usize>,
    slots: Vec<Slot>,
    hand: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Slot {
    key: Key,
    facts: Arc<Facts>,
    bytes: usize,
    used: bool,
}

impl Shard {
    fn new(limits: CacheLimits) -> Self {
        Self { limits, places: HashMap::new(), slots: Vec::new(), hand: 0, bytes: 0 }
    }

    fn get(&mut self, key: &Key) -> Option<Arc<Facts>> {
        let slot = self.slots.get_mut(*self.places.get(key)?)?;
        slot.used = true;
        Some(Arc::clone(&slot.facts))
    }

    fn put(&mut self, key: Key, facts: &Arc<Facts>) {
        let bytes = weight(facts);
        if bytes > self.limits.bytes || self.limits.entries == 0 || self.places.contains_key(&key) {
            return;
        }
        while self.slots.len() >= self.limits.entries || self.bytes + bytes > self.limits.bytes {
            self.evict();
        }
        self.bytes += bytes;
        self.places.insert(key, self.slots.len());
        self.slots.push(Slot { key, facts: Arc::clone(facts), bytes, used: false });
    }

    /// Takes one slot away. Called only while there is one.
    fn evict(&mut self) {
        loop {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            match self.slots.get_mut(self.hand) {
                Some(slot) if slot.used => {
                    slot.used = false;
                    self.hand += 1;
                }
                Some(_) => break,
                None => return,
            }
        }
        let gone = self.slots.swap_remove(self.hand);
        self.places.remove(&gone.key);
        self.bytes -= gone.bytes;
        if let Some(moved) = self.slots.get(self.hand) {
            self.places.insert(moved.key, self.hand);
        }
    }
}

/// About how many bytes an entry takes.
fn weight(facts: &Facts) -> usize {
    let parts = facts.parts().iter().map(|part| {
        let reading = match &part.reading {
            Reading::CannotTell { reason } => reason.len(),
            Reading::Understood(effects) => effects
                .iter()
                .map(|effect| {
                    let targets: usize = effect.targets.iter().map(|target| size_of::<String>() + target.len()).sum();
                    size_of_val(effect) + targets + effect.summary.len() + effect.dangers.len()
                })
                .sum(),
        };
        size_of_val(part) + part.pointer.len() + reading
    });
    size_of::<Slot>() + size_of::<(Key, usize)>() + size_of::<Facts>() + parts.sum::<usize>()
}

#[cfg(test)]
mod tests;
