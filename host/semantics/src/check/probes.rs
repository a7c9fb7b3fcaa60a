//! Statements that compare semantics with the rows of a database. The caller runs each like any
//! other statement, and passes the result to [`Probe`] for its findings.

use std::ops::ControlFlow;

use sqlparser::ast::{Expr, Ident, VisitMut, VisitorMut};
use syrch_core::text::few;
use syrch_core::{Catalog, Dialect, ResultSet, SqlError, Value};

use super::{Finding, Severity, compile_alone, is_unique};
use crate::{Cardinality, Dimension, Join, Literal, MetricKind, Place, Semantics, Table};

/// The limit on the number of labels that one statement looks for.
const LABELS: usize = 50;

/// A statement about the rows, and what its result means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// One SELECT in the dialect of the engine, whose result has one row.
    pub sql: String,
    place: Place,
    subject: Subject,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    /// Counts the values of columns that several rows have.
    Unique { columns: String, consequence: &'static str },
    /// Counts the rows whose columns refer to no row.
    Orphans { columns: String, to: String },
    /// Asks for a measure over all rows.
    Measure { name: String },
    /// Counts the values of a time that are no days, and all of them.
    Days { dimension: String },
    /// Counts the rows with each value.
    Labels { dimension: String, values: Vec<String> },
}

impl Probe {
    /// The findings that follow from the result.
    #[must_use]
    pub fn judge(&self, result: &ResultSet) -> Vec<Finding> {
        let cells = result.rows(0, 1).into_iter().next().unwrap_or_default();
        let counts: Vec<u64> = cells.iter().map(count_from).collect();
        let first = counts.first().copied().unwrap_or(0);
        match &self.subject {
            Subject::Unique { columns, consequence } if first > 0 => {
                let found = match first {
                    1 => format!("one value of {columns} stands in several rows"),
                    first => format!("{first} values of {columns} stand in several rows each"),
                };
                let message = format!("{found}: {consequence}");
                vec![Finding::new(Severity::Error, &self.place, message)]
            }
            Subject::Orphans { columns, to } if first > 0 => {
                let message = format!(
                    "{first} {} in {columns} that `{to}` lacks; grouped by `{to}`, their metrics \
                     stand under NULL",
                    if first == 1 { "row has a value" } else { "rows have values" },
                );
                vec![Finding::new(Severity::Warning, &self.place, message)]
            }
            Subject::Measure { name } if matches!(cells.first(), None | Some(Value::Null)) => {
                let message = format!("`{name}` is NULL over all rows: no row counts");
                vec![Finding::new(Severity::Warning, &self.place, message)]
            }
            Subject::Days { dimension } if first > 0 => {
                let all = counts.get(1).copied().unwrap_or(first);
                let message = format!(
                    "{first} of {all} values of `{dimension}` are no days written as YYYY-MM-DD, \
                     and would count in no period: give the dimension an expression that makes \
                     such texts of them"
                );
                vec![Finding::new(Severity::Error, &self.place, message)]
            }
            Subject::Unique { .. }
            | Subject::Orphans { .. }
            | Subject::Measure { .. }
            | Subject::Days { .. } => Vec::new(),
            Subject::Labels { dimension, values } => {
                let missing: Vec<String> = values
                    .iter()
                    .zip(counts)
                    .filter(|(_, count)| *count == 0)
                    .map(|(value, _)| format!("`{value}`"))
                    .collect();
                if missing.is_empty() {
                    return Vec::new();
                }
                let message = format!(
                    "no row has {} as `{dimension}`; correct the labels, or leave them if such \
                     rows are to come",
                    few(&missing)
                );
                vec![Finding::new(Severity::Warning, &self.place, message)]
            }
        }
    }

    /// The finding that the statement failed.
    #[must_use]
    pub fn judge_failure(&self, error: &SqlError) -> Finding {
        let subject = match &self.subject {
            Subject::Measure { name } => {
                let message = format!("`{name}` cannot be computed: {error}");
                return Finding::new(Severity::Error, &self.place, message);
            }
            Subject::Unique { columns, .. } | Subject::Orphans { columns, .. } => columns.clone(),
            Subject::Labels { dimension, .. } | Subject::Days { dimension } => {
                format!("`{dimension}`")
            }
        };
        let message = format!("{subject} could not be compared with the rows: {error}");
        Finding::new(Severity::Warning, &self.place, message)
    }
}

fn count_from(cell: &Value) -> u64 {
    match cell {
        Value::Integer(count) => u64::try_from(*count).unwrap_or(0),
        Value::Decimal(count) => count.parse().unwrap_or(0),
        _ => 0,
    }
}

/// The statements that compare semantics with the rows of a database: that what is joined to
/// occurs once, how many rows refer to none, that keys are unique, that each label occurs, that
/// texts which are times are days, and that each measure can be computed.
/// Nothing is asked that the schema itself proves. Tables and columns that the catalog lacks are
/// left out, since [`check`](crate::check) reports them.
#[must_use]
pub fn probes(semantics: &Semantics, catalog: &Catalog, dialect: &Dialect) -> Vec<Probe> {
    let writer = Writer { semantics, catalog, dialect };
    let mut probes = Vec::new();
    for table in &semantics.tables {
        let consequence = "the key of the table does not identify a row; correct `key`";
        probes.extend(writer.unique(table, &table.key, &table.place, consequence));
    }
    for join in &semantics.joins {
        probes.extend(writer.join(join));
    }
    for dimension in &semantics.dimensions {
        let labels: Vec<&Literal> = dimension.labels.iter().map(|label| &label.value).collect();
        for labels in labels.chunks(LABELS) {
            probes.extend(writer.labels(dimension, labels));
        }
        probes.extend(writer.days(dimension));
    }
    for metric in &semantics.metrics {
        let MetricKind::Measure(_) = &metric.kind else { continue };
        // What has no statement is reported by `check`.
        if let Ok(compiled) = compile_alone(semantics, metric, dialect) {
            let subject = Subject::Measure { name: metric.name.clone() };
            probes.push(Probe { sql: compiled.sql, place: metric.place.clone(), subject });
        }
    }
    probes
}

/// A table in FROM, with its schema where its plain name does not mean it.
pub(crate) fn source_in_sql(catalog: &Catalog, source: &syrch_core::Table) -> String {
    let name = catalog.dialect.quote(&source.name);
    let needs_schema = catalog.table_name(source) != source.name;
    match source.schema_name.as_deref().filter(|_| needs_schema) {
        Some(schema) => format!("{}.{name}", catalog.dialect.quote(schema)),
        None => name,
    }
}

struct Writer<'a> {
    semantics: &'a Semantics,
    catalog: &'a Catalog,
    dialect: &'a Dialect,
}

impl Writer<'_> {
    /// A table of the file with the one of the catalog.
    fn table(&self, name: &str) -> Option<(&Table, &syrch_core::Table)> {
        let table = self.semantics.tables.iter().find(|table| table.name == name)?;
        Some((table, self.catalog.table(&table.source)?))
    }

    /// Columns as the catalog spells them, after an alias; `None` if it lacks one.
    fn columns(
        &self,
        source: &syrch_core::Table,
        columns: &[String],
        alias: &str,
    ) -> Option<Vec<String>> {
        let names: Option<Vec<String>> = columns
            .iter()
            .map(|name| {
                let column = source.column(name)?;
                Some(format!("{alias}.{}", self.dialect.quote(&column.name)))
            })
            .collect();
        names.filter(|names| !names.is_empty())
    }

    fn unique(
        &self,
        table: &Table,
        columns: &[String],
        place: &Place,
        consequence: &'static str,
    ) -> Option<Probe> {
        let source = self.catalog.table(&table.source)?;
        if is_unique(source, columns) {
            return None;
        }
        let names = self.columns(source, columns, "t")?;
        let present: Vec<String> = names.iter().map(|name| format!("{name} IS NOT NULL")).collect();
        let sql = format!(
            "SELECT COUNT(*) AS repeated FROM (SELECT COUNT(*) AS times FROM {} AS t WHERE {} \
             GROUP BY {} HAVING COUNT(*) > 1) AS r",
            source_in_sql(self.catalog, source),
            present.join(" AND "),
            names.join(", ")
        );
        let columns = show_columns(&table.name, columns);
        Some(Probe { sql, place: place.clone(), subject: Subject::Unique { columns, consequence } })
    }

    fn join(&self, join: &Join) -> Vec<Probe> {
        let Some((from, from_source)) = self.table(&join.from) else { return Vec::new() };
        let Some((to, to_source)) = self.table(&join.to) else { return Vec::new() };
        let consequence = "the join would repeat rows; swap `from` and `to`, or join other columns";
        let mut probes = Vec::new();
        probes.extend(self.unique(to, &join.to_columns, &join.place, consequence));
        if join.cardinality == Cardinality::OneToOne {
            let consequence = "the join is many_to_one, not one_to_one";
            probes.extend(self.unique(from, &join.from_columns, &join.place, consequence));
        }
        let own = self.columns(from_source, &join.from_columns, "f");
        let others = self.columns(to_source, &join.to_columns, "t");
        if let [Some(own), Some(others)] = [own, others] {
            let present: Vec<String> =
                own.iter().map(|name| format!("{name} IS NOT NULL")).collect();
            let equal: Vec<String> =
                own.iter().zip(&others).map(|(own, other)| format!("{other} = {own}")).collect();
            let sql = format!(
                "SELECT COUNT(*) AS orphans FROM {} AS f WHERE {} AND NOT EXISTS (SELECT 1 FROM \
                 {} AS t WHERE {})",
                source_in_sql(self.catalog, from_source),
                present.join(" AND "),
                source_in_sql(self.catalog, to_source),
                equal.join(" AND ")
            );
            let columns = show_columns(&join.from, &join.from_columns);
            let subject = Subject::Orphans { columns, to: join.to.clone() };
            probes.push(Probe { sql, place: join.place.clone(), subject });
        }
        probes
    }

    /// The expression of a dimension over its table as `t`; `None` if the catalog lacks a part.
    fn spell(&self, dimension: &Dimension) -> Option<(Expr, &syrch_core::Table)> {
        let (_, source) = self.table(&dimension.table)?;
        let mut spelling = Spelling { source, dialect: self.dialect, is_complete: true };
        let mut tree = dimension.expression.tree.clone();
        let _: ControlFlow<()> = tree.visit(&mut spelling);
        spelling.is_complete.then_some((tree, source))
    }

    /// Counts the values of a time that are no days, where the engine keeps times as texts.
    fn days(&self, dimension: &Dimension) -> Option<Probe> {
        if !dimension.is_time || !self.dialect.syntax().has_affinities {
            return None;
        }
        let (tree, source) = self.spell(dimension)?;
        let sql = format!(
            "SELECT COUNT(CASE WHEN {tree} NOT LIKE '____-__-__%' OR date({tree}) IS NULL THEN 1 \
             END) AS others, COUNT({tree}) AS times FROM {} AS t WHERE {tree} IS NOT NULL",
            source_in_sql(self.catalog, source)
        );
        let subject =
            Subject::Days { dimension: format!("{}.{}", dimension.table, dimension.name) };
        Some(Probe { sql, place: dimension.place.clone(), subject })
    }

    fn labels(&self, dimension: &Dimension, labels: &[&Literal]) -> Option<Probe> {
        let (tree, source) = self.spell(dimension)?;
        let written: Vec<(String, String)> = labels
            .iter()
            .filter_map(|label| Some((show_literal(label), self.literal(label)?)))
            .collect();
        let counts: Vec<String> = written
            .iter()
            .enumerate()
            .map(|(index, (_, value))| {
                format!("COUNT(CASE WHEN {tree} = {value} THEN 1 END) AS label_{}", index + 1)
            })
            .collect();
        if counts.is_empty() {
            return None;
        }
        let sql = format!(
            "SELECT {} FROM {} AS t",
            counts.join(", "),
            source_in_sql(self.catalog, source)
        );
        let values = written.into_iter().map(|(shown, _)| shown).collect();
        let dimension_name = format!("{}.{}", dimension.table, dimension.name);
        let subject = Subject::Labels { dimension: dimension_name, values };
        Some(Probe { sql, place: dimension.place.clone(), subject })
    }

    /// A constant in SQL; `None` for a text that engines of the dialect read differently.
    fn literal(&self, literal: &Literal) -> Option<String> {
        match literal {
            Literal::Text(text) if text.contains(['\\', '\0']) => None,
            Literal::Text(text) => Some(format!("'{}'", text.replace('\'', "''"))),
            Literal::Number(number) => Some(number.clone()),
            Literal::Bool(value) => Some(value.to_string()),
            Literal::Date(day) if *self.dialect == Dialect::Sqlite => Some(format!("'{day}'")),
            Literal::Date(day) => Some(format!("DATE '{day}'")),
            Literal::Null => None,
        }
    }
}

/// Writes the columns of an expression after the alias `t`, in the quotes of the dialect.
struct Spelling<'a> {
    source: &'a syrch_core::Table,
    dialect: &'a Dialect,
    is_complete: bool,
}

impl VisitorMut for Spelling<'_> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(names) = expr {
            let column = names.last().and_then(|name| self.source.column(&name.value));
            match column {
                Some(column) => {
                    let quote = if self.dialect.quote("x").starts_with('`') { '`' } else { '"' };
                    *names = vec![Ident::new("t"), Ident::with_quote(quote, &column.name)];
                }
                None => self.is_complete = false,
            }
        }
        ControlFlow::Continue(())
    }
}

fn show_columns(table: &str, columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|column| format!("`{table}.{column}`")).collect();
    names.join(", ")
}

fn show_literal(literal: &Literal) -> String {
    match literal {
        Literal::Text(text) | Literal::Number(text) => text.clone(),
        Literal::Bool(value) => value.to_string(),
        Literal::Date(day) => day.to_string(),
        Literal::Null => "NULL".to_owned(),
    }
}
