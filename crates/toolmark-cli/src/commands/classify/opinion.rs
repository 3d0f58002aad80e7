//! What a model says about a tool: words of the vocabularies, or that it cannot tell. Anything else is no opinion, and never becomes one.

use std::str::FromStr;

use serde_json::{Map, Value};
use toolmark_core::behavior::{Action, Behavior, ContentType, Mutability, OutputDomain};
use toolmark_core::explain::facts;
use toolmark_core::text::visible;
use toolmark_models::{Finish, ModelResponse};

use super::question::UNKNOWN;

/// The fields of the paper, and with them the fourth.
pub(super) const FIELDS: [&str; 4] = ["mutability", "action", "output_domain", "content_type"];

/// An opinion. A field that the model cannot tell is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Opinion {
    mutability: Option<Mutability>,
    action: Option<Action>,
    output_domain: Option<OutputDomain>,
    content_type: Option<ContentType>,
}

impl Opinion {
    /// Reads an answer.
    pub(super) fn of(response: &ModelResponse) -> Result<Self, String> {
        match &response.finish {
            Finish::Length => return Err("it was cut off".into()),
            Finish::Refused => return Err("it refused to answer".into()),
            _ => {}
        }
        Self::read(&response.text())
    }

    /// Reads the text of an answer. Some models put their JSON between marks.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
        let text = inside.and_then(|text| text.strip_suffix("```")).unwrap_or(text);
        if text.is_empty() {
            return Err("it said nothing".into());
        }
        let read = toolmark_core::json::read(text).map_err(|error| format!("it is no JSON: {error}"))?;
        let Value::Object(members) = read.to_value() else { return Err("it is no object".into()) };
        Self::of_members(&members)
    }

    pub(super) fn of_members(members: &Map<String, Value>) -> Result<Self, String> {
        let opinion = Self {
            mutability: field(members, "mutability")?,
            action: field(members, "action")?,
            output_domain: field(members, "output_domain")?,
            content_type: field(members, "content_type")?,
        };
        if let (Some(Mutability::Pure), Some(action)) = (opinion.mutability, opinion.action)
            && !action.may_be_pure()
        {
            return Err(format!("it contradicts itself: PURE and {action}"));
        }
        Ok(opinion)
    }

    /// What it says about a field.
    pub(super) fn says(&self, field: &str) -> Option<&'static str> {
        match field {
            "mutability" => self.mutability.map(Mutability::as_str),
            "action" => self.action.map(Action::as_str),
            "output_domain" => self.output_domain.map(OutputDomain::as_str),
            _ => self.content_type.map(ContentType::as_str),
        }
    }

    /// The behavior, where the three fields of the paper are told.
    pub(super) fn behavior(&self) -> Option<Behavior> {
        let behavior = Behavior::new(self.mutability?, self.action?, self.output_domain?).ok()?;
        Some(match self.content_type {
            Some(content) => behavior.with_content_type(content),
            None => behavior,
        })
    }

    /// For people: `PURE|READ|?`.
    pub(super) fn short(&self) -> String {
        let words = FIELDS.iter().take(3).map(|field| self.says(field).unwrap_or("?"));
        words.collect::<Vec<_>>().join("|")
    }

    pub(super) fn to_json(&self) -> Map<String, Value> {
        let mut all = facts([]);
        for field in FIELDS {
            all.insert(field.into(), self.says(field).unwrap_or(UNKNOWN).into());
        }
        all
    }
}

fn field<T: FromStr>(members: &Map<String, Value>, name: &str) -> Result<Option<T>, String> {
    match members.get(name) {
        Some(Value::String(word)) if word == UNKNOWN => Ok(None),
        Some(Value::String(word)) => {
            word.parse().map(Some).map_err(|_| format!("`{}` is no {name}", visible(word, 40)))
        }
        Some(_) => Err(format!("its {name} is no text")),
        None => Err(format!("it has no {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(mutability: &str, action: &str, domain: &str) -> String {
        format!(
            r#"{{"mutability":"{mutability}","action":"{action}","output_domain":"{domain}","content_type":"NONE"}}"#
        )
    }

    #[test]
    fn words_of_the_vocabularies_are_an_opinion_and_so_is_not_to_know() {
        let opinion = Opinion::read(&answer("MUTATES", "DELETE", "ISSUE")).unwrap();
        assert_eq!(opinion.behavior().unwrap().to_string(), "MUTATES|DELETE|ISSUE|NONE");
        let fenced = format!("```json\n{}\n```", answer("PURE", "READ", "UNKNOWN"));
        let opinion = Opinion::read(&fenced).unwrap();
        assert_eq!((opinion.short().as_str(), opinion.behavior()), ("PURE|READ|?", None));
        assert_eq!(Opinion::of_members(&opinion.to_json()).unwrap(), opinion);
    }

    #[test]
    fn anything_else_is_none() {
        let cases = [
            (String::new(), "it said nothing"),
            ("I think it reads.".into(), "it is no JSON"),
            ("[]".into(), "it is no object"),
            ("{}".into(), "it has no mutability"),
            (answer("pure", "READ", "DATA"), "`pure` is no mutability"),
            (answer("PURE", "DELETE", "DATA"), "it contradicts itself: PURE and DELETE"),
            (answer("MUTATES", "ZAP\\u001b[31m", "DATA"), "is no action"),
            (r#"{"mutability": 1}"#.into(), "its mutability is no text"),
            (r#"{"mutability": "PURE", "mutability": "MUTATES"}"#.into(), "it is no JSON"),
        ];
        for (text, expected) in cases {
            let problem = Opinion::read(&text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
            assert!(!problem.contains('\u{1b}'));
        }
    }
}
