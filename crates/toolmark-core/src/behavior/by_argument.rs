//! A tool whose documented argument selects what it does: one behavior for each value, and the worst of them otherwise.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Action, Behavior, Mutability};

/// What a tool does, by the value of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByArgument {
    pointer: String,
    values: BTreeMap<String, Behavior>,
    floor: Behavior,
}

impl ByArgument {
    /// The behaviors of the documented values of the argument at `pointer`. `None` without any value.
    #[must_use]
    pub fn new(pointer: String, values: BTreeMap<String, Behavior>) -> Option<Self> {
        let floor = values.values().copied().max_by_key(severity)?;
        Some(Self { pointer, values, floor })
    }

    /// The same with another worst case, such as EXECUTE where an undocumented value may do anything.
    ///
    /// Invariant: a pure worst case does not replace one that mutates.
    #[must_use]
    pub fn with_floor(mut self, floor: Behavior) -> Self {
        if floor.mutability() >= self.floor.mutability() {
            self.floor = floor;
        }
        self
    }

    /// Where the argument stands, as a JSON pointer.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// Each documented value with what it does.
    #[must_use]
    pub fn values(&self) -> &BTreeMap<String, Behavior> {
        &self.values
    }

    /// The worst of them.
    #[must_use]
    pub fn floor(&self) -> Behavior {
        self.floor
    }

    /// What a call with these arguments does.
    ///
    /// Invariant: a value that is absent, not a string or not documented gets the worst case.
    #[must_use]
    pub fn behavior_of(&self, arguments: &Value) -> Behavior {
        let value = arguments.pointer(&self.pointer).and_then(Value::as_str);
        value.and_then(|value| self.values.get(value)).copied().unwrap_or(self.floor)
    }
}

/// How much can go wrong: whatever mutates is worse than what does not, and what destroys is worse than what adds.
fn severity(behavior: &Behavior) -> (bool, u8, Behavior) {
    let rank = match behavior.action() {
        Action::Read => 0,
        Action::Search => 1,
        Action::Append => 2,
        Action::Create => 3,
        Action::Update => 4,
        Action::Send => 5,
        Action::Merge => 6,
        Action::Overwrite => 7,
        Action::Execute => 8,
        Action::Delete => 9,
    };
    (behavior.mutability() == Mutability::Mutates, rank, *behavior)
}
