//! The grants that hold, in memory: found by caller and mark without asking anybody.
//!
//! A person who approves one call at a time leaves a grant for each of its arguments. Those are found by their digest, so that a hundred
//! thousand of them cost a call no more than one; of the rest each is looked at.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use toolmark_core::approval::{Asked, Covers, Grant};
use toolmark_core::digest::{ArgumentDigest, Mark};

/// All grants, replaced whole when they change.
#[derive(Default)]
pub(super) struct Book(ArcSwap<ByMark>);

type ByMark = HashMap<Mark, HashMap<String, Said>>;

/// What was said about one tool to one caller.
#[derive(Default)]
struct Said {
    exact: HashMap<ArgumentDigest, Vec<Entry>>,
    others: Vec<Entry>,
}

/// A grant, and its place among all: of two that say the same, the first counts.
struct Entry {
    place: usize,
    grant: Arc<Grant>,
}

impl Book {
    /// Takes up what holds now.
    pub(super) fn replace(&self, grants: Vec<Grant>) {
        let mut all = ByMark::new();
        for (place, grant) in grants.into_iter().enumerate() {
            let said = all.entry(grant.mark).or_default().entry(grant.principal.clone()).or_default();
            let of = match &grant.covers {
                Covers::Arguments(digest) => said.exact.entry(*digest).or_default(),
                Covers::Pattern(_) | Covers::Effect(_) | Covers::Anything => &mut said.others,
            };
            of.push(Entry { place, grant: Arc::new(grant) });
        }
        self.0.store(Arc::new(all));
    }

    /// The grants that speak about a call, a no before a yes.
    pub(super) fn find(&self, asked: &Asked<'_>) -> Vec<Arc<Grant>> {
        let all = self.0.load();
        let Some(said) = all.get(asked.mark).and_then(|of| of.get(asked.principal)) else { return Vec::new() };
        let exact = said.exact.get(asked.digest).into_iter().flatten();
        let mut found: Vec<&Entry> = exact.chain(&said.others).filter(|entry| entry.grant.covers(asked)).collect();
        found.sort_by_key(|entry| (entry.grant.allows, entry.place));
        found.into_iter().map(|entry| Arc::clone(&entry.grant)).collect()
    }
}

#[cfg(test)]
mod tests;
