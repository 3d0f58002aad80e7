//! One turn of a script: when it answers, what it says and calls, or how it fails.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::body::{arguments, call_id, name};
use crate::error::{ModelErrorKind, Waited};
use crate::item::{CustomCall, FunctionCall, Item, Message, Raw, Role, Wire};
use crate::request::ModelRequest;
use crate::response::{Finish, ModelResponse, Usage};

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Turn {
    /// When it answers. Without a condition, when it is its turn.
    pub when: Option<When>,
    /// What the model thinks.
    pub reasoning: Option<String>,
    /// What the model says. `{user}` and `{output}` stand for what was said last, and for what tools gave back last.
    pub text: Option<String>,
    /// The tools that it calls, all at once.
    pub calls: Vec<ScriptedCall>,
    /// Why it stops, if not for the usual reason.
    pub finish: Option<Finish>,
    /// What it costs.
    pub usage: Usage,
    /// How it fails instead of answering.
    pub fail: Option<Fault>,
}

/// Conditions, all of which must hold. Texts are looked for with their case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct When {
    /// The user has just said something that holds this.
    pub user: Option<String>,
    /// A tool has just given back something that holds this.
    pub output: Option<String>,
    /// The instructions hold this.
    pub instructions: Option<String>,
    /// A tool of this name is offered.
    pub tool: Option<String>,
}

/// A call of a tool. Fields may be wrong on purpose.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScriptedCall {
    /// The name of the tool.
    pub name: Value,
    /// The namespace.
    pub namespace: Option<String>,
    /// The arguments: a string is sent as it is, anything else as JSON.
    pub arguments: Value,
    /// The text for a custom tool, instead of arguments.
    pub input: Option<String>,
    /// A whole item of the Responses wire, such as a `shell_call`, instead of everything above.
    pub hosted: Option<Value>,
    /// The id; one that was not used yet if left out.
    pub call_id: Option<Value>,
}

/// How an answer fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the failure of that name")]
pub enum Fault {
    Auth,
    RateLimited,
    Overloaded,
    ServerFailed,
    Timeout,
    Unreachable,
    Malformed,
    /// The stream ends after everything but its end.
    Truncated,
}

impl Turn {
    /// A turn that says this.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A turn that calls one tool.
    #[must_use]
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::calls([ScriptedCall::new(name, arguments)])
    }

    /// A turn that calls tools.
    #[must_use]
    pub fn calls(calls: impl IntoIterator<Item = ScriptedCall>) -> Self {
        Self { calls: calls.into_iter().collect(), ..Self::default() }
    }

    /// A turn that fails.
    #[must_use]
    pub fn fail(fault: Fault) -> Self {
        Self { fail: Some(fault), ..Self::default() }
    }

    /// The same turn, whenever the user has just said something that holds this.
    #[must_use]
    pub fn when_user(mut self, text: impl Into<String>) -> Self {
        self.when.get_or_insert_default().user = Some(text.into());
        self
    }

    /// The same turn, whenever a tool has just given back something that holds this.
    #[must_use]
    pub fn when_output(mut self, text: impl Into<String>) -> Self {
        self.when.get_or_insert_default().output = Some(text.into());
        self
    }

    /// The answer. `first` is how many calls there were before.
    pub(super) fn response(&self, request: &ModelRequest, first: usize) -> Result<ModelResponse, ModelErrorKind> {
        let mut items = Vec::new();
        if let Some(thought) = &self.reasoning {
            let value = serde_json::json!({
                "type": "reasoning", "summary": [{ "type": "summary_text", "text": thought }],
            });
            items.push(Item::Reasoning(Raw { wire: Wire::Responses, value }));
        }
        if let Some(text) = &self.text {
            items.push(Item::assistant(filled(text, request)));
        }
        for (at, call) in self.calls.iter().enumerate() {
            items.push(call.item(first + at + 1)?);
        }
        let usual = if self.calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        let usage = Usage { requests: 1, ..self.usage };
        let finish = self.finish.clone().unwrap_or(usual);
        Ok(ModelResponse { items, usage, response_id: None, model: None, finish })
    }
}

impl When {
    pub(super) fn holds(&self, request: &ModelRequest) -> bool {
        let contains = |wanted: &Option<String>, texts: Vec<String>| {
            wanted.as_ref().is_none_or(|wanted| texts.iter().any(|text| text.contains(wanted)))
        };
        let offered = |name: &String| request.tools.iter().any(|tool| tool.name() == name);
        contains(&self.user, just_said(request))
            && contains(&self.output, just_given(request))
            && contains(&self.instructions, request.instructions.clone().into_iter().collect())
            && self.tool.as_ref().is_none_or(offered)
    }
}

impl ScriptedCall {
    /// A call of a tool.
    #[must_use]
    pub fn new(name: &str, arguments: Value) -> Self {
        Self { name: name.into(), arguments, ..Self::default() }
    }

    /// A call of a tool that the provider has a shape for, as it stands on the Responses wire; only the id may be left out.
    #[must_use]
    pub fn hosted(item: Value) -> Self {
        Self { hosted: Some(item), ..Self::default() }
    }

    fn item(&self, number: usize) -> Result<Item, ModelErrorKind> {
        let own = Value::from(format!("call_{number}"));
        if let Some(hosted) = &self.hosted {
            let mut value = hosted.clone();
            if let Some(fields) = value.as_object_mut() {
                let is_request = fields.get("type").and_then(Value::as_str) == Some("mcp_approval_request");
                let id = if is_request { "id" } else { "call_id" };
                fields.entry(id).or_insert_with(|| self.call_id.clone().unwrap_or(own));
            }
            return Ok(Item::Hosted(Raw { wire: Wire::Responses, value }));
        }
        let call_id = call_id(Some(self.call_id.as_ref().unwrap_or(&own)))?;
        let name = name(Some(&self.name))?;
        if let Some(input) = &self.input {
            return Ok(Item::CustomCall(CustomCall { call_id, name, input: input.clone(), extra: None }));
        }
        let arguments = if self.arguments.is_null() { "{}".to_owned() } else { arguments(Some(&self.arguments)) };
        let namespace = self.namespace.clone();
        Ok(Item::FunctionCall(FunctionCall { call_id, name, namespace, arguments, extra: None }))
    }
}

impl Fault {
    pub(super) fn to_error(self) -> ModelErrorKind {
        let message = "the script says so".to_owned();
        match self {
            Self::Auth => ModelErrorKind::Auth { status: 401, message: None },
            Self::RateLimited => ModelErrorKind::RateLimited { message, retry_after: None },
            Self::Overloaded => ModelErrorKind::Overloaded { message, retry_after: None },
            Self::ServerFailed => ModelErrorKind::ServerFailed { status: 500, message, retry_after: None },
            Self::Timeout => ModelErrorKind::Timeout { waited: Waited::Whole, limit: Duration::ZERO },
            Self::Unreachable => ModelErrorKind::Unreachable { reason: message, sent: false },
            Self::Malformed => ModelErrorKind::malformed(message),
            Self::Truncated => ModelErrorKind::Truncated,
        }
    }
}

/// Everything after what the model said last.
fn fresh(request: &ModelRequest) -> &[Item] {
    let start = request.input.iter().rposition(Item::is_from_model).map_or(0, |at| at + 1);
    request.input.get(start..).unwrap_or_default()
}

fn just_said(request: &ModelRequest) -> Vec<String> {
    let said = fresh(request).iter().filter_map(|item| match item {
        Item::Message(message @ Message { role: Role::User, .. }) => Some(message.joined_text()),
        _ => None,
    });
    said.collect()
}

fn just_given(request: &ModelRequest) -> Vec<String> {
    let given = fresh(request).iter().filter_map(|item| match item {
        Item::FunctionOutput(output) => Some(output.output.joined_text()),
        Item::CustomOutput(output) => Some(output.output.joined_text()),
        Item::Hosted(raw) if raw.is_answer() => match raw.value.get("output") {
            Some(Value::String(text)) => Some(text.clone()),
            other => Some(other.map(Value::to_string).unwrap_or_default()),
        },
        _ => None,
    });
    given.collect()
}

/// The text with what was just said and given in it. What is put in is not looked at again.
fn filled(text: &str, request: &ModelRequest) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (value, length) = if from.starts_with("{user}") {
            (just_said(request).join("\n"), "{user}".len())
        } else if from.starts_with("{output}") {
            (just_given(request).join("\n"), "{output}".len())
        } else {
            ("{".to_owned(), 1)
        };
        out.push_str(&value);
        rest = from.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
