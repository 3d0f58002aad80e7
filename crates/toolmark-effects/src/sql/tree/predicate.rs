//! Whether a `WHERE` lets everything through: `1=1`, `id = id`, `name LIKE '%'`, `id IN (SELECT id FROM the same table)`.

use sqlparser::ast::{BinaryOperator, Expr, Query, SetExpr, TableFactor, UnaryOperator, Value};

use super::change::plain;

/// Expressions deeper than this are taken as limits.
const DEPTH: usize = 64;

/// True when the condition holds for every row of these tables, as far as can be told without the data.
pub(super) fn covers_everything(condition: &Expr, tables: &[String]) -> bool {
    holds(condition, tables, DEPTH)
}

fn holds(condition: &Expr, tables: &[String], depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let all = |inner: &Expr| holds(inner, tables, depth);
    match condition {
        Expr::Nested(inner) | Expr::IsTrue(inner) | Expr::IsNotFalse(inner) => all(inner),
        Expr::Value(_) => truth(condition) == Some(true),
        Expr::Identifier(word) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case("true"),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => fails(expr, depth),
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => all(left) || all(right) || complement(left, right),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => all(left) && all(right),
        Expr::BinaryOp { left, op, right } => compares(left, op, right),
        Expr::IsNotNull(inner) => is_key(inner) || constant(inner).is_some(),
        Expr::Like { negated: false, pattern, .. } | Expr::ILike { negated: false, pattern, .. } => text(pattern)
            .is_some_and(|pattern| !pattern.is_empty() && pattern.chars().all(|character| character == '%')),
        Expr::Between { expr, negated: false, low, high } => constant(expr)
            .zip(constant(low))
            .zip(constant(high))
            .is_some_and(|((value, low), high)| low <= value && value <= high),
        Expr::InList { expr, list, negated: false } => list.iter().any(|item| same(expr, item)),
        Expr::InList { list, negated: true, .. } => list.is_empty(),
        Expr::InSubquery { subquery, negated: false, .. } => reads_all_of(subquery, tables),
        Expr::Exists { subquery, negated: false } => has_no_condition(subquery),
        _ => false,
    }
}

/// True when the condition holds for no row.
fn fails(condition: &Expr, depth: usize) -> bool {
    match condition {
        Expr::Nested(inner) => depth > 0 && fails(inner, depth - 1),
        Expr::Value(_) => truth(condition) == Some(false),
        Expr::Identifier(word) => word.quote_style.is_none() && word.value.eq_ignore_ascii_case("false"),
        Expr::IsNull(inner) => is_key(inner),
        Expr::BinaryOp { left, op, right } => match (constant(left), constant(right), op) {
            (Some(left), Some(right), BinaryOperator::Eq) => left != right,
            (Some(left), Some(right), BinaryOperator::NotEq) => left == right,
            _ => false,
        },
        _ => false,
    }
}

fn compares(left: &Expr, op: &BinaryOperator, right: &Expr) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq, Spaceship};
    if let (Some(left), Some(right)) = (constant(left), constant(right)) {
        return match op {
            Eq | Spaceship => left == right,
            NotEq => left != right,
            Gt => left > right,
            GtEq => left >= right,
            Lt => left < right,
            LtEq => left <= right,
            _ => false,
        };
    }
    // Keys are positive and not empty: `id > 0` is every row.
    let small = |value: &Constant| match value {
        Constant::Number(number) => *number <= 0.0,
        Constant::Text(text) => text.is_empty(),
    };
    match op {
        Eq | GtEq | LtEq | Spaceship => {
            same(left, right) || (*op == GtEq && is_key(left) && constant(right).is_some_and(|value| small(&value)))
        }
        Gt | NotEq => is_key(left) && constant(right).is_some_and(|value| small(&value)),
        Lt => is_key(right) && constant(left).is_some_and(|value| small(&value)),
        _ => false,
    }
}

/// `x IS NULL OR x IS NOT NULL`.
fn complement(left: &Expr, right: &Expr) -> bool {
    match (left, right) {
        (Expr::IsNull(one), Expr::IsNotNull(other)) | (Expr::IsNotNull(one), Expr::IsNull(other)) => same(one, other),
        _ => false,
    }
}

fn same(left: &Expr, right: &Expr) -> bool {
    match (left, right) {
        (Expr::Nested(left), right) => same(left, right),
        (left, Expr::Nested(right)) => same(left, right),
        (Expr::Identifier(_) | Expr::CompoundIdentifier(_), Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => {
            left.to_string().eq_ignore_ascii_case(&right.to_string())
        }
        (Expr::Value(left), Expr::Value(right)) => left.value == right.value,
        _ => false,
    }
}

/// True for a column that is never null because it identifies its row.
fn is_key(column: &Expr) -> bool {
    let name = match column {
        Expr::Identifier(name) => &name.value,
        Expr::CompoundIdentifier(parts) => match parts.last() {
            Some(last) => &last.value,
            None => return false,
        },
        Expr::Nested(inner) => return is_key(inner),
        _ => return false,
    };
    ["id", "_id", "uuid", "rowid", "_rowid_", "oid", "ctid", "pk"].iter().any(|key| name.eq_ignore_ascii_case(key))
}

#[derive(PartialEq, PartialOrd)]
enum Constant {
    Number(f64),
    Text(String),
}

fn constant(value: &Expr) -> Option<Constant> {
    match value {
        Expr::Nested(inner) => constant(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match constant(expr)? {
            Constant::Number(number) => Some(Constant::Number(-number)),
            Constant::Text(_) => None,
        },
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.parse().ok().map(Constant::Number),
            Value::Boolean(flag) => Some(Constant::Number(f64::from(u8::from(*flag)))),
            other => other.clone().into_string().map(Constant::Text),
        },
        _ => None,
    }
}

fn text(value: &Expr) -> Option<String> {
    match constant(value)? {
        Constant::Text(text) => Some(text),
        Constant::Number(_) => None,
    }
}

fn truth(value: &Expr) -> Option<bool> {
    Some(match constant(value)? {
        Constant::Number(number) => number != 0.0,
        // SQLite and MySQL take the number at the beginning of a string.
        Constant::Text(text) => text.starts_with(|first: char| ('1'..='9').contains(&first)),
    })
}

fn reads_all_of(query: &Query, tables: &[String]) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let own = |factor: &TableFactor| matches!(factor, TableFactor::Table { name, .. } if tables.iter().any(|table| table.eq_ignore_ascii_case(&plain(name))));
    has_no_condition(query) && select.from.first().is_some_and(|from| own(&from.relation) && from.joins.is_empty())
}

fn has_no_condition(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    let everything = select.selection.as_ref().is_none_or(|selection| covers_everything(selection, &[]));
    everything
        && select.having.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && select.top.is_none()
}
