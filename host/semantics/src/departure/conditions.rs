//! Conditions on the values of one column, as a definition has them and as a statement makes them,
//! and whether one follows from the other.

use std::collections::BTreeSet;

use sqlparser::ast::{BinaryOperator, Expr, Value};

use super::polynomial::spell;

/// The text that stands for the absent value.
const NULL: &str = "NULL";

/// The values that a condition leaves of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Left {
    /// These alone.
    Only(BTreeSet<String>),
    /// All but these.
    Without(BTreeSet<String>),
}

impl Left {
    /// Returns true if one of the values is neither a number nor absent.
    pub(super) fn has_words(&self) -> bool {
        let (Self::Only(values) | Self::Without(values)) = self;
        values.iter().any(|value| value != NULL && value.parse::<f64>().is_err())
    }

    /// Returns whether a condition that leaves these values holds one that leaves others; `None` if
    /// that is not certain.
    pub(super) fn is_within(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Only(own), Self::Only(others)) => Some(own.is_subset(others)),
            (Self::Only(own), Self::Without(others)) => Some(own.is_disjoint(others)),
            (Self::Without(own), Self::Without(others)) => Some(others.is_subset(own)),
            // A column may have no other values than these.
            (Self::Without(own), Self::Only(others)) => {
                if own.is_disjoint(others) {
                    None
                } else {
                    Some(false)
                }
            }
        }
    }
}

/// A condition on one column.
#[derive(Debug, Clone)]
pub(super) struct Test {
    /// The column, in the parts of its name.
    pub(super) column: Vec<String>,
    /// The values that it leaves; `None` if that is not certain.
    pub(super) left: Option<Left>,
}

/// Returns the conditions on one column of which a condition is made by AND.
pub(super) fn list_tests(condition: &Expr) -> Vec<Test> {
    match condition {
        Expr::Nested(inner) => list_tests(inner),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            [list_tests(left), list_tests(right)].concat()
        }
        other => read_test(other).into_iter().filter(|test| test.left.is_some()).collect(),
    }
}

/// Reads an expression as a condition on one column; `None` if it is none.
pub(super) fn read_test(expr: &Expr) -> Option<Test> {
    match expr {
        Expr::BinaryOp { left, op, right } => {
            let (column, value) = match (column_of(left), column_of(right)) {
                (Some(column), None) => (column, right),
                (None, Some(column)) => (column, left),
                _ => return None,
            };
            let values = value_of(value).map(|value| BTreeSet::from([value]));
            let left = match op {
                BinaryOperator::Eq => values.map(Left::Only),
                BinaryOperator::NotEq => values.map(Left::Without),
                BinaryOperator::Lt
                | BinaryOperator::LtEq
                | BinaryOperator::Gt
                | BinaryOperator::GtEq => None,
                _ => return None,
            };
            Some(Test { column, left })
        }
        Expr::InList { expr, list, negated } => {
            let column = column_of(expr)?;
            let values: Option<BTreeSet<String>> = list.iter().map(value_of).collect();
            let left = match negated {
                true => values.map(Left::Without),
                false => values.map(Left::Only),
            };
            Some(Test { column, left })
        }
        Expr::IsNull(inner) => {
            let left = Some(Left::Only(BTreeSet::from([NULL.to_owned()])));
            Some(Test { column: column_of(inner)?, left })
        }
        Expr::IsNotNull(inner) => {
            let left = Some(Left::Without(BTreeSet::from([NULL.to_owned()])));
            Some(Test { column: column_of(inner)?, left })
        }
        _ => None,
    }
}

/// The names of a column that an expression is.
fn column_of(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Nested(inner) => column_of(inner),
        Expr::Identifier(name) => Some(spell(std::slice::from_ref(name))),
        Expr::CompoundIdentifier(names) => Some(spell(names)),
        _ => None,
    }
}

/// A constant as a text: a truth value is 1 or 0, as engines without such a type have it.
fn value_of(expr: &Expr) -> Option<String> {
    let Expr::Value(value) = expr else { return None };
    match &value.value {
        Value::SingleQuotedString(text) => Some(text.clone()),
        Value::Number(number, _) => Some(number.clone()),
        Value::Boolean(truth) => Some(u8::from(*truth).to_string()),
        _ => None,
    }
}
