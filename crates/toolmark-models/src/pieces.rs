//! An answer that is there already, said piece by piece, so that whoever listens to a stream hears it too.

use toolmark_core::call::CallId;

use crate::event::ModelEvent;
use crate::item::{Item, Part};
use crate::response::ModelResponse;

/// The pieces of an answer, as a provider would stream them, without the end. Where they are not `whole`, nothing is ever
/// finished, as in a stream that dies.
pub(crate) fn pieces(response: &ModelResponse, whole: bool) -> Vec<ModelEvent> {
    let mut events = Vec::new();
    for item in &response.items {
        match item {
            Item::Message(message) => message.parts.iter().for_each(|part| say(part, &mut events)),
            Item::Reasoning(raw) => {
                events.extend(raw.reasoning_text().map(|delta| ModelEvent::Reasoning { delta }));
            }
            Item::FunctionCall(call) => {
                let (name, namespace) = (call.name.clone(), call.namespace.clone());
                events.push(ModelEvent::CallStarted { call_id: call.call_id.clone(), name, namespace });
                write(&call.call_id, &call.arguments, whole, &mut events);
            }
            Item::CustomCall(call) => {
                let name = call.name.clone();
                events.push(ModelEvent::CallStarted { call_id: call.call_id.clone(), name, namespace: None });
                write(&call.call_id, &call.input, whole, &mut events);
            }
            _ => {}
        }
        if whole {
            events.push(ModelEvent::ItemDone(item.clone()));
        }
    }
    events
}

/// Word by word.
fn say(part: &Part, events: &mut Vec<ModelEvent>) {
    match part {
        Part::Text { text, .. } => {
            events.extend(text.split_inclusive(' ').map(|word| ModelEvent::Text { delta: word.to_owned() }));
        }
        Part::Refusal { text } => events.push(ModelEvent::Refusal { delta: text.clone() }),
        _ => {}
    }
}

fn write(call_id: &CallId, arguments: &str, whole: bool, events: &mut Vec<ModelEvent>) {
    let letters: Vec<char> = arguments.chars().collect();
    let deltas = letters.chunks(16).map(|piece| piece.iter().collect());
    events.extend(deltas.map(|delta| ModelEvent::CallArguments { call_id: call_id.clone(), delta }));
    if whole {
        events.push(ModelEvent::CallDone { call_id: call_id.clone(), arguments: arguments.to_owned() });
    }
}
