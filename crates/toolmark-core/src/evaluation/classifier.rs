//! The classifier against labels: per field how often it answers, how often it is right, and what it takes for what.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::rows::{Label, ToolId, Tools};
use crate::behavior::{Action, ContentType, Mutability, OutputDomain};
use crate::inference::{Inference, Inferred, Mode};

/// How one way of classifying does on labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassifierScore {
    fields: BTreeMap<&'static str, FieldScore>,
    mutating: usize,
    false_pure: Vec<ToolId>,
    hints: HintScore,
    missing: Vec<ToolId>,
}

/// How one field does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldScore {
    /// Labels that have the field.
    pub labelled: usize,
    /// Answers given.
    pub answered: usize,
    /// Answers that agree.
    pub agree: usize,
    /// Labels without another defensible answer.
    pub unambiguous: usize,
    /// Answers that agree with those; an abstention does not.
    pub agree_unambiguous: usize,
    /// How often a label got an answer; `unknown` for an abstention.
    pub confusion: BTreeMap<&'static str, BTreeMap<&'static str, usize>>,
}

/// How the `readOnlyHint` of publishers does on the same labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintScore {
    /// Labelled tools that have the hint.
    pub hinted: usize,
    /// Hints that agree with the label.
    pub agree: usize,
    /// Hints that do not.
    pub wrong: Vec<ToolId>,
    /// Of those, how many the classifier gets right.
    pub corrected: usize,
}

impl ClassifierScore {
    /// Scores the classifier in one mode. A label whose tool is not in the set is listed as missing and counts nowhere.
    #[must_use]
    pub fn of(tools: &Tools, labels: &[Label], mode: Mode) -> Self {
        let mut score = Self::default();
        for label in labels {
            match tools.get(&label.tool) {
                Some(definition) => score.add(label, &Inference::of(definition, mode)),
                None => score.missing.push(label.tool.clone()),
            }
        }
        score
    }

    fn add(&mut self, label: &Label, inferred: &Inference) {
        let clear = !label.ambiguous;
        self.field("mutability").add(label.mutability.as_str(), text(&inferred.mutability, Mutability::as_str), clear);
        self.field("action").add(label.action.as_str(), text(&inferred.action, Action::as_str), clear);
        let domain = text(&inferred.output_domain, OutputDomain::as_str);
        self.field("output_domain").add(label.output_domain.as_str(), domain, clear);
        if let Some(content) = label.content_type {
            self.field("content_type").add(content.as_str(), text(&inferred.content_type, ContentType::as_str), clear);
        }
        let answer = inferred.mutability.value();
        if label.mutability == Mutability::Mutates {
            self.mutating += 1;
            if answer == Some(Mutability::Pure) {
                self.false_pure.push(label.tool.clone());
            }
        }
        if let Some(hint) = label.read_only_hint {
            let right = hint == (label.mutability == Mutability::Pure);
            self.hints.hinted += 1;
            self.hints.agree += usize::from(right);
            if !right {
                self.hints.wrong.push(label.tool.clone());
                self.hints.corrected += usize::from(answer == Some(label.mutability));
            }
        }
    }

    fn field(&mut self, name: &'static str) -> &mut FieldScore {
        self.fields.entry(name).or_default()
    }

    /// The score of a field, by its name in the labels.
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&FieldScore> {
        self.fields.get(field)
    }

    /// Labelled tools that mutate.
    #[must_use]
    pub fn mutating(&self) -> usize {
        self.mutating
    }

    /// Those of them that the classifier calls PURE: the one mistake that weakens a guard.
    #[must_use]
    pub fn false_pure(&self) -> &[ToolId] {
        &self.false_pure
    }

    /// How the publishers' hints do.
    #[must_use]
    pub fn hints(&self) -> &HintScore {
        &self.hints
    }

    /// The object that stands under `classifier` and `classifier_schema_only`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut all: Map<String, Value> =
            self.fields.iter().map(|(name, field)| ((*name).to_owned(), field.to_json())).collect();
        all.insert("false_pure".into(), self.false_pure.len().into());
        all.insert("mutating".into(), self.mutating.into());
        all.insert("false_pure_tools".into(), names(&self.false_pure));
        all.insert(
            "declared".into(),
            json!({
                "hinted": self.hints.hinted,
                "agree": self.hints.agree,
                "wrong": names(&self.hints.wrong),
                "wrong_but_classified_right": self.hints.corrected,
            }),
        );
        all.insert("missing".into(), names(&self.missing));
        Value::Object(all)
    }
}

impl FieldScore {
    fn add(&mut self, label: &'static str, answer: Option<&'static str>, clear: bool) {
        let right = answer == Some(label);
        self.labelled += 1;
        self.answered += usize::from(answer.is_some());
        self.agree += usize::from(right);
        self.unambiguous += usize::from(clear);
        self.agree_unambiguous += usize::from(clear && right);
        *self.confusion.entry(label).or_default().entry(answer.unwrap_or("unknown")).or_default() += 1;
    }

    fn to_json(&self) -> Value {
        json!({
            "labelled": self.labelled,
            "answered": self.answered,
            "agree": self.agree,
            "agree_unambiguous": self.agree_unambiguous,
            "unambiguous": self.unambiguous,
            "confusion": self.confusion,
        })
    }
}

fn text<T: Copy>(field: &Inferred<T>, spell: fn(T) -> &'static str) -> Option<&'static str> {
    field.value().map(spell)
}

fn names(tools: &[ToolId]) -> Value {
    tools.iter().map(ToString::to_string).collect()
}
