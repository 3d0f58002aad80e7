//! The behavior part of the identity card: what a tool does, who says each field, what the classifier thinks and why, who disagrees,
//! and whether behavior tells the tool from its siblings with the same arguments.

use serde_json::{Map, Value};
use toolmark_core::behavior::{Agreement, BehaviorSource, KnownBehavior};
use toolmark_core::text::visible;
use toolmark_gateway::card::FIELDS;

use crate::failure::Failure;
use crate::output;

/// How many lines of a list are printed.
const SHOWN: usize = 40;

/// The behavior in three fields, and who says so, for one line of the list.
pub(super) fn in_short(known: &KnownBehavior) -> (String, String) {
    let text = match (known.behavior(), known.mutability()) {
        (Some(behavior), _) => behavior.short(),
        (None, Some(mutability)) => format!("{mutability}|?|?"),
        (None, None) => "?".into(),
    };
    let says = match (known.source(), known.agreement()) {
        (Some(BehaviorSource::Inferred) | None, agreement) => agreement.as_str().to_owned(),
        (Some(source), Agreement::Declared) => format!("{} alone", source.as_str()),
        (Some(source), agreement) => format!("{}, {}", source.as_str(), agreement.as_str()),
    };
    (text, says)
}

/// Prints the same for people.
pub(super) fn print(card: &Value) -> Result<(), Failure> {
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => visible(text, 300),
        Some(Value::Null) | None => "–".into(),
        Some(other) => other.to_string(),
    };
    let known = card.get("known");
    let of = |value: Option<&Value>, key: &str| text(value.and_then(|value| value.get(key)));
    output::line(output::painted(output::DIM, "\n  what it does"))?;
    let agreement = of(known, "agreement");
    let source = of(known, "source");
    let says = match agreement.as_str() {
        "declared" => format!("declared: {} so, and the classifier has no opinion", who(&source)),
        "corroborated" => format!("corroborated: {} so, and the classifier agrees", who(&source)),
        "disputed" => "disputed: what is claimed is contradicted, and every call asks".to_owned(),
        "inferred" => "inferred: nobody declares it".to_owned(),
        _ => "unknown: nobody declares it, and the classifier cannot tell".to_owned(),
    };
    output::line(format_args!("  {:<18} {says}", "agreement"))?;
    for (label, key) in [("identity", "identity"), ("identity v2", "identity_v2"), ("identity v3", "identity_v3")] {
        output::line(format_args!("  {label:<18} {}", of(known, key)))?;
    }
    output::line(output::painted(
        output::DIM,
        format_args!("\n  {:<18} {:<18} {:<12} the classifier", "field", "value", "said by"),
    ))?;
    for field in FIELDS {
        let inferred = card.get("inference").and_then(|inference| inference.get(field));
        let confidence = inferred.and_then(|inferred| inferred.get("confidence")).and_then(Value::as_u64).unwrap_or(0);
        let opinion = match inferred.and_then(|inferred| inferred.get("value")) {
            Some(Value::Null) | None => of(inferred, "because"),
            value => format!("{} {confidence} %: {}", text(value), of(inferred, "because")),
        };
        let said = of(card.get("provenance"), field);
        let label = field.replace('_', " ");
        output::line(format_args!(
            "  {label:<18} {:<18} {said:<12} {}",
            of(known, field),
            opinion.trim_end_matches([':', ' '])
        ))?;
    }
    for one in card.get("disagreements").and_then(Value::as_array).into_iter().flatten() {
        let one = Some(one);
        let because = match of(one, "because").as_str() {
            "" => String::new(),
            because => format!(" ({because})"),
        };
        let (claims, denies) = (who(&of(one, "source")), who(&of(one, "against")));
        let (claimed, found) = (of(one, "claimed"), of(one, "found"));
        let label = output::painted(output::BOLD, format_args!("{:<18}", "dispute"));
        output::line(format_args!("  {label} {}: {claims} {claimed}; {denies} {found}{because}", of(one, "field")))?;
    }
    if let Some(by_argument) = card.get("by_argument").filter(|value| !value.is_null()) {
        let pointer = of(Some(by_argument), "pointer");
        output::line(output::painted(output::DIM, format_args!("\n  what `{pointer}` selects")))?;
        let values = by_argument.get("values").and_then(Value::as_object);
        for (value, behavior) in values.into_iter().flatten().take(SHOWN) {
            output::line(format_args!("  {:<18} {}", visible(value, 60), text(Some(behavior))))?;
        }
        and_more(values.map_or(0, Map::len))?;
        output::line(format_args!("  {:<18} {}", "anything else", of(Some(by_argument), "otherwise")))?;
    }
    let siblings = card.get("siblings").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if !siblings.is_empty() {
        output::line(output::painted(output::DIM, "\n  tools of its pack that take the same arguments"))?;
    }
    for sibling in siblings.iter().take(SHOWN).map(Some) {
        let told = match of(sibling, "separated").as_str() {
            "v1" => "told apart by behavior",
            "v2" => "told apart by content type only",
            "v3" => "told apart by target only (v3)",
            "nothing" => "not told apart by behavior",
            _ => "nobody knows",
        };
        output::line(format_args!("  {:<30} {:<52} {told}", of(sibling, "tool"), of(sibling, "behavior")))?;
    }
    and_more(siblings.len())
}

/// Says how many of a list were left out.
fn and_more(count: usize) -> Result<(), Failure> {
    match count.checked_sub(SHOWN) {
        None | Some(0) => Ok(()),
        Some(left) => Ok(output::line(format_args!("  +{left} more (see --json)"))?),
    }
}

/// A source as the beginning of a sentence.
fn who(source: &str) -> &'static str {
    match source {
        "operator" => "the operator says",
        "publisher" => "its publisher says",
        "annotations" => "its annotations say",
        _ => "the classifier says",
    }
}
