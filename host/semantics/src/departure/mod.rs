//! Finds how a statement computes a metric that its question mentions in another way than the
//! metric is defined. It says nothing where that is not certain.

mod aggregates;
mod polynomial;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use sqlparser::ast::Expr;
use syrch_core::ports::Facts;
use syrch_core::text::clip;

use crate::compile::find_table;
use crate::terms::{define_measure, define_metric, find_mentioned};
use crate::{Aggregate, Expression, Measure, Metric, MetricKind, Semantics};

use aggregates::{Computed, Kind, find_aggregates};
pub(crate) use polynomial::list_columns;
use polynomial::{Polynomial, expand};

/// The limit on the length of a text that a sentence shows, in bytes.
const SHOWN: usize = 160;

/// Returns a sentence for each metric that the question mentions and the statement computes in
/// another way: it aggregates something else, or lacks a column of a condition that always holds.
#[must_use]
pub fn find_departures(semantics: &Semantics, question: &str, facts: &Facts) -> Vec<String> {
    let mentioned = find_mentioned(semantics, question);
    if !mentioned.iter().any(|metric| matches!(metric.kind, MetricKind::Measure(_))) {
        return Vec::new();
    }
    let Some(computed) = find_aggregates(facts) else { return Vec::new() };
    let statement = Statement { facts, computed };
    let departures = mentioned.iter().filter_map(|metric| match &metric.kind {
        MetricKind::Measure(measure) => statement.find_departure(semantics, metric, measure),
        MetricKind::Ratio { .. } | MetricKind::Derived(_) => None,
    });
    departures.collect()
}

/// A statement with its aggregates.
struct Statement<'a> {
    facts: &'a Facts,
    computed: Vec<Computed>,
}

impl Statement<'_> {
    fn find_departure(
        &self,
        semantics: &Semantics,
        metric: &Metric,
        measure: &Measure,
    ) -> Option<String> {
        let name = &metric.name;
        let file = &metric.place.file;
        if !self.computes(semantics, measure)? {
            let found = self.computed.iter().find(|one| is_rival(measure, one))?;
            return Some(format!(
                "{file} defines {name} as {}, and the statement computes {}",
                clip(&define_metric(semantics, metric), SHOWN),
                clip(&found.text, SHOWN)
            ));
        }
        let condition = self.find_dropped(semantics, measure)?;
        Some(format!(
            "{file} defines {name} as {} where {}, and the statement lacks that condition",
            clip(&define_measure(measure), SHOWN),
            clip(&condition.tree.to_string(), SHOWN)
        ))
    }

    /// Returns whether the statement computes the measure, conditions aside; `None` if that is not
    /// certain, or if it computes nothing of the kind.
    fn computes(&self, semantics: &Semantics, measure: &Measure) -> Option<bool> {
        if matches!(measure.aggregate, Aggregate::Count | Aggregate::CountDistinct) {
            let base = source_of(semantics, &measure.base)?;
            let reads = self.facts.tables.iter().any(|table| last_part(table) == base);
            let counts = self.computed.iter().any(|one| one.kind == Kind::Count);
            return (reads && counts).then_some(true);
        }
        let argument = &measure.argument.as_ref()?.tree;
        let defined = expand(argument, &|names: &[String]| resolve(semantics, names))?;
        let rivals: Vec<&Computed> =
            self.computed.iter().filter(|one| is_rival(measure, one)).collect();
        let known: Vec<&Polynomial> =
            rivals.iter().filter_map(|one| one.argument.as_ref()).collect();
        if rivals.is_empty() {
            return None;
        }
        if defined.is_covered_by(&known) {
            return Some(true);
        }
        if known.len() < rivals.len() {
            return None;
        }
        let columns = find_columns(semantics, argument);
        let shares =
            rivals.iter().any(|one| one.columns.iter().any(|column| columns.contains(column)));
        // A column that stands outside of aggregates may be that of a condition of the question.
        let reads = self.list_columns().iter().any(|column| columns.contains(column));
        (shares || !reads).then_some(false)
    }

    /// The condition of the measure, or of its table, of which the statement reads no column.
    fn find_dropped<'s>(
        &self,
        semantics: &'s Semantics,
        measure: &'s Measure,
    ) -> Option<&'s Expression> {
        let base = find_table(semantics, &measure.base)?;
        let read = self.list_columns();
        let conditions = [measure.filter.as_ref(), base.filter.as_ref()];
        conditions.into_iter().flatten().find(|condition| {
            let columns = find_columns(semantics, &condition.tree);
            !columns.is_empty() && columns.is_disjoint(&read)
        })
    }

    /// The columns that the statement reads, as `table.column` in lower case without a schema.
    fn list_columns(&self) -> BTreeSet<String> {
        self.facts.columns.iter().filter_map(|column| shorten(column)).collect()
    }
}

/// Returns whether an aggregate is of the kind of a measure: a mean may be computed from a sum.
fn is_rival(measure: &Measure, one: &Computed) -> bool {
    match measure.aggregate {
        Aggregate::Sum | Aggregate::Avg => one.kind == Kind::Sum,
        Aggregate::Min => one.kind == Kind::Min,
        Aggregate::Max => one.kind == Kind::Max,
        Aggregate::Count | Aggregate::CountDistinct => one.kind == Kind::Count,
    }
}

/// The columns of an expression of the files, as the statement's are named.
fn find_columns(semantics: &Semantics, expression: &Expr) -> BTreeSet<String> {
    let names = list_columns(expression);
    names.iter().filter_map(|names| resolve(semantics, names)).collect()
}

/// The column of the database that a column of the files is.
fn resolve(semantics: &Semantics, names: &[String]) -> Option<String> {
    let [table, column] = names else { return None };
    Some(format!("{}.{}", source_of(semantics, table)?, column.to_lowercase()))
}

/// The name of a table of the files in the database, without its schema and in lower case.
fn source_of(semantics: &Semantics, table: &str) -> Option<String> {
    find_table(semantics, table).map(|table| last_part(&table.source))
}

/// A column without its schema, in lower case.
pub(super) fn shorten(column: &str) -> Option<String> {
    let (table, column) = column.rsplit_once('.')?;
    Some(format!("{}.{}", last_part(table), column.to_lowercase()))
}

/// The name of a table without its schema, in lower case.
pub(super) fn last_part(table: &str) -> String {
    let name = table.rsplit('.').next().unwrap_or(table);
    name.trim_matches(['"', '`']).to_lowercase()
}
