//! `[tasks.NAME]`: what a client that works on this task may do. `/mcp/NAME` is its address.

use toolmark_core::behavior::BehaviorPattern;
use toolmark_core::gate::{Expectation, OnMismatch};

use super::foreign::{MismatchWord, PatternText};
use crate::read::{Refused, Section, table, table_name};
use crate::values::Name;

table! {
    /// What a task may do, and what happens when a call does something else.
    pub struct Task check check {
        /// What may be done: patterns such as `PURE|*|*`, or the digits of an identity.
        #[schemars(with = "Vec<PatternText>")]
        pub expect: Vec<BehaviorPattern>,
        /// What a call gets that is not expected.
        #[schemars(with = "MismatchWord")]
        pub on_mismatch: OnMismatch,
        /// What earlier approved runs did: a file, or `store:NAME` for what `toolmark baseline learn` keeps in the store. Calls that do
        /// something else do not fit the task.
        pub baseline: Option<String>,
        /// The tools that are listed in this task, in any spelling, with `*`; without it, all.
        pub tools: Option<Vec<String>>,
        /// The profile of clients that use its address: one of `[profiles]`, or the name of a client.
        pub profile: Option<Name>,
    }
}

impl Task {
    /// What is expected of calls, without what a baseline adds; nothing where the task only chooses tools.
    #[must_use]
    pub fn expectation(&self, name: &Name) -> Option<Expectation> {
        (!self.expect.is_empty()).then(|| Expectation::new(name.as_str(), self.expect.clone(), self.on_mismatch))
    }
}

fn check(task: &Task, section: &mut Section<'_, '_>) {
    let table = table_name(section.path());
    if !section.has("expect") && !section.has("baseline") && !section.has("tools") {
        section.refuse(
            None,
            &Refused::Missing {
                table,
                message: "says nothing about what may be done".into(),
                fix: "add `expect = [\"PURE|*|*\"]`, `baseline = \"…\"` or `tools = [\"…\"]`".into(),
            },
        );
    } else if section.reads("expect") && task.expect.is_empty() && task.baseline.is_none() {
        let error = Refused::value("an empty list expects nothing", "write `[\"*|*|*\"]` if everything is expected");
        section.refuse(Some("expect"), &error.at_key(&format!("{}.expect", section.path())));
    }
}
