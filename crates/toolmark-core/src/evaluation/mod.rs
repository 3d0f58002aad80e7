//! How well the classifier and the identities do on labelled data: counts only, so that anybody can divide as they like.
//!
//! Labels are read for scoring and nothing else; every identity comes from the classifier's own answer.

mod catch;
mod classifier;
mod decisions;
mod labels;
mod minimal;
mod overview;
mod pair_rows;
mod pairs;
mod rows;
mod tools;

use serde_json::{Map, Value};

pub use catch::{Catch, Form};
pub use classifier::{ByArgumentScore, ClassifierScore, FieldScore, HintScore};
pub use decisions::{Decision, DecisionScore};
pub use labels::{Answers, Label};
pub use minimal::minimal_call;
pub use overview::Overview;
pub use pair_rows::{Pair, PairSeverity};
pub use pairs::{FormScore, PairScore};
pub use rows::{ReadRowError, ToolId, rows};
pub use tools::{Named, Tools};

use crate::inference::Mode;
use crate::schema::check::InputSchema;

/// The rows of a data set. What it does not have is not measured.
#[derive(Clone, Debug, Default)]
pub struct DataSet {
    /// The definitions.
    pub tools: Tools,
    /// What readers say about them.
    pub labels: Option<Vec<Label>>,
    /// Which of them are confused.
    pub pairs: Option<Vec<Pair>>,
    /// What agents chose.
    pub decisions: Option<Vec<Decision>>,
}

/// Everything that is measured on definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// All tools, labelled or not.
    pub overview: Overview,
    /// The classifier on labels.
    pub classifier: Option<ClassifierScores>,
    /// Confusable pairs.
    pub pairs: Option<PairScore>,
    /// Recorded decisions.
    pub decisions: Option<DecisionScore>,
}

/// The classifier, by what it may look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifierScores {
    /// Everything.
    pub full: ClassifierScore,
    /// Without the hints: its worth as a second opinion on them.
    pub without_hints: ClassifierScore,
    /// The schema alone, as the paper's models.
    pub schema_only: ClassifierScore,
}

impl ClassifierScores {
    /// Scores the classifier in each of its modes.
    #[must_use]
    pub fn of(tools: &Tools, labels: &[Label]) -> Self {
        Self {
            full: ClassifierScore::of(tools, labels, Mode::Full),
            without_hints: ClassifierScore::of(tools, labels, Mode::WithoutHints),
            schema_only: ClassifierScore::of(tools, labels, Mode::SchemaOnly),
        }
    }
}

impl Evaluation {
    /// Measures. `seen` is called after each tool that was looked at, [`Tools::len`] times.
    #[must_use]
    pub fn of(data: &DataSet, seen: &dyn Fn()) -> Self {
        let tools = &data.tools;
        Self {
            overview: Overview::of(tools, seen),
            classifier: data.labels.as_ref().map(|labels| ClassifierScores::of(tools, labels)),
            pairs: data.pairs.as_ref().map(|pairs| PairScore::of(tools, pairs, &fits)),
            decisions: data.decisions.as_ref().map(|decisions| DecisionScore::of(tools, decisions, &fits)),
        }
    }

    /// The keys of `toolmark eval --json` that this part answers for.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut all = Map::new();
        all.insert("tools".into(), self.overview.to_json());
        if let Some(scores) = &self.classifier {
            all.insert("classifier".into(), scores.full.to_json());
            all.insert("classifier_without_hints".into(), scores.without_hints.to_json());
            all.insert("classifier_schema_only".into(), scores.schema_only.to_json());
        }
        if let Some(pairs) = &self.pairs {
            all.insert("pairs".into(), pairs.to_json());
        }
        if let Some(decisions) = &self.decisions {
            all.insert("decisions".into(), decisions.to_json());
        }
        all
    }
}

/// Whether arguments pass a schema, as the pipeline checks them. A schema that does not compile catches nothing.
#[must_use]
pub fn fits(schema: &Value, arguments: &Value) -> bool {
    InputSchema::compile(schema).map_or(true, |schema| schema.check(arguments).is_ok())
}

#[cfg(test)]
mod tests;
