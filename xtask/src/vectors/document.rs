//! Vector files: finding them, reading them, and telling the two kinds apart.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use toolmark_core::explain::Explain;
use toolmark_core::json::{self, Json, Limits};

/// A file of vectors. Numbers stay as they are written, because `1` and `1.0` are two answers.
pub(crate) enum Document<'a> {
    /// Recordings of single functions.
    Identity(Vec<Vector<'a>>),
    /// Lookups in catalogs.
    Resolution(Json<'a>),
}

/// One recording: what went in, and what came out or how it was refused.
pub(crate) struct Vector<'a> {
    pub(crate) id: String,
    pub(crate) function: String,
    pub(crate) input: Json<'a>,
    pub(crate) expected: Expected<'a>,
}

/// What was recorded.
pub(crate) enum Expected<'a> {
    Output(Json<'a>),
    ErrorCategory(String),
}

/// A directory or a file that cannot be run.
#[derive(Debug)]
pub(crate) struct ReadVectorsError {
    path: PathBuf,
    problem: String,
}

/// Vectors nest deeper than other documents, because depth is among what they test.
const LIMITS: Limits = Limits { depth: 2_000, values: 20_000_000 };

/// The `*.json` files of a directory, by name.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>, ReadVectorsError> {
    let fail = |error: std::io::Error| ReadVectorsError::new(dir, error.to_string());
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(ReadVectorsError::new(dir, "holds no `*.json` file".into()));
    }
    Ok(files)
}

/// The text of a file.
pub(crate) fn text(path: &Path) -> Result<String, ReadVectorsError> {
    fs::read_to_string(path).map_err(|error| ReadVectorsError::new(path, error.to_string()))
}

impl<'a> Document<'a> {
    /// Reads a file of either kind.
    pub(crate) fn read(path: &Path, text: &'a str) -> Result<Self, ReadVectorsError> {
        let fail = |problem: String| ReadVectorsError::new(path, problem);
        let document = json::read_with(text, LIMITS).map_err(|error| fail(error.report().to_string()))?;
        if let Some(schema) = document.get("schema") {
            return match schema.as_str() {
                Some("toolmark-resolution-vectors/1") => Ok(Self::Resolution(document)),
                _ => Err(fail(format!("is of the unknown kind {}", schema.to_value()))),
            };
        }
        let vectors = document.get("vectors").and_then(Json::items);
        let vectors = vectors.ok_or_else(|| fail("has neither `schema` nor a list `vectors`".into()))?;
        vectors
            .iter()
            .enumerate()
            .map(|(index, vector)| Vector::of(vector).map_err(|problem| fail(format!("vector {index} {problem}"))))
            .collect::<Result<_, _>>()
            .map(Self::Identity)
    }
}

impl<'a> Vector<'a> {
    fn of(vector: &Json<'a>) -> Result<Self, &'static str> {
        let text = |key| vector.get(key).and_then(Json::as_str).map(ToOwned::to_owned);
        let expected = match (vector.get("output"), text("error_category")) {
            (Some(output), None) => Expected::Output(output.clone()),
            (None, Some(category)) => Expected::ErrorCategory(category),
            _ => return Err("needs either `output` or `error_category`"),
        };
        Ok(Self {
            id: text("id").ok_or("has no `id`")?,
            function: text("fn").ok_or("has no `fn`")?,
            input: vector.get("input").ok_or("has no `input`")?.clone(),
            expected,
        })
    }
}

impl ReadVectorsError {
    pub(crate) fn new(path: &Path, problem: String) -> Self {
        Self { path: path.to_owned(), problem }
    }
}

impl fmt::Display for ReadVectorsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.problem)
    }
}
