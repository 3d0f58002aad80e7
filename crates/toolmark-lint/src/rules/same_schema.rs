//! `same-schema`: tools of one pack that take exactly the same arguments. Graded by what they do.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use toolmark_core::behavior::Behavior;
use toolmark_core::digest::SchemaDigest;
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::separation::Separation;
use crate::subject::{Subject, listed, quoted};

/// How many names of each kind a message lists, and how many parameters the data.
const SHOWN: usize = 3;
const MOST: usize = 100;

/// What is left to do when every behavior is declared.
const DECLARED: &str = "their behaviors are declared: let each task say what it expects, `expect = [\"PURE|*|*\"]`, so that the gate \
    compares; or give the dangerous one a parameter of its own, such as `confirm`";

pub(crate) fn compare(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    let mut groups: HashMap<(Option<&str>, SchemaDigest), Vec<&Subject<'_>>> = HashMap::new();
    for subject in subjects {
        groups.entry((subject.tool.pack(), subject.shape)).or_default().push(subject);
    }
    for ((_, shape), group) in groups {
        if group.len() > 1 {
            findings.push(finding(shape, &group));
        }
    }
}

/// What sharing a schema leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Risk {
    /// A call that should read may destroy.
    ReadOrDestroy,
    /// A call that should read may write.
    ReadOrWrite,
    /// A write may become another write.
    OtherWrite,
    /// The same kind of write on something else.
    SameWrite,
    /// Something else is read.
    OtherRead,
    /// Nobody says what some of them do.
    Unknown,
}

fn finding(shape: SchemaDigest, group: &[&Subject<'_>]) -> Finding {
    let readers: Vec<&str> = group.iter().filter(|one| one.doing.reads()).map(|one| one.name()).collect();
    let risk = risk(group);
    let parameterless = group.iter().any(|one| one.parameterless);
    let severity = match risk {
        Risk::ReadOrDestroy | Risk::ReadOrWrite if parameterless => Severity::Medium,
        Risk::ReadOrDestroy => Severity::Critical,
        Risk::ReadOrWrite => Severity::High,
        Risk::OtherWrite if parameterless => Severity::Low,
        Risk::OtherWrite => Severity::Medium,
        Risk::SameWrite | Risk::OtherRead | Risk::Unknown if parameterless => Severity::Info,
        Risk::SameWrite | Risk::OtherRead | Risk::Unknown => Severity::Low,
    };
    let declared = group.iter().all(|one| one.declared());
    let separated = separated(group);
    // Invariant: what a publisher claims does not lower a grade; that the operator looked at each of them does.
    let settled = separated == Separation::First && group.iter().all(|one| one.operator.is_some());
    let severity = if settled { milder(severity) } else { severity };
    let parameters = parameters(group);
    let taken = if parameterless {
        "no arguments".into()
    } else {
        format!("the same arguments ({})", parameters_shown(&parameters))
    };
    let pack = group.first().and_then(|one| one.tool.pack()).unwrap_or_default();
    let known: BTreeSet<&str> =
        group.iter().filter_map(|one| one.doing.evidence()).map(super::super::doing::Evidence::as_str).collect();
    let difference = match risk {
        Risk::ReadOrDestroy | Risk::ReadOrWrite | Risk::OtherWrite => {
            let mut parts = Vec::new();
            if !readers.is_empty() {
                parts.push(format!("{} read{}", listed(readers.iter().copied(), SHOWN), plural(readers.len())));
            }
            parts.extend(writers(group));
            parts.join(", ")
        }
        Risk::SameWrite => format!("{} write alike", listed(group.iter().map(|one| one.name()), SHOWN)),
        Risk::OtherRead => format!("{} read", listed(group.iter().map(|one| one.name()), SHOWN)),
        Risk::Unknown => listed(group.iter().map(|one| one.name()), SHOWN),
    };
    let evidence = if known.is_empty() {
        String::new()
    } else {
        format!(" (by {})", known.iter().copied().collect::<Vec<_>>().join(", "))
    };
    let of_pack = if pack.is_empty() { String::new() } else { format!(" of {}", quoted(pack)) };
    let finding = Finding::new(
        RuleId::SameSchema,
        severity,
        format!("{} tools{of_pack} take {taken}: {difference}{evidence}; {}", group.len(), says(separated)),
    )
    .about(group.iter().map(|one| one.tool))
    .key(shape.short())
    .with("schema", shape.to_string())
    .with("parameters", parameters)
    .with("separated", separated.as_str())
    .with("declared", declared)
    .with("group", group.iter().map(|one| one.to_json()).collect::<Value>());
    if declared {
        return finding.helped_by(DECLARED);
    }
    let open = group.iter().filter(|one| !one.declared() && matches!(risk, Risk::ReadOrDestroy | Risk::ReadOrWrite));
    finding.suggesting(open.filter_map(|one| one.suggestion()))
}

/// By which identity all tools of a group are told apart.
fn separated(group: &[&Subject<'_>]) -> Separation {
    let behaviors: Option<Vec<Behavior>> = group.iter().map(|one| one.known.behavior()).collect();
    let Some(behaviors) = behaviors else { return Separation::Unknown };
    let all = behaviors.len();
    let first = behaviors.iter().map(|one| (one.mutability(), one.action(), one.output_domain()));
    if first.collect::<BTreeSet<_>>().len() == all {
        return Separation::First;
    }
    let distinct = behaviors.iter().collect::<BTreeSet<_>>().len() == all;
    let contents = behaviors.iter().all(|one| one.content_type().is_some());
    if !distinct || !contents {
        return Separation::Nothing;
    }
    let facets: BTreeSet<_> = behaviors.iter().map(|one| one.facets().is_some()).collect();
    match (facets.contains(&true), facets.contains(&false)) {
        (true, false) => Separation::Third,
        (false, _) => Separation::Second,
        (true, true) => Separation::Nothing,
    }
}

const fn says(separated: Separation) -> &'static str {
    match separated {
        Separation::First => "behavior tells all of them apart",
        Separation::Second => "content types are needed to tell all of them apart",
        Separation::Third => "targets are needed to tell all of them apart",
        Separation::Nothing => "behavior does not tell all of them apart",
        Separation::Unknown => "too little is known of some for behavior to tell them apart",
    }
}

const fn milder(severity: Severity) -> Severity {
    match severity {
        Severity::Critical => Severity::High,
        Severity::High => Severity::Medium,
        Severity::Medium => Severity::Low,
        Severity::Low | Severity::Info => Severity::Info,
    }
}

fn risk(group: &[&Subject<'_>]) -> Risk {
    let any = |test: &dyn Fn(&Subject<'_>) -> bool| group.iter().any(|one| test(one));
    let (reads, writes) = (any(&|one| one.doing.reads()), any(&|one| one.doing.writes()));
    match (reads, writes) {
        (true, true) if any(&|one| one.doing.destroys()) => Risk::ReadOrDestroy,
        (true, true) => Risk::ReadOrWrite,
        (false, true) => {
            let done: BTreeSet<_> = group
                .iter()
                .filter(|one| one.doing.writes())
                .map(|one| (one.doing.action(), one.doing.verb().map(super::super::verbs::Verb::word)))
                .collect();
            if done.len() > 1 { Risk::OtherWrite } else { Risk::SameWrite }
        }
        (true, false) if group.iter().all(|one| one.doing.reads()) => Risk::OtherRead,
        _ => Risk::Unknown,
    }
}

/// The writers by what they do: "`delete_x` deletes".
fn writers(group: &[&Subject<'_>]) -> Vec<String> {
    let mut by_doing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in group.iter().filter(|one| one.doing.writes()) {
        by_doing.entry(one.doing.says()).or_default().push(one.name());
    }
    by_doing
        .into_iter()
        .map(|(says, names)| {
            let says = if names.len() > 1 { says.trim_end_matches('s') } else { says };
            format!("{} {says}", listed(names, SHOWN))
        })
        .collect()
}

const fn plural(count: usize) -> &'static str {
    if count == 1 { "s" } else { "" }
}

fn parameters(group: &[&Subject<'_>]) -> Vec<String> {
    let Some(first) = group.first() else { return Vec::new() };
    let reading = first.tool.definition().reading();
    let schema = reading.input_schema();
    let properties = schema.get("properties").and_then(|properties| properties.entries()).unwrap_or_default();
    properties.iter().take(MOST).map(|(name, _)| visible(name, 100)).collect()
}

fn parameters_shown(parameters: &[String]) -> String {
    listed(parameters.iter().map(String::as_str), 4)
}
