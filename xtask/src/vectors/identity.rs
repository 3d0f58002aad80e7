//! Identity vectors: one function of the Agents SDK each, answered by `toolmark_core::compat`, and by `toolmark_models`
//! where it is about the wire.

mod approvals;
mod calls;
mod input;
mod mcp;
mod names;
mod tools;
mod wire;

use std::collections::HashMap;
use std::path::Path;

use serde_json::{Value, json};
use toolmark_core::json::Json;

use self::input::Input;
use super::document::{Expected, ReadVectorsError, Vector};
use super::{Outcome, Verdict};

/// What a function answers: a value, or the category of an error.
type Answer = Result<Value, Refusal>;

/// What a function answers that keeps numbers as they are written.
type ExactAnswer = Result<Json<'static>, Refusal>;

/// Why there is no value.
pub(crate) enum Refusal {
    /// The function refused, in a way that has a category.
    Category(&'static str),
    /// The vector does not fit the function.
    BadInput(String),
}

/// Functions that are answered elsewhere, later.
const LATER: &[(&str, &str)] = &[];

/// Runs every vector.
///
/// # Errors
/// When a vector names a function that nobody knows.
pub(crate) fn run(path: &Path, vectors: &[Vector<'_>]) -> Result<Vec<Outcome>, ReadVectorsError> {
    vectors.iter().map(|vector| outcome(path, vector)).collect()
}

fn outcome(path: &Path, vector: &Vector<'_>) -> Result<Outcome, ReadVectorsError> {
    let later = LATER.iter().find(|(function, _)| *function == vector.function);
    let verdict = if let Some((_, waits_for)) = later {
        Verdict::Pending { waits_for }
    } else if let Some(answer) = exact_answer(&vector.function, &vector.input) {
        judge(&vector.expected, answer, |expected, got| same(expected, got), Json::to_value)
    } else if vector.function == "approval_scenario" {
        let answer = approvals::scenario(&vector.input);
        judge(&vector.expected, answer, |expected, got| approvals::same(&expected.to_value(), got), Value::clone)
    } else if let Some(answer) = answer(&vector.function, &vector.input) {
        judge(&vector.expected, answer, |expected, got| expected.to_value() == *got, Value::clone)
    } else {
        let problem = format!("vector `{}` is of the unknown function `{}`", vector.id, vector.function);
        return Err(ReadVectorsError::new(path, problem));
    };
    Ok(Outcome { id: vector.id.clone(), function: vector.function.clone(), verdict })
}

/// Compares an answer with what was recorded; errors by their category.
fn judge<T>(
    expected: &Expected<'_>,
    answer: Result<T, Refusal>,
    same: impl Fn(&Json<'_>, &T) -> bool,
    shown: impl Fn(&T) -> Value,
) -> Verdict {
    let passed = match (expected, &answer) {
        (Expected::Output(expected), Ok(got)) => same(expected, got),
        (Expected::ErrorCategory(expected), Err(Refusal::Category(got))) => expected == got,
        _ => false,
    };
    if passed {
        return Verdict::Passed;
    }
    let expected = match expected {
        Expected::Output(output) => json!({ "output": output.to_value() }),
        Expected::ErrorCategory(category) => json!({ "error_category": category }),
    };
    let got = match answer {
        Ok(output) => json!({ "output": shown(&output) }),
        Err(Refusal::Category(category)) => json!({ "error_category": category }),
        Err(Refusal::BadInput(problem)) => json!({ "bad_input": problem }),
    };
    Verdict::Missed { expected, got }
}

/// Objects without the order of their keys, whole numbers by their digits, others by the double they stand for.
fn same(one: &Json<'_>, other: &Json<'_>) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            let whole = |text: &str| !text.contains(['.', 'e', 'E']);
            one == other || (!whole(one) && !whole(other) && one.parse::<f64>() == other.parse::<f64>())
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let other: HashMap<&str, &Json<'_>> = other.iter().map(|(key, value)| (key.as_ref(), value)).collect();
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key.as_ref()).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// The answer of a function whose numbers count as written; none when it is no such function.
fn exact_answer(function: &str, input: &Json<'_>) -> Option<ExactAnswer> {
    (function == "strict_schema").then(|| mcp::strict(&Input::of(input)))
}

/// The answer of a function; none when nobody knows it.
fn answer(function: &str, input: &Json<'_>) -> Option<Answer> {
    let input = Input::of(input);
    names::answer(function, &input)
        .or_else(|| calls::answer(function, &input))
        .or_else(|| tools::answer(function, &input))
        .or_else(|| mcp::answer(function, &input))
        .or_else(|| wire::answer(function, &input))
}
