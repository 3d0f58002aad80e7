//! Do these arguments fit this schema? Compiled once, asked on every call; a refusal says everything that is wrong.
//!
//! Schemas come from strangers and arguments from models, so nothing here fetches, backtracks without a limit or recurses
//! further than a limit: what cannot be decided within the limits is refused with its own code.

mod compile;
mod graph;
mod index;
mod meter;
mod pattern;
mod secret;
mod union;
mod violation;
mod words;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use compile::{CompileSchemaError, CompileSchemaErrorKind};
pub use violation::{InvalidArguments, Violation};

use graph::Graph;
use meter::Size;
use violation::Problem;
use words::Words;

/// JSON values inside one another in arguments.
const ARGUMENT_DEPTH: usize = 64;
/// JSON values in arguments.
const ARGUMENT_VALUES: usize = 100_000;
/// Bytes of keys and strings in arguments.
const ARGUMENT_BYTES: usize = 16 << 20;
/// Steps for which every violation is collected. Each may cost memory, so it is far below what deciding may take.
const EXPLAIN_ALL: u64 = 100_000;
/// Steps for which the first violation is still looked for.
const EXPLAIN_FIRST: u64 = 500_000;

/// A tool's input schema, ready to check arguments with. Cheap to clone and to share between threads.
///
/// ```
/// use serde_json::json;
/// use toolmark_core::schema::check::InputSchema;
///
/// let schema = InputSchema::compile(&json!({
///     "type": "object",
///     "properties": { "owner": { "type": "string" } },
///     "required": ["owner"],
///     "additionalProperties": false,
/// }))?;
/// assert!(schema.check(&json!({ "owner": "toolmark" })).is_ok());
///
/// let refused = schema.check(&json!({ "ower": "toolmark" })).unwrap_err();
/// assert!(refused.to_string().contains("did you mean `owner`?"));
/// # Ok::<(), toolmark_core::schema::check::CompileSchemaError>(())
/// ```
#[derive(Clone)]
pub struct InputSchema(Arc<Inner>);

struct Inner {
    validator: jsonschema::Validator,
    graph: Graph,
    schema: Value,
}

impl InputSchema {
    /// Compiles a schema. The dialect is the one that `$schema` names, 2020-12 when it names none that is known; `format` is
    /// checked where that dialect says so (up to draft 7).
    ///
    /// # Errors
    /// [`CompileSchemaError`] when it is not JSON Schema, refers to anything outside itself or exceeds a limit.
    pub fn compile(schema: &Value) -> Result<Self, CompileSchemaError> {
        compile::compile(schema).map(|inner| Self(Arc::new(inner)))
    }

    /// Checks the arguments of one call, which have to be an object whatever the schema says.
    ///
    /// # Errors
    /// [`InvalidArguments`] with all violations, or with the limit that the arguments exceed.
    pub fn check(&self, arguments: &Value) -> Result<(), InvalidArguments> {
        if !arguments.is_object() {
            return Err(Problem::NotAnObject(words::a_kind_of(arguments)).into());
        }
        let size = measure(arguments)?;
        let graph = &self.0.graph;
        if !meter::surely_affordable(graph, size, meter::DECIDE) {
            meter::count(graph, arguments, meter::DECIDE).map_err(|_| Problem::TooCostly)?;
        }
        if self.0.validator.is_valid(arguments) {
            return Ok(());
        }
        Err(self.explain(arguments))
    }

    /// The schema as it was given.
    #[must_use]
    pub fn as_json(&self) -> &Value {
        &self.0.schema
    }

    /// Collecting violations can cost far more than finding that there is one: alternatives inside alternatives each keep
    /// their own. What is too much to collect is told less precisely.
    #[cold]
    fn explain(&self, arguments: &Value) -> InvalidArguments {
        let Inner { validator, graph, schema } = &*self.0;
        let words = Words::of(schema);
        let violations = match meter::count(graph, arguments, EXPLAIN_FIRST) {
            Ok(steps) if steps <= EXPLAIN_ALL => {
                let errors: Vec<_> = validator.iter_errors(arguments).collect();
                words.violations(errors.iter())
            }
            Ok(_) => words.violations(validator.validate(arguments).err().iter()),
            Err(_) => words::too_much_to_say(),
        };
        Problem::Violations(violations).into()
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputSchema").field(&self.0.schema).finish()
    }
}

fn measure(arguments: &Value) -> Result<Size, InvalidArguments> {
    let size = Size::of(arguments, ARGUMENT_DEPTH, ARGUMENT_VALUES).ok_or(Problem::TooDeep(ARGUMENT_DEPTH))?;
    if size.values > ARGUMENT_VALUES {
        return Err(Problem::TooLarge { what: "values", limit: ARGUMENT_VALUES }.into());
    }
    if size.text > ARGUMENT_BYTES {
        return Err(Problem::TooLarge { what: "bytes", limit: ARGUMENT_BYTES }.into());
    }
    Ok(size)
}

#[cfg(test)]
mod tests;
