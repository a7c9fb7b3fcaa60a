//! Conditions of a request: as SQL and in words.

use std::borrow::Cow;

use chrono::NaiveDate;

use crate::{Dimension, Filter, Literal, Operator};

use super::CompileError;
use super::engine::Engine;
use super::names::qualify;

/// Writes a condition on the SQL of its dimension.
pub(super) fn write_filter(
    engine: &Engine<'_>,
    dimension: &Dimension,
    filter: &Filter,
    sql: &str,
) -> Result<String, CompileError> {
    let days = read_days(dimension, filter);
    let filter: &Filter = &days;
    if dimension.is_time && !filter.values.iter().all(is_day) {
        return Err(refuse(dimension, "it is a time: compare it with a day such as `2024-06-30`"));
    }
    if let Operator::In | Operator::NotIn = filter.operator {
        return write_list(engine, dimension, filter, sql);
    }
    let [value] = filter.values.as_slice() else {
        return Err(refuse(dimension, "give one value to compare with"));
    };
    if *value == Literal::Null {
        return Err(refuse(dimension, "NULL has no order: ask whether it is NULL"));
    }
    let sign = match filter.operator {
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::Greater => ">",
        Operator::AtLeast => ">=",
        Operator::Contains => {
            let Literal::Text(text) = value else {
                return Err(refuse(dimension, "only a text can be contained"));
            };
            return engine.contains(sql, text);
        }
        Operator::In | Operator::NotIn => "=",
    };
    Ok(format!("{sql} {sign} {}", engine.literal(value)?))
}

/// Refuses conditions on one dimension that no row meets at once: two lists without a common value,
/// and a list whose values are all excluded.
pub(super) fn check_contradictions(filters: &[(&Dimension, &Filter)]) -> Result<(), CompileError> {
    for (at, (dimension, filter)) in filters.iter().enumerate() {
        let same = filters.iter().skip(at + 1).filter(|(it, _)| std::ptr::eq(*it, *dimension));
        for (_, other) in same {
            if exclude(filter, other) || exclude(other, filter) {
                let name = qualify(dimension);
                return Err(CompileError::Contradiction {
                    one: describe_filter(&name, filter),
                    other: describe_filter(&name, other),
                });
            }
        }
    }
    Ok(())
}

/// Returns whether a value of a list can never meet another condition.
fn exclude(list: &Filter, other: &Filter) -> bool {
    let mut values = list.values.iter();
    match (list.operator, other.operator) {
        (Operator::In, Operator::In) => !values.any(|value| other.values.contains(value)),
        (Operator::In, Operator::NotIn) => values.all(|value| other.values.contains(value)),
        _ => false,
    }
}

/// The condition with the days that its texts are, where the dimension is a time.
fn read_days<'a>(dimension: &Dimension, filter: &'a Filter) -> Cow<'a, Filter> {
    if !dimension.is_time || filter.operator == Operator::Contains {
        return Cow::Borrowed(filter);
    }
    let values = filter.values.iter().map(|value| match value {
        Literal::Text(text) => {
            let day = NaiveDate::parse_from_str(text, "%Y-%m-%d");
            day.map_or_else(|_| value.clone(), Literal::Date)
        }
        other => other.clone(),
    });
    Cow::Owned(Filter { values: values.collect(), ..filter.clone() })
}

fn is_day(value: &Literal) -> bool {
    matches!(value, Literal::Date(_) | Literal::Null)
}

fn refuse(dimension: &Dimension, reason: &str) -> CompileError {
    CompileError::Filter { dimension: qualify(dimension), reason: reason.to_owned() }
}

fn write_list(
    engine: &Engine<'_>,
    dimension: &Dimension,
    filter: &Filter,
    sql: &str,
) -> Result<String, CompileError> {
    let has_null = filter.values.contains(&Literal::Null);
    let is_in = filter.operator == Operator::In;
    let values: Result<Vec<String>, CompileError> = filter
        .values
        .iter()
        .filter(|value| **value != Literal::Null)
        .map(|value| engine.literal(value))
        .collect();
    let values = values?;
    let listed = match (values.as_slice(), is_in) {
        ([], _) if !has_null => return Err(refuse(dimension, "give at least one value")),
        ([], true) => return Ok(format!("{sql} IS NULL")),
        ([], false) => return Ok(format!("{sql} IS NOT NULL")),
        ([value], true) => format!("{sql} = {value}"),
        ([value], false) => format!("{sql} <> {value}"),
        (values, true) => format!("{sql} IN ({})", values.join(", ")),
        (values, false) => format!("{sql} NOT IN ({})", values.join(", ")),
    };
    Ok(match (is_in, has_null) {
        (true, false) | (false, true) => listed,
        (true, true) | (false, false) => format!("({listed} OR {sql} IS NULL)"),
    })
}

/// Returns a condition in words, such as `country = 'France'`.
pub(crate) fn describe_filter(name: &str, filter: &Filter) -> String {
    let values: Vec<String> = filter.values.iter().map(describe_literal).collect();
    let values = values.as_slice();
    match (filter.operator, values) {
        (Operator::In, [value]) if value == "NULL" => format!("{name} is NULL"),
        (Operator::NotIn, [value]) if value == "NULL" => format!("{name} is not NULL"),
        (Operator::In, [value]) => format!("{name} = {value}"),
        (Operator::NotIn, [value]) => format!("{name} <> {value}"),
        (Operator::In, values) => format!("{name} is {}", values.join(" or ")),
        (Operator::NotIn, values) => format!("{name} not in ({})", values.join(", ")),
        (Operator::Less, values) => format!("{name} < {}", values.join(", ")),
        (Operator::AtMost, values) => format!("{name} <= {}", values.join(", ")),
        (Operator::Greater, values) => format!("{name} > {}", values.join(", ")),
        (Operator::AtLeast, values) => format!("{name} >= {}", values.join(", ")),
        (Operator::Contains, values) => format!("{name} contains {}", values.join(", ")),
    }
}

fn describe_literal(literal: &Literal) -> String {
    match literal {
        Literal::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Literal::Number(number) => number.clone(),
        Literal::Bool(value) => value.to_string(),
        Literal::Date(day) => day.format("%Y-%m-%d").to_string(),
        Literal::Null => "NULL".to_owned(),
    }
}
