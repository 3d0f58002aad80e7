//! Confusable pairs: which identity separates them, and who would catch the wrong one before it runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::catch::{Catch, Compared, Form, Identities};
use super::minimal::minimal_call;
use super::pair_rows::{Pair, PairSeverity};
use super::rows::ToolId;
use super::tools::Tools;
use crate::definition::Definition;

/// Separation and catching over every pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairScore {
    forms: BTreeMap<Form, FormScore>,
    catches: BTreeMap<Form, BTreeMap<PairSeverity, Catch>>,
    missing: Vec<ToolId>,
    left_out: usize,
}

/// How one identity does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormScore {
    /// By severity: separated, of how many.
    pub separated: BTreeMap<PairSeverity, (usize, usize)>,
    /// Pairs that do the same: kept together, of how many.
    pub together: (usize, usize),
    /// The pairs that came out wrong.
    pub wrong: Vec<(ToolId, ToolId)>,
    /// Pairs with a tool that has no identity.
    pub unknown: usize,
}

impl PairScore {
    /// Scores pairs. `fits(schema, arguments)` says whether the arguments pass a schema.
    ///
    /// Identities come from the classifier alone. Where it has none for one of two tools, they count neither as separated
    /// nor as together. A pair with a tool that is not in the set is listed and counts nowhere.
    #[must_use]
    pub fn of(tools: &Tools, pairs: &[Pair], fits: &dyn Fn(&Value, &Value) -> bool) -> Self {
        let mut score = Self::default();
        let mut identities = Identities::new(tools);
        for pair in pairs {
            let (Some(a), Some(b)) = (tools.get(&pair.a), tools.get(&pair.b)) else {
                let absent = [&pair.a, &pair.b].into_iter().filter(|tool| tools.get(tool).is_none());
                score.missing.extend(absent.cloned());
                score.left_out += 1;
                continue;
            };
            let schema = |definition: &Definition| definition.reading().input_schema().to_value();
            let caught_by_schema = pair.severity.is_some() && !fits(&schema(b), &minimal_call(&schema(a)));
            for form in Form::ALL {
                score.add(pair, *form, identities.compare(*form, &pair.a, &pair.b), caught_by_schema);
            }
        }
        score.missing.sort();
        score.missing.dedup();
        score
    }

    fn add(&mut self, pair: &Pair, form: Form, compared: Compared, caught_by_schema: bool) {
        let separated = compared == Compared::Apart;
        let score = self.forms.entry(form).or_default();
        score.unknown += usize::from(compared == Compared::Unknown);
        let right = match &pair.severity {
            Some(severity) => {
                let (got, of) = score.separated.entry(severity.clone()).or_default();
                *got += usize::from(separated);
                *of += 1;
                let catches = self.catches.entry(form).or_default();
                catches.entry(severity.clone()).or_default().add(caught_by_schema, separated);
                separated
            }
            None => {
                let together = compared == Compared::Together;
                score.together.0 += usize::from(together);
                score.together.1 += 1;
                together
            }
        };
        if !right {
            score.wrong.push((pair.a.clone(), pair.b.clone()));
        }
    }

    /// How one identity does.
    #[must_use]
    pub fn form(&self, form: Form) -> Option<&FormScore> {
        self.forms.get(&form)
    }

    /// Who catches confusions of one severity, with one identity.
    #[must_use]
    pub fn catches(&self, form: Form, severity: &PairSeverity) -> Catch {
        self.catches.get(&form).and_then(|all| all.get(severity)).copied().unwrap_or_default()
    }

    /// Tools of pairs that are not in the set.
    #[must_use]
    pub fn missing(&self) -> &[ToolId] {
        &self.missing
    }

    /// The severities that there are, worst first; those of the paper always.
    #[must_use]
    pub fn severities(&self) -> Vec<PairSeverity> {
        let own = self.forms.values().flat_map(|score| score.separated.keys().cloned());
        let mut all: Vec<PairSeverity> = PairSeverity::ALL.into_iter().chain(own).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The object that stands under `pairs`. `catch` is with the third identity, `catch_v1` with the paper's.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let severities = self.severities();
        let mut all = Map::new();
        for form in Form::ALL {
            let score = self.form(*form).cloned().unwrap_or_default();
            all.insert(form.as_str().to_owned(), score.to_json(&severities));
            let catches = severities.iter().map(|own| (own.as_str().to_owned(), self.catches(*form, own).to_json()));
            let key = if *form == Form::V3 { "catch".to_owned() } else { format!("catch_{}", form.as_str()) };
            all.insert(key, Value::Object(catches.collect()));
        }
        all.insert("missing".into(), self.missing.iter().map(ToString::to_string).collect());
        all.insert("left_out".into(), self.left_out.into());
        Value::Object(all)
    }
}

impl FormScore {
    fn to_json(&self, severities: &[PairSeverity]) -> Value {
        let mut all = Map::new();
        for severity in severities {
            let (separated, total) = self.separated.get(severity).copied().unwrap_or_default();
            all.insert(severity.as_str().to_owned(), json!({"separated": separated, "total": total}));
        }
        all.insert("same".into(), json!({"together": self.together.0, "total": self.together.1}));
        all.insert("wrong".into(), self.wrong.iter().map(|(a, b)| format!("{a} | {b}")).collect());
        all.insert("unknown".into(), self.unknown.into());
        Value::Object(all)
    }
}
