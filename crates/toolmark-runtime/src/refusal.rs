//! What a model is told when its call does not run: what was called, what it would have done, what was expected, what fits instead.

use std::fmt::Write as _;

use toolmark_core::explain::Report;
use toolmark_core::facts::Facts;
use toolmark_core::text::visible;
use toolmark_core::tool::Tool;
use toolmark_core::verdict::{Decision, Verdict};

use crate::examine::{Examination, Outcome};
use crate::record::NotKept;
use crate::task::Task;

/// At most so many effects are told; a hundred statements are one refusal.
const MOST_EFFECTS: usize = 5;
/// No line of it is longer.
const MOST_CHARACTERS: usize = 400;
/// A person may say more.
const MOST_OF_A_NOTE: usize = 1200;

/// A call that does not run, in words for whoever made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    text: String,
    code: &'static str,
}

impl Refusal {
    /// Puts it in words. `shown` is what the caller sees a tool under; only tools that it may see are named.
    #[must_use]
    pub fn of(
        tool: &Tool,
        examination: &Examination<'_>,
        task: Option<&Task>,
        fitting: &[&Tool],
        shown: impl Fn(&Tool) -> String,
    ) -> Self {
        let name = visible(&shown(tool), 200);
        let verdict = examination.verdict();
        let mut text = match (examination.invalid(), examination.outcome()) {
            (Some(_), _) => format!("`{name}` was not called: its arguments do not fit.\n"),
            (None, Outcome::Ask) => format!("`{name}` was not called: a person must approve this call first.\n"),
            (None, _) => format!("`{name}` was not called: it is not allowed.\n"),
        };
        if let Some(invalid) = examination.invalid() {
            line(&mut text, "Wrong", &invalid.to_string());
        }
        does(&mut text, examination.facts());
        for reason in verdict.deciding().filter(|reason| reason.code != "arguments-invalid") {
            line(&mut text, "Why", &reason.message);
        }
        match (task, examination.known().behavior()) {
            (Some(task), _) if task.expectation().patterns().is_empty() => {
                line(&mut text, "Expected", &format!("what earlier runs of the task `{}` did", task.name()));
            }
            (Some(task), _) => {
                line(&mut text, "Expected", &format!("{} (task `{}`)", task.expectation().shown(), task.name()));
            }
            (None, Some(behavior)) if verdict.decision() == Decision::Deny && examination.invalid().is_none() => {
                line(&mut text, "Expected", &format!("{}, which is what this tool is for", behavior.short()));
            }
            (None, _) => {}
        }
        for other in fitting {
            line(&mut text, "Fits", &format!("`{}` does that", visible(&shown(other), 200)));
        }
        Self { text: text.trim_end().to_owned(), code: code(verdict) }
    }

    /// A call that cannot be asked about, or whose approval cannot be used.
    #[must_use]
    pub fn stopped(name: &str, report: &Report) -> Self {
        let name = visible(name, 200);
        let mut text = format!("`{name}` was not called: {}.\n", visible(report.what(), MOST_CHARACTERS));
        line(&mut text, "Why", report.why());
        line(&mut text, "To go on", report.fix());
        Self { text: text.trim_end().to_owned(), code: report.code().as_str() }
    }

    /// A call that may run and does not, because nobody could tell afterwards that it did.
    #[must_use]
    pub fn unrecorded(name: &str, why: &NotKept) -> Self {
        let name = visible(name, 200);
        let mut text = format!("`{name}` was not called: its record cannot be kept.\n");
        line(&mut text, "Why", &why.to_string());
        Self { text: text.trim_end().to_owned(), code: "audit-unwritable" }
    }

    /// The same with a last line from whoever was asked.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        self.text.push('\n');
        self.text.push_str(&visible(note, MOST_OF_A_NOTE));
        self
    }

    /// The same for a call that somebody was asked about and that was not approved: who read that it must be approved first would wait.
    #[must_use]
    pub fn not_approved(self, name: &str) -> Self {
        let rest = self.text.split_once('\n').map_or("", |(_, rest)| rest);
        let text = format!("`{}` was not called: it was not approved.\n{rest}", visible(name, 200));
        Self { text: text.trim_end().to_owned(), ..self }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The code of the first reason that decided.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }
}

fn does(text: &mut String, facts: &Facts) {
    let mut effects = facts.effects();
    for effect in effects.by_ref().take(MOST_EFFECTS) {
        let bound = if effect.bounded { "" } else { ", without a limit" };
        line(text, "Would", &format!("{} {}{bound}: {}", effect.mutability, effect.action, effect.summary));
    }
    let more = effects.count();
    if more > 0 {
        line(text, "Would", &format!("and {more} more"));
    }
    for (part, why) in facts.unclear().take(1) {
        line(text, "Would", &format!("it cannot be told what `{}` would do: {why}", part.pointer));
    }
}

fn line(text: &mut String, label: &str, what: &str) {
    // Writing to a String does not fail.
    let _ = writeln!(text, "{label}: {}", visible(what, MOST_CHARACTERS));
}

fn code(verdict: &Verdict) -> &'static str {
    verdict.deciding().next().map_or("allowed", |reason| reason.code)
}

#[cfg(test)]
mod tests;
