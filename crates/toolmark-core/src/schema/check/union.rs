//! Which branch of `anyOf` or `oneOf` to talk about when none fits: all of them if they ask for simple things, else the closest.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::words::{Expected, types};

/// What a value that is of the wrong type costs a branch: it was hardly meant.
const WRONG_TYPE: u64 = 1_000;
/// What a value other than the constant costs: constants are how publishers tell branches apart.
const WRONG_CONSTANT: u64 = 30;

/// What all branches together expect at `path`, when each expects only a type or some values there.
pub(super) fn expected(branches: &[Vec<ValidationError<'static>>], path: &str) -> Option<Expected> {
    let mut all = Expected::default();
    for branch in branches {
        let mut one = Expected::default();
        for error in branch {
            if error.instance_path().as_str() != path {
                return None;
            }
            match error.kind() {
                Kind::Type { kind } => one.types.extend(types(kind)),
                Kind::Enum { options } => one.values.extend(options.as_array().into_iter().flatten().cloned()),
                Kind::Constant { expected_value } => one.values.push((**expected_value).clone()),
                Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                    let inner = expected(context, path)?;
                    one.types.extend(inner.types);
                    one.values.extend(inner.values);
                }
                _ => return None,
            }
        }
        // A branch that lists its values has said its type with them.
        if one.values.is_empty() {
            all.types.extend(one.types);
        }
        all.values.extend(one.values);
    }
    all.types.sort_unstable();
    all.types.dedup();
    (!all.types.is_empty() || !all.values.is_empty()).then_some(all)
}

/// The branch that the value at `path` comes closest to; the first of equals.
pub(super) fn closest<'b>(
    branches: &'b [Vec<ValidationError<'static>>],
    path: &str,
) -> Option<&'b [ValidationError<'static>]> {
    let failed = branches.iter().filter(|branch| !branch.is_empty());
    failed.min_by_key(|branch| distance(branch, path)).map(Vec::as_slice)
}

fn distance(branch: &[ValidationError<'static>], path: &str) -> u64 {
    branch.iter().map(|error| distance_of(error, path)).fold(0, u64::saturating_add)
}

fn distance_of(error: &ValidationError<'_>, path: &str) -> u64 {
    match error.kind() {
        Kind::Type { .. } if error.instance_path().as_str() == path => WRONG_TYPE,
        Kind::Constant { .. } | Kind::Enum { .. } => WRONG_CONSTANT,
        Kind::AdditionalProperties { unexpected } => 1 + u64::try_from(unexpected.len()).unwrap_or(u64::MAX / 2),
        Kind::Required { .. } => 2,
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            context.iter().map(|branch| distance(branch, path)).min().unwrap_or(1)
        }
        _ => 1,
    }
}
