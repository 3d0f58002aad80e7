//! Whether credentials are among what a query returns. Counting them, or asking whether there are any, returns none.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Select, SelectItem, Statement, TableFactor,
};

use super::super::secrets::{is_secret_column, is_secret_column_of, is_secret_table};
use super::change::plain;

/// Expressions deeper than this are not looked into.
const DEPTH: usize = 64;

/// True when the projection of a `SELECT` returns credentials.
pub(super) fn reads_secrets(select: &Select) -> bool {
    let mut tables = Vec::new();
    for from in &select.from {
        let factors = std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation));
        tables.extend(factors.filter_map(|factor| match factor {
            TableFactor::Table { name, .. } => Some(plain(name)),
            _ => None,
        }));
    }
    select.projection.iter().any(|item| returns_secret(item, &tables))
}

/// True when a change returns credentials of the rows that it changed.
pub(super) fn returns_secrets(statement: &Statement) -> bool {
    let returning = match statement {
        Statement::Insert(insert) => &insert.returning,
        Statement::Update(update) => &update.returning,
        Statement::Delete(delete) => &delete.returning,
        _ => &None,
    };
    returning.iter().flatten().any(|item| returns_secret(item, &[]))
}

fn returns_secret(item: &SelectItem, tables: &[String]) -> bool {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => yields(expr, tables, DEPTH),
        SelectItem::ExprWithAliases { expr, .. } => yields(expr, tables, DEPTH),
        SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => {
            tables.iter().any(|table| is_secret_table(table))
        }
    }
}

/// True when the value of the expression contains that of a column that is a credential.
fn yields(expr: &Expr, tables: &[String], depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let inside = |inner: &Expr| yields(inner, tables, depth);
    let column = |name: &str| is_secret_column(name) || tables.iter().any(|table| is_secret_column_of(name, table));
    match expr {
        Expr::Identifier(name) => column(&name.value),
        Expr::CompoundIdentifier(parts) => parts.last().is_some_and(|name| column(&name.value)),
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } | Expr::Collate { expr: inner, .. } => inside(inner),
        Expr::Convert { expr: inner, .. } | Expr::Substring { expr: inner, .. } | Expr::Trim { expr: inner, .. } => {
            inside(inner)
        }
        Expr::BinaryOp { left, right, .. } => inside(left) || inside(right),
        Expr::Case { conditions, else_result, .. } => {
            conditions.iter().any(|when| inside(&when.result)) || else_result.as_deref().is_some_and(inside)
        }
        Expr::Function(function) => keeps_values(function) && arguments(function).any(inside),
        Expr::Tuple(items) => items.iter().any(inside),
        Expr::Array(array) => array.elem.iter().any(inside),
        _ => false,
    }
}

/// False for functions whose result says little about their arguments.
fn keeps_values(function: &Function) -> bool {
    let name = plain(&function.name).to_ascii_lowercase();
    !matches!(
        name.as_str(),
        "count"
            | "length"
            | "char_length"
            | "octet_length"
            | "len"
            | "isnull"
            | "approx_count_distinct"
            | "countif"
            | "count_if"
            | "sum"
            | "avg"
            | "uniq"
            | "uniqexact"
            | "bool_or"
            | "bool_and"
            | "every"
    )
}

fn arguments(function: &Function) -> impl Iterator<Item = &Expr> {
    let list = match &function.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        FunctionArguments::None | FunctionArguments::Subquery(_) => &[],
    };
    list.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
        | FunctionArg::Named { arg: FunctionArgExpr::Expr(expr), .. }
        | FunctionArg::ExprNamed { arg: FunctionArgExpr::Expr(expr), .. } => Some(expr),
        _ => None,
    })
}
