//! Facts about a semantics file that reading a question needs: which tables a metric reaches, what
//! dates it, whether it can be added up, and which dimensions name the rows of a table.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};

use crate::compile::{are_equal, find_named, find_table};
use crate::joins::{Graph, Paths};
use crate::{Aggregate, Dimension, Format, Literal, Measure, Metric, MetricKind, Semantics, Table};

/// The limit on how deep metrics may refer to metrics.
const DEPTH: usize = 16;

/// The metric of that name.
pub(super) fn metric<'a>(semantics: &'a Semantics, name: &str) -> Option<&'a Metric> {
    find_named(semantics, name)
}

/// The place of the dimension that a request or a cell names as `name` or `table.name`.
pub(super) fn find_dimension(semantics: &Semantics, name: &str) -> Option<usize> {
    match semantics.index().dimensions(name) {
        [only] => Some(*only),
        _ => None,
    }
}

/// The name of a dimension as a request writes it.
pub(super) fn full_name(semantics: &Semantics, dimension: usize) -> String {
    let dimension = &semantics.dimensions[dimension];
    format!("{}.{}", dimension.table, dimension.name)
}

/// The metrics that a metric takes its values from, down to measures.
pub(super) fn measures<'a>(semantics: &'a Semantics, name: &str) -> Vec<&'a Measure> {
    let mut out = Vec::new();
    collect(semantics, name, DEPTH, &mut out);
    out
}

fn collect<'a>(semantics: &'a Semantics, name: &str, depth: usize, out: &mut Vec<&'a Measure>) {
    let Some(metric) = metric(semantics, name).filter(|_| depth > 0) else { return };
    match &metric.kind {
        MetricKind::Measure(measure) => out.push(measure),
        MetricKind::Ratio { numerator, denominator } => {
            collect(semantics, numerator, depth - 1, out);
            collect(semantics, denominator, depth - 1, out);
        }
        MetricKind::Derived(expression) => {
            for name in names_in(&expression.tree) {
                collect(semantics, &name, depth - 1, out);
            }
        }
    }
}

/// The names of metrics in the expression of a derived metric.
fn names_in(tree: &Expr) -> Vec<String> {
    let mut out = Vec::new();
    let walked = sqlparser::ast::visit_expressions(tree, |expression| {
        if let Expr::Identifier(name) = expression {
            out.push(name.value.clone());
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    debug_assert!(walked.is_continue());
    out
}

/// The tables that `base` reaches by exactly one path of joins to at most one row, itself first.
pub(super) fn reach<'a>(semantics: &'a Semantics, base: &str) -> Vec<&'a str> {
    Graph::from_index(semantics).find_reached(base)
}

/// Returns true if every measure of the metric reaches the table.
pub(super) fn reaches(semantics: &Semantics, name: &str, table: &str) -> bool {
    let graph = Graph::from_index(semantics);
    measures(semantics, name)
        .iter()
        .all(|measure| matches!(graph.find_paths(&measure.base, table), Paths::One(_)))
}

/// Returns true if more than one path of joins leads from a measure of the metric to the table.
pub(super) fn has_several_paths(semantics: &Semantics, name: &str, table: &str) -> bool {
    let graph = Graph::from_index(semantics);
    measures(semantics, name)
        .iter()
        .any(|measure| matches!(graph.find_paths(&measure.base, table), Paths::Several(..)))
}

/// The time dimensions that date the measures of a metric, by place; `None` if one has none.
pub(super) fn times(semantics: &Semantics, name: &str) -> Option<Vec<usize>> {
    measures(semantics, name).into_iter().map(|measure| time(semantics, measure)).collect()
}

fn time(semantics: &Semantics, measure: &Measure) -> Option<usize> {
    if let Some(name) = &measure.time {
        return find_dimension(semantics, name);
    }
    if let Some(own) = time_of_table(semantics, &measure.base) {
        return Some(own);
    }
    let tables = reach(semantics, &measure.base);
    let mut others = tables.iter().filter_map(|table| time_of_table(semantics, table));
    let first = others.next()?;
    others.next().is_none().then_some(first)
}

fn time_of_table(semantics: &Semantics, table: &str) -> Option<usize> {
    let table = find_table(semantics, table)?;
    find_dimension(semantics, &format!("{}.{}", table.name, table.time.as_ref()?))
}

/// Returns true if the metric's values for parts add up to that of the whole.
pub(super) fn is_additive(semantics: &Semantics, name: &str) -> bool {
    is_sum(semantics, name, DEPTH)
}

fn is_sum(semantics: &Semantics, name: &str, depth: usize) -> bool {
    let Some(metric) = metric(semantics, name).filter(|_| depth > 0) else { return false };
    match &metric.kind {
        MetricKind::Measure(measure) => matches!(
            measure.aggregate,
            Aggregate::Sum | Aggregate::Count | Aggregate::CountDistinct
        ),
        MetricKind::Ratio { .. } => false,
        MetricKind::Derived(expression) => is_linear(semantics, &expression.tree, depth - 1),
    }
}

/// Returns true for sums and differences of additive metrics and of their multiples.
fn is_linear(semantics: &Semantics, tree: &Expr, depth: usize) -> bool {
    match tree {
        Expr::Identifier(name) => is_sum(semantics, &name.value, depth),
        Expr::Nested(inner) => is_linear(semantics, inner, depth),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => is_linear(semantics, expr, depth),
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            is_linear(semantics, left, depth) && is_linear(semantics, right, depth)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
            (is_number(left) && is_linear(semantics, right, depth))
                || (is_linear(semantics, left, depth) && is_number(right))
        }
        Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => {
            is_linear(semantics, left, depth) && is_number(right)
        }
        _ => false,
    }
}

fn is_number(tree: &Expr) -> bool {
    matches!(tree, Expr::Value(value) if matches!(value.value, Value::Number(..)))
}

/// Returns true if the metric is a number of things, so that `how many` may ask for it.
pub(super) fn is_count(metric: &Metric) -> bool {
    match &metric.kind {
        MetricKind::Measure(measure) => match measure.aggregate {
            Aggregate::Count | Aggregate::CountDistinct => true,
            Aggregate::Sum => metric.format == Format::Number && metric.unit.is_none(),
            _ => false,
        },
        MetricKind::Ratio { .. } | MetricKind::Derived(_) => false,
    }
}

/// Returns true if a metric adds up or averages the values of a dimension, which are amounts then.
pub(super) fn is_amount(semantics: &Semantics, dimension: usize) -> bool {
    let wanted = &semantics.dimensions[dimension].expression.tree;
    semantics.metrics.iter().any(|metric| match &metric.kind {
        MetricKind::Measure(measure) => {
            matches!(measure.aggregate, Aggregate::Avg | Aggregate::Sum)
                && measure.argument.as_ref().is_some_and(|argument| argument.tree == *wanted)
        }
        MetricKind::Ratio { .. } | MetricKind::Derived(_) => false,
    })
}

/// Returns true if the metric counts all rows of a table.
pub(super) fn counts_rows(metric: &Metric) -> bool {
    matches!(&metric.kind, MetricKind::Measure(measure)
        if measure.aggregate == Aggregate::Count && measure.filter.is_none())
}

/// Returns true if the metric counts different values.
pub(super) fn is_distinct_count(metric: &Metric) -> bool {
    matches!(&metric.kind, MetricKind::Measure(measure)
        if measure.aggregate == Aggregate::CountDistinct)
}

/// Returns true if the metric is a mean: an average or a ratio that is no percentage.
pub(super) fn is_mean(metric: &Metric) -> bool {
    match &metric.kind {
        MetricKind::Measure(measure) => measure.aggregate == Aggregate::Avg,
        MetricKind::Ratio { .. } => metric.format != Format::Percent,
        MetricKind::Derived(_) => false,
    }
}

/// The only metric that counts all rows of a table.
pub(super) fn count_of(semantics: &Semantics, table: &str) -> Option<usize> {
    let mut found = (0..semantics.metrics.len()).filter(|at| {
        let MetricKind::Measure(measure) = &semantics.metrics[*at].kind else { return false };
        are_equal(&measure.base, table)
            && measure.filter.is_none()
            && measure.aggregate == Aggregate::Count
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The metrics that are the part of `whole` which meets a condition on one dimension.
pub(super) fn shares_of(
    semantics: &Semantics,
    whole: &str,
    dimension: usize,
    values: &[Literal],
) -> Vec<usize> {
    (0..semantics.metrics.len())
        .filter(|at| is_share(semantics, *at, whole, dimension, values))
        .collect()
}

fn is_share(
    semantics: &Semantics,
    at: usize,
    whole: &str,
    dimension: usize,
    values: &[Literal],
) -> bool {
    let MetricKind::Ratio { numerator, denominator } = &semantics.metrics[at].kind else {
        return false;
    };
    let parts = [numerator, denominator].map(|name| {
        metric(semantics, name).and_then(|metric| match &metric.kind {
            MetricKind::Measure(measure) => Some(measure),
            _ => None,
        })
    });
    let [Some(part), Some(all)] = parts else { return false };
    are_equal(denominator, whole)
        && all.filter.is_none()
        && are_equal(&part.base, &all.base)
        && part.aggregate == all.aggregate
        && argument(part) == argument(all)
        && part
            .filter
            .as_ref()
            .is_some_and(|filter| is_condition(semantics, &filter.tree, dimension, values))
}

fn argument(measure: &Measure) -> Option<String> {
    measure.argument.as_ref().map(|argument| argument.tree.to_string())
}

/// Returns true if an expression says that a dimension is one of these values.
fn is_condition(semantics: &Semantics, tree: &Expr, dimension: usize, values: &[Literal]) -> bool {
    let column = &semantics.dimensions[dimension].expression.tree;
    match tree {
        Expr::Nested(inner) => is_condition(semantics, inner, dimension, values),
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => {
            **left == *column && values.len() == 1 && is_literal(right, &values[0])
        }
        Expr::InList { expr, list, negated: false } => {
            **expr == *column
                && list.len() == values.len()
                && values.iter().all(|value| list.iter().any(|one| is_literal(one, value)))
        }
        _ => false,
    }
}

fn is_literal(tree: &Expr, literal: &Literal) -> bool {
    let Expr::Value(value) = tree else { return false };
    match (&value.value, literal) {
        (Value::SingleQuotedString(text), Literal::Text(wanted)) => text == wanted,
        (Value::Number(number, _), Literal::Number(wanted)) => number == wanted,
        (Value::Boolean(truth), Literal::Bool(wanted)) => truth == wanted,
        _ => false,
    }
}

/// The ratios of these two metrics.
pub(super) fn ratios(semantics: &Semantics, upper: &str, lower: &str) -> Vec<usize> {
    (0..semantics.metrics.len())
        .filter(|at| {
            matches!(&semantics.metrics[*at].kind, MetricKind::Ratio { numerator, denominator }
                if are_equal(numerator, upper) && are_equal(denominator, lower))
        })
        .collect()
}

/// The dimensions that name a row of a table: the one that is called like the table or `name`, with
/// the key where it can be shown, since two rows may have one name. Empty if there is none.
pub(super) fn naming_dimensions(semantics: &Semantics, table: usize) -> Vec<usize> {
    let table = &semantics.tables[table];
    let singular = singular_of(&table.name);
    let names = [
        singular.clone(),
        "name".to_owned(),
        format!("{singular}_name"),
        format!("{singular} name"),
        "title".to_owned(),
    ];
    let named = names
        .iter()
        .find_map(|name| dimension_of(semantics, table, name))
        .filter(|at| names_rows(&semantics.dimensions[*at]));
    let key: Option<Vec<usize>> =
        table.key.iter().map(|column| dimension_of(semantics, table, column)).collect();
    let key = key.unwrap_or_default();
    let others = named.into_iter().filter(|named| !key.contains(named));
    key.iter().copied().chain(others).collect()
}

/// Returns true if a dimension tells the rows of its table apart; several may have one title.
fn names_rows(dimension: &Dimension) -> bool {
    dimension.names_row || !dimension.name.eq_ignore_ascii_case("title")
}

/// Returns true if rows are grouped by one thing: one dimension, or those that name the rows of one
/// table.
pub(super) fn is_one_thing(semantics: &Semantics, by: &[String]) -> bool {
    by.len() <= 1
        || (0..semantics.tables.len()).any(|table| {
            let names = naming_dimensions(semantics, table);
            let names: Vec<String> = names.iter().map(|at| full_name(semantics, *at)).collect();
            names.len() == by.len() && by.iter().all(|name| names.contains(name))
        })
}

fn dimension_of(semantics: &Semantics, table: &Table, name: &str) -> Option<usize> {
    find_dimension(semantics, &format!("{}.{name}", table.name))
}

/// A name in the singular, as far as the usual endings tell.
fn singular_of(name: &str) -> String {
    let lower = name.to_lowercase();
    if let Some(root) = lower.strip_suffix("ies") {
        return format!("{root}y");
    }
    match lower.strip_suffix('s') {
        Some(root) if !root.ends_with('s') => root.to_owned(),
        _ => syrch_words::singular(&lower).to_owned(),
    }
}
