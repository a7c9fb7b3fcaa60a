//! Requests as one SELECT. Each measure is aggregated over the rows of its base alone, which joins
//! to at most one row do not repeat; measures of different bases meet only as aggregates.
//!
//! A condition of a base holds for every row. The condition of a table that is joined is a part of
//! the join, as it is in MetricFlow and Cube, where such a table is a filtered one: the rows of the
//! base remain, and their dimensions of that table are NULL.

mod compare;
mod derive;
mod engine;
mod error;
mod expression;
mod filters;
mod group;
mod labels;
mod names;
mod plan;
#[cfg(test)]
pub(crate) mod tests;
mod words;

use std::collections::HashMap;
use std::ops::Range;

use chrono::NaiveDate;
use syrch_core::Dialect;

use crate::{
    Aggregate, Compiled, Filter, Format, MetricKind, Order, OutputColumn, Request, Role, Semantics,
};

use compare::{Before, Compared};
use derive::Columns;
use engine::Engine;
use filters::write_filter;
use group::write_group;
use plan::Plan;

pub(crate) use compare::comparison_name;
pub(crate) use derive::find_operands;
pub(crate) use engine::{begin, label};
pub use error::CompileError;
pub(crate) use filters::describe_filter;
pub(crate) use names::{are_equal, find_dimensions, find_metric, find_named, find_table, qualify};
pub(crate) use plan::grain_name;
pub use words::describe_period;

/// The limit on a statement, in bytes, as the guard of statements has it.
const LONGEST: usize = 64 << 10;

/// Compiles a request to one SELECT in a dialect. `today` is the day that the question counts from,
/// which is that of the semantics unless the question has one: a period that it lies in is said to
/// be incomplete.
///
/// # Errors
/// A [`CompileError`] when a name is unknown, when a table is not reached by exactly one path of
/// many-to-one joins, or when a part of the request has no meaning or cannot be written safely.
pub fn compile(
    semantics: &Semantics,
    request: &Request,
    dialect: &Dialect,
    today: NaiveDate,
) -> Result<Compiled, CompileError> {
    let engine = Engine { dialect, week_start: semantics.week_start };
    let plan = Plan::new(semantics, request)?;
    let compared = Compared::new(&engine, &plan)?;
    let columns = name_columns(&plan, compared.as_ref());
    let sql = Statement::new(&engine, &plan).write(compared.as_ref(), &columns)?;
    if sql.len() > LONGEST {
        return Err(CompileError::TooLong { most: LONGEST });
    }
    let mut applied = words::apply(&plan, today);
    applied.notes.extend(compared.as_ref().and_then(Compared::describe_part));
    Ok(Compiled { sql, columns, applied })
}

/// Returns a request with each metric by its name and each dimension as `table.name`, as the rules
/// write them.
///
/// # Errors
/// A [`CompileError`] when a name is unknown or means several things, as [`compile`] has it.
pub fn spell_request(semantics: &Semantics, request: &Request) -> Result<Request, CompileError> {
    let plan = Plan::new(semantics, request)?;
    let order = request.order.as_ref().map(|order| {
        let metric = find_metric(semantics, &order.by).ok();
        let metric = metric.filter(|it| plan.metrics.iter().any(|one| std::ptr::eq(*one, *it)));
        let found = find_dimensions(semantics, &order.by).unwrap_or_default();
        let own = plan.by.iter().find(|it| found.iter().any(|one| std::ptr::eq(**it, *one)));
        let by = match (metric, own) {
            (Some(metric), _) => metric.name.clone(),
            (None, Some(dimension)) => qualify(dimension),
            (None, None) => order.by.clone(),
        };
        Order { by, descending: order.descending }
    });
    let mut within: Vec<String> = plan.within.by.iter().copied().map(qualify).collect();
    within.extend(plan.within.has_time.then(|| "time".to_owned()));
    let filters = plan
        .filters
        .iter()
        .map(|(dimension, filter)| Filter { dimension: qualify(dimension), ..(*filter).clone() });
    Ok(Request {
        metrics: plan.metrics.iter().map(|metric| metric.name.clone()).collect(),
        by: plan.by.iter().copied().map(qualify).collect(),
        filters: filters.collect(),
        order,
        within,
        ..request.clone()
    })
}

/// Returns the columns of the result, whose names differ in more than their letter case.
fn name_columns(plan: &Plan<'_>, compared: Option<&Compared>) -> Vec<OutputColumn> {
    let mut columns = Vec::new();
    if let Some(grain) = plan.request.grain {
        let name = choose_name(&columns, grain_name(grain), grain_name(grain));
        columns.push(OutputColumn { name, role: Role::Time, format: Format::Number, unit: None });
    }
    for dimension in &plan.by {
        let name = choose_name(&columns, &dimension.name, &qualify(dimension));
        let role = Role::Dimension;
        columns.push(OutputColumn { name, role, format: Format::Number, unit: None });
    }
    for metric in &plan.metrics {
        let name = choose_name(&columns, &metric.name, &metric.name);
        let unit = metric.unit.clone();
        columns.push(OutputColumn { name, role: Role::Metric, format: metric.format, unit });
    }
    if let (Some(compared), Some(metric)) = (compared, plan.metrics.first()) {
        let name = choose_name(&columns, compared.name(), compared.name());
        let format = compared.format(metric.format);
        let unit = metric.unit.clone().filter(|_| format == metric.format);
        columns.push(OutputColumn { name, role: Role::Comparison, format, unit });
    }
    columns
}

/// Returns the short name of a column, the long one if it is taken, and else that with a number.
fn choose_name(columns: &[OutputColumn], short: &str, long: &str) -> String {
    let mut name = short.to_owned();
    let mut number = 1;
    while columns.iter().any(|column| are_equal(&column.name, &name)) {
        name = if number == 1 { long.to_owned() } else { format!("{long} {number}") };
        number += 1;
    }
    name
}

/// Returns the measures of one side of a join, NULL for those that it does not have.
fn write_side(row: &str, measures: &Range<usize>, count: usize) -> Vec<String> {
    let cells = (0..count).map(|index| {
        if measures.contains(&index) {
            format!("{row}.m{index} AS m{index}")
        } else {
            format!("NULL AS m{index}")
        }
    });
    cells.collect()
}

/// Returns an ending by which the names of relations differ from those of all tables.
pub(crate) fn find_suffix(semantics: &Semantics) -> String {
    let names = ["measured", "joined", "sides", "valued", "compared", "ranked"];
    let sources = semantics.tables.iter().map(|table| table.source.to_lowercase());
    let sources: Vec<String> = sources.collect();
    let mut suffix = String::new();
    while sources
        .iter()
        .any(|source| names.iter().any(|name| source.contains(&format!("{name}{suffix}"))))
    {
        suffix.push('_');
    }
    suffix
}

/// A statement with the relations before its SELECT.
struct Statement<'a> {
    engine: &'a Engine<'a>,
    plan: &'a Plan<'a>,
    /// The relations, each with its SELECT.
    relations: Vec<(String, String)>,
    /// The end of the relations' names, by which they differ from all tables.
    suffix: String,
}

impl<'a> Statement<'a> {
    fn new(engine: &'a Engine<'a>, plan: &'a Plan<'a>) -> Self {
        let suffix = plan.semantics.index().suffix(plan.semantics).to_owned();
        Self { engine, plan, relations: Vec::new(), suffix }
    }

    /// Adds a relation and returns its name.
    fn add(&mut self, name: &str, sql: String) -> String {
        let same = self.relations.iter().filter(|(known, _)| known.starts_with(name)).count();
        let number = if same == 0 { String::new() } else { (same + 1).to_string() };
        let name = format!("{name}{}{number}", self.suffix);
        self.relations.push((name.clone(), sql));
        name
    }

    fn write(
        mut self,
        compared: Option<&Compared>,
        columns: &[OutputColumn],
    ) -> Result<String, CompileError> {
        let before = compared.map(|compared| compared.before).unwrap_or_default();
        let row = self.write_groups(before)?;
        let metrics = self.write_metrics(&row)?;
        if let Some(compared) = compared {
            compared.check_additive(self.plan)?;
        }
        let mut cells = self.list_shown_keys(&row);
        let mut conditions = String::new();
        let mut source = row.clone();
        match compared {
            None => cells.extend(metrics),
            Some(compared) => {
                let mut inner = self.keys(&row);
                for (index, metric) in metrics.iter().enumerate() {
                    inner.push(format!("{metric} AS v{index}"));
                }
                let sql = format!("SELECT {}\n  FROM {row}", inner.join(", "));
                let valued = self.add("valued", sql);
                let mut inner = self.keys(&valued);
                inner.extend((0..metrics.len()).map(|index| format!("{valued}.v{index}")));
                let window = compared.write_window(self.engine, self.plan, &valued);
                let sql =
                    format!("SELECT {},\n    {window} AS c0\n  FROM {valued}", inner.join(", "));
                source = self.add("compared", sql);
                cells = self.list_shown_keys(&source);
                cells.extend((0..metrics.len()).map(|index| format!("{source}.v{index}")));
                cells.push(compared.write_column(self.engine, &source));
                let from = plan::bounds(self.plan.request).and_then(|period| period.from);
                if let (Some(from), Some(_), Some(grain)) =
                    (from, compared.before.earliest, self.plan.request.grain)
                {
                    let first = label(grain, from, self.engine.week_start);
                    conditions = format!("\nWHERE {source}.t0 >= {}", self.engine.text(&first)?);
                }
                let shown = self.write_shown(&source)?;
                if !shown.is_empty() {
                    conditions = format!("\nWHERE {}", shown.join("\n  AND "));
                }
            }
        }
        let mut order = self.list_order(&source, &cells, columns)?;
        if let Some(rows) = self.plan.request.limit.filter(|_| self.plan.limits_within()) {
            source = self.rank(&source, &mut cells, &order, &conditions);
            conditions = format!("\nWHERE {source}.r0 <= {rows}");
            let within = self.plan.within_columns(&source);
            order = within.iter().map(|column| self.engine.order(column, false)).collect();
            order.push(format!("{source}.r0"));
        }
        let shown = cells
            .iter()
            .zip(columns)
            .map(|(cell, column)| format!("{cell} AS {}", self.engine.name(&column.name)));
        let shown: Vec<String> = shown.collect();
        let order = match order.is_empty() {
            true => String::new(),
            false => format!("\nORDER BY {}", order.join(", ")),
        };
        let mut sql = String::from("WITH ");
        for (index, (name, body)) in self.relations.iter().enumerate() {
            let comma = if index == 0 { "" } else { ",\n" };
            sql += &format!("{comma}{name} AS (\n  {body}\n)");
        }
        sql += &format!("\nSELECT {}\nFROM {source}{conditions}{order}", shown.join(", "));
        if let Some(rows) = self.plan.request.limit.filter(|_| !self.plan.limits_within()) {
            sql += &format!("\n{}", self.engine.limit(rows));
        }
        Ok(sql)
    }

    /// Writes the conditions on the groups of a relation that count after the shares.
    fn write_shown(&self, row: &str) -> Result<Vec<String>, CompileError> {
        let shown = self.plan.filters.iter().filter_map(|(dimension, filter)| {
            let index = self.plan.find_shown(dimension)?;
            Some(write_filter(self.engine, dimension, filter, &format!("{row}.d{index}")))
        });
        shown.collect()
    }

    /// Adds a relation with the place of each row in its group, and returns its name. The cells are
    /// then those of that relation.
    fn rank(
        &mut self,
        source: &str,
        cells: &mut [String],
        order: &[String],
        conditions: &str,
    ) -> String {
        let mut inner = self.keys(source);
        let first = self.list_shown_keys(source).len();
        let values = cells.iter().skip(first).enumerate();
        inner.extend(values.map(|(index, cell)| format!("{cell} AS x{index}")));
        let within = self.plan.within_columns(source).join(", ");
        let sql = format!(
            "SELECT {},\n    ROW_NUMBER() OVER (PARTITION BY {within} ORDER BY {}) AS r0\n  \
             FROM {source}{}",
            inner.join(", "),
            order.join(", "),
            conditions.replace('\n', "\n  ")
        );
        let ranked = self.add("ranked", sql);
        let keys = self.list_shown_keys(&ranked);
        let values = (0..cells.len() - first).map(|index| format!("{ranked}.x{index}"));
        let shown: Vec<String> = keys.into_iter().chain(values).collect();
        cells.clone_from_slice(&shown);
        ranked
    }

    /// Returns the group columns of a relation.
    fn keys(&self, row: &str) -> Vec<String> {
        let time = self.plan.request.grain.map(|_| format!("{row}.t0"));
        time.into_iter().chain(self.plan.group_columns(row)).collect()
    }

    /// Returns the group columns of a relation that the result has.
    fn list_shown_keys(&self, row: &str) -> Vec<String> {
        let mut keys = self.keys(row);
        keys.truncate(keys.len() - self.plan.keys.len());
        keys
    }

    /// Writes each group of measures, and what joins them on the group columns; returns the
    /// relation that has all measures.
    ///
    /// The rows of both sides stand below each other and are grouped, so that every group of either
    /// side is there once: a FULL JOIN in which NULL equals NULL, in every dialect and in time that
    /// is linear.
    fn write_groups(&mut self, before: Before) -> Result<String, CompileError> {
        let mut first = 0;
        let mut whole: Option<String> = None;
        let plan = self.plan;
        for group in &plan.groups {
            let sql = write_group(self.engine, plan, group, first, before)?;
            let part = self.add("measured", sql);
            let next = first + group.leaves.len();
            whole = Some(match whole {
                None => part,
                Some(whole) => {
                    let sql = self.join_groups(&whole, &part, first, next);
                    self.add("joined", sql)
                }
            });
            first = next;
        }
        whole.ok_or(CompileError::NoMetric)
    }

    /// Writes the join of a relation with the measures before `first` and one with those from there
    /// up to `next`.
    fn join_groups(&self, whole: &str, part: &str, first: usize, next: usize) -> String {
        if !self.plan.is_grouped() {
            let left = (0..first).map(|index| format!("{whole}.m{index}"));
            let right = (first..next).map(|index| format!("{part}.m{index}"));
            let cells: Vec<String> = left.chain(right).collect();
            return format!("SELECT {}\n  FROM {whole} CROSS JOIN {part}", cells.join(", "));
        }
        let both = format!("sides{}", self.suffix);
        let left = [self.keys(whole), write_side(whole, &(0..first), next)].concat().join(", ");
        let right = [self.keys(part), write_side(part, &(first..next), next)].concat().join(", ");
        let keys = self.keys(&both);
        let mut cells = keys.clone();
        cells.extend((0..next).map(|index| format!("MAX({both}.m{index}) AS m{index}")));
        format!(
            "SELECT {}\n  FROM (SELECT {left} FROM {whole}\n    UNION ALL SELECT {right} FROM \
             {part}) \
             AS {both}\n  GROUP BY {}",
            cells.join(", "),
            keys.join(", ")
        )
    }

    /// Writes the metrics of the request over the measures of a relation. A count of a group that
    /// the base does not have is 0, as the count of no rows is.
    fn write_metrics(&self, row: &str) -> Result<Vec<String>, CompileError> {
        let are_joined = self.plan.groups.len() > 1;
        let leaves = self.plan.groups.iter().flat_map(|group| &group.leaves);
        let columns = leaves.enumerate().map(|(index, leaf)| {
            let is_count =
                matches!(leaf.measure.aggregate, Aggregate::Count | Aggregate::CountDistinct);
            let sql = if is_count && are_joined {
                format!("COALESCE({row}.m{index}, 0)")
            } else {
                format!("{row}.m{index}")
            };
            (leaf.metric.name.to_lowercase(), sql)
        });
        let columns: HashMap<String, String> = columns.collect();
        let columns = Columns::new(self.engine, &self.plan.involved, columns)?;
        let metrics = self.plan.metrics.iter().map(|metric| {
            let sql = columns.get(&metric.name).unwrap_or("NULL");
            match metric.kind {
                MetricKind::Measure(_) => sql.to_owned(),
                // A metric alone needs no parentheses.
                _ => {
                    let inner = sql.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
                    inner.unwrap_or(sql).to_owned()
                }
            }
        });
        Ok(metrics.collect())
    }

    /// Returns the keys of the order: the column that the request names, then the group columns, so
    /// that it is the same every time; none for a result of one row.
    fn list_order(
        &self,
        source: &str,
        cells: &[String],
        columns: &[OutputColumn],
    ) -> Result<Vec<String>, CompileError> {
        let keys = self.plan.by.len() + usize::from(self.plan.request.grain.is_some());
        let mut order: Vec<usize> = (0..keys).collect();
        let mut is_descending = false;
        if let Some(wanted) = &self.plan.request.order {
            let first = self.find_column(&wanted.by, columns)?;
            order.retain(|index| *index != first);
            order.insert(0, first);
            is_descending = wanted.descending;
        }
        let terms = order
            .iter()
            .enumerate()
            .map(|(place, index)| self.engine.order(&cells[*index], is_descending && place == 0));
        // Rows of one name are in the order of their keys.
        let hidden = (0..self.plan.keys.len()).map(|index| format!("{source}.k{index}"));
        let hidden = hidden.map(|column| self.engine.order(&column, false));
        let terms = terms.chain(hidden);
        Ok(if keys == 0 { Vec::new() } else { terms.collect() })
    }

    fn find_column(&self, name: &str, columns: &[OutputColumn]) -> Result<usize, CompileError> {
        let named = columns.iter().position(|column| are_equal(&column.name, name));
        let time = columns.iter().position(|column| column.role == Role::Time);
        let found = named.or_else(|| time.filter(|_| are_equal(name, "time"))).or_else(|| {
            let dimensions = find_dimensions(self.plan.semantics, name).unwrap_or_default();
            let first = usize::from(time.is_some());
            self.plan
                .by
                .iter()
                .position(|by| dimensions.iter().any(|other| std::ptr::eq(*by, *other)))
                .map(|index| index + first)
        });
        let found = found.or_else(|| {
            let metric = names::find_metric(self.plan.semantics, name).ok()?;
            let index = self.plan.metrics.iter().position(|it| std::ptr::eq(*it, metric))?;
            let keys = usize::from(time.is_some()) + self.plan.by.len();
            Some(keys + index)
        });
        found.ok_or_else(|| CompileError::UnknownOrder {
            name: name.to_owned(),
            choices: columns.iter().map(|column| column.name.clone()).collect(),
        })
    }
}
