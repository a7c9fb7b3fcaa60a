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
    pub(super) loose: Option<[Comparison; 2]>,
}

impl Compared {
    /// Reads the comparisons of the SELECT whose scope is the last of these.
    pub(super) fn read(select: &Select, scopes: &[Scope]) -> Self {
        let loose = select.selection.as_ref().and_then(|all| read_loose(all, scopes));
        let mut found = Self { loose, ..Self::default() };
        for condition in select.selection.iter().flat_map(conditions).take(READ) {
            found.all_of.extend(read_between(condition, scopes));
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
    match strip_parentheses(condition) {
        Expr::BinaryOp { left, op, right } if *op != BinaryOperator::NotEq => {
            let (operator, turned) = operators(op)?;
            let found = compare(left, operator, right, scopes);
            Some(vec![found.or_else(|| compare(right, turned, left, scopes))?])
        }
        Expr::Like { negated: false, expr, pattern, .. }
        | Expr::ILike { negated: false, expr, pattern, .. } => {
            Some(vec![compare(expr, "LIKE", pattern, scopes)?])
        }
        Expr::InList { negated: false, expr, list } if list.len() <= READ => {
            list.iter().map(|value| compare(expr, "=", value, scopes)).collect()
        }
        _ => None,
    }
}

/// The two bounds of a BETWEEN.
fn read_between(condition: &Expr, scopes: &[Scope]) -> Vec<Comparison> {
    let Expr::Between { expr, negated: false, low, high } = strip_parentheses(condition) else {
        return Vec::new();
    };
    let bounds = [compare(expr, ">=", low, scopes), compare(expr, "<=", high, scopes)];
    bounds.into_iter().flatten().collect()
}

/// The values of one column of which an AND without parentheses takes the first for itself.
fn read_loose(condition: &Expr, scopes: &[Scope]) -> Option<[Comparison; 2]> {
    use BinaryOperator as Op;
    let mut whole = strip_parentheses(condition);
    let (others, last, right) = loop {
        let Expr::BinaryOp { left, op: Op::Or, right } = whole else { return None };
        match &**left {
            Expr::BinaryOp { left: others, op: Op::And, right: last } => {
                break (others, last, right);
            }
            other => whole = other,
        }
    };
    let one = read_one(last, scopes)?;
    let other = read_one(right, scopes)?;
    let is_beside = conditions(others).iter().any(|condition| {
        let read = read_equal(condition, scopes).unwrap_or_default();
        read.iter().any(|known| known.column == one.column)
    });
    (one.column == other.column && !is_beside).then_some([one, other])
}

/// The values from which a condition says that a column differs.
fn read_differing(condition: &Expr, scopes: &[Scope]) -> Vec<Comparison> {
    let found = match strip_parentheses(condition) {
        Expr::BinaryOp { left, op: BinaryOperator::NotEq, right } => {
            let found = compare(left, "<>", right, scopes);
            let found = found.or_else(|| compare(right, "<>", left, scopes));
            found.map(|found| vec![found])
        }
        Expr::Like { negated: true, expr, pattern, .. }
        | Expr::ILike { negated: true, expr, pattern, .. } => {
            compare(expr, "<>", pattern, scopes).map(|found| vec![found])
        }
        Expr::InList { negated: true, expr, list } if list.len() <= READ => {
            list.iter().map(|value| compare(expr, "<>", value, scopes)).collect()
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

/// The one value that a condition makes a column equal to.
fn read_one(condition: &Expr, scopes: &[Scope]) -> Option<Comparison> {
    let mut read = read_equal(condition, scopes)?.into_iter();
    read.next().filter(|one| one.operator == "=" && read.next().is_none())
}

/// A comparison's operator, and the same with its sides exchanged.
pub(super) fn operators(operator: &BinaryOperator) -> Option<(&'static str, &'static str)> {
    use BinaryOperator as Op;
    match operator {
        Op::Eq => Some(("=", "=")),
        Op::NotEq => Some(("<>", "<>")),
        Op::Lt => Some(("<", ">")),
        Op::LtEq => Some(("<=", ">=")),
        Op::Gt => Some((">", "<")),
        Op::GtEq => Some((">=", "<=")),
        _ => None,
    }
}

fn compare(
    column: &Expr,
    operator: &'static str,
    value: &Expr,
    scopes: &[Scope],
) -> Option<Comparison> {
    let literal = text(value).or_else(|| number(value))?;
    let place = locate(column, scopes).filter(|place| place.source.is_some())?;
    let column = ColumnName { table: place.origin.table, column: place.origin.column };
    Some(Comparison { column, operator, literal: literal.trim_matches('%').to_owned() })
}
