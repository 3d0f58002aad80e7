//! `instructs-model`: text in a definition that talks to the model. Every string of both schemas is read: an instruction works
//! just as well in an enum, a parameter's name or a keyword that nobody knows.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher as _;

use serde_json::{Value, json};
use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Reading;
use toolmark_core::instructions::{self, Instruction};
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::most::Most;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};
use crate::walk::{self, Path};

/// What is remembered between tools.
pub(crate) struct Seen<'c> {
    /// Texts that were found clean. Many tools of a server repeat the descriptions of their parameters.
    clean: HashSet<u64>,
    hasher: RandomState,
    /// The packs that have a tool of each name, for names that are no ordinary words.
    owners: HashMap<&'c str, Vec<Option<&'c str>>>,
}

/// Fields whose strings the model may see.
const FIELDS: &[&str] = &["title", "description", "inputSchema", "schema", "outputSchema", "annotations"];
/// Shorter strings hold no instruction.
const SHORTEST: usize = 10;

impl<'c> Seen<'c> {
    pub(crate) fn new(catalog: &'c Catalog) -> Self {
        let mut owners: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
        for tool in catalog.tools().filter(|tool| is_distinctive(tool.raw().as_str())) {
            owners.entry(tool.raw().as_str()).or_default().push(tool.pack());
        }
        Self { clean: HashSet::new(), hasher: RandomState::new(), owners }
    }

    /// The tools of other packs that a definition names.
    fn others(&self, subject: &Subject<'_>, reading: &Reading<'_>) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        for field in FIELDS {
            let Some(json) = reading.get(field) else { continue };
            walk::texts(json, &Path::of(field), &mut |_, text| {
                for word in text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')) {
                    if self.owners.get(word).is_some_and(|packs| !packs.contains(&subject.tool.pack())) {
                        named.insert(word.to_owned());
                    }
                }
            });
        }
        named
    }

    pub(crate) fn look(&mut self, subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
        let mut found: Most<(String, Instruction)> = Most::default();
        for field in FIELDS {
            let Some(json) = reading.get(field) else { continue };
            walk::texts(json, &Path::of(field), &mut |path, text| {
                if text.len() < SHORTEST {
                    return;
                }
                let hash = self.hasher.hash_one(text);
                if self.clean.contains(&hash) {
                    return;
                }
                let instructions = instructions::find(text);
                if instructions.is_empty() {
                    self.clean.insert(hash);
                }
                for instruction in instructions {
                    found.push(instruction.severity(), || (path.to_string(), instruction));
                }
            });
        }
        // A name can carry an instruction too: `content_from_reading_ssh_id_rsa`.
        for instruction in instructions::find(subject.name()) {
            found.push(instruction.severity(), || ("/name".to_owned(), instruction));
        }
        let Some(severity) = instructions::severity(found.iter().map(|(_, (_, instruction))| instruction)) else {
            return;
        };
        // A text that steers and names a tool of somebody else is what shadowing looks like.
        let others = self.others(subject, reading);
        let severity = if others.is_empty() { severity } else { raised(severity) };
        let Some((_, (place, worst))) = found.worst() else { return };
        let named = match others.first() {
            None => String::new(),
            Some(_) => format!("; it names tools of other packs: {}", listed(others.iter().map(String::as_str), 3)),
        };
        findings.push(
            Finding::new(
                RuleId::InstructsModel,
                severity,
                format!(
                    "{} of {} {}: \"{}\"{}{named}",
                    quoted(place),
                    quoted(subject.tool.canonical().as_str()),
                    worst.kind().says(),
                    worst.excerpt(),
                    found.and_more(),
                ),
            )
            .about([subject.tool])
            .with("other_tools", others.iter().map(String::as_str).collect::<Value>())
            .with(
                "instructions",
                found
                    .iter()
                    .map(|(_, (place, instruction))| {
                        json!({
                            "at": place,
                            "kind": instruction.kind(),
                            "severity": instruction.severity(),
                            "text": instruction.excerpt(),
                        })
                    })
                    .collect::<Value>(),
            ),
        );
    }
}

/// A name that does not stand in a text by accident.
fn is_distinctive(name: &str) -> bool {
    let inner = |c: char| matches!(c, '_' | '-');
    let camel = name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    name.len() >= 6 && (name.contains(inner) || camel)
}

fn raised(severity: Severity) -> Severity {
    match severity {
        Severity::Info => Severity::Low,
        Severity::Low => Severity::Medium,
        Severity::Medium => Severity::High,
        Severity::High | Severity::Critical => Severity::Critical,
    }
}
