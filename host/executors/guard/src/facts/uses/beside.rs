//! Columns beside an aggregate that are neither grouped nor the same for all rows of a group.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, JoinConstraint, OrderBy, OrderByKind, Query, Select,
    SelectItem, Value, Visit, Visitor,
};
use syrch_core::{Catalog, Dialect, Table};

use super::super::resolver::constraint;
use super::super::scope::{Origin, Scope, same};
use super::plain::{Place, Plain, arguments, conditions, is_one_of, locate, name, plain};

/// Functions over the rows of a group.
const AGGREGATES: [&str; 42] = [
    "any_value",
    "approx_count_distinct",
    "approx_quantile",
    "arg_max",
    "arg_min",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "collect_list",
    "collect_set",
    "corr",
    "count",
    "count_if",
    "every",
    "first",
    "group_concat",
    "json_agg",
    "json_group_array",
    "json_group_object",
    "last",
    "list",
    "listagg",
    "max",
    "max_by",
    "mean",
    "median",
    "min",
    "min_by",
    "mode",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "quantile_cont",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "total",
];
/// Columns beside an aggregate that are looked at.
const COLUMNS: usize = 64;
const SPREADS: [&str; 4] = ["var_pop", "var_samp", "variance", "product"];

/// A column beside an aggregate, and the grouped expressions over its own table.
pub(super) struct Bare {
    pub(super) place: Place,
    pub(super) keys: Option<Vec<String>>,
}

/// A column of one source: the source's number, the table, and the column in lower case.
pub(super) type Named = (usize, String, String);

/// The columns of one SELECT of which the engine takes the value of any row of a group.
pub(super) fn bare(
    select: &Select,
    order: Option<&OrderBy>,
    scopes: &[Scope],
    catalog: &Catalog,
) -> Vec<Bare> {
    let GroupByExpr::Expressions(grouped, modifiers) = &select.group_by else { return Vec::new() };
    if !modifiers.is_empty() || !select.lateral_views.is_empty() {
        return Vec::new();
    }
    let grouped: Vec<&Expr> =
        grouped.iter().map(|expr| resolve_reference(expr, select, scopes)).collect();
    let mut parts = Parts {
        depth: 0,
        inside: 0,
        found: Vec::new(),
        aggregates: 0,
        extremes: 0,
        grouped: &grouped,
    };
    let shown = select.projection.iter().filter_map(expression);
    let keys = order.into_iter().flat_map(|order| match &order.kind {
        OrderByKind::Expressions(keys) => keys.as_slice(),
        OrderByKind::All(_) => &[],
    });
    let sorted = keys.map(|key| resolve_reference(&key.expr, select, scopes));
    for expr in shown.chain(&select.having).chain(sorted) {
        let _ = expr.visit(&mut parts);
    }
    let is_aggregate = parts.aggregates > 0 || !grouped.is_empty();
    // SQLite takes the other columns from the row that has the one minimum or maximum.
    if !is_aggregate || (parts.extremes == 1 && catalog.dialect.syntax().picks_rows_of_extremes) {
        return Vec::new();
    }
    let determined = Determined::new(select, &grouped, scopes, catalog);
    let mut bare: Vec<Bare> = Vec::new();
    for expr in parts.found.into_iter().take(COLUMNS) {
        let Some(place) = locate(&expr, scopes) else { continue };
        let Some(source) = place.source else { continue };
        let is_known = bare.iter().any(|known| known.place == place);
        if !is_known && !determined.has(&to_named(source, &place.origin)) {
            bare.push(Bare { keys: determined.keys(source), place });
        }
    }
    bare
}

/// The expressions of which each value makes a group of its own: those of GROUP BY, or all results
/// of a SELECT DISTINCT.
pub(super) fn groups<'e>(select: &'e Select, scopes: &[Scope]) -> Vec<&'e Expr> {
    let grouped = match &select.group_by {
        GroupByExpr::Expressions(grouped, _) => grouped.as_slice(),
        GroupByExpr::All(_) => &[],
    };
    let shown =
        select.projection.iter().filter(|_| select.distinct.is_some()).filter_map(expression);
    shown.chain(grouped.iter().map(|expr| resolve_reference(expr, select, scopes))).collect()
}

/// Returns whether an expression is a result of the SELECT.
pub(super) fn is_shown(expr: &Expr, select: &Select) -> bool {
    select.projection.iter().filter_map(expression).any(|shown| shown == expr)
}

/// The expression of the list of results that a number or an alias in GROUP BY or ORDER BY means.
pub(super) fn resolve_reference<'e>(
    expr: &'e Expr,
    select: &'e Select,
    scopes: &[Scope],
) -> &'e Expr {
    let found = match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => {
                let number = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                number.and_then(|number| select.projection.get(number)).and_then(expression)
            }
            _ => None,
        },
        Expr::Identifier(ident) => {
            let alias = select.projection.iter().find_map(|item| match item {
                SelectItem::ExprWithAlias { expr, alias } if same(&alias.value, &ident.value) => {
                    Some(expr)
                }
                _ => None,
            });
            // An alias that is also the name of a column may mean either.
            alias.filter(|_| locate(expr, scopes).is_none())
        }
        _ => None,
    };
    found.unwrap_or(expr)
}

pub(super) fn expression(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// Finds the columns outside of aggregates.
struct Parts<'e> {
    depth: usize,
    /// The number of aggregates and grouped expressions around this place.
    inside: usize,
    found: Vec<Expr>,
    aggregates: usize,
    extremes: usize,
    grouped: &'e [&'e Expr],
}

impl Parts<'_> {
    fn closes(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Function(function) => is_aggregate(function) || self.is_grouped(expr),
            _ => self.is_grouped(expr),
        }
    }

    fn is_grouped(&self, expr: &Expr) -> bool {
        !matches!(expr, Expr::Value(_)) && self.grouped.contains(&expr)
    }
}

impl Visitor for Parts<'_> {
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
        if let Expr::Function(function) = expr
            && is_aggregate(function)
        {
            self.aggregates += 1;
            self.extremes += usize::from(is_one_of(&name(function), &["min", "max"]));
        }
        if self.inside == 0 && matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
            self.found.push(expr.clone());
        }
        self.inside += usize::from(self.closes(expr));
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0 {
            self.inside -= usize::from(self.closes(expr));
        }
        ControlFlow::Continue(())
    }
}

pub(super) fn is_aggregate(function: &sqlparser::ast::Function) -> bool {
    let name = name(function);
    let is_scalar = is_one_of(&name, &["min", "max"]) && arguments(function).len() > 1;
    function.over.is_none()
        && !is_scalar
        && (is_one_of(&name, &AGGREGATES)
            || is_one_of(&name, &SPREADS)
            || !function.within_group.is_empty())
}

/// Returns all columns that have one value where these have one.
pub(super) fn determine_columns(
    columns: BTreeSet<Named>,
    select: &Select,
    scopes: &[Scope],
    catalog: &Catalog,
) -> BTreeSet<Named> {
    let mut determined = Determined { columns, ..Determined::new(select, &[], scopes, catalog) };
    determined.close(scopes, catalog);
    determined.columns
}

/// The columns that have one value in each group.
struct Determined {
    columns: BTreeSet<Named>,
    /// The grouped expressions; `None` for one that is not over one source.
    grouped: Vec<Option<Plain>>,
    /// Columns that the statement compares as equal.
    equal: Vec<(Named, Named)>,
    dialect: Dialect,
}

impl Determined {
    fn new(select: &Select, grouped: &[&Expr], scopes: &[Scope], catalog: &Catalog) -> Self {
        let columns = grouped
            .iter()
            .filter_map(|expr| resolve_column(strip_spelling(expr), scopes))
            .collect();
        let dialect = catalog.dialect.clone();
        let grouped = grouped.iter().map(|expr| plain(expr, scopes, &dialect)).collect();
        let mut determined = Self { columns, grouped, equal: equal(select, scopes), dialect };
        determined.close(scopes, catalog);
        determined
    }

    fn has(&self, column: &Named) -> bool {
        self.columns.contains(column)
    }

    /// Adds what equal columns and keys determine, until nothing is added.
    fn close(&mut self, scopes: &[Scope], catalog: &Catalog) {
        let Some(scope) = scopes.last() else { return };
        loop {
            let before = self.columns.len();
            for (left, right) in &self.equal {
                if self.columns.contains(left) {
                    self.columns.insert(right.clone());
                } else if self.columns.contains(right) {
                    self.columns.insert(left.clone());
                }
            }
            for (number, source) in scope.sources.iter().enumerate() {
                let origins =
                    source.columns.iter().flatten().filter_map(|column| column.origin.as_ref());
                for name in origins.map(|origin| origin.table.as_str()).collect::<BTreeSet<_>>() {
                    let Some(table) = catalog.table(name) else { continue };
                    let column = |column: &String| (number, name.to_owned(), column.to_lowercase());
                    if keys(table).any(|key: &[String]| {
                        !key.is_empty() && key.iter().all(|key| self.has(&column(key)))
                    }) {
                        self.columns.extend(table.columns.iter().map(|known| column(&known.name)));
                    }
                }
            }
            if self.columns.len() == before {
                return;
            }
        }
    }

    /// The grouped expressions over columns of that source; `None` if one of them is not.
    fn keys(&self, source: usize) -> Option<Vec<String>> {
        self.grouped
            .iter()
            .map(|grouped: &Option<Plain>| {
                let grouped = grouped.as_ref()?;
                if grouped.source == source {
                    return Some(grouped.sql.clone());
                }
                let [column] = grouped.columns.as_slice() else { return None };
                let own = (grouped.source, grouped.origin.table.clone(), column.to_lowercase());
                let is_column = grouped.sql == self.dialect.quote(column);
                let other = self.equal.iter().find_map(|(left, right)| match () {
                    () if *left == own && right.0 == source => Some(&right.2),
                    () if *right == own && left.0 == source => Some(&left.2),
                    () => None,
                });
                other.filter(|_| is_column).map(|column| self.dialect.quote(column))
            })
            .collect()
    }
}

/// The columns that determine a row of the table.
fn keys(table: &Table) -> impl Iterator<Item = &[String]> {
    let unique = table.indexes.iter().filter(|index| index.is_unique && index.predicate.is_none());
    std::iter::once(table.primary_key.as_slice())
        .chain(unique.map(|index| index.columns.as_slice()))
}

/// The expression of which only the spelling is dropped, as by `lower(trim(x))`: any spelling
/// stands for the group.
fn strip_spelling(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip_spelling(inner),
        Expr::Trim { expr, trim_what: None, .. } => strip_spelling(expr),
        Expr::Function(function)
            if is_one_of(&name(function), &["lower", "ltrim", "rtrim", "trim", "upper"]) =>
        {
            match arguments(function).as_slice() {
                [only] => strip_spelling(only),
                _ => expr,
            }
        }
        other => other,
    }
}

fn resolve_column(expr: &Expr, scopes: &[Scope]) -> Option<Named> {
    let place = locate(expr, scopes)?;
    Some(to_named(place.source?, &place.origin))
}

fn to_named(source: usize, origin: &Origin) -> Named {
    (source, origin.table.clone(), origin.column.to_lowercase())
}

/// The columns that conditions of joins and of WHERE make equal.
fn equal(select: &Select, scopes: &[Scope]) -> Vec<(Named, Named)> {
    let mut pairs = Vec::new();
    let mut joined: Vec<&Expr> = select.selection.iter().collect();
    for join in select.from.iter().flat_map(|tree| &tree.joins) {
        match constraint(join) {
            Some(JoinConstraint::On(condition)) => joined.push(condition),
            Some(JoinConstraint::Using(names)) => {
                for name in names.iter().filter_map(|name| name.0.last()?.as_ident()) {
                    pairs.extend(same_named(&name.value, scopes));
                }
            }
            Some(JoinConstraint::Natural) => {
                let names = scopes
                    .last()
                    .map(|scope| scope.names().collect::<BTreeSet<_>>())
                    .unwrap_or_default();
                pairs.extend(names.iter().flat_map(|name| same_named(name, scopes)));
            }
            _ => {}
        }
    }
    for condition in joined.into_iter().flat_map(conditions) {
        if let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition
            && let Some(left) = resolve_column(left, scopes)
            && let Some(right) = resolve_column(right, scopes)
        {
            pairs.push((left, right));
        }
    }
    pairs
}

/// The columns of that name in all sources, each with the first.
fn same_named(name: &str, scopes: &[Scope]) -> Vec<(Named, Named)> {
    let sources = scopes.last().into_iter().flat_map(|scope| scope.sources.iter().enumerate());
    let mut columns = sources.filter_map(|(number, source)| {
        let column = source.columns.as_ref()?.iter().find(|column| column.is(name))?;
        Some(to_named(number, column.origin.as_ref()?))
    });
    let Some(first) = columns.next() else { return Vec::new() };
    columns.map(|column| (first.clone(), column)).collect()
}
