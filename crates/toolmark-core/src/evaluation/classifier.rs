//! The classifier against labels: per field how often it answers, how often it is right, and what it takes for what.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::labels::{Answers, Label};
use super::rows::ToolId;
use super::tools::Tools;
use crate::behavior::{Action, ByArgument, ContentType, Mutability, OutputDomain};
use crate::inference::{Inference, Mode};

/// How one way of classifying does on labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassifierScore {
    fields: BTreeMap<&'static str, FieldScore>,
    mutating: usize,
    false_pure: Vec<ToolId>,
    hints: HintScore,
    by_argument: ByArgumentScore,
    unknown_words: Vec<String>,
    missing: Vec<ToolId>,
}

/// How the values of selecting arguments do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByArgumentScore {
    /// Values whose action is labelled.
    pub labelled: usize,
    /// Values that the classifier found and understood.
    pub answered: usize,
    /// Actions that agree.
    pub agree: usize,
    /// Values labelled with an action that changes something, and classified as PURE.
    pub false_pure: usize,
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
    /// Tools whose answer does not agree, with what was meant and what was answered.
    pub disagree: Vec<String>,
    /// How often a label got an answer; `unknown` for an abstention.
    pub confusion: BTreeMap<String, BTreeMap<&'static str, usize>>,
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
            match tools.get(label.tool()) {
                Some(definition) => {
                    let reading = definition.reading();
                    let hint = label.read_only_hint().or_else(|| reading.hint("readOnlyHint"));
                    score.add(label, hint, &Inference::of_reading(&reading, mode));
                }
                None => score.missing.push(label.tool().clone()),
            }
        }
        score
    }

    fn add(&mut self, label: &Label, hint: Option<bool>, inferred: &Inference) {
        for field in Label::FIELDS {
            let score = self.field(field);
            if let Some(answers) = label.get(field) {
                score.add(label.tool(), answers, answer(inferred, field), label.is_clear(field));
            }
        }
        self.unknown_words.extend(label.unknown_words().iter().map(|word| format!("{}: {word}", label.tool())));
        self.by_argument.add(label, inferred);
        let pure = answer(inferred, "mutability").map(|answer| answer == Mutability::Pure.as_str());
        if label.is_mutating() {
            self.mutating += 1;
            if pure == Some(true) {
                self.false_pure.push(label.tool().clone());
            }
        }
        if let (Some(hint), Some(answers)) = (hint, label.get("mutability")) {
            let says = |pure: bool| if pure { Mutability::Pure } else { Mutability::Mutates };
            let right = answers.admit(says(hint).as_str());
            self.hints.hinted += 1;
            self.hints.agree += usize::from(right);
            if !right {
                self.hints.wrong.push(label.tool().clone());
                self.hints.corrected += usize::from(pure.is_some_and(|pure| answers.admit(says(pure).as_str())));
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

    /// How the values of selecting arguments do.
    #[must_use]
    pub fn by_argument(&self) -> ByArgumentScore {
        self.by_argument
    }

    /// Labelled tools that are not in the set.
    #[must_use]
    pub fn missing(&self) -> &[ToolId] {
        &self.missing
    }

    /// Words of labels that no vocabulary has, with their tools.
    #[must_use]
    pub fn unknown_words(&self) -> &[String] {
        &self.unknown_words
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
        all.insert("by_arg".into(), self.by_argument.to_json());
        all.insert("unknown_words".into(), self.unknown_words.clone().into());
        all.insert("missing".into(), names(&self.missing));
        Value::Object(all)
    }
}

impl FieldScore {
    fn add(&mut self, tool: &ToolId, label: &Answers, answer: Option<&'static str>, clear: bool) {
        let right = answer.is_some_and(|answer| label.admit(answer));
        self.labelled += 1;
        self.answered += usize::from(answer.is_some());
        self.agree += usize::from(right);
        self.unambiguous += usize::from(clear);
        self.agree_unambiguous += usize::from(clear && right);
        if !right {
            let doubt = if clear { "" } else { " (ambiguous)" };
            let (meant, answer) = (label.best(), answer.unwrap_or("unknown"));
            self.disagree.push(format!("{tool}: {meant} was answered {answer}{doubt}"));
        }
        // An answer that one of several labels admits is no confusion.
        let meant = answer.filter(|_| right).unwrap_or_else(|| label.best());
        *self.confusion.entry(meant.to_owned()).or_default().entry(answer.unwrap_or("unknown")).or_default() += 1;
    }

    fn to_json(&self) -> Value {
        json!({
            "labelled": self.labelled,
            "answered": self.answered,
            "agree": self.agree,
            "agree_unambiguous": self.agree_unambiguous,
            "unambiguous": self.unambiguous,
            "disagree": self.disagree,
            "confusion": self.confusion,
        })
    }
}

impl ByArgumentScore {
    fn add(&mut self, label: &Label, inferred: &Inference) {
        let found = inferred.by_argument.as_ref().map(ByArgument::values);
        for (value, actions) in label.by_argument() {
            let behavior = found.and_then(|values| values.get(value));
            let reads = actions.admit("READ") || actions.admit("SEARCH");
            self.labelled += 1;
            self.answered += usize::from(behavior.is_some());
            self.agree += usize::from(behavior.is_some_and(|own| actions.admit(own.action().as_str())));
            self.false_pure += usize::from(!reads && behavior.is_some_and(|own| own.mutability() == Mutability::Pure));
        }
    }

    fn to_json(self) -> Value {
        json!({
            "labelled": self.labelled,
            "answered": self.answered,
            "agree": self.agree,
            "false_pure": self.false_pure,
        })
    }
}

/// What the classifier says about one field of the labels.
fn answer(inferred: &Inference, field: &str) -> Option<&'static str> {
    match field {
        "mutability" => inferred.mutability.value().map(Mutability::as_str),
        "action" => inferred.action.value().map(Action::as_str),
        "output_domain" => inferred.output_domain.value().map(OutputDomain::as_str),
        _ => inferred.content_type.value().map(ContentType::as_str),
    }
}

fn names(tools: &[ToolId]) -> Value {
    tools.iter().map(ToString::to_string).collect()
}
