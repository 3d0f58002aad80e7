//! What a tool probably does, worked out from its definition alone: offline, deterministic, with a reason for every answer.
//!
//! It answers from words that it knows and abstains otherwise. It never takes silence for harmlessness: without evidence
//! that a tool only reads, it does not say PURE.

mod action;
mod claims;
mod clues;
mod content;
mod dispatch;
mod domain;
mod facets;
mod lexicon;
mod opening;
mod parameters;
mod phrase;
mod schema_only;
mod senses;
mod subject;
mod surroundings;
mod verb_finder;
mod words;

use serde_json::{Value, json};

use crate::behavior::{
    Action, Behavior, ByArgument, ContentType, Facets, Mutability, OutputDomain, Polarity, Reach, Target,
};
use crate::definition::{Definition, Reading};
use clues::Clues;

/// What the classifier may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Name, title, description, schema and hints.
    Full,
    /// Everything but the hints: the second opinion on what the hints claim.
    WithoutHints,
    /// The input schema alone, as the models of the paper saw it.
    SchemaOnly,
}

/// One field, answered or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred<T> {
    value: Option<T>,
    confidence: u8,
    because: String,
}

/// Every field of a behavior, as far as it can be inferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// Whether it changes anything.
    pub mutability: Inferred<Mutability>,
    /// What it does.
    pub action: Inferred<Action>,
    /// What it acts on or returns.
    pub output_domain: Inferred<OutputDomain>,
    /// The kind of its payload.
    pub content_type: Inferred<ContentType>,
    /// The noun it acts on, where the list has one.
    pub target: Inferred<Target>,
    /// Which way it goes.
    pub polarity: Inferred<Polarity>,
    /// How far it reaches.
    pub reach: Inferred<Reach>,
    /// What each value of a selecting argument does.
    pub by_argument: Option<ByArgument>,
}

impl<T: Copy> Inferred<T> {
    pub(crate) fn new(value: T, confidence: u8, because: impl Into<String>) -> Self {
        Self { value: Some(value), confidence: confidence.min(99), because: because.into() }
    }

    pub(crate) fn unknown(because: impl Into<String>) -> Self {
        Self { value: None, confidence: 0, because: because.into() }
    }

    /// The answer; none when the classifier abstains.
    #[must_use]
    pub fn value(&self) -> Option<T> {
        self.value
    }

    /// How sure it is, in percent. An order, not a measured frequency.
    #[must_use]
    pub fn confidence(&self) -> u8 {
        self.confidence
    }

    /// Why, in a few words.
    #[must_use]
    pub fn because(&self) -> &str {
        &self.because
    }
}

impl Inference {
    /// Infers from a definition.
    #[must_use]
    pub fn of(definition: &Definition, mode: Mode) -> Self {
        Self::of_reading(&definition.reading(), mode)
    }

    /// Infers from a definition that has been read.
    #[must_use]
    pub fn of_reading(reading: &Reading<'_>, mode: Mode) -> Self {
        let clues = Clues::of(reading, mode);
        let inferred = if mode == Mode::SchemaOnly { schema_only::infer(&clues) } else { of_clues(&clues) };
        dispatch::by_argument(inferred, &clues, &reading.input_schema())
    }

    /// The whole behavior, when no field of the paper is missing.
    #[must_use]
    pub fn behavior(&self) -> Option<Behavior> {
        let (mutability, action, domain) = (self.mutability.value?, self.action.value?, self.output_domain.value?);
        let mut behavior = Behavior::new(mutability, action, domain).ok()?;
        if let Some(content) = self.content_type.value {
            behavior = behavior.with_content_type(content);
        }
        if let (Some(polarity), Some(reach)) = (self.polarity.value, self.reach.value) {
            behavior = behavior.with_facets(Facets { target: self.target.value, polarity, reach });
        }
        Some(behavior)
    }

    /// Every field with its confidence and its reason.
    #[must_use]
    pub fn to_json(&self) -> Value {
        fn field<T: Copy + serde::Serialize>(field: &Inferred<T>) -> Value {
            json!({"value": field.value, "confidence": field.confidence, "because": field.because})
        }
        json!({
            "mutability": field(&self.mutability),
            "action": field(&self.action),
            "output_domain": field(&self.output_domain),
            "content_type": field(&self.content_type),
            "target": field(&self.target),
            "polarity": field(&self.polarity),
            "reach": field(&self.reach),
        })
    }
}

fn of_clues(clues: &Clues) -> Inference {
    let act = action::infer(clues);
    let domain = domain::infer(clues, &act);
    let content = content::infer(clues, &act, &domain);
    facets::complete(clues, &act, domain, content)
}

#[cfg(test)]
mod tests;
