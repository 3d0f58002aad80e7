//! A call that may run, runs: input guardrails, start hooks, body within its time, output guardrails, end hooks. In this order.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

use super::arguments::Arguments;
use super::context::ToolContext;
use super::error::{ToolError, ToolErrorKind};
use super::function::{FunctionTool, OnError, OnTimeout};
use super::guardrail::Guarded;
use super::output::ToolOutput;
use crate::approve::Later;
use crate::dispatch::{DispatchError, DispatchErrorKind};

/// Hears when a body begins and what it brought. Not called where an input guardrail objects.
pub trait ToolHooks: Send + Sync {
    /// The body is about to run.
    fn started<'a>(&'a self, context: &'a ToolContext) -> Later<'a, ()> {
        let _ = context;
        Box::pin(std::future::ready(()))
    }

    /// The body ran; this is what the model gets.
    fn ended<'a>(&'a self, context: &'a ToolContext, output: &'a ToolOutput) -> Later<'a, ()> {
        let _ = (context, output);
        Box::pin(std::future::ready(()))
    }
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl ToolHooks for NoHooks {}

/// Why a run cannot go on after a call.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Raised {
    /// The tool failed, and its errors end the run.
    #[error("the tool `{tool}` failed: {error}")]
    Tool {
        /// The tool.
        tool: String,
        /// Its error.
        error: Arc<ToolError>,
    },
    /// A guardrail ended the run.
    #[error("the guardrail `{guardrail}` stopped the tool `{tool}`: {message}")]
    Guardrail {
        /// The tool.
        tool: String,
        /// The guardrail.
        guardrail: String,
        /// What it said.
        message: String,
    },
}

/// What came of a body and of what stands around it.
#[derive(Debug)]
pub(super) struct Performed {
    pub(super) result: Result<ToolOutput, Raised>,
    /// What the record keeps.
    pub(super) bytes: Vec<u8>,
    pub(super) fault: Option<Fault>,
}

/// Why the output is not the tool's own.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// The tool failed. True where the text is the default one.
    Tool(Arc<ToolError>, bool),
    /// A guardrail objected.
    Guardrail(String),
    /// There is no output yet.
    Unfinished,
}

impl Performed {
    fn brought(output: ToolOutput, fault: Option<Fault>) -> Self {
        let bytes = output.to_text().into_bytes();
        Self { result: Ok(output), bytes, fault }
    }

    fn raised(raised: Raised, fault: Fault) -> Self {
        Self { bytes: raised.to_string().into_bytes(), result: Err(raised), fault: Some(fault) }
    }

    /// True when the tool will be called again to go on.
    pub(super) fn is_unfinished(&self) -> bool {
        matches!(self.fault, Some(Fault::Unfinished))
    }

    /// What a record says of a call that has no result of its own.
    pub(super) fn undelivered(&self) -> Option<DispatchError> {
        match &self.fault {
            Some(Fault::Tool(error, _)) if error.kind() == ToolErrorKind::TimedOut => {
                Some(DispatchError::while_it_ran(DispatchErrorKind::Timeout, error.message()))
            }
            _ => None,
        }
    }
}

/// Runs the input guardrails in their order; nothing where all allow.
pub(super) async fn check_input(tool: &FunctionTool, context: &ToolContext) -> Option<Performed> {
    for guardrail in &tool.around.inputs {
        match guardrail.check(context).await {
            Guarded::Allow => {}
            objection => return Some(object(tool, guardrail.name(), objection)),
        }
    }
    None
}

fn object(tool: &FunctionTool, guardrail: &str, objection: Guarded) -> Performed {
    let fault = Fault::Guardrail(guardrail.to_owned());
    match objection {
        Guarded::Raise(message) => {
            let raised = Raised::Guardrail {
                tool: visible(tool.name().as_str(), 200),
                guardrail: visible(guardrail, 200),
                message: visible(&message, 1000),
            };
            Performed::raised(raised, fault)
        }
        Guarded::Reject(text) => Performed::brought(ToolOutput::Text(text), Some(fault)),
        Guarded::Allow => Performed::brought(ToolOutput::Text(String::new()), None),
    }
}

/// Runs a call that may run.
///
/// # Errors
/// [`DispatchError`] when whoever called gave up.
pub(super) async fn perform(
    tool: &FunctionTool,
    context: &ToolContext,
    hooks: &dyn ToolHooks,
    may_change: bool,
) -> Result<Performed, DispatchError> {
    if let Some(objection) = check_input(tool, context).await {
        return Ok(objection);
    }
    if context.cancellation().is_cancelled() {
        return Err(DispatchError::before_it_ran(DispatchErrorKind::Cancelled, "the call was given up"));
    }
    hooks.started(context).await;
    let cancelled = context.cancellation().cancelled();
    let ran = tokio::select! {
        biased;
        () = cancelled => {
            return Err(DispatchError::while_it_ran(DispatchErrorKind::Cancelled, "the call was given up"));
        }
        ran = within_time(tool, context) => ran,
    };
    let performed = match ran {
        // Neither guardrails nor hooks hear of it: there is nothing to look at yet.
        Err(error) if error.kind() == ToolErrorKind::Unfinished => {
            return Ok(Performed::brought(ToolOutput::Text(String::new()), Some(Fault::Unfinished)));
        }
        Ok(output) => Performed::brought(output, None),
        Err(error) => failed(tool, context, error, may_change),
    };
    let Ok(output) = &performed.result else { return Ok(performed) };
    // Every guardrail sees what the body brought; the first that objects decides.
    let mut objection = None;
    for guardrail in &tool.around.outputs {
        match guardrail.check(context, output).await {
            Guarded::Allow => {}
            said => {
                objection = Some(object(tool, guardrail.name(), said));
                break;
            }
        }
    }
    let performed = objection.unwrap_or(performed);
    if let Ok(output) = &performed.result {
        hooks.ended(context, output).await;
    }
    Ok(performed)
}

/// The body, as long as its time lasts. A panic is an error like any.
async fn within_time(tool: &FunctionTool, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    let arguments: Arguments = context.arguments().clone();
    let body = AssertUnwindSafe(async { (tool.body)(context.clone(), arguments).await }).catch_unwind();
    let ran = match tool.around.timeout {
        None => body.await,
        Some(limit) => match tokio::time::timeout(limit, body).await {
            Ok(ran) => ran,
            Err(_) => {
                // For bodies that block a thread and cannot be dropped.
                context.cancellation().cancel();
                return Err(ToolError::timed_out(limit));
            }
        },
    };
    ran.unwrap_or_else(|panic| Err(ToolError::panicked(&*panic)))
}

/// An error becomes a text for the model, or ends the run.
fn failed(tool: &FunctionTool, context: &ToolContext, error: ToolError, may_change: bool) -> Performed {
    let error = Arc::new(error);
    let name = tool.name().as_str();
    tracing::debug!(tool = %context.tool(), kind = error.kind().as_str(), "a tool failed");
    let raise = || {
        let raised = Raised::Tool { tool: visible(name, 200), error: Arc::clone(&error) };
        Performed::raised(raised, Fault::Tool(Arc::clone(&error), false))
    };
    let told = |text: String, default| {
        Performed::brought(ToolOutput::Text(text), Some(Fault::Tool(Arc::clone(&error), default)))
    };
    let default = || error.default_text(name, may_change);
    if error.kind() == ToolErrorKind::TimedOut {
        return match tool.around.on_timeout {
            OnTimeout::Tell => told(default(), true),
            OnTimeout::Propagate => raise(),
        };
    }
    match &tool.around.on_error {
        OnError::Hide => told(default(), true),
        OnError::Tell => told(error.to_string(), false),
        OnError::Say(says) => match std::panic::catch_unwind(AssertUnwindSafe(|| says(context, &error))) {
            Ok(text) => told(text, false),
            Err(_) => told(default(), true),
        },
        OnError::Propagate => raise(),
    }
}

impl Explain for Raised {
    fn code(&self) -> Code {
        match self {
            Self::Tool { error, .. } => error.code(),
            Self::Guardrail { .. } => Code::new("guardrail-raised"),
        }
    }

    fn why(&self) -> String {
        match self {
            Self::Tool { error, .. } => error.why(),
            Self::Guardrail { .. } => "the guardrail says that the run must not go on".into(),
        }
    }

    fn fix(&self) -> String {
        match self {
            Self::Tool { error, .. } => {
                format!("{}\nleave out `on_error = propagate`, if the model should deal with it", error.fix())
            }
            Self::Guardrail { .. } => {
                "look at what the guardrail was given; to go on with a text for the model, let it reject".into()
            }
        }
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Tool { tool, error } => {
                facts([("tool", tool.as_str().into()), ("kind", error.kind().as_str().into())])
            }
            Self::Guardrail { tool, guardrail, .. } => {
                facts([("tool", tool.as_str().into()), ("guardrail", guardrail.as_str().into())])
            }
        }
    }
}
