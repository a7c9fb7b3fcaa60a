//! `push-down`: a condition on the columns of a sub-query in FROM is asked within it as well, in
//! each branch of a UNION.
//!
//! Sound: the condition stays where it was, it is never true for NULL, and it filters groups by
//! what they are grouped by.

use sqlparser::ast::{
    BinaryOperator, Expr, Ident, Query, Select, SetExpr, SetOperator, TableFactor,
};

use crate::rewriter::refs::{has_aggregate, path, refs, replace};
use crate::rewriter::scope::{Owner, Scope};
use crate::rewriter::sql::{all_of, conjuncts, groups, is_standard, item_expr, item_name};
use crate::rewriter::walk::each_select;
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    each_select(query, &mut |select| {
        let Some(scope) = Scope::from_select(select, work.catalog) else { return };
        let conditions: Vec<Expr> = select.selection.iter().flat_map(conjuncts).cloned().collect();
        for condition in conditions.iter().filter(|condition| is_strict(condition)) {
            let Some(place) = one_source(condition, &scope) else { continue };
            let Some(query) = subquery_at(select, place) else { continue };
            if let Some(new) = add_condition(query, condition)
                && work.takes()
            {
                *query = new;
            }
        }
    });
}

/// Returns true if a condition compares columns with constants, so that it is not true for NULL.
fn is_strict(condition: &Expr) -> bool {
    fn is_constant(expr: &Expr) -> bool {
        matches!(expr, Expr::Value(_) | Expr::TypedString(_))
    }
    match condition {
        Expr::BinaryOp { left, op, right } => {
            let compares = matches!(
                op,
                BinaryOperator::Eq
                    | BinaryOperator::NotEq
                    | BinaryOperator::Lt
                    | BinaryOperator::LtEq
                    | BinaryOperator::Gt
                    | BinaryOperator::GtEq
            );
            compares && path(left).is_some() && is_constant(right)
        }
        Expr::Between { expr, low, high, .. } => {
            path(expr).is_some() && is_constant(low) && is_constant(high)
        }
        Expr::InList { expr, list, negated: false } => {
            path(expr).is_some() && list.iter().all(is_constant)
        }
        _ => false,
    }
}

fn one_source(condition: &Expr, scope: &Scope) -> Option<usize> {
    match refs(condition).own.as_slice() {
        [path] => match scope.owner(path) {
            Owner::Source(place) => Some(place),
            _ => None,
        },
        _ => None,
    }
}

/// The sub-query that is the source at a place in FROM.
fn subquery_at(select: &mut Select, place: usize) -> Option<&mut Query> {
    let factors = select.from.iter_mut().flat_map(|item| {
        std::iter::once(&mut item.relation)
            .chain(item.joins.iter_mut().map(|join| &mut join.relation))
    });
    match factors.into_iter().nth(place)? {
        TableFactor::Derived { subquery, alias: Some(alias), .. } if alias.columns.is_empty() => {
            Some(subquery)
        }
        _ => None,
    }
}

/// The sub-query with the condition; `None` if it may not have it, or has it already.
fn add_condition(query: &Query, condition: &Expr) -> Option<Query> {
    if query.limit_clause.is_some() || query.fetch.is_some() || query.with.is_some() {
        return None;
    }
    let column = refs(condition).own.first()?.last()?.clone();
    let place = first_select(&query.body)?.projection.iter().position(|item| {
        item_name(item).is_some_and(|name| name.value.eq_ignore_ascii_case(&column.value))
    })?;
    let mut query = query.clone();
    narrow(&mut query.body, condition, &column, place)?;
    Some(query)
}

fn first_select(body: &SetExpr) -> Option<&Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::SetOperation { left, .. } => first_select(left),
        _ => None,
    }
}

fn narrow(body: &mut SetExpr, condition: &Expr, column: &Ident, place: usize) -> Option<()> {
    match body {
        SetExpr::Select(select) => narrow_select(select, condition, column, place),
        SetExpr::SetOperation { left, op: SetOperator::Union, right, .. } => {
            narrow(left, condition, column, place)?;
            narrow(right, condition, column, place)
        }
        _ => None,
    }
}

fn narrow_select(
    select: &mut Select,
    condition: &Expr,
    column: &Ident,
    place: usize,
) -> Option<()> {
    if !is_standard(select)
        || !select.named_window.is_empty()
        || select.projection.iter().any(|item| item_expr(item).is_none())
    {
        return None;
    }
    let shown = item_expr(select.projection.get(place)?)?.clone();
    let keys = groups(select)?;
    let has_windows = select.projection.iter().any(|item| item.to_string().contains(" OVER "));
    let is_grouped =
        !keys.is_empty() || select.projection.iter().filter_map(item_expr).any(has_aggregate);
    let is_key = keys.contains(&shown);
    if has_windows || has_aggregate(&shown) || refs(&shown).has_query || (is_grouped && !is_key) {
        return None;
    }
    let mut new = condition.clone();
    replace(&mut new, &mut |expr| {
        let is_column = matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        let is_this = path(expr)?.last()?.value.eq_ignore_ascii_case(&column.value);
        (is_column && is_this).then(|| {
            if path(&shown).is_some() {
                shown.clone()
            } else {
                Expr::Nested(Box::new(shown.clone()))
            }
        })
    });
    let mut conditions: Vec<Expr> = select.selection.iter().flat_map(conjuncts).cloned().collect();
    if conditions.contains(&new) {
        return None;
    }
    conditions.push(new);
    select.selection = all_of(conditions);
    Some(())
}
