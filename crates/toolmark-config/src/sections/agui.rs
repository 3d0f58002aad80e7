//! `[agui]`: agents for user interfaces that speak AG-UI.

use std::time::Duration;

use super::foreign::{DurationText, SpanText};
use crate::read::{Refused, Section, table};
use crate::values::Span;

table! {
    /// Agents at `/agui/<agent>`, for user interfaces that speak AG-UI.
    pub struct Agui check check {
        /// Whether they are served.
        pub enabled: bool = true,
        /// Whether pages may bring tools of their own.
        pub frontend_tools: bool = true,
        /// Whether events say what a tool is called in every language, so that a page can change its language.
        pub names: bool = true,
        /// Whether an event of its own says which tool is called, for clients that do not read metadata.
        pub custom_events: bool,
        /// Whether `toolDisplayName` and `toolDescription` are sent, for clients before 1.0 that were made to read them.
        pub tool_display_name: bool,
        /// How long a run may take, without the time in which it waits for a person.
        #[schemars(with = "DurationText")]
        pub timeout: Duration = Duration::from_secs(600),
        /// How many runs may be under way at once.
        pub runs: u32 = 64,
        /// After how long without use a thread is forgotten, with all that was said in it. One that waits for an answer is kept for as long as
        /// the question can be answered.
        #[schemars(with = "SpanText")]
        pub keep: Span = Span::days(30),
        /// How many threads one caller may have. For one more, the one that was not used for longest is forgotten, unless it is in use or waits.
        pub threads: u32 = 1000,
    }
}

fn check(agui: &Agui, section: &mut Section<'_, '_>) {
    if agui.timeout.is_zero() {
        let error = Refused::value("no run ends in no time at all", "write a time such as `10min`");
        section.refuse(Some("timeout"), &error.at_key("agui.timeout"));
    }
    if agui.runs == 0 {
        let error = Refused::value("no run could ever begin", "write at least 1, or `enabled = false`");
        section.refuse(Some("runs"), &error.at_key("agui.runs"));
    }
    if agui.threads == 0 {
        let error = Refused::value("no thread could ever begin", "write at least 1, or `enabled = false`");
        section.refuse(Some("threads"), &error.at_key("agui.threads"));
    }
}
