//! The grants that hold, in memory: found by caller and mark without asking anybody.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use toolmark_core::approval::{Asked, Grant};
use toolmark_core::digest::Mark;

/// All grants, replaced whole when they change.
#[derive(Default)]
pub(super) struct Book(ArcSwap<ByMark>);

type ByMark = HashMap<Mark, HashMap<String, Vec<Arc<Grant>>>>;

impl Book {
    /// Takes up what holds now.
    pub(super) fn replace(&self, grants: Vec<Grant>) {
        let mut all = ByMark::new();
        for grant in grants {
            let of = all.entry(grant.mark).or_default().entry(grant.principal.clone()).or_default();
            of.push(Arc::new(grant));
        }
        self.0.store(Arc::new(all));
    }

    /// The grants that speak about a call, a no before a yes.
    pub(super) fn find(&self, asked: &Asked<'_>) -> Vec<Arc<Grant>> {
        let all = self.0.load();
        let Some(grants) = all.get(asked.mark).and_then(|of| of.get(asked.principal)) else { return Vec::new() };
        let mut found: Vec<Arc<Grant>> = grants.iter().filter(|grant| grant.covers(asked)).map(Arc::clone).collect();
        found.sort_by_key(|grant| grant.allows);
        found
    }
}

#[cfg(test)]
mod tests;
