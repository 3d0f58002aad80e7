//! SARIF 2.1.0: one run, every rule, one result a finding. Fingerprints do not depend on lines, so that a result keeps its
//! history when a snapshot is written anew.

use serde_json::{Value, json};
use toolmark_core::document::Place;
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

use crate::rule::{Rule, rules};
use crate::{Finding, Lint, Suggestion};

/// How many further locations a result lists.
const RELATED: usize = 20;
/// How many declarations a message spells out.
const PASTED: usize = 10;

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
        "message": message(finding),
        "partialFingerprints": {"toolmarkFinding/v1": finding.fingerprint()},
        "properties": {
            "severity": finding.severity(),
            "security-severity": score(finding.severity()),
            "help": finding.help(),
            "tools": finding.tools(),
            "data": finding.data(),
            "suggestions": finding.suggestions().iter().map(Suggestion::to_json).collect::<Vec<_>>(),
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

/// The message, and for viewers of Markdown the fix with the declarations to paste.
fn message(finding: &Finding) -> Value {
    let mut toml: Vec<String> = finding.suggestions().iter().filter_map(Suggestion::toml).collect();
    let Some(first) = finding.suggestions().first() else { return json!({"text": finding.message()}) };
    let left = toml.len().saturating_sub(PASTED);
    toml.truncate(PASTED);
    if left > 0 {
        toml.push(format!("# {left} more: toolmark lint --rule {} --suggest operator\n", finding.rule()));
    }
    let published = format!("{:#}", first.definition());
    let markdown = format!(
        "{}\n\n{}\n\nThe operator, in `toolmark.toml`:\n\n```toml\n{}```\n\nOr the publisher, in the definition of `{}`:\n\n```json\n{published}\n```\n",
        finding.message(),
        finding.help(),
        toml.join("\n"),
        visible(first.tool().as_str(), 200),
    );
    json!({"text": finding.message(), "markdown": markdown})
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
