//! What waits for a person, what one question is about, and which answers hold for later calls.

use std::time::SystemTime;

use serde_json::{Value, json};
use toolmark_core::approval::{Ask, AskState, Covers, Grant, Proposal, RunState, Scope};
use toolmark_core::text::visible;
use toolmark_store::Micros;
use toolmark_store::approvals::AskFilter;

use super::find::find;
use super::{ApprovalsGrants, ApprovalsList, ApprovalsShow, desk, failed, opened, refused};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;
use crate::place::close;

pub(super) async fn list(arguments: &ApprovalsList) -> Result<Exit, Failure> {
    let store = opened(&arguments.place).await?;
    let state = (!arguments.all).then(|| "pending".to_owned());
    let filter = AskFilter { state, ..AskFilter::default() };
    let asks = store.asks(&filter, None, arguments.limit).await.map_err(failed)?;
    let pending = store.pending_asks().await.map_err(failed)?;
    close(&store).await;
    if arguments.json {
        let asks: Vec<Value> = asks.iter().map(Ask::to_json).collect();
        output::json(&json!({"approvals": asks, "pending": pending}))?;
        return Ok(Exit::Success);
    }
    if asks.is_empty() {
        output::line("nothing waits for a person")?;
        return Ok(Exit::Success);
    }
    let mut table = output::table(&["id", "asked", "caller", "tool", "arguments", "state"]);
    for ask in &asks {
        table.add_row([
            ask.id.short(),
            minute(ask.created),
            output::safe(&ask.principal),
            output::safe(&ask.canonical),
            visible(&ask.arguments, 60),
            ask.state.as_str().to_owned(),
        ]);
    }
    output::line(table.trim_fmt())?;
    let shown = asks.iter().filter(|ask| ask.state == AskState::Pending).count() as u64;
    if pending > shown {
        output::note(&format!("{} more wait", pending - shown));
    }
    Ok(Exit::Success)
}

pub(super) async fn show(arguments: &ApprovalsShow) -> Result<Exit, Failure> {
    let store = opened(&arguments.place).await?;
    let ask = find(&store, &arguments.id).await?;
    let proposals = desk(&store).proposals(&ask).await.map_err(refused)?;
    let runs = store.runs_of(ask.id).await.map_err(failed)?;
    close(&store).await;
    if arguments.json {
        let mut shown = ask.to_json();
        if let Some(members) = shown.as_object_mut() {
            members.insert("proposals".into(), proposals.iter().take(3).map(proposal_json).collect());
            let runs = runs.iter().map(|run| json!({"id": run.id, "state": run.state.as_str(), "node": run.node}));
            members.insert("runs".into(), runs.collect());
        }
        output::json(&shown)?;
        return Ok(Exit::Success);
    }
    output::line(ask.prompt().text().trim_end())?;
    output::line("")?;
    output::line(format_args!("id: {}", ask.id))?;
    output::line(format_args!("mark: {}", ask.mark))?;
    output::line(format_args!("arguments digest: {}", ask.digest))?;
    output::line(format_args!("asked: {}, open until {}", ask.created, ask.expires))?;
    let waiting = runs.iter().filter(|run| matches!(run.state, RunState::Waiting | RunState::Parked | RunState::Held));
    let waiting = waiting.count();
    output::line(format_args!(
        "{} for it",
        if waiting == 1 { "1 call waits".to_owned() } else { format!("{waiting} calls wait") }
    ))?;
    match &ask.state {
        AskState::Pending => {
            let offered: Vec<&str> = ask.offered().into_iter().map(Scope::as_str).collect();
            output::line(format_args!("an answer may reach: {}", offered.join(", ")))?;
            for proposal in proposals.iter().take(3) {
                let vary: Vec<String> =
                    proposal.differ.iter().map(|name| format!("--vary {}", visible(name, 80))).collect();
                output::line(format_args!(
                    "{proposal}: toolmark approvals approve {} {}",
                    ask.id.short(),
                    vary.join(" ")
                ))?;
            }
        }
        AskState::Decided(decided) => {
            let verb = if decided.allows { "approved" } else { "rejected" };
            output::line(format_args!(
                "{verb} ({}) by {} at {}, {}{}",
                decided.scope,
                output::safe(&decided.given.by),
                decided.given.at,
                decided.given.way,
                decided.message.as_deref().map(|text| format!(": {}", output::safe(text))).unwrap_or_default()
            ))?;
        }
        AskState::Expired => output::line("nobody answered in time")?,
    }
    Ok(Exit::Success)
}

pub(super) async fn grants(arguments: &ApprovalsGrants) -> Result<Exit, Failure> {
    let store = opened(&arguments.place).await?;
    let grants = store.grants(arguments.all).await.map_err(failed)?;
    close(&store).await;
    if arguments.json {
        let grants: Vec<Value> = grants.iter().map(Grant::to_json).collect();
        output::json(&json!({ "grants": grants }))?;
        return Ok(Exit::Success);
    }
    if grants.is_empty() {
        output::line("no answer holds for later calls")?;
        return Ok(Exit::Success);
    }
    let now = Micros::from(SystemTime::now());
    let mut table = output::table(&["id", "answer", "scope", "caller", "tool", "limit", "given by", "state"]);
    for grant in &grants {
        let limit = match &grant.covers {
            Covers::Pattern(pattern) => visible(&pattern.to_string(), 60),
            Covers::Effect(bound) => visible(&bound.to_string(), 60),
            Covers::Arguments(digest) => digest.short(),
            Covers::Anything => "-".to_owned(),
        };
        let state = match (&grant.revoked, grant.is_alive(now)) {
            (Some(_), _) => "revoked",
            (None, true) => "holds",
            (None, false) => "over",
        };
        table.add_row([
            grant.id.short(),
            if grant.allows { "yes" } else { "no" }.to_owned(),
            grant.scope().to_string(),
            output::safe(&grant.principal),
            output::safe(&grant.canonical),
            limit,
            format!("{} ({}, {})", output::safe(&grant.given.by), grant.given.way, minute(grant.given.at)),
            state.to_owned(),
        ]);
    }
    output::line(table.trim_fmt())?;
    Ok(Exit::Success)
}

fn proposal_json(proposal: &Proposal) -> Value {
    json!({"vary": proposal.differ, "calls": proposal.calls, "text": proposal.to_string()})
}

/// A time as people read it in a table.
fn minute(time: Micros) -> String {
    time.to_string().get(..16).map_or_else(|| time.to_string(), |text| text.replace('T', " "))
}
