//! The comparison of semantics with a database: first with its catalog, then, by statements that
//! the caller runs, with its rows.

mod finding;
pub(crate) mod probes;
#[cfg(test)]
mod tests;
pub(crate) mod types;

use std::collections::{BTreeSet, HashMap};

use sqlparser::ast::Expr;
use syrch_core::text::{few, nearest};
use syrch_core::{Catalog, Column, Dialect};

pub use finding::{Finding, Severity};
pub use probes::{Probe, probes};
use types::{Columns, Type};

use crate::{
    Aggregate, CompileError, Compiled, Dimension, Expression, Join, Literal, Measure, Metric,
    MetricKind, Place, Request, Semantics, Table, compile,
};

/// The limit on the number of findings.
const LIMIT: usize = 200;

/// The limit on the number of columns that are searched for one near to a wrong name.
const COMPARED: usize = 1_000;

/// The number of metrics that are compiled at once.
const BATCH: usize = 16;

/// Compares semantics with the catalog of a database: every table and column exists, sums are those
/// of numbers, times are times, both ends of a join have comparable types, and each metric has a
/// statement in the dialect. Columns that nothing uses are notes. Findings are in the order of the
/// file, at most 200.
#[must_use]
pub fn check(semantics: &Semantics, catalog: &Catalog) -> Vec<Finding> {
    let mut check = Check {
        semantics,
        catalog,
        sources: HashMap::new(),
        used: HashMap::new(),
        findings: Vec::new(),
    };
    semantics.tables.iter().for_each(|table| check.table(table));
    semantics.dimensions.iter().for_each(|dimension| check.dimension(dimension));
    semantics.joins.iter().for_each(|join| check.join(join));
    for metric in &semantics.metrics {
        if let MetricKind::Measure(measure) = &metric.kind {
            check.measure(measure, &metric.place);
        }
    }
    check.compile_metrics();
    check.note_unused();
    check.findings.sort_by_key(|finding: &Finding| {
        let Place { file, line, column } = &finding.place;
        (finding.severity == Severity::Note, file.clone(), *line, *column)
    });
    check.findings
}

struct Check<'a> {
    semantics: &'a Semantics,
    catalog: &'a Catalog,
    /// The tables of the catalog, by the names of the file.
    sources: HashMap<&'a str, &'a syrch_core::Table>,
    /// The columns that are used, in lower case, by the names of the catalog's tables.
    used: HashMap<String, BTreeSet<String>>,
    findings: Vec<Finding>,
}

/// An expression under check, with the place where it is written.
struct Typed<'c, 'a> {
    check: &'c mut Check<'a>,
    place: Place,
}

impl Columns for Typed<'_, '_> {
    fn column(&mut self, table: &str, column: &str) -> Type {
        let place = self.place.clone();
        self.check
            .column(table, column, &place)
            .map_or(Type::Unknown, |column| Type::from_declared(&column.sql_type))
    }

    fn text_in_arithmetic(&mut self, operand: &Expr) {
        let place = self.place.clone();
        let message = format!(
            "`{operand}` is a text, which cannot be computed with; write CAST ({operand} AS \
             NUMERIC)"
        );
        self.check.add(Severity::Error, &place, message);
    }
}

impl<'a> Check<'a> {
    fn add(&mut self, severity: Severity, place: &Place, message: impl Into<String>) {
        let message = match self.findings.len() {
            LIMIT => "further findings are not listed; correct those above first".to_owned(),
            count if count > LIMIT => return,
            _ => message.into(),
        };
        self.findings.push(Finding::new(severity, place, message));
    }

    fn table(&mut self, table: &'a Table) {
        let Some(source) = self.catalog.table(&table.source) else {
            let names = self.catalog.table_names();
            let near = nearest(&table.source, names.iter().take(COMPARED).map(String::as_str));
            let message = format!(
                "the database has no table or view `{}`{}",
                table.source,
                suggestion(&near)
            );
            return self.add(Severity::Error, &table.place, message);
        };
        self.sources.insert(&table.name, source);
        for column in &table.key {
            self.column(&table.name, column, &table.place);
        }
        if let Some(filter) = &table.filter {
            self.condition(filter);
        }
    }

    /// The column of the catalog, if there is one. What is missing is reported, unless its whole
    /// table is missing.
    fn column(&mut self, table: &str, column: &str, place: &Place) -> Option<&'a Column> {
        let source = *self.sources.get(table)?;
        let Some(found) = source.column(column) else {
            let names = source.columns.iter().take(COMPARED).map(|column| column.name.as_str());
            let message = format!(
                "`{}` has no column `{column}`{}",
                self.catalog.table_name(source),
                suggestion(&nearest(column, names))
            );
            if self.findings.len() <= LIMIT {
                self.add(Severity::Error, place, message);
            }
            return None;
        };
        let used = self.used.entry(self.catalog.table_name(source)).or_default();
        used.insert(found.name.to_lowercase());
        Some(found)
    }

    fn type_of(&mut self, expression: &Expression) -> Type {
        let mut typed = Typed { check: self, place: expression.place.clone() };
        typed.type_of(&expression.tree)
    }

    fn condition(&mut self, filter: &Expression) {
        let found = self.type_of(filter);
        // SQLite has no truth values, and uses numbers for them.
        if matches!(found, Type::Text | Type::Time) {
            let message = format!("the filter is {}, no condition", found.name());
            self.add(Severity::Error, &filter.place, message);
        }
    }

    fn dimension(&mut self, dimension: &Dimension) {
        let found = self.type_of(&dimension.expression);
        // SQLite stores dates as texts.
        let is_text_date = found == Type::Text && self.catalog.dialect == Dialect::Sqlite;
        if dimension.is_time && !matches!(found, Type::Time | Type::Unknown) && !is_text_date {
            let message = format!(
                "`{}.{}` is declared as a time and is {}; write an `expression` that makes a date \
                 of it, such as CAST (… AS DATE)",
                dimension.table,
                dimension.name,
                found.name()
            );
            self.add(Severity::Error, &dimension.place, message);
        }
        self.labels(dimension);
    }

    /// Compares labels with the closed set of values that the schema declares, if it does.
    fn labels(&mut self, dimension: &Dimension) {
        let Expr::CompoundIdentifier(names) = &dimension.expression.tree else { return };
        let [table, column] = names.as_slice() else { return };
        let Some(source) = self.sources.get(table.value.as_str()).copied() else { return };
        let Some(column) = source.column(&column.value) else { return };
        let Some((values, 0)) = column.values() else { return };
        for label in &dimension.labels {
            let Literal::Text(value) = &label.value else { continue };
            if !values.contains(value) {
                let near = nearest(value, values.iter().map(String::as_str));
                let message = format!(
                    "`{}` of the labels of `{}.{}` is none of the values that the schema allows{}",
                    value,
                    dimension.table,
                    dimension.name,
                    suggestion(&near)
                );
                self.add(Severity::Error, &dimension.place, message);
            }
        }
    }

    fn join(&mut self, join: &Join) {
        for (from, to) in join.from_columns.iter().zip(&join.to_columns) {
            let one = self.column(&join.from, from, &join.place);
            let other = self.column(&join.to, to, &join.place);
            let [Some(one), Some(other)] = [one, other] else { continue };
            let types = [one, other].map(|column| Type::from_declared(&column.sql_type));
            if types[0] != types[1] && !types.contains(&Type::Unknown) {
                let message = format!(
                    "`{}.{from}` is {} and `{}.{to}` is {}: their values may never be equal",
                    join.from,
                    types[0].name(),
                    join.to,
                    types[1].name()
                );
                self.add(Severity::Warning, &join.place, message);
            }
        }
    }

    fn measure(&mut self, measure: &Measure, place: &Place) {
        if let Some(filter) = &measure.filter {
            self.condition(filter);
        }
        let Some(argument) = &measure.argument else { return };
        let found = self.type_of(argument);
        let adds = match measure.aggregate {
            Aggregate::Sum => "sum",
            Aggregate::Avg => "avg",
            Aggregate::Count | Aggregate::CountDistinct | Aggregate::Min | Aggregate::Max => return,
        };
        let advice = match found {
            Type::Number | Type::Unknown => return,
            Type::Text => "write CAST (… AS NUMERIC) if it holds numbers, or count it",
            Type::Time => "use min, max, or a difference in days",
            // SQLite's truth values are numbers.
            Type::Boolean if self.catalog.dialect == Dialect::Sqlite => return,
            Type::Boolean => "count the rows with it as the `filter`",
        };
        let message = format!("{adds} over what is {}: {advice}", found.name());
        self.add(Severity::Error, place, message);
    }

    /// Compiles each metric, which finds what the dialect of the database lacks: several at once,
    /// and each alone where that fails.
    fn compile_metrics(&mut self) {
        let batches = self.semantics.metrics.chunks(BATCH);
        let failed = batches.filter(|batch| {
            compile_together(self.semantics, batch, &self.catalog.dialect).is_err()
        });
        for metric in failed.flatten() {
            if let Err(error) = compile_alone(self.semantics, metric, &self.catalog.dialect) {
                let message = format!("`{}` has no statement: {error}", metric.name);
                self.add(Severity::Error, &metric.place, message);
            }
        }
    }

    /// Notes the columns of declared tables that nothing uses.
    fn note_unused(&mut self) {
        let mut seen = BTreeSet::new();
        for table in &self.semantics.tables {
            let Some(source) = self.sources.get(table.name.as_str()).copied() else { continue };
            let name = self.catalog.table_name(source);
            if !seen.insert(name.clone()) {
                continue;
            }
            let used = self.used.get(&name);
            let unused: Vec<String> = source
                .columns
                .iter()
                .filter(|column| {
                    !used.is_some_and(|used| used.contains(&column.name.to_lowercase()))
                })
                .map(|column| format!("`{}`", column.name))
                .collect();
            if !unused.is_empty() {
                let message = format!(
                    "nothing uses {} of `{name}`; add dimensions or metrics if questions ask for \
                     them",
                    few(&unused)
                );
                self.add(Severity::Note, &table.place, message);
            }
        }
    }
}

/// A request for one metric and nothing else.
fn compile_alone(
    semantics: &Semantics,
    metric: &Metric,
    dialect: &Dialect,
) -> Result<Compiled, CompileError> {
    compile_together(semantics, std::slice::from_ref(metric), dialect)
}

/// A request for metrics and nothing else.
fn compile_together(
    semantics: &Semantics,
    metrics: &[Metric],
    dialect: &Dialect,
) -> Result<Compiled, CompileError> {
    let metrics = metrics.iter().map(|metric| metric.name.clone()).collect();
    let request = Request { metrics, ..Request::default() };
    // Without a period the day does not matter.
    compile(semantics, &request, dialect, semantics.today.unwrap_or_default())
}

fn suggestion(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            format!("; did you mean {}?", near.join(" or "))
        }
    }
}

/// Returns true if the catalog proves that no two rows have the same values in these columns: a
/// primary key or a unique index is among them.
pub(crate) fn is_unique(table: &syrch_core::Table, columns: &[String]) -> bool {
    let unique = table
        .indexes
        .iter()
        .filter(|index: &&syrch_core::Index| index.is_unique && index.predicate.is_none());
    let mut keys = unique.map(|index| &index.columns).chain([&table.primary_key]);
    keys.any(|key| !key.is_empty() && key.iter().all(|name| has_name(columns, name)))
}

/// Returns whether a column is among others, without regard to letter case.
fn has_name(columns: &[String], name: &str) -> bool {
    columns.iter().any(|column| column.eq_ignore_ascii_case(name))
}
