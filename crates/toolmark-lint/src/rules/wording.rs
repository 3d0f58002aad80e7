//! `empty-description` and `parameters-undescribed`: what the model is left to guess.

use toolmark_core::definition::Reading;
use toolmark_core::json::Json;
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};
use crate::verbs;

/// Words that add nothing to a name.
const FILLING: &[&str] = &["a", "an", "the", "of", "to", "for", "in", "tool", "this", "s"];

/// How many names a message lists, and how many the data.
const SHOWN: usize = 5;
const MOST: usize = 100;

pub(crate) fn look(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    description(subject, reading, findings);
    parameters(subject, reading, findings);
}

fn description(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    let text = reading.description().trim();
    let name = quoted(subject.tool.canonical().as_str());
    let (severity, message) = if text.is_empty() {
        (Severity::Medium, format!("{name} has no description"))
    } else if text.len() < 80 && repeats(subject.name(), text) {
        (Severity::Low, format!("the description of {name} says no more than its name: \"{}\"", visible(text, 80)))
    } else {
        return;
    };
    findings.push(Finding::new(RuleId::EmptyDescription, severity, message).about([subject.tool]));
}

/// True when `text` has no word that the name does not have.
fn repeats(name: &str, text: &str) -> bool {
    let known = verbs::words(name);
    let stem = |word: &str| word.trim_end_matches('s').to_owned();
    let known: Vec<String> = known.iter().map(|word| stem(word)).collect();
    verbs::words(text).iter().all(|word| FILLING.contains(&word.as_str()) || known.contains(&stem(word)))
}

fn parameters(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    // The short form of the paper has no room for descriptions.
    let Some(schema) = reading.get("inputSchema") else { return };
    let properties = schema.get("properties").and_then(Json::entries).unwrap_or_default();
    let silent: Vec<&str> = properties
        .iter()
        .filter(|(_, property)| !is_described(property, schema))
        .map(|(name, _)| name.as_ref())
        .collect();
    if silent.is_empty() {
        return;
    }
    findings.push(
        Finding::new(
            RuleId::ParametersUndescribed,
            Severity::Info,
            format!(
                "{} of {} parameters of {} have no description: {}",
                silent.len(),
                properties.len(),
                quoted(subject.tool.canonical().as_str()),
                listed(silent.iter().copied(), SHOWN),
            ),
        )
        .about([subject.tool])
        .with("count", silent.len())
        .with("parameters", silent.into_iter().take(MOST).map(|name| visible(name, 100)).collect::<Vec<_>>()),
    );
}

fn is_described(property: &Json<'_>, root: &Json<'_>) -> bool {
    let says = |schema: &Json<'_>| {
        schema.get("description").and_then(Json::as_str).is_some_and(|text| !text.trim().is_empty())
    };
    let referred =
        property.get("$ref").and_then(Json::as_str).and_then(|reference| super::schema::local(root, reference));
    let composed = ["allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| property.get(key).and_then(Json::items).is_some_and(|all| all.iter().any(says)));
    says(property) || referred.is_some_and(says) || composed
}
