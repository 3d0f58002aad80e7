//! What is a tool called where there are no namespaces? One plain name that every provider takes, made of nothing but pack and tool.

use crate::digest::ArgumentDigest;
use crate::json::Json;

/// The longest name that every provider takes.
pub const LONGEST_FLAT_NAME: usize = 64;

/// `pack__tool`, with an underscore for what some provider does not take in names, and cut with eight digits of a digest where it is too
/// long. It depends on nothing but the two; two tools may come out the same ([`flat_name_apart`]).
#[must_use]
pub fn flat_name(pack: &str, tool: &str) -> String {
    let name = legal(pack, tool);
    if name.len() <= LONGEST_FLAT_NAME { name } else { numbered(&name, pack, tool, 8) }
}

/// The same with sixteen digits of the digest at its end, which tell it from whatever else would be called alike.
#[must_use]
pub fn flat_name_apart(pack: &str, tool: &str) -> String {
    numbered(&legal(pack, tool), pack, tool, 16)
}

fn legal(pack: &str, tool: &str) -> String {
    let legal = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    };
    format!("{pack}__{tool}").chars().map(legal).collect()
}

fn numbered(name: &str, pack: &str, tool: &str, count: usize) -> String {
    let digest = ArgumentDigest::of(&Json::String(format!("{pack}.{tool}").into())).to_string();
    let digits: String = digest.chars().rev().take(count).collect();
    let shown = name.get(..LONGEST_FLAT_NAME - 1 - count).unwrap_or(name);
    format!("{shown}_{digits}")
}
