//! Queries that can use up the database: recursion without an end, and joins that multiply everything with everything.

use sqlparser::ast::{
    BinaryOperator, Cte, Expr, JoinConstraint, JoinOperator, LimitClause, Query, Select, SetExpr, SetQuantifier,
    TableFactor, Value,
};

use super::change::plain;
use super::predicate::covers_everything;

/// A counter that runs further than this is as good as endless.
const FAR: f64 = 10_000_000.0;

/// How many tables may be multiplied with each other, and how many small lists.
const TABLES: usize = 3;
const LISTS: usize = 6;

/// How deep unions are looked into.
const DEPTH: usize = 64;

/// True when a `WITH` of the query recurses and nothing stops it.
pub(super) fn never_ends(query: &Query) -> bool {
    let endless_table = |select: &Select| {
        select.from.iter().any(|from| matches!(&from.relation, TableFactor::Table { name, .. } if plain(name).to_ascii_lowercase().starts_with("system.numbers")))
    };
    if let SetExpr::Select(select) = query.body.as_ref()
        && endless_table(select)
        && query.limit_clause.is_none()
        && select.selection.is_none()
    {
        return true;
    }
    let stops = stops_early(query);
    query.with.iter().flat_map(|with| &with.cte_tables).any(|cte| recurses_without_end(cte) && !stops)
}

/// True when the query around a recursion stops asking: a `LIMIT` on rows as they come, neither sorted nor counted.
fn stops_early(query: &Query) -> bool {
    let limited = match &query.limit_clause {
        Some(LimitClause::LimitOffset { limit, .. }) => limit.is_some(),
        Some(LimitClause::OffsetCommaLimit { .. }) => true,
        None => query.fetch.is_some(),
    };
    let plain_rows = match query.body.as_ref() {
        SetExpr::Select(select) => !select.projection.iter().any(|item| item.to_string().contains('(')),
        _ => false,
    };
    limited && query.order_by.is_none() && plain_rows
}

fn recurses_without_end(cte: &Cte) -> bool {
    let own = cte.alias.name.value.to_ascii_lowercase();
    branches(&cte.query.body, DEPTH).into_iter().any(|select| {
        let mut tables = select.from.iter().flat_map(|from| {
            std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation))
        });
        let is_own = |factor: &TableFactor| matches!(factor, TableFactor::Table { name, args: None, .. } if plain(name).to_ascii_lowercase() == own);
        let (recursive, others) = tables.by_ref().fold((false, false), |(recursive, others), factor| {
            if is_own(factor) { (true, others) } else { (recursive, true) }
        });
        if !recursive || cte.query.limit_clause.is_some() {
            return false;
        }
        match &select.selection {
            // Another table ends the recursion when it has no more rows to give.
            None => !others && select.having.is_none(),
            Some(condition) => covers_everything(condition, &[]) || counts_far(condition, DEPTH),
        }
    })
}

/// The `SELECT`s of a union.
fn branches(body: &SetExpr, depth: usize) -> Vec<&Select> {
    match body {
        SetExpr::Select(select) => vec![select],
        SetExpr::Query(query) if depth > 0 => branches(&query.body, depth - 1),
        SetExpr::SetOperation { left, right, set_quantifier, .. }
            if depth > 0 && *set_quantifier != SetQuantifier::DistinctByName =>
        {
            let mut all = branches(left, depth - 1);
            all.extend(branches(right, depth - 1));
            all
        }
        _ => Vec::new(),
    }
}

/// `n < 1000000000`.
fn counts_far(condition: &Expr, depth: usize) -> bool {
    let far = |side: &Expr| match side {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.parse::<f64>().is_ok_and(|number| number > FAR),
            _ => false,
        },
        _ => false,
    };
    match condition {
        Expr::Nested(inner) => depth > 0 && counts_far(inner, depth - 1),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            depth > 0 && counts_far(left, depth - 1) && counts_far(right, depth - 1)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            depth > 0 && (counts_far(left, depth - 1) || counts_far(right, depth - 1))
        }
        Expr::BinaryOp { right, op: BinaryOperator::Lt | BinaryOperator::LtEq | BinaryOperator::NotEq, .. } => {
            far(right)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Gt | BinaryOperator::GtEq, .. } => far(left),
        _ => false,
    }
}

/// True when tables are multiplied and no condition ties them together. What a `WITH` defines counts as a short list.
pub(super) fn multiplies(select: &Select, defined: &[String]) -> bool {
    if select.selection.as_ref().is_some_and(|condition| !covers_everything(condition, &[])) {
        return false;
    }
    let mut free: Vec<&TableFactor> = Vec::new();
    for from in &select.from {
        free.push(&from.relation);
        free.extend(from.joins.iter().filter(|join| is_free(&join.join_operator)).map(|join| &join.relation));
    }
    let mut names: Vec<String> = Vec::new();
    let mut lists = 0;
    for factor in free {
        match factor {
            TableFactor::Table { name, args: None, .. } => {
                let name = plain(name).to_ascii_lowercase();
                if defined.contains(&name) { lists += 1 } else { names.push(name) }
            }
            TableFactor::Derived { lateral: false, .. } => lists += 1,
            _ => {}
        }
    }
    let itself = names.iter().enumerate().any(|(at, name)| names.iter().take(at).any(|before| before == name));
    names.len() >= TABLES || itself || names.len() + lists >= LISTS
}

fn is_free(operator: &JoinOperator) -> bool {
    let constraint = match operator {
        JoinOperator::CrossJoin(constraint) | JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => {
            constraint
        }
        _ => return false,
    };
    match constraint {
        JoinConstraint::None => true,
        JoinConstraint::On(condition) => covers_everything(condition, &[]),
        JoinConstraint::Using(_) | JoinConstraint::Natural => false,
    }
}
