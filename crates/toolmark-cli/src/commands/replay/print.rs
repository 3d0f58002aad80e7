//! A replay as people read it: how much would change, why, where, and calls to look at.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use toolmark_runtime::replay::{Change, Report, Tally};

use super::{id, share};
use crate::failure::Failure;
use crate::output;

/// How many rules and tools are listed for each change.
const MOST: usize = 20;

pub(super) fn report(report: &Report, policy: &str, took: Duration) -> Result<(), Failure> {
    let each = report.calls as f64 / took.as_secs_f64().max(1e-6);
    output::line(format_args!(
        "{} judged again by policy {policy} in {:.1} s ({} a second)",
        calls(report.calls),
        took.as_secs_f64(),
        grouped(each as u64)
    ))?;
    let mut counts = vec![("unchanged", report.unchanged)];
    counts.extend(Change::ALL.map(|change| (change.as_str(), report.count(change))));
    counts.push(("not judged", report.count_not_judged()));
    for (what, count) in counts {
        output::line(format_args!("  {what:<14} {:>12}  {:>6.2} %", grouped(count), share(count, report)))?;
    }
    for change in Change::ALL.into_iter().filter(|change| report.count(*change) > 0) {
        output::line("")?;
        output::line(format_args!("{}: {}", change.as_str(), calls(report.count(change))))?;
        list("by", change, &report.by_rule)?;
        list("tool", change, &report.by_tool)?;
    }
    if !report.not_judged.is_empty() {
        output::line("")?;
        output::line(format_args!("not judged: {}", calls(report.count_not_judged())))?;
        for (why, tally) in &report.not_judged {
            let rules = why.rules().iter().map(|rule| output::safe(rule)).collect::<Vec<_>>().join(", ");
            let rules = if rules.is_empty() { rules } else { format!(" ({rules})") };
            output::line(format_args!("  {:>12}  {}{rules}{}", grouped(tally.count), why.as_str(), examples(tally)))?;
        }
    }
    let judged = report.calls - report.count_not_judged();
    if report.from_arguments < judged {
        output::note(&format!(
            "{} judged by what was kept of them, without their arguments (`[audit] bodies` keeps those)",
            calls(judged - report.from_arguments)
        ));
    }
    if report.other_definition > 0 {
        let changed = calls(report.other_definition);
        output::note(&format!("{changed} of tools whose definition is another now; judged by the new one"));
    }
    Ok(())
}

/// The most frequent first.
fn list(what: &str, change: Change, all: &BTreeMap<(Change, Arc<str>), Tally>) -> Result<(), Failure> {
    let mut found: Vec<(&Arc<str>, &Tally)> =
        all.iter().filter(|((own, _), _)| *own == change).map(|((_, name), tally)| (name, tally)).collect();
    found.sort_by(|one, other| other.1.count.cmp(&one.1.count).then_with(|| one.0.cmp(other.0)));
    for (name, tally) in found.iter().take(MOST) {
        let shown = output::safe(name);
        output::line(format_args!("  {:>12}  {what} {shown}{}", grouped(tally.count), examples(tally)))?;
    }
    if found.len() > MOST {
        output::line(format_args!("  {:>12}  and {} more; `--json` lists all", "", found.len() - MOST))?;
    }
    Ok(())
}

fn examples(tally: &Tally) -> String {
    let ids: Vec<String> = tally.examples.iter().map(|one| id(*one)).collect();
    if ids.is_empty() { String::new() } else { format!("  e.g. {}", ids.join(" ")) }
}

fn calls(count: u64) -> String {
    if count == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(count)) }
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_groups() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345_678, "12,345,678")] {
            assert_eq!(grouped(number), text);
        }
    }
}
