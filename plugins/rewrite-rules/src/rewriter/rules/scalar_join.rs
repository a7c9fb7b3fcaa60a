//! `scalar-to-join`: a correlated sub-query that is a value becomes a derived table with one row
//! for each key, which is joined.
//!
//! Sound: where no row of the derived table fits, LEFT JOIN gives NULLs, as the aggregate of no
//! rows does; a count becomes 0. On SQLite both sides of a key must be columns of one class of
//! types, because comparing a number with a text converts and grouping does not.

use sqlparser::ast::{Expr, Join, Query, Select, SelectItem};

use crate::rewriter::flat::spell_out;
use crate::rewriter::refs::{aggregate, function_name, path, refs, replace};
use crate::rewriter::scope::{Scope, groups_alike};
use crate::rewriter::sql::{groups, is_row_by_row, item_expr, plain};
use crate::rewriter::subquery::{Parts, is_own};
use crate::rewriter::walk::{each_scalar, each_select};
use crate::rewriter::work::Work;

pub(crate) fn apply(query: &mut Query, work: &mut Work) {
    each_select(query, &mut |select| {
        let Some(outer) = Scope::from_select(select, work.catalog) else { return };
        let mut joins = Vec::new();
        let mut change = |query: &Query| {
            let found = convert(query, &outer, work)?;
            work.takes().then(|| {
                joins.push((found.item, found.join));
                found.value
            })
        };
        if is_row_by_row(select) && !is_starred(select, &outer) {
            each_scalar(&mut select.projection, &mut change);
        }
        if let Some(condition) = &mut select.selection {
            each_scalar(condition, &mut change);
        }
        if joins.is_empty() {
            return;
        }
        spell_out(select, &outer);
        for (item, join) in joins {
            if let Some(tables) = select.from.get_mut(item) {
                tables.joins.push(join);
            }
        }
    });
}

/// Returns true if `*` would show the columns of a further table, and cannot be spelled out.
fn is_starred(select: &Select, scope: &Scope) -> bool {
    scope.has_merged_columns
        && select.projection.iter().any(|item: &SelectItem| matches!(item, SelectItem::Wildcard(_)))
}

/// A sub-query as a join and the value that stands in its place.
struct Converted {
    item: usize,
    join: Join,
    value: Expr,
}

fn convert(query: &Query, outer: &Scope, work: &mut Work) -> Option<Converted> {
    let (parts, select) = Parts::from_query(query, outer, work.catalog)?;
    let item = parts.item(outer)?;
    let fits = !outer.has_merged_columns && groups(&select)?.is_empty() && select.having.is_none();
    if !fits
        || select.distinct.is_some()
        || !parts.keys.iter().all(|key: &crate::rewriter::subquery::Key| {
            groups_alike(work.engine, (&parts.scope, &key.inner), (outer, &key.outer))
        })
    {
        return None;
    }
    let [projected] = select.projection.as_slice() else { return None };
    let mut value = item_expr(projected)?.clone();
    let name = work.fresh("r");
    let (columns, is_grouped) = match replace_aggregates(&mut value, &name, &parts, outer, work) {
        Some(columns) => (columns, true),
        None => (vec![look_up_value(&mut value, &name, &parts, &select, outer, work)?], false),
    };
    let keys: Vec<(String, String)> =
        parts.keys.iter().map(|key| (key.inner.to_string(), work.fresh("k"))).collect();
    let shown = keys
        .iter()
        .chain(&columns)
        .map(|pair: &(String, String)| format!("{} AS {}", pair.0, pair.1))
        .collect::<Vec<_>>()
        .join(", ");
    let by = keys.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>().join(", ");
    let group = if is_grouped { format!(" GROUP BY {by}") } else { String::new() };
    let on = parts.keys.iter().zip(&keys).map(|(key, (_, alias))| match key.inner_first {
        true => format!("{name}.{alias} = {}", key.outer),
        false => format!("{} = {name}.{alias}", key.outer),
    });
    let on = on.collect::<Vec<_>>().join(" AND ");
    let derived = format!("SELECT {shown} {}{group}", parts.text(Vec::new()));
    let whole = work.query(&format!("SELECT 1 FROM x LEFT JOIN ({derived}) AS {name} ON {on}"))?;
    let join = plain(&whole)?.from.first()?.joins.first()?.clone();
    Some(Converted { item, join, value })
}

/// Replaces the aggregates of a value by columns of the derived table; `None` unless everything
/// else in it is constant.
fn replace_aggregates(
    value: &mut Expr,
    name: &str,
    parts: &Parts,
    outer: &Scope,
    work: &mut Work,
) -> Option<Vec<(String, String)>> {
    let mut columns = Vec::new();
    let mut is_clean = true;
    let mut new = value.clone();
    replace(&mut new, &mut |expr| {
        let function = aggregate(expr)?;
        let found = refs(expr);
        is_clean &= !found.has_query && is_own(&found, &parts.scope, outer);
        let column = work.fresh("v");
        columns.push((expr.to_string(), column.clone()));
        // A count of no rows is 0, any other aggregate of no rows is NULL, but SQLite's `total`.
        let none = match function_name(function)?.as_str() {
            "count" => Some("0"),
            "total" => Some("0.0"),
            _ => None,
        };
        work.expr(&none.map_or_else(
            || format!("{name}.{column}"),
            |none| format!("COALESCE({name}.{column}, {none})"),
        ))
    });
    let left = refs(&new);
    let is_whole = is_clean
        && !columns.is_empty()
        && !left.has_query
        && left.own.iter().all(|path: &Vec<sqlparser::ast::Ident>| {
            path.first().is_some_and(|first| first.value == name)
        });
    is_whole.then(|| *value = new)?;
    Some(columns)
}

/// A value of the one row that a unique key finds.
fn look_up_value(
    value: &mut Expr,
    name: &str,
    parts: &Parts,
    select: &Select,
    outer: &Scope,
    work: &mut Work,
) -> Option<(String, String)> {
    let [source] = parts.scope.sources.as_slice() else { return None };
    let columns: Option<Vec<&str>> = parts
        .keys
        .iter()
        .map(|key| path(&key.inner)?.last().map(|name| name.value.as_str()))
        .collect();
    let found = refs(value);
    let fits = is_row_by_row(select) && source.is_unique(&columns?) && !found.has_query;
    if !fits || found.own.is_empty() || !is_own(&found, &parts.scope, outer) {
        return None;
    }
    let column = work.fresh("v");
    let text = value.to_string();
    *value = work.expr(&format!("{name}.{column}"))?;
    Some((text, column))
}
