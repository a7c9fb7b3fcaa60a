//! Places in a statement, and copies of it that are changed at one of them.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Query, Select, SelectItem, Statement, Visit, VisitMut, Visitor, VisitorMut};

/// Copies of the statement with one of its SELECTs changed.
pub(super) fn selects(statement: &Statement, change: impl Fn(&Select) -> Vec<Select>) -> Vec<Statement> {
    let mut seen = Seen::default();
    let _ = statement.visit(&mut seen);
    let at = |(place, select): (usize, &Select)| {
        change(select).into_iter().map(move |new| (place, New::Select(Box::new(new)))).collect()
    };
    let changed: Vec<Vec<(usize, New)>> = seen.selects.iter().enumerate().map(at).collect();
    changed.into_iter().flatten().map(|(place, new)| put(statement, place, new)).collect()
}

/// Copies of the statement with one of its queries changed.
pub(super) fn queries(statement: &Statement, change: impl Fn(&Query) -> Vec<Query>) -> Vec<Statement> {
    let mut seen = Seen::default();
    let _ = statement.visit(&mut seen);
    let at = |(place, query): (usize, &Query)| {
        change(query).into_iter().map(move |new| (place, New::Query(Box::new(new)))).collect()
    };
    let changed: Vec<Vec<(usize, New)>> = seen.queries.iter().enumerate().map(at).collect();
    changed.into_iter().flatten().map(|(place, new)| put(statement, place, new)).collect()
}

/// Copies of an expression that are changed at one place, queries inside it left as they are.
pub(super) fn expressions(expression: &Expr, change: impl Fn(&Expr) -> Vec<Expr>) -> Vec<Expr> {
    let mut walk = Walk { depth: 0, at: 0, change: &change, target: None, found: Vec::new() };
    let mut copy = expression.clone();
    let _ = VisitMut::visit(&mut copy, &mut walk);
    let found = walk.found;
    let put = |(place, new): (usize, Expr)| {
        let mut copy = expression.clone();
        let mut walk = Walk { depth: 0, at: 0, change: &change, target: Some((place, new)), found: Vec::new() };
        let _ = VisitMut::visit(&mut copy, &mut walk);
        copy
    };
    found.into_iter().map(put).collect()
}

/// Copies of a SELECT with one expression of its list changed.
pub(super) fn listed(select: &Select, change: impl Fn(&Expr) -> Vec<Expr>) -> Vec<Select> {
    let mut changed = Vec::new();
    for (place, item) in select.projection.iter().enumerate() {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { continue };
        for new in expressions(expr, &change) {
            let mut copy = select.clone();
            match copy.projection.get_mut(place) {
                Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => *expr = new,
                _ => continue,
            }
            changed.push(copy);
        }
    }
    changed
}

/// Copies of a SELECT with its condition changed at one place.
pub(super) fn filtered(select: &Select, change: impl Fn(&Expr) -> Vec<Expr>) -> Vec<Select> {
    let with = |selection: Expr| Select { selection: Some(selection), ..select.clone() };
    select.selection.iter().flat_map(|condition| expressions(condition, &change)).map(with).collect()
}

/// Copies of a SELECT with the condition on its groups changed at one place.
pub(super) fn having(select: &Select, change: impl Fn(&Expr) -> Vec<Expr>) -> Vec<Select> {
    let with = |having: Expr| Select { having: Some(having), ..select.clone() };
    select.having.iter().flat_map(|condition| expressions(condition, &change)).map(with).collect()
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

/// Asks for changes at each expression, or makes one.
struct Walk<'a, C> {
    depth: usize,
    at: usize,
    change: &'a C,
    target: Option<(usize, Expr)>,
    found: Vec<(usize, Expr)>,
}

impl<C: Fn(&Expr) -> Vec<Expr>> VisitorMut for Walk<'_, C> {
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
        let at = self.at;
        self.at += 1;
        match self.target.take() {
            None => {
                let changes = (self.change)(expr);
                self.found.extend(changes.into_iter().map(|new| (at, new)));
            }
            Some((place, new)) if place == at => {
                *expr = new;
                return ControlFlow::Break(());
            }
            later => self.target = later,
        }
        ControlFlow::Continue(())
    }
}
