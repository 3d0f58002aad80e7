//! What models said, for people.

use super::Classified;
use super::tally::{Said, Standing};
use crate::failure::Failure;
use crate::output;

pub(super) fn all(classified: &Classified<'_>) -> Result<(), Failure> {
    let labels = classified.labels();
    let mut table = output::table(&[]);
    // Models are called what they are called.
    let header = ["TOOL", "DECLARED"].map(str::to_owned).into_iter().chain(labels.iter().cloned());
    table.set_header(header.chain(["MAJORITY", "STANDING"].map(str::to_owned)));
    for (tool, tally) in &classified.tools {
        let declared = tally.declared.as_ref();
        let mut row = vec![
            output::safe(tool.canonical().as_str()),
            declared.map_or_else(|| "–".into(), |own| format!("{} ({})", own.short(), own.source.as_str())),
        ];
        row.extend(tally.said.iter().map(|said| match said {
            Said::Opinion { opinion, .. } => opinion.short(),
            Said::Nonsense(_) => "nonsense".to_owned(),
            Said::Silent(_) => "no answer".to_owned(),
        }));
        let majority = tally.majority().map_or_else(|| "–".into(), |behavior| behavior.short());
        row.push(if tally.is_strict() && tally.said.len() > 1 { format!("{majority} (all)") } else { majority });
        let standing = tally.standing();
        let style = output::state(if standing == Standing::Disputed { "changed" } else { "" });
        row.push(output::painted(style, standing.as_str()));
        table.add_row(row);
    }
    output::line(table.trim_fmt())?;
    let total = classified.tools.len();
    let strict = classified.tools.iter().filter(|(_, tally)| tally.is_strict()).count();
    let majority = classified.tools.iter().filter(|(_, tally)| tally.majority().is_some()).count();
    output::line("")?;
    if labels.len() > 1 {
        output::line(format_args!(
            "all {} models agree on {}, most of them on {}, of {}",
            labels.len(),
            share(strict, total),
            share(majority, total),
            output::count(total, "tool"),
        ))?;
    }
    let standings: Vec<String> = Standing::ALL
        .into_iter()
        .map(|standing| (standing.as_str(), classified.standing(standing)))
        .filter(|(_, count)| *count > 0)
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    output::line(format_args!("declarations: {}", standings.join(", ")))?;
    for (at, (model, counted)) in classified.models.iter().zip(&classified.counted).enumerate() {
        let mut parts = vec![format!("asked {}", times(counted.asked))];
        let kept = classified.kept(at);
        if kept > 0 {
            parts.push(format!("{} from before", output::count(kept, "answer")));
        }
        let nonsense = classified.nonsense(at);
        if nonsense > 0 {
            parts.push(format!("nonsense about {}", output::count(nonsense, "tool")));
        }
        if counted.usage.total_tokens() > 0 {
            parts.push(output::count(usize::try_from(counted.usage.total_tokens()).unwrap_or(usize::MAX), "token"));
        }
        if let Some(price) = &model.price {
            let cost = price.of(counted.usage.input_tokens, counted.usage.output_tokens);
            parts.push(format!("{cost:.2} by its price"));
        }
        output::line(output::painted(output::DIM, format_args!("{}: {}", model.label, parts.join(", "))))?;
    }
    for (tool, tally) in &classified.tools {
        for (field, declared, found) in tally.disputes() {
            output::line(format_args!(
                "{} {}: {field} is declared {declared}, and most models say {found}",
                output::painted(output::BOLD, "dispute"),
                output::safe(tool.canonical().as_str()),
            ))?;
        }
        for (model, said) in labels.iter().zip(&tally.said) {
            if let Said::Nonsense(problem) = said {
                let tool = output::safe(tool.canonical().as_str());
                output::note(&format!("{model} said nothing usable about {tool}: {}", output::safe(problem)));
            }
        }
    }
    Ok(())
}

fn share(part: usize, total: usize) -> String {
    let percent = if total == 0 { 0 } else { (part * 200 + total) / (total * 2) };
    format!("{part} ({percent} %)")
}

fn times(number: usize) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
}
