//! Redirections, and the here-documents that some of them announce.

use super::{Parsed, Reader, Refusal};
use crate::shell::tree::{Piece, Redirect, RedirectKind, Word};

/// A here-document whose body begins at the next line.
pub(super) struct Pending {
    delimiter: String,
    strips_tabs: bool,
    expands: bool,
    body: usize,
}

/// The operators, longest first.
const OPERATORS: &[(&str, RedirectKind)] = &[
    ("&>>", RedirectKind::Append),
    ("&>", RedirectKind::Overwrite),
    ("<<<", RedirectKind::HereString),
    (">>", RedirectKind::Append),
    (">&", RedirectKind::Duplicate),
    (">|", RedirectKind::Overwrite),
    (">", RedirectKind::Overwrite),
    ("<&", RedirectKind::Duplicate),
    ("<>", RedirectKind::ReadWrite),
    ("<", RedirectKind::Read),
];

impl Reader<'_> {
    /// Reads a redirection, if one begins here.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let rest = self.rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let operator = rest.get(digits..).unwrap_or_default();
        let both = digits == 0 && operator.starts_with("&>");
        if !(operator.starts_with(['<', '>']) || both) {
            return Ok(None);
        }
        if digits == 0 && (operator.starts_with("<(") || operator.starts_with(">(")) {
            return Ok(None);
        }
        self.at += digits;
        if operator.starts_with("<<") && !operator.starts_with("<<<") {
            return self.here_document().map(Some);
        }
        for (text, kind) in OPERATORS {
            if self.eat(text) {
                self.skip_blanks();
                let target = self.non_empty_word()?;
                return Ok(Some(Redirect { kind: *kind, target }));
            }
        }
        Err(Refusal("a redirection has a form that shells read differently"))
    }

    fn here_document(&mut self) -> Parsed<Redirect> {
        self.at += 2;
        let strips_tabs = self.eat("-");
        self.skip_blanks();
        let word = self.non_empty_word()?;
        let delimiter = word.literal().ok_or(Refusal("the end of a here-document is not plain"))?;
        if delimiter.contains(['\n', '$', '`']) || delimiter.is_empty() {
            return Err(Refusal("the end of a here-document is not plain"));
        }
        let expands = word.bare().is_some();
        let body = self.notes.bodies.len();
        self.notes.bodies.push(Word::default());
        self.pending.push(Pending { delimiter, strips_tabs, expands, body });
        Ok(Redirect { kind: RedirectKind::HereDocument(body), target: Word::default() })
    }

    /// Takes a line end and the here-documents after it.
    pub(super) fn end_line(&mut self) -> Parsed<()> {
        self.at += 1;
        if self.outer_pending {
            return Err(Refusal("a here-document begins inside a substitution"));
        }
        for pending in std::mem::take(&mut self.pending) {
            let text = self.body_text(&pending)?;
            let word = self.body_word(&pending, &text)?;
            if let Some(body) = self.notes.bodies.get_mut(pending.body) {
                *body = word;
            }
        }
        Ok(())
    }

    pub(super) fn no_pending(&self) -> Parsed<()> {
        if self.pending.is_empty() { Ok(()) } else { Err(Refusal("a here-document has no body")) }
    }

    fn body_text(&mut self, pending: &Pending) -> Parsed<String> {
        let mut body = String::new();
        for line in self.rest().split_inclusive('\n') {
            self.at += line.len();
            let content = line.strip_suffix('\n').unwrap_or(line);
            let content = if pending.strips_tabs { content.trim_start_matches('\t') } else { content };
            if content == pending.delimiter {
                return Ok(body);
            }
            if self.depth > 1 && content.starts_with(&pending.delimiter) {
                return Err(Refusal("the end of a here-document can be read in two ways"));
            }
            body.push_str(content);
            body.push('\n');
        }
        Err(Refusal("a here-document has no end"))
    }

    fn body_word(&mut self, pending: &Pending, text: &str) -> Parsed<Word> {
        if !pending.expands {
            let mut pieces = Vec::new();
            self.quoted(&mut pieces, text);
            return Ok(Word { pieces });
        }
        if text.contains("\\\n") {
            return Err(Refusal("the lines of a here-document can be read in two ways"));
        }
        self.within(text, |inner| {
            let mut pieces: Vec<Piece> = Vec::new();
            while inner.peek().is_some() {
                inner.quoted_piece(&mut pieces, "")?;
            }
            Ok(Word { pieces })
        })
    }
}
