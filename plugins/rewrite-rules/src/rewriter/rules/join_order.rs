//! `join-order`: on SQLite, CROSS JOIN fixes the order in which tables are written. The one of
//! which the conditions leave the fewest rows comes first, and each further one is joined to those
//! before it. Sound: all joins are inner ones.

use std::collections::BTreeSet;

use sqlparser::ast::{BinaryOperator, Expr, Query, Select};

use crate::rewriter::flat::{Flat, cross_join, spell_out};
use crate::rewriter::refs::{path, refs};
use crate::rewriter::scope::{Owner, Scope};
use crate::rewriter::sql::all_of;
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

/// The rows of a table of which the catalog has no estimate.
const UNKNOWN_ROWS: f64 = 10_000.0;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    if !work.is_sqlite() {
        return;
    }
    each_select(query, &mut |select| {
        let Some(new) = reorder_joins(select, work) else { return };
        if work.takes() {
            *select = new;
        }
    });
}

fn reorder_joins(select: &Select, work: &Work) -> Option<Select> {
    let flat = Flat::from_select(select)?;
    let scope = Scope::from_select(select, work.catalog)?;
    if !(2..=10).contains(&flat.tables.len()) {
        return None;
    }
    let places: Vec<BTreeSet<usize>> =
        flat.conditions.iter().map(|condition| places(condition, &scope)).collect::<Option<_>>()?;
    let order = order(&scope, &flat.conditions, &places);
    if Some(&order) == read_plan_order(work.plan, &scope).as_ref() {
        return None;
    }
    let mut new = select.clone();
    spell_out(&mut new, &scope);
    let tables = order.iter().filter_map(|place| flat.tables.get(*place).cloned()).collect();
    new.from = vec![cross_join(tables)?];
    new.selection = all_of(flat.conditions);
    (new != *select).then_some(new)
}

/// The tables to which a condition refers; `None` if a column cannot be attributed to a table.
fn places(condition: &Expr, scope: &Scope) -> Option<BTreeSet<usize>> {
    let found = refs(condition);
    found
        .own
        .iter()
        .map(|path: &Vec<sqlparser::ast::Ident>| match scope.owner(path) {
            Owner::Source(place) => Some(place),
            _ => None,
        })
        .collect()
}

fn order(scope: &Scope, conditions: &[Expr], places: &[BTreeSet<usize>]) -> Vec<usize> {
    let rows: Vec<f64> =
        (0..scope.sources.len()).map(|place| rows_left(place, scope, conditions, places)).collect();
    let rows_of = |place: &usize| rows.get(*place).copied().unwrap_or(UNKNOWN_ROWS);
    let mut left: Vec<usize> = (0..scope.sources.len()).collect();
    let mut order: Vec<usize> = Vec::new();
    while !left.is_empty() {
        fn is_joined(order: &[usize], places: &[BTreeSet<usize>], place: usize) -> bool {
            places
                .iter()
                .any(|all| all.contains(&place) && all.iter().any(|other| order.contains(other)))
        }
        let best = left.iter().copied().min_by(|a, b| {
            (!is_joined(&order, places, *a))
                .cmp(&!is_joined(&order, places, *b))
                .then_with(|| rows_of(a).total_cmp(&rows_of(b)))
                .then(a.cmp(b))
        });
        let Some(best) = best else { break };
        order.push(best);
        left.retain(|place| *place != best);
    }
    order
}

/// The rows that the conditions on one table alone leave of it.
fn rows_left(place: usize, scope: &Scope, conditions: &[Expr], places: &[BTreeSet<usize>]) -> f64 {
    let Some(source) = scope.sources.get(place) else { return UNKNOWN_ROWS };
    let rows =
        source.table.and_then(|table| table.row_estimate).map_or(UNKNOWN_ROWS, |rows| rows as f64);
    let own =
        conditions.iter().zip(places).filter(|(_, all)| all.len() == 1 && all.contains(&place));
    own.fold(rows, |rows, (condition, _)| rows * share(condition, source))
}

/// The share of rows that meet a condition, as planners guess it without statistics.
fn share(condition: &Expr, source: &crate::rewriter::scope::Source) -> f64 {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::Eq, .. } => {
            let name = path(left).and_then(|path| path.last());
            if name.is_some_and(|name| source.is_unique(&[name.value.as_str()])) {
                0.000_1
            } else {
                0.05
            }
        }
        Expr::InList { negated: false, .. } | Expr::InSubquery { negated: false, .. } => 0.1,
        Expr::BinaryOp { op: BinaryOperator::NotEq, .. } | Expr::IsNotNull(_) => 0.9,
        _ => 0.3,
    }
}

/// The order in which the plan reads the tables; `None` if it does not name all of them once.
fn read_plan_order(plan: &str, scope: &Scope) -> Option<Vec<usize>> {
    let mut order = Vec::new();
    for line in plan.lines() {
        let mut words = line.split(' ');
        if !matches!(words.next(), Some("SCAN" | "SEARCH")) {
            continue;
        }
        let name = words.next()?;
        order.push(
            scope.sources.iter().position(|source| source.name.value.eq_ignore_ascii_case(name))?,
        );
    }
    (order.len() == scope.sources.len()).then_some(order)
}
