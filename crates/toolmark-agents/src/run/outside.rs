//! Which calls does whoever asked for the run answer? Tools that live elsewhere, such as in the page of a browser: the run judges their calls
//! like any others, ends with them open, and goes on when what came of them is brought.

use serde_json::Value;
use toolmark_core::call::CallId;
use toolmark_core::text::visible;
use toolmark_models::Output;
use toolmark_runtime::tools::{FunctionTool, ToolBuilder, ToolError};

use super::nest::Nest;
use super::pending::DecideError;
use super::state::{Phase, Planned, Progress, RunState, To};

/// A call that whoever asked for the run answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideCall {
    /// The id of the call.
    pub call_id: CallId,
    /// The agent that calls.
    pub agent: String,
    /// The name that the model called.
    pub name: String,
    /// The namespace that came with it.
    pub namespace: Option<String>,
}

/// Begins a tool that whoever asks for the run answers. A call of it ends the run, once it was judged; an agent that is itself called as a
/// tool cannot call it.
#[must_use]
pub fn answered_outside(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> ToolBuilder {
    FunctionTool::builder(name).description(description).parameters(parameters).run(|context, _| async move {
        match context.get::<Nest>() {
            Some(nest) if nest.is_outermost() => {
                nest.leave_outside(context.call_id());
                Err::<String, _>(ToolError::unfinished())
            }
            _ => Err(ToolError::told("It lives where the run was asked for, and cannot be reached from here.")),
        }
    })
}

impl RunState {
    /// The calls that whoever asked for the run answers, in the order in which they were called.
    #[must_use]
    pub fn outside(&self) -> Vec<OutsideCall> {
        let Phase::Calls { calls } = &self.phase else { return Vec::new() };
        let open = calls.iter().filter(|planned| planned.progress == Progress::Outside);
        open.map(|planned| OutsideCall {
            call_id: planned.call.call_id.clone(),
            agent: self.agent.clone(),
            name: planned.call.name.clone(),
            namespace: planned.call.namespace.clone(),
        })
        .collect()
    }

    /// Brings what came of such a call.
    ///
    /// # Errors
    /// [`DecideError`] when it does not wait for it.
    pub fn bring(&mut self, call: &CallId, output: impl Into<String>, failed: bool) -> Result<(), DecideError> {
        let refuse = || DecideError::of(visible(call.as_str(), 200));
        let Phase::Calls { calls } = &mut self.phase else { return Err(refuse()) };
        let waits = |planned: &&mut Planned| {
            planned.call.call_id == *call && planned.to == To::Tool && planned.progress == Progress::Outside
        };
        let planned = calls.iter_mut().find(waits).ok_or_else(refuse)?;
        let code = failed.then(|| "tool-failed".to_owned());
        planned.progress = Progress::Answered { output: Output::Text(output.into()), code };
        Ok(())
    }
}
