//! Edits of a TOML file: every table and key of `mcp_servers` goes, and one table comes in the place of the first.

use std::ops::Range;

use toml_parser::Source;
use toml_parser::parser::{EventKind, parse_document};

use super::{Edit, OURSELVES, Reach, WrapError, entry};
use crate::clients::Client;

/// A table header or a key with its value: where it stands, and whether it is about servers.
struct Expression {
    at: Range<usize>,
    header: bool,
    servers: bool,
}

/// What has to change.
pub(super) fn edits(text: &str, client: Client, reach: &Reach) -> Result<Vec<Edit>, WrapError> {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let root = client.root();
    let mut blocks: Vec<(Range<usize>, bool)> = Vec::new();
    let (mut inside, mut at_root) = (false, true);
    for expression in expressions(text, root) {
        let Expression { at, header, servers } = expression;
        if header {
            (inside, at_root) = (servers, false);
        }
        if inside {
            match blocks.last_mut().filter(|_| !header) {
                Some((block, true)) => block.end = whole_line(text, &at).end,
                _ => blocks.push((whole_line(text, &at), true)),
            }
        } else if at_root && servers {
            blocks.push((whole_line(text, &at), false));
        }
    }
    let keys = entry::as_toml(reach);
    let mut edits = Vec::new();
    for (position, (at, header)) in blocks.into_iter().enumerate() {
        let ended = text.get(at.clone()).is_some_and(|block| block.ends_with('\n'));
        let end = if ended { newline } else { "" };
        let new = match (position, header) {
            (0, true) => format!("[{root}.{OURSELVES}]{newline}{}{end}", keys.join(newline)),
            // A header would take the keys that follow with it.
            (0, false) => format!("{root}.{OURSELVES} = {{ {} }}{end}", keys.join(", ")),
            _ => String::new(),
        };
        edits.push(Edit { at, new });
    }
    if edits.is_empty() {
        let gap = match text.trim_start_matches('\u{feff}') {
            "" => "",
            text if text.ends_with('\n') => newline,
            _ => &newline.repeat(2),
        };
        let new = format!("{gap}[{root}.{OURSELVES}]{newline}{}{newline}", keys.join(newline));
        edits.push(Edit { at: text.len()..text.len(), new });
    }
    Ok(edits)
}

/// The headers and keys of a text that is known to be TOML, in order.
fn expressions(text: &str, root: &str) -> Vec<Expression> {
    let skipped = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let source = Source::new(text.get(skipped..).unwrap_or_default());
    let tokens = source.lex().into_vec();
    let mut events: Vec<toml_parser::parser::Event> = Vec::new();
    parse_document(&tokens, &mut events, &mut ());
    let mut all: Vec<Expression> = Vec::new();
    let mut open: Option<Expression> = None;
    let mut named = false;
    let mut depth = 0_usize;
    for event in events {
        let span = event.span().start() + skipped..event.span().end() + skipped;
        match event.kind() {
            EventKind::Newline if depth == 0 => all.extend(open.take()),
            EventKind::Newline | EventKind::Whitespace | EventKind::Comment | EventKind::Error => {}
            kind => {
                match kind {
                    EventKind::ArrayOpen | EventKind::InlineTableOpen => depth += 1,
                    EventKind::ArrayClose | EventKind::InlineTableClose => depth = depth.saturating_sub(1),
                    _ => {}
                }
                let header = matches!(kind, EventKind::StdTableOpen | EventKind::ArrayTableOpen);
                let expression = open.get_or_insert_with(|| {
                    named = false;
                    Expression { at: span.clone(), header, servers: false }
                });
                if kind == EventKind::SimpleKey && !named {
                    named = true;
                    let key = text.get(span.clone()).unwrap_or_default();
                    expression.servers = key.trim_matches(['"', '\'']) == root;
                }
                expression.at.end = span.end;
            }
        }
    }
    all.extend(open);
    all
}

/// From the beginning of the first line to the end of the last, its line break and a comment at its end included.
fn whole_line(text: &str, at: &Range<usize>) -> Range<usize> {
    let start = text.get(..at.start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let start = if text.get(start..).is_some_and(|rest| rest.starts_with('\u{feff}')) {
        start + '\u{feff}'.len_utf8()
    } else {
        start
    };
    let end = text.get(at.end..).and_then(|after| after.find('\n')).map_or(text.len(), |newline| at.end + newline + 1);
    start..end
}
