//! What is known about a tool's behavior when everybody has spoken, who said it, and whether a second opinion agrees.
//!
//! A publisher's claim alone never makes a call less guarded: where it is the only one to say PURE, it stays a claim.

use serde_json::{Value, json};

use super::disagreement::disagreements;
use super::{Annotations, Behavior, ByArgument, Disagreement, Mutability};
use crate::definition::Definition;
use crate::inference::{Inference, Mode};

/// Who says what a tool does, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BehaviorSource {
    /// The operator's configuration.
    Operator,
    /// A declaration in the definition.
    Publisher,
    /// The hints of MCP.
    Annotations,
    /// The built-in classifier.
    Inferred,
    /// Models that were asked. They only contradict.
    Models,
}

/// Whether a second opinion agrees. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agreement {
    /// Said by one, and nobody else has an opinion.
    Declared,
    /// Said by one, and the second opinion agrees.
    Corroborated,
    /// Said by one, and the second opinion contradicts.
    Disputed,
    /// Nobody said it; the classifier did.
    Inferred,
    /// Nobody said it, and the classifier abstains.
    Unknown,
}

/// What there is to combine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statements<'s> {
    /// What the operator's configuration says.
    pub operator: Option<Behavior>,
    /// What the publisher declares.
    pub publisher: Option<Behavior>,
    /// The publisher's hints.
    pub annotations: Annotations,
    /// What the classifier makes of the definition, without looking at the hints.
    pub inferred: Option<&'s Inference>,
}

/// The result: one behavior, where it comes from, and what speaks against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownBehavior {
    behavior: Option<Behavior>,
    mutability: Option<Mutability>,
    source: Option<BehaviorSource>,
    agreement: Agreement,
    disagreements: Vec<Disagreement>,
    by_argument: Option<ByArgument>,
}

impl BehaviorSource {
    /// The source in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Publisher => "publisher",
            Self::Annotations => "annotations",
            Self::Inferred => "inferred",
            Self::Models => "models",
        }
    }
}

impl Agreement {
    /// The agreement in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Corroborated => "corroborated",
            Self::Disputed => "disputed",
            Self::Inferred => "inferred",
            Self::Unknown => "unknown",
        }
    }
}

impl KnownBehavior {
    /// What is known of a definition, given what the operator's configuration says about it.
    #[must_use]
    pub fn of(definition: &Definition, operator: Option<Behavior>) -> Self {
        let reading = definition.reading();
        let inferred = Inference::of_reading(&reading, Mode::WithoutHints);
        Self::combine(Statements {
            operator,
            publisher: definition.declared(),
            annotations: Annotations::of(&reading),
            inferred: Some(&inferred),
        })
    }

    /// What the publisher claims, by declaration or by hints, whoever contradicts. For those whose word is taken.
    #[must_use]
    pub fn claimed(definition: &Definition) -> Option<Behavior> {
        let reading = definition.reading();
        let hinted = || {
            let mutability = Annotations::of(&reading).mutability()?;
            fitted(Some(&Inference::of_reading(&reading, Mode::WithoutHints)), mutability)
        };
        definition.declared().or_else(hinted)
    }

    /// Combines what everybody says.
    #[must_use]
    pub fn combine(said: Statements<'_>) -> Self {
        let by_argument = said.inferred.and_then(|inferred| inferred.by_argument.clone());
        let opinion = said.inferred.and_then(|inferred| inferred.mutability.value());
        let guess = said.inferred.and_then(Inference::behavior);
        let disagreements = disagreements(&said);
        let mut known = Self {
            behavior: None,
            mutability: None,
            source: None,
            agreement: Agreement::Unknown,
            disagreements,
            by_argument,
        };
        if let Some(behavior) = said.operator {
            let agrees = opinion == Some(behavior.mutability());
            let agreement = if agrees { Agreement::Corroborated } else { Agreement::Declared };
            // The operator's word holds for every value of every argument.
            known.by_argument = None;
            return known.settled(behavior, BehaviorSource::Operator, agreement);
        }
        let (source, claim, full) = match (said.publisher, said.annotations.mutability()) {
            (Some(behavior), _) => (BehaviorSource::Publisher, behavior.mutability(), Some(behavior)),
            (None, Some(mutability)) => (BehaviorSource::Annotations, mutability, fitted(said.inferred, mutability)),
            (None, None) => {
                known.mutability = opinion;
                return match guess {
                    Some(behavior) => known.settled(behavior, BehaviorSource::Inferred, Agreement::Inferred),
                    None => known,
                };
            }
        };
        let hinted = said.annotations.mutability();
        let contradicted = [opinion, hinted].into_iter().flatten().any(|other| other != claim);
        let agreement = match opinion {
            _ if contradicted => Agreement::Disputed,
            Some(_) => Agreement::Corroborated,
            None => Agreement::Declared,
        };
        known.source = Some(source);
        known.agreement = agreement;
        // Invariant: of two that disagree about mutability, the one that guards more is kept.
        let kept = if contradicted { Mutability::Mutates } else { claim };
        known.mutability = Some(kept);
        known.behavior = match (full, guess) {
            (Some(behavior), _) if behavior.mutability() == kept => Some(behavior),
            (_, Some(guess)) if guess.mutability() == kept => Some(guess),
            (full, guess) => full.or(guess).map(Behavior::guarded),
        };
        known
    }

    /// The same after others were heard who contradict what is claimed. The tool is disputed then, unless the operator has spoken.
    #[must_use]
    pub fn contradicted(mut self, by: Vec<Disagreement>) -> Self {
        let claimed = matches!(self.source, Some(BehaviorSource::Publisher | BehaviorSource::Annotations));
        if claimed && !by.is_empty() {
            self.agreement = Agreement::Disputed;
        }
        self.disagreements.extend(by);
        self
    }

    fn settled(mut self, behavior: Behavior, source: BehaviorSource, agreement: Agreement) -> Self {
        self.mutability = Some(behavior.mutability());
        self.behavior = Some(behavior);
        self.source = Some(source);
        self.agreement = agreement;
        self
    }

    /// The behavior, when every field of the paper is known.
    #[must_use]
    pub fn behavior(&self) -> Option<Behavior> {
        self.behavior
    }

    /// Whether it changes anything, when at least that is known.
    #[must_use]
    pub fn mutability(&self) -> Option<Mutability> {
        self.mutability
    }

    /// Who says so.
    #[must_use]
    pub fn source(&self) -> Option<BehaviorSource> {
        self.source
    }

    /// Whether a second opinion agrees.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        self.agreement
    }

    /// Everything on which two do not say the same; also what does not change the verdict.
    #[must_use]
    pub fn disagreements(&self) -> &[Disagreement] {
        &self.disagreements
    }

    /// What each value of a selecting argument does, where the operator has not said what the tool does.
    #[must_use]
    pub fn by_argument(&self) -> Option<&ByArgument> {
        self.by_argument.as_ref()
    }

    /// What one call does: narrowed by a selecting argument, unless the tool is disputed.
    #[must_use]
    pub fn behavior_of(&self, arguments: &Value) -> Option<Behavior> {
        match &self.by_argument {
            Some(by_argument) if self.agreement != Agreement::Disputed => Some(by_argument.behavior_of(arguments)),
            _ => self.behavior,
        }
    }

    /// True when PURE may be relied on: said by the operator, corroborated, or inferred, and never when it is only claimed.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        let trusted = match self.agreement {
            Agreement::Corroborated | Agreement::Inferred => true,
            Agreement::Declared => self.source == Some(BehaviorSource::Operator),
            Agreement::Disputed | Agreement::Unknown => false,
        };
        trusted && self.mutability == Some(Mutability::Pure)
    }

    /// The hints to show to clients: only for what the operator says or a second opinion corroborates.
    #[must_use]
    pub fn projected(&self) -> Option<Annotations> {
        let beyond_doubt = self.source == Some(BehaviorSource::Operator) || self.agreement == Agreement::Corroborated;
        self.behavior.filter(|_| beyond_doubt).map(|behavior| Annotations::project(&behavior))
    }

    /// As it stands in `_meta["dev.toolmark/behavior"]`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let behavior = self.behavior;
        let facets = behavior.and_then(|behavior| behavior.facets());
        json!({
            "mutability": self.mutability,
            "action": behavior.map(|behavior| behavior.action()),
            "output_domain": behavior.map(|behavior| behavior.output_domain()),
            "content_type": behavior.and_then(|behavior| behavior.content_type()),
            "target": facets.and_then(|facets| facets.target),
            "polarity": facets.map(|facets| facets.polarity),
            "reach": facets.map(|facets| facets.reach),
            "identity": behavior.map(|behavior| behavior.identity()),
            "identity_v2": behavior.and_then(|behavior| behavior.identity_v2()),
            "identity_v3": behavior.and_then(|behavior| behavior.identity_v3()),
            "source": self.source.map(BehaviorSource::as_str),
            "agreement": self.agreement.as_str(),
        })
    }
}

/// The classifier's fields under the mutability that the hints claim.
fn fitted(inferred: Option<&Inference>, mutability: Mutability) -> Option<Behavior> {
    let inferred = inferred?;
    let action = inferred.action.value()?;
    let mut behavior = Behavior::new(mutability, action, inferred.output_domain.value()?).ok()?;
    if let Some(content) = inferred.content_type.value() {
        behavior = behavior.with_content_type(content);
    }
    match inferred.behavior().and_then(|behavior| behavior.facets()) {
        Some(facets) => Some(behavior.with_facets(facets)),
        None => Some(behavior),
    }
}
