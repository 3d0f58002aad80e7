//! What turns a stranger's schema into something that may be run: every limit is checked before the checker sees the schema.

use serde_json::{Map, Value};

use super::Inner;
use super::graph::Graph;
use super::pattern::{self, Engine};
use super::words::Words;
use crate::explain::{Code, Explain, facts};
use crate::text::visible;

/// JSON values inside one another in a schema.
pub(super) const SCHEMA_DEPTH: usize = 64;
/// JSON values in a schema.
pub(super) const SCHEMA_VALUES: usize = 20_000;
/// Bytes of keys, strings and numbers in a schema.
pub(super) const SCHEMA_BYTES: usize = 1 << 20;

/// A schema that Toolmark does not check arguments with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct CompileSchemaError {
    kind: CompileSchemaErrorKind,
}

/// What is wrong with the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileSchemaErrorKind {
    /// It is not JSON Schema.
    #[error("the schema is not valid at `{path}`: {problem}")]
    Invalid {
        /// Where, as a JSON pointer into the schema.
        path: String,
        /// What is wrong there.
        problem: String,
    },
    /// It is nested too far, on the page or through references.
    #[error("the schema nests more than {limit} {what}")]
    TooDeep {
        /// What is nested.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// It holds, or unfolds to, too much.
    #[error("the schema has more than {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How many are allowed.
        limit: usize,
    },
    /// It refers to something outside itself.
    #[error("the schema refers to {}, which is outside of it", listed(references))]
    RemoteRef {
        /// Every reference that leaves the document.
        references: Vec<String>,
    },
    /// It has a regular expression that cannot be matched in bounded time.
    #[error("the pattern `{pattern}` at `{path}` {problem}")]
    PatternUnsupported {
        /// Where, as a JSON pointer into the schema.
        path: String,
        /// The pattern, as far as it can be shown.
        pattern: String,
        /// Why it is refused.
        problem: &'static str,
    },
}

impl From<CompileSchemaErrorKind> for CompileSchemaError {
    fn from(kind: CompileSchemaErrorKind) -> Self {
        Self { kind }
    }
}

impl CompileSchemaError {
    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &CompileSchemaErrorKind {
        &self.kind
    }

    pub(super) fn invalid(path: &str, problem: impl Into<String>) -> Self {
        let path = if path.is_empty() { "#".to_owned() } else { visible(path, 200) };
        CompileSchemaErrorKind::Invalid { path, problem: problem.into() }.into()
    }

    pub(super) fn pattern(path: &str, pattern: &str, problem: &'static str) -> Self {
        CompileSchemaErrorKind::PatternUnsupported { path: visible(path, 200), pattern: visible(pattern, 80), problem }
            .into()
    }
}

pub(super) fn compile(schema: &Value) -> Result<Inner, CompileSchemaError> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err(CompileSchemaError::invalid("", "a schema is an object or a boolean"));
    }
    measure(schema)?;
    let graph = Graph::of(schema)?;
    let validator = build(schema, graph.needs_look_around())?;
    Ok(Inner { validator, graph, schema: schema.clone() })
}

fn build(schema: &Value, look_around: bool) -> Result<jsonschema::Validator, CompileSchemaError> {
    let (draft, known) = draft(schema);
    let replaced;
    let schema = if known {
        schema
    } else {
        replaced = without_dialect(schema);
        &replaced
    };
    // Without its default features the checker cannot fetch; `offline` keeps that true when another crate turns them on.
    let mut options = jsonschema::options().with_draft(draft).offline().with_pattern_options(Engine::Large.options());
    if look_around {
        options = options.with_keyword("pattern", pattern::keyword);
    }
    // The checker panics on some identifiers that no registry can hold. A stranger's schema must not end the process.
    let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| options.build(schema)));
    match built {
        Ok(Ok(validator)) => Ok(validator),
        Ok(Err(error)) => Err(refused(&error)),
        Err(_) => Err(CompileSchemaError::invalid("", "its identifiers and references cannot be put in order")),
    }
}

/// The dialect that `$schema` names, and whether it is one that exists. What names none, or one nobody published, is 2020-12.
fn draft(schema: &Value) -> (jsonschema::Draft, bool) {
    use jsonschema::Draft;
    let Some(named) = schema.get("$schema") else {
        return (Draft::Draft202012, true);
    };
    let text = named.as_str().unwrap_or_default().trim_end_matches('#');
    let text = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    match text {
        "json-schema.org/draft-04/schema" => (Draft::Draft4, true),
        "json-schema.org/draft-06/schema" => (Draft::Draft6, true),
        "json-schema.org/draft-07/schema" => (Draft::Draft7, true),
        "json-schema.org/draft/2019-09/schema" => (Draft::Draft201909, true),
        "json-schema.org/draft/2020-12/schema" => (Draft::Draft202012, true),
        _ => (Draft::Draft202012, false),
    }
}

fn without_dialect(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(entries) = &mut schema {
        entries.shift_remove("$schema");
    }
    schema
}

fn refused(error: &jsonschema::ValidationError<'_>) -> CompileSchemaError {
    use jsonschema::error::ValidationErrorKind as Kind;
    match error.kind() {
        Kind::Referencing(jsonschema::ReferencingError::Unretrievable { uri, .. }) => {
            CompileSchemaErrorKind::RemoteRef { references: vec![visible(uri, 200)] }.into()
        }
        Kind::Referencing(problem) => CompileSchemaError::invalid("", visible(&problem.to_string(), 200)),
        _ => {
            let found = Words::without_schema().violations(std::iter::once(error));
            match found.shown().first() {
                Some(violation) => CompileSchemaError::invalid(violation.path(), violation.problem()),
                None => CompileSchemaError::invalid("", "it does not fit its own dialect"),
            }
        }
    }
}

/// Walks the schema once and stops at the first limit, so that nothing behind it needs limits of its own.
fn measure(schema: &Value) -> Result<(), CompileSchemaError> {
    let size = super::meter::Size::of(schema, SCHEMA_DEPTH, SCHEMA_VALUES);
    match size {
        None => Err(CompileSchemaErrorKind::TooDeep { what: "levels", limit: SCHEMA_DEPTH }.into()),
        Some(size) if size.values > SCHEMA_VALUES => {
            Err(CompileSchemaErrorKind::TooLarge { what: "values", limit: SCHEMA_VALUES }.into())
        }
        Some(size) if size.text > SCHEMA_BYTES => {
            Err(CompileSchemaErrorKind::TooLarge { what: "bytes", limit: SCHEMA_BYTES }.into())
        }
        Some(_) => Ok(()),
    }
}

fn listed(references: &[String]) -> String {
    let quoted: Vec<String> = references.iter().map(|reference| format!("`{reference}`")).collect();
    quoted.join(", ")
}

impl Explain for CompileSchemaError {
    fn code(&self) -> Code {
        match self.kind {
            CompileSchemaErrorKind::Invalid { .. } => Code::new("schema-invalid"),
            CompileSchemaErrorKind::TooDeep { .. } => Code::new("schema-too-deep"),
            CompileSchemaErrorKind::TooLarge { .. } => Code::new("schema-too-large"),
            CompileSchemaErrorKind::RemoteRef { .. } => Code::new("schema-remote-ref"),
            CompileSchemaErrorKind::PatternUnsupported { .. } => Code::new("schema-pattern-unsupported"),
        }
    }

    fn why(&self) -> String {
        match self.kind {
            CompileSchemaErrorKind::Invalid { .. } => {
                "arguments cannot be checked against a schema that says nothing definite".into()
            }
            CompileSchemaErrorKind::TooDeep { .. } | CompileSchemaErrorKind::TooLarge { .. } => {
                "a schema of this shape is used to exhaust the programs that check with it".into()
            }
            CompileSchemaErrorKind::RemoteRef { .. } => {
                "fetching it would let a tool's publisher make Toolmark call addresses of their choice, and what was reviewed \
                 could change without the tool changing"
                    .into()
            }
            CompileSchemaErrorKind::PatternUnsupported { .. } => {
                "one chosen argument could keep the check busy for minutes".into()
            }
        }
    }

    fn fix(&self) -> String {
        match &self.kind {
            CompileSchemaErrorKind::Invalid { path, .. } => {
                format!("correct the schema at `{path}` in the tool's source")
            }
            CompileSchemaErrorKind::TooDeep { .. } => {
                "move nested parts into `$defs` and shorten chains of `$ref`".into()
            }
            CompileSchemaErrorKind::TooLarge { .. } => {
                "split the tool, or describe large parts as `{\"type\": \"object\"}` and check them in the tool".into()
            }
            CompileSchemaErrorKind::RemoteRef { .. } => {
                "copy what it refers to into `$defs` and write `{\"$ref\": \"#/$defs/name\"}`".into()
            }
            CompileSchemaErrorKind::PatternUnsupported { .. } => {
                "write the pattern without look-around and back-references, and lengths as `maxLength`, such as \
                 `{\"pattern\": \"^[a-z]+$\", \"maxLength\": 100}`"
                    .into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match &self.kind {
            CompileSchemaErrorKind::Invalid { path, problem } => {
                facts([("path", path.as_str().into()), ("problem", problem.as_str().into())])
            }
            CompileSchemaErrorKind::TooDeep { what, limit } | CompileSchemaErrorKind::TooLarge { what, limit } => {
                facts([("what", (*what).into()), ("limit", (*limit).into())])
            }
            CompileSchemaErrorKind::RemoteRef { references } => facts([("references", references.clone().into())]),
            CompileSchemaErrorKind::PatternUnsupported { path, pattern, problem } => facts([
                ("path", path.as_str().into()),
                ("pattern", pattern.as_str().into()),
                ("problem", (*problem).into()),
            ]),
        }
    }
}
