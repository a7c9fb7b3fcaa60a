//! Mistakes in columns: another one, one too many, one too few.

use std::rc::Rc;

use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, OrderByKind,
    Query, Select, SelectItem, SetExpr, Statement,
};
use syrch_core::Catalog;

use super::sites::{Made, change_filter, change_list, queries, selects};
use super::tables::{Tables, identifier};

/// Columns added to a list.
const ADDED: usize = 6;

/// Another column in the list. A count of rows becomes one of a column that is made up.
pub(super) fn select_col<'a>(
    statement: &'a Statement,
    catalog: &'a Catalog,
) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let tables = Tables::new(&select, catalog);
        change_list(
            &select,
            Rc::new(move |expr: &Expr| match expr {
                Expr::Function(function) => tables
                    .strange()
                    .and_then(|column| count_column(function, &column))
                    .into_iter()
                    .collect(),
                expr => tables.others(expr),
            }),
        )
    })
}

/// `COUNT(column)` in place of `COUNT(*)`.
fn count_column(function: &Function, column: &str) -> Option<Expr> {
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
pub(super) fn where_col<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let tables = Tables::new(&select, catalog);
        change_filter(&select, Rc::new(move |expr: &Expr| tables.others(expr)))
    })
}

/// Groups by another column.
pub(super) fn group_col<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let tables = Tables::new(&select, catalog);
        let GroupByExpr::Expressions(by, _) = &select.group_by else {
            return Box::new(std::iter::empty());
        };
        Box::new(by.clone().into_iter().enumerate().flat_map(move |(place, expr)| {
            let select = Rc::clone(&select);
            tables.others(&expr).into_iter().map(move |other| {
                let mut select = Select::clone(&select);
                if let GroupByExpr::Expressions(by, _) = &mut select.group_by {
                    by[place] = other;
                }
                select
            })
        }))
    })
}

/// Orders by another column.
pub(super) fn order_col<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    queries(statement, move |query| {
        let none = || -> Made<'a, Query> { Box::new(std::iter::empty()) };
        let SetExpr::Select(select) = query.body.as_ref() else { return none() };
        let tables = Tables::new(select, catalog);
        let Some(OrderByKind::Expressions(by)) = query.order_by.as_ref().map(|order| &order.kind)
        else {
            return none();
        };
        Box::new(by.clone().into_iter().enumerate().flat_map(move |(place, one)| {
            let others = match &one.expr {
                // An aggregate is taken for its column, and a column for another.
                Expr::Function(_) => tables.columns(),
                expr => tables.others(expr),
            };
            let query = Rc::clone(&query);
            others.into_iter().map(move |other| {
                let mut query = Query::clone(&query);
                if let Some(OrderByKind::Expressions(by)) =
                    query.order_by.as_mut().map(|order| &mut order.kind)
                {
                    by[place].expr = other;
                }
                query
            })
        }))
    })
}

/// One column too many.
pub(super) fn add_col<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let listed: Vec<String> = select.projection.iter().map(ToString::to_string).collect();
        let is_listed = move |column: &Expr| {
            let column = column.to_string();
            listed.iter().any(|item| item.ends_with(&column))
        };
        let columns = Tables::new(&select, catalog).columns();
        let new = columns.into_iter().filter(move |column| !is_listed(column)).take(ADDED);
        Box::new(new.map(move |column| {
            let mut select = Select::clone(&select);
            select.projection.push(SelectItem::UnnamedExpr(column));
            select
        }))
    })
}

/// One column too few.
pub(super) fn drop_col(statement: &Statement) -> Made<'_, Statement> {
    selects(statement, |select| {
        let count = select.projection.len();
        let places = if count < 2 { 0..0 } else { 0..count };
        Box::new(places.map(move |place| {
            let mut select = Select::clone(&select);
            select.projection.remove(place);
            select
        }))
    })
}
