//! Who writes which chain, and what becomes of calls that were under way when their process ended.
//!
//! A chain belongs to one process at a time. Whoever takes it over says of each call that was intended and of which nothing more was
//! written: it was interrupted. So every intent has exactly one record of what became of it, even if that is not known.

use std::sync::Arc;
use std::time::Duration;

use toolmark_core::explain::Code;

use super::record::{AuditRecord, Outcome};
use crate::backend::{Claim, Held};
use crate::error::{Fault, StoreError};
use crate::location::Location;
use crate::store::Store;

/// How many processes may write one store under one name.
const MOST: u32 = 1_000;

/// How soon a name is tried again of which it is not clear whether its process lives.
const PAUSE: Duration = Duration::from_millis(250);

/// What is said of a call that was under way when its process ended.
const INTERRUPTED: Code = Code::new("call-interrupted");

/// A chain that this process has for itself, until this is dropped.
pub struct NodeClaim {
    node: Arc<str>,
    _held: Held,
}

impl NodeClaim {
    /// The name of the node.
    #[must_use]
    pub fn node(&self) -> &Arc<str> {
        &self.node
    }
}

impl Store {
    /// Every node that ever wrote records, with how many it wrote.
    ///
    /// # Errors
    /// [`StoreError`] when they cannot be read.
    pub async fn nodes(&self) -> Result<Vec<(Arc<str>, u64)>, StoreError> {
        Ok(self.backend().chains().await?.into_iter().map(|chain| (chain.node, chain.head.seq)).collect())
    }

    /// Takes the chain of a node for this process: that of `name`, or, while other processes have that, of `name-2`, `name-3` …
    ///
    /// A name whose process may have been killed, or may be about to come back, is waited for until that is clear.
    ///
    /// # Errors
    /// [`StoreError`] when that cannot be found out.
    pub async fn claim_node(&self, name: &str) -> Result<NodeClaim, StoreError> {
        let mut spare: Option<(u32, NodeClaim)> = None;
        loop {
            let mut unclear = false;
            for number in 1..=MOST {
                // Kept while it is not clear whether one before it is free.
                if spare.as_ref().is_some_and(|(kept, _)| *kept == number) {
                    break;
                }
                let node = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
                match self.backend().claim(&node).await? {
                    Claim::Ours(held) => {
                        spare = Some((number, NodeClaim { node: node.into(), _held: held }));
                        break;
                    }
                    Claim::Others => {}
                    Claim::Unclear => unclear = true,
                }
            }
            if unclear {
                tokio::time::sleep(PAUSE).await;
                continue;
            }
            let place = self.path().map_or(Location::Memory, Location::from);
            let full = || StoreError::new(&place, Fault::Busy, "a thousand processes write to it already");
            return spare.map(|(_, claim)| claim).ok_or_else(full);
        }
    }

    /// Writes what became of calls that were under way when their process ended: of this node, and of nodes that no process has.
    /// Returns how many were interrupted.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read or written.
    pub async fn recover_audit(&self, claim: &NodeClaim) -> Result<u64, StoreError> {
        let mut count = self.interrupt(&claim.node).await?;
        let mut left = Vec::new();
        for chain in self.backend().chains().await? {
            if chain.node != claim.node && !self.backend().open_intents(&chain.node).await?.is_empty() {
                left.push(chain.node);
            }
        }
        while !left.is_empty() {
            let mut unclear = Vec::new();
            for node in left {
                match self.backend().claim(&node).await? {
                    // Held until its rows are written, so that nobody else writes them too.
                    Claim::Ours(_held) => count += self.interrupt(&node).await?,
                    Claim::Others => {}
                    Claim::Unclear => unclear.push(node),
                }
            }
            if !unclear.is_empty() {
                tokio::time::sleep(PAUSE).await;
            }
            left = unclear;
        }
        Ok(count)
    }

    async fn interrupt(&self, node: &str) -> Result<u64, StoreError> {
        let now = self.now();
        let intents = self.backend().open_intents(node).await?;
        let interrupted: Vec<AuditRecord> = intents
            .into_iter()
            .map(|intent| AuditRecord {
                time: now,
                outcome: Outcome::Interrupted,
                code: Some(INTERRUPTED.as_str().into()),
                ..intent.record
            })
            .collect();
        if !interrupted.is_empty() {
            let records: Vec<&AuditRecord> = interrupted.iter().collect();
            self.backend().append(node, &records, true).await?;
        }
        Ok(interrupted.len() as u64)
    }
}
