//! What does Anthropic Messages say while it answers? Blocks that grow by deltas, one after the other.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolmark_core::call::CallId;

use super::read::{self, Items};
use crate::body::{call_id, name, text_of};
use crate::error::ModelErrorKind;
use crate::event::ModelEvent;
use crate::item::Item;
use crate::response::ModelResponse;
use crate::responses::read::failure;
use crate::stream::{RawEvent, StreamReader};

/// The reader of one stream.
#[derive(Default)]
pub(crate) struct Reader {
    open: BTreeMap<u64, Block>,
    items: Items,
    /// A message whose last block of text may not have come yet.
    pending: Option<Item>,
    usage: Map<String, Value>,
    response_id: Option<String>,
    model: Option<String>,
    reason: Option<String>,
    completed: bool,
}

/// A block that is still growing.
struct Block {
    value: Value,
    /// The pieces of JSON that its input is written in.
    input: String,
    call: Option<CallId>,
}

impl StreamReader for Reader {
    fn take(&mut self, event: &RawEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        if self.completed {
            return Ok(());
        }
        let Some((kind, mut value)) = event.typed()? else { return Ok(()) };
        let place = value.get("index").and_then(Value::as_u64).unwrap_or_default();
        match kind.as_str() {
            "message_start" => {
                let message = value.get("message").unwrap_or(&Value::Null);
                self.response_id = text_of(message, "id").map(ToOwned::to_owned);
                self.model = text_of(message, "model").map(ToOwned::to_owned);
                self.count(message.get("usage"));
            }
            "content_block_start" => {
                let block = value.get_mut("content_block").map(Value::take).unwrap_or_default();
                self.start(place, block, out)?;
            }
            "content_block_delta" => {
                if let (Some(block), Some(delta)) = (self.open.get_mut(&place), value.get_mut("delta")) {
                    block.grow(delta, out);
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.open.remove(&place) {
                    self.stop(block, out)?;
                }
            }
            "message_delta" => {
                if let Some(reason) = value.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.reason = Some(reason.to_owned());
                }
                self.count(value.get("usage"));
            }
            "message_stop" => self.complete(out)?,
            "error" => return Err(failure(&value)),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        match (self.completed, &self.reason) {
            (true, _) => Ok(()),
            (false, Some(_)) if self.open.is_empty() => self.complete(out),
            _ => Err(ModelErrorKind::Truncated),
        }
    }
}

impl Reader {
    /// Later counts replace earlier ones, but some servers send zeros at one of the two places.
    fn count(&mut self, usage: Option<&Value>) {
        let counted = usage.and_then(Value::as_object).into_iter().flatten();
        for (key, value) in counted.filter(|(_, value)| !value.is_null() && value.as_u64() != Some(0)) {
            self.usage.insert(key.clone(), value.clone());
        }
    }

    fn start(&mut self, place: u64, value: Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        let mut call = None;
        if text_of(&value, "type") == Some("tool_use") {
            let id = call_id(value.get("id"))?;
            let name = name(value.get("name"))?;
            out.push(ModelEvent::CallStarted { call_id: id.clone(), name, namespace: None });
            call = Some(id);
        }
        if let Some(delta) = text_of(&value, "text").filter(|text| !text.is_empty()) {
            out.push(ModelEvent::Text { delta: delta.to_owned() });
        }
        self.open.insert(place, Block { value, input: String::new(), call });
        Ok(())
    }

    fn stop(&mut self, mut block: Block, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        if block.input.is_empty() {
            block.input = block.value.get("input").map(Value::to_string).unwrap_or_default();
        } else if block.call.is_none() {
            let input: Value = serde_json::from_str(&block.input)
                .map_err(|error| ModelErrorKind::malformed(format!("the input of a hosted call: {error}")))?;
            block.set("input", input);
        }
        let item = read::item(block.value, Some(block.input))?;
        match (&mut self.pending, item) {
            (Some(Item::Message(last)), Item::Message(next)) => last.parts.extend(next.parts),
            (_, item @ Item::Message(_)) => self.pending = Some(item),
            (_, item) => {
                self.settle(out);
                if let Item::FunctionCall(call) = &item {
                    let (call_id, arguments) = (call.call_id.clone(), call.arguments.clone());
                    out.push(ModelEvent::CallDone { call_id, arguments });
                }
                self.items.push(item.clone());
                out.push(ModelEvent::ItemDone(item));
            }
        }
        Ok(())
    }

    fn settle(&mut self, out: &mut Vec<ModelEvent>) {
        if let Some(message) = self.pending.take() {
            self.items.push(message.clone());
            out.push(ModelEvent::ItemDone(message));
        }
    }

    fn complete(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        // A call whose end was never announced may be half of one.
        if !self.open.is_empty() {
            return Err(ModelErrorKind::Truncated);
        }
        self.settle(out);
        self.completed = true;
        out.push(ModelEvent::Completed(Box::new(ModelResponse {
            items: std::mem::take(&mut self.items).finish(),
            usage: read::usage(&Value::Object(std::mem::take(&mut self.usage))),
            response_id: self.response_id.take(),
            model: self.model.take(),
            finish: read::finish(self.reason.as_deref()),
        })));
        Ok(())
    }
}

impl Block {
    fn grow(&mut self, delta: &mut Value, out: &mut Vec<ModelEvent>) {
        let text = |delta: &Value, key| text_of(delta, key).unwrap_or_default().to_owned();
        match text_of(delta, "type") {
            Some("text_delta") => {
                let delta = text(delta, "text");
                self.append("text", &delta);
                if !delta.is_empty() {
                    out.push(ModelEvent::Text { delta });
                }
            }
            Some("thinking_delta") => {
                let delta = text(delta, "thinking");
                self.append("thinking", &delta);
                if !delta.is_empty() {
                    out.push(ModelEvent::Reasoning { delta });
                }
            }
            Some("signature_delta") => self.append("signature", &text(delta, "signature")),
            Some("input_json_delta") => {
                let delta = text(delta, "partial_json");
                self.input.push_str(&delta);
                if let Some(id) = self.call.clone().filter(|_| !delta.is_empty()) {
                    out.push(ModelEvent::CallArguments { call_id: id, delta });
                }
            }
            Some("citations_delta") => {
                let citation = delta.get_mut("citation").map(Value::take).unwrap_or_default();
                match self.value.get_mut("citations").and_then(Value::as_array_mut) {
                    Some(citations) => citations.push(citation),
                    None => self.set("citations", json!([citation])),
                }
            }
            _ => {}
        }
    }

    fn append(&mut self, key: &str, delta: &str) {
        match self.value.get_mut(key) {
            Some(Value::String(text)) => text.push_str(delta),
            _ => self.set(key, delta.into()),
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        if let Some(fields) = self.value.as_object_mut() {
            fields.insert(key.to_owned(), value);
        }
    }
}
