//! One call of a model: identified among what is offered, taken through the pipeline, and answered with something to read.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolmark_core::call::CallId;
use toolmark_core::json;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Reason};
use toolmark_policy::Caller;
use uuid::Uuid;

use super::answer::{Answer, Called, Ended, GUARDED};
use super::arguments::Arguments;
use super::context::ToolContext;
use super::function::FunctionTool;
use super::output::ToolOutput;
use super::perform::{NoHooks, Performed, ToolHooks, check_input, perform};
use super::turn::Turn;
use crate::approve::{Client, NoClient};
use crate::dispatch::DispatchErrorKind;
use crate::examine::{Outcome, Request};
use crate::origin::Origin;
use crate::pipeline::{Arrived, Brought, Settled};
use crate::record::{Stray, StrayKind};
use crate::task::TaskName;

/// Calls of the program itself come over no wire.
const LIBRARY: Origin = Origin { era: None, transport: Some("library"), trace: None };

/// A call as a model made it.
#[derive(Clone, Copy)]
pub struct ToolCall<'a> {
    name: &'a str,
    namespace: Option<&'a str>,
    id: &'a CallId,
    arguments: &'a str,
    attempt: u32,
    record: Option<Uuid>,
    cancel: Option<&'a CancellationToken>,
    client: &'a dyn Client,
    hooks: &'a dyn ToolHooks,
    shown: Option<&'a Shown>,
}

/// The name that a model knows a tool by; nothing where it may not see it.
pub type Shown = dyn Fn(&Tool) -> Option<String> + Sync;

impl<'a> ToolCall<'a> {
    /// A call without a namespace, for which nobody can be asked.
    #[must_use]
    pub fn new(name: &'a str, id: &'a CallId, arguments: &'a str) -> Self {
        Self {
            name,
            namespace: None,
            id,
            arguments,
            attempt: 1,
            record: None,
            cancel: None,
            client: &NoClient,
            hooks: &NoHooks,
            shown: None,
        }
    }

    /// In a namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: Option<&'a str>) -> Self {
        self.namespace = namespace;
        self
    }

    /// The how-manieth in a row it is.
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// The id of its record, where that is not to be a new one.
    #[must_use]
    pub fn record(mut self, id: Uuid) -> Self {
        self.record = Some(id);
        self
    }

    /// What ends it early.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: &'a CancellationToken) -> Self {
        self.cancel = Some(cancel);
        self
    }

    /// The way to whoever can be asked.
    #[must_use]
    pub fn client(mut self, client: &'a dyn Client) -> Self {
        self.client = client;
        self
    }

    /// Who hears about it.
    #[must_use]
    pub fn hooks(mut self, hooks: &'a dyn ToolHooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// The names that the model knows tools by, where those are others than `namespace.name`.
    #[must_use]
    pub fn shown(mut self, shown: &'a Shown) -> Self {
        self.shown = Some(shown);
        self
    }
}

impl Turn {
    /// Takes a call through the pipeline. Whatever the model did, there is an answer for it; nothing runs twice.
    pub async fn call(&self, call: &ToolCall<'_>) -> Called {
        match self.find(call.name, call.namespace) {
            Ok((own, tool)) => self.call_tool(own, tool, call).await,
            Err(unknown) => {
                self.pipeline().stray(&self.stray(call, None, unknown.kind()));
                Called::stray(unknown.text(), unknown.kind(), None)
            }
        }
    }

    /// The same for a call that was identified by a table of exposed names. An entry of another turn is not offered here.
    pub async fn call_entry(&self, tool: &Tool, call: &ToolCall<'_>) -> Called {
        match self.offers(tool) {
            Some(own) => self.call_tool(own, tool, call).await,
            None => {
                self.pipeline().stray(&self.stray(call, None, StrayKind::Unknown));
                let name = visible(call.name, 200);
                Called::stray(format!("Nothing was called: `{name}` is not offered."), StrayKind::Unknown, None)
            }
        }
    }

    async fn call_tool(&self, own: &FunctionTool, tool: &Tool, call: &ToolCall<'_>) -> Called {
        // Providers send nothing at all where a tool takes no arguments.
        let text = if call.arguments.trim().is_empty() { "{}" } else { call.arguments };
        let read = match json::read(text) {
            Ok(read) => read,
            Err(error) => {
                self.pipeline().stray(&self.stray(call, Some(tool), StrayKind::Unreadable));
                let name = visible(call.name, 200);
                let said = format!("`{name}` was not called: its arguments cannot be read: {error}.");
                return Called::stray(said, StrayKind::Unreadable, Some(tool.canonical().clone()));
            }
        };
        let cancel = call.cancel.map_or_else(CancellationToken::new, CancellationToken::child_token);
        let _given_up = cancel.clone().drop_guard();
        let context = |arguments: Arguments| {
            let (turn, id) = (self.context().clone(), call.id.clone());
            ToolContext::new(turn, tool.canonical().clone(), id, arguments, call.attempt, cancel.clone())
        };
        let seen = context(Arguments::new(text.to_owned(), read.to_value()));
        let request = Request { tool, arguments: seen.arguments().value(), task: self.task(), caller: self.caller() };
        let demands = self.demands(own, tool, &request, &seen).await;
        let against = (!demands.reasons.is_empty()).then(|| self.pipeline().against(demands.reasons));
        let pipeline = against.as_ref().unwrap_or_else(|| self.pipeline());
        let id = call.record.unwrap_or_else(Uuid::now_v7);
        let arrived = Arrived { id, lookup: call.name, request, read: &read, size: text.len(), origin: LIBRARY };
        let may_change = !self.workspace().known(tool).is_pure();
        // What ran too long has a text for the model and no result for the record.
        let late = Mutex::new(None);
        let settled = pipeline
            .run(
                self.workspace(),
                &arrived,
                call.client,
                |other| self.shown(other, call),
                |performed: &Performed| Brought {
                    failed: performed.fault.is_some() && !performed.is_unfinished(),
                    unfinished: performed.is_unfinished(),
                    bytes: &performed.bytes,
                },
                |edited| {
                    let context = match edited {
                        None => seen.clone(),
                        Some(text) => {
                            let value = serde_json::from_str(&text).unwrap_or(Value::Null);
                            context(Arguments::new(text, value))
                        }
                    };
                    let late = &late;
                    async move {
                        let performed = perform(own, &context, call.hooks, may_change).await?;
                        match performed.undelivered() {
                            None => Ok(performed),
                            Some(error) => {
                                *late.lock().unwrap_or_else(PoisonError::into_inner) = Some(performed);
                                Err(error)
                            }
                        }
                    }
                },
            )
            .await;
        let late = late.into_inner().unwrap_or_else(PoisonError::into_inner);
        let canonical = Some(tool.canonical().clone());
        let answer = |output, ended, passage| {
            Called::Answered(Answer { output, ended, tool: canonical.clone(), passage: Some(passage) })
        };
        match settled {
            Ok(Settled::Ran(performed, passage)) => Called::of(performed, canonical.clone(), passage),
            Ok(Settled::Handed(handed, passage)) => Called::Waiting(handed, passage),
            Ok(Settled::Refused(refusal, passage)) => match demands.objection {
                Some(objection) if refusal.code() == GUARDED => Called::of(objection, canonical.clone(), passage),
                _ => {
                    let ended = Ended::Refused { code: refusal.code() };
                    answer(ToolOutput::text(refusal.text()), ended, passage)
                }
            },
            Ok(Settled::Failed(error, passage)) => match late {
                Some(performed) if error.kind() == DispatchErrorKind::Timeout => {
                    Called::of(performed, canonical.clone(), passage)
                }
                _ => answer(ToolOutput::Text(error.text(call.name)), Ended::Undelivered(error), passage),
            },
            // The entry is of this turn, so that this does not happen; if it does, nothing ran.
            Err(foreign) => Called::stray(foreign.to_string(), StrayKind::Unknown, canonical.clone()),
        }
    }

    /// What speaks against a call beside what the workspace knows: the tool's own wish to be asked about, and guardrails that are to be
    /// heard before a person is.
    async fn demands(&self, own: &FunctionTool, tool: &Tool, request: &Request<'_>, context: &ToolContext) -> Demands {
        let mut reasons = Vec::new();
        let fits = || tool.check_arguments(request.arguments).is_ok();
        let wanted = match own.needs_approval.as_fixed() {
            Some(fixed) => fixed,
            // A condition sees only arguments that fit; what does not fit is refused anyway.
            None => fits() && own.needs_approval.holds(context, true).await,
        };
        if wanted {
            let message = "the tool says that a person must agree to this call";
            reasons.push(Reason::new(Decision::Ask, "needs-approval", message));
        }
        if own.around.check_before_approval && !own.around.inputs.is_empty() && fits() {
            let asks = self.workspace().examine(request).is_ok_and(|found| found.outcome() == Outcome::Ask);
            if (asks || wanted)
                && let Some(objection) = check_input(own, context).await
            {
                let message = "a guardrail of the tool objects to this call";
                reasons.push(Reason::new(Decision::Deny, GUARDED, message));
                return Demands { reasons, objection: Some(objection) };
            }
        }
        Demands { reasons, objection: None }
    }

    fn caller(&self) -> Caller<'_> {
        let turn = self.context();
        let caller = Caller::new(turn.caller_name()).through_agent(turn.agent());
        match turn.session_name() {
            Some(session) => caller.in_session(session),
            None => caller,
        }
    }

    fn shown(&self, tool: &Tool, call: &ToolCall<'_>) -> Option<String> {
        match call.shown {
            Some(shown) => shown(tool),
            None => self.offers(tool).map(|own| own.lookup_key().trace_name().to_string()),
        }
    }

    fn stray<'s>(&'s self, call: &'s ToolCall<'_>, tool: Option<&'s Tool>, kind: StrayKind) -> Stray<'s> {
        Stray {
            origin: LIBRARY,
            lookup: call.name,
            tool,
            caller: self.caller(),
            task: self.context().task_name().map(TaskName::as_str),
            arguments_size: call.arguments.len(),
            kind,
        }
    }
}

struct Demands {
    reasons: Vec<Reason>,
    objection: Option<Performed>,
}

impl fmt::Debug for ToolCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("name", &self.name)
            .field("namespace", &self.namespace)
            .field("id", &self.id.as_str())
            .finish_non_exhaustive()
    }
}
