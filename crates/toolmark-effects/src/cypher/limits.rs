//! What makes a query dangerous although it may change nothing: properties that hold secrets, and patterns without an end.

use open_cypher::TokenKind;
use toolmark_core::facts::Danger;

use super::scan::Words;
use crate::sql::secrets;

/// A list longer than this is a bomb.
const MANY: f64 = 10_000_000.0;

/// The dangers of a statement, from its words.
pub(super) fn dangers(words: &Words<'_>) -> Vec<Danger> {
    let mut dangers = Vec::new();
    if returns_secrets(words) {
        dangers.push(Danger::Secret);
    }
    if never_ends(words) {
        dangers.push(Danger::Exhaustion);
    }
    dangers
}

/// `RETURN u.password`, but not `RETURN count(u.password)`.
fn returns_secrets(words: &Words<'_>) -> bool {
    let mut returning = false;
    (0..words.len()).any(|at| {
        if words.kind(at.wrapping_sub(1)) != Some(TokenKind::Dot) {
            returning |= words.is_one_of(at, &["RETURN", "WITH"]);
            returning &= !words.is_one_of(at, &["MATCH", "WHERE", "ORDER", "CREATE", "MERGE", "SET"]);
        }
        let property =
            words.kind(at.wrapping_sub(1)) == Some(TokenKind::Dot) && words.kind(at + 1) != Some(TokenKind::LeftParen);
        let counted = words.kind(at.wrapping_sub(3)) == Some(TokenKind::LeftParen)
            && words.is_one_of(at.wrapping_sub(4), &["count", "size", "exists"]);
        let tested = words.is(at + 1, "IS");
        returning && property && !counted && !tested && secrets::is_secret_column(words.raw(at).trim_matches('`'))
    })
}

/// `range(1, 1000000000)`, `MATCH (a), (b), (c)` and `()-[*]-()`.
fn never_ends(words: &Words<'_>) -> bool {
    let limited = (0..words.len()).any(|at| words.is(at, "LIMIT"));
    (0..words.len()).any(|at| long_range(words, at) || (!limited && (any_path(words, at) || product(words, at))))
}

fn long_range(words: &Words<'_>, at: usize) -> bool {
    words.is(at, "range")
        && words.kind(at + 1) == Some(TokenKind::LeftParen)
        && words.kind(at + 3) == Some(TokenKind::Comma)
        && words.raw(at + 4).replace('_', "").parse::<f64>().is_ok_and(|end| end > MANY)
}

/// A path of any length between nodes about which nothing is said.
fn any_path(words: &Words<'_>, at: usize) -> bool {
    if words.kind(at) != Some(TokenKind::LeftBracket) {
        return false;
    }
    let Some(close) = (at..words.len().min(at + 12)).find(|&at| words.kind(at) == Some(TokenKind::RightBracket)) else {
        return false;
    };
    let Some(star) = (at..close).find(|&at| words.kind(at) == Some(TokenKind::Star)) else { return false };
    let endless = star + 1 == close || words.kind(close - 1) == Some(TokenKind::DotDot);
    let typed = (at..close).any(|at| words.kind(at) == Some(TokenKind::Colon));
    // `(a)-[*]-(b)`: the node before ends with `)` right after its name, the node after begins likewise.
    let before = bare_before(words, at);
    let after = (close..close + 3)
        .find(|&at| words.kind(at) == Some(TokenKind::LeftParen))
        .is_some_and(|open| bare(words, open));
    let condition = (0..words.len()).any(|at| words.is(at, "WHERE"));
    endless && !typed && before && after && !condition
}

/// `()` or `(name)`.
fn bare(words: &Words<'_>, open: usize) -> bool {
    words.kind(open + 1) == Some(TokenKind::RightParen)
        || (words.kind(open + 1) == Some(TokenKind::Identifier) && words.kind(open + 2) == Some(TokenKind::RightParen))
}

fn bare_before(words: &Words<'_>, bracket: usize) -> bool {
    let close = (1..4).map(|back| bracket.wrapping_sub(back)).find(|&at| words.kind(at) == Some(TokenKind::RightParen));
    close.is_some_and(|close| {
        words.kind(close.wrapping_sub(1)) == Some(TokenKind::LeftParen)
            || (words.kind(close.wrapping_sub(1)) == Some(TokenKind::Identifier)
                && words.kind(close.wrapping_sub(2)) == Some(TokenKind::LeftParen))
    })
}

/// Three nodes side by side about which nothing is said.
fn product(words: &Words<'_>, at: usize) -> bool {
    words.is(at, "MATCH") && bare(words, at + 1) && {
        let second = at + 5;
        let third = second + 4;
        words.kind(at + 4) == Some(TokenKind::Comma)
            && bare(words, second)
            && words.kind(second + 3) == Some(TokenKind::Comma)
            && bare(words, third)
            && !words.is(third + 3, "WHERE")
    }
}
