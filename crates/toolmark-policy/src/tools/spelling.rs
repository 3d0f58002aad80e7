//! How people write a tool: `github.create_issue`, `github:create_issue`, `github/create_issue`, `github__create_issue`,
//! `mcp__github__create_issue`, `mcp_github_create_issue`, or just `create_issue`. One text can be read in several of these ways;
//! this file lists the ways and picks none.

use crate::pattern::Glob;

/// One way to read a text as a pack and a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The pack; `None` for a text that names only the tool.
    pub(super) pack: Option<Glob>,
    /// The tool as its pack calls it.
    pub(super) raw: Glob,
    /// Whether a client made this name, so that other characters may have become `_`.
    pub(super) from_client: bool,
}

impl Reading {
    /// True when this is `text` as a canonical name: the pack ends at the first dot.
    pub(super) fn is_canonical(&self, text: &str) -> bool {
        let pack = self.pack.as_ref().filter(|_| !self.from_client);
        pack.is_some_and(|pack| text.split_once('.') == Some((pack.as_str(), self.raw.as_str())))
    }
}

/// The name under which clients usually know Toolmark itself.
const OURSELVES: &str = "toolmark";

/// Every way to read `text`.
pub(super) fn readings(text: &str) -> Vec<Reading> {
    let mut all = own(text, false);
    if let Some(rest) = text.strip_prefix("mcp__") {
        all.extend(split_anywhere(rest, "__"));
        if !rest.contains("__") {
            // `mcp__github` alone means every tool of that server; `mcp__*` every tool of every server.
            all.extend(reading(rest, "*", true));
        }
        if rest == OURSELVES {
            all.push(Reading { pack: None, raw: Glob::new("*"), from_client: true });
        }
        if let Some(published) = rest.strip_prefix(OURSELVES).and_then(|rest| rest.strip_prefix("__")) {
            all.extend(own(published, true));
        }
    } else if let Some(rest) = text.strip_prefix("mcp_") {
        all.extend(split_anywhere(rest, "_"));
    }
    all
}

/// The ways to read a text that has no client's prefix.
fn own(text: &str, from_client: bool) -> Vec<Reading> {
    let mut all = Vec::new();
    for separator in ['.', ':', '/'] {
        if let Some((pack, raw)) = text.split_once(separator) {
            all.extend(reading(pack, raw, from_client));
        }
    }
    all.extend(split_anywhere(text, "__"));
    // A name with a dot is canonical and never falls back to a short name.
    if !text.contains('.') && !text.is_empty() {
        all.push(Reading { pack: None, raw: Glob::new(text), from_client });
    }
    all
}

/// Pack names and tool names may both hold underscores, so each one may be the border.
fn split_anywhere<'t>(text: &'t str, separator: &'t str) -> impl Iterator<Item = Reading> + 't {
    let borders =
        text.char_indices().filter(move |(at, _)| text.get(*at..).is_some_and(|rest| rest.starts_with(separator)));
    borders.filter_map(move |(at, _)| reading(text.get(..at)?, text.get(at + separator.len()..)?, true))
}

fn reading(pack: &str, raw: &str, from_client: bool) -> Option<Reading> {
    let legal = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | ' ' | '*');
    (!pack.is_empty() && pack.chars().all(legal) && !raw.is_empty()).then(|| Reading {
        pack: Some(Glob::new(pack)),
        raw: Glob::new(raw),
        from_client,
    })
}

/// A pack's name as loosely as people write it: `My Server`, `my-server` and `my_server` are one.
pub(super) fn fold_pack(name: &str) -> String {
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' }).collect()
}

/// A tool's name as the strictest client shows it.
pub(super) fn fold_raw(name: &str) -> String {
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
}
