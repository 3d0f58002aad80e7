//! The words of a query, and what they say when the grammar does not know it: administration, and the extras of Neo4j.

use open_cypher::{Token, TokenKind};
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::procedures::{self, Argument};
use crate::sql::effect::join;

/// How far back the beginning of a list of labels is looked for.
const LABELS: usize = 32;

/// Some tokens of a text, without white space and comments.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str, tokens: &[Token]) -> Self {
        Self { text, tokens: tokens.iter().filter(|token| !token.kind.is_trivia()).copied().collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn raw(&self, at: usize) -> &'a str {
        self.tokens.get(at).and_then(|token| token.text(self.text)).unwrap_or_default()
    }

    /// True when this bare word stands at `at`.
    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        matches!(self.kind(at), Some(TokenKind::Keyword(_) | TokenKind::Identifier))
            && self.raw(at).eq_ignore_ascii_case(word)
    }

    pub(super) fn is_one_of(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(at, word))
    }

    /// What the string at `at` says, or nothing when it is none.
    pub(super) fn literal(&self, at: usize) -> Option<String> {
        let raw = self.raw(at);
        let inner = raw.get(1..raw.len().checked_sub(1)?)?;
        (self.kind(at) == Some(TokenKind::String)).then(|| inner.replace("\\'", "'").replace("\\\"", "\""))
    }

    /// The text of these words.
    pub(super) fn source(&self) -> &'a str {
        let start = self.tokens.first().map_or(0, |token| token.span.start);
        let end = self.tokens.last().map_or(0, |token| token.span.end);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The statements between semicolons, without the empty ones.
    pub(super) fn statements(&self) -> impl Iterator<Item = Self> {
        let parts = self.tokens.split(|token| token.kind == TokenKind::Semicolon);
        parts.filter(|part| !part.is_empty()).map(|part| Self { text: self.text, tokens: part.to_vec() })
    }

    pub(super) fn deepest(&self) -> usize {
        let (mut depth, mut deepest) = (0_usize, 0);
        for token in &self.tokens {
            match token.kind {
                TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::LeftBrace => {
                    depth += 1;
                    deepest = deepest.max(depth);
                }
                TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
        }
        deepest
    }

    pub(super) fn longest_run(&self) -> usize {
        let runs = self.tokens.split(|token| token.kind == TokenKind::Comma);
        runs.map(<[Token]>::len).max().unwrap_or_default()
    }

    /// True when the word at `at` is a name: a label, a type, a property, a key or a parameter.
    fn is_name(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| self.kind(at));
        let after = self.kind(at + 1);
        match before {
            Some(TokenKind::Colon | TokenKind::Dot | TokenKind::Dollar) => true,
            Some(TokenKind::Pipe | TokenKind::Ampersand | TokenKind::Bang) => self.is_label(at),
            _ => matches!(after, Some(TokenKind::Colon | TokenKind::Dot)),
        }
    }

    /// True for `SET` in `[:A|SET]`, not in `FOREACH (x IN xs | SET …)`: a colon begins the list of labels.
    fn is_label(&self, at: usize) -> bool {
        let listed = |kind: TokenKind| {
            matches!(
                kind,
                TokenKind::Pipe
                    | TokenKind::Ampersand
                    | TokenKind::Bang
                    | TokenKind::Keyword(_)
                    | TokenKind::Identifier
                    | TokenKind::EscapedIdentifier
            )
        };
        let first = (0..at).rev().take(LABELS).find(|&at| !self.kind(at).is_some_and(listed));
        first.is_some_and(|first| self.kind(first) == Some(TokenKind::Colon))
    }
}

/// Statements about the database itself, by their first word.
const ADMINISTRATION: &[(&str, Action, bool, Option<Danger>)] = &[
    ("SHOW", Action::Read, true, None),
    ("GRANT", Action::Update, true, Some(Danger::Privilege)),
    ("REVOKE", Action::Update, true, Some(Danger::Privilege)),
    ("DENY", Action::Update, true, Some(Danger::Privilege)),
    ("ALTER", Action::Update, true, Some(Danger::Privilege)),
    ("RENAME", Action::Update, true, Some(Danger::Privilege)),
    ("START", Action::Update, true, Some(Danger::Privilege)),
    ("STOP", Action::Update, false, Some(Danger::Privilege)),
    ("ENABLE", Action::Update, true, Some(Danger::Privilege)),
    ("TERMINATE", Action::Delete, true, None),
    ("DROP", Action::Delete, false, None),
    ("DEALLOCATE", Action::Update, true, Some(Danger::Privilege)),
    ("REALLOCATE", Action::Update, false, Some(Danger::Privilege)),
    ("DRYRUN", Action::Read, true, None),
];

/// Things that `CREATE` makes besides nodes.
const SCHEMA: &[&str] = &[
    "INDEX",
    "CONSTRAINT",
    "DATABASE",
    "ALIAS",
    "USER",
    "ROLE",
    "LOOKUP",
    "FULLTEXT",
    "TEXT",
    "POINT",
    "RANGE",
    "VECTOR",
    "BTREE",
    "OR",
    "COMPOSITE",
    "IMMUTABLE",
];

/// Reads a statement by its words.
pub(super) fn read(words: &Words<'_>, nested: usize) -> Result<Effect, String> {
    if let Some((_, action, bounded, danger)) = ADMINISTRATION.iter().find(|(word, ..)| words.is(0, word)) {
        return Ok(administration(words, *action, *bounded, *danger));
    }
    if words.is(0, "CREATE") && words.is_one_of(1, SCHEMA) {
        let replaces = words.is(1, "OR");
        let rights = (1..6).any(|at| words.is_one_of(at, &["USER", "ROLE", "ALIAS"]));
        let effect = Effect::mutating(
            if replaces { Action::Overwrite } else { Action::Create },
            "creates something of the schema",
        );
        let effect = if replaces && (1..6).any(|at| words.is(at, "DATABASE")) { effect.unbounded() } else { effect };
        return Ok(if rights { effect.with(Danger::Privilege) } else { effect });
    }
    let known = [
        "MATCH", "OPTIONAL", "RETURN", "WITH", "UNWIND", "CALL", "CREATE", "MERGE", "FOREACH", "LOAD", "USE",
        "PROFILE", "CYPHER", "USING", "SET", "DELETE", "DETACH", "REMOVE", "INSERT", "FINISH", "LET", "FILTER", "FOR",
        "WHEN", "SELECT", "NEXT",
    ];
    if !words.is_one_of(0, &known) && words.kind(0) != Some(TokenKind::LeftBrace) {
        return Err(format!("`{}` begins no statement that is known here", visible(words.raw(0), 40)));
    }
    let mut effect = Effect::pure(Action::Read, "reads the graph");
    let limited = is_limited(words);
    for at in 0..words.len() {
        if let Some(found) = clause(words, at, limited, nested) {
            join(&mut effect, found);
        }
    }
    Ok(effect)
}

fn administration(words: &Words<'_>, action: Action, bounded: bool, danger: Option<Danger>) -> Effect {
    let summary = words.raw(0).to_ascii_uppercase();
    let effect = match action {
        Action::Read => Effect::pure(action, summary),
        _ => Effect::mutating(action, summary),
    };
    let effect = danger.into_iter().fold(effect, Effect::with);
    let rights = action != Action::Read && words.is_one_of(1, &["USER", "ROLE"]);
    let effect = if rights { effect.with(Danger::Privilege) } else { effect };
    if bounded { effect } else { effect.unbounded() }
}

/// True when the first `MATCH` names something in particular: by a property, or by a condition that is more than `true`.
fn is_limited(words: &Words<'_>) -> bool {
    let ends = ["RETURN", "WITH", "CREATE", "MERGE", "FOREACH", "CALL", "SET", "DELETE", "DETACH", "REMOVE", "UNWIND"];
    let start = (0..words.len()).find(|&at| words.is(at, "MATCH") && !words.is_name(at)).unwrap_or(words.len());
    let end = (start..words.len()).find(|&at| words.is_one_of(at, &ends) && !words.is_name(at)).unwrap_or(words.len());
    (start..end).any(|at| {
        let condition =
            words.is(at, "WHERE") && !words.is(at + 1, "true") && words.kind(at + 1) != Some(TokenKind::Integer);
        condition || words.kind(at) == Some(TokenKind::LeftBrace)
    })
}

/// What the word at `at` does where it begins a clause.
fn clause(words: &Words<'_>, at: usize, limited: bool, nested: usize) -> Option<Effect> {
    if words.is_name(at) {
        return None;
    }
    let writes = |action: Action, summary: &str| {
        let effect = Effect::mutating(action, summary);
        Some(if limited { effect } else { effect.unbounded() })
    };
    if words.is_one_of(at, &["CREATE", "INSERT", "MERGE"]) {
        return Some(Effect::mutating(Action::Create, "creates nodes or relationships"));
    }
    if words.is_one_of(at, &["DELETE", "NODETACH"]) {
        return writes(Action::Delete, "deletes");
    }
    if words.is_one_of(at, &["SET", "REMOVE"]) {
        return writes(Action::Update, "changes properties or labels");
    }
    if words.is(at, "LOAD") && words.is(at + 1, "CSV") {
        return Some(Effect::pure(Action::Read, "loads a file or address").with(Danger::Escape));
    }
    if words.is(at, "CALL") {
        let mut name = String::new();
        let mut end = at + 1;
        while matches!(
            words.kind(end),
            Some(TokenKind::Keyword(_) | TokenKind::Identifier | TokenKind::EscapedIdentifier)
        ) {
            name.push_str(words.raw(end).trim_matches('`'));
            if words.kind(end + 1) != Some(TokenKind::Dot) {
                break;
            }
            name.push('.');
            end += 2;
        }
        let strings = (end..words.len()).take(64).filter_map(|at| words.literal(at)).map(Argument::Text);
        let arguments: Vec<Argument> = strings.collect();
        return if name.is_empty() { None } else { procedures::call(&name, &arguments, nested) };
    }
    None
}
