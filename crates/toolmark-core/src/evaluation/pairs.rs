//! Confusable pairs: which identity separates them, and who would catch the wrong one before it runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::minimal::minimal_call;
use super::rows::{Pair, PairSeverity, ToolId, Tools};
use crate::behavior::{Behavior, BehaviorIdentity};
use crate::inference::{Inference, Mode};

/// Separation and catching over every pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairScore {
    forms: BTreeMap<Form, FormScore>,
    catches: BTreeMap<Form, BTreeMap<PairSeverity, Catch>>,
    missing: Vec<ToolId>,
}

/// The three identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Three fields, as in the paper.
    V1,
    /// Four fields.
    V2,
    /// Seven fields.
    V3,
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
}

/// Who notices that *b* was called where *a* was meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Catch {
    /// Only the schema of *b*, which a minimal call of *a* does not fit.
    pub schema_only: usize,
    /// Only the identity.
    pub behavior_only: usize,
    /// Both.
    pub both: usize,
    /// Nobody.
    pub neither: usize,
}

impl Form {
    /// All three.
    pub const ALL: &[Self] = &[Self::V1, Self::V2, Self::V3];

    /// As it is written in results.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    fn of(self, behavior: Behavior) -> Option<BehaviorIdentity> {
        match self {
            Self::V1 => Some(behavior.identity()),
            Self::V2 => behavior.identity_v2(),
            Self::V3 => behavior.identity_v3(),
        }
    }
}

impl PairScore {
    /// Scores pairs. `fits(schema, arguments)` says whether the arguments pass a schema.
    ///
    /// Identities come from the classifier alone. Where it has none for one of two tools, they count neither as separated
    /// nor as together.
    #[must_use]
    pub fn of(tools: &Tools, pairs: &[Pair], fits: &dyn Fn(&Value, &Value) -> bool) -> Self {
        let mut score = Self::default();
        for pair in pairs {
            let (Some(a), Some(b)) = (tools.get(&pair.a), tools.get(&pair.b)) else {
                let absent = [&pair.a, &pair.b].into_iter().filter(|tool| tools.get(tool).is_none());
                score.missing.extend(absent.cloned());
                continue;
            };
            let behavior = |definition| Inference::of(definition, Mode::Full).behavior();
            let schema = |definition: &crate::definition::Definition| definition.reading().input_schema().to_value();
            let caught_by_schema = pair.severity.is_some() && !fits(&schema(b), &minimal_call(&schema(a)));
            let (a, b) = (behavior(a), behavior(b));
            for form in Form::ALL {
                let identities = (a.and_then(|a| form.of(a)), b.and_then(|b| form.of(b)));
                score.add(pair, *form, identities, caught_by_schema);
            }
        }
        score
    }

    fn add(
        &mut self,
        pair: &Pair,
        form: Form,
        identities: (Option<BehaviorIdentity>, Option<BehaviorIdentity>),
        caught_by_schema: bool,
    ) {
        let (separated, together) = match identities {
            (Some(a), Some(b)) => (a != b, a == b),
            _ => (false, false),
        };
        let score = self.forms.entry(form).or_default();
        let right = match pair.severity {
            Some(severity) => {
                let (got, of) = score.separated.entry(severity).or_default();
                *got += usize::from(separated);
                *of += 1;
                self.catches.entry(form).or_default().entry(severity).or_default().add(caught_by_schema, separated);
                separated
            }
            None => {
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
    pub fn catches(&self, form: Form, severity: PairSeverity) -> Catch {
        self.catches.get(&form).and_then(|all| all.get(&severity)).copied().unwrap_or_default()
    }

    /// The object that stands under `pairs`. `catch` is with the third identity, `catch_v1` with the paper's.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut all: Map<String, Value> =
            self.forms.iter().map(|(form, score)| (form.as_str().to_owned(), score.to_json())).collect();
        let catches = |form: Form| -> Value {
            let by_severity = self.catches.get(&form).into_iter().flatten();
            Value::Object(
                by_severity.map(|(severity, catch)| (severity.as_str().to_owned(), catch.to_json())).collect(),
            )
        };
        all.insert("catch".into(), catches(Form::V3));
        all.insert("catch_v1".into(), catches(Form::V1));
        all.insert("missing".into(), self.missing.iter().map(ToString::to_string).collect());
        Value::Object(all)
    }
}

impl FormScore {
    fn to_json(&self) -> Value {
        let mut all: Map<String, Value> = self
            .separated
            .iter()
            .map(|(severity, (separated, total))| {
                (severity.as_str().to_owned(), json!({"separated": separated, "total": total}))
            })
            .collect();
        all.insert("same".into(), json!({"together": self.together.0, "total": self.together.1}));
        all.insert("wrong".into(), self.wrong.iter().map(|(a, b)| format!("{a} | {b}")).collect());
        Value::Object(all)
    }
}

impl Catch {
    fn add(&mut self, schema: bool, behavior: bool) {
        let counted = match (schema, behavior) {
            (true, false) => &mut self.schema_only,
            (false, true) => &mut self.behavior_only,
            (true, true) => &mut self.both,
            (false, false) => &mut self.neither,
        };
        *counted += 1;
    }

    fn to_json(self) -> Value {
        json!({
            "schema_only": self.schema_only,
            "behavior_only": self.behavior_only,
            "both": self.both,
            "neither": self.neither,
        })
    }
}
