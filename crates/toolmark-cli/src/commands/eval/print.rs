//! The figures as tables, for people. Everything in them, and more, is in the JSON.

use toolmark_core::evaluation::{
    Catch, ClassifierScore, ClassifierScores, DecisionScore, FieldScore, Form, Label, Overview, PairScore, PairSeverity,
};

use super::Measured;
use super::calls::{Decided, Verdicts};
use crate::failure::Failure;
use crate::output;

/// How many kinds of confusion are shown for one field.
const MOST_CONFUSIONS: usize = 6;
/// How many names are shown of those that came out wrong.
const MOST_NAMES: usize = 8;

pub(super) fn all(measured: &Measured) -> Result<(), Failure> {
    overview(&measured.evaluation.overview)?;
    if let Some(scores) = &measured.evaluation.classifier {
        classifiers(scores)?;
    }
    if let Some(score) = &measured.evaluation.pairs {
        pairs(score)?;
    }
    if let Some(score) = &measured.evaluation.decisions {
        decisions(score)?;
    }
    if let Some(verdicts) = &measured.calls {
        calls(verdicts)?;
    }
    Ok(())
}

fn overview(all: &Overview) -> Result<(), Failure> {
    let (tools, servers) = (output::count(all.tools, "tool"), output::count(all.servers, "server"));
    let abstained = share(all.tools - all.mutability, all.tools);
    output::line(format_args!(
        "{tools} of {servers}; the classifier does not know whether {abstained} of them mutate"
    ))?;
    if all.hinted > 0 {
        let agrees = share(all.hint_agrees, all.hinted);
        output::line(format_args!(
            "readOnlyHint on {}; without looking at it, the classifier agrees with {agrees} and abstains on {}",
            all.hinted, all.hint_unknown
        ))?;
    }
    listed("two rows differ under one name, neither is used", all.contradictory())?;
    Ok(output::line("")?)
}

fn classifiers(scores: &ClassifierScores) -> Result<(), Failure> {
    classifier("classifier, with names, descriptions and hints", &scores.full)?;
    classifier("classifier, without hints", &scores.without_hints)?;
    classifier("classifier, schema only: without names and descriptions", &scores.schema_only)?;
    output::line(output::painted(output::BOLD, "declared readOnlyHint, on the same labels"))?;
    let hints = scores.without_hints.hints();
    output::line(format_args!(
        " right on {} of {}; of the {} wrong ones the classifier without hints gets {} right",
        hints.agree,
        hints.hinted,
        hints.wrong.len(),
        hints.corrected
    ))?;
    listed("wrong", &hints.wrong)?;
    output::line("")?;
    output::line(output::painted(output::BOLD, "confused, with names, descriptions and hints: labelled → answered"))?;
    for field in Label::FIELDS {
        if let Some(confused) = scores.full.get(field).and_then(confusions) {
            output::line(format_args!(" {field}: {confused}"))?;
        }
    }
    Ok(output::line("")?)
}

fn classifier(title: &str, score: &ClassifierScore) -> Result<(), Failure> {
    output::line(output::painted(output::BOLD, title))?;
    let mut table = output::table(&["field", "labelled", "abstained", "agree", "of unambiguous"]);
    for field in Label::FIELDS {
        let Some(own) = score.get(field) else { continue };
        table.add_row([
            field.to_owned(),
            own.labelled.to_string(),
            share(own.labelled - own.answered, own.labelled),
            share(own.agree, own.answered),
            share(own.agree_unambiguous, own.unambiguous),
        ]);
    }
    output::line(table.trim_fmt())?;
    output::line(format_args!(" mutating tools called PURE: {} of {}", score.false_pure().len(), score.mutating()))?;
    let values = score.by_argument();
    if values.labelled > 0 {
        output::line(format_args!(
            " values of selecting arguments: {} of {} found, {} agree",
            values.answered, values.labelled, values.agree
        ))?;
    }
    listed("called PURE", score.false_pure())?;
    listed("words that no vocabulary has", score.unknown_words())?;
    listed("labelled, but not in tools.jsonl", score.missing())?;
    Ok(output::line("")?)
}

/// The commonest confusions of a field.
fn confusions(score: &FieldScore) -> Option<String> {
    let cells = score.confusion.iter().flat_map(|(label, answers)| {
        answers
            .iter()
            .filter(move |(answer, _)| *label != **answer)
            .map(move |(answer, count)| (*count, label, *answer))
    });
    let mut cells: Vec<_> = cells.collect();
    cells.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let more = cells.len().saturating_sub(MOST_CONFUSIONS);
    let shown = cells.iter().take(MOST_CONFUSIONS).map(|(count, label, answer)| format!("{label} → {answer} {count}"));
    let shown: Vec<String> = shown.collect();
    let rest = if more > 0 { format!(", and {more} more kinds") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{rest}", shown.join(", ")))
}

fn pairs(score: &PairScore) -> Result<(), Failure> {
    let severities = score.severities();
    output::line(output::painted(output::BOLD, "pairs separated"))?;
    let header =
        ["identity"].into_iter().chain(severities.iter().map(PairSeverity::as_str)).chain(["same stay together"]);
    let mut table = output::table(&header.collect::<Vec<_>>());
    for form in Form::ALL {
        let own = score.form(*form).cloned().unwrap_or_default();
        let cell = |(part, whole): (usize, usize)| format!("{part} of {whole}");
        let separated =
            severities.iter().map(|severity| cell(own.separated.get(severity).copied().unwrap_or_default()));
        let name = std::iter::once(form.as_str().to_owned());
        table.add_row(name.chain(separated).chain([cell(own.together)]).collect::<Vec<_>>());
    }
    output::line(table.trim_fmt())?;
    listed("not in tools.jsonl", score.missing())?;
    output::line("")?;

    output::line(output::painted(output::BOLD, "expected the one, chosen the other: who catches it"))?;
    let mut table = catch_table("severity");
    for form in [Form::V1, Form::V3] {
        let mut sum = Catch::default();
        for severity in &severities {
            let catch = score.catches(form, severity);
            sum = sum.plus(catch);
            if catch.total() > 0 {
                table.add_row(catch_row(severity.as_str(), form, catch));
            }
        }
        table.add_row(catch_row("all", form, sum));
    }
    output::line(table.trim_fmt())?;
    Ok(output::line("")?)
}

fn decisions(score: &DecisionScore) -> Result<(), Failure> {
    output::line(output::painted(output::BOLD, "recorded decisions"))?;
    output::line(format_args!(
        " {} of {} correct; of {} wrong ones, {} called nothing",
        score.correct, score.total, score.wrong, score.no_call
    ))?;
    let mut table = catch_table("wrong");
    for form in Form::ALL {
        table.add_row(catch_row("all", *form, score.catch(*form)));
    }
    output::line(table.trim_fmt())?;
    listed("not in tools.jsonl", score.missing())?;
    Ok(output::line("")?)
}

fn catch_table(first: &str) -> comfy_table::Table {
    output::table(&[
        first,
        "identity",
        "schema only",
        "behavior only",
        "both",
        "neither",
        "behavior catches",
        "schema catches",
    ])
}

fn catch_row(first: &str, form: Form, catch: Catch) -> Vec<String> {
    let (behavior, schema) = (catch.behavior_only + catch.both, catch.schema_only + catch.both);
    vec![
        first.to_owned(),
        form.as_str().to_owned(),
        catch.schema_only.to_string(),
        catch.behavior_only.to_string(),
        catch.both.to_string(),
        catch.neither.to_string(),
        share(behavior, catch.total()),
        share(schema, catch.total()),
    ]
}

fn calls(verdicts: &Verdicts) -> Result<(), Failure> {
    output::line(output::painted(output::BOLD, "verdicts on calls"))?;
    let mut table = output::table(&["calls", "total", "denied", "asked", "allowed", "can't tell"]);
    let mut add = |name: &str, own: &Decided| {
        let with_share = |part: usize| format!("{part} ({})", share(part, own.total));
        table.add_row([
            name.to_owned(),
            own.total.to_string(),
            with_share(own.denied),
            with_share(own.asked),
            with_share(own.allowed),
            own.cannot_tell.to_string(),
        ]);
    };
    add("dangerous", &verdicts.dangerous);
    add("harmless", &verdicts.harmless);
    if verdicts.unlabelled.total > 0 {
        add("unlabelled", &verdicts.unlabelled);
    }
    output::line(table.trim_fmt())?;
    output::line("")?;

    let mut table = output::table(&["category", "dangerous caught", "harmless let through"]);
    for (category, (dangerous, harmless)) in &verdicts.by_category {
        let caught = dangerous.denied + dangerous.asked;
        table.add_row([
            category.clone(),
            format!("{caught} of {}", dangerous.total),
            format!("{} of {}", harmless.allowed, harmless.total),
        ]);
    }
    output::line(table.trim_fmt())?;
    output::line(format_args!(" arguments that were not understood: {} calls", verdicts.cannot_tell()))?;
    listed("dangerous, but allowed", verdicts.misses())?;
    listed("not in tools.jsonl", &verdicts.missing)?;
    Ok(())
}

fn share(part: usize, whole: usize) -> String {
    if whole == 0 { "–".into() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// A line with the first few names of a list, when there are any.
fn listed(what: &str, names: &[impl ToString]) -> Result<(), Failure> {
    if names.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| output::safe(&name.to_string())).collect();
    let more = names.len().saturating_sub(MOST_NAMES);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    Ok(output::line(format_args!(" {what}: {}{rest}", shown.join(", ")))?)
}
