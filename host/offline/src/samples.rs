//! Samples of columns: what their values say of a statement that names and types do not. Each
//! column is read at most once.

use std::collections::{BTreeMap, BTreeSet};

use syrch_core::Value;
use syrch_core::ports::{CellIndex, Sample};

use super::calendar;
use super::cues::Cue;
use super::dialect;
use super::draft::{Counted, Draft, Filter, Key};
use super::items::{Item, Reading, What};
use super::lexicon;
use super::query::{Condition, Expression, Field, LogicalQuery, Operand, Operator};
use super::schema::{ColumnRef, Holds, Schema};

/// The frequent values of a column that are read.
const VALUES: u32 = 20;

/// The samples that were read.
pub(crate) struct Samples<'a> {
    index: Option<&'a dyn CellIndex>,
    known: BTreeMap<ColumnRef, Option<Sample>>,
}

impl<'a> Samples<'a> {
    /// Samples of an index. Without one, nothing is known of any column.
    pub(crate) fn new(index: Option<&'a dyn CellIndex>) -> Self {
        Self { index, known: BTreeMap::new() }
    }

    /// Reads the sample of a column; `None` if the index has none.
    pub(crate) async fn read(&mut self, schema: &Schema, at: ColumnRef) -> Option<&Sample> {
        if !self.known.contains_key(&at) {
            let sample = match self.index {
                Some(index) => {
                    let view = &schema.tables[at.table];
                    let table = view
                        .schema
                        .as_ref()
                        .map_or_else(|| view.name.clone(), |name| format!("{name}.{}", view.name));
                    let column = [view.columns[at.column].name.clone()];
                    let samples = index.samples(&table, &column, VALUES).await;
                    samples.ok().and_then(|samples| samples.into_iter().next())
                }
                None => None,
            };
            self.known.insert(at, sample);
        }
        self.known.get(&at).and_then(Option::as_ref)
    }
}

/// Makes conditions of the columns of yes and no that are named as those of whom they say yes: `how
/// many smokers`, `the average tip of smokers`.
pub(crate) async fn read_yes(
    schema: &Schema,
    reading: &Reading,
    draft: &mut Draft,
    samples: &mut Samples<'_>,
) {
    let is_distinct =
        reading.items.iter().any(|item| matches!(item.what, What::Cue(Cue::Distinct)));
    for filter in &mut draft.filters {
        // `no driveway`: the column says no, or it says in words that it has no value.
        if matches!(filter.condition.operand, Operand::Null)
            && let Some(sample) = samples.read(schema, filter.condition.column).await
            && let Some(text) =
                yes_and_no(sample).map(|(_, no)| no).or_else(|| missing_value_text(sample))
        {
            filter.condition.operand = Operand::Text(text);
        }
    }
    let open: Vec<usize> =
        draft.negations.iter().copied().filter(|one| !draft.settled.contains(one)).collect();
    if is_distinct || open.len() > 1 {
        return;
    }
    let aggregates = !draft.counted.is_empty()
        || draft.asked.iter().any(|asked| matches!(asked.expression, Expression::Aggregate(..)));
    for asked in draft.asked.clone() {
        let at = match asked.expression {
            Expression::CountDistinct(at) => at,
            Expression::Column(at) if aggregates => at,
            _ => continue,
        };
        let is_free = schema.column(at).holds == Holds::Text
            && !draft.keys.contains(&Key::Column(at))
            && !draft.filters.iter().any(|filter| filter.condition.column == at);
        if !is_free {
            continue;
        }
        // `not paid`: the negation stands just before.
        let item = reading.items[asked.item].from;
        let denial = open.iter().copied().find(|negation| reading.items[*negation].to == item);
        if denial.is_none() && !open.is_empty() {
            continue;
        }
        let Some((yes, no)) = samples.read(schema, at).await.and_then(yes_and_no) else { continue };
        draft.settled.extend(denial);
        let value = if denial.is_some() { no } else { yes };
        draft.asked.retain(|other| *other != asked);
        if matches!(asked.expression, Expression::CountDistinct(_)) {
            draft.counted.push(Counted {
                item: asked.item,
                table: Some(at.table),
                distinct: false,
                head: asked.head,
            });
        }
        let condition = Condition {
            column: at,
            operator: Operator::Equal,
            operand: Operand::Text(value),
            field: None,
        };
        draft.filters.push(Filter { item: asked.item, condition, negated: None });
    }
}

/// The columns of numbers that single words of the question name and that hold 0 and 1 only:
/// `active`, `discontinued`.
pub(crate) async fn flags(
    schema: &Schema,
    reading: &Reading,
    samples: &mut Samples<'_>,
) -> Vec<ColumnRef> {
    let mut named: Vec<ColumnRef> = Vec::new();
    for item in reading.items.iter().filter(|item| item.to == item.from + 1) {
        if let What::Column(columns) = &item.what {
            named.extend(columns.iter().map(|(at, _)| *at));
        }
    }
    named.retain(|at| {
        let view = schema.column(*at);
        view.holds == Holds::Number && !view.is_key && !view.name.ends_with('s')
    });
    let mut flags = Vec::new();
    for at in named {
        let Some(sample) = samples.read(schema, at).await else { continue };
        fn is_bit(value: &Value) -> bool {
            matches!(value, Value::Integer(0 | 1))
        }
        let is_flag = sample.greatest == Value::Integer(1)
            && is_bit(&sample.least)
            && sample.frequent.iter().all(|(value, _)| is_bit(value));
        if is_flag {
            flags.push(at);
        }
    }
    flags
}

/// The columns of texts that the question names beside a time and that hold days, each from the
/// year on, although their names do not say so: `arrival`, `born`.
pub(crate) async fn days(
    schema: &Schema,
    reading: &Reading,
    samples: &mut Samples<'_>,
) -> Vec<ColumnRef> {
    let mut days: Vec<ColumnRef> = Vec::new();
    let names_time = reading.items.iter().any(|item| match &item.what {
        What::Months(..) | What::Date(_) => true,
        What::Number(number) => calendar::is_year(number),
        _ => false,
    });
    if !names_time || !schema.dialect.syntax().has_affinities {
        return days;
    }
    let named = reading.items.iter().filter_map(|item| match &item.what {
        What::Column(columns) => Some(columns.iter().map(|(at, _)| *at)),
        _ => None,
    });
    for at in named.flatten().collect::<BTreeSet<_>>() {
        let view = schema.column(at);
        if view.holds != Holds::Text || view.is_key || !dialect::is_text(&view.declared) {
            continue;
        }
        fn is_day(value: &Value) -> bool {
            let Value::Text(text) = value else { return false };
            text.len() >= 10 && calendar::is_sortable_date(text)
        }
        let Some(sample) = samples.read(schema, at).await else { continue };
        let mut values = sample.frequent.iter().map(|(value, _)| value);
        if is_day(&sample.least)
            && is_day(&sample.greatest)
            && values.all(|value| is_day(value) || *value == Value::Null)
        {
            days.push(at);
        }
    }
    days
}

/// The yes and the no of a column that holds these and nothing else.
fn yes_and_no(sample: &Sample) -> Option<(String, String)> {
    const YES: &[&str] = &["yes", "y", "true"];
    const NO: &[&str] = &["no", "n", "false"];
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let texts: Vec<String> = sample.frequent.iter().filter_map(|(value, _)| text(value)).collect();
    let [one, other] = texts.as_slice() else { return None };
    fn is_listed(text: &str, list: &[&str]) -> bool {
        list.contains(&text.to_lowercase().as_str())
    }
    match () {
        () if is_listed(one, YES) && is_listed(other, NO) => Some((one.clone(), other.clone())),
        () if is_listed(other, YES) && is_listed(one, NO) => Some((other.clone(), one.clone())),
        () => None,
    }
}

/// The text by which a column says that it has no value, such as `NA`.
fn missing_value_text(sample: &Sample) -> Option<String> {
    const MARKS: &[&str] = &["na", "n/a", "nan", "null", "unknown"];
    sample.frequent.iter().find_map(|(value, _)| match value {
        Value::Text(text) if MARKS.contains(&text.to_lowercase().as_str()) => Some(text.clone()),
        _ => None,
    })
}

/// Returns whether a condition asks for a number or a year that is outside of what the column
/// holds: no row fulfils it.
pub(crate) async fn is_outside(
    schema: &Schema,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    for any in &query.filters {
        let [condition] = any.as_slice() else { continue };
        if condition.operator != Operator::Equal {
            continue;
        }
        let Operand::Number(number) = &condition.operand else { continue };
        let Ok(number) = number.parse::<f64>() else { continue };
        let is_year = condition.field == Some(Field::Year);
        let is_number =
            condition.field.is_none() && schema.column(condition.column).holds == Holds::Number;
        if !is_year && !is_number {
            continue;
        }
        let ends = samples
            .read(schema, condition.column)
            .await
            .map(|sample| [&sample.least, &sample.greatest]);
        let ends = ends.map(|ends| ends.map(|end| measure(end, is_year)));
        if let Some([Some(least), Some(greatest)]) = ends
            && (number < least || number > greatest)
        {
            return true;
        }
    }
    false
}

/// The doubt about a number of another unit than what a column holds, so that all rows or none
/// fulfil the comparison: `taller than 1.80` of heights in centimetres.
pub(crate) async fn find_other_unit(
    schema: &Schema,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> Option<String> {
    /// The factor between a number and all of a column's by which their units differ.
    const FAR: f64 = 20.0;
    for condition in query.conditions() {
        let is_plain = condition.field.is_none()
            && matches!(
                condition.operator,
                Operator::Greater | Operator::AtLeast | Operator::Less | Operator::AtMost
            )
            && schema.column(condition.column).holds == Holds::Number;
        let Operand::Number(written) = &condition.operand else { continue };
        let Some(number) = written.parse::<f64>().ok().filter(|number| is_plain && *number > 0.0)
        else {
            continue;
        };
        let Some(sample) = samples.read(schema, condition.column).await else { continue };
        let least = measure(&sample.least, false);
        let greatest = measure(&sample.greatest, false);
        if least.is_some_and(|least| least > FAR * number)
            || greatest.is_some_and(|greatest| greatest > 0.0 && number > FAR * greatest)
        {
            let path = schema.path(condition.column);
            return Some(format!("{written} may be of another unit than {path}"));
        }
    }
    None
}

/// Returns whether the conditions leave one row: one is on a column of which no value occurs twice,
/// or on what names the rows, together with another if a name occurs twice.
pub(crate) async fn is_of_one_row(
    schema: &Schema,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    let singles = query.filters.iter().filter(|any| any.len() == 1);
    let equal: Vec<&Condition> = singles
        .flatten()
        .filter(|condition: &&Condition| {
            condition.operator == Operator::Equal && condition.field.is_none()
        })
        .collect();
    for condition in query.conditions() {
        let at = condition.column;
        let is_name = schema.tables[at.table].labels.contains(&at.column)
            || at.column == 0
            || schema.column(at).is_key;
        let occurs = match samples.read(schema, at).await {
            Some(sample) => sample.frequent.first().map(|(_, count)| *count),
            None => None,
        };
        let names = matches!(condition.operator, Operator::Equal | Operator::In)
            && condition.field.is_none();
        let is_one = match occurs {
            Some(count) => count == 1 || (is_name && equal.len() > 1),
            None => is_name,
        };
        if names && is_one {
            return true;
        }
    }
    false
}

/// Returns whether a few values of many rows are asked for, which are listed once each: `the
/// statuses of the orders`.
pub(crate) async fn lists_category(
    schema: &Schema,
    reading: &Reading,
    draft: &Draft,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    /// The rows for each value by which it is a category.
    const ROWS: u64 = 3;
    let [Expression::Column(at)] = *query.select.as_slice() else { return false };
    let is_list = query.group.is_empty()
        && query.limit.is_none()
        && query.intersect.is_none()
        && query.order.is_empty()
        && query.all_tables().len() == 1;
    let name = schema.column(at).name.to_lowercase();
    let asked = draft.asked.iter().find(|asked| asked.expression == query.select[0]);
    let is_plural = asked.is_some_and(|asked| {
        let word = &reading.tokens[reading.items[asked.item].to - 1].lower;
        word.ends_with('s') && !name.ends_with(word.as_str())
    });
    let is_of_each = reading.items.iter().any(|item| item.what == What::Cue(Cue::Each))
        || reading.tokens.iter().any(|one| lexicon::ROWS.contains(&one.lower.as_str()));
    if !is_list || !is_plural || is_of_each || !schema.is_value(at) {
        return false;
    }
    samples.read(schema, at).await.is_some_and(|sample| {
        let values = u64::try_from(sample.frequent.len()).unwrap_or(u64::MAX);
        let rows: u64 = sample.frequent.iter().map(|(_, count)| *count).sum();
        values < u64::from(VALUES) && values.saturating_mul(ROWS) <= rows
    })
}

/// Returns whether several rows or groups of the whole table are the best ones, of which a
/// statement shows one only.
pub(crate) async fn has_ties(
    schema: &Schema,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    let is_whole = query.filters.is_empty() && query.having.is_none() && query.intersect.is_none();
    let is_one = query.limit == Some(1) && query.all_tables().len() == 1 && is_whole;
    let [(expression, up)] = query.order.as_slice() else { return false };
    // The value itself is the same in each.
    if !is_one || query.select.iter().all(|item| item == expression) {
        return false;
    }
    match (expression, query.group.as_slice()) {
        (Expression::Column(at), []) => samples.read(schema, *at).await.is_some_and(|sample| {
            let best = if *up { &sample.greatest } else { &sample.least };
            sample.frequent.iter().any(|(value, count)| value == best && *count > 1)
        }),
        (Expression::CountRows, [key]) if *up => {
            samples.read(schema, *key).await.is_some_and(|sample| {
                matches!(
                    sample.frequent.as_slice(), [(_, first), (_, second), ..] if first == second
                )
            })
        }
        _ => false,
    }
}

/// Returns whether rows are counted for a column whose values occur several times: `how many
/// clients` of visits.
pub(crate) async fn counts_no_rows(
    schema: &Schema,
    reading: &Reading,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    if !query.select.contains(&Expression::CountRows) {
        return false;
    }
    for pair in reading.items.windows(2) {
        let [Item { what: What::Cue(Cue::Count), .. }, Item { what: What::Column(columns), .. }] =
            pair
        else {
            continue;
        };
        let Some((at, _)) = columns.first() else { continue };
        let is_unread = query.reads(at.table) && !query.names(*at);
        if is_unread
            && samples.read(schema, *at).await.is_some_and(|sample| greatest_count(sample) > 1)
        {
            return true;
        }
    }
    false
}

/// Returns whether no value is sought in a column of numbers that says none by 0.
pub(crate) async fn has_zeros(
    schema: &Schema,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    for condition in query.conditions() {
        let is_missing =
            condition.operand == Operand::Null && condition.operator == Operator::Equal;
        if is_missing
            && schema.column(condition.column).holds == Holds::Number
            && let Some(sample) = samples.read(schema, condition.column).await
            && measure(&sample.least, false) == Some(0.0)
        {
            return true;
        }
    }
    false
}

/// Returns whether different names are counted of which a few occur in several rows: a county of
/// that name in several states.
pub(crate) async fn is_repeated_name(
    schema: &Schema,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    /// The rows that have one name by chance.
    const FEW: u64 = 5;
    let [Expression::CountDistinct(at)] = *query.select.as_slice() else { return false };
    if schema.column(at).holds != Holds::Text {
        return false;
    }
    samples.read(schema, at).await.is_some_and(|sample| {
        let is_full = u32::try_from(sample.frequent.len()).is_ok_and(|count| count >= VALUES);
        is_full && (2..=FEW).contains(&greatest_count(sample))
    })
}

fn greatest_count(sample: &Sample) -> u64 {
    sample.frequent.first().map_or(0, |(_, count)| *count)
}

/// A value as a number, or the year of a date.
fn measure(value: &Value, is_year: bool) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        Value::Decimal(digits) => digits.parse().ok(),
        Value::Text(text) if is_year => text.get(..4)?.parse().ok(),
        _ => None,
    }
}
