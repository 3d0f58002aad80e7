//! The words of a change: each part of a definition as it was and as it is, safe to print, so that nobody approves what they did not see.

use std::collections::BTreeSet;

use super::Subject;
use crate::canonical;
use crate::definition::Reading;
use crate::json::Json;
use crate::lock::Pinned;
use crate::text::visible;
use crate::tool::Tool;

/// What two texts share at either end is left out beyond this many characters.
const CONTEXT: usize = 60;
/// Nobody is shown more of one text than this; whoever needs it whole has `tools/list`.
const MOST: usize = 20_000;

/// One part of a definition that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartTexts {
    part: String,
    was: Said,
    is: Said,
}

/// What a part said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// There was no such part.
    Nothing,
    /// Nobody kept it.
    NotKept,
    /// This, with everything invisible made visible. What is the same at the ends of both texts may be left out, and is counted.
    Text(String),
}

/// The parts in which a tool is not the one that was pinned, by name. Where nothing was pinned, all its parts.
#[must_use]
pub fn exactly(pinned: Option<&Pinned>, tool: &Tool) -> Vec<PartTexts> {
    let reading = tool.definition().reading();
    let source = |text: &str| Said::Text(visible(text, MOST));
    let Some(pinned) = pinned else {
        let parts = reading.fields().iter().filter(|(name, _)| name != "name");
        let parts = parts.map(|(name, value)| PartTexts::new(name, Said::Nothing, Said::Text(whole(&words(value)))));
        let from = PartTexts::new("source", Said::Nothing, source(tool.source().as_str()));
        return std::iter::once(from).chain(parts).collect();
    };
    let mut parts = Vec::new();
    if pinned.source() != tool.source().as_str() {
        parts.push(PartTexts::new("source", source(pinned.source()), source(tool.source().as_str())));
    }
    let behavior = tool.behavior().map(|behavior| behavior.to_string());
    if pinned.digest() == tool.digest() {
        if pinned.behavior() != behavior.as_deref() {
            let said = |text: Option<&str>| text.map_or(Said::Nothing, |text| Said::Text(visible(text, MOST)));
            parts.push(PartTexts::new("behavior", said(pinned.behavior()), said(behavior.as_deref())));
        }
        return parts;
    }
    match Subject::Pinned(pinned).said() {
        Some(old) => parts.extend(between(&old.reading(), &reading)),
        None => parts.extend(unkept(pinned, &reading)),
    }
    parts
}

fn between(old: &Reading<'_>, new: &Reading<'_>) -> Vec<PartTexts> {
    let names: BTreeSet<&str> = old.fields().iter().chain(new.fields()).map(|(name, _)| name.as_ref()).collect();
    let spelled = |reading: &Reading<'_>, name: &str| reading.get(name).map(canonical::to_canonical);
    let differs = |name: &&str| spelled(old, name) != spelled(new, name);
    let part = |name: &str| {
        let (was, is) = (old.get(name).map(words), new.get(name).map(words));
        let (was, is) = match (was, is) {
            (Some(was), Some(is)) => {
                let (was, is) = apart(&was, &is);
                (Said::Text(was), Said::Text(is))
            }
            (was, is) => {
                let said = |text: Option<String>| text.map_or(Said::Nothing, |text| Said::Text(whole(&text)));
                (said(was), said(is))
            }
        };
        PartTexts::new(name, was, is)
    };
    names.into_iter().filter(differs).map(part).collect()
}

/// The parts whose digests differ, where only those were kept.
fn unkept(pinned: &Pinned, new: &Reading<'_>) -> Vec<PartTexts> {
    let now: Vec<(String, String)> =
        new.part_digests().into_iter().map(|(part, digest)| (part, digest.short())).collect();
    let names: BTreeSet<&str> =
        pinned.parts().map(|(part, _)| part).chain(now.iter().map(|(part, _)| part.as_str())).collect();
    let of_now = |name: &str| now.iter().find(|(part, _)| part == name).map(|(_, digest)| digest.as_str());
    let differs = |name: &&str| pinned.part(name) != of_now(name);
    let part = |name: &str| {
        let was = if pinned.part(name).is_some() { Said::NotKept } else { Said::Nothing };
        let is = new.get(name).map_or(Said::Nothing, |value| Said::Text(whole(&words(value))));
        PartTexts::new(name, was, is)
    };
    names.into_iter().filter(differs).map(part).collect()
}

/// What a model or a program reads of a part.
fn words(value: &Json<'_>) -> String {
    value.as_str().map_or_else(|| canonical::to_canonical(value), str::to_owned)
}

fn whole(text: &str) -> String {
    visible(text, MOST)
}

/// Two texts without what is the same at their ends, where that is long.
fn apart(was: &str, is: &str) -> (String, String) {
    let (old, new): (Vec<char>, Vec<char>) = (was.chars().collect(), is.chars().collect());
    let start = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - start;
    let end = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(one, other)| one == other).count();
    let (before, after) = (start.saturating_sub(CONTEXT), end.saturating_sub(CONTEXT));
    let shown = |all: &[char]| {
        let middle: String = all.get(before..all.len() - after).unwrap_or(all).iter().collect();
        let left_out = |count: usize| format!("[{count} characters as before]");
        let first = if before > 0 { left_out(before) + " …" } else { String::new() };
        let last = if after > 0 { String::from("… ") + &left_out(after) } else { String::new() };
        format!("{first}{}{last}", visible(&middle, MOST))
    };
    (shown(&old), shown(&new))
}

impl PartTexts {
    fn new(part: &str, was: Said, is: Said) -> Self {
        Self { part: visible(part, 100), was, is }
    }

    /// The part.
    #[must_use]
    pub fn part(&self) -> &str {
        &self.part
    }

    /// What it said.
    #[must_use]
    pub fn was(&self) -> &Said {
        &self.was
    }

    /// What it says.
    #[must_use]
    pub fn is(&self) -> &Said {
        &self.is
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str("(nothing)"),
            Self::NotKept => f.write_str("(not kept)"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests;
