//! The rows where the limit of a statement cuts its order: the last one that is shown, and those
//! behind it, which may be as great.

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, LimitClause, Offset, OffsetRows, OrderByKind, Query, Select,
    SelectItem, SetExpr, Value, ValueWithSpan,
};
use syrch_core::Dialect;
use syrch_core::ports::Cut;

use super::super::scope::same;
use super::beside::expression;
use crate::carry;

/// The greatest limit of which the cut is read.
const MOST: u64 = 100;
/// The rows that are asked for: the last that is shown, and some behind it.
const ROWS: u64 = 6;
/// The greatest length of the query, in bytes.
const LONGEST: usize = 16_000;

/// Reads the cut of a statement that is one SELECT with an order and a limit; `None` if another
/// query for its rows would not be certain to have them.
pub(in super::super) fn read(query: &Query, dialect: &Dialect) -> Option<Cut> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let (limit, offset) = numbers(query.limit_clause.as_ref()?)?;
    let is_plain = query.fetch.is_none()
        && query.pipe_operators.is_empty()
        && query.for_clause.is_none()
        && select.top.is_none()
        && !carry::is_pivot(select)
        && (1..=MOST).contains(&limit);
    let OrderByKind::Expressions(keys) = &query.order_by.as_ref()?.kind else { return None };
    // Where an engine has no NULLS LAST, `x IS NULL` stands before `x`.
    let keys: Vec<&Expr> = keys
        .iter()
        .filter(|key| !matches!(key.expr, Expr::IsNull(_)))
        .map(|key| find_key(&key.expr, select))
        .collect::<Option<_>>()?;
    // DISTINCT may be left out here: the first of different rows is the first of all rows, and
    // groups seldom repeat a row.
    let is_hidden = select.distinct.is_some() && !keys.iter().all(|key| is_shown(key, select));
    let is_grouped = matches!(&select.group_by, GroupByExpr::Expressions(by, _) if !by.is_empty());
    let may_show = !is_hidden || is_grouped || (limit, offset) == (1, 0);
    if !is_plain || keys.is_empty() || !may_show {
        return None;
    }
    let mut rows = query.clone();
    let SetExpr::Select(shown) = &mut *rows.body else { return None };
    shown.distinct = shown.distinct.take().filter(|_| !is_hidden);
    shown.projection.extend(keys.iter().enumerate().map(|(at, key)| SelectItem::ExprWithAlias {
        expr: (*key).clone(),
        alias: Ident::new(format!("order_key_{at}")),
    }));
    rows.limit_clause = Some(LimitClause::LimitOffset {
        limit: Some(number(ROWS)),
        offset: Some(Offset {
            value: number(offset.checked_add(limit - 1)?),
            rows: OffsetRows::None,
        }),
        limit_by: Vec::new(),
    });
    let name = carry::restore(name(keys[0], select), dialect);
    let rows = carry::restore(rows.to_string(), dialect);
    (rows.len() <= LONGEST).then_some(Cut { rows, keys: keys.len(), name })
}

/// The expression that a key of the order stands for, which may be a column of the result by its
/// name or its place.
fn find_key<'q>(key: &'q Expr, select: &'q Select) -> Option<&'q Expr> {
    let named = match key {
        Expr::Value(ValueWithSpan { value: Value::Number(place, _), .. }) => {
            let place = place.parse::<usize>().ok()?.checked_sub(1)?;
            let before = select.projection.get(..=place)?;
            if !before.iter().all(|item| expression(item).is_some()) {
                return None;
            }
            return before.last().and_then(expression);
        }
        Expr::Value(_) => return None,
        Expr::Identifier(name) => select.projection.iter().find_map(|item| match item {
            SelectItem::ExprWithAlias { expr, alias } if same(&alias.value, &name.value) => {
                Some(expr)
            }
            _ => None,
        }),
        _ => None,
    };
    Some(named.unwrap_or(key))
}

/// Returns true if a key is a column of the result.
fn is_shown(key: &Expr, select: &Select) -> bool {
    select.projection.iter().any(|item| expression(item) == Some(key))
}

/// The name of a key in the result, or else its text.
fn name(key: &Expr, select: &Select) -> String {
    let alias = select.projection.iter().find_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if expr == key => Some(alias.value.clone()),
        _ => None,
    });
    alias.unwrap_or_else(|| key.to_string())
}

/// The limit and the offset, if both are numbers.
fn numbers(clause: &LimitClause) -> Option<(u64, u64)> {
    let (limit, offset) = match clause {
        LimitClause::LimitOffset { limit: Some(limit), offset, limit_by }
            if limit_by.is_empty() =>
        {
            (limit, offset.as_ref().map(|offset| &offset.value))
        }
        LimitClause::OffsetCommaLimit { limit, offset } => (limit, Some(offset)),
        LimitClause::LimitOffset { .. } => return None,
    };
    Some((read_number(limit)?, offset.map_or(Some(0), read_number)?))
}

/// The number that an expression is.
pub(in super::super) fn read_number(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) => number.parse().ok(),
        _ => None,
    }
}

fn number(number: u64) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}
