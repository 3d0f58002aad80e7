//! From texts to policies: each statement is read alone, so that one mistake hides no other, and gets an id that says where it stands.

use std::collections::HashMap;
use std::sync::Arc;

use cedar_policy::ffi::DetailedError;
use cedar_policy::{Effect, Policy, PolicyId};
use toolmark_core::document::Document;
use toolmark_core::problem::Problem;
use toolmark_core::verdict::Decision;

use super::error::{CedarError, Kind};

/// A text with Cedar policies, and what people call it: usually its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CedarText {
    /// What people call it.
    pub label: String,
    /// The policies.
    pub text: String,
}

/// One policy as it was read.
pub(super) struct Parsed {
    pub(super) id: Arc<str>,
    pub(super) policy: Policy,
    pub(super) says: Says,
    pub(super) reason: Option<Box<str>>,
    pub(super) document: Arc<Document>,
    pub(super) start: usize,
}

/// What a policy says when it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// A `forbid`: deny, or ask.
    Stop(Decision),
    /// A `permit`.
    Permit,
    /// A `permit` that is marked to answer a question that a default would ask.
    Allow,
}

impl Parsed {
    /// How messages call it.
    pub(super) fn owner(&self) -> String {
        format!("policy `{}`", self.id)
    }

    /// A problem with it, at its beginning.
    pub(super) fn problem(&self, kind: Kind, what: impl Into<String>) -> Problem {
        CedarError::new(kind, self.owner(), what).at(&self.document, self.start)
    }
}

/// Reads all texts.
pub(super) fn read(texts: &[CedarText], problems: &mut Vec<Problem>) -> Vec<Parsed> {
    let mut all: Vec<Parsed> = Vec::new();
    let mut taken: HashMap<Arc<str>, String> = HashMap::new();
    for text in texts {
        let document = Document::new(text.label.clone(), text.text.clone());
        for (start, statement) in statements(&text.text) {
            let place = document.place(start);
            let parsed = match Policy::parse(None, statement) {
                Ok(policy) => policy,
                Err(errors) => {
                    problems.extend(errors.iter().map(|error| {
                        let error = DetailedError::from(error);
                        let offset = error.source_locations.first().map_or(0, |location| location.loc.start);
                        CedarError::of(Kind::Syntax, text.label.as_str(), "", &error).at(&document, start + offset)
                    }));
                    continue;
                }
            };
            let own = parsed.annotation("id").filter(|id| !id.is_empty()).map(ToOwned::to_owned);
            let mut id = own.clone().unwrap_or_else(|| format!("{}:{}", place.file, place.line));
            if own.is_none() && taken.contains_key(id.as_str()) {
                id = place.to_string();
            }
            let id: Arc<str> = id.into();
            let (says, wrong) = says(&parsed);
            let policy = Parsed {
                policy: parsed.new_id(PolicyId::new(&id)),
                says,
                reason: parsed.annotation("reason").filter(|reason| !reason.is_empty()).map(Into::into),
                document: Arc::clone(&document),
                start,
                id,
            };
            problems.extend(wrong.map(|what| policy.problem(Kind::Annotation, what)));
            match taken.insert(Arc::clone(&policy.id), place.to_string()) {
                Some(first) => {
                    problems.push(policy.problem(Kind::DuplicateId, format!("the policy at {first} has that id too")));
                }
                None => all.push(policy),
            }
        }
    }
    all
}

/// What it says, and what is wrong with how it says it.
fn says(policy: &Policy) -> (Says, Option<String>) {
    match (policy.effect(), policy.annotation("verdict")) {
        (Effect::Forbid, None | Some("deny")) => (Says::Stop(Decision::Deny), None),
        (Effect::Forbid, Some("ask")) => (Says::Stop(Decision::Ask), None),
        (Effect::Permit, None) => (Says::Permit, None),
        (Effect::Permit, Some("allow")) => (Says::Allow, None),
        (Effect::Forbid, Some(other)) => {
            (Says::Stop(Decision::Deny), Some(format!("a `forbid` cannot have the verdict `{other}`")))
        }
        (Effect::Permit, Some(other)) => (Says::Permit, Some(format!("a `permit` cannot have the verdict `{other}`"))),
    }
}

/// The statements of a text, each with where it begins. Whatever follows the last semicolon is a statement too, and a wrong one.
fn statements(text: &str) -> Vec<(usize, &str)> {
    let mut all = Vec::new();
    let mut start = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        match character {
            '/' if rest.next_if(|(_, next)| *next == '/').is_some() => {
                while rest.next_if(|(_, next)| *next != '\n').is_some() {}
                continue;
            }
            _ if character.is_whitespace() => continue,
            '"' => {
                while let Some((_, inside)) = rest.next() {
                    match inside {
                        '\\' => drop(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ';' => {
                let from = start.take().unwrap_or(at);
                all.extend(text.get(from..=at).map(|statement| (from, statement)));
                continue;
            }
            _ => {}
        }
        start.get_or_insert(at);
    }
    all.extend(start.and_then(|from| Some((from, text.get(from..)?.trim_end()))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_in_strings_and_comments_end_nothing() {
        let text = "// a; comment\npermit (a); forbid(\"x;\\\"y\") // more;\n ;\n\n  rest \"open; \n";
        let found: Vec<&str> = statements(text).into_iter().map(|(_, statement)| statement).collect();
        assert_eq!(found, ["permit (a);", "forbid(\"x;\\\"y\") // more;\n ;", "rest \"open;"]);
        assert!(statements("  // nothing\n").is_empty());
    }

    #[test]
    fn policies_are_known_by_their_id_or_their_place() {
        let text = "permit(principal,action,resource);\n@id(\"x\")\nforbid(principal,action,resource);permit(principal,action,resource);\npermit(principal,action,resource); permit(principal,action,resource);";
        let mut problems = Vec::new();
        let texts = [CedarText { label: "p.cedar".into(), text: text.into() }];
        let ids: Vec<String> = read(&texts, &mut problems).iter().map(|policy| policy.id.to_string()).collect();
        assert_eq!(ids, ["p.cedar:1", "x", "p.cedar:3", "p.cedar:4", "p.cedar:4:36"]);
        assert!(problems.is_empty());
    }

    #[test]
    fn one_mistake_hides_no_other() {
        let text = "forbid(principal);\npermit(principal, action, resource) when { 1 + };\n@verdict(\"maybe\") forbid(principal, action, resource);";
        let mut problems = Vec::new();
        read(&[CedarText { label: "p.cedar".into(), text: text.into() }], &mut problems);
        let found: Vec<(&str, usize)> =
            problems.iter().map(|one| (one.code().as_str(), one.place().unwrap().line)).collect();
        assert!(found.contains(&("policy-cedar-syntax", 1)), "{found:?}");
        assert!(found.contains(&("policy-cedar-syntax", 2)), "{found:?}");
        assert!(found.contains(&("policy-cedar-annotation", 3)), "{found:?}");
    }
}
