//! `behavior-not-separated`: tools that share their arguments and their behavior, so that neither validation nor the gate can tell
//! a call of one from a call of the other. One finding a pack and degree.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolmark_core::behavior::Behavior;
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::separation::Separation;
use crate::subject::{Subject, alike, listed, quoted, three};
use crate::suggestion::Suggestion;

/// How many sets, and how many names of each, a message lists; how many sets the data does.
const SETS: usize = 3;
const NAMES: usize = 3;
const MOST: usize = 200;

/// Tools of one pack with one schema and one first identity.
struct Set<'s, 'c> {
    tools: Vec<&'s Subject<'c>>,
    behavior: Behavior,
    separated: Separation,
}

pub(crate) fn compare(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    let mut packs: BTreeMap<(&str, Separation), Vec<Set<'_, '_>>> = BTreeMap::new();
    for set in sets(subjects) {
        let pack = set.tools.first().and_then(|one| one.tool.pack()).unwrap_or_default();
        packs.entry((pack, set.separated)).or_default().push(set);
    }
    for ((pack, separated), mut sets) in packs {
        sets.sort_by(|one, other| {
            let name = |set: &Set<'_, '_>| set.tools.first().map(|one| one.tool.canonical().clone());
            severity(other).cmp(&severity(one)).then_with(|| name(one).cmp(&name(other)))
        });
        findings.extend(finding(pack, separated, &sets));
    }
}

/// Sets of tools that share the first identity, split into those that nothing tells apart and those that the third does.
fn sets<'s, 'c>(subjects: &'s [Subject<'c>]) -> Vec<Set<'s, 'c>> {
    let mut sets = Vec::new();
    for alike in alike(subjects) {
        let Some((_, _, behavior)) = alike.first() else { continue };
        let before = sets.len();
        for tools in inseparable(&alike) {
            sets.push(Set::new(tools, *behavior, Separation::Nothing));
        }
        if sets.len() == before {
            sets.push(Set::new(alike.iter().map(|(_, one, _)| *one).collect(), *behavior, Separation::Third));
        }
    }
    sets
}

/// Tools that no identity tells apart. Whoever lacks a field cannot be told from anybody by that field.
fn inseparable<'s, 'c>(alike: &[(usize, &'s Subject<'c>, Behavior)]) -> Vec<Vec<&'s Subject<'c>>> {
    let all = |tools: &[(usize, &'s Subject<'c>, Behavior)]| tools.iter().map(|(_, one, _)| *one).collect::<Vec<_>>();
    if alike.iter().any(|(_, _, behavior)| behavior.content_type().is_none()) {
        return vec![all(alike)];
    }
    let mut by_content: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for one in alike {
        by_content.entry(one.2.content_type()).or_default().push(*one);
    }
    let mut found = Vec::new();
    for tools in by_content.into_values().filter(|tools| tools.len() > 1) {
        if tools.iter().any(|(_, _, behavior)| behavior.facets().is_none()) {
            found.push(all(&tools));
            continue;
        }
        let mut by_facets: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for one in tools {
            by_facets.entry(one.2.facets()).or_default().push(one.1);
        }
        found.extend(by_facets.into_values().filter(|tools| tools.len() > 1));
    }
    found
}

impl<'s, 'c> Set<'s, 'c> {
    fn new(mut tools: Vec<&'s Subject<'c>>, behavior: Behavior, separated: Separation) -> Self {
        tools.sort_by_key(|one| one.tool.canonical());
        Self { tools, behavior, separated }
    }

    /// What all of them share.
    fn first(&self) -> Behavior {
        three(&self.behavior).unwrap_or(self.behavior)
    }
}

/// The wrong one of two readers tells too much; the wrong one of two writers changes the wrong thing.
fn severity(set: &Set<'_, '_>) -> Severity {
    let destroys = set.tools.iter().any(|one| one.doing.destroys());
    let writes = set.tools.iter().any(|one| one.doing.writes());
    match set.separated {
        Separation::Nothing if destroys => Severity::Medium,
        Separation::Nothing if writes => Severity::Low,
        _ => Severity::Info,
    }
}

fn finding(pack: &str, separated: Separation, sets: &[Set<'_, '_>]) -> Option<Finding> {
    let severity = sets.iter().map(severity).max()?;
    let whose = if pack.is_empty() { "without a pack".into() } else { format!("of {}", quoted(pack)) };
    let outcome = match separated {
        Separation::Nothing => "so that only the name tells them apart",
        _ => "and only content type or target tells them apart",
    };
    let shown = sets
        .iter()
        .take(SETS)
        .map(|set| format!("{} ({})", listed(set.tools.iter().map(|one| one.name()), NAMES), set.first()));
    let mut shown = shown.collect::<Vec<_>>().join("; ");
    if sets.len() > SETS {
        shown.push_str(&format!(" (+{} more)", sets.len() - SETS));
    }
    let (noun, share) = if sets.len() == 1 { ("group", "shares") } else { ("groups", "share") };
    let data = |set: &Set<'_, '_>| {
        json!({
            "tools": set.tools.iter().map(|one| one.tool.canonical().as_str()).collect::<Vec<_>>(),
            "behavior": set.first(),
            "separated": set.separated,
        })
    };
    let message = format!("{} {noun} of tools {whose} {share} arguments and behavior, {outcome}: {shown}", sets.len());
    Some(
        Finding::new(RuleId::BehaviorNotSeparated, severity, message)
            .about(sets.iter().flat_map(|set| &set.tools).map(|one| one.tool))
            .key(format!("{pack} {}", separated.as_str()))
            .with("pack", pack)
            .with("separated", separated.as_str())
            .with("groups", sets.iter().take(MOST).map(data).collect::<Value>())
            .suggesting(sets.iter().flat_map(suggestions)),
    )
}

/// Declarations that say less than the classifier knows, completed, where that tells every tool of a set apart.
fn suggestions(set: &Set<'_, '_>) -> Vec<Suggestion> {
    let completed: Vec<(&Subject<'_>, Behavior)> =
        set.tools.iter().filter_map(|one| one.completed().map(|behavior| (*one, behavior))).collect();
    let mut identities: Vec<_> = completed.iter().filter_map(|(_, behavior)| behavior.identity_v3()).collect();
    identities.sort();
    identities.dedup();
    if set.separated != Separation::Nothing || identities.len() < set.tools.len() {
        return Vec::new();
    }
    completed.into_iter().map(|(one, behavior)| Suggestion::new(one.tool, behavior)).collect()
}
