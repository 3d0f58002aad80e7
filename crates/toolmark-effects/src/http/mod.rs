//! HTTP requests and addresses → effects. The method says what a request does; the address says whether it may go there.

mod address;
mod host;
mod rest;

use std::borrow::Cow;

use serde_json::Value;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect, Reading};
use toolmark_core::text::visible;

use crate::language::{Dialect, Language};
use crate::shell::Found;
use address::Address;

/// A request as a tool is told to make it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'r> {
    /// The method; `GET` when there is none.
    pub method: Option<&'r str>,
    /// The whole address, or the part that the tool adds to a base of its own.
    pub address: &'r str,
    /// True when the tool has a base: then the address must not name another host.
    pub relative: bool,
    /// True when a path without a filter means every row, as in PostgREST.
    pub rows: bool,
    /// The headers, as an object, a list or a text.
    pub headers: Option<&'r Value>,
    /// The body, as a value or a text.
    pub body: Option<&'r Value>,
    /// Parameters that are not part of the address.
    pub parameters: Option<&'r Value>,
}

/// The longest address that is read.
const MAX_ADDRESS: usize = 16 * 1024;
/// The longest body that is looked into.
const MAX_BODY: usize = 256 * 1024;

/// Reads an address that is fetched.
#[must_use]
pub fn read_url(url: &str) -> Reading {
    if url.len() > MAX_ADDRESS {
        return Reading::CannotTell { reason: "the address is longer than any server takes".into() };
    }
    let effect = Effect::pure(Action::Read, format!("GET {}", visible(url, 120))).on([visible(url, 120)]);
    Reading::Understood(vec![with_dangers(effect, url)])
}

/// Reads a request.
#[must_use]
pub fn read(request: &Request<'_>) -> Vec<Reading> {
    find(request).into_readings()
}

/// The same effect with the dangers of an address.
pub(crate) fn with_dangers(effect: Effect, url: &str) -> Effect {
    if url.len() > MAX_ADDRESS {
        return effect.with(Danger::Escape);
    }
    Address::parse(url).dangers().into_iter().fold(effect, Effect::with)
}

/// As [`read`]; programs in other languages inside the body are left to the caller.
pub(crate) fn find(request: &Request<'_>) -> Found {
    let mut found = Found::default();
    if request.address.len() > MAX_ADDRESS {
        found.unclear("the address is longer than any server takes");
        return found;
    }
    let given = request.method.unwrap_or("GET").trim().to_ascii_uppercase();
    let method = overridden(request).unwrap_or(given);
    let body = match request.body {
        Some(Value::String(text)) if text.len() > MAX_BODY => {
            found.unclear("the body is too long to be looked into");
            None
        }
        Some(Value::String(text)) => {
            let parsed = serde_json::from_str(text).ok();
            Some(parsed.map_or_else(|| Cow::Owned(Value::String(text.clone())), Cow::Owned))
        }
        other => other.map(Cow::Borrowed),
    };
    let mut address = Address::parse(request.address);
    address.add_parameters(request.parameters);
    let line = format!("{} {}", visible(&method, 12), visible(request.address, 100));
    let Some(mut effect) = rest::effect(&method, &address, request, body.as_deref(), line) else {
        found.unclear(format!("`{}` is no method that is known", visible(&method, 20)));
        return found;
    };
    effect = effect.on([visible(request.address, 100)]);
    if request.relative && address.names_host() {
        effect = effect.with(Danger::Escape);
    }
    let dangers = if request.relative { address.path_dangers() } else { address.dangers() };
    effect = dangers.into_iter().fold(effect, Effect::with);
    if let Some(body) = &body {
        programs(&address, body, &mut found);
    }
    found.effect(effect);
    found
}

/// The method that a header, a parameter or the body puts in place of the one on the line.
fn overridden(request: &Request<'_>) -> Option<String> {
    let is_override = |name: &str| {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        matches!(name.as_str(), "xhttpmethodoverride" | "xhttpmethod" | "xmethodoverride")
    };
    let text = |value: &Value| value.as_str().map(|text| text.trim().to_ascii_uppercase());
    let header = match request.headers {
        Some(Value::Object(headers)) => {
            headers.iter().take(256).find(|(name, _)| is_override(name)).and_then(|(_, value)| text(value))
        }
        Some(Value::Array(headers)) => headers.iter().take(256).find_map(|header| match header {
            Value::String(line) => line
                .split_once(':')
                .filter(|(name, _)| is_override(name))
                .map(|(_, value)| value.trim().to_ascii_uppercase()),
            Value::Object(pair) => {
                let name = ["name", "key", "header"].iter().find_map(|key| pair.get(*key)).and_then(Value::as_str)?;
                is_override(name).then(|| pair.get("value").and_then(text)).flatten()
            }
            _ => None,
        }),
        Some(Value::String(lines)) if lines.len() <= MAX_ADDRESS => {
            let line = |line: &str| {
                let (name, value) = line.split_once(':')?;
                is_override(name).then(|| value.trim().trim_matches(['"', '}', ',']).trim().to_ascii_uppercase())
            };
            lines.split(['\n', ',']).find_map(line)
        }
        _ => None,
    };
    let parameter = || {
        let (_, query) = request.address.split_once('?')?;
        query.split('&').find_map(|pair| pair.strip_prefix("_method=")).map(str::to_ascii_uppercase)
    };
    header.or_else(parameter)
}

/// Notes the programs that a body carries to a server that runs them.
fn programs(address: &Address, body: &Value, found: &mut Found) {
    let last = address.path.rsplit('/').next().unwrap_or_default();
    if last == "graphql" {
        match body.get("query").and_then(Value::as_str) {
            Some(query) => found.embedded(Language::GraphQl, query),
            None => found.unclear("a GraphQL request has no query that is seen"),
        }
    }
    let mut left = 64;
    statements(body, &mut left, found);
}

/// Statements of SQL, where the name of a field says that it holds one.
fn statements(value: &Value, left: &mut u32, found: &mut Found) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter().take(256) {
                match field {
                    Value::String(text)
                        if matches!(name.as_str(), "rawSql" | "sql" | "rawSQL" | "statement" | "stmt") =>
                    {
                        found.embedded(Language::Sql(Dialect::Generic), text.clone());
                    }
                    Value::Object(_) | Value::Array(_) => statements(field, left, found),
                    _ => {}
                }
            }
        }
        Value::Array(items) => items.iter().take(256).for_each(|item| statements(item, left, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
