//! What a person sees before they answer: made from the bytes that were judged, with everything invisible made visible, and with an
//! end that says so.

use std::fmt::Write as _;

use serde_json::Value;

use super::Ask;
use crate::text::visible;

/// A person reads this much and no more.
const MOST_CHARACTERS: usize = 4000;
/// Lines of effects and reasons; the rest is counted.
const MOST_LINES: usize = 12;

/// A question in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    text: String,
    whole: bool,
}

impl Prompt {
    pub(super) fn of(ask: &Ask) -> Self {
        let mut text = String::new();
        let mut whole = true;
        let name = visible(&ask.canonical, 300);
        whole &= name == ask.canonical;
        let _ = writeln!(text, "{name} wants to run for {}.", visible(&ask.principal, 100));
        if ask.called != ask.canonical && !ask.canonical.ends_with(&format!(".{}", ask.called)) {
            let _ = writeln!(text, "called as: {}", visible(&ask.called, 200));
        }
        let _ = writeln!(text, "does: {}", visible(&ask.behavior, 100));
        if let Some(task) = &ask.task {
            let _ = writeln!(text, "task: {}", visible(task, 100));
        }
        whole &= lines(&mut text, "would", &ask.effects);
        let reasons: Vec<String> = ask
            .reasons
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|reason| Some(reason.get("message")?.as_str()?.to_owned()))
            .collect();
        // Reasons are ours; a long list of them hides nothing of the call.
        lines(&mut text, "why you are asked", &reasons);
        let heading =
            if ask.is_first_use() { "what the tool says, never used before" } else { "changed since it was approved" };
        whole &= texts(&mut text, heading, &ask.changes);
        text.push_str("arguments:\n");
        let shown = arguments(ask);
        let cut = visible_lines(&shown, MOST_CHARACTERS);
        whole &= shown.chars().count() <= MOST_CHARACTERS;
        text.push_str(&cut);
        Self { text, whole }
    }

    /// The text, of several lines.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when nothing was left out.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}

/// The arguments as people read JSON; as they came where they are none.
fn arguments(ask: &Ask) -> String {
    match serde_json::from_str::<Value>(&ask.arguments) {
        Ok(value) => serde_json::to_string_pretty(&value).unwrap_or_else(|_| ask.arguments.clone()),
        Err(_) => ask.arguments.clone(),
    }
}

/// Keeps the line breaks of our own layout; those inside strings are escaped by JSON already.
fn visible_lines(text: &str, limit: usize) -> String {
    let total = text.chars().count();
    let mut left = limit;
    let mut out = String::new();
    for line in text.lines() {
        let length = line.chars().count();
        if length > left {
            out.push_str(&visible(line.get(..byte_at(line, left)).unwrap_or_default(), left));
            let _ = write!(out, "… ({} more characters are not shown)", total.saturating_sub(limit));
            return out;
        }
        out.push_str(&visible(line, length));
        out.push('\n');
        left -= length;
    }
    out
}

fn byte_at(line: &str, characters: usize) -> usize {
    line.char_indices().nth(characters).map_or(line.len(), |(at, _)| at)
}

/// A list under a heading; says whether all of it is there.
fn lines(text: &mut String, heading: &str, all: &[String]) -> bool {
    if all.is_empty() {
        return true;
    }
    let _ = writeln!(text, "{heading}:");
    let mut whole = all.len() <= MOST_LINES;
    for line in all.iter().take(MOST_LINES) {
        whole &= line.chars().count() <= 300;
        let _ = writeln!(text, "  {}", visible(line, 300));
    }
    if all.len() > MOST_LINES {
        let _ = writeln!(text, "  … ({} more are not shown)", all.len() - MOST_LINES);
    }
    whole
}

/// Long lines under a heading; says whether all of them are there. They come from the publisher, so they are a person's to read.
fn texts(text: &mut String, heading: &str, all: &[String]) -> bool {
    if all.is_empty() {
        return true;
    }
    let _ = writeln!(text, "{heading}:");
    let total: usize = all.iter().map(|line| line.chars().count()).sum();
    let mut left = MOST_CHARACTERS;
    for line in all {
        let length = line.chars().count();
        if length > left {
            let shown = visible(line.get(..byte_at(line, left)).unwrap_or_default(), left);
            let _ = writeln!(text, "  {shown}… ({} more characters are not shown)", total - MOST_CHARACTERS);
            return false;
        }
        let _ = writeln!(text, "  {}", visible(line, length));
        left -= length;
    }
    true
}

#[cfg(test)]
mod tests;
