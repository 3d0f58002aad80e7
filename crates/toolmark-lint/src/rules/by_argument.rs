//! `behavior-by-argument`: one tool that reads or writes, as an argument says. A rule or a hint for it covers both.

use serde_json::{Map, Value, json};
use toolmark_core::behavior::{Action, Behavior, BehaviorSource, ByArgument, Mutability};
use toolmark_core::severity::Severity;
use toolmark_core::text::visible;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, listed, quoted, three};

/// How many values of each kind a message lists.
const SHOWN: usize = 4;
/// How many values the data lists.
const MOST: usize = 100;

pub(crate) fn compare(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    for subject in subjects {
        // Who declares the tool as a whole has decided how its worst value counts.
        let declared = matches!(subject.known.source(), Some(BehaviorSource::Operator | BehaviorSource::Publisher));
        if let Some(by_argument) = subject.known.by_argument().filter(|_| !declared) {
            findings.extend(finding(subject, by_argument));
        }
    }
}

fn finding(subject: &Subject<'_>, by_argument: &ByArgument) -> Option<Finding> {
    let (reads, writes): (Vec<_>, Vec<_>) =
        by_argument.values().iter().partition(|(_, behavior)| behavior.mutability() == Mutability::Pure);
    if reads.is_empty() || writes.is_empty() {
        return None;
    }
    let lasting = |behavior: &Behavior| matches!(behavior.action(), Action::Delete | Action::Overwrite | Action::Send);
    let severity = if writes.iter().any(|(_, behavior)| lasting(behavior)) { Severity::Medium } else { Severity::Low };
    let values = |of: &[(&String, &Behavior)]| listed(of.iter().map(|(value, _)| value.as_str()), SHOWN);
    let message = format!(
        "{} reads or writes as {} says: {} read, {} write; taken as a whole it counts as {}",
        quoted(subject.tool.canonical().as_str()),
        quoted(by_argument.pointer()),
        values(&reads),
        values(&writes),
        three(&by_argument.floor()).unwrap_or_else(|| by_argument.floor()),
    );
    Some(
        Finding::new(RuleId::BehaviorByArgument, severity, message)
            .about([subject.tool])
            .key(by_argument.pointer())
            .with("pointer", by_argument.pointer())
            .with("values", by_argument.values().iter().take(MOST).map(value).collect::<Map<_, _>>())
            .with("count", by_argument.values().len())
            .with("floor", json!(by_argument.floor()))
            .suggesting(subject.suggestion()),
    )
}

fn value((value, behavior): (&String, &Behavior)) -> (String, Value) {
    (visible(value, 100), json!(behavior))
}
