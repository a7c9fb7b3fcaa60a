//! Mistakes in FROM: another kind of join or another condition of it, one table too few, another
//! table.

use std::ops::ControlFlow;
use std::rc::Rc;

use sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, Select, Statement, TableFactor,
    TableWithJoins, VisitMut, VisitorMut,
};
use syrch_core::Catalog;

use super::sites::{Change, Made, expressions, selects};
use super::tables::{Tables, identifier, name_of};

/// Tables tried in the place of one.
const TABLES: usize = 8;

/// Another kind of join, or one by other columns.
pub(super) fn join<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let tables = Tables::new(&select, catalog);
        let others: Change<'a> = Rc::new(move |expr: &Expr| tables.others(expr));
        each_join(select, move |join| {
            let operator = join.join_operator.clone();
            let others = Rc::clone(&others);
            let on = constraint(&operator).cloned();
            let by = on.into_iter().flat_map(move |on| expressions(on, Rc::clone(&others)));
            Box::new(
                turn_join(&join.join_operator)
                    .into_iter()
                    .chain(by.filter_map(move |on| with(&operator, on))),
            )
        })
    })
}

/// Copies of a SELECT with one join of another kind.
fn each_join<'a>(
    select: Rc<Select>,
    change: impl Fn(&Join) -> Made<'a, JoinOperator> + 'a,
) -> Made<'a, Select> {
    let places: Vec<(usize, usize)> = select
        .from
        .iter()
        .enumerate()
        .flat_map(|(place, from): (usize, &TableWithJoins)| {
            (0..from.joins.len()).map(move |at| (place, at))
        })
        .collect();
    Box::new(places.into_iter().flat_map(move |(place, at)| {
        let select = Rc::clone(&select);
        change(&select.from[place].joins[at]).map(move |operator| {
            let mut select = Select::clone(&select);
            select.from[place].joins[at].join_operator = operator;
            select
        })
    }))
}

/// An inner join as an outer one, and the other way round.
fn turn_join(operator: &JoinOperator) -> Option<JoinOperator> {
    use JoinOperator::{FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
    match operator {
        Join(by @ JoinConstraint::On(_) | by @ JoinConstraint::Using(_)) | Inner(by) => {
            Some(Left(by.clone()))
        }
        Left(by) | LeftOuter(by) | Right(by) | RightOuter(by) | FullOuter(by) => {
            Some(Join(by.clone()))
        }
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

/// One table too few: its columns stay as they are, or become those of the first table.
pub(super) fn join_drop<'a>(statement: &'a Statement, _: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, |select| {
        Box::new((0..select.from.len()).flat_map(move |place| {
            let whole = Rc::clone(&select);
            let joins = (0..select.from[place].joins.len())
                .flat_map(move |at| without_join(&whole, place, at));
            joins.chain((select.from.len() > 1).then(|| {
                let mut without = Select::clone(&select);
                without.from.remove(place);
                without
            }))
        }))
    })
}

fn without_join(select: &Select, place: usize, at: usize) -> Vec<Select> {
    let from = &select.from[place];
    let mut without = select.clone();
    without.from[place].joins.remove(at);
    let names = name_of(&from.joins[at].relation).zip(name_of(&from.relation));
    let renamed = names.map(|(old, new)| {
        let mut renamed = without.clone();
        let _ = VisitMut::visit(&mut renamed, &mut Renamed { old, new });
        renamed
    });
    renamed.into_iter().chain([without]).collect()
}

/// Replaces the table of columns.
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

/// Replaces a table by one that the statement does not read.
pub(super) fn table<'a>(statement: &'a Statement, catalog: &'a Catalog) -> Made<'a, Statement> {
    selects(statement, move |select| {
        let others: Vec<&str> = Tables::new(&select, catalog).unread().take(TABLES).collect();
        let places: Vec<(usize, usize)> = select
            .from
            .iter()
            .enumerate()
            .flat_map(|(place, from): (usize, &TableWithJoins)| {
                (0..=from.joins.len()).map(move |at| (place, at))
            })
            .collect();
        Box::new(places.into_iter().flat_map(move |(place, at)| {
            others
                .iter()
                .filter_map(|other| read_from(&select, place, at, other))
                .collect::<Vec<_>>()
        }))
    })
}

/// A copy that reads another table at a place of FROM: the first table is at 0, and its joins
/// follow. `None` if there is no table.
fn read_from(select: &Select, place: usize, at: usize, other: &str) -> Option<Select> {
    let mut select = select.clone();
    let from = &mut select.from[place];
    let factor = match at.checked_sub(1) {
        None => &mut from.relation,
        Some(at) => &mut from.joins[at].relation,
    };
    let TableFactor::Table { name, .. } = factor else { return None };
    *name = ObjectName::from(vec![identifier(other)]);
    Some(select)
}
