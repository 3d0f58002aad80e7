//! `same-schema`: tools of one pack that take exactly the same arguments. Graded by what they do.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use toolmark_core::digest::SchemaDigest;
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};

/// How many names of each kind a message lists, and how many parameters the data.
const SHOWN: usize = 3;
const MOST: usize = 100;

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
    Finding::new(
        RuleId::SameSchema,
        severity,
        format!("{} tools{of_pack} take {taken}: {difference}{evidence}", group.len()),
    )
    .about(group.iter().map(|one| one.tool))
    .key(shape.short())
    .with("schema", shape.to_string())
    .with("parameters", parameters)
    .with("group", group.iter().map(|one| one.to_json()).collect::<Value>())
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
