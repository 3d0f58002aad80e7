//! `toolmark audit verify`: was the record tampered with? Says where, for each node.

use serde_json::{Value, json};
use toolmark_core::text::visible;
use toolmark_store::audit::{Break, Head};

use super::{AuditError, AuditVerify, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub(super) async fn run(arguments: &AuditVerify) -> Result<Exit, Failure> {
    let noted: Vec<(String, Head)> = arguments.noted.iter().map(|text| head(text)).collect::<Result<_, _>>()?;
    let store = super::store(&arguments.place).await?;
    let found = store.verify_audit(&noted).await.map_err(failed)?;
    store.close().await.map_err(failed)?;
    if arguments.json {
        let chains: Vec<Value> = found
            .chains
            .iter()
            .map(|chain| {
                json!({
                    "node": &*chain.node, "rows": chain.rows, "bodies_gone": chain.bodies_gone,
                    "first": chain.checkpoint.seq + 1, "last": chain.head.seq, "head": shown(&chain.node, &chain.head),
                })
            })
            .collect();
        let breaks: Vec<Value> = found.breaks.iter().map(broken).collect();
        output::json(&json!({"whole": found.is_whole(), "broken": found.broken, "chains": chains, "breaks": breaks}))?;
    } else {
        for chain in &found.chains {
            let own = found.breaks.iter().filter(|one| one.node == chain.node).count();
            let state =
                if own == 0 { "whole".to_owned() } else { format!("BROKEN in {}", output::count(own, "place")) };
            let node = output::safe(&chain.node);
            output::line(format_args!(
                "{node}: {state}, {} from {} to {}",
                output::count(usize::try_from(chain.rows).unwrap_or(usize::MAX), "row"),
                chain.checkpoint.seq + 1,
                chain.head.seq
            ))?;
            if chain.bodies_gone > 0 {
                output::line(format_args!("  the bodies of {} rows are gone", chain.bodies_gone))?;
            }
            output::line(format_args!("  head {}", shown(&chain.node, &chain.head)))?;
        }
        for one in &found.breaks {
            output::line(format_args!("broken: {one}"))?;
        }
        let more = found.broken.saturating_sub(found.breaks.len() as u64);
        if more > 0 {
            output::line(format_args!("and {more} more"))?;
        }
        if found.chains.is_empty() {
            output::line("no records")?;
        }
    }
    Ok(if found.is_whole() { Exit::Success } else { Exit::Findings })
}

fn broken(one: &Break) -> Value {
    json!({"node": &*one.node, "row": one.seq, "what": one.to_string()})
}

/// `NODE:ROW:HASH`, to be noted elsewhere.
fn shown(node: &str, head: &Head) -> String {
    let hash: String = head.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}:{}:{hash}", output::safe(node), head.seq)
}

/// The other way round. Names of nodes may hold colons.
fn head(text: &str) -> Result<(String, Head), Failure> {
    let read = || {
        let (rest, hash) = text.rsplit_once(':')?;
        let (node, seq) = rest.rsplit_once(':')?;
        let bytes: Option<Vec<u8>> =
            (0..hash.len()).step_by(2).map(|at| u8::from_str_radix(hash.get(at..at + 2)?, 16).ok()).collect();
        Some((node.to_owned(), Head { seq: seq.parse().ok()?, hash: bytes?.try_into().ok()? }))
    };
    read().ok_or_else(|| Failure::refused(Exit::BadInput, &AuditError::NotAHead(visible(text, 120))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_as_it_is_printed() {
        let one = Head { seq: 7, hash: [0xab; 32] };
        assert_eq!(head(&shown("a:b", &one)).unwrap(), ("a:b".to_owned(), one));
        for text in ["", "a:1", "a:x:00", "a:1:zz", &format!("a:1:{}", "ä".repeat(32))] {
            assert!(head(text).is_err(), "{text}");
        }
    }
}
