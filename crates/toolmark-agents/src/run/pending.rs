//! Which calls wait for a person, and what did the person say? A decision is about one call of one agent, and about the tool as it was.

use serde_json::{Map, Value};
use toolmark_core::approval::RunId;
use toolmark_core::call::CallId;
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;
use toolmark_models::{FunctionCall, Raw};

use super::state::{Decided, Phase, Planned, Progress, RunState};

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Pending {
    /// The calls of agents that it is nested in, outermost first, and the call itself.
    path: Vec<CallId>,
    agent: String,
    call: FunctionCall,
    hosted: Option<Raw>,
    tool: String,
    prompt: String,
    run: RunId,
}

/// A decision about something that does not wait for one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call `{call}` does not wait for a decision")]
pub struct DecideError {
    call: String,
}

impl DecideError {
    pub(super) fn of(call: String) -> Self {
        Self { call }
    }
}

impl Pending {
    /// The id of the call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.call.call_id
    }

    /// The agent that calls.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The canonical name of the tool.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments as the model wrote them.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.call.arguments
    }

    /// The server that the provider would call, where it asks for itself (hosted MCP).
    #[must_use]
    pub fn server_label(&self) -> Option<&str> {
        self.request("server_label")
    }

    /// The tool of that server.
    #[must_use]
    pub fn server_tool(&self) -> Option<&str> {
        self.request("name")
    }

    fn request(&self, field: &str) -> Option<&str> {
        let raw = self.hosted.as_ref().filter(|raw| raw.kind() == "mcp_approval_request")?;
        raw.value.get(field).and_then(Value::as_str)
    }

    /// What a person is shown: made of what was checked, with everything that hides made visible.
    #[must_use]
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// The run of the approvals that it waits in, where those who are asked keep one.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The calls of agents that it is nested in, outermost first, and the call itself.
    #[must_use]
    pub fn path(&self) -> &[CallId] {
        &self.path
    }

    /// The name that the model called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.call.name
    }

    /// The namespace that came with it.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.call.namespace.as_deref()
    }

    /// How many runs of agents it is nested in.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.path.len().saturating_sub(1)
    }
}

impl RunState {
    /// Everything that waits for a person, in the order in which it was called, nested runs included.
    #[must_use]
    pub fn pending(&self) -> Vec<Pending> {
        let mut found = Vec::new();
        self.collect(&mut Vec::new(), &mut found);
        found
    }

    fn collect(&self, path: &mut Vec<CallId>, found: &mut Vec<Pending>) {
        let Phase::Calls { calls } = &self.phase else { return };
        for planned in calls {
            path.push(planned.call.call_id.clone());
            match &planned.progress {
                Progress::Asked(question) => {
                    let decided = self.decisions.iter().any(|decided| decided.is_about(&self.agent, planned));
                    if !decided {
                        found.push(Pending {
                            path: path.clone(),
                            agent: self.agent.clone(),
                            call: planned.call.clone(),
                            hosted: planned.hosted.clone(),
                            tool: question.tool.clone(),
                            prompt: question.prompt.clone(),
                            run: question.run,
                        });
                    }
                }
                Progress::Inside { run } => run.collect(path, found),
                Progress::Waiting | Progress::Answered { .. } | Progress::Outside => {}
            }
            path.pop();
        }
    }

    /// The call may run.
    ///
    /// # Errors
    /// [`DecideError`] when it does not wait for a decision.
    pub fn approve(&mut self, pending: &Pending) -> Result<(), DecideError> {
        self.decide(pending, true, None, None, false)
    }

    /// The call may run, with other arguments than the model wrote: the text of a JSON object, all of it. They are judged like any others,
    /// and only this call runs with them.
    ///
    /// # Errors
    /// [`DecideError`] when it does not wait for a decision.
    pub fn approve_edited(&mut self, pending: &Pending, arguments: impl Into<String>) -> Result<(), DecideError> {
        self.decide(pending, true, None, Some(arguments.into()), false)
    }

    /// The call may run, and so may every later call of the same tool by the same agent in this run, as long as the tool stays what it is.
    ///
    /// # Errors
    /// [`DecideError`] when it does not wait for a decision.
    pub fn approve_always(&mut self, pending: &Pending) -> Result<(), DecideError> {
        self.decide(pending, true, None, None, true)
    }

    /// The call may not run. The model reads the message, or that a person said no.
    ///
    /// # Errors
    /// [`DecideError`] when it does not wait for a decision.
    pub fn reject(&mut self, pending: &Pending, message: Option<&str>) -> Result<(), DecideError> {
        self.decide(pending, false, message, None, false)
    }

    /// The call may not run, and neither may a later call of the same tool by the same agent in this run.
    ///
    /// # Errors
    /// [`DecideError`] when it does not wait for a decision.
    pub fn reject_always(&mut self, pending: &Pending, message: Option<&str>) -> Result<(), DecideError> {
        self.decide(pending, false, message, None, true)
    }

    fn decide(
        &mut self,
        pending: &Pending,
        approved: bool,
        message: Option<&str>,
        edited: Option<String>,
        always: bool,
    ) -> Result<(), DecideError> {
        let refuse = || DecideError { call: visible(pending.call.call_id.as_str(), 200) };
        let (own, inner) = pending.path.split_last().ok_or_else(refuse)?;
        let mut run = self;
        for outer in inner {
            let planned = run.planned(outer).ok_or_else(refuse)?;
            let Progress::Inside { run: nested } = &mut planned.progress else { return Err(refuse()) };
            run = nested;
        }
        let agent = run.agent.clone();
        let planned = run.planned(own).ok_or_else(refuse)?;
        let Progress::Asked(question) = &planned.progress else { return Err(refuse()) };
        // A copy that was kept elsewhere must still say what the run says.
        if planned.call != pending.call || agent != pending.agent {
            return Err(refuse());
        }
        let decided = Decided {
            agent,
            call: planned.call.clone(),
            definition: question.definition.clone(),
            approved,
            message: message.map(str::to_owned),
            edited,
            always,
        };
        run.decisions.push(decided);
        Ok(())
    }

    fn planned(&mut self, id: &CallId) -> Option<&mut Planned> {
        match &mut self.phase {
            Phase::Calls { calls } => calls.iter_mut().find(|planned| planned.call.call_id == *id),
            _ => None,
        }
    }
}

impl Decided {
    fn is_about(&self, agent: &str, planned: &Planned) -> bool {
        self.agent == agent
            && self.call == planned.call
            && matches!(&planned.progress, Progress::Asked(question) if question.definition == self.definition)
    }
}

impl Explain for DecideError {
    fn code(&self) -> Code {
        Code::new("run-call-not-pending")
    }

    fn why(&self) -> String {
        "what a person was shown must be what runs, and only once".into()
    }

    fn fix(&self) -> String {
        "decide about what `RunState::pending` of this very run lists".into()
    }

    fn facts(&self) -> Map<String, Value> {
        facts([("call", self.call.as_str().into())])
    }
}
