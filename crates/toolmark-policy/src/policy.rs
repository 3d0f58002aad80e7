//! A policy that was loaded against a catalog: asked about a call, it says what rules and Cedar policies say, and nothing more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use toolmark_core::catalog::Catalog;
use toolmark_core::explain::{Code, Explain as _};
use toolmark_core::gate::Preset;
use toolmark_core::problem::Problem;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Reason};

use crate::answer::{Author, Open, Permission, PolicyAnswer};
use crate::cedar::{Cedar, CedarDefault, UNEVALUABLE};
use crate::config::{PolicyConfig, rule_id};
use crate::error::{DuplicateRule, LoadPolicyError, PermitsNothing, WrongRule};
use crate::plan::Plan;
use crate::request::Request;
use crate::rule::{Doubt, Match, Rule};
use crate::tools::{ToolAt, Universe, UnknownArgument};
use crate::version::PolicyVersion;

const DENIES: Code = Code::new("rule-denies");
const ASKS: Code = Code::new("rule-asks");
const CANNOT_TELL: Code = Code::new("rule-cannot-tell");

/// Rules and Cedar policies, settled on the tools of one catalog. Immutable; share it behind an `Arc`.
pub struct Policy {
    rules: Vec<(Arc<str>, Rule)>,
    /// Absent when nothing was configured: such a policy says nothing and knows no tool.
    plan: Option<Plan>,
    cedar: Option<Cedar>,
    preset: Preset,
    version: PolicyVersion,
    notes: Vec<Problem>,
}

/// Where a policy keeps the rules of one tool. Good for the policy that made it and for no other.
#[derive(Clone, Copy, Debug)]
pub struct SettledTool(Option<u32>);

impl Policy {
    /// Reads the rules and policies and settles which tools they mean.
    ///
    /// # Errors
    /// [`LoadPolicyError`] with every problem of every rule and policy.
    pub fn load(config: &PolicyConfig, catalog: &Catalog) -> Result<Self, LoadPolicyError> {
        let (preset, version) = (config.preset, PolicyVersion::of(&config.to_json()));
        if config.rules.is_empty() && config.cedar.is_empty() && config.default == CedarDefault::Permit {
            return Ok(Self { rules: Vec::new(), plan: None, cedar: None, preset, version, notes: Vec::new() });
        }
        let universe = Universe::new(catalog, &config.former, &config.awaited);
        let (mut problems, mut notes) = (Vec::new(), Vec::new());
        let mut rules = Vec::new();
        let mut bound = Vec::new();
        for (at, rule) in config.rules.iter().enumerate() {
            match rule {
                Ok(rule) => {
                    let id = rule_id(rule.id(), at);
                    bound.push(bind(&format!("rule `{id}`"), rule, &universe, &mut problems));
                    rules.push((Arc::from(id), rule.clone()));
                }
                Err(error) => {
                    let report = WrongRule { id: rule_id(error.id(), at), error }.report();
                    problems.push(Problem::refused(report, None));
                }
            }
        }
        problems.extend(duplicates(&rules));
        let cedar = match config.cedar.as_slice() {
            [] => None,
            texts => Cedar::load(texts, config.default, &universe, &mut problems, &mut notes),
        };
        let permits_nothing =
            config.default == CedarDefault::Deny && cedar.as_ref().is_none_or(|cedar| cedar.len() == 0);
        if permits_nothing && problems.is_empty() {
            problems.push(Problem::refused(PermitsNothing.report(), None));
        }
        if !problems.is_empty() {
            return Err(LoadPolicyError::new(problems));
        }
        Ok(Self { rules, plan: Some(Plan::new(&universe, &bound)), cedar, preset, version, notes })
    }

    /// What rules and policies say about a call.
    ///
    /// A tool that was not in the catalog at load is denied: no rule was settled for it, so none would protect it.
    pub fn judge(&self, request: &Request<'_>) -> PolicyAnswer {
        self.judge_settled(self.settle(request.tool), request)
    }

    /// Finds the rules of a tool once, for whoever judges many calls of it.
    #[must_use]
    pub fn settle(&self, tool: &Tool) -> SettledTool {
        SettledTool(self.plan.as_ref().and_then(|plan| plan.find(tool)))
    }

    /// As [`judge`](Self::judge), for a tool that this policy settled before.
    pub fn judge_settled(&self, settled: SettledTool, request: &Request<'_>) -> PolicyAnswer {
        self.say(settled, request, None)
    }

    /// As [`judge_settled`](Self::judge_settled), for a call whose arguments are gone: what looks at them says nothing, and is listed if it
    /// could say something. Of `arguments`, only what selects the behavior of the tool is looked at.
    pub fn judge_without_arguments(&self, settled: SettledTool, request: &Request<'_>) -> (PolicyAnswer, Vec<Open>) {
        let mut open = Vec::new();
        let answer = self.say(settled, request, Some(&mut open));
        (answer, open)
    }

    fn say(&self, settled: SettledTool, request: &Request<'_>, mut open: Option<&mut Vec<Open>>) -> PolicyAnswer {
        let mut answer = PolicyAnswer::default();
        let Some(plan) = &self.plan else { return answer };
        let Some(row) = settled.0.and_then(|at| plan.at(at)) else {
            answer.reasons.push(stale(request, "the policy was loaded without this tool"));
            return answer;
        };
        for (id, rule) in plan.rules(row).filter_map(|at| self.rules.get(at)) {
            match &mut open {
                Some(open) if !rule.arguments().is_empty() => {
                    if rule.matches_but_for_arguments(request) != Match::No {
                        let may_allow = rule.verdict() == Decision::Allow;
                        open.push(Open { by: Author::Rule(Arc::clone(id)), may_stop: !may_allow, may_allow });
                    }
                }
                _ => weigh(id, rule, request, &mut answer),
            }
        }
        if let Some(cedar) = &self.cedar {
            // Cedar sees the digest and mark of the tool, which are those of load time.
            if row.is_same_version(request.tool) {
                cedar.judge(row.at, request, &mut answer, open);
            } else {
                answer.reasons.push(stale(request, "the policy was loaded for another version of this tool"));
            }
        }
        answer
    }

    /// True when everything this policy says about a tool holds for every call of it, whatever the arguments, the task and the caller,
    /// as long as what the tool does is the same.
    #[must_use]
    pub fn looks_at_the_tool_only(&self, settled: SettledTool) -> bool {
        let Some(plan) = &self.plan else { return true };
        let Some(row) = settled.0.and_then(|at| plan.at(at)) else { return false };
        let mut rules = plan.rules(row).filter_map(|at| self.rules.get(at));
        self.cedar.is_none() && rules.all(|(_, rule)| rule.looks_at_the_tool_only())
    }

    /// The rules and policies that can apply to a tool, whatever the call. Empty for a tool that was not there at load.
    #[must_use]
    pub fn applying_to(&self, tool: &Tool) -> Vec<Author> {
        let Some((plan, row)) = self.plan.as_ref().and_then(|plan| Some((plan, plan.row(tool)?))) else {
            return Vec::new();
        };
        let rules = plan.rules(row).filter_map(|at| self.rules.get(at)).map(|(id, _)| Author::Rule(Arc::clone(id)));
        let cedar = self.cedar.iter().flat_map(|cedar| cedar.applying_to(row.at));
        rules.chain(cedar.map(Author::Cedar)).collect()
    }

    /// The rules, each with its id or place.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &Rule)> {
        self.rules.iter().map(|(id, rule)| (&**id, rule))
    }

    /// The digest of everything its author wrote.
    #[must_use]
    pub fn version(&self) -> PolicyVersion {
        self.version
    }

    /// How strict Toolmark is beside the rules.
    #[must_use]
    pub fn preset(&self) -> Preset {
        self.preset
    }

    #[cfg(test)]
    pub(crate) fn cedar(&self) -> &Cedar {
        self.cedar.as_ref().unwrap()
    }

    /// What is worth knowing about the policies although they can be loaded.
    #[must_use]
    pub fn notes(&self) -> &[Problem] {
        &self.notes
    }
}

/// The tools of a rule; `None` for every tool.
fn bind(owner: &str, rule: &Rule, universe: &Universe<'_>, problems: &mut Vec<Problem>) -> Option<Vec<ToolAt>> {
    let before = problems.len();
    let mut tools = BTreeSet::new();
    for pattern in rule.tools() {
        match universe.bind(owner, pattern, rule.stance()) {
            Ok(meant) => tools.extend(meant),
            Err(error) => problems.push(Problem::refused(error.report(), None)),
        }
    }
    let everywhere = rule.tools().is_empty() || (!tools.is_empty() && tools.len() == universe.len());
    if problems.len() == before {
        let meant = || universe.all().filter(|(at, _)| everywhere || tools.contains(at)).map(|(_, tool)| tool);
        for argument in rule.arguments().iter().filter_map(|(path, _)| path.argument()) {
            let unknown = UnknownArgument::check(owner, argument, meant());
            problems.extend(unknown.map(|error| Problem::refused(error.report(), None)));
        }
    }
    (!everywhere).then(|| tools.into_iter().collect())
}

fn duplicates(rules: &[(Arc<str>, Rule)]) -> Vec<Problem> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, _) in rules {
        *counts.entry(id).or_default() += 1;
    }
    let several = counts.into_iter().filter(|(_, count)| *count > 1);
    several.map(|(id, count)| Problem::refused(DuplicateRule { id: id.to_owned(), count }.report(), None)).collect()
}

/// Adds what one rule says.
fn weigh(id: &Arc<str>, rule: &Rule, request: &Request<'_>, answer: &mut PolicyAnswer) {
    let tool = || visible(request.tool.canonical().as_str(), 200);
    let why = || rule.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
    let reason = match (rule.matches(request), rule.verdict()) {
        (Match::No, _) => return,
        (Match::Yes(_), Decision::Allow) => {
            answer.allows.push(Permission { by: Author::Rule(Arc::clone(id)), names: rule.named() });
            return;
        }
        (Match::Yes(effect), verdict) => {
            let (code, does) = if verdict == Decision::Deny { (DENIES, "denies") } else { (ASKS, "asks before") };
            let reason = Reason::new(verdict, code.as_str(), format!("rule `{id}` {does} `{}`{}", tool(), why()));
            match effect {
                Some(effect) => reason.fact("effect", visible(&effect.summary, 200)),
                None => reason,
            }
        }
        (Match::CannotTell(doubt), verdict) => {
            let unknown = match doubt {
                Doubt::Behavior => "nobody knows what the tool does",
                Doubt::Effect => "what its arguments do was not understood",
            };
            let message = format!("rule `{id}` may {verdict} `{}`, but {unknown}{}", tool(), why());
            Reason::new(Decision::Ask, CANNOT_TELL.as_str(), message)
        }
    };
    let mut reason = reason.fact("rule", &**id);
    if reason.decision == Decision::Ask {
        let patience = rule.patience();
        if let Some(timeout) = patience.timeout {
            reason = reason.fact("timeout_s", timeout.as_secs());
        }
        if let Some(keeps) = patience.keeps {
            reason = reason.fact("on_timeout", if keeps { "keep" } else { "deny" });
        }
    }
    answer.reasons.push(reason);
}

fn stale(request: &Request<'_>, why: &str) -> Reason {
    let tool = visible(request.tool.canonical().as_str(), 200);
    let message = format!("no policy can be evaluated for `{tool}`: {why}");
    Reason::new(Decision::Deny, UNEVALUABLE.as_str(), message)
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cedar = self.cedar.as_ref().map_or(0, Cedar::len);
        f.debug_struct("Policy")
            .field("version", &self.version)
            .field("rules", &self.rules.len())
            .field("cedar", &cedar)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
