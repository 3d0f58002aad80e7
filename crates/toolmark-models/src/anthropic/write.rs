//! What is sent to Anthropic Messages? Turns of the user and of the model, each a list of blocks.

mod block;
mod tools;

use serde_json::{Map, Value, json};

use crate::body::{overlay, raw_for, set};
use crate::item::{Item, Role, Wire};
use crate::request::{Effort, ModelRequest, Settings};
use crate::unsendable::UnsendableError;

const WIRE: Wire = Wire::Anthropic;

/// The format demands a limit; this is the one when nobody gave any.
const MOST_TOKENS: u64 = 8_192;

/// The body of a request.
pub(crate) fn body(model: &str, request: &ModelRequest, stream: bool) -> Result<Map<String, Value>, UnsendableError> {
    if request.conversation_id.is_some() {
        return Err(UnsendableError::Setting { wire: WIRE, setting: "`conversation_id`" });
    }
    if request.previous_response_id.is_some() {
        return Err(UnsendableError::Setting { wire: WIRE, setting: "`previous_response_id`" });
    }
    let settings = &request.settings;
    let mut body = Map::new();
    body.insert("model".to_owned(), model.into());
    body.insert("max_tokens".to_owned(), settings.max_output_tokens.unwrap_or(MOST_TOKENS).into());
    let turns = Turns::of(&request.input)?;
    set(&mut body, "system", system(request.instructions.as_deref(), turns.system));
    body.insert("messages".to_owned(), Value::Array(turns.done));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), tools::tools(&request.tools)?);
        set(&mut body, "tool_choice", tools::choice(request)?);
    }
    set(&mut body, "temperature", settings.temperature);
    set(&mut body, "top_p", settings.top_p);
    think(&mut body, settings)?;
    if let Some(output) = &request.output {
        let format = json!({ "type": "json_schema", "schema": output.schema });
        overlay(&mut body, &object("output_config", json!({ "format": format })));
    }
    overlay(&mut body, &settings.extra);
    set(&mut body, "stream", stream.then_some(true));
    Ok(body)
}

fn think(body: &mut Map<String, Value>, settings: &Settings) -> Result<(), UnsendableError> {
    match settings.effort {
        None => {}
        Some(Effort::None) => set(body, "thinking", Some(json!({ "type": "disabled" }))),
        Some(Effort::Minimal) => {
            return Err(UnsendableError::Setting { wire: WIRE, setting: "for the effort `minimal`" });
        }
        Some(effort) => overlay(body, &object("output_config", json!({ "effort": effort.as_str() }))),
    }
    Ok(())
}

fn object(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}

fn system(instructions: Option<&str>, more: Vec<Value>) -> Option<Value> {
    let instructions = instructions.filter(|text| !text.is_empty());
    if more.is_empty() {
        return instructions.map(Value::from);
    }
    let first = instructions.map(|text| json!({ "type": "text", "text": text }));
    Some(first.into_iter().chain(more).collect())
}

/// Turns so far. What follows from one side stands in one turn.
#[derive(Default)]
struct Turns {
    done: Vec<Value>,
    /// What the system says in the middle of a conversation; the format has one place for it, at the top.
    system: Vec<Value>,
    role: &'static str,
    /// Results of tools must open the turn that answers the calls, whatever else the user says in it.
    results: Vec<Value>,
    blocks: Vec<Value>,
}

impl Turns {
    fn of(items: &[Item]) -> Result<Self, UnsendableError> {
        let mut turns = Self::default();
        for item in items {
            turns.take(item)?;
        }
        turns.end();
        Ok(turns)
    }

    fn take(&mut self, item: &Item) -> Result<(), UnsendableError> {
        match item {
            Item::Message(message) => match message.role {
                Role::System | Role::Developer => self.system.extend(block::of(&message.parts)?),
                Role::User => {
                    self.speak("user");
                    self.blocks.extend(block::of(&message.parts)?);
                }
                Role::Assistant => {
                    self.speak("assistant");
                    self.blocks.extend(block::of(&message.parts)?);
                }
            },
            Item::FunctionCall(call) => {
                self.speak("assistant");
                self.blocks.push(block::call(call)?);
            }
            Item::FunctionOutput(output) => {
                self.speak("user");
                self.results.push(block::result(output)?);
            }
            Item::CustomCall(call) => return Err(UnsendableError::tool(WIRE, &call.name, "a call with free text")),
            Item::CustomOutput(_) => {
                return Err(UnsendableError::content(WIRE, "the output of a tool that takes free text"));
            }
            Item::Reasoning(_) | Item::Hosted(_) | Item::Other(_) => {
                if let Some(raw) = raw_for(WIRE, item)? {
                    self.speak("assistant");
                    self.blocks.push(raw.clone());
                }
            }
        }
        Ok(())
    }

    fn speak(&mut self, role: &'static str) {
        if self.role != role {
            self.end();
            self.role = role;
        }
    }

    fn end(&mut self) {
        let mut content = std::mem::take(&mut self.results);
        content.append(&mut self.blocks);
        if !content.is_empty() {
            self.done.push(json!({ "role": self.role, "content": content }));
        }
    }
}

#[cfg(test)]
mod tests;
