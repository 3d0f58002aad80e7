//! `look-alike-name`: names that a person takes for another name, or for plain letters.

use std::collections::BTreeMap;

use toolmark_core::severity::Severity;
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::MixedScript as _;
use unicode_security::confusable_detection::skeleton;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};

pub(crate) fn compare(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    let mut alike: BTreeMap<String, Vec<&Subject<'_>>> = BTreeMap::new();
    for subject in subjects {
        alike.entry(looks(subject.name())).or_default().push(subject);
    }
    for group in alike.into_values() {
        let different = group.windows(2).any(|pair| matches!(pair, [one, other] if one.name() != other.name()));
        if different {
            findings.push(confusable(&group));
        } else {
            findings.extend(group.into_iter().filter_map(disguised));
        }
    }
}

/// What a name looks like, whatever letters it is written in.
fn looks(name: &str) -> String {
    let visible: String = name.chars().filter(|&c| !toolmark_core::text::is_hidden(c)).collect();
    let plain: String = visible.nfkc().collect();
    skeleton(&plain).collect()
}

/// Different names that look the same.
fn confusable(group: &[&Subject<'_>]) -> Finding {
    let foreign = group.iter().any(|one| !one.name().is_ascii());
    let one_pack = group.windows(2).all(|pair| matches!(pair, [one, other] if one.tool.pack() == other.tool.pack()));
    let severity = match (foreign, one_pack) {
        (true, _) => Severity::Critical,
        (false, true) => Severity::Medium,
        (false, false) => Severity::Low,
    };
    let points: Vec<String> = group
        .iter()
        .flat_map(|one| one.name().chars())
        .filter(|character| !character.is_ascii())
        .map(|character| format!("U+{:04X}", u32::from(character)))
        .collect();
    let hint = if foreign { ", but not in the same characters" } else { " to a hasty reader" };
    Finding::new(
        RuleId::LookAlikeName,
        severity,
        format!("{} look the same{hint}", listed(group.iter().map(|one| one.tool.canonical().as_str()), 6)),
    )
    .about(group.iter().map(|one| one.tool))
    .with("characters", points)
}

/// A name that is no other tool's, but is not in the letters that it seems to be in.
fn disguised(subject: &Subject<'_>) -> Option<Finding> {
    let name = subject.name();
    if name.is_ascii() {
        return None;
    }
    let plain: String = looks(name);
    let mixes = name
        .split(|c: char| c.is_ascii_punctuation() || c.is_whitespace())
        .any(|word| word.chars().any(|c| c.is_ascii_alphabetic()) && !word.is_single_script() && reads_as_latin(word));
    let (severity, why) = if mixes {
        (Severity::High, "mixes letters of different scripts in one word")
    } else if plain.is_ascii() {
        (Severity::Medium, "looks like plain letters and is not")
    } else {
        return None;
    };
    let foreign: String = name.chars().filter(|c| !c.is_ascii()).map(|c| format!(" U+{:04X}", u32::from(c))).collect();
    Some(
        Finding::new(RuleId::LookAlikeName, severity, format!("the name {} {why}:{foreign}", quoted(name)))
            .about([subject.tool])
            .with("looks_like", plain),
    )
}

/// True when the letters that are not Latin look like letters that are. `API查询` mixes scripts and deceives nobody.
fn reads_as_latin(word: &str) -> bool {
    word.chars().filter(|c| !c.is_ascii()).any(|c| skeleton(&c.to_string()).all(|c| c.is_ascii()))
}
