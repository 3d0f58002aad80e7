//! Was the audit tampered with? Follows the chain of each node from its checkpoint to its head, and says where it breaks.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use toolmark_core::explain::{Code, Explain, facts};

use super::chain::{AuditEntry, Chain, ChainRow, Head};
use crate::error::StoreError;
use crate::store::Store;

/// How many rows are fetched at once.
const PAGE: u32 = 1_024;
/// How many breaks are listed; all are counted.
const LISTED: usize = 100;

/// What was found in all chains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Verification {
    /// Each node's chain.
    pub chains: Vec<ChainReport>,
    /// Where chains break, the first hundred.
    pub breaks: Vec<Break>,
    /// How many breaks there are.
    pub broken: u64,
}

/// One chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// The node.
    pub node: Arc<str>,
    /// Where the chain begins: the last row that retention removed.
    pub checkpoint: Head,
    /// Where it ends. Note it elsewhere: a chain that was written anew has another.
    pub head: Head,
    /// How many rows were followed.
    pub rows: u64,
    /// How many rows say that they kept bodies which are gone: retention removes them, and so may anybody else.
    pub bodies_gone: u64,
}

/// One place where a chain breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The node.
    pub node: Arc<str>,
    /// The row.
    pub seq: u64,
    /// What is wrong with it.
    pub kind: BreakKind,
}

/// What can be wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakKind {
    /// Rows are gone from here up to this one.
    Missing {
        /// The last row that is gone.
        until: u64,
    },
    /// The row does not follow the one before it.
    NotLinked,
    /// The row says something else than when it was written.
    Changed,
    /// Arguments or result are not those that were kept.
    BodyChanged,
    /// The row cannot be read at all.
    Unreadable(String),
    /// There are rows behind the head.
    BehindHead,
    /// The last row is not the one that the head names.
    OtherHead,
    /// The chain does not hold a head that was noted elsewhere.
    NotTheOneNoted,
}

impl Store {
    /// Follows the chain of every node. `noted` are heads that somebody kept elsewhere: each must still be in its chain,
    /// unless retention removed it.
    ///
    /// # Errors
    /// [`StoreError`] when the store cannot be read. A broken chain is no error but a finding.
    pub async fn verify_audit(&self, noted: &[(String, Head)]) -> Result<Verification, StoreError> {
        let mut verification = Verification::default();
        let chains = self.backend().chains().await?;
        for (node, head) in noted.iter().filter(|(node, _)| !chains.iter().any(|chain| *chain.node == **node)) {
            verification.found(&Arc::from(node.as_str()), head.seq, BreakKind::NotTheOneNoted);
        }
        for chain in chains {
            let heads: Vec<Head> =
                noted.iter().filter(|(node, _)| **node == *chain.node).map(|(_, head)| *head).collect();
            self.follow(chain, &heads, &mut verification).await?;
        }
        Ok(verification)
    }

    async fn follow(&self, chain: Chain, noted: &[Head], found: &mut Verification) -> Result<(), StoreError> {
        let mut report = ChainReport {
            node: Arc::clone(&chain.node),
            checkpoint: chain.checkpoint,
            head: chain.head,
            rows: 0,
            bodies_gone: 0,
        };
        let mut at = chain.checkpoint;
        for head in noted.iter().filter(|head| head.seq == at.seq && head.hash != at.hash) {
            found.found(&chain.node, head.seq, BreakKind::NotTheOneNoted);
        }
        loop {
            let page = self.backend().chain_page(&chain.node, at.seq, PAGE).await?;
            let last = page.len() < PAGE as usize;
            for row in page {
                if row.seq > chain.head.seq {
                    continue;
                }
                if row.seq != at.seq + 1 {
                    at = self.gap(&chain.node, at, row.seq, found).await?;
                }
                at = report.row(at, row, found);
                for head in noted.iter().filter(|head| head.seq == at.seq && head.hash != at.hash) {
                    found.found(&chain.node, head.seq, BreakKind::NotTheOneNoted);
                }
            }
            if last {
                break;
            }
        }
        if at.seq < chain.head.seq {
            self.gap(&chain.node, at, chain.head.seq + 1, found).await?;
        } else if at.hash != UNKNOWN && at != chain.head {
            found.found(&chain.node, chain.head.seq, BreakKind::OtherHead);
        }
        self.tail(&chain, found).await?;
        for head in noted.iter().filter(|head| head.seq > chain.head.seq) {
            found.found(&chain.node, head.seq, BreakKind::NotTheOneNoted);
        }
        found.chains.push(report);
        Ok(())
    }

    /// Rows between two are gone. If retention removed them meanwhile, the checkpoint says so.
    async fn gap(&self, node: &Arc<str>, at: Head, next: u64, found: &mut Verification) -> Result<Head, StoreError> {
        let chains = self.backend().chains().await?;
        let checkpoint = chains.into_iter().find(|chain| chain.node == *node).map(|chain| chain.checkpoint);
        if let Some(checkpoint) = checkpoint.filter(|checkpoint| checkpoint.seq + 1 >= next && checkpoint.seq > at.seq)
        {
            let hash = if checkpoint.seq + 1 == next { checkpoint.hash } else { UNKNOWN };
            return Ok(Head { seq: next - 1, hash });
        }
        found.found(node, at.seq + 1, BreakKind::Missing { until: next - 1 });
        // The hash before the next row is not known; what the row itself says of it is checked against nothing.
        Ok(Head { seq: next - 1, hash: UNKNOWN })
    }

    /// Rows behind the head that the head does not move to were put there by somebody else.
    async fn tail(&self, chain: &Chain, found: &mut Verification) -> Result<(), StoreError> {
        let behind = self.backend().chain_page(&chain.node, chain.head.seq, 1).await?;
        let Some(row) = behind.first() else { return Ok(()) };
        let chains = self.backend().chains().await?;
        let moved = chains.iter().any(|now| now.node == chain.node && now.head.seq >= row.seq);
        if !moved {
            found.found(&chain.node, row.seq, BreakKind::BehindHead);
        }
        Ok(())
    }
}

/// No SHA-256 is all ones, as far as anybody will ever see.
const UNKNOWN: [u8; 32] = [0xff; 32];

impl ChainReport {
    /// Checks one row behind the last one, and returns where the chain stands now.
    fn row(&mut self, at: Head, row: ChainRow, found: &mut Verification) -> Head {
        self.rows += 1;
        let entry = match row.entry {
            Ok(entry) => entry,
            Err(error) => {
                found.found(&self.node, row.seq, BreakKind::Unreadable(error));
                return Head { seq: row.seq, hash: UNKNOWN };
            }
        };
        let link = &entry.link;
        if at.hash != UNKNOWN && link.prev != at.hash {
            found.found(&self.node, row.seq, BreakKind::NotLinked);
        }
        let before = Head { seq: row.seq - 1, hash: link.prev };
        let again = before.link_with(&self.node, &entry.record, link.arguments_body, link.result_body);
        if again.hash != link.hash {
            found.found(&self.node, row.seq, BreakKind::Changed);
        }
        self.bodies(&entry, found);
        Head { seq: row.seq, hash: link.hash }
    }

    fn bodies(&mut self, entry: &AuditEntry, found: &mut Verification) {
        let bodies = entry.record.bodies.as_deref();
        let kept = [
            (entry.link.arguments_body, bodies.and_then(|bodies| bodies.arguments.as_ref())),
            (entry.link.result_body, bodies.and_then(|bodies| bodies.result.as_ref())),
        ];
        let changed = kept.iter().any(|(digest, text)| {
            text.is_some_and(|text| *digest != Some(<[u8; 32]>::from(Sha256::digest(text.as_bytes()))))
        });
        if changed {
            found.found(&self.node, entry.link.seq, BreakKind::BodyChanged);
        }
        self.bodies_gone += u64::from(kept.iter().any(|(digest, text)| digest.is_some() && text.is_none()));
    }
}

impl Verification {
    /// True when no chain breaks anywhere.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.broken == 0
    }

    /// How many rows were followed.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.chains.iter().map(|chain| chain.rows).sum()
    }

    fn found(&mut self, node: &Arc<str>, seq: u64, kind: BreakKind) {
        self.broken += 1;
        if self.breaks.len() < LISTED {
            self.breaks.push(Break { node: Arc::clone(node), seq, kind });
        }
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "row {} of `{}` ", self.seq, self.node)?;
        match &self.kind {
            BreakKind::Missing { until } if *until == self.seq => f.write_str("is missing"),
            BreakKind::Missing { until } => write!(f, "and all up to {until} are missing"),
            BreakKind::NotLinked => f.write_str("does not follow the one before it"),
            BreakKind::Changed => f.write_str("was changed"),
            BreakKind::BodyChanged => f.write_str("has other arguments or another result than when it was written"),
            BreakKind::Unreadable(error) => write!(f, "cannot be read: {error}"),
            BreakKind::BehindHead => f.write_str("stands behind the end of the chain"),
            BreakKind::OtherHead => f.write_str("is not the end that was written down"),
            BreakKind::NotTheOneNoted => f.write_str("is not the one that was noted"),
        }
    }
}

impl Explain for Break {
    fn code(&self) -> Code {
        Code::new("audit-chain-broken")
    }

    fn why(&self) -> String {
        "each row holds the hash of the one before it; somebody changed, added or removed rows after they were written"
            .into()
    }

    fn fix(&self) -> String {
        "keep the file as it is, compare it with a backup or an export, and find out who may write it".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("node", (*self.node).into()), ("seq", self.seq.into())])
    }
}
