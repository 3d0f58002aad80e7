//! Asks Cedar about one call. Whatever cannot be evaluated denies: Cedar itself would skip the policy, even a `forbid`.

use std::sync::{Arc, OnceLock};

use cedar_policy::{AuthorizationError, Authorizer, Entities, PolicySet, Request as CedarRequest};
use toolmark_core::explain::Code;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Reason};

use super::arguments::Flat;
use super::cache::{Kept, Key};
use super::context::{action, context};
use super::groups::Sets;
use super::source::Says;
use super::{Cedar, CedarDefault};
use crate::answer::{Author, Open, Permission, PolicyAnswer};
use crate::request::Request;
use crate::tools::ToolAt;

const FORBIDS: Code = Code::new("policy-forbids");
const ASKS: Code = Code::new("policy-asks");
const NOT_PERMITTED: Code = Code::new("policy-not-permitted");
pub(crate) const UNEVALUABLE: Code = Code::new("policy-unevaluable");

/// What a set of policies says about a call.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    reasons: Vec<Reason>,
    allows: Vec<Permission>,
    permitted: bool,
}

/// Why a call cannot be judged by policies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unevaluable(String);

impl Unevaluable {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl Cedar {
    /// Adds what the policies say about a call. Where its arguments are gone, those that are evaluated with them are listed instead.
    pub(crate) fn judge(
        &self,
        at: ToolAt,
        request: &Request<'_>,
        answer: &mut PolicyAnswer,
        open: Option<&mut Vec<Open>>,
    ) {
        let Some(group) = self.groups.get(at) else { return };
        let mut permitted = self.default == CedarDefault::Permit;
        if !group.fixed.is_empty() {
            let mentions = group.fixed.mentions;
            let key = Key::of(request, at, mentions.agent, mentions.session, mentions.task);
            let kept = self.cache.get_or(&key, || {
                let outcome = self.evaluate(&group.fixed, &key, request);
                match outcome.reasons.is_empty() && outcome.allows.is_empty() {
                    true => Kept::Silent { permitted: outcome.permitted },
                    false => Kept::Said(Arc::new(outcome)),
                }
            });
            match kept {
                Kept::Silent { permitted: by_policy } => permitted |= by_policy,
                Kept::Said(outcome) => {
                    permitted |= outcome.permitted;
                    answer.reasons.extend(outcome.reasons.iter().cloned());
                    answer.allows.extend(outcome.allows.iter().cloned());
                }
            }
        }
        let open = open.filter(|_| !group.live.is_empty() && group.live.mentions.arguments);
        if let Some(open) = open {
            let (may_stop, may_allow) = (true, true);
            let ids = [&group.live.forbids, &group.live.permits].into_iter().flat_map(PolicySet::policies);
            let ids = ids.filter_map(|policy| self.by_id.get::<str>(policy.id().as_ref()));
            let infos = ids.filter_map(|at| self.infos.get(*at)).filter(|info| info.mentions.arguments);
            open.extend(infos.map(|info| Open { by: Author::Cedar(Arc::clone(&info.id)), may_stop, may_allow }));
            return;
        }
        if !group.live.is_empty() {
            let mentions = group.live.mentions;
            let key = Key::of(request, at, mentions.agent, mentions.session, mentions.task);
            let outcome = self.evaluate(&group.live, &key, request);
            permitted |= outcome.permitted;
            answer.reasons.extend(outcome.reasons);
            answer.allows.extend(outcome.allows);
        }
        if !permitted {
            let message = format!("no policy permits `{}`, and none is not enough", shown(request.tool));
            answer.reasons.push(Reason::new(Decision::Deny, NOT_PERMITTED.as_str(), message));
        }
    }

    /// Evaluates some policies. Never fails: what fails is a reason to deny.
    fn evaluate(&self, sets: &Sets, key: &Key<'_>, request: &Request<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        match self.prepare(sets, key, request) {
            Ok((asked, entities)) => {
                for set in [&sets.forbids, &sets.permits] {
                    self.ask(set, &asked, &entities, request, &mut outcome);
                }
            }
            Err(Unevaluable(why)) => {
                let message = format!("the policies about `{}` cannot be evaluated: {why}", shown(request.tool));
                outcome.reasons.push(Reason::new(Decision::Deny, UNEVALUABLE.as_str(), message));
            }
        }
        outcome
    }

    fn prepare(
        &self,
        sets: &Sets,
        key: &Key<'_>,
        request: &Request<'_>,
    ) -> Result<(CedarRequest, Entities), Unevaluable> {
        let unevaluable = |error: String| Unevaluable(error);
        let (principal, mut entities) = self.uids.of_caller(key.caller);
        if sets.mentions.arguments {
            entities.extend(Flat::of(request.arguments)?.into_entities(&self.uids)?);
        }
        let context = context(key, sets.mentions, request.facts, request.arguments, &self.uids)?;
        let action = self.uids.action(action(key));
        let asked = CedarRequest::new(principal, action, self.uids.tool(request.tool), context, None);
        let asked = asked.map_err(|error| unevaluable(error.to_string()))?;
        let entities = self.around(key.tool, request.tool)?.add_entities(entities, None);
        Ok((asked, entities.map_err(|error| unevaluable(error.to_string()))?))
    }

    /// The actions, the tool and its pack: the same for every call of the tool, made at the first.
    fn around(&self, at: ToolAt, tool: &Tool) -> Result<Entities, Unevaluable> {
        let known = self.around.get(at.0 as usize).and_then(OnceLock::get);
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let made = self.actions.clone().add_entities(self.uids.of_tool(tool)?, None);
        let made = made.map_err(|error| Unevaluable::new(error.to_string()))?;
        if let Some(place) = self.around.get(at.0 as usize) {
            // Somebody else may have been faster, with the same.
            let _ = place.set(made.clone());
        }
        Ok(made)
    }

    fn ask(
        &self,
        set: &PolicySet,
        asked: &CedarRequest,
        entities: &Entities,
        request: &Request<'_>,
        outcome: &mut Outcome,
    ) {
        if set.is_empty() {
            return;
        }
        let response = Authorizer::new().is_authorized(asked, set, entities);
        // Cedar keeps them in no order; a verdict has the same reasons in the same order each time.
        let mut applying: Vec<usize> =
            response.diagnostics().reason().filter_map(|id| self.by_id.get::<str>(id.as_ref())).copied().collect();
        applying.sort_unstable();
        for info in applying.into_iter().filter_map(|at| self.infos.get(at)) {
            let why = info.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let tool = shown(request.tool);
            let reason = match info.says {
                Says::Stop(Decision::Ask) => {
                    Reason::new(Decision::Ask, ASKS.as_str(), format!("policy `{}` asks before `{tool}`{why}", info.id))
                }
                Says::Stop(_) => {
                    Reason::new(Decision::Deny, FORBIDS.as_str(), format!("policy `{}` forbids `{tool}`{why}", info.id))
                }
                Says::Permit => {
                    outcome.permitted = true;
                    continue;
                }
                Says::Allow => {
                    outcome.permitted = true;
                    outcome.allows.push(Permission { by: Author::Cedar(Arc::clone(&info.id)), names: info.names });
                    continue;
                }
            };
            outcome.reasons.push(reason.fact("policy", &*info.id));
        }
        // Invariant: a policy that fails denies, whatever the others say.
        for error in response.diagnostics().errors() {
            let message = format!("a policy about `{}` cannot be evaluated: {error}", shown(request.tool));
            let reason = Reason::new(Decision::Deny, UNEVALUABLE.as_str(), visible(&message, 500));
            let AuthorizationError::PolicyEvaluationError(error) = error;
            outcome.reasons.push(reason.fact("policy", error.policy_id().to_string()));
        }
    }
}

fn shown(tool: &Tool) -> String {
    visible(tool.canonical().as_str(), 200)
}
