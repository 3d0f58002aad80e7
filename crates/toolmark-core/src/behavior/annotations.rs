//! The hints of MCP, in both directions: what a publisher's hints say about behavior, and what we tell clients.
//!
//! A hint is a claim. It can raise a guard; by itself it never lowers one.

use super::{Action, Behavior, Mutability};
use crate::definition::Reading;

/// The hints of one tool. An absent hint is absent: it is not the default that the specification gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
}

impl Annotations {
    /// The hints that a publisher gives.
    ///
    /// All four hints at exactly the defaults of the specification are what some SDKs write for an author who said nothing, on
    /// readers as on writers; they count as absent.
    #[must_use]
    pub fn of(reading: &Reading<'_>) -> Self {
        const DEFAULTS: [(&str, bool); 4] =
            [("readOnlyHint", false), ("destructiveHint", true), ("idempotentHint", false), ("openWorldHint", true)];
        if DEFAULTS.iter().all(|(hint, default)| reading.hint(hint) == Some(*default)) {
            return Self::default();
        }
        Self { read_only: reading.hint("readOnlyHint"), destructive: reading.hint("destructiveHint") }
    }

    /// What a client should see for a behavior that is beyond doubt.
    #[must_use]
    pub fn project(behavior: &Behavior) -> Self {
        let destructive = match behavior.action() {
            Action::Delete | Action::Overwrite | Action::Update | Action::Merge | Action::Execute => true,
            Action::Read | Action::Search | Action::Create | Action::Append | Action::Send => false,
        };
        match behavior.mutability() {
            // The specification gives `destructiveHint` a meaning only beside `readOnlyHint: false`.
            Mutability::Pure => Self { read_only: Some(true), destructive: None },
            Mutability::Mutates => Self { read_only: Some(false), destructive: Some(destructive) },
        }
    }

    /// Whether anything is changed, where the hints say so.
    #[must_use]
    pub fn mutability(self) -> Option<Mutability> {
        self.read_only.map(|pure| if pure { Mutability::Pure } else { Mutability::Mutates })
    }

    /// True when the hints speak against this action.
    #[must_use]
    pub fn speak_against(self, action: Action) -> bool {
        let denied = self.destructive == Some(false) && matches!(action, Action::Delete | Action::Overwrite);
        denied || (self.read_only == Some(true) && !action.may_be_pure())
    }

    /// The hints with the defaults of the specification: not read-only, destructive.
    #[must_use]
    pub fn assumed(self) -> (bool, bool) {
        (self.read_only.unwrap_or(false), self.destructive.unwrap_or(true))
    }
}
