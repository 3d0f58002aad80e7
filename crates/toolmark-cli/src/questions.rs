//! Questions that a server asks while it works, put to whoever sits at the terminal. No answer is ever made up: what is not answered
//! is declined.

use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};
use toolmark_core::text::visible;
use toolmark_mcp::wire::RawObject;

/// What a client can do whose user sits at a terminal.
pub(crate) const CAPABILITIES: &str = r#"{"elicitation":{"form":{},"url":{}}}"#;

/// Asks everything that a result asks for; gives `inputResponses`.
pub(crate) fn answer(result: &RawObject, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<String> {
    let mut answers = Map::new();
    let questions = result.object("inputRequests").unwrap_or_else(RawObject::empty);
    for (key, question) in questions.iter() {
        let question: Value = serde_json::from_slice(question).unwrap_or_default();
        let asked = match question.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => ask(question.get("params").unwrap_or(&Value::Null), from, to)?,
            // We offered to answer nothing else.
            _ => json!({"action": "cancel"}),
        };
        answers.insert(key.into_owned(), asked);
    }
    Ok(Value::Object(answers).to_string())
}

fn ask(params: &Value, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<Value> {
    let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
    for line in text("message").lines() {
        writeln!(to, "? {}", visible(line, 500))?;
    }
    if text("mode") == "url" {
        writeln!(to, "  open {} and come back", visible(text("url"), 2000))?;
        let done = prompt("  done? [y/N] ", from, to)?;
        return Ok(json!({"action": if agrees(done.as_deref()) { "accept" } else { "decline" }}));
    }
    let fields = params.pointer("/requestedSchema/properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = params.pointer("/requestedSchema/required").and_then(Value::as_array).cloned().unwrap_or_default();
    if fields.is_empty() {
        let said = prompt("  agree? [y/N] ", from, to)?;
        return Ok(match agrees(said.as_deref()) {
            true => json!({"action": "accept", "content": {}}),
            false => json!({"action": "decline"}),
        });
    }
    let mut content = Map::new();
    for (name, schema) in &fields {
        let needed = required.iter().any(|other| other == name);
        loop {
            let Some(said) = prompt(&label(name, schema, needed), from, to)? else {
                return Ok(json!({"action": "decline"}));
            };
            match value(schema, said.trim()) {
                Some(Value::Null) if needed => writeln!(to, "  this is needed; end the input to decline")?,
                Some(Value::Null) => break,
                Some(value) => {
                    content.insert(name.clone(), value);
                    break;
                }
                None => writeln!(to, "  that is not what is asked for")?,
            }
        }
    }
    Ok(json!({"action": "accept", "content": content}))
}

/// What stands before an answer: the name, what may be said, and what an empty line means.
fn label(name: &str, schema: &Value, needed: bool) -> String {
    let title = schema.get("title").and_then(Value::as_str).unwrap_or(name);
    let choices: Vec<String> = choices(schema).iter().map(|choice| visible(choice, 60)).collect();
    let may = match schema.get("type").and_then(Value::as_str) {
        _ if !choices.is_empty() => choices.join(" | "),
        Some("boolean") => "y | n".to_owned(),
        Some(kind) => visible(kind, 20),
        None => "text".to_owned(),
    };
    let default = match schema.get("default") {
        Some(Value::String(text)) => format!(" [{}]", visible(text, 60)),
        Some(other) => format!(" [{}]", visible(&other.to_string(), 60)),
        None if needed => String::new(),
        None => " [leave out]".to_owned(),
    };
    format!("  {} ({may}){default}: ", visible(title, 80))
}

/// The values that a schema allows by name.
fn choices(schema: &Value) -> Vec<String> {
    let own =
        if schema.get("type").and_then(Value::as_str) == Some("array") { schema.get("items") } else { Some(schema) };
    let named =
        |key: &str| own.and_then(|own| own.get(key)).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let titled = ["oneOf", "anyOf"].into_iter().flat_map(named).filter_map(|one| one.get("const"));
    named("enum").iter().chain(titled).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What somebody typed, as the schema wants it: `null` for nothing, none for what does not fit.
fn value(schema: &Value, said: &str) -> Option<Value> {
    if said.is_empty() {
        return Some(schema.get("default").cloned().unwrap_or_default());
    }
    let choices = choices(schema);
    let known = |text: &str| choices.is_empty() || choices.iter().any(|choice| choice == text);
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => match said.to_lowercase().as_str() {
            "y" | "yes" | "true" => Some(true.into()),
            "n" | "no" | "false" => Some(false.into()),
            _ => None,
        },
        Some("integer") => said.parse::<i64>().ok().map(Value::from),
        Some("number") => said.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from),
        Some("array") => {
            let parts: Vec<&str> = said.split(',').map(str::trim).collect();
            parts.iter().all(|part| known(part)).then(|| parts.into())
        }
        _ => known(said).then(|| said.into()),
    }
}

/// One line; none at the end of the input.
fn prompt(label: &str, from: &mut impl BufRead, to: &mut impl Write) -> io::Result<Option<String>> {
    write!(to, "{label}")?;
    to.flush()?;
    let mut line = String::new();
    Ok((from.read_line(&mut line)? > 0).then_some(line))
}

fn agrees(said: Option<&str>) -> bool {
    said.is_some_and(|said| matches!(said.trim().to_lowercase().as_str(), "y" | "yes"))
}

#[cfg(test)]
mod tests;
