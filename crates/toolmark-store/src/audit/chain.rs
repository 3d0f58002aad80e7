//! How records are chained: each row's hash covers what the row says and the hash before it, so no row can be changed, moved,
//! added or taken out of the middle without all later hashes changing.
//!
//! The chain shows tampering to whoever kept an older head. Somebody who may write the file can also write a whole new chain;
//! against that, note a head elsewhere now and then, and give it to `verify`.

use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolmark_core::digest::ArgumentDigest;
use toolmark_core::verdict::Decision;

use super::digest::ResultDigest;
use super::record::{AuditRecord, hex};

const CONTENT: &[u8] = b"toolmark/audit-content/v1\0";
const LINK: &[u8] = b"toolmark/audit-link/v1\0";

/// Where a chain ends: the number of its last row, and that row's hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Rows are numbered from one; zero is the chain without rows.
    pub seq: u64,
    /// The hash of that row; all zero for the chain without rows.
    pub hash: [u8; 32],
}

/// What a record becomes in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its number.
    pub seq: u64,
    /// The hash of the row before.
    pub prev: [u8; 32],
    /// Its own hash.
    pub hash: [u8; 32],
    /// SHA-256 over the arguments, where they were kept.
    pub arguments_body: Option<[u8; 32]>,
    /// SHA-256 over the result, where it was kept.
    pub result_body: Option<[u8; 32]>,
}

/// A record as it stands in the audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The node that recorded it.
    pub node: Arc<str>,
    /// Its place in the chain.
    pub link: Link,
    /// The record. Its bodies are there only if they were asked for and still exist.
    pub record: AuditRecord,
}

/// A row of a chain, readable or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainRow {
    /// Its number.
    pub seq: u64,
    /// What it holds, bodies included, or why that cannot be read.
    pub entry: Result<AuditEntry, String>,
}

/// The chain of one node as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The node.
    pub node: Arc<str>,
    /// The last row that was removed when its time was over; the chain goes on from it.
    pub checkpoint: Head,
    /// Where it ends.
    pub head: Head,
}

impl Head {
    /// Chains a record behind this head.
    #[must_use]
    pub fn link(&self, node: &str, record: &AuditRecord) -> Link {
        let body = |text: Option<&Arc<str>>| text.map(|text| <[u8; 32]>::from(Sha256::digest(text.as_bytes())));
        let bodies = record.bodies.as_deref();
        let arguments_body = body(bodies.and_then(|bodies| bodies.arguments.as_ref()));
        let result_body = body(bodies.and_then(|bodies| bodies.result.as_ref()));
        self.link_with(node, record, arguments_body, result_body)
    }

    /// The same with the digests of bodies that may be gone by now.
    pub(super) fn link_with(
        &self,
        node: &str,
        record: &AuditRecord,
        arguments_body: Option<[u8; 32]>,
        result_body: Option<[u8; 32]>,
    ) -> Link {
        let seq = self.seq + 1;
        let content = content(record, arguments_body.as_ref(), result_body.as_ref());
        let hash = Sha256::new_with_prefix(LINK)
            .chain_update(length(node.len()))
            .chain_update(node)
            .chain_update(seq.to_be_bytes())
            .chain_update(self.hash)
            .chain_update(content)
            .finalize()
            .into();
        Link { seq, prev: self.hash, hash, arguments_body, result_body }
    }
}

impl Link {
    /// The head of a chain that ends here.
    #[must_use]
    pub fn head(&self) -> Head {
        Head { seq: self.seq, hash: self.hash }
    }
}

impl AuditEntry {
    /// The entry as one JSON object, as it is exported. Keys are stable.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut value = self.record.to_json();
        if let Value::Object(fields) = &mut value {
            fields.insert("node".into(), (*self.node).into());
            let chain = json!({
                "seq": self.link.seq,
                "prev": hex(&self.link.prev),
                "hash": hex(&self.link.hash),
                "arguments_body": self.link.arguments_body.map(|digest| hex(&digest)),
                "result_body": self.link.result_body.map(|digest| hex(&digest)),
            });
            fields.insert("chain".into(), chain);
            if let Some(bodies) = self.record.bodies.as_deref() {
                let bodies = json!({"arguments": bodies.arguments.as_deref(), "result": bodies.result.as_deref()});
                fields.insert("bodies".into(), bodies);
            }
        }
        value
    }
}

/// Everything a record says, each part with its length in front, so that no two records have one encoding.
fn content(record: &AuditRecord, arguments_body: Option<&[u8; 32]>, result_body: Option<&[u8; 32]>) -> [u8; 32] {
    let mut bytes = Vec::with_capacity(768);
    bytes.extend_from_slice(CONTENT);
    bytes.extend_from_slice(record.id.as_bytes());
    bytes.extend_from_slice(&record.time.get().to_be_bytes());
    part(&mut bytes, Some(record.called.as_bytes()));
    let tool = record.tool.as_ref();
    for text in [
        record.caller.as_deref(),
        record.session.as_deref(),
        record.era.as_deref(),
        record.transport.as_deref(),
        tool.map(|tool| &*tool.canonical),
        record.task.as_deref(),
        record.verdict.map(Decision::as_str),
        record.reasons.as_deref(),
        record.rules.as_deref(),
        record.policy.as_deref(),
        record.grant.as_deref(),
        Some(record.outcome.as_str()),
        record.code.as_deref(),
    ] {
        part(&mut bytes, text.map(str::as_bytes));
    }
    for digest in [
        tool.map(|tool| tool.mark.as_bytes()),
        tool.map(|tool| tool.definition.as_bytes()),
        record.arguments.as_ref().map(ArgumentDigest::as_bytes),
    ] {
        part(&mut bytes, digest.map(<[u8; 32]>::as_slice));
    }
    part(&mut bytes, record.result.map(ResultDigest::to_kept).as_deref());
    for digest in [arguments_body, result_body] {
        part(&mut bytes, digest.map(<[u8; 32]>::as_slice));
    }
    part(&mut bytes, record.trace.as_ref().map(<[u8; 16]>::as_slice));
    for size in [record.arguments_size, record.result_size] {
        part(&mut bytes, size.map(u64::to_be_bytes).as_ref().map(<[u8; 8]>::as_slice));
    }
    for stage in record.timings.stages().into_iter().chain([record.timings.total]) {
        bytes.extend_from_slice(&stage.to_be_bytes());
    }
    // Rows from before there was such a thing end here, and keep their hash.
    if let Some(judged) = record.judged.as_deref() {
        part(&mut bytes, Some(judged.as_bytes()));
    }
    Sha256::digest(&bytes).into()
}

fn part(bytes: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        None => bytes.push(0),
        Some(value) => {
            bytes.push(1);
            bytes.extend_from_slice(&length(value.len()));
            bytes.extend_from_slice(value);
        }
    }
}

fn length(length: usize) -> [u8; 8] {
    (length as u64).to_be_bytes()
}

#[cfg(test)]
mod tests;
