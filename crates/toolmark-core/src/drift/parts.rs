//! Which parts of a definition changed, and what that means for somebody who approved the old one.

use std::collections::BTreeSet;

use super::{PartChange, Subject};
use crate::canonical;
use crate::definition::{Definition, Reading};
use crate::instructions;
use crate::json::Json;
use crate::schema::compare::{self, Direction};
use crate::severity::Severity;
use crate::text::{is_hidden, visible};
use crate::tool::Tool;

/// How much of a text is shown.
const SHOWN: usize = 160;
/// How many single changes of a schema are shown.
const MOST: usize = 12;

/// The parts in which two tools of one name differ.
pub(super) fn compare(was: Subject<'_>, is: Subject<'_>) -> Vec<PartChange> {
    let mut parts = Vec::new();
    if was.source() != is.source() {
        let summary =
            format!("comes from `{}`, not from `{}`", visible(is.source(), SHOWN), visible(was.source(), SHOWN));
        parts.push(PartChange::new("source", Severity::Critical, summary));
    }
    if was.digest() == is.digest() {
        return parts;
    }
    match (was.said(), is.said()) {
        (Some(was), Some(is)) => parts.extend(whole(&was, &is)),
        _ => parts.extend(by_digest(&digests(was), &digests(is), is)),
    }
    parts
}

/// How alarming a text is that a model will read: what it tells the model to do, and what it hides.
pub(super) fn alarm(text: &str) -> Option<Severity> {
    let hidden = text
        .chars()
        .any(|character| is_hidden(character) && !matches!(character, '\n' | '\r' | '\t' | '\u{fe0f}' | '\u{200d}'));
    instructions::severity(&instructions::find(text)).max(hidden.then_some(Severity::High))
}

/// How alarming a whole tool is: its description, its title and every text in its schemas.
pub(super) fn alarm_of(tool: &Tool) -> Option<Severity> {
    let reading = tool.definition().reading();
    let parts = ["description", "title", "inputSchema", "schema", "outputSchema", "annotations"];
    parts.iter().filter_map(|part| reading.get(part)).flat_map(words).filter_map(alarm).max()
}

fn whole(was: &Definition, is: &Definition) -> Vec<PartChange> {
    let (old, new) = (was.reading(), is.reading());
    let names: BTreeSet<&str> = old.fields().iter().chain(new.fields()).map(|(name, _)| name.as_ref()).collect();
    // A lock keeps what was said, not how it was written.
    let spelled = |reading: &Reading<'_>, name: &str| reading.get(name).map(canonical::to_canonical);
    let differs = |name: &&str| spelled(&old, name) != spelled(&new, name);
    names.into_iter().filter(differs).filter_map(|name| part(name, &old, &new)).collect()
}

fn part(name: &str, old: &Reading<'_>, new: &Reading<'_>) -> Option<PartChange> {
    let (was, is) = (old.get(name), new.get(name));
    Some(match name {
        "description" | "title" => text(name, was, is),
        "inputSchema" | "schema" => schema(name, was.map(|_| old), is.map(|_| new)),
        "outputSchema" => PartChange::new(name, Severity::Low, "the shape of its results changed"),
        "annotations" => annotations(was, is)?,
        "mutability" | "action" | "output_domain" | "content_type" => {
            PartChange::new(name, Severity::High, format!("declares {}, was {}", shown(is), shown(was)))
        }
        "_meta" => meta(was, is)?,
        "icons" => PartChange::new(name, Severity::Low, "its icon changed"),
        _ => PartChange::new(name, Severity::Low, format!("is now {}, was {}", shown(is), shown(was))),
    })
}

fn text(name: &str, was: Option<&Json<'_>>, is: Option<&Json<'_>>) -> PartChange {
    let (old, new) = (was.and_then(Json::as_str).unwrap_or_default(), is.and_then(Json::as_str).unwrap_or_default());
    let (before, after) = (alarm(old), alarm(new));
    let details = vec![format!("was: {}", visible(old, SHOWN)), format!("is:  {}", visible(new, SHOWN))];
    let usual = Severity::Medium;
    if after > before && after >= Some(Severity::Medium) {
        let found: Vec<String> = instructions::find(new)
            .iter()
            .map(|one| format!("{}: {}", one.kind(), visible(one.excerpt(), SHOWN)))
            .collect();
        let summary = if found.is_empty() { "now holds hidden characters" } else { "now tells the model what to do" };
        let severity = after.unwrap_or(usual).max(Severity::High);
        return PartChange::new(name, severity, summary).with([found, details].concat());
    }
    PartChange::new(
        name,
        usual,
        if name == "title" { "people now read another title" } else { "the model now reads another text" },
    )
    .with(details)
}

fn schema(name: &str, was: Option<&Reading<'_>>, is: Option<&Reading<'_>>) -> PartChange {
    let (Some(was), Some(is)) = (was, is) else {
        let summary = if is.is_none() { "no longer says what it accepts" } else { "now says what it accepts" };
        return PartChange::new(name, Severity::High, summary);
    };
    let (was, is) = (was.input_schema(), is.input_schema());
    let change = compare::compare(&was.to_value(), &is.to_value());
    let mut details: Vec<String> =
        change.changes().iter().take(MOST).map(|one| visible(&one.to_string(), SHOWN)).collect();
    if change.changes().len() > MOST {
        details.push(format!("(+{} more)", change.changes().len() - MOST));
    }
    let (severity, summary) = match change.overall() {
        Direction::Wider => (Severity::High, "accepts more than before"),
        Direction::Other => (Severity::High, "accepts other things than before"),
        Direction::Narrower => (Severity::Low, "accepts less than before"),
        Direction::Default => (Severity::Medium, "assumes another value where none is given"),
        Direction::Wording | Direction::Same => (Severity::Medium, "describes its arguments in other words"),
    };
    let alarming = words(&is).into_iter().filter_map(alarm).max();
    if alarming > words(&was).into_iter().filter_map(alarm).max() && alarming >= Some(Severity::Medium) {
        let severity = alarming.unwrap_or(severity).max(Severity::High);
        return PartChange::new(
            name,
            severity,
            format!("tells the model what to do inside its arguments, and {summary}"),
        )
        .with(details);
    }
    PartChange::new(name, severity, summary).with(details)
}

/// Every text in a schema that a model reads.
fn words<'j>(schema: &'j Json<'_>) -> Vec<&'j str> {
    let mut found = Vec::new();
    let mut waiting = vec![schema];
    while let Some(next) = waiting.pop() {
        match next {
            Json::Array(items) => waiting.extend(items),
            Json::Object(entries) => waiting.extend(entries.iter().map(|(_, value)| value)),
            Json::String(text) => found.push(text.as_ref()),
            _ => {}
        }
    }
    found
}

/// Hints, with what a client may assume when they are absent, and the value that makes a guard weaker.
const HINTS: &[(&str, bool, bool)] = &[
    ("readOnlyHint", false, true),
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
    ("openWorldHint", true, false),
];

fn annotations(was: Option<&Json<'_>>, is: Option<&Json<'_>>) -> Option<PartChange> {
    let hint = |all: Option<&Json<'_>>, name: &str| all.and_then(|all| all.get(name)).and_then(Json::as_bool);
    let (mut safer, mut other, mut stated) = (Vec::new(), Vec::new(), Vec::new());
    for &(name, absent, weak) in HINTS {
        let (old, new) = (hint(was, name), hint(is, name));
        if old == new {
            continue;
        }
        let word =
            |value: Option<bool>| value.map_or_else(|| format!("absent (means {absent})"), |value| value.to_string());
        let line = format!("{name}: {} → {}", word(old), word(new));
        match (old.unwrap_or(absent), new.unwrap_or(absent)) {
            (before, after) if before == after => stated.push(line),
            (_, after) if after == weak => safer.push(line),
            _ => other.push(line),
        }
    }
    let rest = |all: Option<&Json<'_>>| -> Vec<(String, Json<'static>)> {
        let known = |name: &str| HINTS.iter().any(|(hint, ..)| *hint == name);
        let entries = all.and_then(Json::entries).unwrap_or_default();
        entries.iter().filter(|(name, _)| !known(name)).map(|(name, value)| (name.to_string(), owned(value))).collect()
    };
    if rest(was) != rest(is) {
        other.push("other annotations changed".into());
    }
    let (severity, summary) = match (safer.is_empty(), other.is_empty(), stated.is_empty()) {
        (false, _, _) => (Severity::High, "claims to be safer than before"),
        (true, false, _) => (Severity::Medium, "claims something else about itself"),
        (true, true, false) => (Severity::Low, "says or no longer says what is assumed anyway"),
        (true, true, true) => return None,
    };
    let details = [safer, other].concat();
    Some(PartChange::new("annotations", severity, summary).with(if details.is_empty() { stated } else { details }))
}

fn meta(was: Option<&Json<'_>>, is: Option<&Json<'_>>) -> Option<PartChange> {
    let behavior = |all: Option<&Json<'_>>| all.and_then(|all| all.get("dev.toolmark/behavior")).map(owned);
    let (old, new) = (behavior(was), behavior(is));
    if old != new {
        let details = vec![format!("was: {}", shown(old.as_ref())), format!("is:  {}", shown(new.as_ref()))];
        return Some(PartChange::new("_meta", Severity::High, "declares another behavior").with(details));
    }
    (was != is).then(|| PartChange::new("_meta", Severity::Low, "other metadata changed"))
}

fn digests(subject: Subject<'_>) -> Vec<(String, String)> {
    match subject {
        Subject::Pinned(pinned) => pinned.parts().map(|(part, digest)| (part.to_owned(), digest.to_owned())).collect(),
        Subject::Whole(tool) => tool
            .definition()
            .reading()
            .part_digests()
            .into_iter()
            .map(|(part, digest)| (part, digest.short()))
            .collect(),
    }
}

/// Names the parts that changed when the old text is gone. What the new text says still counts.
fn by_digest(was: &[(String, String)], is: &[(String, String)], new: Subject<'_>) -> Vec<PartChange> {
    let names: BTreeSet<&str> = was.iter().chain(is).map(|(name, _)| name.as_str()).collect();
    let of = |all: &[(String, String)], name: &str| {
        all.iter().find(|(known, _)| known == name).map(|(_, digest)| digest.clone())
    };
    names
        .into_iter()
        .filter(|name| of(was, name) != of(is, name))
        .map(|name| {
            let usual = match name {
                "inputSchema" | "schema" | "annotations" | "_meta" | "mutability" | "action" | "output_domain" => {
                    Severity::High
                }
                "description" | "title" => Severity::Medium,
                _ => Severity::Low,
            };
            let said = match new {
                Subject::Whole(tool) => tool
                    .definition()
                    .reading()
                    .get(name)
                    .and_then(|part| words(part).into_iter().filter_map(alarm).max()),
                Subject::Pinned(_) => None,
            };
            match said.filter(|said| *said >= Severity::Medium) {
                Some(said) => {
                    PartChange::new(name, said.max(Severity::High), "changed, and tells the model what to do")
                }
                None => PartChange::new(name, usual, "changed; the lock keeps no text to compare with"),
            }
        })
        .collect()
}

fn owned(value: &Json<'_>) -> Json<'static> {
    match value {
        Json::Null => Json::Null,
        Json::Bool(flag) => Json::Bool(*flag),
        Json::Number(text) => Json::Number(text.to_string().into()),
        Json::String(text) => Json::String(text.to_string().into()),
        Json::Array(items) => Json::Array(items.iter().map(owned).collect()),
        Json::Object(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.to_string().into(), owned(value))).collect())
        }
    }
}

fn shown(value: Option<&Json<'_>>) -> String {
    value.map_or_else(|| "absent".into(), |value| visible(&canonical::to_canonical(value), SHOWN))
}
