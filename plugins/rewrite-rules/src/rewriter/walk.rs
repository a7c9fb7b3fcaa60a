//! Walks over a whole statement. There is one visitor for all of them, since the code of each has a
//! part for every kind of node that sqlparser knows.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, Query, Select, VisitMut, VisitorMut};

use super::sql::is_standard;

/// The callback of a walk.
enum Call<'f> {
    /// Called for every identifier.
    Name(&'f mut dyn FnMut(&Ident)),
    /// For every SELECT, the inner ones first.
    Select(&'f mut dyn FnMut(&mut Select)),
    /// For every sub-query that is a value, outside of other sub-queries; what it returns takes the
    /// sub-query's place.
    Scalar(&'f mut dyn FnMut(&Query) -> Option<Expr>),
}

struct Walk<'f> {
    call: Call<'f>,
    /// The number of queries around the present node.
    depth: usize,
}

impl VisitorMut for Walk<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if let Call::Select(change) = &mut self.call
            && is_standard(select)
        {
            change(select);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Call::Scalar(change) = &mut self.call
            && self.depth == 0
            && let Expr::Subquery(query) = expr
            && let Some(new) = change(query)
        {
            *expr = new;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_ident(&mut self, name: &mut Ident) -> ControlFlow<()> {
        if let Call::Name(see) = &mut self.call {
            see(name);
        }
        ControlFlow::Continue(())
    }
}

fn walk(part: &mut impl VisitMut, call: Call) {
    let _ = part.visit(&mut Walk { call, depth: 0 });
}

/// All names in a statement, in lower case.
pub(crate) fn names(query: &Query) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut see = |name: &Ident| {
        names.insert(name.value.to_ascii_lowercase());
    };
    walk(&mut query.clone(), Call::Name(&mut see));
    names
}

/// Calls `change` for every SELECT of a query, the inner ones first.
pub(crate) fn each_select(query: &mut Query, change: &mut dyn FnMut(&mut Select)) {
    walk(query, Call::Select(change));
}

/// Calls `change` for each sub-query that is a value, outside of other sub-queries.
pub(crate) fn each_scalar(
    part: &mut impl VisitMut,
    change: &mut dyn FnMut(&Query) -> Option<Expr>,
) {
    walk(part, Call::Scalar(change));
}
