//! Tables that stand beside each other in FROM: those that no condition connects, and rows that a
//! join repeats below an aggregate.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Function, GroupByExpr, JoinConstraint, JoinOperator, ObjectName, OrderBy, OrderByKind,
    Select, TableFactor, visit_expressions,
};
use syrch_core::Table;
use syrch_core::ports::{Use, UseKind};

use super::super::query::{Resolver, constraint};
use super::super::scope::{Scope, Source, same};
use super::beside::{Named, determined, expression, is_aggregate, meant};
use super::plain::{Place, arguments, calls, conditions, is_distinct, is_one_of, locate, name};
use crate::carry;

/// Aggregates that count each row of a table as often as a join repeats it.
const WEIGHED: [&str; 4] = ["avg", "mean", "sum", "total"];
/// Aggregates of one statement that are looked at.
const LOOKED_AT: usize = 16;
/// Bytes of a query of repeated rows.
const LONGEST: usize = 8_000;

/// A table of the catalog that stands in FROM.
struct Joined<'j> {
    table: &'j Table,
    /// The table's name, as the catalog finds it.
    shown: String,
    /// The name that qualifies its columns, as the statement writes it.
    written: String,
}

/// The uses of one SELECT whose FROM holds several tables of the catalog, and nothing else.
pub(super) fn uses(
    resolver: &Resolver<'_>,
    select: &Select,
    order: Option<&OrderBy>,
    scopes: &[Scope],
) -> Vec<Use> {
    let Some(tables) = tables(resolver, select, scopes) else { return Vec::new() };
    let lonely = unconnected(select, &tables, scopes);
    if lonely.is_some() || scopes.len() > 1 {
        return lonely.into_iter().collect();
    }
    repeated(resolver, select, order, scopes, &tables)
}

fn tables<'r>(
    resolver: &Resolver<'r>,
    select: &Select,
    scopes: &[Scope],
) -> Option<Vec<Joined<'r>>> {
    let scope = scopes.last().filter(|scope| scope.sources.len() > 1 && !scope.is_uncertain())?;
    let factors = select.from.iter().flat_map(|tree| {
        std::iter::once(&tree.relation).chain(tree.joins.iter().map(|join| &join.relation))
    });
    let joined: Option<Vec<Joined<'r>>> = factors
        .zip(&scope.sources)
        .map(|(factor, source)| joined(resolver, factor, source))
        .collect();
    joined.filter(|joined| joined.len() == scope.sources.len())
}

fn joined<'r>(
    resolver: &Resolver<'r>,
    factor: &TableFactor,
    source: &Source,
) -> Option<Joined<'r>> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let last = name.0.last().and_then(|part| part.as_ident())?;
    if is_query(resolver, name) {
        return None;
    }
    let shown = source.columns.as_ref()?.first()?.origin.as_ref()?.table.clone();
    let written = alias.as_ref().map_or(last, |alias| &alias.name).to_string();
    Some(Joined { table: resolver.catalog.table(&shown)?, shown, written })
}

/// Returns true if that is the name of a common table expression or of a finished task.
fn is_query(resolver: &Resolver<'_>, name: &ObjectName) -> bool {
    let [only] = name.0.as_slice() else { return false };
    let Some(only) = only.as_ident() else { return true };
    resolver.ctes.iter().any(|(cte, _)| same(cte, &only.value))
        || resolver.relations.iter().any(|relation| same(&relation.name, &only.value))
}

/// The first table that no condition connects with the first one of FROM.
fn unconnected(select: &Select, tables: &[Joined<'_>], scopes: &[Scope]) -> Option<Use> {
    let mut groups: Vec<usize> = (0..tables.len()).collect();
    let mut connected: Vec<&Expr> = select.selection.iter().flat_map(conditions).collect();
    for join in select.from.iter().flat_map(|tree| &tree.joins) {
        if matches!(join.join_operator, JoinOperator::CrossJoin(_)) {
            return None;
        }
        match constraint(join)? {
            JoinConstraint::On(condition) => connected.push(condition),
            JoinConstraint::Using(_) | JoinConstraint::Natural => return None,
            JoinConstraint::None => {}
        }
    }
    for condition in connected {
        let sources: BTreeSet<usize> =
            places(condition, scopes).into_iter().filter_map(|place| place.source).collect();
        let joined: BTreeSet<usize> = sources.iter().map(|source| groups[*source]).collect();
        let Some(first) = joined.first() else { continue };
        groups.iter_mut().filter(|group| joined.contains(group)).for_each(|group| *group = *first);
    }
    let lonely = groups.iter().position(|group| *group != groups[0])?;
    let [first, other] = [&tables[0], &tables[lonely]];
    Some(Use {
        table: other.shown.clone(),
        column: other.table.columns.first()?.name.clone(),
        value: None,
        filter: None,
        kind: UseKind::Unconnected(first.shown.clone()),
    })
}

/// The aggregates of a column whose table's rows a join may repeat, while the tables that repeat
/// them only filter.
fn repeated(
    resolver: &Resolver<'_>,
    select: &Select,
    order: Option<&OrderBy>,
    scopes: &[Scope],
    tables: &[Joined<'_>],
) -> Vec<Use> {
    let GroupByExpr::Expressions(groups, modifiers) = &select.group_by else { return Vec::new() };
    if !modifiers.is_empty() {
        return Vec::new();
    }
    let groups: Vec<&Expr> = groups.iter().map(|expr| meant(expr, select, scopes)).collect();
    let keys = order.into_iter().flat_map(|order| match &order.kind {
        OrderByKind::Expressions(keys) => keys.as_slice(),
        OrderByKind::All(_) => &[],
    });
    let shown = select.projection.iter().filter_map(expression).chain(&select.having);
    let shown: Vec<&Expr> = shown.chain(keys.map(|key| meant(&key.expr, select, scopes))).collect();
    if shown.len() < select.projection.len() || shown.iter().any(|expr| holds_query(expr)) {
        return Vec::new();
    }
    let read: Vec<Named> = shown
        .iter()
        .chain(&groups)
        .flat_map(|expr| places(expr, scopes))
        .filter_map(to_named)
        .collect();
    let mut uses = Vec::new();
    for function in shown.iter().flat_map(|expr| aggregates(expr)).take(LOOKED_AT) {
        let [argument] = arguments(&function)[..] else { continue };
        let Some(place) = locate(argument, scopes) else { continue };
        let Some(source) = place.source else { continue };
        let table = &tables[source];
        let [key] = table.table.primary_key.as_slice() else { continue };
        let is_count = is_one_of(&name(&function), &["count"])
            && groups.is_empty()
            && same(key, &place.origin.column);
        if is_distinct(&function) || !(is_count || is_one_of(&name(&function), &WEIGHED)) {
            continue;
        }
        let column = |column: &str| (source, table.shown.clone(), column.to_lowercase());
        let known = determined(BTreeSet::from([column(key)]), select, scopes, resolver.catalog);
        let is_single = |(number, table): (usize, &Joined<'_>)| {
            let key = &table.table.primary_key;
            !key.is_empty()
                && key
                    .iter()
                    .all(|key| known.contains(&(number, table.shown.clone(), key.to_lowercase())))
        };
        let has_others = read.iter().any(|named| !known.contains(named));
        if has_others || tables.iter().enumerate().all(is_single) {
            continue;
        }
        let rows = repeats(
            resolver,
            select,
            &groups,
            &format!("{}.{}", table.written, resolver.catalog.dialect.quoted(key)),
        );
        uses.extend(rows.map(|rows| Use {
            table: place.origin.table.clone(),
            column: place.origin.column.clone(),
            value: None,
            filter: None,
            kind: UseKind::Repeated { function: name(&function).to_uppercase(), rows },
        }));
    }
    uses
}

/// A query of one row for each row with that key that occurs more than once in a group.
fn repeats(
    resolver: &Resolver<'_>,
    select: &Select,
    groups: &[&Expr],
    key: &str,
) -> Option<String> {
    let from: Vec<String> = select.from.iter().map(ToString::to_string).collect();
    let filter =
        select.selection.as_ref().map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
    let groups: String = groups.iter().map(|group| format!(", {group}")).collect();
    let rows = format!(
        "SELECT 1 AS v FROM {}{filter} GROUP BY {key}{groups} HAVING count(*) > 1 LIMIT 1",
        from.join(", ")
    );
    let rows = carry::restore(rows, &resolver.catalog.dialect);
    (rows.len() <= LONGEST).then_some(rows)
}

fn places(expr: &Expr, scopes: &[Scope]) -> Vec<Place> {
    let mut places = Vec::new();
    let _ = visit_expressions(expr, |expr| {
        places.extend(locate(expr, scopes));
        ControlFlow::<()>::Continue(())
    });
    places
}

fn aggregates(expr: &Expr) -> Vec<Function> {
    let mut aggregates = Vec::new();
    let _ = visit_expressions(expr, |expr| {
        if let Expr::Function(function) = expr
            && is_aggregate(function)
        {
            aggregates.push(function.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    aggregates
}

fn holds_query(expr: &Expr) -> bool {
    calls(expr, |expr| {
        matches!(expr, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. })
    })
}

fn to_named(place: Place) -> Option<Named> {
    Some((place.source?, place.origin.table, place.origin.column.to_lowercase()))
}
