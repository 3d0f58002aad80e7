//! What every model can do, whoever provides it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::error::ModelError;
use crate::event::ModelStream;
use crate::name::ModelName;
use crate::request::ModelRequest;
use crate::response::ModelResponse;

/// Something that answers. Shared as `Arc<dyn Model>`.
pub trait Model: fmt::Debug + Send + Sync {
    /// The name under which it was opened.
    fn name(&self) -> &ModelName;

    /// The whole answer.
    fn respond<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelResponse>;

    /// The answer as it arrives. The future ends when the first piece is there, or no more attempt is worth it.
    fn stream<'a>(&'a self, request: &'a ModelRequest) -> ModelFuture<'a, ModelStream>;
}

/// Something a model will have said.
pub type ModelFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ModelError>> + Send + 'a>>;
