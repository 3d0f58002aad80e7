//! `annotations-missing` and `annotations-contradict`: what tools say about themselves, or do not.

use std::collections::BTreeMap;

use toolmark_core::behavior::Mutability;
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};
use crate::verbs;

/// How many names a message lists.
const SHOWN: usize = 5;

/// Hints, name and declared behavior of one tool that do not agree.
pub(crate) fn contradicting(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    // Where the operator has spoken, clients are told what the operator says.
    let open = subjects.iter().filter(|subject| subject.operator.is_none());
    findings.extend(open.filter_map(contradiction));
}

fn contradiction(subject: &Subject<'_>) -> Option<Finding> {
    let (read_only, destructive) = subject.hints;
    let mut found: Vec<(Severity, String)> = Vec::new();
    if let Some(declared) = subject.tool.behavior() {
        match (declared.mutability(), read_only, destructive) {
            (Mutability::Mutates, Some(true), _) => {
                found.push((Severity::High, format!("it declares `{declared}` and `readOnlyHint: true`")));
            }
            (Mutability::Pure, _, Some(true)) => {
                found.push((Severity::High, format!("it declares `{declared}` and `destructiveHint: true`")));
            }
            (Mutability::Pure, Some(false), _) => {
                found.push((Severity::Medium, format!("it declares `{declared}` and `readOnlyHint: false`")));
            }
            _ => {}
        }
    }
    if read_only == Some(true) && destructive == Some(true) {
        found.push((Severity::Medium, "it claims to only read and to be destructive".into()));
    }
    if let Some(verb) = subject.doing.verb().filter(|verb| verb.is_sure() && verb.mutability() == Mutability::Mutates) {
        let first = verbs::words(subject.name()).first().is_some_and(|word| word == verb.word());
        if read_only == Some(true) {
            let severity = if first || verb.destroys() { Severity::High } else { Severity::Medium };
            found.push((severity, format!("it claims to only read, and its name says `{}`", verb.word())));
        } else if destructive == Some(false) && verb.destroys() {
            found.push((
                Severity::Medium,
                format!("it claims not to be destructive, and its name says `{}`", verb.word()),
            ));
        }
    }
    let severity = found.iter().map(|(severity, _)| *severity).max()?;
    let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
    Some(
        Finding::new(
            RuleId::AnnotationsContradict,
            severity,
            format!("{} contradicts itself: {}", quoted(subject.tool.canonical().as_str()), texts.join("; ")),
        )
        .about([subject.tool])
        .with("readOnlyHint", read_only)
        .with("destructiveHint", destructive)
        .with("declared", subject.tool.behavior().map(|behavior| behavior.to_string()))
        .with("verb", subject.doing.verb().map(super::super::verbs::Verb::word))
        .suggesting(subject.suggestion()),
    )
}

/// Packs whose tools do not say whether they only read, in one finding each.
pub(crate) fn missing(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    let mut packs: BTreeMap<&str, (usize, Vec<&Subject<'_>>)> = BTreeMap::new();
    for subject in subjects {
        let (all, silent) = packs.entry(subject.tool.pack().unwrap_or_default()).or_default();
        *all += 1;
        if !subject.annotated {
            silent.push(subject);
        }
    }
    for (pack, (all, silent)) in packs {
        if silent.is_empty() {
            continue;
        }
        let severity = if silent.len() == all { Severity::Low } else { Severity::Info };
        let whose = if pack.is_empty() { "tools without a pack".into() } else { format!("tools of {}", quoted(pack)) };
        findings.push(
            Finding::new(
                RuleId::AnnotationsMissing,
                severity,
                format!(
                    "{} of {all} {whose} do not say whether they only read: {}",
                    silent.len(),
                    listed(silent.iter().map(|one| one.name()), SHOWN),
                ),
            )
            .about(silent.iter().map(|one| one.tool))
            .key(pack)
            .with("pack", pack)
            .with("tools", all)
            .with("silent", silent.len()),
        );
    }
}
