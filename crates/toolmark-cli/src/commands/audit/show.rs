//! `toolmark audit show ID`: everything that is known of one call, from what was intended to what became of it.

use serde_json::{Value, json};
use toolmark_core::text::visible;
use toolmark_store::audit::{AuditEntry, AuditFilter, Order};

use super::{AuditError, AuditShow, columns, failed};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

pub(super) async fn run(arguments: &AuditShow) -> Result<Exit, Failure> {
    let written = visible(&arguments.id, 80);
    let id = uuid::Uuid::parse_str(arguments.id.trim())
        .map_err(|_| Failure::refused(Exit::BadInput, &AuditError::NotAnId(written.clone())))?;
    let store = super::store(&arguments.place).await?;
    let filter = AuditFilter { id: Some(id), rows: true, bodies: true, ..AuditFilter::default() };
    let found = store.audit(filter, Order::Oldest).all().await.map_err(failed)?;
    store.close().await.map_err(failed)?;
    let last = found.iter().rfind(|entry| entry.record.outcome.is_final()).or(found.last());
    let Some(last) = last else { return Err(Failure::refused(Exit::NotFound, &AuditError::NotFound(written))) };
    if arguments.json {
        let rows: Vec<Value> = found.iter().map(AuditEntry::to_json).collect();
        output::json(&json!({"call": last.to_json(), "rows": rows}))?;
        return Ok(Exit::Success);
    }
    print(last)?;
    for entry in &found {
        let (what, link) = (entry.record.outcome, &entry.link);
        let time = entry.record.time;
        output::line(format_args!("recorded   {what} at {time}, row {} of `{}`", link.seq, output::safe(&entry.node)))?;
    }
    Ok(Exit::Success)
}

/// How a call came in: over what, in which revision of the protocol, as part of which trace.
fn came(entry: &AuditEntry) -> String {
    let record = &entry.record;
    let trace = record.trace.map(|trace| format!("trace {:032x}", u128::from_be_bytes(trace)));
    let parts = [record.transport.as_deref().map(output::safe), record.era.as_deref().map(output::safe), trace];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

fn print(entry: &AuditEntry) -> Result<(), Failure> {
    let record = &entry.record;
    let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map_or_else(|| "-".to_owned(), output::safe);
    let line = |label: &str, value: &str| output::line(format_args!("{label:<10} {value}"));
    line("call", &record.id.to_string())?;
    line("name", &output::safe(&record.called))?;
    if let Some(tool) = &record.tool {
        line("tool", &output::safe(&tool.canonical))?;
        line("mark", &tool.mark.to_string())?;
    }
    line("caller", &text(&record.caller))?;
    line("session", &text(&record.session))?;
    line("came over", &came(entry))?;
    line("task", &text(&record.task))?;
    line("verdict", record.verdict.map_or("-", |verdict| verdict.as_str()))?;
    line("outcome", record.outcome.as_str())?;
    line("code", &text(&record.code))?;
    for reason in reasons(entry) {
        line("reason", &output::safe(&reason))?;
    }
    line("grant", &text(&record.grant))?;
    line("policy", &text(&record.policy))?;
    let timings = &record.timings;
    let stages = [("judged", timings.judge), ("waited", timings.approve), ("ran", timings.dispatch)];
    let stages: Vec<String> = stages
        .iter()
        .filter(|(_, nanos)| *nanos > 0)
        .map(|(name, nanos)| format!("{name} {}", columns::took(*nanos)))
        .collect();
    line("took", &format!("{} ({})", columns::took(timings.total), stages.join(", ")))?;
    let bytes = |size: Option<u64>| size.map_or_else(|| "-".to_owned(), |size| format!("{size} bytes"));
    let digest = record.arguments.map_or_else(String::new, |digest| format!(", {digest}"));
    line("arguments", &format!("{}{digest}", bytes(record.arguments_size)))?;
    line("result", &bytes(record.result_size))?;
    if let Some(bodies) = record.bodies.as_deref() {
        for (label, body) in [("arguments", &bodies.arguments), ("result", &bodies.result)] {
            if let Some(body) = body {
                line(label, &visible(body, body.len()))?;
            }
        }
    }
    if let Some(judged) = record.judged.as_deref() {
        line("judged by", &output::safe(judged))?;
    }
    Ok(())
}

fn reasons(entry: &AuditEntry) -> Vec<String> {
    let read = entry.record.reasons.as_deref().and_then(|text| serde_json::from_str::<Vec<Value>>(text).ok());
    let message = |reason: &Value| reason.get("message").and_then(Value::as_str).map(str::to_owned);
    read.into_iter().flatten().filter_map(|reason| message(&reason)).collect()
}
