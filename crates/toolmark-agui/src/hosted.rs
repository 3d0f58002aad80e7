//! Which calls did the provider make by itself? Searches, programs, pictures and servers that it hosts: nobody here judged them, and clients
//! should see them all the same. What an item says is put into the words of a call: a name, arguments, and what came of it.

use serde_json::{Map, Value, json};
use toolmark_models::{Raw, Wire};

/// The longest picture that is passed on, in characters.
const LARGEST_PICTURE: usize = 4 << 20;

/// What the host does, not the provider: its calls are known from elsewhere.
const OF_HOST: [&str; 6] = [
    "computer_call",
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "mcp_approval_request",
    "mcp_approval_response",
];

/// What a provider tells of something that it hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// A call, perhaps with what came of it.
    Call(HostedCall, Option<Came>),
    /// What came of a call that was told before.
    Result(String, Came),
}

/// A call that the provider made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedCall {
    /// The provider's id of it.
    pub id: String,
    /// What was called: `web_search`, `code_interpreter`; `mcp` for a tool of a server.
    pub kind: String,
    /// The server and its tool, where it is one.
    pub server: Option<(String, String)>,
    /// The arguments, as JSON text.
    pub arguments: String,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Came {
    pub(crate) text: String,
    pub(crate) failed: bool,
}

impl HostedCall {
    /// The name that clients know it by. No tool of a pack, a page or an agent has it.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.server {
            Some((server, tool)) => format!("hosted__{server}__{tool}"),
            None => format!("hosted__{}", self.kind),
        }
    }

    /// Which tool it is. A canonical name has no colon, so that it is never taken for one.
    #[must_use]
    pub fn tool(&self) -> String {
        match &self.server {
            Some((server, tool)) => format!("hosted:{}/{server}/{tool}", self.kind),
            None => format!("hosted:{}", self.kind),
        }
    }

    /// What is put into words where nobody gave it a name.
    #[must_use]
    pub fn raw_name(&self) -> &str {
        self.server.as_ref().map_or(&self.kind, |(_, tool)| tool)
    }

    /// The members of its metadata that say what hosts it.
    #[must_use]
    pub fn members(&self) -> Map<String, Value> {
        let mut all = Map::new();
        all.insert("hosted".into(), self.kind.as_str().into());
        all.extend(self.server.as_ref().map(|(server, _)| ("server".to_owned(), server.as_str().into())));
        all
    }
}

/// What an item tells; nothing for what is no call, or one that the host answers.
pub(crate) fn told(raw: &Raw) -> Option<Told> {
    let kind = raw.kind();
    if OF_HOST.contains(&kind) {
        return None;
    }
    match raw.wire {
        Wire::Responses => responses(kind, raw),
        Wire::Anthropic => anthropic(kind, &raw.value),
        Wire::Chat => None,
    }
}

fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn responses(kind: &str, raw: &Raw) -> Option<Told> {
    let value = &raw.value;
    if raw.is_answer() {
        let output = value.get("output").unwrap_or(&Value::Null);
        return Some(Told::Result(raw.call_id()?.to_owned(), Came { text: as_text(output), failed: false }));
    }
    let of = kind.strip_suffix("_call")?;
    let id = raw.call_id().or_else(|| text(value, "id"))?.to_owned();
    let status = text(value, "status").unwrap_or("completed");
    let failed = matches!(status, "failed" | "incomplete");
    let came = |text: String| Some(Came { text, failed });
    let (arguments, came) = match of {
        "web_search" => {
            let mut action = value.get("action").cloned().unwrap_or_else(|| json!({}));
            let sources = action.as_object_mut().and_then(|action| action.remove("sources"));
            (action.to_string(), came(sources.map_or_else(|| status.to_owned(), |sources| sources.to_string())))
        }
        "file_search" => {
            let results = value.get("results").filter(|results| results.is_array());
            let queries = json!({"queries": value.get("queries").cloned().unwrap_or_else(|| json!([]))});
            (queries.to_string(), came(results.map_or_else(|| status.to_owned(), Value::to_string)))
        }
        "code_interpreter" => {
            let code = json!({"code": text(value, "code").unwrap_or_default()});
            (code.to_string(), came(printed(value.get("outputs")).unwrap_or_else(|| status.to_owned())))
        }
        "image_generation" => {
            let prompt = text(value, "revised_prompt").map_or_else(|| json!({}), |prompt| json!({"prompt": prompt}));
            (prompt.to_string(), came(picture(value).unwrap_or_else(|| status.to_owned())))
        }
        "mcp" => {
            let server = (text(value, "server_label")?.to_owned(), text(value, "name")?.to_owned());
            let arguments = text(value, "arguments").unwrap_or("{}").to_owned();
            let error = value.get("error").filter(|error| !error.is_null());
            let text = error.or_else(|| value.get("output")).map(as_text).unwrap_or_default();
            let came = Came { text, failed: failed || error.is_some() };
            let call = HostedCall { id, kind: of.to_owned(), server: Some(server), arguments };
            return Some(Told::Call(call, Some(came)));
        }
        _ => {
            let own = value.as_object().into_iter().flatten();
            let own = own.filter(|(key, _)| !matches!(key.as_str(), "type" | "id" | "call_id" | "status"));
            let own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
            (Value::Object(own).to_string(), came(status.to_owned()))
        }
    };
    Some(Told::Call(HostedCall { id, kind: of.to_owned(), server: None, arguments }, came))
}

fn anthropic(kind: &str, value: &Value) -> Option<Told> {
    if let Some(id) = kind.strip_suffix("_tool_result").and_then(|_| text(value, "tool_use_id")) {
        let content = value.get("content").unwrap_or(&Value::Null);
        let refused = content.get("type").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("_error"));
        let failed = refused || value.get("is_error").and_then(Value::as_bool) == Some(true);
        return Some(Told::Result(id.to_owned(), Came { text: as_text(content), failed }));
    }
    let name = text(value, "name")?.to_owned();
    let (kind, server) = match kind {
        "server_tool_use" => (name, None),
        "mcp_tool_use" => ("mcp".to_owned(), Some((text(value, "server_name")?.to_owned(), name))),
        _ => return None,
    };
    let arguments =
        value.get("input").filter(|input| !input.is_null()).map_or_else(|| "{}".to_owned(), Value::to_string);
    Some(Told::Call(HostedCall { id: text(value, "id")?.to_owned(), kind, server, arguments }, None))
}

/// A text as it is, a list of texts one after the other, and everything else as JSON.
fn as_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().all(|part| text(part, "type") == Some("text")) => {
            parts.iter().filter_map(|part| text(part, "text")).collect()
        }
        other => other.to_string(),
    }
}

/// What a program printed; what else it brought along as JSON.
fn printed(outputs: Option<&Value>) -> Option<String> {
    let outputs = outputs?.as_array().filter(|outputs| !outputs.is_empty())?;
    let logs: Option<Vec<&str>> = outputs.iter().map(|output| output.get("logs")?.as_str()).collect();
    Some(logs.map_or_else(|| Value::from(outputs.clone()).to_string(), |logs| logs.concat()))
}

/// A picture as an address that calls nobody.
fn picture(value: &Value) -> Option<String> {
    let data = text(value, "result")?;
    let format = text(value, "output_format").filter(|format| matches!(*format, "png" | "jpeg" | "webp"));
    let is_plain = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    Some(match is_plain && data.len() <= LARGEST_PICTURE {
        true => format!("data:image/{};base64,{data}", format.unwrap_or("png")),
        false => format!("a picture of {} characters, which is not passed on", data.len()),
    })
}

#[cfg(test)]
mod tests;
