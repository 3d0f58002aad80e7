//! `behavior-disputed`: what is claimed of a tool, and who contradicts. Such a tool asks before every call.

use serde_json::Value;
use toolmark_core::behavior::{Action, Agreement, BehaviorSource, Disagreement, Mutability};
use toolmark_core::severity::Severity;

use crate::finding::Finding;
use crate::rule::RuleId;
use crate::subject::{Subject, quoted};

pub(crate) fn compare(subjects: &[Subject<'_>], findings: &mut Vec<Finding>) {
    // The operator's word ends a dispute.
    let open = subjects.iter().filter(|subject| subject.operator.is_none());
    findings.extend(open.filter_map(finding));
}

fn finding(subject: &Subject<'_>) -> Option<Finding> {
    let disagreements = subject.known.disagreements();
    let severity = disagreements.iter().map(|one| severity(one, subject)).max()?;
    let texts: Vec<String> = disagreements.iter().map(text).collect();
    let outcome = match subject.known.agreement() {
        Agreement::Disputed => "; every call asks",
        _ => "",
    };
    let message = format!("{}: {}{outcome}", quoted(subject.tool.canonical().as_str()), texts.join("; "));
    Some(
        Finding::new(RuleId::BehaviorDisputed, severity, message)
            .about([subject.tool])
            .with("agreement", subject.known.agreement().as_str())
            .with("disagreements", disagreements.iter().map(Disagreement::to_json).collect::<Value>())
            .suggesting(subject.suggestion()),
    )
}

/// How much goes wrong if the claim is believed and false.
fn severity(one: &Disagreement, subject: &Subject<'_>) -> Severity {
    if one.against == BehaviorSource::Annotations {
        return Severity::Medium;
    }
    let claims_less = one.field != "mutability" || one.claimed == Mutability::Pure.as_str();
    match subject.inferred.map(|inferred| inferred.action()) {
        _ if !claims_less => Severity::Low,
        Some(Action::Delete | Action::Overwrite | Action::Send | Action::Execute | Action::Merge)
            if one.field == "mutability" =>
        {
            Severity::High
        }
        _ => Severity::Medium,
    }
}

fn text(one: &Disagreement) -> String {
    let who = match one.source {
        BehaviorSource::Operator => "the operator says",
        BehaviorSource::Publisher => "its publisher declares",
        BehaviorSource::Annotations => "its hints say",
        BehaviorSource::Inferred => "the classifier says",
        BehaviorSource::Models => "models say",
    };
    let against = match one.against {
        BehaviorSource::Operator => "the operator",
        BehaviorSource::Publisher => "its publisher",
        BehaviorSource::Annotations => "its hints",
        BehaviorSource::Inferred => "the classifier",
        BehaviorSource::Models => "most models",
    };
    let because = if one.because.is_empty() { String::new() } else { format!(" ({})", one.because) };
    format!("{who} {}, {against} {}{because}", one.claimed, one.found)
}
