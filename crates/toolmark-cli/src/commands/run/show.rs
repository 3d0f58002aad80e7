//! What happens in a run, as it happens: what the model says on standard output, calls and the rest beside it; or all of it as JSON.

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use toolmark_agents::{RunEvent, RunResult, RunState};
use toolmark_core::call::CallId;
use toolmark_core::display::Languages;
use toolmark_core::text::{is_hidden, visible};
use toolmark_gateway::Gateway;
use toolmark_models::{FunctionCall, Item, ModelEvent};

use super::ask::Answers;
use crate::commands::inspect::behavior_in_short;
use crate::failure::Failure;
use crate::output;

/// How much of arguments and results is shown.
const SHOWN: usize = 160;

/// Whoever watches.
pub(super) struct Show<'g> {
    gateway: &'g Gateway,
    json: bool,
    /// Whether a line of text is begun.
    open: bool,
    /// Calls that were shown when the model made them.
    announced: BTreeSet<String>,
    /// What people call each tool and what it does, by canonical name.
    known: HashMap<String, (String, String)>,
}

impl<'g> Show<'g> {
    pub(super) fn new(gateway: &'g Gateway, json: bool) -> Self {
        Self { gateway, json, open: false, announced: BTreeSet::new(), known: HashMap::new() }
    }

    pub(super) fn event(&mut self, event: &RunEvent) -> Result<(), Failure> {
        match event {
            RunEvent::AgentStarted { agent } => self.line("agent", json!({"agent": agent}), ""),
            RunEvent::Model { agent, event } => self.model(agent, event),
            RunEvent::ToolStarted { agent, call_id, tool, arguments } => {
                if self.json {
                    let value =
                        json!({"agent": agent, "call_id": call_id.as_str(), "tool": tool, "arguments": arguments});
                    return self.line("started", value, "");
                }
                self.call(agent, call_id, tool, arguments)
            }
            RunEvent::ToolEnded { agent, call_id, name, output, code } => {
                let sign = if code.is_some() { "✗" } else { "←" };
                let code_text = code.map(|code| format!(" [{code}]")).unwrap_or_default();
                let shown = format!("{sign} {}{code_text} {}", visible(name, 120), in_line(output));
                let value = json!({
                    "agent": agent, "call_id": call_id.as_str(), "name": name, "output": output, "code": code,
                });
                self.line("result", value, &shown)
            }
            RunEvent::HandedOver { from, to } => {
                let shown = format!("⇒ {} hands over to {}", visible(from, 80), visible(to, 80));
                self.line("handoff", json!({"from": from, "to": to}), &shown)
            }
            RunEvent::Nested { event, .. } => self.event(event),
            // What waits, and the answer, are said when the run has ended.
            _ => Ok(()),
        }
    }

    fn model(&mut self, agent: &str, event: &ModelEvent) -> Result<(), Failure> {
        match event {
            ModelEvent::Text { delta } | ModelEvent::Refusal { delta } if self.json => {
                self.line("text", json!({"agent": agent, "delta": delta}), "")
            }
            ModelEvent::Text { delta } | ModelEvent::Refusal { delta } => {
                let mut out = anstream::stdout().lock();
                write!(out, "{}", clean(delta))?;
                out.flush()?;
                if !delta.is_empty() {
                    self.open = !delta.ends_with('\n');
                }
                Ok(())
            }
            ModelEvent::ItemDone(Item::FunctionCall(call)) => {
                let FunctionCall { call_id, name, namespace, arguments, .. } = call;
                let tool = match namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
                    Some(namespace) => format!("{namespace}.{name}"),
                    None => name.clone(),
                };
                self.call(agent, call_id, &tool, arguments)
            }
            _ => Ok(()),
        }
    }

    /// A call, once: when the model makes it, or when it begins.
    fn call(&mut self, agent: &str, call_id: &CallId, tool: &str, arguments: &str) -> Result<(), Failure> {
        if !self.announced.insert(call_id.as_str().to_owned()) {
            return Ok(());
        }
        let (display, behavior) = self.known(tool);
        let shown = format!(
            "→ {} {} {} {}",
            output::painted(output::BOLD, &display),
            visible(tool, 120),
            output::painted(output::DIM, &behavior),
            visible(arguments, SHOWN),
        );
        let value = json!({
            "agent": agent, "call_id": call_id.as_str(), "tool": tool, "display_name": display,
            "behavior": behavior, "arguments": arguments,
        });
        self.line("call", value, &shown)
    }

    /// What people call a tool, and what it does.
    fn known(&mut self, tool: &str) -> (String, String) {
        if let Some(known) = self.known.get(tool) {
            return known.clone();
        }
        let snapshot = self.gateway.snapshot();
        let workspace = snapshot.workspace();
        let found = workspace.catalog().tools().find(|own| own.canonical().as_str() == tool);
        let known = match found {
            Some(own) => {
                let display = snapshot.shown(own, &Languages::default()).name.to_string();
                (display, behavior_in_short(&workspace.known(own)))
            }
            None => (visible(tool, 120), "?".to_owned()),
        };
        self.known.insert(tool.to_owned(), known.clone());
        known
    }

    pub(super) fn finished(&mut self, result: &RunResult) -> Result<(), Failure> {
        self.end_of_text()?;
        let usage = result.usage();
        let value = json!({
            "output": result.output(), "agent": result.agent(), "turns": result.turns(),
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        });
        self.line("finished", value, "")
    }

    pub(super) fn cancelled(&mut self) -> Result<(), Failure> {
        self.end_of_text()?;
        self.line("cancelled", json!({}), "")?;
        if !self.json {
            output::note("cancelled; calls that had begun may have had an effect, and stand in `toolmark audit`");
        }
        Ok(())
    }

    /// The calls that wait, and until when.
    pub(super) async fn waiting(
        &mut self,
        agent: &str,
        state: &RunState,
        path: &Path,
        gateway: &Gateway,
    ) -> Result<(), Failure> {
        self.end_of_text()?;
        let answers = Answers { gateway, attended: false };
        let mut calls = Vec::new();
        for pending in state.pending() {
            let ask = answers.question(&pending).await?;
            let id = ask.as_ref().map(|ask| ask.id.to_string());
            if !self.json {
                let how = id
                    .as_ref()
                    .map(|id| format!("; `toolmark approvals approve {id}` decides it too"))
                    .unwrap_or_default();
                output::note(&format!(
                    "waits: {} {} (call {}){how}",
                    output::safe(pending.tool()),
                    visible(pending.arguments(), SHOWN),
                    output::safe(pending.call_id().as_str()),
                ));
            }
            calls.push(json!({
                "call_id": pending.call_id().as_str(), "agent": pending.agent(), "tool": pending.tool(),
                "arguments": pending.arguments(), "prompt": pending.prompt(), "question": id,
                "expires": ask.map(|ask| ask.expires.to_string()),
            }));
        }
        let value = json!({"agent": agent, "pending": calls, "saved": path.display().to_string()});
        self.line("interrupted", value, "")
    }

    /// Ends a line of text that is begun, so that whatever follows stands in its own.
    pub(super) fn end_of_text(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.open) {
            output::line("")?;
        }
        Ok(())
    }

    fn line(&mut self, event: &str, mut value: Value, shown: &str) -> Result<(), Failure> {
        if self.json {
            if let Some(all) = value.as_object_mut() {
                all.insert("event".into(), event.into());
            }
            return Ok(output::line(value)?);
        }
        if !shown.is_empty() {
            self.end_of_text()?;
            // Standard error may be closed; there is nobody left to tell.
            let _ = writeln!(anstream::stderr().lock(), "{shown}");
        }
        Ok(())
    }
}

/// The beginning of a text, in one line.
fn in_line(text: &str) -> String {
    visible(&text.split_whitespace().collect::<Vec<_>>().join(" "), SHOWN)
}

/// A stranger's text without what would move the cursor or hide something; lines stay lines.
fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => out.push(character),
            hidden if is_hidden(hidden) => out.push_str(&visible(&hidden.to_string(), usize::MAX)),
            other => out.push(other),
        }
    }
    out
}
