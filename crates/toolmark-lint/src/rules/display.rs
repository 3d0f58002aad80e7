//! `duplicate-display-name`, `unsafe-display-name`, `dead-label`, `shadowed-label` and `missing-translation`: what people read.

use std::collections::BTreeMap;

use toolmark_core::definition::Reading;
use toolmark_core::display::{self, LanguageTag, Languages, Layer, NameTable};
use toolmark_core::json::Json;
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

use crate::finding::Finding;
use crate::options::Labels;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted};

/// How many names a message lists.
const SHOWN: usize = 5;

/// What a tool calls itself that is not shown as it is written.
pub(crate) fn unsafe_name(subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    let mut wrong: Vec<String> = Vec::new();
    let mut check = |what: &str, text: &str| {
        let trimmed = display::composed(text.trim());
        if !trimmed.is_empty() && !display::is_safe(&trimmed, display::NAME) {
            wrong.push(format!("{what} is shown as {}", quoted(&display::safe(text, display::NAME))));
        }
    };
    if let Some(title) = reading.get("title").and_then(Json::as_str) {
        check("its title", title);
    }
    let annotated = reading.get("annotations").and_then(|all| all.get("title")).and_then(Json::as_str);
    if let Some(title) = annotated {
        check("the title in its annotations", title);
    }
    let names = reading.get("_meta").and_then(|meta| meta.get(display::NAMES));
    let names = names.and_then(Json::entries).unwrap_or_default();
    for (tag, text) in names {
        if let Some(text) = text.as_str() {
            check(&format!("its name in {}", quoted(tag)), text);
        }
    }
    for (tag, text) in names {
        if let Err(error) = tag.parse::<LanguageTag>() {
            wrong.push(format!("{} is never shown: {error}", quoted(text.as_str().unwrap_or_default())));
        } else if text.as_str().is_none() {
            wrong.push(format!("its name in {} is no text", quoted(tag)));
        }
    }
    if wrong.is_empty() {
        return;
    }
    let message = format!("of {}, {}", quoted(subject.tool.canonical().as_str()), wrong.join("; "));
    findings.push(Finding::new(RuleId::UnsafeDisplayName, Severity::Medium, message).about([subject.tool]));
}

/// What is wrong with names across tools.
pub(crate) fn find(subjects: &[Subject<'_>], labels: Option<&Labels>, findings: &mut Vec<Finding>) {
    let own;
    let table = match labels {
        Some(labels) => &labels.table,
        None => {
            let tools = subjects.iter().map(|subject| subject.tool);
            own = NameTable::new(LanguageTag::english(), tools, |_| display::Given::default());
            &own
        }
    };
    let languages = table.languages();
    for language in &languages {
        duplicates(subjects, table, language, findings);
        if languages.len() > 1 {
            missing(subjects, table, language, findings);
        }
    }
    let Some(labels) = labels else { return };
    for dead in &labels.dead {
        let near = match dead.near.as_slice() {
            [] => String::new(),
            near => format!("; perhaps {} is meant", listed(near.iter().map(String::as_str), SHOWN)),
        };
        let message = format!("{} is the name of nothing here{near}", quoted(&dead.key));
        let finding = Finding::new(RuleId::DeadLabel, Severity::Medium, message).at(dead.place.as_ref());
        findings.push(finding.key(&dead.key).with("key", dead.key.as_str()).with("near", dead.near.clone()));
    }
    for shadowed in &labels.shadowed {
        let message = format!(
            "{} of {} in `{}` is never shown: {} goes before it",
            quoted(&shadowed.text),
            quoted(&shadowed.key),
            shadowed.language,
            quoted(&shadowed.shown)
        );
        let finding = Finding::new(RuleId::ShadowedLabel, Severity::Low, message).at(Some(&shadowed.place));
        findings.push(finding.key(format!("{} {}", shadowed.key, shadowed.language)));
    }
}

/// Tools that one language shows under one name. Names that nobody gave are those of `shared-name`.
fn duplicates(subjects: &[Subject<'_>], table: &NameTable, language: &LanguageTag, findings: &mut Vec<Finding>) {
    let wanted = Languages::of([language.clone()]);
    let mut shown: BTreeMap<String, Vec<(&Subject<'_>, String, Layer)>> = BTreeMap::new();
    for subject in subjects {
        let name = table.shown(subject.tool, &wanted);
        let key = name.name.as_str().to_lowercase();
        shown.entry(key).or_default().push((subject, name.name.to_string(), name.layer));
    }
    for same in shown.into_values().filter(|same| same.len() > 1) {
        let given = same.iter().any(|(_, _, layer)| *layer != Layer::Humanized);
        let first = same.first().map(|(subject, ..)| subject.name());
        // Publishers that name a tool alike on several servers are what `shared-name` is about.
        let alike = same.iter().all(|(subject, _, layer)| Some(subject.name()) == first && *layer >= Layer::Declared);
        let Some((_, name, _)) = same.first().filter(|_| given && !alike) else { continue };
        let names = listed(same.iter().map(|(subject, ..)| subject.tool.canonical().as_str()), SHOWN);
        let message = format!("in `{language}`, {names} are all shown as {}", quoted(name));
        findings.push(
            Finding::new(RuleId::DuplicateDisplayName, Severity::Medium, message)
                .about(same.iter().map(|(subject, ..)| subject.tool))
                .key(format!("{language} {name}"))
                .with("language", language.as_str())
                .with("name", name.as_str()),
        );
    }
}

/// Tools without a name in a language that others have names in, in one finding for each language and pack.
fn missing(subjects: &[Subject<'_>], table: &NameTable, language: &LanguageTag, findings: &mut Vec<Finding>) {
    let mut packs: BTreeMap<&str, (usize, Vec<&Subject<'_>>)> = BTreeMap::new();
    for subject in subjects {
        let (all, lacking) = packs.entry(subject.tool.pack().unwrap_or_default()).or_default();
        *all += 1;
        let names = table.names(subject.tool);
        let mut texts = names.into_iter().flat_map(|names| names.texts(display::Kind::Name));
        let has = texts.any(|(layer, own, _)| match own {
            Some(own) => own.answers(language).is_some(),
            // A name for everybody is one in every language; a title is one in the default.
            None => layer == Layer::Config || language == table.default_language(),
        });
        if !has {
            lacking.push(subject);
        }
    }
    for (pack, (all, lacking)) in packs {
        // A pack in which nobody has such a name was never to be translated.
        if lacking.is_empty() || lacking.len() == all {
            continue;
        }
        let names = listed(lacking.iter().map(|subject| subject.tool.canonical().as_str()), SHOWN);
        let message = format!(
            "{} of {all} tools of `{}` have no name in `{language}`: {names}",
            lacking.len(),
            visible(pack, 64)
        );
        findings.push(
            Finding::new(RuleId::MissingTranslation, Severity::Low, message)
                .about(lacking.iter().map(|subject| subject.tool))
                .key(language.as_str())
                .with("language", language.as_str()),
        );
    }
}

#[cfg(test)]
mod tests;
