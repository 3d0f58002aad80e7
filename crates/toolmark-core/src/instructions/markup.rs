//! Blocks that are marked up like a system prompt, and text that is there for the model and not for people: comments, hidden
//! elements, text behind a page of white space.

use super::encoded::long_runs;
use super::{Kind, Match, is_serious};
use crate::severity::Severity;
use crate::text::is_hidden;

/// Tags that set a block apart as a command. They count when they are shouted, or when the block is closed; `<system>` alone
/// is a placeholder.
const LOUD: &[&str] = &[
    "admin",
    "alwaysfollow",
    "assistant",
    "critical",
    "criticalinstruction",
    "criticalinstructions",
    "developer",
    "functioncalls",
    "hidden",
    "hiddeninstruction",
    "hiddeninstructions",
    "important",
    "importantinstruction",
    "importantinstructions",
    "inst",
    "internal",
    "invoke",
    "mandatory",
    "override",
    "secret",
    "secretinstruction",
    "secretinstructions",
    "sys",
    "system",
    "systeminstruction",
    "systeminstructions",
    "systemmessage",
    "systemprompt",
    "systemreminder",
    "toolcall",
    "toolcode",
    "urgent",
];

/// Tags that honest servers use around their guidance.
const QUIET: &[&str] =
    &["criticalrules", "guidelines", "importantnote", "importantnotes", "instruction", "instructions", "rules"];

/// Tags that a client may have put around the description itself: closing one that was never opened breaks out of it.
const AROUND: &[&str] = &[
    "context",
    "description",
    "document",
    "function",
    "functions",
    "instructions",
    "prompt",
    "system",
    "tool",
    "tooldescription",
    "tools",
    "user",
];

/// What begins a role in a chat template.
const TEMPLATE: &[&str] =
    &["[INST]", "[/INST]", "[SYSTEM]", "[SYSTEM PROMPT]", "[SYSTEM MESSAGE]", "[ADMIN]", "<<SYS>>"];

/// What begins a line that speaks as somebody else.
const ROLES: &[&str] =
    &["SYSTEM:", "SYSTEM PROMPT:", "SYSTEM MESSAGE:", "ASSISTANT:", "HUMAN:", "Human:", "Assistant:"];

/// Styles that hide an element.
const HIDING: &[&str] = &[
    "display:none",
    "visibility:hidden",
    "font-size:0",
    "opacity:0",
    "color:white",
    "color:#fff",
    "color:transparent",
];

/// So many line breaks, or so many spaces, push what follows out of view.
const LINES_OUT_OF_VIEW: usize = 20;
const SPACES_OUT_OF_VIEW: usize = 400;
/// A tag with its attributes is no longer than this.
const LONGEST_TAG: usize = 200;
/// A comment with fewer words says nothing.
const FEWEST_WORDS: usize = 3;

/// Adds everything that markup gives away.
pub(super) fn find(text: &str, found: &mut Vec<Match>) {
    out_of_view(text, found);
    roles(text, found);
    if !text.contains(['<', '[', '&', '＜']) {
        return;
    }
    let closed = closed_tags(text, found);
    let mut skip_to = 0;
    for (at, character) in text.char_indices() {
        if at < skip_to || !matches!(character, '<' | '[' | '&' | '＜') {
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with("<!--") {
            skip_to = comment(text, at, "-->", found);
        } else if rest.starts_with("[//]: # (") {
            skip_to = comment(text, at, ")", found);
        } else if let Some(mark) = TEMPLATE.iter().find(|mark| rest.starts_with(**mark)) {
            found.push(Match::new(Kind::Markup, Severity::High, at..at + mark.len()));
        } else if rest.starts_with("<|") {
            template_token(at, rest, found);
        } else {
            tag(at, rest, &closed, found);
        }
    }
}

/// Notes a comment and returns where it ends.
fn comment(text: &str, at: usize, close: &str, found: &mut Vec<Match>) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let length = rest.find(close).map_or(rest.len(), |end| end + close.len());
    let inside = rest.get(..length).unwrap_or_default();
    if inside.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() >= FEWEST_WORDS {
        let commands = is_serious(inside);
        let addressed = inside.split(|c: char| !c.is_alphabetic()).any(|word| {
            ["you", "your", "must", "always", "ai", "assistant", "llm"].iter().any(|one| word.eq_ignore_ascii_case(one))
        });
        let severity = if commands || addressed { Severity::High } else { Severity::Medium };
        found.push(Match::new(Kind::Comment, severity, at..at + length));
    }
    at + length
}

/// Notes `<|im_start|>` and its kin.
fn template_token(at: usize, rest: &str, found: &mut Vec<Match>) {
    let head: &str = rest.char_indices().nth(34).map_or(rest, |(end, _)| rest.get(..end).unwrap_or_default());
    if let Some(end) = head.get(2..).and_then(|inside| inside.find("|>")) {
        let name = head.get(2..end + 2).unwrap_or_default();
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
            found.push(Match::new(Kind::Markup, Severity::High, at..at + end + 4));
        }
    }
}

/// Notes a tag that sets a block apart, or one that hides its content.
fn tag(at: usize, rest: &str, closed: &[String], found: &mut Vec<Match>) {
    let Some(tag) = Tag::read(rest).filter(|tag| !tag.closing) else { return };
    let range = at..at + tag.length;
    if LOUD.contains(&tag.name.as_str()) {
        if tag.shouted || closed.contains(&tag.name) {
            found.push(Match::new(Kind::Markup, Severity::High, range));
        }
    } else if QUIET.contains(&tag.name.as_str()) {
        if closed.contains(&tag.name) {
            found.push(Match::new(Kind::Markup, Severity::Low, range));
        }
    } else if HIDING.iter().any(|style| tag.attributes.contains(style)) {
        found.push(Match::new(Kind::OutOfView, Severity::Medium, range));
    }
}

/// The names of all tags that are closed somewhere in `text`. Notes those that were never opened.
fn closed_tags(text: &str, found: &mut Vec<Match>) -> Vec<String> {
    let mut opened: Vec<String> = Vec::new();
    let mut closed: Vec<String> = Vec::new();
    for (at, _) in text.match_indices(['<', '&', '＜']) {
        let Some(tag) = Tag::read(text.get(at..).unwrap_or_default()) else { continue };
        if ![LOUD, QUIET, AROUND].iter().any(|names| names.contains(&tag.name.as_str())) {
            continue;
        }
        if tag.closing && AROUND.contains(&tag.name.as_str()) && !opened.contains(&tag.name) {
            found.push(Match::new(Kind::Markup, Severity::High, at..at + tag.length));
        }
        let names = if tag.closing { &mut closed } else { &mut opened };
        if !names.contains(&tag.name) {
            names.push(tag.name);
        }
    }
    closed
}

struct Tag {
    /// In lower case, without separators and hidden characters.
    name: String,
    /// Written in capitals.
    shouted: bool,
    closing: bool,
    /// In lower case, without white space.
    attributes: String,
    length: usize,
}

impl Tag {
    /// Reads `<name …>`, `</name>` and the same with `&lt;` and `&gt;`.
    fn read(rest: &str) -> Option<Self> {
        let open = ["<", "&lt;", "＜"].into_iter().find(|open| rest.starts_with(*open))?;
        let mut tag =
            Self { name: String::new(), shouted: true, closing: false, attributes: String::new(), length: open.len() };
        let mut in_name = true;
        for character in rest.get(open.len()..)?.chars() {
            let from = tag.length;
            tag.length += character.len_utf8();
            let entity = if character == '&' { rest.get(from..)? } else { "" };
            if tag.length > LONGEST_TAG || matches!(character, '<' | '＜') || entity.starts_with("&lt;") {
                return None;
            }
            if matches!(character, '>' | '＞') || entity.starts_with("&gt;") {
                return (!tag.name.is_empty()).then_some(tag);
            }
            if is_hidden(character) {
                continue;
            }
            match character {
                '/' if tag.name.is_empty() => tag.closing = true,
                _ if in_name && character.is_ascii_alphabetic() => {
                    tag.shouted &= character.is_ascii_uppercase();
                    tag.name.push(character.to_ascii_lowercase());
                }
                '_' | '-' | ':' if in_name => {}
                ' ' if in_name && tag.name.is_empty() => {}
                _ => {
                    in_name = false;
                    tag.attributes.extend(character.to_lowercase().filter(|c| !c.is_whitespace()));
                }
            }
        }
        None
    }
}

fn out_of_view(text: &str, found: &mut Vec<Match>) {
    let bytes = text.as_bytes();
    for run in long_runs(bytes, LINES_OUT_OF_VIEW, |byte| byte.is_ascii_whitespace()) {
        let lines = bytes.get(run.clone()).unwrap_or_default().iter().filter(|&&byte| byte == b'\n').count();
        let behind = text.get(run.end..).unwrap_or_default();
        if behind.is_empty() || (lines < LINES_OUT_OF_VIEW && run.len() < SPACES_OUT_OF_VIEW) {
            continue;
        }
        let shown = behind.char_indices().nth(80).map_or(behind, |(end, _)| behind.get(..end).unwrap_or_default());
        let range = run.start..run.end + shown.len();
        found.push(Match::new(Kind::OutOfView, Severity::Medium, range).showing(shown));
    }
}

fn roles(text: &str, found: &mut Vec<Match>) {
    if !text.contains("SYSTEM")
        && !text.contains("ASSISTANT:")
        && !text.contains("uman:")
        && !text.contains("ssistant:")
    {
        return;
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let spoken = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '*' | '>' | '-'));
        if let Some(role) = ROLES.iter().find(|role| spoken.starts_with(**role))
            && spoken.len() > role.len() + 12
        {
            let start = at + (line.len() - spoken.len());
            let end = at + line.trim_end().len();
            found.push(Match::new(Kind::Impersonation, Severity::Medium, start..end));
        }
        at += line.len();
    }
}
