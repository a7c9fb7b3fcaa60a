//! Places in a statement, and copies of it that are changed at one of them.

use std::ops::ControlFlow;
use std::rc::Rc;

use sqlparser::ast::{
    Expr, Query, Select, SelectItem, Statement, Visit, VisitMut, Visitor, VisitorMut,
};

/// Changed copies, made lazily: a long statement over wide tables has more of them than fit into
/// memory.
pub(super) type Made<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

/// The expressions that may replace an expression.
pub(super) type Change<'a> = Rc<dyn Fn(&Expr) -> Vec<Expr> + 'a>;

/// Copies of the statement with one of its SELECTs changed.
pub(super) fn selects<'a>(
    statement: &'a Statement,
    change: impl Fn(Rc<Select>) -> Made<'a, Select> + 'a,
) -> Made<'a, Statement> {
    let mut seen = Seen::default();
    let _ = statement.visit(&mut seen);
    Box::new(seen.selects.into_iter().enumerate().flat_map(
        move |(place, select): (usize, Select)| {
            change(Rc::new(select))
                .map(move |new| put(statement, place, New::Select(Box::new(new))))
        },
    ))
}

/// Copies of the statement with one of its queries changed.
pub(super) fn queries<'a>(
    statement: &'a Statement,
    change: impl Fn(Rc<Query>) -> Made<'a, Query> + 'a,
) -> Made<'a, Statement> {
    let mut seen = Seen::default();
    let _ = statement.visit(&mut seen);
    Box::new(seen.queries.into_iter().enumerate().flat_map(
        move |(place, query): (usize, Query)| {
            change(Rc::new(query)).map(move |new| put(statement, place, New::Query(Box::new(new))))
        },
    ))
}

/// Copies of an expression that are changed at one place, queries inside it left as they are.
pub(super) fn expressions<'a>(expression: Expr, change: Change<'a>) -> Made<'a, Expr> {
    let expression = Rc::new(expression);
    let original = Rc::clone(&expression);
    let changes = (0..).map_while(move |place| {
        let mut walk = Walk { depth: 0, left: place, change: &*change, found: None };
        let _ = original.visit(&mut walk);
        walk.found.map(|found| (place, found))
    });
    Box::new(changes.flat_map(move |(place, found)| {
        let expression = Rc::clone(&expression);
        found.into_iter().map(move |new| {
            let mut copy = Expr::clone(&expression);
            let _ =
                VisitMut::visit(&mut copy, &mut PutExpr { depth: 0, left: place, new: Some(new) });
            copy
        })
    }))
}

/// Copies of a SELECT with one expression of its list changed.
pub(super) fn change_list<'a>(select: &Rc<Select>, change: Change<'a>) -> Made<'a, Select> {
    let select = Rc::clone(select);
    Box::new((0..select.projection.len()).flat_map(move |place| {
        let expr = match select.projection.get(place) {
            Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => {
                Some(expr.clone())
            }
            _ => None,
        };
        let select = Rc::clone(&select);
        let change = Rc::clone(&change);
        let changed = expr.into_iter().flat_map(move |expr| expressions(expr, Rc::clone(&change)));
        changed.map(move |new| {
            let mut copy = Select::clone(&select);
            if let Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) =
                copy.projection.get_mut(place)
            {
                *expr = new;
            }
            copy
        })
    }))
}

/// Copies of a SELECT with its condition changed at one place.
pub(super) fn change_filter<'a>(select: &Rc<Select>, change: Change<'a>) -> Made<'a, Select> {
    let select = Rc::clone(select);
    let changed = select
        .selection
        .clone()
        .into_iter()
        .flat_map(move |condition| expressions(condition, Rc::clone(&change)));
    Box::new(
        changed
            .map(move |selection| Select { selection: Some(selection), ..Select::clone(&select) }),
    )
}

/// Copies of a SELECT with the condition on its groups changed at one place.
pub(super) fn having<'a>(select: &Rc<Select>, change: Change<'a>) -> Made<'a, Select> {
    let select = Rc::clone(select);
    let changed = select
        .having
        .clone()
        .into_iter()
        .flat_map(move |condition| expressions(condition, Rc::clone(&change)));
    Box::new(changed.map(move |having| Select { having: Some(having), ..Select::clone(&select) }))
}

#[derive(Default)]
struct Seen {
    selects: Vec<Select>,
    queries: Vec<Query>,
}

impl Visitor for Seen {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.queries.push(query.clone());
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.selects.push(select.clone());
        ControlFlow::Continue(())
    }
}

enum New {
    Select(Box<Select>),
    Query(Box<Query>),
}

/// Puts a new part in the place of the old one; places count from 0 as they are visited.
struct Put {
    left: usize,
    new: Option<New>,
}

impl VisitorMut for Put {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if !matches!(self.new, Some(New::Query(_))) {
            return ControlFlow::Continue(());
        }
        if self.left > 0 {
            self.left -= 1;
            return ControlFlow::Continue(());
        }
        if let Some(New::Query(new)) = self.new.take() {
            *query = *new;
        }
        ControlFlow::Break(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if !matches!(self.new, Some(New::Select(_))) {
            return ControlFlow::Continue(());
        }
        if self.left > 0 {
            self.left -= 1;
            return ControlFlow::Continue(());
        }
        if let Some(New::Select(new)) = self.new.take() {
            *select = *new;
        }
        ControlFlow::Break(())
    }
}

fn put(statement: &Statement, place: usize, new: New) -> Statement {
    let mut copy = statement.clone();
    let _ = VisitMut::visit(&mut copy, &mut Put { left: place, new: Some(new) });
    copy
}

/// Asks for the changes of the expression at a place. Places count from 0 as they are visited,
/// without those of queries inside.
struct Walk<'a> {
    depth: usize,
    left: usize,
    change: &'a dyn Fn(&Expr) -> Vec<Expr>,
    found: Option<Vec<Expr>>,
}

impl Visitor for Walk<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        if self.left > 0 {
            self.left -= 1;
            return ControlFlow::Continue(());
        }
        self.found = Some((self.change)(expr));
        ControlFlow::Break(())
    }
}

/// Puts a new expression in the place of the old one; places count as for [`Walk`].
struct PutExpr {
    depth: usize,
    left: usize,
    new: Option<Expr>,
}

impl VisitorMut for PutExpr {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        if self.left > 0 {
            self.left -= 1;
            return ControlFlow::Continue(());
        }
        if let Some(new) = self.new.take() {
            *expr = new;
        }
        ControlFlow::Break(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::parse;
    use super::*;

    #[test]
    fn copies_are_made_when_they_are_asked_for() {
        let statement = parse(
            "SELECT a FROM t WHERE a = 1 AND b = 2 AND c = 3 AND d = 4",
            &syrch_core::Dialect::Sqlite,
        )
        .unwrap();
        let asked = Rc::new(Cell::new(0));
        let of = Rc::clone(&asked);
        let made = selects(&statement, move |select| {
            let of = Rc::clone(&of);
            change_filter(
                &select,
                Rc::new(move |expr: &Expr| {
                    of.set(of.get() + 1);
                    vec![expr.clone(); 2]
                }),
            )
        });
        assert_eq!(asked.get(), 0);
        assert_eq!(made.take(3).count(), 3);
        // The third is the first of the second place.
        assert_eq!(asked.get(), 2);
    }
}
