//! Mistakes in conditions: another comparison, another value, one condition too few, a query inside
//! another that is read wrongly.

use std::rc::Rc;

use sqlparser::ast::{BinaryOperator, Expr, Query, Select, SetExpr, Statement, Value};
use syrch_core::Catalog;

use super::sites::{Change, Made, change_filter, having as in_having, selects};
use super::tables::Tables;

/// Replaces a comparison operator by another.
pub(super) fn cmp(statement: &Statement) -> Made<'_, Statement> {
    selects(statement, |select| change_filter(&select, Rc::new(change_comparison)))
}

fn change_comparison(expr: &Expr) -> Vec<Expr> {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let mut expr = expr.clone();
    match &mut expr {
        Expr::BinaryOp { op, .. } => {
            let others = match op {
                Eq => vec![NotEq, Gt, GtEq],
                NotEq => vec![Eq],
                Gt => vec![GtEq, Lt],
                GtEq => vec![Gt, LtEq],
                Lt => vec![LtEq, Gt],
                LtEq => vec![Lt, GtEq],
                _ => return Vec::new(),
            };
            return others
                .into_iter()
                .map(|other: BinaryOperator| {
                    let mut expr = expr.clone();
                    if let Expr::BinaryOp { op, .. } = &mut expr {
                        *op = other;
                    }
                    expr
                })
                .collect();
        }
        Expr::Like { negated, .. }
        | Expr::ILike { negated, .. }
        | Expr::Between { negated, .. } => *negated = !*negated,
        Expr::InList { negated, .. } => *negated = !*negated,
        Expr::IsNull(inner) => return vec![Expr::IsNotNull(inner.clone())],
        Expr::IsNotNull(inner) => return vec![Expr::IsNull(inner.clone())],
        _ => return Vec::new(),
    }
    vec![expr]
}

/// Another value, in conditions of rows and of groups.
pub(super) fn literal<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let tables = Tables::new(&select, catalog);
        let change: Change<'a> = Rc::new(move |expr: &Expr| change_value(expr, &tables));
        Box::new(change_filter(&select, Rc::clone(&change)).chain(in_having(&select, change)))
    })
}

fn change_value(expr: &Expr, tables: &Tables<'_>) -> Vec<Expr> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, long) => numbers(digits)
                .into_iter()
                .map(|text: String| Expr::Value(Value::Number(text, *long).into()))
                .collect(),
            Value::SingleQuotedString(text) => texts(text)
                .into_iter()
                .map(|text: String| Expr::Value(Value::SingleQuotedString(text).into()))
                .collect(),
            _ => Vec::new(),
        },
        // SQLite reads a name in double quotes as a text if no column has it.
        Expr::Identifier(name) if name.quote_style == Some('"') && !tables.is_column(expr) => {
            texts(&name.value)
                .into_iter()
                .map(|text: String| Expr::Value(Value::SingleQuotedString(text).into()))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Numbers that are off by one, or ten times as large.
fn numbers(digits: &str) -> Vec<String> {
    match digits.parse::<i64>() {
        Ok(number) => {
            let near = [number.checked_add(1), number.checked_sub(1), number.checked_mul(10)];
            near.into_iter()
                .flatten()
                .filter(|near| *near != number)
                .map(|near| near.to_string())
                .collect()
        }
        Err(_) => digits
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .map(|number| (number + 1.0).to_string())
            .into_iter()
            .collect(),
    }
}

/// Spellings of a text by a writer who has not seen the cells.
fn texts(text: &str) -> Vec<String> {
    let mut shorter = text.to_owned();
    shorter.pop();
    let head = text.split_whitespace().next().unwrap_or_default().to_owned();
    let all = [text.to_lowercase(), text.to_uppercase(), shorter, head, format!("{text}s")];
    all.into_iter().filter(|other| other != text && !other.is_empty()).collect()
}

/// One condition too few.
pub(super) fn drop_pred(statement: &Statement) -> Made<'_, Statement> {
    selects(statement, |select| {
        let none = select
            .selection
            .is_some()
            .then(|| Select { selection: None, ..Select::clone(&select) });
        Box::new(change_filter(&select, Rc::new(halves)).chain(none))
    })
}

fn halves(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
            vec![left.as_ref().clone(), right.as_ref().clone()]
        }
        _ => Vec::new(),
    }
}

/// A query inside a condition that is read the other way round, or loses its own condition.
pub(super) fn nest(statement: &Statement) -> Made<'_, Statement> {
    selects(statement, |select| {
        Box::new(
            change_filter(&select, Rc::new(change_subquery))
                .chain(in_having(&select, Rc::new(change_subquery))),
        )
    })
}

fn change_subquery(expr: &Expr) -> Vec<Expr> {
    let mut changed = Vec::new();
    let mut turned = expr.clone();
    match &mut turned {
        Expr::InSubquery { negated, .. } | Expr::Exists { negated, .. } => {
            *negated = !*negated;
            changed.push(turned);
        }
        Expr::Subquery(_) => {}
        _ => return Vec::new(),
    }
    let mut open = expr.clone();
    if let Expr::InSubquery { subquery, .. }
    | Expr::Exists { subquery, .. }
    | Expr::Subquery(subquery) = &mut open
        && unconditional(subquery)
    {
        changed.push(open);
    }
    changed
}

/// Removes the condition of a query. Returns whether it had one.
fn unconditional(query: &mut Query) -> bool {
    match query.body.as_mut() {
        SetExpr::Select(select) => select.selection.take().is_some(),
        _ => false,
    }
}

/// Another condition on groups, or none.
pub(super) fn having(statement: &Statement) -> Made<'_, Statement> {
    selects(statement, |select| {
        let none =
            select.having.is_some().then(|| Select { having: None, ..Select::clone(&select) });
        Box::new(in_having(&select, Rc::new(change_comparison)).chain(none))
    })
}
