//! Ratios of whole numbers, which lose their decimals in some dialects.

use sqlparser::ast::{BinaryOperator, Expr, Query, SetExpr, Value, ValueWithSpan};
use syrch_core::ports::UseKind;
use syrch_core::{Catalog, Table};

use super::super::scope::{Origin, Output, Scope, same};
use super::beside::expression;
use super::extreme::tables;
use super::literal::{is_plain_number, number};
use super::plain::{arguments, calls, is_one_of, locate, name};
use super::{Noted, strip_parentheses};

/// The least number by which a count that is divided is taken for a ratio: by 2, pairs are counted
/// and middles are found.
const DIVISOR: u64 = 3;

impl Noted<'_> {
    /// Records a division of an aggregate by another, or by a number, all of them whole, where the
    /// dialect divides them as such.
    pub(super) fn ratio(&mut self, left: &Expr, right: &Expr) {
        let is_truncated = self.dialect.syntax().truncates_quotients;
        let is_whole = |side: &Expr| is_whole_aggregate(side, self.scopes, self.catalog);
        // Within another query, such as that of a LIMIT, a part of a count may be meant.
        let is_of_count = |one: &Expr, other: &Expr| {
            self.scopes.len() == 1 && is_divisor(other) && is_aggregate(one, &[]) && is_whole(one)
        };
        let is_ratio = is_whole(left) && is_whole(right)
            || is_of_count(left, right)
            || is_of_count(right, left);
        if !is_truncated || !is_ratio {
            return;
        }
        let sources = self.scopes.last().into_iter().flat_map(|scope| &scope.sources);
        let mut origins = sources
            .flat_map(|source| source.columns.iter().flatten())
            .filter_map(|column| column.origin.clone());
        // Any column stands for the statement, which may have no FROM.
        let origin = origins.next().or_else(|| any_column(self.catalog));
        if let Some(origin) = origin {
            self.record(origin, None, UseKind::Ratio);
        }
    }
}

/// Returns true if an expression adds up rows, itself or in a subquery, and is a whole number for
/// certain.
pub(super) fn is_whole_aggregate(expr: &Expr, scopes: &[Scope], catalog: &Catalog) -> bool {
    is_aggregate(expr, scopes)
        && is_whole(
            expr,
            &|expr: &Expr| {
                let is_known = output(expr, scopes).is_some_and(|column| column.is_whole);
                is_known
                    || locate(expr, scopes).is_some_and(|place| {
                        let table = catalog.table(&place.origin.table);
                        table.is_some_and(|table| is_whole_column(table, &place.origin.column))
                    })
            },
            catalog,
        )
}

/// Returns true if an expression is a whole number for certain, given which columns are.
fn is_whole(expr: &Expr, is_column: &dyn Fn(&Expr) -> bool, catalog: &Catalog) -> bool {
    use BinaryOperator as Op;
    match strip_parentheses(expr) {
        Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => {
            number.to_string().bytes().all(|byte| byte.is_ascii_digit())
        }
        Expr::Value(ValueWithSpan { value: Value::Null, .. }) => true,
        Expr::Function(function) => match name(function).as_str() {
            "count" => true,
            "sum" | "min" | "max" | "abs" | "coalesce" | "nullif" => {
                arguments(function).into_iter().all(|expr| is_whole(expr, is_column, catalog))
            }
            _ => false,
        },
        Expr::Case { conditions, else_result, .. } => {
            let mut results =
                conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
            results.all(|expr| is_whole(expr, is_column, catalog))
        }
        Expr::BinaryOp { left, op: Op::Plus | Op::Minus | Op::Multiply | Op::Divide, right } => {
            is_whole(left, is_column, catalog) && is_whole(right, is_column, catalog)
        }
        Expr::BinaryOp {
            op: Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq, ..
        } => true,
        Expr::Subquery(query) => is_whole_query(query, catalog),
        other => is_column(other),
    }
}

/// Returns true if the one result of a query is a whole number for certain.
fn is_whole_query(query: &Query, catalog: &Catalog) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    let [only] = select.projection.as_slice() else { return false };
    let tables = tables(select, catalog).unwrap_or_default();
    expression(only).is_some_and(|expr| {
        is_whole(
            expr,
            &|expr: &Expr| {
                let (qualifier, column) = match expr {
                    Expr::Identifier(column) => (None, column),
                    Expr::CompoundIdentifier(names) => match names.as_slice() {
                        [.., qualifier, column] => (Some(qualifier), column),
                        _ => return false,
                    },
                    _ => return false,
                };
                let is_meant =
                    |name: &str| qualifier.is_none_or(|written| same(name, &written.value));
                let mut meant = tables
                    .iter()
                    .filter(|(name, table)| is_meant(name) && table.column(&column.value).is_some())
                    .map(|(_, table)| is_whole_column(table, &column.value));
                meant.next() == Some(true) && meant.all(|is_whole| is_whole)
            },
            catalog,
        )
    })
}

fn is_whole_column(table: &Table, column: &str) -> bool {
    let declared = table.column(column).map(|column| column.sql_type.to_uppercase());
    declared.is_some_and(|declared| {
        declared.contains("INT") && !["INTERVAL", "POINT"].iter().any(|it| declared.contains(it))
    })
}

/// The column of something in FROM that an expression is.
fn output<'s>(expr: &Expr, scopes: &'s [Scope]) -> Option<&'s Output> {
    let scope = scopes.last()?;
    match strip_parentheses(expr) {
        Expr::Identifier(name) => {
            let columns = scope.sources.iter().flat_map(|source| source.columns.iter().flatten());
            let mut found = columns.filter(|column| column.is(&name.value));
            let first = found.next()?;
            found.next().is_none().then_some(first)
        }
        Expr::CompoundIdentifier(names) => {
            let [.., qualifier, name] = names.as_slice() else { return None };
            let columns = scope.source(&qualifier.value)?.columns.as_ref()?;
            columns.iter().find(|column| column.is(&name.value))
        }
        _ => None,
    }
}

/// Returns true if an expression adds up rows, itself, in a subquery, or in what stands in FROM.
fn is_aggregate(expr: &Expr, scopes: &[Scope]) -> bool {
    calls(expr, |expr: &Expr| match expr {
        Expr::Function(function) => is_one_of(&name(function), &["count", "sum"]),
        other => output(other, scopes).is_some_and(|column| column.is_whole),
    })
}

fn is_divisor(expr: &Expr) -> bool {
    let number = number(expr).filter(|_| is_plain_number(expr));
    number.and_then(|number| number.parse::<u64>().ok()).is_some_and(|number| number >= DIVISOR)
}

fn any_column(catalog: &Catalog) -> Option<Origin> {
    let table = catalog.tables.first()?;
    let column = table.columns.first()?.name.clone();
    Some(Origin { table: catalog.table_name(table), column, filter: None, beside: None })
}
