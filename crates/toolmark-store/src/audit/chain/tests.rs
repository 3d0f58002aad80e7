use std::collections::HashSet;

use uuid::Uuid;

use super::*;
use crate::audit::{AuditTool, Bodies, Outcome, ResultDigest, Timings};
use crate::time::Micros;

fn text(text: &str) -> Option<Arc<str>> {
    Some(text.into())
}

fn plain() -> AuditRecord {
    AuditRecord::new(Uuid::nil(), Micros::new(1), "create_issue".into(), Outcome::Ok)
}

fn digest(prefix: &str, digit: char) -> String {
    format!("{prefix}{}", digit.to_string().repeat(64))
}

/// The plain record with one field changed, for each field that there is.
fn variants() -> Vec<AuditRecord> {
    let base = plain();
    let tool = AuditTool {
        canonical: "a.b".into(),
        mark: digest("tm1:", '1').parse().expect("a mark"),
        definition: digest("sha256:", '2').parse().expect("a digest"),
    };
    let timings = |set: fn(&mut Timings)| {
        let mut timings = Timings::default();
        set(&mut timings);
        AuditRecord { timings, ..plain() }
    };
    vec![
        base.clone(),
        AuditRecord { id: Uuid::max(), ..base.clone() },
        AuditRecord { time: Micros::new(2), ..base.clone() },
        AuditRecord { called: "create_issu".into(), ..base.clone() },
        AuditRecord { caller: text("x"), ..base.clone() },
        AuditRecord { caller: text(""), ..base.clone() },
        AuditRecord { session: text("x"), ..base.clone() },
        AuditRecord { era: Some("x".into()), ..base.clone() },
        AuditRecord { transport: Some("x".into()), ..base.clone() },
        AuditRecord { tool: Some(tool.clone()), ..base.clone() },
        AuditRecord { tool: Some(AuditTool { canonical: "a.c".into(), ..tool.clone() }), ..base.clone() },
        AuditRecord {
            tool: Some(AuditTool { mark: digest("tm1:", '3').parse().expect("a mark"), ..tool.clone() }),
            ..base.clone()
        },
        AuditRecord {
            tool: Some(AuditTool { definition: digest("sha256:", '3').parse().expect("a digest"), ..tool }),
            ..base.clone()
        },
        AuditRecord { task: text("x"), ..base.clone() },
        AuditRecord { verdict: Some(Decision::Allow), ..base.clone() },
        AuditRecord { verdict: Some(Decision::Deny), ..base.clone() },
        AuditRecord { reasons: text("x"), ..base.clone() },
        AuditRecord { rules: text("x"), ..base.clone() },
        AuditRecord { policy: text("x"), ..base.clone() },
        AuditRecord { grant: text("x"), ..base.clone() },
        AuditRecord { judged: text("x"), ..base.clone() },
        AuditRecord { judged: text(""), ..base.clone() },
        AuditRecord { arguments: Some(digest("args1:", '4').parse().expect("a digest")), ..base.clone() },
        AuditRecord { arguments_size: Some(0), ..base.clone() },
        AuditRecord { result: Some(ResultDigest::Sha256([0; 32])), ..base.clone() },
        AuditRecord { result: Some(ResultDigest::Blake3([0; 32])), ..base.clone() },
        AuditRecord { result_size: Some(0), ..base.clone() },
        AuditRecord { outcome: Outcome::Denied, ..base.clone() },
        AuditRecord { code: text("x"), ..base.clone() },
        AuditRecord { trace: Some([0; 16]), ..base.clone() },
        AuditRecord { bodies: Some(Box::new(Bodies { arguments: text("{}"), result: None })), ..base.clone() },
        AuditRecord { bodies: Some(Box::new(Bodies { arguments: None, result: text("{}") })), ..base },
        timings(|timings| timings.identify = 1),
        timings(|timings| timings.validate = 1),
        timings(|timings| timings.analyze = 1),
        timings(|timings| timings.judge = 1),
        timings(|timings| timings.approve = 1),
        timings(|timings| timings.dispatch = 1),
        timings(|timings| timings.shape = 1),
        timings(|timings| timings.total = 1),
    ]
}

#[test]
fn every_field_of_a_record_counts_in_its_hash() {
    let hashes: HashSet<[u8; 32]> = variants().iter().map(|record| Head::default().link("node", record).hash).collect();
    assert_eq!(hashes.len(), variants().len());
}

#[test]
fn the_node_the_number_and_the_hash_before_count_too() {
    let record = plain();
    let first = Head::default();
    let hashes: HashSet<[u8; 32]> = [
        first.link("node", &record).hash,
        first.link("nod", &record).hash,
        Head { seq: 1, ..first }.link("node", &record).hash,
        Head { hash: [1; 32], ..first }.link("node", &record).hash,
    ]
    .into();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn text_that_moves_from_one_field_to_the_next_makes_another_hash() {
    let one = AuditRecord { caller: text("ab"), session: text("c"), ..plain() };
    let other = AuditRecord { caller: text("a"), session: text("bc"), ..plain() };
    assert_ne!(Head::default().link("n", &one).hash, Head::default().link("n", &other).hash);
}

/// A hash that changed would break every chain that exists.
#[test]
fn the_hash_of_a_known_record_stays_what_it_is() {
    let link = Head::default().link("node-a", &variants().swap_remove(9));
    assert_eq!(link.seq, 1);
    assert_eq!(hex(&link.hash), "4adf3f954280f734b342635ce862704be551442d37a78c7301d971e73489f446");
}
