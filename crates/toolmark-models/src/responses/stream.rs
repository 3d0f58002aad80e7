//! What does OpenAI Responses say while it answers?

use std::collections::HashMap;

use serde_json::Value;
use toolmark_core::call::CallId;

use super::read;
use crate::body::{arguments, call_id, name, text_of};
use crate::error::ModelErrorKind;
use crate::event::ModelEvent;
use crate::item::Item;
use crate::stream::{RawEvent, StreamReader};

/// The reader of one stream.
#[derive(Default)]
pub(crate) struct Reader {
    /// The call that is being written at each place of the answer.
    calls: HashMap<u64, CallId>,
    done: Vec<(u64, Item)>,
    completed: bool,
}

impl StreamReader for Reader {
    fn take(&mut self, event: &RawEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        if self.completed {
            return Ok(());
        }
        let Some((kind, mut value)) = event.typed()? else { return Ok(()) };
        let place = value.get("output_index").and_then(Value::as_u64).unwrap_or_default();
        match kind.as_str() {
            "response.output_text.delta" => out.extend(delta(&value).map(|delta| ModelEvent::Text { delta })),
            "response.refusal.delta" => out.extend(delta(&value).map(|delta| ModelEvent::Refusal { delta })),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                out.extend(delta(&value).map(|delta| ModelEvent::Reasoning { delta }));
            }
            "response.output_item.added" => self.begin(place, value.get("item").unwrap_or(&Value::Null), out)?,
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let found = self.calls.get(&place).zip(delta(&value));
                out.extend(found.map(|(id, delta)| ModelEvent::CallArguments { call_id: id.clone(), delta }));
            }
            "response.output_item.done" => {
                let item = read::item(value.get_mut("item").map(Value::take).unwrap_or_default())?;
                let whole = match &item {
                    Item::FunctionCall(call) => Some((&call.call_id, &call.arguments)),
                    Item::CustomCall(call) => Some((&call.call_id, &call.input)),
                    _ => None,
                };
                out.extend(
                    whole.map(|(id, text)| ModelEvent::CallDone { call_id: id.clone(), arguments: text.clone() }),
                );
                self.done.push((place, item.clone()));
                out.push(ModelEvent::ItemDone(item));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let whole = value.get_mut("response").map(Value::take).unwrap_or_default();
                self.done.sort_by_key(|(place, _)| *place);
                let items = std::mem::take(&mut self.done).into_iter().map(|(_, item)| item).collect();
                let response = read::response(whole, items)?;
                self.completed = true;
                out.push(ModelEvent::Completed(Box::new(response)));
            }
            "error" => return Err(read::failure(&value)),
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        if self.completed { Ok(()) } else { Err(ModelErrorKind::Truncated) }
    }
}

impl Reader {
    fn begin(&mut self, place: u64, item: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelErrorKind> {
        if !matches!(text_of(item, "type"), Some("function_call" | "custom_tool_call")) {
            return Ok(());
        }
        let id = call_id(item.get("call_id"))?;
        let namespace = text_of(item, "namespace").filter(|namespace| !namespace.is_empty());
        out.push(ModelEvent::CallStarted {
            call_id: id.clone(),
            name: name(item.get("name"))?,
            namespace: namespace.map(ToOwned::to_owned),
        });
        // A server that knows the arguments at once does not send them in pieces.
        let known = arguments(item.get("arguments").or(item.get("input")));
        if !known.is_empty() {
            out.push(ModelEvent::CallArguments { call_id: id.clone(), delta: known });
        }
        self.calls.insert(place, id);
        Ok(())
    }
}

fn delta(value: &Value) -> Option<String> {
    text_of(value, "delta").filter(|delta| !delta.is_empty()).map(ToOwned::to_owned)
}
