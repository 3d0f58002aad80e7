//! What is a file after a V4A diff? Text in, text out: hunks are found by the lines around them, never by line numbers.
//!
//! A hunk may begin with `@@` and a line to look for first, several of them one below the other. Its lines begin with a space (stays),
//! `-` (goes) or `+` (comes). What stays and goes is looked for from where the last hunk ended: as it is written, then without white
//! space at the ends of lines, then without any around them. What stays is kept as the file has it, line endings included.

use serde_json::{Map, Value};
use toolmark_core::explain::{Code, Explain, facts};
use toolmark_core::text::visible;

/// A diff that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// A line that says neither what stays nor what goes nor what comes.
    #[error("line {number} of the diff begins with none of ` `, `+`, `-` and `@@`: `{line}`")]
    Line {
        /// Which, counted from one.
        number: usize,
        /// The line.
        line: String,
    },
    /// A line of a new file that does not begin with `+`.
    #[error("line {number} of the diff of a new file does not begin with `+`: `{line}`")]
    NotNew {
        /// Which, counted from one.
        number: usize,
        /// The line.
        line: String,
    },
    /// Two places that the file is to be moved to.
    #[error("the diff moves the file to `{one}`, and the operation to `{other}`")]
    TwoPlaces {
        /// What the diff says.
        one: String,
        /// What the operation says.
        other: String,
    },
    /// A hunk without lines.
    #[error("the hunk at line {number} of the diff has no lines")]
    Empty {
        /// Where, counted from one.
        number: usize,
    },
    /// A hunk after the first that does not begin with `@@`.
    #[error("the hunk at line {number} of the diff does not begin with `@@`")]
    Unannounced {
        /// Where, counted from one.
        number: usize,
    },
    /// The lines of a hunk are not in the file, or not after the hunk before.
    #[error("the lines of the hunk at line {number} of the diff are not in the file{}: `{first}`", if *at_end { " at its end" } else { "" })]
    Absent {
        /// Where, counted from one.
        number: usize,
        /// The first of its lines.
        first: String,
        /// Whether the diff says that they are the last of the file.
        at_end: bool,
    },
}

const END_OF_FILE: &str = "*** End of File";
const MOVE_TO: &str = "*** Move to:";
/// What ends a diff, where it is part of a longer one.
const ENDS: [&str; 4] = ["*** End Patch", "*** Update File:", "*** Delete File:", "*** Add File:"];

/// One line of a file, without what ends it.
struct Line<'t> {
    text: &'t str,
    /// How it ends; nothing where that is for the file to say.
    ending: Option<&'static str>,
}

enum Change<'d> {
    Stays,
    Goes,
    Comes(&'d str),
}

struct Hunk<'d> {
    number: usize,
    anchors: Vec<&'d str>,
    /// What stays and goes.
    before: Vec<&'d str>,
    changes: Vec<Change<'d>>,
    at_end: bool,
}

/// The file that a diff makes of another.
///
/// # Errors
/// [`DiffError`] when it is no diff, or none of this file.
pub fn apply_diff(text: &str, diff: &str) -> Result<String, DiffError> {
    let style = ending(if text.contains('\n') { text } else { diff });
    let old = lines(text);
    let mut new: Vec<Line<'_>> = Vec::with_capacity(old.len());
    let mut taken = 0;
    let diff = diff_lines(diff);
    let mut cursor = 0;
    let mut at = 0;
    while let Some(hunk) = next_hunk(&diff, &mut at, cursor == 0)? {
        for anchor in &hunk.anchors {
            cursor = after_anchor(&old, anchor, cursor);
        }
        let found = find(&old, &hunk, cursor).filter(|found| *found >= taken);
        let start = found.ok_or_else(|| DiffError::Absent {
            number: hunk.number,
            first: visible(hunk.before.first().copied().unwrap_or_default(), 200),
            at_end: hunk.at_end,
        })?;
        new.extend(old.iter().take(start).skip(taken).map(Line::same));
        let mut place = start;
        for change in &hunk.changes {
            match change {
                Change::Stays => {
                    new.extend(old.get(place).map(Line::same));
                    place += 1;
                }
                Change::Goes => place += 1,
                Change::Comes(text) => new.push(Line { text, ending: None }),
            }
        }
        taken = place;
        cursor = place;
    }
    new.extend(old.iter().skip(taken).map(Line::same));
    Ok(joined(&new, style))
}

/// The place that a diff moves its file to (`*** Move to:` in its first line), and what changes in it.
pub(super) fn moved(diff: &str) -> (Option<&str>, &str) {
    let (first, rest) = diff.split_once('\n').unwrap_or((diff, ""));
    match first.trim_end_matches('\r').strip_prefix(MOVE_TO) {
        Some(place) => (Some(place.trim()), rest),
        None => (None, diff),
    }
}

/// The file that a diff of nothing but new lines is.
///
/// # Errors
/// [`DiffError`] when a line is not new.
pub fn create_from_diff(diff: &str) -> Result<String, DiffError> {
    let style = ending(diff);
    let mut new = Vec::new();
    for (at, line) in diff_lines(diff).into_iter().enumerate() {
        if ENDS.iter().any(|end| line.starts_with(end)) {
            break;
        }
        let text =
            line.strip_prefix('+').ok_or_else(|| DiffError::NotNew { number: at + 1, line: visible(line, 200) })?;
        new.push(Line { text, ending: None });
    }
    Ok(joined(&new, style))
}

/// Reads the hunk that begins at a line; nothing at the end.
fn next_hunk<'d>(lines: &[&'d str], at: &mut usize, first: bool) -> Result<Option<Hunk<'d>>, DiffError> {
    let ends = |line: &str| line.starts_with(END_OF_FILE) || ENDS.iter().any(|end| line.starts_with(end));
    if lines.get(*at).is_none_or(|line| ends(line)) {
        return Ok(None);
    }
    let number = *at + 1;
    let mut hunk = Hunk { number, anchors: Vec::new(), before: Vec::new(), changes: Vec::new(), at_end: false };
    let mut announced = false;
    while let Some(line) = lines.get(*at) {
        match line.strip_prefix("@@ ") {
            Some(anchor) => {
                announced |= !anchor.is_empty();
                if !anchor.trim().is_empty() {
                    hunk.anchors.push(anchor);
                }
            }
            None if *line == "@@" => announced = true,
            None => break,
        }
        *at += 1;
    }
    if !announced && !first {
        return Err(DiffError::Unannounced { number });
    }
    while let Some(line) = lines.get(*at) {
        if line.starts_with("@@") || ends(line) || *line == "***" {
            break;
        }
        let rest = line.get(1..).unwrap_or_default();
        match line.as_bytes().first() {
            Some(b'+') => hunk.changes.push(Change::Comes(rest)),
            Some(b'-') => {
                hunk.before.push(rest);
                hunk.changes.push(Change::Goes);
            }
            // An empty line stands for an empty line that stays: models leave out the space.
            Some(b' ') | None => {
                hunk.before.push(rest);
                hunk.changes.push(Change::Stays);
            }
            Some(_) => return Err(DiffError::Line { number: *at + 1, line: visible(line, 200) }),
        }
        *at += 1;
    }
    if lines.get(*at) == Some(&END_OF_FILE) {
        hunk.at_end = true;
        *at += 1;
    } else if hunk.changes.is_empty() {
        return Err(DiffError::Empty { number });
    }
    Ok(Some(hunk))
}

/// Behind the line that an anchor names, or where we are when it is not there or was passed already.
fn after_anchor(old: &[Line<'_>], anchor: &str, cursor: usize) -> usize {
    let look = |same: &dyn Fn(&str) -> bool| {
        let passed = old.iter().take(cursor).any(|line| same(line.text));
        let next = || old.iter().skip(cursor).position(|line| same(line.text));
        if passed { None } else { next() }
    };
    let exact = look(&|text| text == anchor);
    let found = exact.or_else(|| look(&|text| text.trim() == anchor.trim()));
    found.map_or(cursor, |found| cursor + found + 1)
}

/// Where the lines of a hunk are.
fn find(old: &[Line<'_>], hunk: &Hunk<'_>, from: usize) -> Option<usize> {
    if hunk.at_end {
        let last = old.len().saturating_sub(hunk.before.len());
        if let Some(found) = find_from(old, &hunk.before, last) {
            return Some(found);
        }
    }
    find_from(old, &hunk.before, from)
}

fn find_from(old: &[Line<'_>], wanted: &[&str], from: usize) -> Option<usize> {
    if wanted.is_empty() {
        return Some(from);
    }
    let ways: [fn(&str) -> &str; 3] = [|line| line, str::trim_end, str::trim];
    ways.iter().find_map(|way| {
        let fits = |start: &usize| {
            let own = old.iter().skip(*start).map(|line| way(line.text));
            own.take(wanted.len()).eq(wanted.iter().map(|line| way(line)))
        };
        (from..=old.len().checked_sub(wanted.len())?).find(fits)
    })
}

impl<'t> Line<'t> {
    fn same(&self) -> Line<'t> {
        Line { text: self.text, ending: self.ending }
    }
}

/// The lines of a file. Behind the last line ending there is one more, which is empty.
fn lines(text: &str) -> Vec<Line<'_>> {
    let mut all: Vec<Line<'_>> = text
        .split('\n')
        .map(|line| match line.strip_suffix('\r') {
            Some(line) => Line { text: line, ending: Some("\r\n") },
            None => Line { text: line, ending: Some("\n") },
        })
        .collect();
    if let Some(last) = all.last_mut() {
        last.ending = None;
    }
    all
}

fn diff_lines(diff: &str) -> Vec<&str> {
    let mut all: Vec<&str> = diff.split('\n').map(|line| line.trim_end_matches('\r')).collect();
    if all.last() == Some(&"") {
        all.pop();
    }
    all
}

fn ending(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn joined(lines: &[Line<'_>], style: &'static str) -> String {
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        out.push_str(line.text);
        if at + 1 < lines.len() {
            out.push_str(line.ending.unwrap_or(style));
        }
    }
    out
}

impl Explain for DiffError {
    fn code(&self) -> Code {
        Code::new("patch-diff")
    }

    fn why(&self) -> String {
        "a diff that is applied where it does not fit makes another file than the one that was meant".into()
    }

    fn fix(&self) -> String {
        "read the file again and write the diff anew, with a few lines around each change".into()
    }

    fn facts(&self) -> Map<String, Value> {
        match self {
            Self::Line { number, .. }
            | Self::NotNew { number, .. }
            | Self::Empty { number }
            | Self::Unannounced { number }
            | Self::Absent { number, .. } => facts([("line", (*number).into())]),
            Self::TwoPlaces { one, other } => facts([("places", vec![one.as_str(), other.as_str()].into())]),
        }
    }
}

#[cfg(test)]
mod tests;
