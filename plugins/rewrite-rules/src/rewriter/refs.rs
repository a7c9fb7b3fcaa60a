//! The columns that a part of a statement refers to.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, FunctionArguments, Ident, ObjectNamePart, Query, Visit, VisitMut, Visitor,
    VisitorMut,
};
use syrch_plugin::text::is_one_of;

/// References to columns, as they are written: `[column]`, `[table, column]` and so on.
#[derive(Debug, Default)]
pub(crate) struct Refs {
    /// The references outside of sub-queries.
    pub(crate) own: Vec<Vec<Ident>>,
    /// The references in sub-queries, which may mean columns of the outer query.
    pub(crate) nested: Vec<Vec<Ident>>,
    /// True if there is a sub-query.
    pub(crate) has_query: bool,
    depth: usize,
}

impl Visitor for Refs {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        self.has_query = true;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Some(path) = path(expr) {
            let list = if self.depth == 0 { &mut self.own } else { &mut self.nested };
            list.push(path.to_vec());
        }
        ControlFlow::Continue(())
    }
}

/// Collects the references in a part of a statement.
pub(crate) fn refs(part: &impl Visit) -> Refs {
    let mut refs = Refs::default();
    let _ = part.visit(&mut refs);
    refs
}

/// The names of a reference to a column; `None` for any other expression.
pub(crate) fn path(expr: &Expr) -> Option<&[Ident]> {
    match expr {
        Expr::Identifier(name) => Some(std::slice::from_ref(name)),
        Expr::CompoundIdentifier(path) => Some(path),
        Expr::Nested(inner) => path(inner),
        _ => None,
    }
}

/// Replaces expressions outside of sub-queries; what `change` returns is not changed again, and
/// nothing in it.
pub(crate) fn replace(part: &mut impl VisitMut, change: &mut dyn FnMut(&Expr) -> Option<Expr>) {
    struct Replace<'f> {
        change: &'f mut dyn FnMut(&Expr) -> Option<Expr>,
        depth: usize,
    }
    impl VisitorMut for Replace<'_> {
        type Break = ();
        fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
            self.depth += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
            self.depth -= 1;
            ControlFlow::Continue(())
        }
        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            if self.depth == 0
                && let Some(new) = (self.change)(expr)
            {
                *expr = new;
            }
            ControlFlow::Continue(())
        }
    }
    let _ = part.visit(&mut Replace { change, depth: 0 });
}

const AGGREGATES: &str = "count sum avg total min max group_concat string_agg array_agg bool_and \
                          bool_or every stddev stddev_pop stddev_samp variance var_pop var_samp \
                          bit_and bit_or";

/// The name of a function without its schema, in lower case.
pub(crate) fn function_name(function: &Function) -> Option<String> {
    match function.name.0.as_slice() {
        [ObjectNamePart::Identifier(name)] => Some(name.value.to_ascii_lowercase()),
        _ => None,
    }
}

/// The number of arguments of a call.
fn argument_count(function: &Function) -> usize {
    match &function.args {
        FunctionArguments::List(list) => list.args.len(),
        _ => 0,
    }
}

/// The aggregate function that an expression calls itself, not as a window function.
pub(crate) fn aggregate(expr: &Expr) -> Option<&Function> {
    let Expr::Function(function) = expr else { return None };
    let name = function_name(function)?;
    // `min(a, b)` of SQLite is no aggregate.
    let is_scalar = is_one_of("min max", &name) && argument_count(function) != 1;
    (is_one_of(AGGREGATES, &name) && function.over.is_none() && !is_scalar).then_some(function)
}

/// Returns true if an expression calls an aggregate or window function outside of sub-queries.
pub(crate) fn has_aggregate(expr: &Expr) -> bool {
    struct Find(usize, bool);
    impl Visitor for Find {
        type Break = ();
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.0 -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            let is_window = matches!(expr, Expr::Function(function) if function.over.is_some());
            self.1 |= self.0 == 0 && (is_window || aggregate(expr).is_some());
            ControlFlow::Continue(())
        }
    }
    let mut find = Find(0, false);
    let _ = expr.visit(&mut find);
    find.1
}
