//! What a tool does, in the few words that grading a finding needs, and who says it: the declared behavior, else the hints, else the
//! classifier. Of two that contradict each other the one that guards more is taken. It never judges a call.

use toolmark_core::behavior::{Action, Agreement, BehaviorSource, KnownBehavior, Mutability};
use toolmark_core::tool::Tool;

use crate::verbs::{self, Verb};

/// What a tool does and how we know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doing {
    mutability: Option<Mutability>,
    action: Option<Action>,
    evidence: Option<Evidence>,
    verb: Option<Verb>,
}

/// Who says what a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    Declared,
    ReadOnlyHint,
    DestructiveHint,
    Classifier,
    Disputed,
}

impl Evidence {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared behavior",
            Self::ReadOnlyHint => "readOnlyHint",
            Self::DestructiveHint => "destructiveHint",
            Self::Classifier => "classifier",
            Self::Disputed => "dispute",
        }
    }
}

impl Doing {
    /// From what is known of a tool, and `readOnlyHint` and `destructiveHint` as they are written.
    pub(crate) fn of(tool: &Tool, known: &KnownBehavior, hints: (Option<bool>, Option<bool>)) -> Self {
        let verb = verbs::verb_of(tool.raw().as_str());
        let action = known.behavior().map(|behavior| behavior.action());
        let evidence = match known.source() {
            _ if known.agreement() == Agreement::Disputed => Evidence::Disputed,
            Some(BehaviorSource::Operator | BehaviorSource::Publisher) => Evidence::Declared,
            Some(BehaviorSource::Annotations) => Evidence::ReadOnlyHint,
            // The specification gives `destructiveHint` a meaning only for tools that write.
            _ if hints == (None, Some(true)) => {
                let action = action.filter(|action| !matches!(action, Action::Read | Action::Search));
                return Self {
                    mutability: Some(Mutability::Mutates),
                    action,
                    evidence: Some(Evidence::DestructiveHint),
                    verb,
                };
            }
            Some(BehaviorSource::Inferred | BehaviorSource::Models) | None => Evidence::Classifier,
        };
        let Some(mutability) = known.mutability() else { return Self { verb, ..Self::default() } };
        let action = match (action, mutability) {
            (None, Mutability::Pure) => Some(Action::Read),
            (action, _) => action,
        };
        Self { mutability: Some(mutability), action, evidence: Some(evidence), verb }
    }

    pub(crate) fn reads(&self) -> bool {
        self.mutability == Some(Mutability::Pure)
    }

    pub(crate) fn writes(&self) -> bool {
        self.mutability == Some(Mutability::Mutates)
    }

    /// Writes in a way that cannot be taken back.
    pub(crate) fn destroys(&self) -> bool {
        let lasting = matches!(self.action, Some(Action::Delete | Action::Overwrite | Action::Send));
        self.writes() && (lasting || self.verb.is_some_and(Verb::destroys))
    }

    pub(crate) fn action(&self) -> Option<Action> {
        self.action
    }

    pub(crate) fn evidence(&self) -> Option<Evidence> {
        self.evidence
    }

    pub(crate) fn verb(&self) -> Option<Verb> {
        self.verb
    }

    /// In two words, for people.
    pub(crate) fn says(&self) -> &'static str {
        match (self.mutability, self.action) {
            (None, _) => "unknown",
            (Some(Mutability::Pure), _) => "reads",
            (_, Some(Action::Create)) => "creates",
            (_, Some(Action::Delete)) => "deletes",
            (_, Some(Action::Update)) => "changes",
            (_, Some(Action::Merge)) => "merges",
            (_, Some(Action::Overwrite)) => "overwrites",
            (_, Some(Action::Append)) => "appends",
            (_, Some(Action::Execute)) => "runs",
            (_, Some(Action::Send)) => "sends",
            _ => "writes",
        }
    }
}
