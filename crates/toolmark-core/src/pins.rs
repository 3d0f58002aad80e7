//! How does a tool stand to what was approved? The lock of the project comes first, then what was accepted since, then the policy for
//! tools that nobody has seen before.

use std::fmt;
use std::sync::Arc;

use crate::drift::{Drift, exactly};
use crate::lock::{Lock, Pinned};
use crate::tool::Tool;
use crate::verdict::{Decision, Reason};

/// More parts than this are counted, not shown.
const MOST_PARTS: usize = 100;

/// What happens when a tool is used that is pinned nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstUse {
    /// It is taken for the right one, and pinned.
    #[default]
    Trust,
    /// A person is asked.
    Ask,
    /// It is refused: only what `toolmark.lock` names may run.
    Locked,
}

/// Everything that is pinned, and what holds for the rest.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    lock: Option<Lock>,
    accepted: Arc<Lock>,
    first_use: FirstUse,
}

/// How a tool stands. Exhaustive on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is the tool that was pinned.
    Pinned,
    /// A tool of that name was pinned, but not this one: its calls are held.
    Changed,
    /// It is pinned nowhere, and trusted.
    New,
    /// It is pinned nowhere, and a person decides about it.
    FirstUse,
    /// It is not in the lock, and nothing else counts.
    NotInLock,
}

impl Pins {
    /// What a lock names, and whatever else appears is trusted.
    #[must_use]
    pub fn new(lock: Option<Lock>) -> Self {
        Self { lock, ..Self::default() }
    }

    /// What was accepted beside the lock.
    #[must_use]
    pub fn accepted(mut self, accepted: Arc<Lock>) -> Self {
        self.accepted = accepted;
        self
    }

    /// What holds for a tool that is pinned nowhere.
    #[must_use]
    pub fn first_use(mut self, first_use: FirstUse) -> Self {
        self.first_use = first_use;
        self
    }

    /// The lock.
    #[must_use]
    pub fn lock(&self) -> Option<&Lock> {
        self.lock.as_ref()
    }

    /// What a tool must be: as the lock says where it names it, otherwise as it was accepted.
    #[must_use]
    pub fn get(&self, tool: &str) -> Option<&Pinned> {
        let locked = self.lock.as_ref().and_then(|lock| lock.get(tool));
        match self.first_use {
            FirstUse::Locked => locked,
            FirstUse::Trust | FirstUse::Ask => locked.or_else(|| self.accepted.get(tool)),
        }
    }

    /// How a tool stands.
    #[must_use]
    pub fn standing(&self, tool: &Tool) -> Standing {
        match (self.get(tool.canonical().as_str()), self.first_use) {
            (Some(pinned), _) if pinned.mark() == tool.mark() => Standing::Pinned,
            (Some(_), _) => Standing::Changed,
            (None, FirstUse::Trust) => Standing::New,
            (None, FirstUse::Ask) => Standing::FirstUse,
            (None, FirstUse::Locked) => Standing::NotInLock,
        }
    }

    /// What a person must see before they let such a tool run, one line each: every part that changed as it was and as it is, or, of a
    /// tool that nobody has seen before, everything it says. Nothing for a tool that stands as it was pinned.
    #[must_use]
    pub fn shown(&self, tool: &Tool) -> Vec<String> {
        match self.standing(tool) {
            Standing::Changed => {
                self.get(tool.canonical().as_str()).map(|pinned| changes(pinned, tool)).unwrap_or_default()
            }
            Standing::FirstUse => {
                let parts = exactly(None, tool);
                let lines = parts.iter().take(MOST_PARTS).map(|part| format!("{}: {}", part.part(), part.is()));
                lines.chain(left_out(parts.len())).collect()
            }
            Standing::Pinned | Standing::New | Standing::NotInLock => Vec::new(),
        }
    }
}

/// What changed in a tool since it was pinned, gravest first: what that means, then the words.
#[must_use]
pub fn changes(pinned: &Pinned, tool: &Tool) -> Vec<String> {
    let parts = Drift::since(pinned, tool);
    let meaning = |part: &str| parts.iter().position(|known| known.part() == part);
    let mut texts = exactly(Some(pinned), tool);
    texts.sort_by_key(|text| meaning(text.part()).unwrap_or(usize::MAX));
    let lines = texts.iter().take(MOST_PARTS).flat_map(|text| {
        let part = text.part();
        let summary = meaning(part).and_then(|at| parts.get(at)).map(|known| format!("{part}: {}", known.summary()));
        let words = [format!("{part} was: {}", text.was()), format!("{part} is:  {}", text.is())];
        summary.into_iter().chain(words)
    });
    lines.chain(left_out(texts.len())).collect()
}

/// A definition with more parts than anybody reads.
fn left_out(parts: usize) -> Option<String> {
    (parts > MOST_PARTS).then(|| format!("… ({} more parts are not shown)", parts - MOST_PARTS))
}

impl Standing {
    /// The standing in one word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Changed => "changed",
            Self::New => "new",
            Self::FirstUse => "first-use",
            Self::NotInLock => "not-in-lock",
        }
    }

    /// True when it is not the tool that was pinned.
    #[must_use]
    pub const fn is_changed(self) -> bool {
        matches!(self, Self::Changed)
    }

    /// Why calls of such a tool do not simply run, where nobody has seen the tool before. What changed is said by the gate.
    #[must_use]
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Pinned | Self::New | Self::Changed => None,
            Self::FirstUse => Some(Reason::new(
                Decision::Ask,
                Reason::FIRST_USE,
                "nobody has approved this tool yet, and `pins.first_use` is `ask`",
            )),
            Self::NotInLock => Some(Reason::new(
                Decision::Deny,
                "not-in-lock",
                "`toolmark.lock` does not name this tool, and `pins.first_use` is `locked`",
            )),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests;
