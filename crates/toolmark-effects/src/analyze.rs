//! The arguments of a call → facts: each argument that carries something is read in its language, the rest costs nothing.

use serde_json::{Map, Value};
use toolmark_core::facts::{Facts, Part, Reading};
use toolmark_core::tool::Tool;

use crate::carriers::{Carrier, Carriers, With};
use crate::dispatch::{self, cannot_tell};
use crate::http::{self, Request};
use crate::kubernetes;
use crate::language::Language;
use crate::options;
use crate::settings::Settings;
use crate::shell;

/// Finds what the arguments of a call would do.
#[must_use]
pub fn analyze(tool: &Tool, arguments: &Value, settings: &Settings) -> Facts {
    analyze_with(&Carriers::of(tool), arguments, settings)
}

/// As [`analyze`], with carriers that were found before.
#[must_use]
pub fn analyze_with(carriers: &Carriers, arguments: &Value, settings: &Settings) -> Facts {
    let mut parts = Vec::new();
    for carrier in carriers.list() {
        match settings.languages.get(&carrier.pointer) {
            Some(_) => {}
            None => read(carrier, arguments, settings, &mut parts),
        }
    }
    for (pointer, language) in &settings.languages {
        if let Some(language) = language {
            let carrier =
                Carrier { pointer: pointer.clone(), language: *language, evidence: String::new(), with: With::Nothing };
            read(&carrier, arguments, settings, &mut parts);
        }
    }
    if let Some(manner) = carriers.manner() {
        options::read(manner, arguments, settings, &mut parts);
    }
    Facts::new(parts)
}

fn read(carrier: &Carrier, arguments: &Value, settings: &Settings, parts: &mut Vec<Part>) {
    let mut push = |pointer: String, readings: Vec<Reading>| {
        let language = carrier.language.as_str();
        parts.extend(readings.into_iter().map(|reading| Part { pointer: pointer.clone(), language, reading }));
    };
    let mut places = Vec::new();
    let whole = select(arguments, &carrier.pointer, settings.limits.items, &mut places);
    for (pointer, value) in places {
        let readings = if too_long(value, settings) {
            cannot_tell("it is too long to be read")
        } else {
            one(carrier, value, arguments, settings)
        };
        push(pointer, readings);
    }
    if !whole {
        push(carrier.pointer.clone(), cannot_tell("there are more items than are read"));
    }
}

fn too_long(value: &Value, settings: &Settings) -> bool {
    value.as_str().is_some_and(|text| text.len() > settings.limits.bytes)
}

/// Reads one value.
fn one(carrier: &Carrier, value: &Value, arguments: &Value, settings: &Settings) -> Vec<Reading> {
    let none = Map::new();
    let all = arguments.as_object().unwrap_or(&none);
    let roots = &settings.roots;
    match (carrier.language, &carrier.with) {
        (_, _) if value.is_null() => Vec::new(),
        (Language::Http, With::Request { method, fixed, headers, body, parameters, relative, rows }) => {
            let get =
                |name: &Option<String>| name.as_ref().and_then(|name| all.get(name)).filter(|value| !value.is_null());
            let Some(address) = value.as_str() else { return cannot_tell("the address is no text") };
            let method = get(method);
            if method.is_some_and(|method| !method.is_string()) {
                return cannot_tell("the method is no text");
            }
            let request = Request {
                method: method.and_then(Value::as_str).or(*fixed),
                address,
                relative: *relative,
                rows: *rows,
                headers: get(headers),
                body: get(body),
                parameters: get(parameters),
            };
            dispatch::resolved(http::find(&request), roots)
        }
        (Language::MongoOperation, With::Name(name)) => dispatch::mongo(carrier.language, name, value),
        (Language::MongoPipeline | Language::MongoCommand | Language::MongoOperation, _) if !value.is_string() => {
            dispatch::mongo(carrier.language, "", value)
        }
        (Language::Kubernetes, With::Name(name)) => dispatch::resolved(kubernetes::operation(name, value), roots),
        (Language::Redis, With::Name(shape)) => redis(shape, all, settings),
        (Language::Argv | Language::Shell | Language::Kubernetes | Language::Redis, with) => {
            command(carrier.language, with, value, all, settings)
        }
        (Language::GraphQl, With::Operation(operation)) => match value.as_str() {
            Some(text) => {
                dispatch::graphql(text, operation.as_ref().and_then(|name| all.get(name)).and_then(Value::as_str))
            }
            None => cannot_tell("it is no text"),
        },
        (language, With::Before(before)) => match value.as_str() {
            Some(text) => dispatch::text(language, &format!("{before}{text}"), roots),
            None => cannot_tell("it is no text"),
        },
        (language, _) => match value.as_str() {
            Some(text) => dispatch::text(language, text, roots),
            None => cannot_tell("it is no text"),
        },
    }
}

/// Reads a command that is a text, a list of words, or a text with a list beside it.
fn command(
    language: Language,
    with: &With,
    value: &Value,
    all: &Map<String, Value>,
    settings: &Settings,
) -> Vec<Reading> {
    let beside = match with {
        With::Arguments(name) => all.get(name).filter(|value| !value.is_null()),
        _ => None,
    };
    let mut words: Vec<&str> = Vec::new();
    let mut plain = true;
    match value {
        Value::String(text) => words.push(text),
        Value::Array(items) => plain = add_words(items, settings, &mut words),
        _ => plain = false,
    }
    let middle = if language == Language::Kubernetes { kubernetes::middle(all) } else { Vec::new() };
    if value.as_str().is_some_and(|verb| !verb.trim().contains(' ')) {
        words.extend(middle.iter().map(String::as_str));
    }
    match beside {
        Some(Value::Array(items)) => plain &= add_words(items, settings, &mut words),
        Some(Value::String(text)) => words.extend(text.split_whitespace().take(settings.limits.items)),
        Some(_) => plain = false,
        None => {}
    }
    if !plain {
        return cannot_tell("it is neither a text nor a list of texts");
    }
    let single = value.is_string() && words.len() == 1;
    let roots = &settings.roots;
    match (language, words.as_slice()) {
        (_, [text]) if single => {
            dispatch::text(if language == Language::Argv { Language::Shell } else { language }, text, roots)
        }
        (Language::Kubernetes, words) => dispatch::resolved(kubernetes::words(words), roots),
        (Language::Redis, words) => dispatch::text(Language::Redis, &line(words), roots),
        // A program with blanks in its name is a command line that goes on in the list.
        (_, [first, rest @ ..]) if value.is_string() && first.contains([' ', ';', '|', '&', '$', '`']) => {
            let mut text = (*first).to_owned();
            for word in rest {
                text.push_str(&format!(" '{}'", word.replace('\'', "'\\''")));
            }
            dispatch::text(Language::Shell, &text, roots)
        }
        (_, words) => dispatch::resolved(shell::find_argv(words), roots),
    }
}

fn add_words<'v>(items: &'v [Value], settings: &Settings, words: &mut Vec<&'v str>) -> bool {
    if items.len() > settings.limits.items {
        return false;
    }
    items.iter().all(|item| match item.as_str() {
        Some(text) => {
            words.push(text);
            true
        }
        None => false,
    })
}

/// Puts a Redis command together from arguments of its own.
fn redis(shape: &str, all: &Map<String, Value>, settings: &Settings) -> Vec<Reading> {
    let mut words = shape.split(' ');
    let mut parts: Vec<String> = words.next().map(str::to_owned).into_iter().collect();
    for name in words {
        match all.get(name) {
            Some(Value::String(text)) if text.len() <= settings.limits.bytes => parts.push(text.clone()),
            Some(Value::Number(number)) => parts.push(number.to_string()),
            Some(Value::Array(items)) => {
                parts.extend(items.iter().take(settings.limits.items).filter_map(Value::as_str).map(str::to_owned));
            }
            // A value of any other shape is data, and data changes nothing about what the command does.
            Some(_) => parts.push("value".into()),
            None => {}
        }
    }
    let words: Vec<&str> = parts.iter().map(String::as_str).collect();
    dispatch::text(Language::Redis, &line(&words), &settings.roots)
}

fn line(words: &[&str]) -> String {
    let quoted = |word: &&str| {
        if word.is_empty() || word.contains(|c: char| c.is_whitespace() || c == '"' || c == '\'') {
            format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
        } else {
            (*word).to_owned()
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The values that a pointer with stars selects, with their own pointers. False when there were more than are read.
fn select<'v>(value: &'v Value, pointer: &str, items: usize, out: &mut Vec<(String, &'v Value)>) -> bool {
    let mut level = vec![(String::new(), value)];
    let mut whole = true;
    for step in pointer.split('/').skip(1) {
        let mut next = Vec::new();
        for (at, value) in level {
            match (step, value) {
                ("*", Value::Array(list)) => {
                    whole &= list.len() <= items;
                    next.extend(
                        list.iter().take(items).enumerate().map(|(index, item)| (format!("{at}/{index}"), item)),
                    );
                }
                // One text where a list was expected is still read.
                ("*", Value::String(_)) => next.push((at, value)),
                (_, Value::Object(fields)) => {
                    let name = step.replace("~1", "/").replace("~0", "~");
                    next.extend(fields.get(&name).map(|field| (format!("{at}/{step}"), field)));
                }
                (_, Value::Array(list)) => {
                    let item = step.parse::<usize>().ok().and_then(|index| list.get(index));
                    next.extend(item.map(|item| (format!("{at}/{step}"), item)));
                }
                _ => {}
            }
            if next.len() > items {
                whole = false;
                next.truncate(items);
            }
        }
        level = next;
    }
    out.append(&mut level);
    whole
}

#[cfg(test)]
mod tests;
