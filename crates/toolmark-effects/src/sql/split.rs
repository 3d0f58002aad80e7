//! Where one statement ends and the next begins: at semicolons, except inside the bodies of triggers and routines.

use std::ops::Range;

use super::lex::Kind;
use super::tokens::Tokens;

/// The statements of a text, without the empty ones.
pub(super) fn split(tokens: Tokens<'_>) -> Vec<Range<usize>> {
    let mut statements = Vec::new();
    let mut start = 0;
    let mut body = false;
    let mut depth = 0_usize;
    for at in 0..=tokens.len() {
        if at == start {
            body = has_body(tokens.after(start));
            depth = 0;
        }
        let ends = at == tokens.len() || (tokens.kind(at) == Some(Kind::Semicolon) && depth == 0);
        if ends {
            if at > start {
                statements.push(start..at);
            }
            start = at + 1;
        } else if body {
            depth = deeper(tokens, at, depth);
        }
    }
    statements
}

/// True for `CREATE … TRIGGER` and its like, whose bodies hold statements of their own.
fn has_body(tokens: Tokens<'_>) -> bool {
    tokens.is_one_of(0, &["CREATE", "ALTER"])
        && (1..10)
            .take_while(|&at| !tokens.symbol(at, "("))
            .any(|at| tokens.is_one_of(at, &["TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "EVENT", "PACKAGE"]))
}

fn deeper(tokens: Tokens<'_>, at: usize, depth: usize) -> usize {
    if tokens.is_one_of(at, &["BEGIN", "CASE"]) && !tokens.is(at.wrapping_sub(1), "END") {
        return depth + 1;
    }
    // `END IF` and its like close what was not counted.
    if tokens.is(at, "END") && !tokens.is_one_of(at + 1, &["IF", "LOOP", "WHILE", "REPEAT", "FOR"]) {
        return depth.saturating_sub(1);
    }
    depth
}
