//! The words and positions that a glance knows: which of them write, lock, define or begin a clause.

use std::borrow::Cow;

use super::super::lex::Kind;
use super::super::script::Reader;
use super::super::tokens::Tokens;

/// How many tokens the list of columns of a `WITH` may have.
const COLUMNS: usize = 64;

/// Words that change something where they are keywords, in T-SQL also in the middle of what looks like one statement.
/// Sorted.
#[rustfmt::skip]
const WRITING: &[&str] = &[
    "alter", "analyse", "attach", "backup", "bulk", "call", "checkpoint", "commit", "copy", "create", "dbcc",
    "deallocate", "delete", "deny", "detach", "disable", "drop", "enable", "exec", "execute", "export", "grant",
    "import", "insert", "install", "into", "kill", "lock", "merge", "optimize", "overwrite", "perform", "pragma",
    "prepare", "receive", "reconfigure", "refresh", "reindex", "rename", "replace", "restore", "revert", "revoke",
    "rollback", "send", "share", "shutdown", "truncate", "unload", "update", "updatetext", "upsert", "vacuum",
    "waitfor", "writetext",
];

/// Words that begin the next clause after `FROM`.
pub(super) const CLAUSES: &[&str] = &[
    "except",
    "fetch",
    "for",
    "format",
    "group",
    "having",
    "intersect",
    "limit",
    "offset",
    "order",
    "prewhere",
    "qualify",
    "returning",
    "sample",
    "settings",
    "union",
    "where",
    "window",
];

/// Words that say something about what follows them. Invariant: whatever a glance compares a word with is in one of these lists.
const KEYWORDS: &[&str] = &[
    "as",
    "cross",
    "delete",
    "describe",
    "from",
    "function",
    "into",
    "join",
    "lateral",
    "lock",
    "next",
    "nextval",
    "only",
    "pivot",
    "recursive",
    "rows",
    "select",
    "share",
    "summarize",
    "table",
    "transform",
    "union",
    "unnest",
    "unpivot",
    "update",
    "using",
    "values",
    "with",
];

/// For each letter, the lengths of the known words that begin with it, as bits.
const SHAPES: [u32; 26] = shapes([KEYWORDS, WRITING, CLAUSES]);

#[expect(clippy::indexing_slicing, reason = "runs while this is compiled")]
const fn shapes(lists: [&[&str]; 3]) -> [u32; 26] {
    let mut shapes = [0; 26];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            let word = lists[list][at].as_bytes();
            shapes[(word[0] - b'a') as usize] |= 1 << word.len();
            at += 1;
        }
        list += 1;
    }
    shapes
}

/// False when no known word has this length and first letter, which spares most names the exact comparison.
pub(super) fn may_be_known(word: &str) -> bool {
    let letter = word.as_bytes().first().map_or(0, u8::to_ascii_lowercase);
    let shape = SHAPES.get(usize::from(letter.wrapping_sub(b'a'))).copied().unwrap_or_default();
    word.len() < 32 && shape & (1 << word.len()) != 0
}

pub(super) fn opens(tokens: Tokens<'_>, at: usize) -> bool {
    tokens.symbol(at.wrapping_sub(1), "(")
        && !matches!(tokens.kind(at.wrapping_sub(2)), Some(Kind::Word | Kind::Quoted))
}

/// True when any word after the first would change something as a keyword.
pub(in crate::sql) fn writes_later(tokens: Tokens<'_>) -> bool {
    let mut buffer = [0; 32];
    (1..tokens.len()).any(|at| is_writing(lower(tokens.word(at), &mut buffer), tokens, at))
}

/// True at the last word of `FOR UPDATE`, `FOR NO KEY UPDATE`, `FOR KEY SHARE`, `LOCK IN SHARE MODE` and their like.
pub(super) fn is_locking(word: &str, tokens: Tokens<'_>, at: usize) -> bool {
    let before = at.wrapping_sub(1);
    match word {
        "update" | "share" => {
            tokens.is(before, "FOR")
                || (tokens.is(before, "KEY") && tokens.is_one_of(at.wrapping_sub(2), &["NO", "FOR"]))
                || (tokens.is(before, "IN") && tokens.is(at.wrapping_sub(2), "LOCK"))
        }
        "lock" => tokens.is(at + 1, "IN") && tokens.is(at + 2, "SHARE"),
        _ => false,
    }
}

/// True at `NEXT VALUE FOR s` and `s.NEXTVAL`; the function of that name is in the table.
pub(super) fn takes_a_number(word: &str, tokens: Tokens<'_>, at: usize) -> bool {
    match word {
        "next" => tokens.is(at + 1, "VALUE") && tokens.is(at + 2, "FOR"),
        "nextval" => tokens.kind(at.wrapping_sub(1)) == Some(Kind::Dot) && !tokens.symbol(at + 1, "("),
        _ => false,
    }
}

/// Where the name stands that `AS` defines: right before it, or before a list of columns.
pub(super) fn defined_before(tokens: Tokens<'_>, at: usize) -> usize {
    let before = at.wrapping_sub(1);
    if tokens.kind(before) != Some(Kind::Close) {
        return before;
    }
    let open = (1..COLUMNS).map(|back| before.wrapping_sub(back)).find(|&at| tokens.kind(at) == Some(Kind::Open));
    open.map_or(before, |open| open.wrapping_sub(1))
}

/// True when the parentheses after a name define something: `INSERT INTO sleep (a)`, `WITH file (a) AS (…)`.
pub(super) fn defines(tokens: Tokens<'_>, first: usize, last: usize) -> bool {
    let before = first.wrapping_sub(1);
    if tokens.is_one_of(before, &["INTO", "WITH", "RECURSIVE", "INDEX", "VIEW", "REFERENCES", "EXISTS"]) {
        return true;
    }
    if tokens.is(before, "TABLE") {
        return tokens.is_one_of(0, &["CREATE", "ALTER", "INSERT", "REPLACE"]);
    }
    let close = tokens.closing(last + 1);
    tokens.is(close + 1, "AS") && tokens.symbol(close + 2, "(")
}

/// True when the word would change something as a keyword: not called like a function, not part of a dotted name, not an alias.
pub(super) fn is_writing(word: &str, tokens: Tokens<'_>, at: usize) -> bool {
    if word.is_empty() || WRITING.binary_search(&word).is_err() {
        return false;
    }
    let dotted = tokens.kind(at.wrapping_sub(1)) == Some(Kind::Dot);
    // MySQL keeps a value in a variable of the session; everything else after `INTO` is written to.
    let variable = tokens.kind(at + 1) == Some(Kind::Variable) && tokens.raw(at + 1).starts_with('@');
    let unpivot = tokens.is(at + 1, "NAME") && tokens.is(at + 3, "VALUE");
    if (word == "into" && (variable || unpivot)) || (word == "bulk" && tokens.symbol(at.wrapping_sub(1), "(")) {
        return false;
    }
    at > 0
        && !dotted
        && !tokens.symbol(at + 1, "(")
        && tokens.kind(at + 1) != Some(Kind::Dot)
        && !tokens.is(at - 1, "AS")
}

/// The string that stands in place of a table, as DuckDB allows.
pub(super) fn file_name<'a>(reader: &Reader, tokens: Tokens<'a>, at: usize, end: usize) -> Option<Cow<'a, str>> {
    if end != at + 1 {
        return None;
    }
    match tokens.kind(at)? {
        Kind::Text => tokens.literal(at),
        Kind::Quoted if reader.scans_files() => {
            let name = tokens.unquoted(at);
            (name.contains(['/', '\\']) || name.contains("://")).then_some(name.into())
        }
        _ => None,
    }
}

pub(super) fn lower<'b>(word: &str, buffer: &'b mut [u8; 32]) -> &'b str {
    let Some(target) = buffer.get_mut(..word.len()) else { return "" };
    target.copy_from_slice(word.as_bytes());
    target.make_ascii_lowercase();
    std::str::from_utf8(target).unwrap_or_default()
}
