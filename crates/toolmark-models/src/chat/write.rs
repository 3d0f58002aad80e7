//! What is sent as a chat completion? Items become messages; what cannot be said in them is refused.

mod content;
mod tools;

use serde_json::{Map, Value, json};

use crate::body::{overlay, raw_for, set, with_extra};
use crate::item::{FunctionCall, Item, Message, Part, Role, Wire, fields_for};
use crate::request::{Effort, ModelRequest};
use crate::unsendable::UnsendableError;

const WIRE: Wire = Wire::Chat;

/// How a server names what others name differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// OpenAI itself.
    OpenAi,
    /// Anybody else, who follows the older names.
    Compatible,
}

/// The body of a request.
pub(crate) fn body(
    model: &str,
    request: &ModelRequest,
    stream: bool,
    dialect: Dialect,
) -> Result<Map<String, Value>, UnsendableError> {
    if request.conversation_id.is_some() {
        return Err(UnsendableError::Setting { wire: WIRE, setting: "`conversation_id`" });
    }
    if request.previous_response_id.is_some() {
        return Err(UnsendableError::Setting { wire: WIRE, setting: "`previous_response_id`" });
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("messages".to_owned(), Value::Array(messages(request, dialect)?));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools::tools(&request.tools, dialect)?);
        if let Some(choice) = &request.tool_choice {
            body.insert("tool_choice".to_owned(), tools::choice(choice, &request.tools)?);
        }
        set(&mut body, "parallel_tool_calls", request.parallel_tool_calls);
    }
    if let Some(output) = &request.output {
        let schema = json!({ "name": output.name, "schema": output.schema, "strict": output.strict });
        body.insert("response_format".to_owned(), json!({ "type": "json_schema", "json_schema": schema }));
    }
    let settings = &request.settings;
    set(&mut body, "temperature", settings.temperature);
    set(&mut body, "top_p", settings.top_p);
    let most = match dialect {
        Dialect::OpenAi => "max_completion_tokens",
        Dialect::Compatible => "max_tokens",
    };
    set(&mut body, most, settings.max_output_tokens);
    set(&mut body, "reasoning_effort", settings.effort.map(Effort::as_str));
    if stream {
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    overlay(&mut body, &settings.extra);
    set(&mut body, "stream", stream.then_some(true));
    Ok(body)
}

fn messages(request: &ModelRequest, dialect: Dialect) -> Result<Vec<Value>, UnsendableError> {
    let mut out = Messages { dialect, done: Vec::new(), turn: None, thought: Map::new() };
    if let Some(instructions) = &request.instructions {
        out.say(json!({ "role": "system", "content": instructions }));
    }
    for item in &request.input {
        match item {
            Item::Message(message) => out.message(message)?,
            Item::FunctionCall(call) => out.call(call)?,
            Item::FunctionOutput(output) => {
                let content = content::output(&output.output)?;
                out.say(json!({ "role": "tool", "tool_call_id": output.call_id, "content": content }));
            }
            Item::CustomCall(call) => return Err(UnsendableError::tool(WIRE, &call.name, "a call with free text")),
            Item::CustomOutput(_) => {
                return Err(UnsendableError::content(WIRE, "the output of a tool that takes free text"));
            }
            Item::Reasoning(_) | Item::Hosted(_) | Item::Other(_) => {
                if let Some(raw) = raw_for(WIRE, item)? {
                    out.raw(item, raw);
                }
            }
        }
    }
    Ok(out.finish())
}

/// Messages so far. What the model said and called in one turn is one message.
struct Messages {
    dialect: Dialect,
    done: Vec<Value>,
    turn: Option<Map<String, Value>>,
    thought: Map<String, Value>,
}

impl Messages {
    fn say(&mut self, message: Value) {
        self.end_turn();
        self.done.push(message);
    }

    fn message(&mut self, message: &Message) -> Result<(), UnsendableError> {
        let role = match (message.role, self.dialect) {
            (Role::Assistant, _) => return self.answer(message),
            (Role::User, _) => "user",
            // Only OpenAI's newer models tell the two apart; other servers know `system` alone.
            (Role::Developer, Dialect::OpenAi) => "developer",
            (Role::System | Role::Developer, _) => "system",
        };
        self.say(json!({ "role": role, "content": content::of(&message.parts)? }));
        Ok(())
    }

    fn answer(&mut self, message: &Message) -> Result<(), UnsendableError> {
        if self.turn.as_ref().is_some_and(|turn| turn.contains_key("tool_calls") || turn.contains_key("content")) {
            self.end_turn();
        }
        let refusal = message.parts.iter().find_map(|part| match part {
            Part::Refusal { text } => Some(text.as_str()),
            _ => None,
        });
        let turn = self.turn();
        turn.extend(fields_for(message.extra.as_ref(), WIRE).into_owned());
        if refusal.is_none() || message.parts.len() > 1 {
            turn.insert("content".to_owned(), content::of_answer(&message.parts)?);
        }
        set(turn, "refusal", refusal);
        Ok(())
    }

    fn call(&mut self, call: &FunctionCall) -> Result<(), UnsendableError> {
        if call.namespace.as_deref().is_some_and(|namespace| !namespace.is_empty()) {
            return Err(UnsendableError::tool(WIRE, &call.name, "the namespace"));
        }
        let wire = json!({
            "id": call.call_id,
            "type": "function",
            "function": { "name": call.name, "arguments": call.arguments },
        });
        let wire = with_extra(wire, call.extra.as_ref(), WIRE);
        match self.turn().entry("tool_calls").or_insert_with(|| json!([])) {
            Value::Array(calls) => calls.push(wire),
            other => *other = json!([wire]),
        }
        Ok(())
    }

    fn raw(&mut self, item: &Item, raw: &Value) {
        if matches!(item, Item::Reasoning(_)) {
            self.end_turn();
            self.thought = raw.get("fields").and_then(Value::as_object).cloned().unwrap_or_default();
        } else {
            self.say(raw.clone());
        }
    }

    fn turn(&mut self) -> &mut Map<String, Value> {
        self.turn.get_or_insert_with(|| {
            let role = json!({ "role": "assistant" });
            role.as_object().cloned().unwrap_or_default()
        })
    }

    fn end_turn(&mut self) {
        let thought = std::mem::take(&mut self.thought);
        let Some(mut turn) = self.turn.take() else { return };
        if turn.contains_key("tool_calls") {
            // Servers that let a model think between calls want the thoughts back with the calls, and only there.
            turn.extend(thought);
        }
        // There are servers that take no null, and templates that take nothing less than text.
        turn.entry("content").or_insert_with(|| match self.dialect {
            Dialect::OpenAi => Value::Null,
            Dialect::Compatible => "".into(),
        });
        self.done.push(Value::Object(turn));
    }

    fn finish(mut self) -> Vec<Value> {
        self.end_turn();
        self.done
    }
}

#[cfg(test)]
mod tests;
