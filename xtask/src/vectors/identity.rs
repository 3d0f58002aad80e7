//! Identity vectors: one function of the Agents SDK each, answered by `toolmark_core::compat`.

mod calls;
mod input;
mod mcp;
mod names;
mod tools;

use std::path::Path;

use serde_json::{Value, json};
use toolmark_core::json::Json;

use self::input::Input;
use super::document::{Expected, ReadVectorsError, Vector};
use super::{Outcome, Verdict};

/// What a function answers: a value, or the category of an error.
type Answer = Result<Value, Refusal>;

/// Why there is no value.
pub(crate) enum Refusal {
    /// The function refused, in a way that has a category.
    Category(&'static str),
    /// The vector does not fit the function.
    BadInput(String),
}

/// Functions that are answered elsewhere, later.
const LATER: [(&str, &str); 4] = [
    ("approval_scenario", "approvals"),
    ("responses_wire_tools", "the Responses wire format"),
    ("tool_output_structured", "the shapes of tool outputs"),
    ("route_call", "the dispatch of calls"),
];

/// Runs every vector.
///
/// # Errors
/// When a vector names a function that nobody knows.
pub(crate) fn run(path: &Path, vectors: &[Vector<'_>]) -> Result<Vec<Outcome>, ReadVectorsError> {
    vectors.iter().map(|vector| outcome(path, vector)).collect()
}

fn outcome(path: &Path, vector: &Vector<'_>) -> Result<Outcome, ReadVectorsError> {
    let later = LATER.iter().find(|(function, _)| *function == vector.function);
    let verdict = match (later, answer(&vector.function, &vector.input)) {
        (Some((_, waits_for)), _) => Verdict::Pending { waits_for },
        (None, Some(answer)) => judge(&vector.expected, answer),
        (None, None) => {
            let problem = format!("vector `{}` is of the unknown function `{}`", vector.id, vector.function);
            return Err(ReadVectorsError::new(path, problem));
        }
    };
    Ok(Outcome { id: vector.id.clone(), function: vector.function.clone(), verdict })
}

/// Errors are compared by category. Objects are compared without the order of their keys, numbers with their kind.
fn judge(expected: &Expected<'_>, answer: Answer) -> Verdict {
    let expected = match expected {
        Expected::Output(output) => json!({ "output": output.to_value() }),
        Expected::ErrorCategory(category) => json!({ "error_category": category }),
    };
    let got = match answer {
        Ok(output) => json!({ "output": output }),
        Err(Refusal::Category(category)) => json!({ "error_category": category }),
        Err(Refusal::BadInput(problem)) => json!({ "bad_input": problem }),
    };
    if got == expected { Verdict::Passed } else { Verdict::Missed { expected, got } }
}

/// The answer of a function; none when nobody knows it.
fn answer(function: &str, input: &Json<'_>) -> Option<Answer> {
    let input = Input::of(input);
    names::answer(function, &input)
        .or_else(|| calls::answer(function, &input))
        .or_else(|| tools::answer(function, &input))
        .or_else(|| mcp::answer(function, &input))
}
