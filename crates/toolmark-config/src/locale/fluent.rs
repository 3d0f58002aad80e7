//! Names in Project Fluent. Only plain text is taken: no variables, choices or references.

use fluent_syntax::ast::{Attribute, Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;
use toolmark_core::display::Kind;
use toolmark_core::text::visible;

use super::{Offered, Reader, Refused, Subject};

/// What comes before the name of an agent.
const AGENT: &str = "agent--";

/// Brackets inside of brackets: more of them are no name.
const DEEPEST: usize = 8;

/// A canonical name as Fluent can write it: the first dot becomes `--`, and what is neither letter, digit, `_` nor `-` becomes `_uHEX_`.
#[must_use]
pub fn message_id(canonical: &str) -> String {
    match canonical.split_once('.') {
        // What begins with `agent--` is an agent, and what begins with `prompt--` a prompt.
        Some((pack @ ("agent" | "prompt" | "resource" | "template"), raw)) => {
            format!("u_{pack}--{}", encoded(raw, false))
        }
        Some((pack, raw)) => format!("{}--{}", encoded(pack, true), encoded(raw, false)),
        None => encoded(canonical, true),
    }
}

/// An agent's name as Fluent can write it.
pub(super) fn agent_id(name: &str) -> String {
    format!("{AGENT}{}", encoded(name, false))
}

/// A prompt, a resource or a template of a pack as Fluent can write it.
#[must_use]
pub fn offer_id(kind: Offered, pack: &str, key: &str) -> String {
    format!("{}--{}--{}", kind.as_str(), encoded(pack, false), encoded(key, false))
}

/// The message of something that is written as a pack, a dot and what the pack calls it.
pub(super) fn offer_message(kind: Offered, name: &str) -> String {
    let (pack, key) = name.split_once('.').unwrap_or((name, ""));
    offer_id(kind, pack, key)
}

/// True for the message of a prompt, a resource or a template.
fn is_offer(id: &str) -> bool {
    Offered::ALL.iter().any(|kind| id.strip_prefix(kind.as_str()).is_some_and(|rest| rest.starts_with("--")))
}

fn encoded(name: &str, first: bool) -> String {
    let mut out = String::new();
    if first && !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.push_str("u_");
    }
    for character in name.chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => out.push(character),
            other => out.push_str(&format!("_u{:x}_", u32::from(other))),
        }
    }
    out
}

/// An agent's name as it was before it was written in Fluent.
fn decoded(id: &str) -> String {
    let mut out = String::new();
    let mut rest = id;
    while let Some(at) = rest.find("_u") {
        let (before, coded) = rest.split_at(at);
        let end = coded.get(2..).and_then(|hex| hex.find('_'));
        let hex = end.and_then(|end| coded.get(2..2 + end));
        let character = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32);
        match (character, end) {
            (Some(character), Some(end)) => {
                out.push_str(before);
                out.push(character);
                rest = coded.get(end + 3..).unwrap_or_default();
            }
            _ => {
                out.push_str(before);
                out.push_str("_u");
                rest = coded.get(2..).unwrap_or_default();
            }
        }
    }
    out + rest
}

pub(super) fn read(text: &str, reader: &mut Reader) {
    if let Some(at) = too_deep(text) {
        reader.refuse(at, &Refused::Syntax("brackets stand too deep in one another".into()));
        return;
    }
    let resource = match parser::parse(text) {
        Ok(resource) => resource,
        Err((_, errors)) => {
            for error in errors {
                reader.refuse(error.pos.start, &Refused::Syntax(lower(&error.kind.to_string())));
            }
            return;
        }
    };
    for entry in &resource.body {
        match entry {
            Entry::Message(message) => {
                let (at, id) = (offset(text, message.id.name), message.id.name);
                let agent = id.strip_prefix(AGENT).map(decoded);
                let subject = agent.clone().map_or_else(|| Subject::Message(id.to_owned()), Subject::Agent);
                if let Some(value) = &message.value {
                    take(reader, at, id, subject.clone(), Kind::Name, value);
                }
                for attribute in &message.attributes {
                    let at = offset(text, attribute.id.name);
                    let name = format!("{id}.{}", attribute.id.name);
                    match (attribute.id.name, &agent) {
                        _ if is_offer(id) => reader.refuse(at, &Refused::Unknown(visible(&name, 120))),
                        ("spoken", _) => take(reader, at, &name, subject.clone(), Kind::Spoken, &attribute.value),
                        ("category", None) => {
                            take(reader, at, &name, subject.clone(), Kind::Category, &attribute.value);
                        }
                        ("handoff", Some(agent)) => {
                            take(reader, at, &name, Subject::Handoff(agent.clone()), Kind::Name, &attribute.value);
                        }
                        _ => reader.refuse(at, &Refused::Unknown(visible(&name, 120))),
                    }
                }
            }
            Entry::Term(term) => {
                let (at, id) = (offset(text, term.id.name), format!("-{}", term.id.name));
                take(reader, at, &id, Subject::Pack(term.id.name.to_owned()), Kind::Name, &term.value);
                for Attribute { id: own, .. } in &term.attributes {
                    reader
                        .refuse(offset(text, own.name), &Refused::Unknown(visible(&format!("{id}.{}", own.name), 120)));
                }
            }
            Entry::Junk { content } => {
                reader.refuse(offset(text, content), &Refused::Syntax("this is no message".into()));
            }
            Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
        }
    }
}

fn take(reader: &mut Reader, at: usize, key: &str, of: Subject, kind: Kind, pattern: &Pattern<&str>) {
    match plain(pattern) {
        Some(text) => reader.put(at, key, of, kind, &text),
        None => reader.refuse(at, &Refused::NotPlain(visible(key, 120))),
    }
}

/// The text of a pattern that holds nothing but text. Several lines are one.
fn plain(pattern: &Pattern<&str>) -> Option<String> {
    let mut out = String::new();
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { value } => {
                out.push_str(&value.replace('\n', " "));
            }
            PatternElement::Placeable { expression: Expression::Inline(InlineExpression::StringLiteral { value }) } => {
                out.push_str(&unescaped(value)?);
            }
            PatternElement::Placeable { .. } => return None,
        }
    }
    Some(out)
}

/// The text of a literal: `\"`, `\\`, `\uHHHH`, `\UHHHHHH`.
fn unescaped(literal: &str) -> Option<String> {
    let mut out = String::new();
    let mut characters = literal.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        let digits = match characters.next()? {
            own @ ('"' | '\\') => {
                out.push(own);
                continue;
            }
            'u' => 4,
            'U' => 6,
            _ => return None,
        };
        let hex: String = characters.by_ref().take(digits).collect();
        out.push(u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32)?);
    }
    Some(out)
}

/// Where a part of the text begins.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// Where brackets stand deeper than any name needs, before a parser that recurses sees them.
fn too_deep(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        let plain = !std::mem::take(&mut escaped);
        match byte {
            b'"' if depth > 0 && plain => quoted = !quoted,
            b'\\' if quoted && plain => escaped = true,
            b'\n' => quoted = false,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Some(at);
        }
    }
    None
}

/// A message of the parser in our words' form: lower case, one line, no full stop.
fn lower(message: &str) -> String {
    let mut characters = message.trim().trim_end_matches('.').chars();
    let first = characters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    visible(&(first + characters.as_str()).replace('\n', " "), 200)
}
