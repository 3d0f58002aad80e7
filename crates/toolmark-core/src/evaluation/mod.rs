//! How well the classifier and the identities do on labelled data: counts only, so that anybody can divide as they like.
//!
//! Labels are read for scoring and nothing else; every identity comes from the classifier's own answer.

mod classifier;
mod minimal;
mod pairs;
mod rows;

use serde_json::{Map, Value};

pub use classifier::{ClassifierScore, FieldScore, HintScore};
pub use minimal::minimal_call;
pub use pairs::{Catch, Form, FormScore, PairScore};
pub use rows::{Label, Pair, PairSeverity, ReadRowError, ToolId, Tools};

use crate::inference::Mode;
use crate::schema::check::InputSchema;

/// Everything that is measured on definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The classifier with everything it may look at.
    pub classifier: ClassifierScore,
    /// The classifier without the hints: its worth as a second opinion on them.
    pub classifier_without_hints: ClassifierScore,
    /// The classifier with the schema alone, as the paper's models.
    pub classifier_schema_only: ClassifierScore,
    /// Confusable pairs.
    pub pairs: PairScore,
}

impl Evaluation {
    /// Measures. `fits(schema, arguments)` says whether the arguments pass a schema.
    #[must_use]
    pub fn of(tools: &Tools, labels: &[Label], pairs: &[Pair], fits: &dyn Fn(&Value, &Value) -> bool) -> Self {
        Self {
            classifier: ClassifierScore::of(tools, labels, Mode::Full),
            classifier_without_hints: ClassifierScore::of(tools, labels, Mode::WithoutHints),
            classifier_schema_only: ClassifierScore::of(tools, labels, Mode::SchemaOnly),
            pairs: PairScore::of(tools, pairs, fits),
        }
    }

    /// The keys of `toolmark eval --json` that this part answers for.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        crate::explain::facts([
            ("classifier", self.classifier.to_json()),
            ("classifier_without_hints", self.classifier_without_hints.to_json()),
            ("classifier_schema_only", self.classifier_schema_only.to_json()),
            ("pairs", self.pairs.to_json()),
        ])
    }
}

/// Whether arguments pass a schema, as the pipeline checks them. A schema that does not compile catches nothing.
#[must_use]
pub fn fits(schema: &Value, arguments: &Value) -> bool {
    InputSchema::compile(schema).map_or(true, |schema| schema.check(arguments).is_ok())
}

#[cfg(test)]
mod tests;
