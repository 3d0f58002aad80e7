//! `instructs-model`: text in a definition that talks to the model. Every string of both schemas is read: an instruction works
//! just as well in an enum, a parameter's name or a keyword that nobody knows.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use serde_json::{Value, json};
use toolmark_core::definition::Reading;
use toolmark_core::instructions::{self, Instruction};

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, quoted};
use crate::walk::{self, Path};

/// Texts that were found clean. Many tools of a server repeat the descriptions of their parameters.
#[derive(Default)]
pub(crate) struct Seen {
    clean: HashSet<u64>,
    hasher: RandomState,
}

/// Fields whose strings the model may see.
const FIELDS: &[&str] = &["title", "description", "inputSchema", "schema", "outputSchema", "annotations"];
/// Shorter strings hold no instruction.
const SHORTEST: usize = 10;
/// How many instructions a finding lists.
const MOST: usize = 20;

impl Seen {
    pub(crate) fn look(&mut self, subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
        let mut found: Vec<(String, Instruction)> = Vec::new();
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
                found.extend(instructions.into_iter().map(|instruction| (path.to_string(), instruction)));
            });
        }
        // A name can carry an instruction too: `content_from_reading_ssh_id_rsa`.
        found.extend(instructions::find(subject.name()).into_iter().map(|instruction| ("/name".to_owned(), instruction)));
        let Some(severity) = instructions::severity(found.iter().map(|(_, instruction)| instruction)) else { return };
        found.sort_by_key(|(_, instruction)| std::cmp::Reverse(instruction.severity()));
        let Some((place, worst)) = found.first() else { return };
        let more = match found.len() {
            1 => String::new(),
            many => format!(" (+{} more)", many - 1),
        };
        findings.push(
            Finding::new(
                RuleId::InstructsModel,
                severity,
                format!(
                    "{} of {} {}: \"{}\"{more}",
                    quoted(place),
                    quoted(subject.tool.canonical().as_str()),
                    worst.kind().says(),
                    worst.excerpt(),
                ),
            )
            .about([subject.tool])
            .with(
                "instructions",
                found
                    .iter()
                    .take(MOST)
                    .map(|(place, instruction)| {
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
