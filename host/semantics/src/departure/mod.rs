//! Finds how a statement computes a metric that its question mentions in another way than the
//! metric is defined. It says nothing where that is not certain.

mod aggregates;
mod conditions;
mod polynomial;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;

use sqlparser::ast::Expr;
use syrch_core::ports::Facts;
use syrch_core::text::clip;

use crate::compile::find_table;
use crate::terms::{define_measure, define_metric, find_mentioned, list_measures};
use crate::{Aggregate, Expression, Measure, Metric, MetricKind, Semantics, Table};

use aggregates::{Computed, Kind, Read, read_statement};
use conditions::{Left, Test, list_tests};
use polynomial::{Polynomial, expand, list_columns};
use words::{find_asked, is_said, is_without};

/// The limit on the length of a text that a sentence shows, in bytes.
const SHOWN: usize = 160;

/// Returns a sentence for each metric that the question mentions and the statement computes in
/// another way: it aggregates something else or otherwise, or does not hold a condition of it.
#[must_use]
pub fn find_departures(semantics: &Semantics, question: &str, facts: &Facts) -> Vec<String> {
    let mentioned = find_mentioned(semantics, question);
    if mentioned.is_empty() {
        return Vec::new();
    }
    let Some(read) = read_statement(facts) else { return Vec::new() };
    let are_measures = mentioned.iter().all(|metric| matches!(metric.kind, MetricKind::Measure(_)));
    let mut asked = find_asked(question);
    for metric in mentioned.iter().filter(|_| mentioned.len() > 1) {
        let measures = list_measures(semantics, metric);
        asked.extend(measures.into_iter().map(|measure| kind_of(measure.aggregate)));
    }
    let is_alone = mentioned.len() == 1;
    let statement = Statement { question, facts, read, asked, is_alone, are_measures };
    let departures = mentioned.iter().filter_map(|metric| {
        let own = match &metric.kind {
            MetricKind::Measure(measure) => statement.find_departure(semantics, metric, measure),
            MetricKind::Ratio { .. } | MetricKind::Derived(_) => None,
        };
        own.or_else(|| statement.find_rows(semantics, metric))
    });
    departures.collect()
}

/// The kind of aggregate that a measure is.
fn kind_of(aggregate: Aggregate) -> Kind {
    match aggregate {
        Aggregate::Sum => Kind::Sum,
        Aggregate::Avg => Kind::Mean,
        Aggregate::Count => Kind::Count,
        Aggregate::CountDistinct => Kind::Distinct,
        Aggregate::Min => Kind::Min,
        Aggregate::Max => Kind::Max,
    }
}

/// A statement with its aggregates and conditions.
struct Statement<'a> {
    question: &'a str,
    facts: &'a Facts,
    read: Read,
    /// The aggregates that the question asks for by words of their own, or by other metrics.
    asked: Vec<Kind>,
    /// True if the question mentions one metric alone.
    is_alone: bool,
    /// True if no metric that it mentions is computed from others.
    are_measures: bool,
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
        let other = match self.find_other_kind(semantics, measure) {
            Some(found) => Some(found),
            None if self.computes(semantics, measure)? => None,
            None => Some(self.read.computed.iter().find(|one| is_rival(measure, one))?),
        };
        if let Some(found) = other {
            return Some(format!(
                "{file} defines {name} as {}, and the statement computes {}",
                clip(&define_metric(semantics, metric), SHOWN),
                clip(&found.text, SHOWN)
            ));
        }
        let base = find_table(semantics, &measure.base)?;
        let conditions = [measure.filter.as_ref(), base.filter.as_ref()];
        let condition = conditions.into_iter().flatten().find(|it| self.lacks(semantics, it))?;
        Some(format!(
            "{file} defines {name} as {} where {}, and the statement lacks that condition",
            clip(&define_measure(measure), SHOWN),
            clip(&condition.tree.to_string(), SHOWN)
        ))
    }

    /// The condition on the rows of a table that the metric aggregates which the statement, that
    /// aggregates rows of this table, does not hold.
    fn find_rows(&self, semantics: &Semantics, metric: &Metric) -> Option<String> {
        if self.read.computed.is_empty() {
            return None;
        }
        list_measures(semantics, metric).into_iter().find_map(|measure| {
            let base = find_table(semantics, &measure.base).filter(|base| self.reads(base))?;
            let condition = base.filter.as_ref().filter(|it| self.lacks(semantics, it))?;
            Some(format!(
                "{} says that {} always holds for {}, and the statement lacks that condition",
                metric.place.file,
                clip(&condition.tree.to_string(), SHOWN),
                base.name
            ))
        })
    }

    fn reads(&self, table: &Table) -> bool {
        let source = last_part(&table.source);
        self.facts.tables.iter().any(|table| last_part(table) == source)
    }

    /// An aggregate of another kind that stands in place of the measure, which the question does
    /// not ask for.
    fn find_other_kind(&self, semantics: &Semantics, measure: &Measure) -> Option<&Computed> {
        let own = kind_of(measure.aggregate);
        let kinds: Vec<Kind> = self.read.computed.iter().map(|one| one.kind).collect();
        if kinds.contains(&own) || !self.are_measures {
            return None;
        }
        let is_base = find_table(semantics, &measure.base).is_some_and(|base| self.reads(base));
        let argument = measure.argument.as_ref();
        let columns = argument.map(|it| find_columns(semantics, &it.tree)).unwrap_or_default();
        let has_count = kinds.contains(&Kind::Count) || kinds.contains(&Kind::Distinct);
        self.read.computed.iter().find(|one| {
            let is_of_columns = one.columns.iter().any(|column| columns.contains(column));
            match (own, one.kind) {
                // A number of rows that each has one thing is a number of things.
                (Kind::Distinct, Kind::Count) => self.is_alone && is_base && self.read.is_plain,
                (Kind::Count, Kind::Distinct) => {
                    self.is_alone && is_base && self.is_of_others(semantics, measure, one)
                }
                (Kind::Count | Kind::Distinct, _) => false,
                // A mean is a sum through a number, and a sum is a mean times a number.
                (Kind::Mean, Kind::Sum) => {
                    !has_count && !self.is_asked(Kind::Sum) && is_of_columns && !self.divides()
                }
                (Kind::Sum, Kind::Mean) => {
                    !has_count && !self.is_asked(Kind::Mean) && is_of_columns
                }
                (_, Kind::Count | Kind::Distinct) => {
                    let has_other =
                        kinds.iter().any(|kind| !matches!(kind, Kind::Count | Kind::Distinct));
                    let is_asked = self.is_asked(Kind::Count) || self.is_asked(Kind::Distinct);
                    is_base && !has_other && !is_asked
                }
                (_, kind) => {
                    let is_sum = matches!(own, Kind::Sum | Kind::Mean);
                    is_of_columns && !self.is_asked(kind) && !(is_sum && kinds.contains(&Kind::Sum))
                }
            }
        })
    }

    fn is_asked(&self, kind: Kind) -> bool {
        self.asked.contains(&kind)
    }

    fn divides(&self) -> bool {
        self.facts.normalized.contains('/')
    }

    /// Returns whether different values are counted of a column of the measure's table that neither
    /// tells its rows apart nor is counted by the measure.
    fn is_of_others(&self, semantics: &Semantics, measure: &Measure, one: &Computed) -> bool {
        let Some(base) = find_table(semantics, &measure.base) else { return false };
        let source = last_part(&base.source);
        let argument = measure.argument.as_ref();
        let mut own = argument.map(|it| find_columns(semantics, &it.tree)).unwrap_or_default();
        own.extend(base.key.iter().map(|key| format!("{source}.{}", key.to_lowercase())));
        !own.is_empty()
            && !one.columns.is_empty()
            && one.columns.is_disjoint(&own)
            && one.columns.iter().all(|column| column.starts_with(&format!("{source}.")))
    }

    /// Returns whether the statement certainly does not hold a condition: it reads no column of it,
    /// or leaves other values of one.
    fn lacks(&self, semantics: &Semantics, condition: &Expression) -> bool {
        let columns = find_columns(semantics, &condition.tree);
        if columns.is_empty() {
            return false;
        }
        if columns.is_disjoint(&self.list_columns()) {
            return true;
        }
        let tests = list_tests(&condition.tree);
        self.facts.tasks.is_empty() && tests.iter().any(|test| self.misses(semantics, test))
    }

    fn misses(&self, semantics: &Semantics, test: &Test) -> bool {
        let Some(wanted) = &test.left else { return false };
        let Some(column) = resolve(semantics, &test.column) else { return false };
        if !self.list_columns().contains(&column) {
            return false;
        }
        let last = column.rsplit('.').next().unwrap_or_default();
        let own = self.read.tests.iter().filter(|(name, _)| *name == column || name == last);
        let own: Vec<Option<&Left>> = own.map(|(_, left)| left.as_ref()).collect();
        if own.is_empty() {
            // A column of truth values may stand as a condition itself.
            return wanted.has_words();
        }
        own.iter().all(|left| {
            let is_other = left.and_then(|left| left.is_within(wanted)) == Some(false);
            is_other && !left.is_some_and(|left| self.asks_for(left, wanted))
        })
    }

    /// Returns whether the question asks for other values than those of a definition whose words it
    /// has: for all without these, or for others as well.
    fn asks_for(&self, left: &Left, wanted: &Left) -> bool {
        match (left, wanted) {
            (Left::Without(own), Left::Only(values)) => {
                own.is_superset(values)
                    && values.iter().all(|value| is_without(self.question, value))
            }
            (Left::Only(own), Left::Only(values)) => {
                own.is_superset(values) && own.iter().all(|value| is_said(self.question, value))
            }
            (_, Left::Without(_)) => false,
        }
    }

    /// Returns whether the statement computes the measure, conditions aside; `None` if that is not
    /// certain, or if it computes nothing of the kind.
    fn computes(&self, semantics: &Semantics, measure: &Measure) -> Option<bool> {
        if matches!(measure.aggregate, Aggregate::Count | Aggregate::CountDistinct) {
            let reads = self.reads(find_table(semantics, &measure.base)?);
            let counts = self
                .read
                .computed
                .iter()
                .any(|one| matches!(one.kind, Kind::Count | Kind::Distinct));
            return (reads && counts).then_some(true);
        }
        let argument = &measure.argument.as_ref()?.tree;
        let defined = expand(argument, &|names: &[String]| resolve(semantics, names))?;
        let rivals: Vec<&Computed> =
            self.read.computed.iter().filter(|one| is_rival(measure, one)).collect();
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

    /// The columns that the statement reads, as `table.column` in lower case without a schema.
    fn list_columns(&self) -> BTreeSet<String> {
        self.facts.columns.iter().filter_map(|column| shorten(column)).collect()
    }
}

/// Returns whether an aggregate is of the kind of a measure: a mean may be computed from a sum.
fn is_rival(measure: &Measure, one: &Computed) -> bool {
    match measure.aggregate {
        Aggregate::Sum | Aggregate::Avg => matches!(one.kind, Kind::Sum | Kind::Mean),
        Aggregate::Min => one.kind == Kind::Min,
        Aggregate::Max => one.kind == Kind::Max,
        Aggregate::Count | Aggregate::CountDistinct => {
            matches!(one.kind, Kind::Count | Kind::Distinct)
        }
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
