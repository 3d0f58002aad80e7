//! SARIF 2.1.0: one run, every rule, one result a finding. Fingerprints do not depend on lines, so that a result keeps its
//! history when a snapshot is written anew.

use serde_json::{Value, json};
use toolmark_core::document::Place;
use toolmark_core::severity::Severity;

use crate::rule::{Rule, rules};
use crate::{Finding, Lint};

/// How many further locations a result lists.
const RELATED: usize = 20;

pub(crate) fn log(lint: &Lint) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "toolmark",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": lint.findings().iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn rule(rule: &Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.summary()},
        "fullDescription": {"text": rule.why()},
        "help": {"text": rule.fix(), "markdown": format!("{}\n\nSee `docs/lint.md#{}`.", rule.fix(), rule.id())},
        "defaultConfiguration": {"level": level(rule.severity())},
        "properties": {"security-severity": score(rule.severity()), "tags": ["security", "mcp"]},
    })
}

fn result(finding: &Finding) -> Value {
    let mut places = finding.places().iter().zip(finding.tools().iter().map(Some).chain(std::iter::repeat(None)));
    let mut result = json!({
        "ruleId": finding.rule().as_str(),
        "ruleIndex": finding.rule().index(),
        "level": level(finding.severity()),
        "message": {"text": finding.message()},
        "partialFingerprints": {"toolmarkFinding/v1": finding.fingerprint()},
        "properties": {
            "severity": finding.severity(),
            "security-severity": score(finding.severity()),
            "help": finding.help(),
            "tools": finding.tools(),
            "data": finding.data(),
        },
    });
    let (Some(fields), Some((place, name))) = (result.as_object_mut(), places.next()) else { return result };
    let names = |name: Option<&toolmark_core::names::CanonicalName>| {
        name.map(|name| json!([{"fullyQualifiedName": name, "kind": "function"}])).unwrap_or_else(|| json!([]))
    };
    fields.insert("locations".into(), json!([{"physicalLocation": physical(place), "logicalLocations": names(name)}]));
    let related: Vec<Value> = (1..)
        .zip(places)
        .take(RELATED)
        .map(|(id, (place, name))| {
            json!({
                "id": id,
                "physicalLocation": physical(place),
                "logicalLocations": names(name),
                "message": {"text": name.map_or("another definition", |name| name.as_str())},
            })
        })
        .collect();
    if !related.is_empty() {
        fields.insert("relatedLocations".into(), related.into());
    }
    result
}

fn physical(place: &Place) -> Value {
    json!({
        "artifactLocation": {"uri": uri(&place.file)},
        "region": {"startLine": place.line, "startColumn": place.column},
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// The number by which GitHub sorts results.
const fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "3.0",
        Severity::Info => "1.0",
    }
}

/// A path or label as a URI reference.
fn uri(label: &str) -> String {
    if label.starts_with("https://") || label.starts_with("http://") || label.starts_with("file://") {
        return escape(label, "/:?#[]@!$&'()*+,;=%");
    }
    let path = label.replace('\\', "/");
    match path.strip_prefix('/') {
        Some(absolute) => format!("file:///{}", escape(absolute, "/")),
        None => escape(&path, "/"),
    }
}

fn escape(text: &str, kept: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let character = char::from(byte);
        if character.is_ascii_alphanumeric()
            || "-._~".contains(character)
            || (byte.is_ascii() && kept.contains(character))
        {
            out.push(character);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_uri_references() {
        assert_eq!(uri("corpus/tools.jsonl"), "corpus/tools.jsonl");
        assert_eq!(uri("my tools/a:b.json"), "my%20tools/a%3Ab.json");
        assert_eq!(uri("/tmp/ä.json"), "file:///tmp/%C3%A4.json");
        assert_eq!(uri(r"C:\x\y.json"), "C%3A/x/y.json");
        assert_eq!(uri("https://example.com/mcp?x=1"), "https://example.com/mcp?x=1");
    }
}
