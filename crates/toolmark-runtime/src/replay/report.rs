//! What a replay adds up to: how many calls would be decided otherwise, by which rule, of which tool, with a few to look at.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolmark_core::verdict::Decision;

use super::{NotJudged, Recorded, Replayed};

/// How a call would be decided otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// It would be denied, and was not.
    Denied,
    /// It would be asked about, and was not.
    Asked,
    /// It would be allowed, and was not.
    Allowed,
}

/// Calls that have something in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// The ids of some.
    pub examples: Vec<u128>,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many calls were looked at.
    pub calls: u64,
    /// How many would be decided as before.
    pub unchanged: u64,
    /// How many were judged by their arguments; the others by what was kept of them.
    pub from_arguments: u64,
    /// How many of those that were judged have a tool whose definition is another now.
    pub other_definition: u64,
    /// Calls that would be decided otherwise.
    pub changed: BTreeMap<Change, Tally>,
    /// The same by what makes the difference.
    pub by_rule: BTreeMap<(Change, Arc<str>), Tally>,
    /// The same by tool.
    pub by_tool: BTreeMap<(Change, Arc<str>), Tally>,
    /// Calls that could not be judged, by why.
    pub not_judged: BTreeMap<NotJudged, Tally>,
    examples: usize,
}

impl Change {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Denied, Self::Asked, Self::Allowed];

    /// The change between two decisions.
    #[must_use]
    pub fn between(before: Decision, after: Decision) -> Option<Self> {
        (before != after).then_some(match after {
            Decision::Deny => Self::Denied,
            Decision::Ask => Self::Asked,
            Decision::Allow => Self::Allowed,
        })
    }

    /// The change in two words.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Denied => "newly denied",
            Self::Asked => "newly asked",
            Self::Allowed => "newly allowed",
        }
    }
}

impl Report {
    /// An empty report that keeps so many examples of each.
    #[must_use]
    pub fn new(examples: usize) -> Self {
        Self { examples, ..Self::default() }
    }

    /// Takes in one call.
    pub fn add(&mut self, call: &Recorded, replayed: &Replayed) {
        self.calls += 1;
        let judgement = match replayed {
            Replayed::NotJudged(why) => {
                let examples = self.examples;
                if let Some(tally) = self.not_judged.get_mut(why) {
                    tally.add(call.id, examples);
                } else {
                    self.not_judged.entry(why.clone()).or_default().add(call.id, examples);
                }
                return;
            }
            Replayed::Judged(judgement) => judgement,
        };
        self.from_arguments += u64::from(judgement.from_arguments);
        self.other_definition += u64::from(judgement.other_definition);
        let Some(change) = Change::between(judgement.before, judgement.after) else {
            self.unchanged += 1;
            return;
        };
        self.changed.entry(change).or_default().add(call.id, self.examples);
        for by in &judgement.by {
            self.by_rule.entry((change, Arc::clone(by))).or_default().add(call.id, self.examples);
        }
        if let Some((canonical, _)) = &call.tool {
            self.by_tool.entry((change, Arc::clone(canonical))).or_default().add(call.id, self.examples);
        }
    }

    /// Takes in what another found.
    pub fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.unchanged += other.unchanged;
        self.from_arguments += other.from_arguments;
        self.other_definition += other.other_definition;
        for (change, tally) in other.changed {
            self.changed.entry(change).or_default().merge(tally, self.examples);
        }
        for (key, tally) in other.by_rule {
            self.by_rule.entry(key).or_default().merge(tally, self.examples);
        }
        for (key, tally) in other.by_tool {
            self.by_tool.entry(key).or_default().merge(tally, self.examples);
        }
        for (why, tally) in other.not_judged {
            self.not_judged.entry(why).or_default().merge(tally, self.examples);
        }
    }

    /// How many calls would be decided in this other way.
    #[must_use]
    pub fn count(&self, change: Change) -> u64 {
        self.changed.get(&change).map_or(0, |tally| tally.count)
    }

    /// How many could not be judged.
    #[must_use]
    pub fn count_not_judged(&self) -> u64 {
        self.not_judged.values().map(|tally| tally.count).sum()
    }

    /// The report as JSON. `id` writes the id of a call.
    #[must_use]
    pub fn to_json(&self, id: impl Fn(u128) -> String) -> Value {
        let examples = |tally: &Tally| tally.examples.iter().map(|one| id(*one)).collect::<Vec<_>>();
        let named = |all: &BTreeMap<(Change, Arc<str>), Tally>, key: &str| -> Vec<Value> {
            let one = |((change, name), tally): (&(Change, Arc<str>), &Tally)| json!({"change": change.key(), key: &**name, "calls": tally.count, "examples": examples(tally)});
            all.iter().map(one).collect()
        };
        let why = |(why, tally): (&NotJudged, &Tally)| json!({"why": why.as_str(), "rules": why.rules(), "calls": tally.count, "examples": examples(tally)});
        json!({
            "calls": self.calls,
            "unchanged": self.unchanged,
            "newly_denied": self.count(Change::Denied),
            "newly_asked": self.count(Change::Asked),
            "newly_allowed": self.count(Change::Allowed),
            "not_judged": self.count_not_judged(),
            "judged_by_arguments": self.from_arguments,
            "other_definition": self.other_definition,
            "by_rule": named(&self.by_rule, "rule"),
            "by_tool": named(&self.by_tool, "tool"),
            "why_not_judged": self.not_judged.iter().map(why).collect::<Vec<_>>(),
        })
    }
}

impl Change {
    const fn key(self) -> &'static str {
        match self {
            Self::Denied => "newly_denied",
            Self::Asked => "newly_asked",
            Self::Allowed => "newly_allowed",
        }
    }
}

impl Tally {
    fn add(&mut self, id: u128, examples: usize) {
        self.count += 1;
        if self.examples.len() < examples {
            self.examples.push(id);
        }
    }

    /// The examples are the oldest, whoever found them first.
    fn merge(&mut self, other: Self, examples: usize) {
        self.count += other.count;
        self.examples.extend(other.examples);
        self.examples.sort_unstable();
        self.examples.truncate(examples);
    }
}

impl NotJudged {
    /// Why, in one line.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::NeverJudged => "it named no tool, or could not be read",
            Self::NoTool => "the store does not know its tool any more",
            Self::NoTask => "its task is not in the new configuration",
            Self::NothingKept => "neither its arguments nor what they would do was kept",
            Self::NotUnderstood => "a newer program wrote what was kept of it",
            Self::Arguments(_) => "rules look at arguments that were not kept",
            Self::Selected => "what an argument selected was not kept",
        }
    }

    /// The rules that look at arguments.
    #[must_use]
    pub fn rules(&self) -> &[Arc<str>] {
        match self {
            Self::Arguments(rules) => rules,
            _ => &[],
        }
    }
}
