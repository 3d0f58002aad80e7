//! What both sides can do, so that one measurement serves both.

use std::error::Error;
use std::future::Future;
use std::time::Duration;

/// What ends the benchmark.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Somebody who runs agents.
pub(crate) trait Side: Send + Sync + 'static {
    /// One run from the question to the answer, which it gives back.
    fn run(&self) -> impl Future<Output = Result<String, Failure>> + Send;

    /// One streamed run, and when the first word was there.
    fn first(&self) -> impl Future<Output = Result<First, Failure>> + Send;

    /// When the first word is there if the model is asked without any agent.
    fn first_of_model(&self) -> impl Future<Output = Result<Duration, Failure>> + Send;
}

/// When the first word was there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    /// Since the run was begun.
    pub(crate) from_start: Duration,
    /// Since it left the model.
    pub(crate) from_model: Duration,
}
