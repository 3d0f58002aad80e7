//! Holds every policy against the schema before any call is judged by it.

use std::collections::BTreeSet;

use cedar_policy::ffi::DetailedError;
use cedar_policy::{PolicySet, Schema, ValidationMode, ValidationWarning, Validator};
use toolmark_core::problem::Problem;

use super::error::{CedarError, Kind};
use super::mentions::Mentions;
use super::source::{Parsed, Says};
use super::{CedarDefault, SCHEMA};

/// The schema of every policy.
///
/// # Errors
/// Never, unless the schema in this crate is broken; a test reads it.
pub(super) fn schema() -> Result<Schema, String> {
    Schema::from_cedarschema_str(SCHEMA).map(|(schema, _)| schema).map_err(|error| error.to_string())
}

/// What each policy looks at. Problems and notes are added for what the schema or the rules of this crate refuse.
pub(super) fn check(
    policies: &[Parsed],
    schema: &Schema,
    default: CedarDefault,
    problems: &mut Vec<Problem>,
    notes: &mut Vec<Problem>,
) -> Vec<Mentions> {
    validate(policies, schema, problems, notes);
    let mut all = Vec::with_capacity(policies.len());
    for policy in policies {
        let mentions = match policy.policy.to_json() {
            Ok(json) => Mentions::of(&json),
            Err(error) => {
                problems.push(policy.problem(Kind::Syntax, error.to_string()));
                Mentions::default()
            }
        };
        if mentions.misuses_principal {
            problems.push(policy.problem(Kind::Principal, "the principal is compared by `==`, `is` or `contains`"));
        }
        if policy.says == Says::Permit && default == CedarDefault::Permit {
            notes.push(policy.problem(Kind::IdlePermit, "this `permit` changes nothing"));
        }
        all.push(mentions);
    }
    all
}

fn validate(policies: &[Parsed], schema: &Schema, problems: &mut Vec<Problem>, notes: &mut Vec<Problem>) {
    let set = match PolicySet::from_policies(policies.iter().map(|policy| policy.policy.clone())) {
        Ok(set) => set,
        Err(error) => {
            problems.extend(policies.first().map(|policy| policy.problem(Kind::DuplicateId, error.to_string())));
            return;
        }
    };
    let find = |id: &str| policies.iter().find(|policy| &*policy.id == id);
    let tell = |kind: Kind, id: &str, error: &DetailedError| {
        let policy = find(id)?;
        let offset = error.source_locations.first().map_or(0, |location| location.loc.start);
        Some(CedarError::of(kind, policy.owner(), id, error).at(&policy.document, policy.start + offset))
    };
    let result = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
    // One thing wrong often makes a policy impossible as well; that is said only of policies with nothing else wrong.
    let mut told: BTreeSet<String> = BTreeSet::new();
    // Cedar checks a policy once for every action and says the same each time.
    let mut places: BTreeSet<(String, Option<usize>)> = BTreeSet::new();
    for error in result.validation_errors() {
        let (id, detail) = (error.policy_id().to_string(), DetailedError::from(error));
        let place = detail.source_locations.first().map(|location| location.loc.start);
        if places.insert((id.clone(), place)) {
            problems.extend(tell(Kind::Type, &id, &detail));
        }
        told.insert(id);
    }
    for warning in result.validation_warnings() {
        let id = warning.policy_id().to_string();
        let detail = DetailedError::from(warning);
        match warning {
            ValidationWarning::MixedScriptString(_)
            | ValidationWarning::MixedScriptIdentifier(_)
            | ValidationWarning::ConfusableIdentifier(_) => notes.extend(tell(Kind::Suspicious, &id, &detail)),
            ValidationWarning::BidiCharsInString(_) | ValidationWarning::BidiCharsInIdentifier(_) => {
                problems.extend(tell(Kind::Suspicious, &id, &detail));
            }
            // Also what a later Cedar may warn about: a warning is never the lesser evil here.
            _ => {
                if told.insert(id.clone()) {
                    problems.extend(tell(Kind::Impossible, &id, &detail));
                }
            }
        }
    }
}
