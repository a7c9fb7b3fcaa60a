//! The statement of one group of measures: the base, the joins to at most one row, the conditions,
//! and the aggregates by the group columns.

use chrono::Datelike;

use crate::request::LAST_YEAR;
use crate::{Aggregate, Expression};

use super::CompileError;
use super::compare::Before;
use super::engine::Engine;
use super::expression::{Names, Refusal, write_expression};
use super::filters::write_filter;
use super::plan::{Group, Leaf, Plan, bounds, tables_of};

/// The columns of the tables of a file.
struct TableColumns<'a> {
    engine: &'a Engine<'a>,
    /// The table that a column without a table belongs to.
    table: &'a str,
}

impl Names for TableColumns<'_> {
    const IS_EXACT: bool = false;

    fn write(&self, table: Option<&str>, name: &str) -> Result<String, Refusal> {
        let table = self.engine.name(&table.unwrap_or(self.table).to_lowercase());
        Ok(format!("{table}.{}", self.engine.name(name)))
    }
}

/// Writes the SELECT of a group. Its columns are `t0`, if there is a grain, `d0` and so on for the
/// dimensions, `k0` and so on for keys that are not shown, and `m0` and so on for the measures,
/// whose numbers begin at `first`. Rows of the days `before` those of the request count as well.
pub(super) fn write_group(
    engine: &Engine<'_>,
    plan: &Plan<'_>,
    group: &Group<'_>,
    first: usize,
    before: Before,
) -> Result<String, CompileError> {
    let time = group.time.map(|time| write_over(engine, &time.expression, &time.table));
    let time = time.transpose()?;
    let mut columns = write_keys(engine, plan, time.as_deref())?;
    let keys: Vec<String> = columns.iter().map(|(key, _)| key.clone()).collect();
    let mut conditions = write_conditions(engine, plan, group, time.as_deref(), before)?;
    let filters = group.leaves.iter().map(|leaf| {
        let filter = leaf.measure.filter.as_ref();
        filter.map(|filter| write_over(engine, filter, &leaf.measure.base)).transpose()
    });
    let filters: Vec<Option<String>> = filters.collect::<Result<_, CompileError>>()?;
    let all = list_different(&filters);
    let is_shared = filters.iter().all(Option::is_some) && all.len() == 1;
    // A group is shown if a row of it counts for one of the measures.
    if filters.iter().all(Option::is_some) {
        let each: Vec<String> = all.iter().map(|filter| enclose(filter)).collect();
        let condition = each.join(" OR ");
        conditions.push(if each.len() > 1 { format!("({condition})") } else { condition });
    }
    for (index, (leaf, filter)) in group.leaves.iter().zip(&filters).enumerate() {
        let filter = filter.as_deref().filter(|_| !is_shared);
        columns.push((write_aggregate(engine, leaf, filter)?, format!("m{}", first + index)));
    }
    let columns: Vec<String> =
        columns.iter().map(|(sql, name)| format!("{sql} AS {name}")).collect();
    let mut sql = format!(
        "SELECT\n    {}\n  FROM {} AS {}{}",
        columns.join(",\n    "),
        engine.source(&group.base.source),
        alias(engine, &group.base.name),
        write_joins(engine, group)?
    );
    if !conditions.is_empty() {
        sql += &format!("\n  WHERE {}", conditions.join("\n    AND "));
    }
    if !keys.is_empty() {
        sql += &format!("\n  GROUP BY {}", keys.join(", "));
    }
    Ok(sql)
}

/// Writes the columns by which rows are grouped, each with its name.
fn write_keys(
    engine: &Engine<'_>,
    plan: &Plan<'_>,
    time: Option<&str>,
) -> Result<Vec<(String, String)>, CompileError> {
    let mut keys = Vec::new();
    if let (Some(grain), Some(time)) = (plan.request.grain, time) {
        keys.push((engine.label(grain, time)?, "t0".to_owned()));
    }
    for (index, dimension) in plan.by.iter().enumerate() {
        let sql = write_over(engine, &dimension.expression, &dimension.table)?;
        keys.push((sql, format!("d{index}")));
    }
    for (index, (table, column)) in plan.keys.iter().enumerate() {
        let sql = format!("{}.{}", alias(engine, table), engine.name(column));
        keys.push((sql, format!("k{index}")));
    }
    Ok(keys)
}

/// Writes the conditions of the base, of the request's filters and of its period.
fn write_conditions(
    engine: &Engine<'_>,
    plan: &Plan<'_>,
    group: &Group<'_>,
    time: Option<&str>,
    before: Before,
) -> Result<Vec<String>, CompileError> {
    let mut conditions = Vec::new();
    if let Some(filter) = &group.base.filter {
        conditions.push(enclose(&write_own(engine, filter, &group.base.name)?));
    }
    let filters = plan.filters.iter().filter(|(it, _)| plan.find_shown(it).is_none());
    for (dimension, filter) in filters {
        let sql = write_over(engine, &dimension.expression, &dimension.table)?;
        let sql = enclose_operand(&sql, &dimension.expression);
        conditions.push(write_filter(engine, dimension, filter, &sql)?);
    }
    if let (Some(period), Some(time)) = (bounds(plan.request), time) {
        let time = group
            .time
            .map_or(String::new(), |dimension| enclose_operand(time, &dimension.expression));
        if let Some(from) = before.earliest.or(period.from) {
            conditions.push(format!("{time} >= {}", engine.day(from)));
        }
        if let Some(until) = period.until.filter(|until| until.year() <= LAST_YEAR) {
            conditions.push(format!("{time} < {}", engine.day(until)));
        }
        if let Some((end, from)) = before.gap {
            let [end, from] = [end, from].map(|day| engine.day(day));
            conditions.push(format!("({time} < {end} OR {time} >= {from})"));
        }
    }
    Ok(conditions)
}

/// The different filters of measures, in their order.
fn list_different(filters: &[Option<String>]) -> Vec<&String> {
    let mut all: Vec<&String> = Vec::new();
    for filter in filters.iter().flatten() {
        if !all.contains(&filter) {
            all.push(filter);
        }
    }
    all
}

/// Writes the joins to the tables that the group needs besides its base.
fn write_joins(engine: &Engine<'_>, group: &Group<'_>) -> Result<String, CompileError> {
    let mut sql = String::new();
    for (step, table) in &group.joins {
        let from = alias(engine, step.source());
        let to = alias(engine, &table.name);
        let mut on: Vec<String> = step
            .columns()
            .map(|(one, other)| {
                format!("{from}.{} = {to}.{}", engine.name(one), engine.name(other))
            })
            .collect();
        if let Some(filter) = &table.filter {
            on.push(enclose(&write_own(engine, filter, &table.name)?));
        }
        sql += &format!(
            "\n  LEFT JOIN {} AS {to} ON {}",
            engine.source(&table.source),
            on.join(" AND ")
        );
    }
    Ok(sql)
}

fn alias(engine: &Engine<'_>, table: &str) -> String {
    engine.name(&table.to_lowercase())
}

fn write_over(
    engine: &Engine<'_>,
    expression: &Expression,
    table: &str,
) -> Result<String, CompileError> {
    write_expression(engine, expression, &TableColumns { engine, table })
}

/// Writes an expression over the columns of one table alone.
fn write_own(
    engine: &Engine<'_>,
    expression: &Expression,
    table: &str,
) -> Result<String, CompileError> {
    let own = tables_of(Some(expression));
    if let Some(other) = own.iter().find(|name| !super::names::are_equal(name, table)) {
        return Err(CompileError::Expression {
            file: expression.place.file.clone(),
            line: expression.place.line,
            column: expression.place.column,
            text: expression.text.clone(),
            reason: format!("a condition of the table `{table}` cannot refer to `{other}`"),
        });
    }
    write_over(engine, expression, table)
}

/// Puts a condition in parentheses if another operator could take a part of it.
fn enclose(condition: &str) -> String {
    format!("({condition})")
}

/// Puts an expression that is no single column in parentheses.
fn enclose_operand(sql: &str, expression: &Expression) -> String {
    use sqlparser::ast::Expr;
    match expression.tree {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Function(_) => sql.to_owned(),
        _ => format!("({sql})"),
    }
}

fn write_aggregate(
    engine: &Engine<'_>,
    leaf: &Leaf<'_>,
    filter: Option<&str>,
) -> Result<String, CompileError> {
    let argument = match &leaf.measure.argument {
        Some(argument) => Some(write_over(engine, argument, &leaf.measure.base)?),
        None => None,
    };
    let counted = match (filter, argument) {
        (Some(filter), argument) => {
            let value = argument.unwrap_or_else(|| "1".to_owned());
            format!("CASE WHEN {filter} THEN {value} END")
        }
        (None, Some(argument)) => argument,
        (None, None) => "*".to_owned(),
    };
    Ok(match leaf.measure.aggregate {
        Aggregate::Sum => format!("SUM({counted})"),
        Aggregate::Count => format!("COUNT({counted})"),
        Aggregate::CountDistinct => format!("COUNT(DISTINCT {counted})"),
        Aggregate::Avg => format!("AVG({counted})"),
        Aggregate::Min => format!("MIN({counted})"),
        Aggregate::Max => format!("MAX({counted})"),
    })
}
