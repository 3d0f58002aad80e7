//! The rules themselves: some look at one tool, some compare them, one reports what the catalog refused.

mod annotations;
mod by_argument;
mod characters;
pub(crate) mod display;
mod disputed;
mod instructs;
mod look_alike;
mod names;
pub(crate) mod problems;
mod same_behavior;
mod same_schema;
mod schema;
mod unbounded;
mod undeclared;
mod wording;

use toolmark_core::catalog::Catalog;
use toolmark_core::definition::Reading;

use crate::finding::Finding;
use crate::subject::Subject;

/// The rules that look at one tool at a time, with what they remember between tools.
pub(crate) struct PerTool<'c> {
    instructs: instructs::Seen<'c>,
}

impl<'c> PerTool<'c> {
    pub(crate) fn new(catalog: &'c Catalog) -> Self {
        Self { instructs: instructs::Seen::new(catalog) }
    }

    pub(crate) fn look(&mut self, subject: &Subject<'_>, reading: &Reading<'_>, findings: &mut Vec<Finding>) {
        self.instructs.look(subject, reading, findings);
        characters::look(subject, reading, findings);
        schema::look(subject, reading, findings);
        unbounded::look(subject, reading, findings);
        wording::look(subject, reading, findings);
        display::unsafe_name(subject, reading, findings);
        names::refused(subject, findings);
    }
}

/// The rules that compare tools with each other.
pub(crate) fn compare(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    names::shared(subjects, findings);
    names::after_sanitizing(subjects, findings);
    names::after_shortening(subjects, findings);
    names::too_many(subjects, findings);
    look_alike::compare(subjects, findings);
    same_schema::compare(subjects, findings);
    same_behavior::compare(subjects, findings);
    annotations::missing(subjects, findings);
    annotations::contradicting(subjects, findings);
    disputed::compare(subjects, findings);
    undeclared::compare(subjects, findings);
    by_argument::compare(subjects, findings);
}
