//! Ratios of whole numbers, which lose their decimals in some dialects.

use sqlparser::ast::{BinaryOperator, Expr, SetExpr, Value, ValueWithSpan};
use syrch_core::Dialect;
use syrch_core::ports::UseKind;

use super::plain::{arguments, calls, is_one_of, name};
use super::{Noted, unnested};

impl Noted<'_> {
    /// Records a division of an aggregate by another, both of whole numbers, where the dialect
    /// divides them as such.
    pub(super) fn ratio(&mut self, left: &Expr, right: &Expr) {
        let is_truncated = matches!(self.dialect, Dialect::Sqlite | Dialect::Postgres);
        if !is_truncated
            || ![left, right].into_iter().all(|side| is_aggregate(side) && self.is_whole(side))
        {
            return;
        }
        let sources = self.scopes.last().into_iter().flat_map(|scope| &scope.sources);
        let origin = sources
            .flat_map(|source| source.columns.iter().flatten())
            .find_map(|column| column.origin.clone());
        if let Some(origin) = origin {
            self.record(origin, None, UseKind::Ratio);
        }
    }

    /// Returns true if an expression is a whole number for certain.
    fn is_whole(&self, expr: &Expr) -> bool {
        use BinaryOperator as Op;
        match unnested(expr) {
            Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => {
                number.to_string().bytes().all(|byte| byte.is_ascii_digit())
            }
            Expr::Value(ValueWithSpan { value: Value::Null, .. }) => true,
            Expr::Function(function) => match name(function).as_str() {
                "count" => true,
                "sum" | "min" | "max" | "abs" | "coalesce" | "nullif" => {
                    arguments(function).into_iter().all(|argument| self.is_whole(argument))
                }
                _ => false,
            },
            Expr::Case { conditions, else_result, .. } => {
                let mut results =
                    conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                results.all(|result| self.is_whole(result))
            }
            Expr::BinaryOp {
                left,
                op: Op::Plus | Op::Minus | Op::Multiply | Op::Divide,
                right,
            } => self.is_whole(left) && self.is_whole(right),
            Expr::BinaryOp {
                op: Op::Eq | Op::NotEq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq,
                ..
            } => true,
            Expr::Subquery(query) => match &*query.body {
                SetExpr::Select(select) => match select.projection.as_slice() {
                    [only] => super::beside::expression(only).is_some_and(is_count),
                    _ => false,
                },
                _ => false,
            },
            other => {
                let Some(origin) = self.column(other) else { return false };
                let column = self
                    .catalog
                    .table(&origin.table)
                    .and_then(|table| table.column(&origin.column));
                column.is_some_and(|column| column.sql_type.to_uppercase().contains("INT"))
            }
        }
    }
}

fn is_count(expr: &Expr) -> bool {
    matches!(unnested(expr), Expr::Function(function) if name(function) == "count")
}

/// Returns true if an expression adds up rows, itself or in a subquery.
fn is_aggregate(expr: &Expr) -> bool {
    let adds = |expr: &Expr| match expr {
        Expr::Function(function) => is_one_of(&name(function), &["count", "sum"]),
        Expr::Subquery(_) => true,
        _ => false,
    };
    calls(expr, adds)
}
