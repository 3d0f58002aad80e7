//! What does a chat completion say while it answers? Pieces of one message, which is put together here.

use serde_json::{Map, Value, json};
use toolmark_core::call::CallId;

use super::read::{self, THOUGHTS};
use crate::body::{arguments, call_id, text_of, without};
use crate::error::ModelErrorKind;
use crate::event::ModelEvent;
use crate::item::Item;
use crate::response::{ModelResponse, Usage};
use crate::responses::read::failure;
use crate::stream::{RawEvent, StreamReader};

/// The reader of one stream.
#[derive(Default)]
pub(crate) struct Reader {
    text: String,
    refusal: String,
    /// Texts of thoughts by field; lists of details are gathered as they come.
    thoughts: Map<String, Value>,
    calls: Vec<Call>,
    rest: Map<String, Value>,
    reason: Option<String>,
    usage: Usage,
    response_id: Option<String>,
    model: Option<String>,
    completed: bool,
}

/// A call that is being written.
struct Call {
    index: Option<u64>,
    id: Option<CallId>,
    /// Whether anything was said about its name: nothing is another thing than an empty one.
    named: bool,
    name: String,
    arguments: String,
    rest: Map<String, Value>,
    announced: bool,
}

impl StreamReader for Reader {
    fn take(&mut self, event: &RawEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        if self.completed || event.data.is_empty() {
            return Ok(());
        }
        if event.data.trim() == "[DONE]" {
            return self.complete(out);
        }
        let mut value = event.json()?;
        if event.kind.as_deref() == Some("error") || value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(failure(&value));
        }
        for (key, kept) in [("id", &mut self.response_id), ("model", &mut self.model)] {
            if let (None, Some(text)) = (&kept, text_of(&value, key)) {
                *kept = Some(text.to_owned());
            }
        }
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            self.usage = read::usage(usage);
        }
        let Some(choice) = value.pointer_mut("/choices/0") else { return Ok(()) };
        if let Some(Value::Object(delta)) = choice.get_mut("delta").map(Value::take) {
            self.delta(delta, out)?;
        }
        if let Some(reason) = text_of(choice, "finish_reason") {
            self.reason = Some(reason.to_owned());
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        match (self.completed, &self.reason) {
            (true, _) => Ok(()),
            // Some servers close the stream without the last line; the reason says that the message is whole.
            (false, Some(_)) => self.complete(out),
            (false, None) => Err(ModelErrorKind::Truncated),
        }
    }
}

impl Reader {
    fn delta(&mut self, mut delta: Map<String, Value>, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        let mut said = |key: &str| match delta.shift_remove(key) {
            Some(Value::String(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        if let Some(delta) = said("content") {
            self.text.push_str(&delta);
            out.push(ModelEvent::Text { delta });
        }
        if let Some(delta) = said("refusal") {
            self.refusal.push_str(&delta);
            out.push(ModelEvent::Refusal { delta });
        }
        let mut shown = false;
        for key in THOUGHTS {
            match (delta.shift_remove(key), self.thoughts.get_mut(key)) {
                (Some(Value::String(text)), kept) if !text.is_empty() => {
                    match kept {
                        Some(Value::String(whole)) => whole.push_str(&text),
                        _ => {
                            self.thoughts.insert(key.to_owned(), text.clone().into());
                        }
                    }
                    // Some servers send the same thought in two fields.
                    if !shown {
                        out.push(ModelEvent::Reasoning { delta: text });
                        shown = true;
                    }
                }
                (Some(Value::Array(more)), Some(Value::Array(whole))) => whole.extend(more),
                (Some(Value::Array(more)), None) => {
                    self.thoughts.insert(key.to_owned(), more.into());
                }
                _ => {}
            }
        }
        if let Some(Value::Array(calls)) = delta.shift_remove("tool_calls") {
            for call in calls {
                self.call(call, out)?;
            }
        }
        self.rest.extend(without(delta, &["role", "function_call"]).into_iter().filter(|(_, value)| !value.is_null()));
        Ok(())
    }

    fn call(&mut self, value: Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        let index = value.get("index").and_then(Value::as_u64);
        let id = value.get("id").filter(|id| !id.is_null() && id.as_str() != Some(""));
        let id = id.map(|id| call_id(Some(id))).transpose()?;
        let known = self.calls.iter().rposition(|call| match (index, &id) {
            // Some servers give every call the index 0, so that a new id is a new call whatever its index.
            (Some(index), Some(id)) => call.index == Some(index) && call.id.as_ref().is_none_or(|known| known == id),
            (Some(index), None) => call.index == Some(index),
            // Servers that do not count their calls send each whole, or go on with the last one.
            (None, Some(id)) => call.id.as_ref() == Some(id),
            (None, None) => true,
        });
        let at = known.unwrap_or_else(|| {
            let (name, arguments) = (String::new(), String::new());
            self.calls.push(Call {
                index,
                id: None,
                named: false,
                name,
                arguments,
                rest: Map::new(),
                announced: false,
            });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(at) else { return Ok(()) };
        if call.id.is_none() {
            call.id = id;
        }
        let function = value.get("function").unwrap_or(&Value::Null);
        match function.get("name") {
            None | Some(Value::Null) => {}
            Some(Value::String(name)) if call.announced && *name == call.name => {}
            Some(Value::String(name)) => {
                call.named = true;
                call.name.push_str(name);
            }
            Some(_) => return Err(ModelErrorKind::malformed("a tool call whose name is not a string")),
        }
        let delta = arguments(function.get("arguments"));
        call.arguments.push_str(&delta);
        if let Value::Object(fields) = value {
            call.rest.extend(without(fields, &["id", "type", "function", "index"]));
        }
        let Some(id) = call.id.clone().filter(|_| !call.name.is_empty()) else { return Ok(()) };
        if !call.announced {
            call.announced = true;
            out.push(ModelEvent::CallStarted { call_id: id.clone(), name: call.name.clone(), namespace: None });
            if !call.arguments.is_empty() {
                out.push(ModelEvent::CallArguments { call_id: id, delta: call.arguments.clone() });
            }
        } else if !delta.is_empty() {
            out.push(ModelEvent::CallArguments { call_id: id, delta });
        }
        Ok(())
    }

    /// The message as it would have come in one piece, read as such.
    fn complete(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        let calls = std::mem::take(&mut self.calls).into_iter().map(|call| {
            let mut wire = call.rest;
            wire.insert("id".to_owned(), json!(call.id));
            wire.insert(
                "function".to_owned(),
                json!({ "name": call.named.then_some(call.name), "arguments": call.arguments }),
            );
            Value::Object(wire)
        });
        let calls: Vec<Value> = calls.collect();
        let nothing = self.text.is_empty() && self.refusal.is_empty() && calls.is_empty() && self.reason.is_none();
        if nothing {
            return Err(ModelErrorKind::Truncated);
        }
        let mut message = std::mem::take(&mut self.rest);
        message.extend(std::mem::take(&mut self.thoughts));
        message.insert("content".to_owned(), std::mem::take(&mut self.text).into());
        message.insert("refusal".to_owned(), std::mem::take(&mut self.refusal).into());
        message.insert("tool_calls".to_owned(), calls.into());
        let items = read::items(message)?;
        for item in &items {
            if let Item::FunctionCall(call) = item {
                let (call_id, arguments) = (call.call_id.clone(), call.arguments.clone());
                out.push(ModelEvent::CallDone { call_id, arguments });
            }
            out.push(ModelEvent::ItemDone(item.clone()));
        }
        self.completed = true;
        let finish = read::finish(self.reason.as_deref(), &items);
        let usage = Usage { requests: 1, ..self.usage };
        let (response_id, model) = (self.response_id.take(), self.model.take());
        out.push(ModelEvent::Completed(Box::new(ModelResponse { items, usage, response_id, model, finish })));
        Ok(())
    }
}
