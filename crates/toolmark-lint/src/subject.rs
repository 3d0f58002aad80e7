//! What the rules that compare tools need to know of each, kept from the one reading of its definition.

use std::collections::{HashMap, HashSet};

use toolmark_core::behavior::{
    Action, Agreement, Annotations, Behavior, BehaviorSource, KnownBehavior, Mutability, OutputDomain, Statements,
};
use toolmark_core::definition::Reading;
use toolmark_core::digest::SchemaDigest;
use toolmark_core::inference::{Inference, Mode};
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;

use crate::doing::Doing;
use crate::suggestion::Suggestion;

/// One tool of the catalog.
#[derive(Debug)]
pub(crate) struct Subject<'c> {
    pub(crate) tool: &'c Tool,
    /// What everybody together says it does.
    pub(crate) known: KnownBehavior,
    /// What the operator declares.
    pub(crate) operator: Option<Behavior>,
    /// What the publisher hints, without hints that nobody gave.
    pub(crate) annotations: Annotations,
    /// `readOnlyHint` and `destructiveHint` as they are written.
    pub(crate) hints: (Option<bool>, Option<bool>),
    /// What the classifier alone says.
    pub(crate) inferred: Option<Behavior>,
    pub(crate) doing: Doing,
    pub(crate) shape: SchemaDigest,
    /// It takes no parameters at all.
    pub(crate) parameterless: bool,
    /// It has a `readOnlyHint` or a declared behavior.
    pub(crate) annotated: bool,
    /// Another tool of its pack has the same arguments and the same first identity.
    crowded: bool,
}

impl<'c> Subject<'c> {
    pub(crate) fn new(tool: &'c Tool, reading: &Reading<'_>, operator: Option<Behavior>) -> Self {
        let schema = reading.input_schema();
        let has = |key: &str| schema.get(key).and_then(|value| value.entries()).is_some_and(|all| !all.is_empty());
        let composed = ["$ref", "anyOf", "oneOf", "allOf"].iter().any(|key| schema.get(key).is_some());
        let inferred = Inference::of_reading(reading, Mode::WithoutHints);
        let annotations = Annotations::of(reading);
        let publisher = tool.behavior();
        let said = Statements { operator, publisher, annotations, inferred: Some(&inferred) };
        let known = KnownBehavior::combine(said);
        let hints = (reading.hint("readOnlyHint"), reading.hint("destructiveHint"));
        Self {
            tool,
            doing: Doing::of(tool, &known, hints),
            known,
            operator,
            annotations,
            hints,
            inferred: inferred.behavior(),
            shape: SchemaDigest::of_schema(&schema),
            parameterless: !has("properties") && !has("patternProperties") && !composed,
            annotated: operator.or(publisher).is_some() || hints.0.is_some(),
            crowded: false,
        }
    }

    pub(crate) fn name(&self) -> &'c str {
        self.tool.raw().as_str()
    }

    /// Whether the operator or the publisher declares what it does, and nobody contradicts.
    pub(crate) fn declared(&self) -> bool {
        let source = matches!(self.known.source(), Some(BehaviorSource::Operator | BehaviorSource::Publisher));
        source && self.known.agreement() != Agreement::Disputed
    }

    /// What is known of it, with what the classifier knows beyond that where the two agree on what it does.
    pub(crate) fn completed(&self) -> Option<Behavior> {
        let known = self.known.behavior()?;
        let agrees =
            |inferred: &Behavior| (inferred.mutability(), inferred.action()) == (known.mutability(), known.action());
        let Some(inferred) = self.inferred.filter(agrees) else { return Some(known) };
        let content = known.content_type().or(inferred.content_type());
        let facets = known.facets().or(inferred.facets());
        let known = content.map_or(known, |content| known.with_content_type(content));
        Some(facets.map_or(known, |facets| known.with_facets(facets)))
    }

    /// The declaration that would settle what is open about it. None where the operator has spoken, or nobody knows enough.
    pub(crate) fn suggestion(&self) -> Option<Suggestion> {
        if self.operator.is_some() {
            return None;
        }
        let known = self.known.behavior()?;
        // Three fields are what people read; the rest is needed only where three are not enough.
        let behavior = if self.crowded { self.completed()? } else { three(&known)? };
        let suggestion = Suggestion::new(self.tool, behavior);
        if self.known.agreement() != Agreement::Disputed {
            return Some(suggestion);
        }
        let reads = match self.inferred.filter(|inferred| inferred.mutability() == Mutability::Pure) {
            Some(inferred) => three(&inferred),
            // A reader returns more than a confirmation.
            None => {
                let domain = Some(known.output_domain()).filter(|domain| *domain != OutputDomain::Ack);
                Behavior::new(Mutability::Pure, Action::Read, domain.unwrap_or(OutputDomain::Data)).ok()
            }
        };
        let inferred_pure = self.inferred.is_some_and(|inferred| inferred.mutability() == Mutability::Pure);
        Some(match reads {
            // Where the classifier sees a reader, a publisher that insists stays disputed.
            Some(reads) if inferred_pure => suggestion.or(Some(reads)).published_as(reads),
            reads => suggestion.or(reads),
        })
    }

    /// What it does and how we know, as JSON.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "tool": self.tool.canonical(),
            "does": self.doing.says(),
            "action": self.doing.action(),
            "evidence": self.doing.evidence().map(super::doing::Evidence::as_str),
            "read_only_hint": self.hints.0,
            "behavior": self.known.behavior(),
            "agreement": self.known.agreement().as_str(),
        })
    }
}

/// Tools of one pack that share their arguments and the fields of the first identity.
pub(crate) fn alike<'s, 'c>(subjects: &'s [Subject<'c>]) -> Vec<Vec<(usize, &'s Subject<'c>, Behavior)>> {
    type First = (Mutability, Action, OutputDomain);
    type Key<'k> = (Option<&'k str>, SchemaDigest, First);
    let mut sets: HashMap<Key<'_>, Vec<(usize, &'s Subject<'c>, Behavior)>> = HashMap::new();
    for (at, subject) in subjects.iter().enumerate() {
        if let Some(behavior) = subject.known.behavior() {
            let first = (behavior.mutability(), behavior.action(), behavior.output_domain());
            sets.entry((subject.tool.pack(), subject.shape, first)).or_default().push((at, subject, behavior));
        }
    }
    sets.into_values().filter(|set| set.len() > 1).collect()
}

/// Notes which tools the first identity does not tell apart from a sibling with the same arguments.
pub(crate) fn mark_crowded(subjects: &mut [Subject<'_>]) {
    let crowded: HashSet<usize> = alike(subjects).into_iter().flatten().map(|(at, ..)| at).collect();
    for (at, subject) in subjects.iter_mut().enumerate() {
        subject.crowded = crowded.contains(&at);
    }
}

/// The same without content type and facets.
pub(crate) fn three(behavior: &Behavior) -> Option<Behavior> {
    Behavior::new(behavior.mutability(), behavior.action(), behavior.output_domain()).ok()
}

/// A name as it may be printed, in backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", visible(name, 100))
}

/// The first names in backticks, and how many more there are.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>, shown: usize) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let mut text = names.iter().take(shown).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if names.len() > shown {
        text.push_str(&format!(" (+{} more)", names.len() - shown));
    }
    text
}
