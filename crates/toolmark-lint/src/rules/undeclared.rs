//! `behavior-undeclared`: tools that change something, by the looks of them, while nobody says so. One finding a pack.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolmark_core::behavior::{Agreement, Annotations, Mutability};
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, quoted};

/// How many names a message lists.
const SHOWN: usize = 4;

pub(crate) fn compare(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    let mut packs: BTreeMap<&str, (usize, Vec<&Subject<'_>>)> = BTreeMap::new();
    for subject in subjects {
        let (all, silent) = packs.entry(subject.tool.pack().unwrap_or_default()).or_default();
        *all += 1;
        if changes_in_silence(subject) {
            silent.push(subject);
        }
    }
    for (pack, (all, mut silent)) in packs {
        if !silent.is_empty() {
            silent.sort_by_key(|one| (Reverse(one.doing.destroys()), one.tool.canonical()));
            findings.push(finding(pack, all, &silent));
        }
    }
}

fn changes_in_silence(subject: &Subject<'_>) -> bool {
    let silent = matches!(subject.known.agreement(), Agreement::Inferred | Agreement::Unknown);
    let mutates = subject.known.mutability() == Some(Mutability::Mutates);
    silent && mutates && subject.annotations == Annotations::default()
}

fn finding(pack: &str, all: usize, silent: &[&Subject<'_>]) -> Finding {
    let destroys = silent.iter().any(|one| one.doing.destroys());
    let severity = if destroys { Severity::Medium } else { Severity::Low };
    let whose = if pack.is_empty() { "tools without a pack".into() } else { format!("tools of {}", quoted(pack)) };
    let first = silent.iter().take(SHOWN).map(|one| format!("{} {}", quoted(one.name()), one.doing.says()));
    let mut names = first.collect::<Vec<_>>().join(", ");
    if silent.len() > SHOWN {
        names.push_str(&format!(" (+{} more)", silent.len() - SHOWN));
    }
    let change = if silent.len() == 1 { "changes" } else { "change" };
    Finding::new(
        RuleId::BehaviorUndeclared,
        severity,
        format!(
            "{} of {all} {whose} {change} something, by the looks of it, and nobody declares it: {names}",
            silent.len()
        ),
    )
    .about(silent.iter().map(|one| one.tool))
    .key(pack)
    .with("pack", pack)
    .with("tools", all)
    .with(
        "undeclared",
        silent
            .iter()
            .map(
                |one| json!({"tool": one.tool.canonical(), "does": one.doing.says(), "behavior": one.known.behavior()}),
            )
            .collect::<Value>(),
    )
    .suggesting(silent.iter().filter_map(|one| one.suggestion()))
}
