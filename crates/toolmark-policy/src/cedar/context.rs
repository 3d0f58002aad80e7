//! What stands as `context` in a policy: who and what for, what is known about the tool, what the arguments would do.

use cedar_policy::{Context, RestrictedExpression};
use serde_json::Value;
use toolmark_core::facts::{Effect, Facts};

use super::arguments;
use super::entities::Uids;
use super::evaluate::Unevaluable;
use super::mentions::Mentions;
use crate::cedar::cache::Key;

/// What a field says when nothing is known.
const UNKNOWN: &str = "UNKNOWN";

type Pair = (String, RestrictedExpression);

/// The context of a call. Facts and arguments are left out where no policy looks at them.
pub(super) fn context(
    key: &Key<'_>,
    mentions: Mentions,
    facts: &Facts,
    arguments: &Value,
    uids: &Uids,
) -> Result<Context, Unevaluable> {
    let mut pairs = vec![text("caller", key.caller.name()), ("behavior".to_owned(), behavior(key)?)];
    pairs.extend(key.caller.agent().map(|agent| text("agent", agent)));
    pairs.extend(key.caller.session().map(|session| text("session", session)));
    pairs.extend(key.task.map(|task| text("task", task)));
    if mentions.facts {
        pairs.push(("facts".to_owned(), facts_record(facts)?));
    }
    if mentions.arguments {
        let json = mentions.json.then(|| arguments.to_string());
        pairs.push(("arguments".to_owned(), arguments::record(uids, json)?));
    }
    Context::from_pairs(pairs).map_err(|error| Unevaluable::new(error.to_string()))
}

/// The action of a request: the tool's, or `UNKNOWN`.
pub(super) fn action(key: &Key<'_>) -> &'static str {
    key.behavior.map_or(UNKNOWN, |behavior| behavior.action().as_str())
}

fn behavior(key: &Key<'_>) -> Result<RestrictedExpression, Unevaluable> {
    let behavior = key.behavior;
    let domain = behavior.map_or(UNKNOWN, |behavior| behavior.output_domain().as_str());
    let facets = behavior.and_then(|behavior| behavior.facets());
    let target =
        facets.and_then(|facets| facets.target).map_or_else(|| UNKNOWN.to_owned(), |target| target.to_string());
    let content = behavior.and_then(|behavior| behavior.content_type()).map_or(UNKNOWN, |content| content.as_str());
    record([
        text("mutability", key.mutability.map_or(UNKNOWN, |mutability| mutability.as_str())),
        text("action", action(key)),
        text("outputDomain", domain),
        text("contentType", content),
        text("target", &target),
        text("polarity", facets.map_or(UNKNOWN, |facets| facets.polarity.as_str())),
        text("reach", facets.map_or(UNKNOWN, |facets| facets.reach.as_str())),
        text("source", key.source.map_or("unknown", |source| source.as_str())),
        text("agreement", key.agreement.as_str()),
    ])
}

fn facts_record(facts: &Facts) -> Result<RestrictedExpression, Unevaluable> {
    let effect = |effect: &Effect| {
        record([
            text("mutability", effect.mutability.as_str()),
            text("action", effect.action.as_str()),
            flag("bounded", effect.bounded),
        ])
    };
    let effects = || facts.effects();
    let all = effects().map(effect).collect::<Result<Vec<_>, _>>()?;
    record([
        ("effects".to_owned(), RestrictedExpression::new_set(all)),
        texts("actions", effects().map(|effect| effect.action.as_str())),
        flag("mutates", effects().any(|effect| effect.mutability.as_str() == "MUTATES")),
        flag("unbounded", effects().any(|effect| !effect.bounded)),
        flag("unclear", facts.unclear().next().is_some()),
        texts("dangers", effects().flat_map(|effect| effect.dangers.iter().map(|danger| danger.as_str()))),
        texts("targets", effects().flat_map(|effect| effect.targets.iter().map(String::as_str))),
        texts("languages", facts.parts().iter().map(|part| part.language)),
    ])
}

fn record(pairs: impl IntoIterator<Item = Pair>) -> Result<RestrictedExpression, Unevaluable> {
    RestrictedExpression::new_record(pairs).map_err(|error| Unevaluable::new(error.to_string()))
}

fn text(name: &str, value: &str) -> Pair {
    (name.to_owned(), RestrictedExpression::new_string(value.to_owned()))
}

fn flag(name: &str, value: bool) -> Pair {
    (name.to_owned(), RestrictedExpression::new_bool(value))
}

fn texts<'t>(name: &str, values: impl Iterator<Item = &'t str>) -> Pair {
    (name.to_owned(), arguments::set(values.map(ToOwned::to_owned)))
}
