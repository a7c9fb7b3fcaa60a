//! Conditions that no value of a column meets, and those that every value meets.

use std::cmp::Ordering;

use sqlparser::ast::{BinaryOperator, Expr, GroupByExpr, Query, SetExpr};
use syrch_core::ports::UseKind;

use super::super::scope::Origin;
use super::beside::{expression, is_aggregate};
use super::compared::operators;
use super::literal::Literal;
use super::plain::{Place, locate};
use super::{Noted, strip_parentheses};

/// Bytes of a query that is counted.
const LONGEST: usize = 2_000;
/// Parts of one OR that are read.
const READ: usize = 16;

/// A comparison of a column with a literal.
struct Bound<'e> {
    place: Place,
    operator: &'static str,
    literal: Literal,
    condition: &'e Expr,
}

impl Bound<'_> {
    fn is_beside(&self, other: &Self) -> bool {
        (self.place.source, &self.place.origin) == (other.place.source, &other.place.origin)
    }

    /// Returns true if no value is above this lower bound and below that upper one.
    fn excludes(&self, upper: &Self) -> bool {
        let is_lower = matches!(self.operator, ">" | ">=" | "=");
        let is_upper = matches!(upper.operator, "<" | "<=" | "=");
        let is_strict = [self, upper].iter().any(|bound| matches!(bound.operator, "<" | ">"));
        is_lower
            && is_upper
            && match self.literal.order(&upper.literal) {
                Some(Ordering::Greater) => true,
                Some(Ordering::Equal) => is_strict,
                Some(Ordering::Less) | None => false,
            }
    }

    /// Returns true if each value is above this lower bound or below that upper one.
    fn covers(&self, upper: &Self) -> bool {
        let is_lower = matches!(self.operator, ">" | ">=");
        let is_upper = matches!(upper.operator, "<" | "<=");
        let is_open = self.operator == ">" && upper.operator == "<";
        is_lower
            && is_upper
            && match self.literal.order(&upper.literal) {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => !is_open,
                Some(Ordering::Greater) | None => false,
            }
    }
}

impl Noted<'_> {
    /// Records two conditions, or a BETWEEN, that bound a column so that no value is left.
    pub(super) fn record_empty_ranges(&mut self, conditions: &[&Expr]) {
        let bounds: Vec<Bound<'_>> =
            conditions.iter().flat_map(|condition| self.read_bounds(condition)).collect();
        for (at, one) in bounds.iter().enumerate() {
            let empty = bounds[at + 1..].iter().find(|other| {
                let are_equal = [one, *other].iter().all(|bound| bound.operator == "=");
                one.is_beside(other) && !are_equal && (one.excludes(other) || other.excludes(one))
            });
            let Some(other) = empty else { continue };
            let mut both = one.condition.to_string();
            if !std::ptr::eq(one.condition, other.condition) {
                both = format!("{both} AND {}", other.condition);
            }
            self.record_whole(&one.place.origin, both, UseKind::Never);
        }
    }

    /// Records an OR of which every value of a column meets one side.
    pub(super) fn record_tautology(&mut self, whole: &Expr) {
        let mut parts = Vec::new();
        let mut left = vec![whole];
        while let Some(expr) = left.pop().filter(|_| parts.len() < READ) {
            match strip_parentheses(expr) {
                Expr::BinaryOp { left: first, op: BinaryOperator::Or, right } => {
                    left.extend([&**right, &**first]);
                }
                part => parts.push(part),
            }
        }
        let bounds: Vec<Bound<'_>> = parts
            .iter()
            .filter(|part| matches!(part, Expr::BinaryOp { .. }))
            .flat_map(|part| self.read_bounds(part))
            .collect();
        for (at, one) in bounds.iter().enumerate() {
            let covered = bounds[at + 1..].iter().find(|other| {
                let are_unequal = [one, *other].iter().all(|bound| bound.operator == "<>");
                let is_met = are_unequal && one.literal.is_other(&other.literal);
                one.is_beside(other) && (is_met || one.covers(other) || other.covers(one))
            });
            let Some(other) = covered else { continue };
            let either = format!("{} OR {}", one.condition, other.condition);
            self.record_whole(&one.place.origin, either, UseKind::Always);
        }
    }

    /// Records a column that is compared with a query in the place of one value, where the engine
    /// takes the first of several.
    pub(super) fn record_scalar(&mut self, column: &Expr, other: &Expr) {
        let Expr::Subquery(query) = strip_parentheses(other) else { return };
        if is_one_row(query) {
            return;
        }
        let Some(origin) = self.column(column) else { return };
        let values = format!(
            "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM ({query}) AS s LIMIT 2) AS t"
        );
        if self.dialect.syntax().has_affinities && values.len() <= LONGEST {
            let origin = Origin { filter: None, ..origin };
            self.record(origin, None, UseKind::Scalar { values });
        }
    }

    fn record_whole(&mut self, origin: &Origin, condition: String, kind: UseKind) {
        self.record(Origin { filter: None, ..origin.clone() }, Some(condition), kind);
    }

    /// The bounds that a comparison or a BETWEEN sets.
    fn read_bounds<'e>(&self, condition: &'e Expr) -> Vec<Bound<'e>> {
        let found = match strip_parentheses(condition) {
            Expr::BinaryOp { left, op, right } => match operators(op) {
                Some((operator, turned)) => {
                    let found = self.read_bound(condition, left, operator, right);
                    vec![found.or_else(|| self.read_bound(condition, right, turned, left))]
                }
                None => Vec::new(),
            },
            Expr::Between { expr, negated: false, low, high } => {
                let low = self.read_bound(condition, expr, ">=", low);
                vec![low, self.read_bound(condition, expr, "<=", high)]
            }
            _ => Vec::new(),
        };
        found.into_iter().flatten().collect()
    }

    fn read_bound<'e>(
        &self,
        condition: &'e Expr,
        column: &Expr,
        operator: &'static str,
        value: &Expr,
    ) -> Option<Bound<'e>> {
        let place = locate(column, self.scopes)?;
        Some(Bound { place, operator, literal: Literal::new(value)?, condition })
    }
}

/// Tells whether a query has one row whatever its tables hold: an aggregate of all rows.
fn is_one_row(query: &Query) -> bool {
    let SetExpr::Select(select) = &*query.body else { return false };
    let is_whole = matches!(
        &select.group_by,
        GroupByExpr::Expressions(groups, modifiers) if groups.is_empty() && modifiers.is_empty()
    );
    let mut outputs = select.projection.iter().filter_map(expression);
    is_whole
        && outputs.any(|output| {
            matches!(strip_parentheses(output), Expr::Function(function) if is_aggregate(function))
        })
}
