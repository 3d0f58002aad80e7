//! What an `INSERT`, `UPDATE`, `DELETE`, `MERGE` or `SELECT … INTO` does, and whether it has a limit.

use sqlparser::ast::{
    Delete, Expr, FromTable, Insert, Merge, MergeAction, MergeClauseKind, ObjectName, OnConflictAction, OnInsert,
    Select, SqliteOnConflict, Statement, TableFactor, TableObject, TableWithJoins, Update,
};
use toolmark_core::behavior::Action;
use toolmark_core::facts::Effect;
use toolmark_core::text::visible;

use super::predicate::covers_everything;

/// The effect of one statement by itself; nothing for what only reads.
pub(super) fn effect(statement: &Statement) -> Option<Effect> {
    match statement {
        Statement::Insert(insert) => Some(insertion(insert)),
        Statement::Update(update) => Some(modification(update)),
        Statement::Delete(delete) => Some(deletion(delete)),
        Statement::Merge(merge) => Some(merging(merge)),
        Statement::Query(_) => None,
        // The walk begins with queries and changes only; anything else below them is not expected to be harmless.
        _ => Some(Effect::mutating(Action::Execute, "contains another kind of statement").unbounded()),
    }
}

/// The table that a `SELECT … INTO` creates. Variables of the session do not count.
pub(super) fn into(select: &Select) -> Option<Effect> {
    let into = select.into.as_ref()?;
    let variable = |target: &Expr| target.to_string().starts_with('@');
    if !into.targets.is_empty() && into.targets.iter().all(variable) {
        return None;
    }
    let targets: Vec<String> = into.targets.iter().map(shown).collect();
    Some(Effect::mutating(Action::Create, format!("creates {}", targets.join(", "))).on(targets))
}

fn insertion(insert: &Insert) -> Effect {
    let table = match &insert.table {
        TableObject::TableName(name) => plain(name),
        other => shown(other),
    };
    let updates = match &insert.on {
        Some(OnInsert::DuplicateKeyUpdate(_)) => true,
        Some(OnInsert::OnConflict(conflict)) => matches!(conflict.action, OnConflictAction::DoUpdate(_)),
        _ => false,
    };
    let replaces = insert.replace_into || matches!(insert.or, Some(SqliteOnConflict::Replace));
    let (action, verb) = match (insert.overwrite, updates || replaces) {
        (true, _) => (Action::Overwrite, "overwrites"),
        (false, true) => (Action::Overwrite, "inserts or replaces rows of"),
        (false, false) => (Action::Create, "inserts into"),
    };
    let effect = Effect::mutating(action, format!("{verb} `{table}`")).on([table]);
    if insert.overwrite { effect.unbounded() } else { effect }
}

fn modification(update: &Update) -> Effect {
    let tables = relations(std::slice::from_ref(&update.table));
    let whole = update.limit.is_none() && !limited(update.selection.as_ref(), &tables);
    changed(Action::Update, "updates", tables, whole)
}

fn deletion(delete: &Delete) -> Effect {
    let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
    let mut tables: Vec<String> = delete.tables.iter().map(plain).collect();
    if tables.is_empty() {
        tables = relations(from);
    }
    let whole = delete.limit.is_none() && !limited(delete.selection.as_ref(), &tables);
    changed(Action::Delete, "deletes from", tables, whole)
}

fn merging(merge: &Merge) -> Effect {
    let tables = factor(&merge.table).into_iter().collect();
    let deletes = merge.clauses.iter().any(|clause| matches!(clause.action, MergeAction::Delete { .. }));
    let by_source = |kind: &MergeClauseKind| matches!(kind, MergeClauseKind::NotMatchedBySource);
    let whole = covers_everything(&merge.on, &[])
        || merge.clauses.iter().any(|clause| by_source(&clause.clause_kind) && clause.predicate.is_none());
    changed(if deletes { Action::Delete } else { Action::Update }, "merges into", tables, whole)
}

fn changed(action: Action, verb: &str, tables: Vec<String>, whole: bool) -> Effect {
    let names = super::super::query::listed(&tables);
    let limit = if whole { ", every row" } else { "" };
    let effect = Effect::mutating(action, format!("{verb} {names}{limit}")).on(tables);
    if whole { effect.unbounded() } else { effect }
}

fn limited(selection: Option<&Expr>, tables: &[String]) -> bool {
    selection.is_some_and(|selection| !covers_everything(selection, tables))
}

/// The names of the tables that are joined here.
fn relations(tables: &[TableWithJoins]) -> Vec<String> {
    let joined = |table: &TableWithJoins| {
        let first = factor(&table.relation);
        first.into_iter().chain(table.joins.iter().filter_map(|join| factor(&join.relation))).collect::<Vec<_>>()
    };
    tables.iter().flat_map(joined).collect()
}

fn factor(table: &TableFactor) -> Option<String> {
    match table {
        TableFactor::Table { name, .. } => Some(plain(name)),
        _ => None,
    }
}

/// A name without its quotes.
pub(super) fn plain(name: &ObjectName) -> String {
    let part = |part: &sqlparser::ast::ObjectNamePart| {
        part.as_ident().map_or_else(|| part.to_string(), |ident| ident.value.clone())
    };
    visible(&name.0.iter().map(part).collect::<Vec<_>>().join("."), 120)
}

fn shown(item: &impl ToString) -> String {
    visible(&item.to_string(), 120)
}
