//! Names that clients mix up, cut or refuse: `shared-name`, `name-after-sanitizing`, `name-after-shortening`, `name-refused`,
//! `too-many-tools`.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use toolmark_core::document::Place;
use toolmark_core::exposure::{Profile, ProfileName};
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::profile::{self, Refusal, profiles};
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};

/// How many names a message lists.
const SHOWN: usize = 6;

/// Tools of different packs with one raw name.
pub(crate) fn shared(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    for (name, owners) in group(subjects, |subject| subject.name().to_owned()) {
        if owners.len() < 2 {
            continue;
        }
        let mixed = owners.iter().any(|one| one.doing.reads()) && owners.iter().any(|one| one.doing.writes());
        let same_schema = owners.windows(2).all(|pair| matches!(pair, [one, other] if one.shape == other.shape));
        let same_action =
            owners.windows(2).all(|pair| matches!(pair, [one, other] if one.doing.action() == other.doing.action()));
        let (severity, difference) = match (mixed, same_schema && same_action, same_schema) {
            (true, ..) => (Severity::High, "; one reads and another writes"),
            (_, true, _) => (Severity::Low, "; they take the same arguments"),
            (.., true) => (Severity::Medium, "; they take the same arguments and do different things"),
            _ => (Severity::Medium, "; they take different arguments"),
        };
        let canonical = listed(owners.iter().map(|owner| owner.tool.canonical().as_str()), SHOWN);
        let pack = owners.last().and_then(|owner| owner.tool.pack()).unwrap_or("pack");
        findings.push(
            Finding::new(
                RuleId::SharedName,
                severity,
                format!("{} is the name of {} tools: {canonical}{difference}", quoted(&name), owners.len()),
            )
            .about(owners.iter().map(|owner| owner.tool))
            .helped_by(format!(
                "call them by their canonical names, or put a prefix before those of one pack:\n[packs.{pack}]\nprefix = \"{pack}\""
            ))
            .with("name", name)
            .with("same_schema", same_schema)
            .with("owners", owners.iter().map(|owner| owner.to_json()).collect::<Value>()),
        );
    }
}

/// How much a client has to change before two names are one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Characters outside of `[A-Za-z0-9_-]` become `_`.
    Characters,
    /// So do `-` and `.`.
    Separators,
    /// Capitals become small.
    Case,
}

impl Change {
    const ALL: [Self; 3] = [Self::Characters, Self::Separators, Self::Case];

    fn apply(self, name: &str) -> String {
        let kept = |character: char| {
            character.is_ascii_alphanumeric() || character == '_' || (character == '-' && self == Self::Characters)
        };
        let replaced: String = name.chars().map(|character| if kept(character) { character } else { '_' }).collect();
        if self == Self::Case { replaced.to_ascii_lowercase() } else { replaced }
    }

    const fn says(self) -> &'static str {
        match self {
            Self::Characters => "characters that clients refuse become `_`",
            Self::Separators => "`-` and `.` become `_`",
            Self::Case => "capitals and small letters count as one",
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Characters => "characters",
            Self::Separators => "separators",
            Self::Case => "case",
        }
    }
}

/// Tools with different names that sanitising makes equal.
pub(crate) fn after_sanitizing(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    for (_, owners) in group(subjects, |subject| Change::Case.apply(subject.name())) {
        let Some(change) = Change::ALL.into_iter().find(|change| collide(&owners, *change, false)) else { continue };
        let within = Change::ALL.into_iter().find(|change| collide(&owners, *change, true));
        let (change, within) = within.map_or((change, false), |within| (within, true));
        let severity = match (within, change) {
            (true, Change::Characters | Change::Separators) => Severity::High,
            (true, Change::Case) | (false, Change::Characters) => Severity::Medium,
            (false, _) => Severity::Low,
        };
        let became = change.apply(owners.first().map_or("", |owner| owner.name()));
        let scope = if within { "of one pack" } else { "of several packs" };
        findings.push(
            Finding::new(
                RuleId::NameAfterSanitizing,
                severity,
                format!(
                    "{} {scope} all become {} where {}",
                    listed(owners.iter().map(|owner| owner.tool.canonical().as_str()), SHOWN),
                    quoted(&became),
                    change.says(),
                ),
            )
            .about(owners.iter().map(|owner| owner.tool))
            .with("becomes", became)
            .with("change", change.as_str())
            .with("one_pack", within),
        );
    }
}

/// True when `change` makes two different names equal; with `one_pack`, two names of one pack.
fn collide(owners: &[&Subject<'_>], change: Change, one_pack: bool) -> bool {
    let mut seen: HashMap<(String, Option<&str>), &str> = HashMap::new();
    owners.iter().any(|owner| {
        let key = (change.apply(owner.name()), owner.tool.pack().filter(|_| one_pack));
        *seen.entry(key).or_insert(owner.name()) != owner.name()
    })
}

/// Tools with different names that cutting makes equal.
pub(crate) fn after_shortening(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    let shortest = profiles().iter().map(Profile::budget).min().unwrap_or(0);
    let long: Vec<&Subject<'_>> = subjects.iter().filter(|subject| subject.name().len() >= shortest).collect();
    // By owners, so that profiles which cut the same tools together share a finding.
    let mut cut: BTreeMap<Vec<&str>, (Vec<&Profile>, Vec<&Subject<'_>>)> = BTreeMap::new();
    for profile in profiles() {
        let budget = profile.budget();
        let mut groups: BTreeMap<String, Vec<&Subject<'_>>> = BTreeMap::new();
        for subject in long.iter().filter(|subject| subject.name().chars().count() >= budget) {
            groups.entry(profile::cut(profile, subject.name())).or_default().push(subject);
        }
        for owners in groups.into_values() {
            let different = owners.windows(2).any(|pair| matches!(pair, [one, other] if one.name() != other.name()));
            let cuts = owners.iter().any(|owner| owner.name().chars().count() > budget);
            if different && cuts {
                let names = owners.iter().map(|owner| owner.tool.canonical().as_str()).collect();
                cut.entry(names).or_insert_with(|| (Vec::new(), owners)).0.push(profile);
            }
        }
    }
    for (names, (profiles, owners)) in cut {
        let one_pack =
            owners.windows(2).any(|pair| matches!(pair, [one, other] if one.tool.pack() == other.tool.pack()));
        let clients = profiles.iter().map(|profile| format!("{} ({})", profile.name(), profile.budget()));
        findings.push(
            Finding::new(
                RuleId::NameAfterShortening,
                if one_pack { Severity::High } else { Severity::Medium },
                format!(
                    "{} are the same once cut for {}",
                    listed(names.iter().copied(), SHOWN),
                    clients.collect::<Vec<_>>().join(", ")
                ),
            )
            .about(owners.iter().map(|owner| owner.tool))
            .with("profiles", profiles.iter().map(|profile| profile.name().as_str()).collect::<Value>())
            .with("one_pack", one_pack),
        );
    }
}

/// A name that some clients do not take.
pub(crate) fn refused(subject: &Subject<'_>, findings: &mut Vec<Finding>) {
    let name = subject.name();
    let mut clients = Vec::new();
    let mut reasons = serde_json::Map::new();
    let mut illegal = None;
    for profile in profiles() {
        let reason = match profile::refusal(profile, name) {
            None => continue,
            Some(Refusal::Character(character)) => {
                illegal = illegal.or(Some(character));
                format!("does not take {}", quoted(&character.to_string()))
            }
            Some(Refusal::Length(longest)) => format!("takes {longest} characters"),
        };
        clients.push(profile.name().as_str());
        reasons.insert(profile.name().to_string(), reason.into());
    }
    if clients.is_empty() {
        return;
    }
    let length = name.chars().count();
    let what = match illegal {
        Some(character) => format!("holds {}", quoted(&character.to_string())),
        None => format!("is {length} characters long"),
    };
    let severity = if clients.contains(&ProfileName::Generic.as_str()) { Severity::High } else { Severity::Medium };
    let refuse = if clients.len() == 1 { "refuses" } else { "refuse" };
    findings.push(
        Finding::new(
            RuleId::NameRefused,
            severity,
            format!("the name {} {what}, which {} {refuse}", quoted(name), clients.join(", ")),
        )
        .about([subject.tool])
        .with("length", length)
        .with("profiles", reasons),
    );
}

/// More tools than some clients take, in one finding.
pub(crate) fn too_many(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    let over: Vec<(ProfileName, usize)> = profiles()
        .iter()
        .filter_map(|profile| profile.max_tools().map(|most| (profile.name(), most)))
        .filter(|(_, most)| subjects.len() > *most)
        .collect();
    if over.is_empty() {
        return;
    }
    let clients: Vec<String> = over.iter().map(|(name, most)| format!("{name} ({most})")).collect();
    let limits: serde_json::Map<String, Value> =
        over.iter().map(|(name, most)| (name.to_string(), (*most).into())).collect();
    findings.push(
        Finding::new(
            RuleId::TooManyTools,
            Severity::Info,
            format!("there are {} tools, more than these clients take: {}", subjects.len(), clients.join(", ")),
        )
        .at_all(files(subjects))
        .with("tools", subjects.len())
        .with("limits", limits),
    );
}

/// Where each file begins in which tools are defined, in load order.
fn files(subjects: &[Subject<'_>]) -> Vec<Place> {
    let mut seen = HashSet::new();
    let files = subjects.iter().map(|subject| subject.tool.place().file);
    files.filter(|file| seen.insert(file.clone())).map(|file| Place { file, line: 1, column: 1 }).collect()
}

/// Subjects by a key, in the order of the keys, each group in load order.
fn group<'s, 'c>(
    subjects: &'s [Subject<'c>],
    key: impl Fn(&Subject<'c>) -> String,
) -> BTreeMap<String, Vec<&'s Subject<'c>>> {
    let mut groups: BTreeMap<String, Vec<&'s Subject<'c>>> = BTreeMap::new();
    for subject in subjects {
        groups.entry(key(subject)).or_default().push(subject);
    }
    groups
}
