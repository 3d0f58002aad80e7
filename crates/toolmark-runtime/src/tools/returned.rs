//! How `#[tool]` turns whatever a function returns into an output. Which way it goes is found by the compiler, by how many references
//! a method needs: first results, then outputs and parts, then everything that can be serialized.
#![expect(missing_docs, reason = "called by expanded code only, and hidden")]

use std::error::Error;
use std::fmt::Display;

use serde::Serialize;
use toolmark_core::tool::Source;

use super::error::ToolError;
use super::output::{Part, ToolOutput};

/// Runs a function in a thread where it may block. Its panic goes on here.
pub async fn blocking<T: Send + 'static>(function: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(function).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is shutting down, and whoever waits here goes with it.
            Err(_) => std::future::pending().await,
        },
    }
}

/// The source of tools that are written in a module.
#[must_use]
pub fn source(module: &str) -> Source {
    Source::new(&format!("rust:{module}"))
}

/// Something that a function returned.
pub struct Returned<T>(pub T);

/// An error that a function returned.
pub struct Thrown<E>(pub E);

/// A result is opened; everything else is taken for a success.
pub struct Opened;
pub struct Kept;

impl Opened {
    pub fn open<T, E>(self, value: Result<T, E>) -> Result<T, E> {
        value
    }
}

impl Kept {
    pub fn open<T>(self, value: T) -> Result<T, ToolError> {
        Ok(value)
    }
}

pub trait OpenResult {
    fn toolmark_open(&self) -> Opened {
        Opened
    }
}

impl<T, E> OpenResult for &Returned<&Result<T, E>> {}

pub trait OpenPlain {
    fn toolmark_open(&self) -> Kept {
        Kept
    }
}

impl<T> OpenPlain for Returned<&T> {}

/// What is an output already.
pub struct AsOutput;
pub struct AsJson;

impl AsOutput {
    pub fn put<T: Into<ToolOutput>>(self, value: T) -> Result<ToolOutput, ToolError> {
        Ok(value.into())
    }
}

impl AsJson {
    pub fn put<T: Serialize>(self, value: T) -> Result<ToolOutput, ToolError> {
        ToolOutput::json(&value)
    }
}

/// The types that are outputs and not serialized.
pub trait IsOutput: Into<ToolOutput> {}
impl IsOutput for ToolOutput {}
impl IsOutput for Part {}
impl IsOutput for Vec<Part> {}

pub trait PutOutput {
    fn toolmark_put(&self) -> AsOutput {
        AsOutput
    }
}

impl<T: IsOutput> PutOutput for &Returned<&T> {}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a tool returns",
    note = "return anything that implements `serde::Serialize`, a `ToolOutput`, `Part`s, or a `Result` of one of these"
)]
pub trait PutJson {
    fn toolmark_put(&self) -> AsJson {
        AsJson
    }
}

impl<T: Serialize> PutJson for Returned<&T> {}

pub struct AsItIs;
pub struct OfError;
pub struct OfText;

impl AsItIs {
    pub fn error(self, error: ToolError) -> ToolError {
        error
    }
}

impl OfError {
    pub fn error<E: Error + Send + Sync + 'static>(self, error: E) -> ToolError {
        error.into()
    }
}

impl OfText {
    pub fn error<E: Display>(self, error: E) -> ToolError {
        ToolError::new(error)
    }
}

pub trait ThrowAsItIs {
    fn toolmark_throw(&self) -> AsItIs {
        AsItIs
    }
}

impl ThrowAsItIs for &&Thrown<&ToolError> {}

pub trait ThrowError {
    fn toolmark_throw(&self) -> OfError {
        OfError
    }
}

impl<E: Error + Send + Sync + 'static> ThrowError for &Thrown<&E> {}

pub trait ThrowText {
    fn toolmark_throw(&self) -> OfText {
        OfText
    }
}

impl<E: Display> ThrowText for Thrown<&E> {}
