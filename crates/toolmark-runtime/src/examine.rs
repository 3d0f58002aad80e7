//! One call through validate, analyze and judge. Pure: nothing runs, nobody is asked, nothing is written.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use toolmark_core::behavior::{KnownBehavior, Mutability};
use toolmark_core::explain::{Code, Explain};
use toolmark_core::facts::{Effect, Facts};
use toolmark_core::gate;
use toolmark_core::text::visible;
use toolmark_core::tool::{CheckArgumentsError, Tool};
use toolmark_core::verdict::{Decision, Reason, Verdict};
use toolmark_policy::{Author, Caller, Named, Open, Permission};

use crate::record::Parts;
use crate::task::Task;
use crate::workspace::{Prepared, Workspace};

/// One call that was identified and wants to run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The tool that is meant.
    pub tool: &'a Tool,
    /// What it is called with.
    pub arguments: &'a Value,
    /// What the caller came for.
    pub task: Option<&'a Task>,
    /// Who calls.
    pub caller: Caller<'a>,
}

/// What was found out about one call.
#[derive(Debug)]
#[must_use]
pub struct Examination<'w> {
    prepared: &'w Prepared,
    known: &'w KnownBehavior,
    invalid: Option<CheckArgumentsError>,
    facts: Arc<Facts>,
    verdict: Verdict,
    permissions: Vec<Permission>,
    observed: bool,
    parts: Option<Parts>,
}

/// What becomes of a call. Exhaustive on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It runs.
    Run,
    /// It runs because a rule of the operator answers what a default asks.
    Answered(Answered),
    /// It runs although the verdict is another, because the operator only observes. It is never reported as allowed.
    Observed(Decision),
    /// A person is asked.
    Ask,
    /// It does not run.
    Refuse,
}

/// The rule that answered for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered(Author);

/// A tool that does not belong to the workspace that is to judge it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{0}` is not part of this workspace")]
pub struct ForeignTool(String);

impl Explain for ForeignTool {
    fn code(&self) -> Code {
        Code::new("tool-foreign")
    }

    fn why(&self) -> String {
        "nobody prepared it here, so no rule, task or pin would hold for it".into()
    }

    fn fix(&self) -> String {
        "look the tool up in the catalog of the workspace that is asked".into()
    }
}

impl Workspace {
    /// Takes a call through validate, analyze and judge.
    ///
    /// # Errors
    /// [`ForeignTool`] when the tool is not of this workspace.
    pub fn examine<'w>(&'w self, request: &Request<'w>) -> Result<Examination<'w>, ForeignTool> {
        self.examine_measured(request, false)
    }

    /// The same; says how long its parts took where that is wanted.
    pub(crate) fn examine_measured<'w>(
        &'w self,
        request: &Request<'w>,
        measured: bool,
    ) -> Result<Examination<'w>, ForeignTool> {
        let now = || measured.then(Instant::now);
        let start = now();
        let Request { tool, arguments, .. } = *request;
        let prepared = self.prepared(tool).ok_or_else(|| ForeignTool(visible(tool.canonical().as_str(), 300)))?;
        let known = prepared.known(tool);
        let invalid = tool.check_arguments(arguments).err();
        let validated = now();
        let facts = toolmark_effects::analyze_cached(self.effects(), prepared.analyzer(tool), arguments);
        let analyzed = now();
        let (mut verdict, permissions) = self.weigh(prepared, request, &facts, None);
        if let Some(error) = &invalid {
            verdict = verdict.and(Reason::new(Decision::Deny, "arguments-invalid", error.to_string()));
        }
        let observed = self.preset().only_observes();
        let parts = start
            .zip(validated)
            .zip(analyzed)
            .map(|((start, validated), analyzed)| Parts { validate: validated - start, analyze: analyzed - validated });
        Ok(Examination { prepared, known, invalid, facts, verdict, permissions, observed, parts })
    }

    /// What gate, task and policy say about a call whose arguments would do this, with the rules that allow it. Nothing for a tool of
    /// another workspace.
    #[must_use]
    pub fn judge(&self, request: &Request<'_>, facts: &Facts) -> Option<(Verdict, Vec<Permission>)> {
        Some(self.weigh(self.prepared(request.tool)?, request, facts, None))
    }

    /// Takes a call through judge alone: its arguments are gone, and what they would do is known. What looks at them says nothing, and is
    /// listed if it could. Of `request.arguments`, only what selects the behavior of the tool is looked at.
    ///
    /// # Errors
    /// [`ForeignTool`] when the tool is not of this workspace.
    pub fn examine_facts<'w>(
        &'w self,
        request: &Request<'w>,
        facts: Arc<Facts>,
    ) -> Result<(Examination<'w>, Vec<Open>), ForeignTool> {
        let tool = request.tool;
        let prepared = self.prepared(tool).ok_or_else(|| ForeignTool(visible(tool.canonical().as_str(), 300)))?;
        let known = prepared.known(tool);
        let mut open = Vec::new();
        let (verdict, permissions) = self.weigh(prepared, request, &facts, Some(&mut open));
        let observed = self.preset().only_observes();
        Ok((Examination { prepared, known, invalid: None, facts, verdict, permissions, observed, parts: None }, open))
    }

    fn weigh(
        &self,
        prepared: &Prepared,
        request: &Request<'_>,
        facts: &Facts,
        open: Option<&mut Vec<Open>>,
    ) -> (Verdict, Vec<Permission>) {
        if facts.is_empty() && self.is_plain(prepared, request) {
            return (Verdict::allow(), Vec::new());
        }
        self.weigh_fully(prepared, request, facts, open)
    }

    /// True when nothing speaks against any call of this tool in this task, as long as its arguments are no fact.
    ///
    /// Invariant: kept only where the verdict depends on nothing but tool and task, and only for tasks of this workspace, which keeps
    /// them where they are.
    fn is_plain(&self, prepared: &Prepared, request: &Request<'_>) -> bool {
        let plain = prepared.plain().get_or_init(|| {
            let by_tool = prepared.known(request.tool).by_argument().is_none()
                && self.policy().looks_at_the_tool_only(prepared.settled());
            let silent = |task: Option<&Task>| {
                let call = Request { tool: request.tool, arguments: &Value::Null, task, caller: Caller::new("") };
                let (verdict, permissions) = self.weigh_fully(prepared, &call, &Facts::default(), None);
                verdict.reasons().is_empty() && permissions.is_empty()
            };
            if !by_tool {
                return Box::default();
            }
            let tasks = self.tasks().iter().filter(|task| silent(Some(task))).map(|task| address(task));
            silent(None).then_some(0).into_iter().chain(tasks).collect()
        });
        plain.contains(&request.task.map_or(0, address))
    }

    fn weigh_fully(
        &self,
        prepared: &Prepared,
        request: &Request<'_>,
        facts: &Facts,
        open: Option<&mut Vec<Open>>,
    ) -> (Verdict, Vec<Permission>) {
        let Request { tool, arguments, task, caller } = *request;
        let known = prepared.known(tool);
        let mut verdict = gate::judge(&gate::Call {
            tool: tool.canonical(),
            known,
            arguments,
            facts,
            expectations: [task.map(Task::expectation), prepared.task().map(Task::expectation)],
            changed: prepared.is_changed(),
            preset: self.preset(),
        });
        if let Some(reason) = prepared.standing().reason() {
            verdict = verdict.and(reason);
        }
        let asked = toolmark_policy::Request {
            tool,
            behavior: known,
            facts,
            arguments,
            task: task.map(|task| task.name().as_str()),
            caller,
        };
        let answer = match open {
            None => self.policy().judge_settled(prepared.settled(), &asked),
            Some(open) => {
                let (answer, unsaid) = self.policy().judge_without_arguments(prepared.settled(), &asked);
                *open = unsaid;
                answer
            }
        };
        for reason in answer.reasons {
            verdict = verdict.and(reason);
        }
        let mut allows = answer.allows;
        // Invariant: of two tasks the stricter word counts, and a rule answers only where it does for both.
        if let Some(also) = task.and_then(Task::also) {
            let request = Request { task: Some(also), ..*request };
            let (other, allowed) = self.weigh_fully(prepared, &request, facts, None);
            let new: Vec<Reason> =
                other.reasons().iter().filter(|reason| !verdict.reasons().contains(reason)).cloned().collect();
            verdict = new.into_iter().fold(verdict, Verdict::and);
            allows.retain(|permission| allowed.contains(permission));
        }
        (verdict, allows)
    }

    /// Which other tool fits what a refused call wanted to do: one with which it would not be refused.
    #[must_use]
    pub fn fitting(&self, request: &Request<'_>, facts: &Facts, may_see: impl Fn(&Tool) -> bool) -> Vec<&Tool> {
        let may_run = |other: &Tool| {
            let found = self.examine(&Request { tool: other, ..*request });
            found.is_ok_and(|found| found.verdict().decision() != Decision::Deny)
        };
        let fits = |other: &Tool| may_see(other) && may_run(other);
        gate::fitting(self.catalog(), request.tool, facts, fits, |other| self.known(other))
    }
}

impl<'w> Examination<'w> {
    /// The same with more that speaks against the call.
    pub(crate) fn against(mut self, reasons: &[Reason]) -> Self {
        self.verdict = reasons.iter().cloned().fold(self.verdict, Verdict::and);
        self
    }

    /// How long its parts took, where that was measured.
    pub(crate) fn parts(&self) -> Option<Parts> {
        self.parts
    }

    /// What the workspace keeps about the tool.
    pub(crate) fn prepared(&self) -> &'w Prepared {
        self.prepared
    }

    /// What the tool is known to do.
    #[must_use]
    pub fn known(&self) -> &'w KnownBehavior {
        self.known
    }

    /// Why the arguments do not fit the tool's schema.
    #[must_use]
    pub fn invalid(&self) -> Option<&CheckArgumentsError> {
        self.invalid.as_ref()
    }

    /// What the arguments would do.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What the gate, the rules and the task say together.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The rules that allow the call. They weaken nothing.
    #[must_use]
    pub fn permissions(&self) -> &[Permission] {
        &self.permissions
    }

    /// True unless it is certain that the call changes nothing: a claim of the publisher alone does not make it so.
    #[must_use]
    pub fn may_change(&self, arguments: &Value) -> bool {
        let changes = |effect: &Effect| effect.mutability == Mutability::Mutates;
        if self.facts.unclear().next().is_some() || self.facts.effects().any(changes) {
            return true;
        }
        match self.known.by_argument() {
            Some(_) => {
                self.known.behavior_of(arguments).is_none_or(|behavior| behavior.mutability() == Mutability::Mutates)
            }
            None => !self.known.is_pure(),
        }
    }

    /// What becomes of the call before anybody is asked.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        // Arguments that do not fit are no question of strictness: such a call cannot be made.
        if self.invalid.is_some() {
            return Outcome::Refuse;
        }
        match self.verdict.decision() {
            Decision::Allow => Outcome::Run,
            stopped if self.observed => Outcome::Observed(stopped),
            Decision::Ask => self.answered().map_or(Outcome::Ask, Outcome::Answered),
            Decision::Deny => Outcome::Refuse,
        }
    }

    /// The rule that answers every question of the defaults, if one does.
    fn answered(&self) -> Option<Answered> {
        let answers = |permission: &&Permission| {
            let mut asking = self.verdict.reasons().iter().filter(|reason| reason.decision == Decision::Ask);
            asking.all(|reason| answers(permission.names, reason.code))
        };
        self.permissions.iter().find(answers).map(|permission| Answered(permission.by.clone()))
    }

    /// The examination as JSON: `behavior`, `invalid`, `facts`, `verdict`, `reasons`, `allowed_by`, `outcome`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "behavior": self.known.to_json(),
            "invalid": self.invalid.as_ref().map(|error| error.report().to_json()),
            "facts": self.facts.to_json(),
            "verdict": self.verdict.decision(),
            "reasons": self.verdict.to_json().get("reasons"),
            "allowed_by": self.permissions.iter().map(|permission| permission.by.to_string()).collect::<Vec<_>>(),
            "outcome": self.outcome().as_str(),
        })
    }
}

fn address(task: &Task) -> usize {
    std::ptr::from_ref(task).addr()
}

/// Whether a rule that names so much answers a question with this code.
///
/// Invariant: what an operator asked for, what nobody understands and what changed is answered by no rule.
fn answers(names: Named, code: &str) -> bool {
    match code {
        "effect-mutates" | "effect-unbounded" | "effect-dangerous" | "effect-exceeds-behavior" => names.effect,
        "argument-selects-gravest" => names.arguments || names.behavior || names.tools,
        "preset-careful" => names.tools || names.behavior,
        _ => false,
    }
}

impl Outcome {
    /// The outcome in one word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Answered(_) => "answered",
            Self::Observed(_) => "observed",
            Self::Ask => "ask",
            Self::Refuse => "refuse",
        }
    }

    /// True when the call goes on without a person.
    #[must_use]
    pub const fn runs(&self) -> bool {
        matches!(self, Self::Run | Self::Answered(_) | Self::Observed(_))
    }
}

impl Answered {
    /// Whose rule it is.
    #[must_use]
    pub fn by(&self) -> &Author {
        &self.0
    }
}

#[cfg(test)]
mod tests;
