//! The clauses of a parsed query: what each does, and whether what it changes is limited by what was matched before.

use open_cypher::ast::{
    CallTarget, Clause, ClauseKind, DeleteMode, Expr, ExprKind, LiteralKind, NodePattern, PathFactorKind, Pattern,
    Program, Query, QueryKind, StatementKind,
};
use toolmark_core::behavior::Action;
use toolmark_core::facts::{Danger, Effect};
use toolmark_core::text::visible;

use super::procedures::{self, Argument};
use crate::sql::effect::join;

/// How deep subqueries stand in each other.
const DEPTH: usize = 64;

/// Reads a parsed program.
pub(super) fn read(program: &Program, nested: usize) -> Effect {
    let mut reader = Reader { effect: Effect::pure(Action::Read, "reads the graph"), nested };
    for statement in &program.statements {
        match &statement.kind {
            StatementKind::Query(statement) => reader.query(&statement.query, false, DEPTH),
            _ => reader.unknown(),
        }
    }
    reader.effect
}

struct Reader {
    effect: Effect,
    nested: usize,
}

impl Reader {
    fn unknown(&mut self) {
        join(&mut self.effect, Effect::mutating(Action::Execute, "contains something unknown").unbounded());
    }

    fn query(&mut self, query: &Query, limited: bool, depth: usize) {
        match (&query.kind, depth.checked_sub(1)) {
            (QueryKind::Regular(regular), Some(depth)) => {
                self.clauses(&regular.head.kind.clauses, limited, depth);
                regular.unions.iter().for_each(|union| self.clauses(&union.query.kind.clauses, limited, depth));
            }
            _ => self.unknown(),
        }
    }

    /// Reads clauses in order. `limited` is whether what was matched so far is less than everything.
    fn clauses(&mut self, clauses: &[Clause], mut limited: bool, depth: usize) {
        let (mut matched, mut created) = (false, false);
        for clause in clauses {
            // What was made here may be changed here; whatever else there is may be everything.
            let bounded = limited || (created && !matched);
            created |= matches!(clause.kind, ClauseKind::Create(_) | ClauseKind::Insert(_) | ClauseKind::Merge(_));
            match &clause.kind {
                ClauseKind::Match(found) => {
                    matched = true;
                    limited |= found.where_clause.as_ref().is_some_and(limits) || is_limited(&found.pattern);
                }
                ClauseKind::With(with) => {
                    limited |= with.projection.limit.is_some() || with.where_clause.as_ref().is_some_and(limits);
                }
                ClauseKind::Filter(filter) => limited |= limits(&filter.predicate),
                ClauseKind::Create(_) | ClauseKind::Insert(_) => {
                    self.add(Action::Create, "creates nodes or relationships", true);
                }
                ClauseKind::Merge(merge) => {
                    let (action, summary) = if merge.actions.is_empty() {
                        (Action::Create, "creates what is not there")
                    } else {
                        (Action::Update, "creates or changes")
                    };
                    self.add(action, summary, true);
                }
                ClauseKind::Delete(delete) => {
                    let summary = if delete.mode.kind == DeleteMode::Detach {
                        "deletes nodes with their relationships"
                    } else {
                        "deletes"
                    };
                    self.add(Action::Delete, summary, bounded);
                }
                ClauseKind::Set(_) | ClauseKind::Remove(_) => {
                    self.add(Action::Update, "changes properties or labels", bounded);
                }
                ClauseKind::Foreach(foreach) => match depth.checked_sub(1) {
                    Some(depth) => self.clauses(&foreach.clauses, bounded, depth),
                    None => self.unknown(),
                },
                ClauseKind::LoadCsv(load) => {
                    let source = text(&load.source).map(|source| visible(&source, 120));
                    join(
                        &mut self.effect,
                        Effect::pure(Action::Read, "loads a file or address").on(source).with(Danger::Escape),
                    );
                }
                ClauseKind::Call(call) => match &call.target {
                    CallTarget::Subquery { query, .. } => self.query(query, bounded, depth),
                    CallTarget::Procedure { name, arguments } => {
                        let name: Vec<&str> = name.parts.iter().map(|part| part.kind.text.as_str()).collect();
                        let arguments: Vec<Argument> = arguments.iter().flatten().map(argument).collect();
                        if let Some(effect) = procedures::call(&name.join("."), &arguments, self.nested) {
                            join(&mut self.effect, effect);
                        }
                    }
                    _ => self.unknown(),
                },
                ClauseKind::Use(_)
                | ClauseKind::Unwind(_)
                | ClauseKind::Let(_)
                | ClauseKind::Return(_)
                | ClauseKind::Select(_)
                | ClauseKind::Next(_)
                | ClauseKind::Finish => {}
                _ => self.unknown(),
            }
        }
    }

    fn add(&mut self, action: Action, summary: &str, bounded: bool) {
        let effect = Effect::mutating(action, summary);
        join(&mut self.effect, if bounded { effect } else { effect.unbounded() });
    }
}

/// True when a pattern names something in particular: a node with properties.
fn is_limited(pattern: &Pattern) -> bool {
    let named = |node: &NodePattern| node.properties.is_some() || node.where_clause.as_deref().is_some_and(limits);
    pattern.parts.iter().flat_map(|part| &part.kind.path.kind.factors).any(|factor| match &factor.kind {
        PathFactorKind::Node(node) | PathFactorKind::QuantifiedNode { pattern: node, .. } => named(node),
        PathFactorKind::Relationship(relationship) => relationship.properties.is_some(),
        _ => false,
    })
}

/// False for `true` and `1 = 1`.
fn limits(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Literal(_) => false,
        ExprKind::Parenthesized(inner) => limits(inner),
        ExprKind::Binary { left, right, .. } => {
            !(matches!(left.kind, ExprKind::Literal(_)) && matches!(right.kind, ExprKind::Literal(_)))
        }
        _ => true,
    }
}

fn argument(expr: &Expr) -> Argument {
    match (text(expr), &expr.kind) {
        (Some(text), _) => Argument::Text(text),
        (None, ExprKind::Literal(_) | ExprKind::Map(_) | ExprKind::List(_) | ExprKind::Parameter(_)) => Argument::Data,
        (None, _) => Argument::Computed,
    }
}

fn text(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Literal(literal) => match &literal.kind {
            LiteralKind::String(text) => Some(text.value.clone()),
            _ => None,
        },
        _ => None,
    }
}
