//! What a statement shows at a glance, from its tokens alone: the relations it names, the functions it calls, and the
//! words that would write if they were keywords here.
//!
//! Invariant: a query in which no such word stands, in any position, writes nothing except through its functions. So a
//! query with an empty glance is a plain read without being parsed, in every dialect, however exotic its syntax.

pub(super) mod words;

use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use self::words::{
    CLAUSES, defined_before, defines, file_name, is_locking, is_writing, lower, may_be_known, opens, takes_a_number,
};
use super::effect::join;
use super::functions::{self, Where};
use super::judge;
use super::lex::Kind;
use super::place::Place;
use super::script::Reader;
use super::secrets;
use super::tokens::Tokens;

/// How many relations and calls are looked at in one statement.
const RELATIONS: usize = 256;
const CALLS: usize = 1_000;

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Glance {
    /// A word that writes where it is a keyword.
    pub(super) writes: bool,
    /// Names that promise secrets.
    pub(super) secrets: bool,
    /// A relation that holds nothing but secrets.
    pub(super) vault: bool,
    /// Joins without a condition, or recursion.
    pub(super) size: bool,
    /// The tables and files that are read or written.
    pub(super) relations: Vec<String>,
    /// What functions and file names do, all together.
    pub(super) parts: Option<Effect>,
    /// There is more to be looked at than is looked at.
    pub(super) excess: bool,
    /// Rows are locked.
    pub(super) locks: bool,
    /// How many rows the series in it have together when each is joined with each.
    rows: f64,
    /// How many calls were looked at.
    calls: usize,
    /// A `TRANSFORM` was seen.
    transform: bool,
    /// A `WITH` was seen.
    with: bool,
    /// The names that it defines.
    defined: Vec<String>,
}

/// Where the walk is inside one pair of parentheses.
#[derive(Clone, Copy, Default)]
struct Level {
    /// `SELECT`, `DELETE` or another word that has a `FROM` was seen.
    query: bool,
    /// Between `FROM` and the next clause.
    from: bool,
    /// What the next name is.
    next: Next,
}

/// What a name would be if it came now.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Column,
    /// Something to read from; with parentheses, a call.
    Source,
    /// Something to write to; with parentheses, a list of columns.
    Target,
}

impl Glance {
    /// Looks at one statement.
    pub(super) fn at(reader: &Reader, tokens: Tokens<'_>) -> Self {
        let mut glance = Self::default();
        let mut levels = vec![Level::default()];
        let mut at = 0;
        while at < tokens.len() {
            let level = levels.last().copied().unwrap_or_default();
            let mut next = level;
            let start = at;
            at += 1;
            match tokens.kind(start) {
                Some(Kind::Open) => {
                    if level.next == Next::Source {
                        next.next = Next::Column;
                        set(&mut levels, next);
                        // `FROM (a JOIN b …)` names relations, `FROM (SELECT …)` does not.
                        levels.push(Level { query: true, from: true, next: Next::Source });
                    } else {
                        levels.push(Level::default());
                    }
                    continue;
                }
                Some(Kind::Close) if levels.len() > 1 => {
                    levels.pop();
                    continue;
                }
                Some(Kind::Comma) if level.from => {
                    glance.size = true;
                    next.next = Next::Source;
                }
                Some(Kind::Word | Kind::Quoted | Kind::Text | Kind::Variable) => {
                    at = glance.name_or_word(reader, tokens, start, &mut next);
                }
                _ => {}
            }
            set(&mut levels, next);
        }
        let defined = std::mem::take(&mut glance.defined);
        glance.relations.retain(|relation| !defined.contains(&relation.to_ascii_lowercase()));
        glance
    }

    /// True when there is nothing that would need a closer look.
    pub(super) fn is_plain(&self) -> bool {
        !(self.writes || self.secrets || self.size)
    }

    /// Reads what begins at `at` and returns where to go on.
    fn name_or_word(&mut self, reader: &Reader, tokens: Tokens<'_>, at: usize, level: &mut Level) -> usize {
        let mut buffer = [0; 32];
        let word = tokens.word(at);
        let word = if may_be_known(word) { lower(word, &mut buffer) } else { "" };
        if is_locking(word, tokens, at) {
            self.locks = true;
            return at + 1;
        }
        if takes_a_number(word, tokens, at) {
            self.add(Effect::mutating(Action::Update, "takes the next number of a sequence"));
        }
        if !word.is_empty() && self.keyword(word, tokens, at, level) {
            self.writes |= is_writing(word, tokens, at);
            return at + 1;
        }
        if level.next != Next::Column {
            let target = std::mem::take(&mut level.next) == Next::Target;
            return self.relation(reader, tokens, at, target);
        }
        if matches!(tokens.kind(at), Some(Kind::Text)) {
            return at + 1;
        }
        self.writes |= is_writing(word, tokens, at);
        if tokens.symbol(at + 1, "(") {
            self.call(reader, tokens, at, Where::Anywhere);
        } else if !tokens.is(at.wrapping_sub(1), "AS") {
            self.secrets |= secrets::is_suspicious(tokens.unquoted(at));
        }
        at + 1
    }

    fn relation(&mut self, reader: &Reader, tokens: Tokens<'_>, at: usize, target: bool) -> usize {
        let Some((name, end)) = tokens.name(at) else { return at + 1 };
        if tokens.symbol(end, "(") && !target {
            self.call(reader, tokens, end - 1, Where::Relation);
            return end;
        }
        if self.relations.contains(&name) {
            return end;
        }
        if self.relations.len() >= RELATIONS {
            self.excess = true;
            return end;
        }
        if let Some(place) = file_name(reader, tokens, at, end)
            && let Some(danger) = Place::of(&place).read_danger()
        {
            self.add(Effect::pure(Action::Read, format!("reads `{}`", visible(&place, 120))).with(danger));
        }
        if let Some(effect) = name.strip_prefix("pragma_").and_then(super::pragma::called) {
            self.add(effect);
        }
        // ClickHouse never stops counting there.
        self.size |= name.to_ascii_lowercase().starts_with("system.numbers");
        self.vault |= secrets::is_vault(&name);
        self.secrets |= secrets::is_secret_table(&name);
        self.relations.push(name);
        end
    }

    /// Looks at the call of the function whose last name stands at `at`.
    fn call(&mut self, reader: &Reader, tokens: Tokens<'_>, at: usize, position: Where) {
        let mut name = tokens.unquoted(at).trim_start_matches(['@', '$']).to_ascii_lowercase();
        let mut first = at;
        if tokens.kind(at.wrapping_sub(1)) == Some(Kind::Dot) && at >= 2 {
            first = at - 2;
            name = format!("{}.{name}", tokens.unquoted(first).to_ascii_lowercase());
        }
        let effect = if let Some(does) = functions::find(&name, position) {
            if defines(tokens, first, at) {
                return;
            }
            self.calls += 1;
            if self.calls > CALLS {
                self.excess = true;
                return;
            }
            let inside = tokens.inside(at + 1);
            // Rows of several series in one statement multiply where they are not joined by a condition.
            if does == functions::Does::Spans && position == Where::Relation {
                self.rows = self.rows.max(1.0) * judge::rows(inside).max(1.0);
            }
            if self.rows > judge::MANY * 100.0 && does == functions::Does::Spans {
                Some(judge::many_rows(&name))
            } else {
                judge::judge(reader, &name, does, inside)
            }
        } else if let Some(pragma) = name.strip_prefix("pragma_").filter(|_| position == Where::Relation) {
            super::pragma::called(pragma)
        } else if functions::is_named_after_a_change(&name) && !defines(tokens, first, at) {
            Some(judge::named_after_a_change(&name))
        } else {
            self.vault |= secrets::is_vault(&name);
            None
        };
        if let Some(effect) = effect {
            self.add(effect);
        }
    }

    fn add(&mut self, effect: Effect) {
        match &mut self.parts {
            Some(parts) => join(parts, effect),
            None => self.parts = Some(effect),
        }
    }

    /// Notes what a keyword says about the names that follow. False when the word is no such keyword here.
    fn keyword(&mut self, word: &str, tokens: Tokens<'_>, at: usize, level: &mut Level) -> bool {
        match word {
            "table" | "summarize" | "pivot" | "unpivot" if at == 0 => level.next = Next::Source,
            "select" | "delete" => *level = Level { query: true, ..Level::default() },
            "from" => {
                let distinct =
                    tokens.is(at.wrapping_sub(1), "DISTINCT") && tokens.is_one_of(at.wrapping_sub(2), &["IS", "NOT"]);
                // DuckDB begins with `FROM`; `EXTRACT(year FROM t)` names no relation.
                if !distinct && ((level.query && !level.from) || at == 0 || opens(tokens, at)) {
                    *level = Level { query: true, from: true, next: Next::Source };
                }
            }
            "join" | "describe" => level.next = Next::Source,
            "into" if tokens.is_one_of(at + 1, &["OUTFILE", "DUMPFILE"]) => {}
            "into" => level.next = Next::Target,
            "update" if tokens.is_one_of(at.wrapping_sub(1), &["FOR", "ON", "KEY", "DO", "THEN"]) => {}
            "update" if tokens.is(at + 1, "OR") => {}
            "update" => *level = Level { query: true, from: false, next: Next::Target },
            // Hive and Spark run rows through a program: `SELECT TRANSFORM (a) USING 'program'`.
            "transform" => {
                self.transform = true;
                return false;
            }
            "using" if self.transform && matches!(tokens.kind(at + 1), Some(Kind::Text | Kind::Quoted)) => {
                self.add(Effect::mutating(Action::Execute, "runs a program").unbounded().with(Danger::Code));
            }
            "using" if level.from && !tokens.symbol(at + 1, "(") => level.next = Next::Source,
            "using" => level.next = Next::Column,
            "function" if level.next == Next::Target => level.next = Next::Source,
            "lateral" | "only" | "table" | "rows" => return level.next != Next::Column,
            "values" | "unnest" => level.next = Next::Column,
            "with" => self.with = true,
            "as" if self.with && self.defined.len() < RELATIONS => {
                if tokens.symbol(at + 1, "(") || tokens.is_one_of(at + 1, &["MATERIALIZED", "NOT"]) {
                    self.defined.push(tokens.unquoted(defined_before(tokens, at)).to_ascii_lowercase());
                }
            }
            "cross" | "recursive" => self.size = true,
            // SQLite and SQL Server recurse without saying so.
            "union" => {
                self.size |= self.with;
                level.from = false;
            }
            _ if CLAUSES.binary_search(&word).is_ok() => level.from = false,
            _ => return false,
        }
        true
    }

    /// What the relation names and parts add to a query that only reads.
    pub(super) fn vault_danger(&self) -> Option<Danger> {
        self.vault.then_some(Danger::Secret)
    }
}

fn set(levels: &mut [Level], level: Level) {
    if let Some(last) = levels.last_mut() {
        *last = level;
    }
}
