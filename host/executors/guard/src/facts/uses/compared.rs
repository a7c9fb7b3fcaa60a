//! The comparisons of columns with literals in WHERE, and how AND and OR connect them.

use sqlparser::ast::{BinaryOperator, Expr, Select, UnaryOperator};
use syrch_core::ports::{ColumnName, Comparison};

use super::super::scope::Scope;
use super::literal::{number, text};
use super::plain::{conditions, locate};
use super::strip_parentheses;

/// Conditions of one WHERE that are read, and parts of one of them.
const READ: usize = 32;

/// The comparisons of one WHERE.
#[derive(Default)]
pub(super) struct Compared {
    pub(super) all_of: Vec<Comparison>,
    pub(super) any_of: Vec<Vec<Comparison>>,
    pub(super) differing: Vec<Comparison>,
}

impl Compared {
    /// Reads the comparisons of the SELECT whose scope is the last of these.
    pub(super) fn read(select: &Select, scopes: &[Scope]) -> Self {
        let mut found = Self::default();
        for condition in select.selection.iter().flat_map(conditions).take(READ) {
            let parts = alternatives(condition);
            let any: Option<Vec<Comparison>> = parts
                .iter()
                .map(|part| read_equal(part, scopes))
                .collect::<Option<Vec<_>>>()
                .map(|lists| lists.into_iter().flatten().collect());
            match any {
                Some(any) if any.len() > 1 => found.any_of.push(any),
                any => found.all_of.extend(any.into_iter().flatten()),
            }
            found.differing.extend(parts.iter().flat_map(|part| read_differing(part, scopes)));
        }
        found
    }
}

/// The parts of a condition that OR connects.
fn alternatives(condition: &Expr) -> Vec<&Expr> {
    let mut parts = Vec::new();
    let mut left = vec![condition];
    while let Some(expr) = left.pop().filter(|_| parts.len() < READ) {
        match strip_parentheses(expr) {
            Expr::BinaryOp { left: first, op: BinaryOperator::Or, right } => {
                left.extend([&**right, &**first]);
            }
            other => parts.push(other),
        }
    }
    parts
}

/// The values with one of which a condition compares a column, for more or less or likeness as
/// well; `None` for any other condition.
fn read_equal(condition: &Expr, scopes: &[Scope]) -> Option<Vec<Comparison>> {
    use BinaryOperator as Op;
    match strip_parentheses(condition) {
        Expr::BinaryOp { left, op: Op::Eq | Op::Lt | Op::LtEq | Op::Gt | Op::GtEq, right } => {
            Some(vec![compare(left, right, scopes).or_else(|| compare(right, left, scopes))?])
        }
        Expr::Like { negated: false, expr, pattern, .. }
        | Expr::ILike { negated: false, expr, pattern, .. } => {
            Some(vec![compare(expr, pattern, scopes)?])
        }
        Expr::InList { negated: false, expr, list } if list.len() <= READ => {
            list.iter().map(|value| compare(expr, value, scopes)).collect()
        }
        _ => None,
    }
}

/// The values from which a condition says that a column differs.
fn read_differing(condition: &Expr, scopes: &[Scope]) -> Vec<Comparison> {
    let found = match strip_parentheses(condition) {
        Expr::BinaryOp { left, op: BinaryOperator::NotEq, right } => {
            let found = compare(left, right, scopes).or_else(|| compare(right, left, scopes));
            found.map(|found| vec![found])
        }
        Expr::Like { negated: true, expr, pattern, .. }
        | Expr::ILike { negated: true, expr, pattern, .. } => {
            compare(expr, pattern, scopes).map(|found| vec![found])
        }
        Expr::InList { negated: true, expr, list } if list.len() <= READ => {
            list.iter().map(|value| compare(expr, value, scopes)).collect()
        }
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => match strip_parentheses(expr) {
            Expr::BinaryOp { op: BinaryOperator::Eq, .. }
            | Expr::Like { .. }
            | Expr::ILike { .. }
            | Expr::InList { .. } => read_equal(expr, scopes),
            _ => None,
        },
        _ => None,
    };
    found.unwrap_or_default()
}

fn compare(column: &Expr, value: &Expr, scopes: &[Scope]) -> Option<Comparison> {
    let literal = text(value).or_else(|| number(value))?;
    let place = locate(column, scopes).filter(|place| place.source.is_some())?;
    let column = ColumnName { table: place.origin.table, column: place.origin.column };
    Some(Comparison { column, literal: literal.trim_matches('%').to_owned() })
}
