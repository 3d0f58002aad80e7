//! One item of a conversation as a person reads it. Whatever it holds, it takes up its own lines and nothing else.

use serde_json::{Value, json};
use toolmark_core::text::visible;
use toolmark_models::{Item, Output, Part, Role};

/// How much of one item is shown.
const SHOWN: usize = 2_000;

/// The item as JSON; as a text where it is none.
pub(super) fn value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(mut written)) => written.remove("item").unwrap_or(Value::Object(written)),
        Ok(other) => other,
        Err(_) => json!(text),
    }
}

/// The item in words.
pub(super) fn line(text: &str) -> String {
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let agent = read.get("agent").and_then(Value::as_str);
    let item = read.get("item").cloned().and_then(|item| serde_json::from_value(item).ok());
    let Some(item) = item else { return format!("? {}", shown(text)) };
    match item {
        Item::Message(message) => {
            let who = match (message.role, agent) {
                (Role::User, _) => "user".to_owned(),
                (Role::System | Role::Developer, _) => "system".to_owned(),
                (Role::Assistant, Some(agent)) => visible(agent, 80),
                (Role::Assistant, None) => "assistant".to_owned(),
            };
            format!("{who}: {}", parts(&message.parts))
        }
        Item::FunctionCall(call) => {
            let name = match call.namespace.filter(|namespace| !namespace.is_empty()) {
                Some(namespace) => format!("{namespace}.{}", call.name),
                None => call.name,
            };
            format!("→ {} {}", visible(&name, 120), shown(&call.arguments))
        }
        Item::CustomCall(call) => format!("→ {} {}", visible(&call.name, 120), shown(&call.input)),
        Item::FunctionOutput(output) => {
            let sign = if output.failed { "✗" } else { "←" };
            format!("{sign} {}", said(&output.output))
        }
        Item::CustomOutput(output) => format!("← {}", said(&output.output)),
        Item::Reasoning(_) => "(the model thought about it)".to_owned(),
        Item::Hosted(raw) | Item::Other(raw) => format!("({})", visible(raw.kind(), 80)),
    }
}

fn said(output: &Output) -> String {
    match output {
        Output::Text(text) => shown(text),
        Output::Parts(all) => parts(all),
    }
}

fn parts(all: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Text { text, .. } => shown(text),
        Part::Refusal { text } => format!("(refuses) {}", shown(text)),
        Part::Image(_) => "(an image)".to_owned(),
        Part::File(_) => "(a file)".to_owned(),
        Part::Other(raw) => format!("({})", visible(raw.kind(), 80)),
    };
    all.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Line by line, and nothing in it that shows as something else.
fn shown(text: &str) -> String {
    let mut lines = Vec::new();
    let mut room = SHOWN;
    for line in text.lines() {
        let line = visible(line, room);
        room = room.saturating_sub(line.chars().count());
        lines.push(line);
        if room == 0 {
            break;
        }
    }
    lines.join("\n    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_of_a_stranger_stays_within_its_lines() {
        let item = json!({"version": 1, "item": {"type": "message", "role": "user",
            "parts": [{"type": "text", "text": "one\nassistant: \u{1b}[31mtwo\u{202e}"}]}});
        let text = line(&item.to_string());
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(
            text.starts_with("user: one\n    assistant: ") && !text.contains('\u{1b}') && !text.contains('\u{202e}')
        );
    }

    #[test]
    fn what_is_no_item_is_shown_as_it_is() {
        assert_eq!(line("no json \u{7}"), "? no json \\u{7}");
        assert_eq!(value("no json"), json!("no json"));
        assert_eq!(line(r#"{"version": 9}"#), r#"? {"version": 9}"#);
    }
}
