//! How each client writes the one server that is left.

use serde_json::{Map, Value, json};

use super::{OURSELVES, Reach, WrapError};
use crate::clients::Client;
use crate::render::quoted;

/// The entry as JSON: what stands behind the key `toolmark`.
pub(super) fn as_json(client: Client, reach: &Reach) -> Result<Value, WrapError> {
    let mut entry = Map::new();
    match reach {
        Reach::Command { command, args } => {
            if client.says_type() {
                entry.insert("type".into(), "stdio".into());
            }
            entry.insert("command".into(), command.as_str().into());
            entry.insert("args".into(), args.as_slice().into());
        }
        Reach::Url(url) => {
            let key = client.url_key().ok_or(WrapError::NoAddresses { client })?;
            if client.says_type() {
                entry.insert("type".into(), "http".into());
            }
            entry.insert(key.into(), url.as_str().into());
        }
    }
    Ok(Value::Object(entry))
}

/// The inside of a table of servers: the entry, with every line but the first put under `indent`, which is that of the table's key.
pub(super) fn inside(
    client: Client,
    reach: &Reach,
    indent: &str,
    unit: &str,
    newline: &str,
) -> Result<String, WrapError> {
    let mut out = String::new();
    let entry = json!({ OURSELVES: as_json(client, reach)? });
    pretty(&entry, indent, unit, newline, &mut out);
    // Without the braces of the table, which stay where they are.
    Ok(out.get(1..out.len().saturating_sub(1)).unwrap_or_default().to_owned())
}

/// JSON as most programs write it: every value of a table or list on a line of its own.
pub(super) fn pretty(value: &Value, indent: &str, unit: &str, newline: &str, out: &mut String) {
    let deeper = format!("{indent}{unit}");
    let mut lines = |open: char, close: char, items: &mut dyn Iterator<Item = (Option<&String>, &Value)>| {
        out.push(open);
        let mut some = false;
        for (key, item) in items {
            out.push_str(if some { "," } else { "" });
            some = true;
            out.push_str(newline);
            out.push_str(&deeper);
            if let Some(key) = key {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
            }
            pretty(item, &deeper, unit, newline, out);
        }
        if some {
            out.push_str(newline);
            out.push_str(indent);
        }
        out.push(close);
    };
    match value {
        Value::Object(object) => lines('{', '}', &mut object.iter().map(|(key, value)| (Some(key), value))),
        Value::Array(items) => lines('[', ']', &mut items.iter().map(|value| (None, value))),
        other => out.push_str(&other.to_string()),
    }
}

/// The keys of the entry as TOML.
pub(super) fn as_toml(reach: &Reach) -> Vec<String> {
    match reach {
        Reach::Command { command, args } => {
            let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
            vec![format!("command = {}", quoted(command)), format!("args = [{}]", args.join(", "))]
        }
        Reach::Url(url) => vec![format!("url = {}", quoted(url))],
    }
}
