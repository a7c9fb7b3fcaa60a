//! The expressions in the columns, the groups and the order of a SELECT.

use sqlparser::ast::{Expr, GroupByExpr, OrderBy, OrderByKind, OrderBySort, Select, SelectItem};
use syrch_core::ports::{ColumnName, OrderKey, Outline, Selected};

use super::super::resolver::Resolver;
use super::super::scope::Scope;
use super::beside::{expression, is_aggregate, resolve_reference};
use super::compared::Compared;
use super::plain::{arguments, is_distinct, is_one_of, locate, name};
use super::{SAME_NUMBER, joined, strip_parentheses};

/// The outline of the SELECT whose scope is the last of these, without its limit.
pub(super) fn outline(
    resolver: &Resolver<'_>,
    select: &Select,
    order: Option<&OrderBy>,
    scopes: &[Scope],
) -> Outline {
    let column = |item: &SelectItem| {
        expression(item).map_or(Selected::Other, |expr| classify_output(expr, scopes))
    };
    let groups = match &select.group_by {
        GroupByExpr::Expressions(groups, _) => {
            groups.iter().map(|expr| resolve_reference(expr, select, scopes)).collect()
        }
        GroupByExpr::All(_) => Vec::new(),
    };
    let Compared { all_of, any_of, differing, loose } = Compared::read(select, scopes);
    Outline {
        columns: select.projection.iter().map(column).collect(),
        relations: scopes.last().map_or(0, |scope| scope.sources.len()),
        groups: groups.into_iter().map(|expr| classify_output(expr, scopes)).collect(),
        order: order.and_then(|order| first_key(order, select, scopes)),
        limit: None,
        cut: None,
        is_inner: joined::is_inner(select, scopes),
        all_of,
        any_of,
        differing,
        loose,
        repeated: joined::read_repeated(resolver, select, order, scopes),
    }
}

fn first_key(order: &OrderBy, select: &Select, scopes: &[Scope]) -> Option<OrderKey> {
    let OrderByKind::Expressions(keys) = &order.kind else { return None };
    let first = keys.first()?;
    let expr = resolve_reference(&first.expr, select, scopes);
    Some(OrderKey {
        by: classify_output(expr, scopes),
        is_descending: matches!(first.options.sort, Some(OrderBySort::Desc)),
        nulls_first: first.options.nulls_first,
        filter: locate(expr, scopes).and_then(|place| place.origin.filter),
    })
}

fn classify_output(expr: &Expr, scopes: &[Scope]) -> Selected {
    let column = |expr: &Expr| {
        let origin = locate(expr, scopes)?.origin;
        Some(ColumnName { table: origin.table, column: origin.column })
    };
    if let Some(column) = column(expr) {
        return Selected::Column(column);
    }
    let Expr::Function(function) = strip_parentheses(expr) else { return Selected::Other };
    let given = arguments(function);
    if is_aggregate(function) {
        let of = match given.as_slice() {
            [only] => column(only),
            _ => None,
        };
        let is_distinct = is_distinct(function);
        return Selected::Aggregate { function: name(function), of, is_distinct };
    }
    // A rounded mean is a mean.
    match given.first().filter(|_| is_one_of(&name(function), &SAME_NUMBER)) {
        Some(first) => match classify_output(first, scopes) {
            aggregate @ Selected::Aggregate { .. } => aggregate,
            Selected::Column(_) | Selected::Other => Selected::Other,
        },
        None => Selected::Other,
    }
}
