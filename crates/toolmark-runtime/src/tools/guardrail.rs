//! Checks around a body: input guardrails see what goes in, output guardrails what comes out. The first that objects decides.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;

use super::context::ToolContext;
use super::output::ToolOutput;
use crate::approve::Later;

/// What a guardrail says. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Guarded {
    /// Go on.
    Allow,
    /// The model gets this text in place of the output, and the run goes on.
    Reject(String),
    /// The run ends here.
    Raise(String),
}

/// A check before the body runs.
#[derive(Clone)]
pub struct InputGuardrail {
    name: Arc<str>,
    check: Arc<dyn Fn(ToolContext) -> Later<'static, Guarded> + Send + Sync>,
}

/// A check of what the body brought.
#[derive(Clone)]
pub struct OutputGuardrail {
    name: Arc<str>,
    check: Arc<dyn Fn(ToolContext, ToolOutput) -> Later<'static, Guarded> + Send + Sync>,
}

impl InputGuardrail {
    /// A check with a name for people. The arguments are in the context.
    pub fn new<F, T>(name: &str, check: F) -> Self
    where
        F: Fn(ToolContext) -> T + Send + Sync + 'static,
        T: Future<Output = Guarded> + Send + 'static,
    {
        Self { name: name.into(), check: Arc::new(move |context| Box::pin(check(context))) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) async fn check(&self, context: &ToolContext) -> Guarded {
        let asked = AssertUnwindSafe(async { (self.check)(context.clone()).await });
        asked.catch_unwind().await.unwrap_or_else(|_| panicked(&self.name))
    }
}

impl OutputGuardrail {
    /// A check with a name for people.
    pub fn new<F, T>(name: &str, check: F) -> Self
    where
        F: Fn(ToolContext, ToolOutput) -> T + Send + Sync + 'static,
        T: Future<Output = Guarded> + Send + 'static,
    {
        Self { name: name.into(), check: Arc::new(move |context, output| Box::pin(check(context, output))) }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) async fn check(&self, context: &ToolContext, output: &ToolOutput) -> Guarded {
        let asked = AssertUnwindSafe(async { (self.check)(context.clone(), output.clone()).await });
        asked.catch_unwind().await.unwrap_or_else(|_| panicked(&self.name))
    }
}

/// A guardrail that breaks down lets nothing through.
fn panicked(name: &str) -> Guarded {
    Guarded::Raise(format!("the guardrail `{name}` panicked"))
}

impl fmt::Debug for InputGuardrail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InputGuardrail({})", self.name)
    }
}

impl fmt::Debug for OutputGuardrail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputGuardrail({})", self.name)
    }
}
