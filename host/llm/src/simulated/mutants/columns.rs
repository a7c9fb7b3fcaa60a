//! Mistakes in columns: another one, one too many, one too few.

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, OrderByKind, Query, Select,
    SelectItem, SetExpr, Statement,
};
use syrch_core::Catalog;

use super::sites::{filtered, listed, queries, selects};
use super::tables::{Tables, identifier};

/// Columns added to a list.
const ADDED: usize = 6;

/// Another column in the list. A count of rows becomes one of a column that is made up.
pub(super) fn select_col(statement: &Statement, catalog: &Catalog) -> Vec<Statement> {
    selects(statement, |select| {
        let tables = Tables::of(select, catalog);
        listed(select, |expr| match expr {
            Expr::Function(function) => {
                tables.strange().and_then(|column| counted(function, &column)).into_iter().collect()
            }
            expr => tables.others(expr),
        })
    })
}

/// `COUNT(column)` in place of `COUNT(*)`.
fn counted(function: &Function, column: &str) -> Option<Expr> {
    let mut function = function.clone();
    let FunctionArguments::List(list) = &mut function.args else { return None };
    match list.args.as_mut_slice() {
        [FunctionArg::Unnamed(argument @ FunctionArgExpr::Wildcard)] => {
            *argument = FunctionArgExpr::Expr(Expr::Identifier(identifier(column)));
        }
        _ => return None,
    }
    Some(Expr::Function(function))
}

/// Another column in the condition.
pub(super) fn where_col(statement: &Statement, catalog: &Catalog) -> Vec<Statement> {
    selects(statement, |select| {
        let tables = Tables::of(select, catalog);
        filtered(select, |expr| tables.others(expr))
    })
}

/// Groups by another column.
pub(super) fn group_col(statement: &Statement, catalog: &Catalog) -> Vec<Statement> {
    selects(statement, |select| {
        let tables = Tables::of(select, catalog);
        let GroupByExpr::Expressions(by, modifiers) = &select.group_by else { return Vec::new() };
        let mut changed = Vec::new();
        for (place, expr) in by.iter().enumerate() {
            for other in tables.others(expr) {
                let mut by = by.clone();
                by[place] = other;
                changed.push(Select { group_by: GroupByExpr::Expressions(by, modifiers.clone()), ..select.clone() });
            }
        }
        changed
    })
}

/// Orders by another column.
pub(super) fn order_col(statement: &Statement, catalog: &Catalog) -> Vec<Statement> {
    queries(statement, |query| {
        let SetExpr::Select(select) = query.body.as_ref() else { return Vec::new() };
        let tables = Tables::of(select, catalog);
        let Some(OrderByKind::Expressions(by)) = query.order_by.as_ref().map(|order| &order.kind) else {
            return Vec::new();
        };
        let mut changed = Vec::new();
        for (place, one) in by.iter().enumerate() {
            let others = match &one.expr {
                // An aggregate is taken for its column, and a column for another.
                Expr::Function(_) => tables.columns(),
                expr => tables.others(expr),
            };
            for other in others {
                let mut query: Query = query.clone();
                if let Some(OrderByKind::Expressions(by)) = query.order_by.as_mut().map(|order| &mut order.kind) {
                    by[place].expr = other;
                }
                changed.push(query);
            }
        }
        changed
    })
}

/// One column too many.
pub(super) fn add_col(statement: &Statement, catalog: &Catalog) -> Vec<Statement> {
    selects(statement, |select| {
        let columns = Tables::of(select, catalog).columns();
        let is_listed =
            |column: &Expr| select.projection.iter().any(|item| item.to_string().ends_with(&column.to_string()));
        let new = columns.into_iter().filter(|column| !is_listed(column)).take(ADDED);
        new.map(|column| {
            let mut select = select.clone();
            select.projection.push(SelectItem::UnnamedExpr(column));
            select
        })
        .collect()
    })
}

/// One column too few.
pub(super) fn drop_col(statement: &Statement) -> Vec<Statement> {
    selects(statement, |select| {
        if select.projection.len() < 2 {
            return Vec::new();
        }
        let without = |place: usize| {
            let mut select = select.clone();
            select.projection.remove(place);
            select
        };
        (0..select.projection.len()).map(without).collect()
    })
}
