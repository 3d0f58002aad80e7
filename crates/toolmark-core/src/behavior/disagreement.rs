//! Where two do not say the same about a tool. Not all of it changes a verdict; all of it is worth showing.

use serde_json::{Value, json};

use super::{Action, BehaviorSource, Statements};

/// Two that do not say the same about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The field.
    pub field: &'static str,
    /// Who claims something.
    pub source: BehaviorSource,
    /// What is claimed.
    pub claimed: String,
    /// Who contradicts.
    pub against: BehaviorSource,
    /// What they say instead.
    pub found: String,
    /// Why, where the classifier contradicts.
    pub because: String,
}

impl Disagreement {
    /// As JSON: `field`, `source`, `claimed`, `against`, `found`, `because`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "field": self.field,
            "source": self.source.as_str(),
            "claimed": self.claimed,
            "against": self.against.as_str(),
            "found": self.found,
            "because": self.because,
        })
    }
}

/// Every contradiction between what is claimed and what somebody else says.
pub(super) fn disagreements(said: &Statements<'_>) -> Vec<Disagreement> {
    let mut all = Vec::new();
    let claims = [
        (BehaviorSource::Operator, said.operator.map(|behavior| behavior.mutability())),
        (BehaviorSource::Publisher, said.publisher.map(|behavior| behavior.mutability())),
        (BehaviorSource::Annotations, said.annotations.mutability()),
    ];
    let claims = claims.into_iter().filter_map(|(source, claim)| claim.map(|claim| (source, claim)));
    if let Some(inferred) = said.inferred {
        for (source, claim) in claims {
            if let Some(found) = inferred.mutability.value().filter(|found| *found != claim) {
                all.push(Disagreement {
                    field: "mutability",
                    source,
                    claimed: claim.to_string(),
                    against: BehaviorSource::Inferred,
                    found: found.to_string(),
                    because: inferred.mutability.because().to_owned(),
                });
            }
        }
        let destroys = |action: &Action| matches!(action, Action::Delete | Action::Overwrite);
        if let Some(action) =
            inferred.action.value().filter(destroys).filter(|_| said.annotations.destructive == Some(false))
        {
            all.push(Disagreement {
                field: "action",
                source: BehaviorSource::Annotations,
                claimed: "not destructive".into(),
                against: BehaviorSource::Inferred,
                found: action.to_string(),
                because: inferred.action.because().to_owned(),
            });
        }
    }
    if let (Some(declared), Some(hinted)) = (said.publisher, said.annotations.mutability())
        && declared.mutability() != hinted
    {
        all.push(Disagreement {
            field: "mutability",
            source: BehaviorSource::Publisher,
            claimed: declared.mutability().to_string(),
            against: BehaviorSource::Annotations,
            found: hinted.to_string(),
            because: String::new(),
        });
    }
    all
}
