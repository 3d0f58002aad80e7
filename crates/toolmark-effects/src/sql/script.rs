//! Reads a whole text in one spelling: every statement, in order, and what the statements mean to each other.

use std::cell::Cell;

use toolmark_core::behavior::Mutability;
use toolmark_core::facts::{Danger, Effect};

use super::Dialect;
use super::lex::{Kind, Lexed};
use super::lexis::Lexis;
use super::split::split;
use super::statement;
use super::tokens::Tokens;

/// Deeper parentheses are not read.
const DEPTH: usize = 200;

/// More statements are not read.
const STATEMENTS: usize = 1_000;

/// How many tokens are parsed for one text, over all attempts.
const PARSED: usize = 40_000;

/// How many strings are read as SQL for one text.
const NESTED: usize = 16;

/// How many statements may stand in each other.
const INSIDE: usize = 8;

/// Texts of more tokens are not read.
const TOKENS: usize = 100_000;

/// What was read of a text.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) effects: Vec<Effect>,
    /// Why the rest was not understood.
    pub(super) unread: Option<String>,
}

/// What readers of statements share: the dialect, and how much work is left.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) dialect: Dialect,
    parsed: Cell<usize>,
    nested: Cell<usize>,
    /// How many statements stand in each other, as in `EXPLAIN ANALYZE EXPLAIN ANALYZE …`.
    inside: Cell<usize>,
    depth: u8,
}

impl Reader {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, parsed: Cell::new(PARSED), nested: Cell::new(NESTED), inside: Cell::new(0), depth: 0 }
    }

    /// The same for another dialect, with what is left.
    pub(super) fn in_dialect(&self, dialect: Dialect) -> Self {
        Self {
            dialect,
            parsed: self.parsed.clone(),
            nested: self.nested.clone(),
            inside: Cell::new(0),
            depth: self.depth,
        }
    }

    /// Takes over what another reader left.
    pub(super) fn charge(&self, other: &Self) {
        self.parsed.set(other.parsed.get());
        self.nested.set(other.nested.get());
    }

    /// Reads every statement of a text that was cut into tokens.
    pub(super) fn script(&self, text: &str, lexed: &Lexed, lexis: Lexis) -> Script {
        let tokens = Tokens { text, all: &lexed.tokens, lexis, comments: lexed.comments };
        let unread = |reason: &str| Script { effects: Vec::new(), unread: Some(reason.into()) };
        if tokens.len() > TOKENS {
            return unread("it has more than 100,000 words and symbols");
        }
        if deepest(tokens) > DEPTH {
            return unread("it nests deeper than 200 parentheses");
        }
        let statements = split(tokens);
        if statements.is_empty() {
            return unread("it contains no statement");
        }
        if statements.len() > STATEMENTS {
            return unread("it contains more than 1,000 statements");
        }
        let mut script = Script::default();
        let mut open = 0_usize;
        for range in &statements {
            let one = tokens.before(range.end).after(range.start);
            match statement::read(self, one) {
                Ok(effect) => script.effects.push(leaving(one, effect, statements.len(), &mut open)),
                Err(reason) => script.unread = script.unread.or(Some(reason)),
            }
        }
        script
    }

    /// Reads SQL that stands in a string. Nothing when it is not understood, or when there is too much of it.
    pub(super) fn nested(&self, sql: &str) -> Option<Vec<Effect>> {
        if self.depth > 1 || self.nested.get() == 0 {
            return None;
        }
        self.nested.set(self.nested.get() - 1);
        let inner = Self { depth: self.depth + 1, ..self.in_dialect(self.dialect) };
        let script = super::best(&inner, sql);
        self.charge(&inner);
        script.unread.is_none().then_some(script.effects)
    }

    /// Reads a statement that stands in another one.
    pub(super) fn inner(&self, tokens: Tokens<'_>) -> Result<Effect, String> {
        let inside = self.inside.get() + 1;
        if inside > INSIDE {
            return Err("too many statements stand in each other".into());
        }
        self.inside.set(inside);
        let effect = statement::read(self, tokens);
        self.inside.set(inside - 1);
        effect
    }

    /// True when so many tokens may still be parsed; they count as parsed from here on.
    pub(super) fn may_parse(&self, tokens: usize) -> bool {
        let left = self.parsed.get().checked_sub(tokens);
        if let Some(left) = left {
            self.parsed.set(left);
        }
        left.is_some()
    }

    /// True where a quoted name may be a file.
    pub(super) fn scans_files(&self) -> bool {
        matches!(self.dialect, Dialect::Duckdb | Dialect::Generic)
    }
}

/// Marks a `COMMIT` that ends a transaction which the text did not begin: the read-only one that a tool put around it.
fn leaving(tokens: Tokens<'_>, effect: Effect, statements: usize, open: &mut usize) -> Effect {
    let begins = tokens.is(0, "BEGIN") || tokens.starts(&["START", "TRANSACTION"]);
    let savepoint = tokens.find(&["TO"]).is_some() || tokens.is(1, "PREPARED");
    let ends = tokens.is_one_of(0, &["COMMIT", "END", "ROLLBACK", "ABORT"]) && !savepoint;
    if begins {
        *open += 1;
    } else if ends && *open > 0 {
        *open -= 1;
    } else if ends && statements > 1 && effect.mutability == Mutability::Pure {
        return effect.with(Danger::Escape);
    }
    effect
}

fn deepest(tokens: Tokens<'_>) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for token in tokens.all {
        match token.kind {
            Kind::Open => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
