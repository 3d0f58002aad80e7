//! What did the person say about the calls that wait? Every answer is for one question that is open; decisions that were made elsewhere
//! count, and what is not clearly a yes approves nothing.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolmark_agents::{Pending, RunState};
use toolmark_agui::input::Answer;
use toolmark_agui::{APPROVAL, Cards, Id, Interrupt, Metadata, TOOL};
use toolmark_core::approval::{Ask, AskState, Given, Ruling, Scope, Way};
use toolmark_core::call::CallId;
use toolmark_core::explain::Explain as _;
use toolmark_core::text::visible;
use toolmark_runtime::approve::{DecideError, Desk, LedgerError};

use super::error::AguiError;

/// What the model is told where the person closed the question.
const WALKED_AWAY: &str = "The user closed the question without an answer. It was not called.";

/// The id of a question: the run of the approvals, which nobody can guess.
fn interrupt_id(pending: &Pending) -> String {
    pending.run().to_string()
}

/// The id of a call among all calls of a run.
pub(super) fn call_id(pending: &Pending) -> Id {
    pending.path().iter().map(CallId::as_str).collect::<Vec<_>>().join("/").into()
}

/// The subagent in which a call waits.
fn subagent(pending: &Pending) -> Option<Id> {
    let (_, outer) = pending.path().split_last()?;
    (!outer.is_empty()).then(|| outer.iter().map(CallId::as_str).collect::<Vec<_>>().join("/").into())
}

/// The question that is kept for a call, where one is.
pub(super) async fn question(desk: Option<&Desk>, pending: &Pending) -> Result<Option<Ask>, AguiError> {
    let Some(desk) = desk else { return Ok(None) };
    let found = desk.ledger().run(pending.run()).await;
    Ok(found.map_err(|error| unkept(&error))?.map(|(_, ask)| ask))
}

/// What a run waits for, as clients are told.
pub(super) async fn interrupts(
    desk: Option<&Desk>,
    state: &RunState,
    cards: &dyn Cards,
) -> Result<Vec<Interrupt>, AguiError> {
    let mut all = Vec::new();
    for pending in state.pending() {
        let ask = question(desk, &pending).await?;
        all.push(interrupt(&pending, ask.as_ref(), cards));
    }
    Ok(all)
}

fn interrupt(pending: &Pending, ask: Option<&Ask>, cards: &dyn Cards) -> Interrupt {
    let card = cards.call(pending.agent(), pending.name(), pending.namespace());
    // A pattern has to be written, for which this is not the place.
    let scopes: Vec<Scope> = ask.map(Ask::offered).unwrap_or_else(|| vec![Scope::Once]);
    let scopes: Vec<&str> =
        scopes.iter().filter(|scope| **scope != Scope::Pattern).map(|scope| scope.as_str()).collect();
    let mut approval = json!({"id": interrupt_id(pending), "tool": pending.tool(), "agent": pending.agent()});
    if let (Some(ask), Some(all)) = (ask, approval.as_object_mut()) {
        all.insert("ask".into(), ask.id.to_string().into());
        all.insert("mark".into(), ask.mark.to_string().into());
        all.insert("behavior".into(), ask.behavior.as_str().into());
        all.insert("effects".into(), ask.effects.as_slice().into());
        all.insert("reasons".into(), ask.reasons.clone());
        all.insert("changes".into(), ask.changes.as_slice().into());
    }
    let tool: Option<Value> = card.metadata.as_ref().and_then(|metadata| serde_json::from_str(metadata.as_json()).ok());
    let tool = tool.and_then(|metadata: Value| metadata.get(TOOL).cloned());
    let members = [(APPROVAL, Some(without_nulls(approval))), (TOOL, tool)];
    Interrupt {
        id: interrupt_id(pending).into(),
        reason: "tool_call",
        message: Some(pending.prompt().to_owned()),
        tool_call_id: Some(call_id(pending)),
        response_schema: Some(json!({
            "type": "object",
            "properties": {
                "approved": {"type": "boolean", "description": "Whether the call may run."},
                "editedArgs": {"type": "object", "description": "All arguments to run with, in place of those of the model."},
                "message": {"type": "string", "description": "What the model is told where the call may not run."},
                "scope": {"type": "string", "enum": scopes, "description": "How far a yes reaches; once, unless it says otherwise."},
            },
            "required": ["approved"],
        })),
        expires_at: ask.map(|ask| ask.expires.to_string()),
        subagent_run_id: subagent(pending),
        metadata: Some(Metadata::new(members.into_iter().filter_map(|(key, value)| Some((key, value?))))),
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(all) => Value::Object(
            all.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Value::Array(all) => all.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// What one answer says.
enum Said {
    Yes { edited: Option<String>, scope: Scope },
    No(Option<String>),
    WalkedAway,
}

/// Takes the answers of a client over into a run. Nothing is taken over unless all of them can be.
pub(super) async fn apply(
    desk: Option<&Desk>,
    state: &mut RunState,
    answers: &[Answer],
    principal: &str,
) -> Result<(), AguiError> {
    let pending = state.pending();
    let mut given: HashMap<&str, &Answer> = HashMap::new();
    for answer in answers {
        if given.insert(answer.interrupt_id.as_str(), answer).is_some() {
            return Err(AguiError::AnsweredTwice(visible(answer.interrupt_id.as_str(), 200)));
        }
    }
    let ids: Vec<String> = pending.iter().map(interrupt_id).collect();
    let unknown: Vec<String> = answers
        .iter()
        .map(|answer| answer.interrupt_id.as_str())
        .filter(|id| !ids.iter().any(|own| own == id))
        .map(|id| visible(id, 200))
        .collect();
    if !unknown.is_empty() {
        return Err(AguiError::InterruptUnknown(unknown));
    }
    let open: Vec<String> = ids.iter().filter(|id| !given.contains_key(id.as_str())).cloned().collect();
    if !open.is_empty() {
        return Err(AguiError::InterruptsOpen(open));
    }
    let mut said = Vec::new();
    for (pending, id) in pending.iter().zip(&ids) {
        let Some(answer) = given.get(id.as_str()) else { continue };
        let one = read(id, answer)?;
        let ask = question(desk, pending).await?;
        check(id, &one, ask.as_ref(), desk)?;
        said.push((pending, one, ask));
    }
    for (pending, one, ask) in said {
        let refused = |error: toolmark_agents::DecideError| AguiError::Report(Box::new(error.report()));
        match one {
            Said::Yes { edited: Some(edited), .. } => state.approve_edited(pending, edited).map_err(refused)?,
            Said::Yes { edited: None, scope } => {
                if let (Some(desk), Some(ask), true) = (desk, &ask, scope.is_sticky()) {
                    grant(desk, ask, scope, principal).await?;
                }
                state.approve(pending).map_err(refused)?;
            }
            Said::No(message) => state.reject(pending, message.as_deref()).map_err(refused)?,
            // Walking away decides nothing: the question stays open for others, and the model hears that it waits.
            Said::WalkedAway if ask.is_some() => {}
            Said::WalkedAway => state.reject(pending, Some(WALKED_AWAY)).map_err(refused)?,
        }
    }
    Ok(())
}

/// Keeps an answer that is meant for more than this call.
async fn grant(desk: &Desk, ask: &Ask, scope: Scope, principal: &str) -> Result<(), AguiError> {
    let given =
        Given { by: principal.to_owned(), way: Way::Client, at: desk.ledger().now(), from: Some("ag-ui".into()) };
    match desk.decide(ask.id, &Ruling { scope, ..Ruling::once(true, given) }).await {
        // What somebody else said before counts, and the run hears it.
        Ok(_) | Err(DecideError::Decided(_)) => Ok(()),
        Err(DecideError::Ledger(error)) => Err(unkept(&error)),
        Err(error) => Err(AguiError::Report(Box::new(error.report()))),
    }
}

/// What the page hears of a ledger that fails; where the store is, the log says.
fn unkept(error: &LedgerError) -> AguiError {
    tracing::warn!(%error, "a question of a run cannot be read or answered");
    AguiError::Report(Box::new(error.for_callers().report()))
}

fn read(id: &str, answer: &Answer) -> Result<Said, AguiError> {
    let refuse = |problem| AguiError::Payload { id: id.to_owned(), problem };
    let Some(payload) = &answer.payload else { return Ok(Said::WalkedAway) };
    let text = |key: &str| match payload.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(refuse("`message` and `scope` are texts")),
    };
    let approved = match payload {
        Value::Bool(approved) => *approved,
        Value::Object(_) => {
            let approved = payload.get("approved").and_then(Value::as_bool);
            approved.ok_or_else(|| refuse("it has no `approved`, which is true or false"))?
        }
        _ => return Err(refuse("it is neither an object nor true or false")),
    };
    if !approved {
        return Ok(Said::No(text("message")?.or(text("reason")?).filter(|text| !text.is_empty())));
    }
    let edited = match payload.get("editedArgs") {
        None | Some(Value::Null) => None,
        Some(Value::Object(edited)) => Some(Value::Object(edited.clone()).to_string()),
        Some(_) => return Err(refuse("`editedArgs` is no object")),
    };
    let scope = match text("scope")? {
        None => Scope::Once,
        Some(word) => word.parse().map_err(|_| refuse("`scope` is none of those that are offered"))?,
    };
    if edited.is_some() && scope.is_sticky() {
        return Err(refuse("other arguments are for this call only"));
    }
    Ok(Said::Yes { edited, scope })
}

/// Whether an answer can still be given.
fn check(id: &str, said: &Said, ask: Option<&Ask>, desk: Option<&Desk>) -> Result<(), AguiError> {
    let (Some(ask), Some(desk)) = (ask, desk) else { return Ok(()) };
    let over = match &ask.state {
        AskState::Expired => true,
        AskState::Pending => desk.ledger().now() >= ask.expires,
        AskState::Decided(_) => false,
    };
    match (said, &ask.state) {
        (Said::WalkedAway, _) => Ok(()),
        _ if over => Err(AguiError::InterruptExpired(id.to_owned())),
        (Said::Yes { edited: Some(_), .. }, AskState::Decided(decided)) if decided.allows => {
            Err(AguiError::DecidedElsewhere(id.to_owned()))
        }
        (Said::Yes { scope, .. }, AskState::Pending) if !ask.offered().contains(scope) => {
            Err(AguiError::Payload { id: id.to_owned(), problem: "`scope` is none of those that are offered" })
        }
        _ => Ok(()),
    }
}

/// Whether somebody decided about everything that waits, elsewhere.
pub(super) async fn all_decided(desk: Option<&Desk>, state: &RunState) -> Result<bool, AguiError> {
    for pending in state.pending() {
        let ask = question(desk, &pending).await?;
        if !ask.is_some_and(|ask| matches!(ask.state, AskState::Decided(_))) {
            return Ok(false);
        }
    }
    Ok(true)
}
