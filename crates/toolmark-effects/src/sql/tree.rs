//! The parsed tree of a query or change, walked whole: writes in a `WITH`, secrets in a projection, joins without end.

mod change;
mod predicate;
mod projection;
mod size;

use std::ops::ControlFlow;

use sqlparser::ast::{Query, Select, Statement, Visit, Visitor};
use sqlparser::dialect::{
    BigQueryDialect, ClickHouseDialect, Dialect as Grammar, DuckDbDialect, GenericDialect, MsSqlDialect, MySqlDialect,
    PostgreSqlDialect, SQLiteDialect, SnowflakeDialect,
};
use sqlparser::parser::Parser;
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};

use super::Dialect;
use super::effect::join;
use super::lex::Kind;
use super::script::Reader;
use super::secrets;
use super::tokens::Tokens;

/// Longer statements are not parsed.
const TOKENS: usize = 20_000;

/// Longer runs without a comma are not parsed: the tree of `1 + 1 + …` is as deep as the run is long, and trees are
/// taken apart recursively.
const RUN: usize = 1_500;

/// How deep the parser may go.
const RECURSION: usize = 120;

/// Parses one statement and puts its effects together.
pub(super) fn read(reader: &Reader, tokens: Tokens<'_>) -> Result<Effect, String> {
    let statement = parse(reader, tokens)?;
    let mut walk = Walk { effect: Effect::pure(Action::Read, ""), secret: false, bomb: false, defined: Vec::new() };
    let _: ControlFlow<()> = statement.visit(&mut walk);
    let mut effect = walk.effect;
    if walk.secret {
        join(&mut effect, Effect::pure(Action::Read, "reads secrets").with(Danger::Secret));
    }
    if walk.bomb {
        join(&mut effect, Effect::pure(Action::Read, "may never end").with(Danger::Exhaustion));
    }
    Ok(effect)
}

/// For what cannot be parsed: whether any name promises secrets.
pub(super) fn words_promise_secrets(tokens: Tokens<'_>) -> bool {
    (0..tokens.len()).any(|at| {
        matches!(tokens.kind(at), Some(Kind::Word | Kind::Quoted)) && secrets::is_secret_column(tokens.unquoted(at))
    })
}

fn parse(reader: &Reader, tokens: Tokens<'_>) -> Result<Statement, String> {
    if tokens.len() > TOKENS || longest_run(tokens) > RUN {
        return Err("it is too long to be parsed".into());
    }
    let source = tokens.source();
    let mut reason = String::new();
    for grammar in grammars(reader.dialect) {
        if !reader.may_parse(tokens.len()) {
            return Err("there is too much to be parsed".into());
        }
        let parsed = Parser::new(*grammar)
            .with_recursion_limit(RECURSION)
            .try_with_sql(&source)
            .and_then(|mut parser| parser.parse_statements());
        match parsed.map(<[Statement; 1]>::try_from) {
            Ok(Ok([statement])) => return Ok(statement),
            Ok(Err(_)) => reason = "it is more than one statement to the parser".into(),
            Err(error) if reason.is_empty() => reason = error.to_string(),
            Err(_) => {}
        }
    }
    Err(format!("it cannot be parsed: {}", toolmark_core::text::visible(&reason, 160)))
}

fn grammars(dialect: Dialect) -> &'static [&'static dyn Grammar] {
    match dialect {
        Dialect::Sqlite => &[&SQLiteDialect {}, &GenericDialect {}],
        Dialect::Postgres => &[&PostgreSqlDialect {}, &GenericDialect {}],
        Dialect::Mysql => &[&MySqlDialect {}, &GenericDialect {}],
        Dialect::Duckdb => &[&DuckDbDialect {}, &PostgreSqlDialect {}, &GenericDialect {}],
        Dialect::Clickhouse => &[&ClickHouseDialect {}, &GenericDialect {}],
        Dialect::Generic => &[
            &GenericDialect {},
            &PostgreSqlDialect {},
            &MySqlDialect {},
            &SQLiteDialect {},
            &MsSqlDialect {},
            &SnowflakeDialect,
            &BigQueryDialect,
        ],
    }
}

/// The longest run of tokens on one level of parentheses without a comma.
fn longest_run(tokens: Tokens<'_>) -> usize {
    let mut runs = vec![0_usize];
    let mut longest = 0;
    for token in tokens.all {
        match token.kind {
            Kind::Open => runs.push(0),
            Kind::Close if runs.len() > 1 => {
                runs.pop();
            }
            Kind::Comma => {
                if let Some(run) = runs.last_mut() {
                    *run = 0;
                }
            }
            _ => {}
        }
        if let Some(run) = runs.last_mut() {
            *run += 1;
            longest = longest.max(*run);
        }
    }
    longest
}

/// What the walk has found.
struct Walk {
    effect: Effect,
    secret: bool,
    bomb: bool,
    /// What the `WITH`s on the way down define, in lower case.
    defined: Vec<String>,
}

impl Visitor for Walk {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        if let Some(effect) = change::effect(statement) {
            join(&mut self.effect, effect);
        }
        self.secret |= projection::returns_secrets(statement);
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.bomb |= size::never_ends(query);
        let names =
            query.with.iter().flat_map(|with| &with.cte_tables).map(|cte| cte.alias.name.value.to_ascii_lowercase());
        self.defined.extend(names);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if let Some(effect) = change::into(select) {
            join(&mut self.effect, effect);
        }
        self.secret |= projection::reads_secrets(select);
        self.bomb |= size::multiplies(select, &self.defined);
        ControlFlow::Continue(())
    }
}
