//! `index-off`: on SQLite, `+column` prevents the planner from using the index of its plan for a
//! comparison with a constant.
//!
//! Sound where column and constant have the same class of types: `+column` has no affinity, and the
//! collation of the column stays.

use sqlparser::ast::{BinaryOperator, Expr, Query, UnaryOperator, Value};

use crate::rewriter::scope::{Class, Scope};
use crate::rewriter::sql::each_condition;
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    if !work.is_sqlite() {
        return;
    }
    let used = find_indexed_columns(work.plan);
    each_select(query, &mut |select| {
        let Some(scope) = Scope::from_select(select, work.catalog) else { return };
        each_condition(select, &mut |condition| {
            let Expr::BinaryOp { left, op, right } = condition else { return };
            if !is_comparison(op) {
                return;
            }
            for (column, constant) in [(&mut **left, &**right)] {
                if is_used(column, constant, &scope, &used) && work.takes() {
                    let plus =
                        Expr::UnaryOp { op: UnaryOperator::Plus, expr: Box::new(column.clone()) };
                    *column = plus;
                }
            }
        });
    });
}

fn is_comparison(op: &BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::Eq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
    )
}

fn is_used(column: &Expr, constant: &Expr, scope: &Scope, used: &[(String, String)]) -> bool {
    let Some((source, found)) = scope.column(column) else { return false };
    let Expr::Value(value) = constant else { return false };
    let is_alike = match &value.value {
        Value::Number(..) => scope.class(column) == Some(Class::Number),
        Value::SingleQuotedString(_) => scope.class(column) == Some(Class::Text),
        _ => false,
    };
    is_alike
        && used.iter().any(|(table, name): &(String, String)| {
            table.eq_ignore_ascii_case(&source.name.value) && name.eq_ignore_ascii_case(&found.name)
        })
}

/// The tables and columns that the plan searches by an index: `SEARCH t USING INDEX i (a=? AND
/// b>?)`.
fn find_indexed_columns(plan: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in plan.lines() {
        let Some(rest) = line.trim_start().strip_prefix("SEARCH ") else { continue };
        let Some((table, rest)) = rest.split_once(' ') else { continue };
        let Some((_, columns)) = rest.split_once(" (").filter(|(start, _)| start.contains("INDEX"))
        else {
            continue;
        };
        for part in columns.trim_end_matches(')').split(" AND ") {
            let name: String =
                part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((table.to_owned(), name));
        }
    }
    found
}
