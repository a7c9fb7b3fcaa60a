//! The columns that have one value when others have one: the closure of functional dependencies
//! that joins, conditions and unique keys make. It decides what may stand beside GROUP BY, and when
//! LIMIT and a sub-query that stands for a value pick the same row whatever the plan.

use std::collections::HashSet;

use sqlparser::ast::{BinaryOperator, Expr, Ident};

use super::kind::Affinity;
use super::scope::{Determined, Found, Id, Scope, parts_of};

/// The most dependencies of one SELECT that are followed; columns that only further ones determine
/// count as not determined.
const MOST: usize = 256;

/// The dependencies that are known between the columns of one SELECT.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    /// The columns on the left determine those on the right.
    dependencies: Vec<(Vec<Id>, Vec<Id>)>,
    /// Columns that have one value in all rows.
    constants: HashSet<Id>,
    /// Columns that have no NULL, or only in rows where their source has no row.
    not_null: HashSet<Id>,
}

/// One side of an equation.
enum Side {
    Own(Found),
    Constant,
}

/// The terms of a conjunction.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut open = vec![expr];
    let mut terms = Vec::new();
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Nested(inner) => open.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                open.extend([&**left, &**right])
            }
            term => terms.push(term),
        }
    }
    terms
}

/// The column that an expression is, in whatever scope.
pub(super) fn column(scopes: &[Scope], expr: &Expr) -> Option<Found> {
    let idents: &[Ident] = match expr {
        Expr::Nested(inner) => return column(scopes, inner),
        Expr::Identifier(ident) => std::slice::from_ref(ident),
        Expr::CompoundIdentifier(idents) => idents,
        _ => return None,
    };
    let (qualifier, name) = parts_of(idents)?;
    scopes.iter().enumerate().rev().find_map(|(depth, scope): (usize, &Scope)| {
        scope.find(qualifier, name).map(|(id, kind, affinity)| Found { depth, id, kind, affinity })
    })
}

fn side(scopes: &[Scope], expr: &Expr) -> Option<(Side, Affinity)> {
    match expr {
        Expr::Value(_) => Some((Side::Constant, Affinity::Any)),
        _ => column(scopes, expr).map(|found| match found.depth + 1 == scopes.len() {
            true => (Side::Own(found), found.affinity),
            false => (Side::Constant, found.affinity),
        }),
    }
}

/// The two sides of an equation that gives a column of the innermost scope a certain value. Where
/// the sides have different affinities, several values may equal one.
fn equation(scopes: &[Scope], expr: &Expr) -> Option<(Found, Option<Found>)> {
    let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = expr else { return None };
    fn is_literal(expr: &Expr) -> bool {
        matches!(expr, Expr::Value(_))
    }
    let (left_side, of_left) = side(scopes, left)?;
    let (right_side, of_right) = side(scopes, right)?;
    let is_certain = of_left != Affinity::Any || is_literal(left);
    let is_certain = is_certain && (of_right != Affinity::Any || is_literal(right));
    if !is_certain || (of_left != of_right && !is_literal(left) && !is_literal(right)) {
        return None;
    }
    match (left_side, right_side) {
        (Side::Own(left), Side::Own(right)) => Some((left, Some(right))),
        (Side::Own(own), Side::Constant) | (Side::Constant, Side::Own(own)) => Some((own, None)),
        (Side::Constant, Side::Constant) => None,
    }
}

impl Dependencies {
    fn add(&mut self, from: Vec<Id>, to: Vec<Id>) {
        if self.dependencies.len() < MOST {
            self.dependencies.push((from, to));
        }
    }

    pub(super) fn equal(&mut self, left: Id, right: Id) {
        self.add(vec![left], vec![right]);
        self.add(vec![right], vec![left]);
        self.not_null.extend([left, right]);
    }

    /// Takes a condition that all rows fulfil.
    pub(super) fn condition(&mut self, scopes: &[Scope], expr: &Expr) {
        for term in conjuncts(expr) {
            match equation(scopes, term) {
                Some((left, Some(right))) => self.equal(left.id, right.id),
                Some((own, None)) => {
                    self.constants.insert(own.id);
                    self.not_null.insert(own.id);
                }
                None => {}
            }
        }
    }

    /// Takes the condition of a LEFT JOIN whose right side is that source. Only if it consists of
    /// equations is the row on the right, or that there is none, a function of columns on the left.
    pub(super) fn left_join(&mut self, scopes: &[Scope], expr: &Expr, joined: usize) {
        let mut from = Vec::new();
        let mut to = Vec::new();
        for term in conjuncts(expr) {
            let (left, right) = match equation(scopes, term) {
                Some((one, None)) if one.id.0 == joined => (None, one.id),
                Some((one, Some(other))) if other.id.0 == joined && one.id.0 != joined => {
                    (Some(one.id), other.id)
                }
                Some((other, Some(one))) if other.id.0 == joined && one.id.0 != joined => {
                    (Some(one.id), other.id)
                }
                _ => return,
            };
            from.extend(left);
            to.push(right);
        }
        self.not_null.extend(to.iter().copied());
        self.add(from, to);
    }

    /// Adds everything that follows.
    pub(super) fn close(&self, scope: &Scope, determined: &mut Determined) {
        determined.columns.extend(self.constants.iter().copied());
        loop {
            let before = (determined.columns.len(), determined.rows.len());
            for (from, to) in &self.dependencies {
                if from.iter().all(|id| determined.has(*id)) {
                    determined.columns.extend(to.iter().copied());
                }
            }
            for (index, source) in scope.sources.iter().enumerate() {
                let has_key = source.columns.keys.iter().any(|key| {
                    key.iter().all(|column: &usize| {
                        let is_stored = source
                            .columns
                            .list
                            .get(*column)
                            .is_none_or(|column| column.is_not_null);
                        determined.columns.contains(&(index, *column))
                            && (is_stored || self.not_null.contains(&(index, *column)))
                    })
                });
                let has_rowid = determined.columns.contains(&(index, source.columns.list.len()));
                if has_key || has_rowid {
                    determined.rows.insert(index);
                }
            }
            if before == (determined.columns.len(), determined.rows.len()) {
                return;
            }
        }
    }
}
