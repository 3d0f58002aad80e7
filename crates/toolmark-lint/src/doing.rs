//! What a tool does, as far as anybody says so, and who says it: the declared behavior, else the hints, else the verb in its name.
//!
//! A stand-in for a classifier, good enough to grade a finding. It never judges a call.

use toolmark_core::behavior::{Action, Mutability};
use toolmark_core::definition::Reading;
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
    Name,
}

impl Evidence {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared behavior",
            Self::ReadOnlyHint => "readOnlyHint",
            Self::DestructiveHint => "destructiveHint",
            Self::Name => "name",
        }
    }
}

impl Doing {
    pub(crate) fn of(tool: &Tool, reading: &Reading<'_>) -> Self {
        let verb = verbs::verb_of(tool.raw().as_str());
        let said = |evidence, mutability, action| Self {
            mutability: Some(mutability),
            action,
            evidence: Some(evidence),
            verb,
        };
        if let Some(behavior) = tool.behavior() {
            return said(Evidence::Declared, behavior.mutability(), Some(behavior.action()));
        }
        // The verb names the action only where it does not contradict the hint.
        let action = |mutability| verb.filter(|verb| verb.mutability() == mutability).map(Verb::action);
        match (reading.hint("readOnlyHint"), reading.hint("destructiveHint")) {
            (Some(true), _) => {
                said(Evidence::ReadOnlyHint, Mutability::Pure, action(Mutability::Pure).or(Some(Action::Read)))
            }
            (Some(false), _) => said(Evidence::ReadOnlyHint, Mutability::Mutates, action(Mutability::Mutates)),
            (None, Some(true)) => said(Evidence::DestructiveHint, Mutability::Mutates, action(Mutability::Mutates)),
            _ => match verb {
                Some(verb) => said(Evidence::Name, verb.mutability(), Some(verb.action())),
                None => Self::default(),
            },
        }
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
