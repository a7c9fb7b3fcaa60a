//! Mistakes in FROM: another kind of join or another condition of it, one table too few, another table.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Select, Statement, TableFactor, VisitMut, VisitorMut,
};
use syrch_core::Catalog;

use super::sites::{expressions, selects};
use super::tables::{Tables, identifier, name_of};

/// Tables tried in the place of one.
const TABLES: usize = 8;

/// Another kind of join, or one by other columns.
pub(super) fn join(statement: &Statement, catalog: &Catalog) -> Vec<Statement> {
    selects(statement, |select| {
        let tables = Tables::of(select, catalog);
        each_join(select, |join| {
            let kind = turned(&join.join_operator);
            let by =
                constraint(&join.join_operator).into_iter().flat_map(|on| expressions(on, |expr| tables.others(expr)));
            kind.into_iter().chain(by.filter_map(|on| with(&join.join_operator, on))).collect()
        })
    })
}

/// Copies of a SELECT with one join of another kind.
fn each_join(select: &Select, change: impl Fn(&Join) -> Vec<JoinOperator>) -> Vec<Select> {
    let mut changed = Vec::new();
    for (place, from) in select.from.iter().enumerate() {
        for (at, join) in from.joins.iter().enumerate() {
            for operator in change(join) {
                let mut select = select.clone();
                select.from[place].joins[at].join_operator = operator;
                changed.push(select);
            }
        }
    }
    changed
}

/// An inner join as an outer one, and the other way round.
fn turned(operator: &JoinOperator) -> Option<JoinOperator> {
    use JoinOperator::{FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
    match operator {
        Join(by @ JoinConstraint::On(_) | by @ JoinConstraint::Using(_)) | Inner(by) => Some(Left(by.clone())),
        Left(by) | LeftOuter(by) | Right(by) | RightOuter(by) | FullOuter(by) => Some(Join(by.clone())),
        _ => None,
    }
}

fn constraint(operator: &JoinOperator) -> Option<&Expr> {
    use JoinOperator::{Inner, Join, Left, LeftOuter, Right, RightOuter};
    match operator {
        Join(JoinConstraint::On(on))
        | Inner(JoinConstraint::On(on))
        | Left(JoinConstraint::On(on))
        | LeftOuter(JoinConstraint::On(on))
        | Right(JoinConstraint::On(on))
        | RightOuter(JoinConstraint::On(on)) => Some(on),
        _ => None,
    }
}

fn with(operator: &JoinOperator, on: Expr) -> Option<JoinOperator> {
    let mut operator = operator.clone();
    use JoinOperator::{Inner, Join, Left, LeftOuter, Right, RightOuter};
    match &mut operator {
        Join(JoinConstraint::On(old))
        | Inner(JoinConstraint::On(old))
        | Left(JoinConstraint::On(old))
        | LeftOuter(JoinConstraint::On(old))
        | Right(JoinConstraint::On(old))
        | RightOuter(JoinConstraint::On(old)) => *old = on,
        _ => return None,
    }
    Some(operator)
}

/// One table too few: its columns stay where they are, or are asked of the first table.
pub(super) fn join_drop(statement: &Statement, _: &Catalog) -> Vec<Statement> {
    selects(statement, |select| {
        let mut changed = Vec::new();
        for (place, from) in select.from.iter().enumerate() {
            for (at, join) in from.joins.iter().enumerate() {
                let mut without = select.clone();
                without.from[place].joins.remove(at);
                if let Some((old, new)) = name_of(&join.relation).zip(name_of(&from.relation)) {
                    let mut renamed = without.clone();
                    let _ = VisitMut::visit(&mut renamed, &mut Renamed { old, new });
                    changed.push(renamed);
                }
                changed.push(without);
            }
            if select.from.len() > 1 {
                let mut without = select.clone();
                without.from.remove(place);
                changed.push(without);
            }
        }
        changed
    })
}

/// Asks columns of another table.
struct Renamed {
    old: Ident,
    new: Ident,
}

impl VisitorMut for Renamed {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [table, _] = parts.as_mut_slice()
            && table.value.eq_ignore_ascii_case(&self.old.value)
        {
            table.clone_from(&self.new);
        }
        ControlFlow::Continue(())
    }
}

/// Another table.
pub(super) fn table(statement: &Statement, catalog: &Catalog) -> Vec<Statement> {
    selects(statement, |select| {
        let tables = Tables::of(select, catalog);
        let others: Vec<&str> = tables.unread().take(TABLES).collect();
        let mut changed = Vec::new();
        for (place, from) in select.from.iter().enumerate() {
            for at in 0..=from.joins.len() {
                for other in &others {
                    let mut select = select.clone();
                    let from = &mut select.from[place];
                    let factor = match at.checked_sub(1) {
                        None => &mut from.relation,
                        Some(at) => &mut from.joins[at].relation,
                    };
                    if let TableFactor::Table { name, .. } = factor {
                        *name = ObjectName::from(vec![identifier(other)]);
                        changed.push(select);
                    }
                }
            }
        }
        changed
    })
}
