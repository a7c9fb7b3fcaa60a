//! Facts about the columns of the shown tables: samples of their values, and as hints the frequent
//! values of columns with few, and the ends of numbers and dates.

use syrch_plugin::prelude::*;
use syrch_plugin::prompt::cell;
use syrch_plugin::text::is_one_of;

/// Tables of which facts are given.
const TABLES: usize = 8;
/// Columns of one table.
const COLUMNS: usize = 12;
/// Bytes of all facts.
const BYTES: usize = 1_000;
/// Values of a column that count as few.
const FEW: u32 = 8;
/// The share of the rows from which on values count as all, and that from which on each counts as
/// frequent.
const ALL: f64 = 0.9;
const OFTEN: f64 = 0.05;
/// Rows of a table that the host samples at most, and cells that it may read for one question, so
/// that this takes no time that one notices.
const SAMPLED: u64 = 100_000;
const CELLS: u64 = 100_000;
/// Rows of a table whose number is unknown.
const UNKNOWN: u64 = 20_000;
/// Types whose values nobody names in a question.
const OTHERS: &str = "blob bytea json jsonb uuid xml array map struct binary variant";

/// A table that is shown, its columns that are no keys, and samples of some of them.
pub(crate) struct Sampled<'c> {
    pub(crate) table: &'c Table,
    pub(crate) columns: Vec<&'c Column>,
    samples: Vec<Sample>,
}

/// The first tables that are shown, with samples as far as cells are granted.
pub(crate) fn sample<'c>(
    host: &impl LinkerHost,
    catalog: &'c Catalog,
    shown: &'c [Relevant],
) -> Vec<Sampled<'c>> {
    let mut is_granted = can_sample(host, &catalog.dialect);
    let mut cells = CELLS;
    let mut all: Vec<Sampled<'c>> = Vec::new();
    for (table, columns) in tables(catalog, shown).take(TABLES) {
        let mut sampled = Sampled { table, columns, samples: Vec::new() };
        let rows = rows(table).unwrap_or(UNKNOWN);
        let most = usize::try_from(cells / rows).unwrap_or(COLUMNS).min(COLUMNS);
        let names: Vec<String> =
            sampled.columns.iter().take(most).map(|column| column.name.clone()).collect();
        if is_granted && !names.is_empty() {
            cells -= rows * names.len() as u64;
            match host.samples(&catalog.table_name(table), &names, FEW + 1) {
                Ok(samples) => sampled.samples = samples,
                Err(PortError::UnknownName(_)) => {}
                Err(PortError::Denied(_) | PortError::Unsupported) => is_granted = false,
                Err(error) => {
                    host.note(Level::Info, &port_failure(&error).message);
                    is_granted = false;
                }
            }
        }
        all.push(sampled);
    }
    all
}

/// Returns true if samples may be requested from the data.
fn can_sample(host: &impl LinkerHost, dialect: &Dialect) -> bool {
    // Each sample is a job of these engines, and takes seconds.
    let is_slow = matches!(dialect, Dialect::Spark | Dialect::Databricks);
    // Under a grant without cells nothing is asked of the data, since plugins that are not built in
    // would lose the model for it.
    !is_slow
        && !matches!(
            host.find(&[], &Match::Exact, 1),
            Err(PortError::Denied(_) | PortError::Unsupported)
        )
}

/// A hit for each table with facts about its columns.
pub(crate) fn hints(catalog: &Catalog, sampled: &[Sampled<'_>]) -> Vec<Hit> {
    let mut left = BYTES;
    sampled
        .iter()
        .filter_map(|one: &Sampled<'_>| {
            facts(catalog.table_name(one.table), one.table, &one.samples, &mut left)
        })
        .collect()
}

/// The most frequent value of a column of texts that has few values; `None` for any other column.
pub(crate) fn frequent_text(sampled: &Sampled<'_>, column: &str) -> Option<String> {
    let sample = sampled.samples.iter().find(|sample| sample.column == column)?;
    if sample.frequent.len() < 2 || !has_few(sample, rows(sampled.table)) {
        return None;
    }
    match &sample.frequent.first()?.0 {
        Value::Text(text) if !text.trim().is_empty() && !text.contains(char::is_control) => {
            Some(text.clone())
        }
        _ => None,
    }
}

/// The rows of a table that are sampled; `None` if nothing says how many it has.
fn rows(table: &Table) -> Option<u64> {
    table.row_estimate.map(|rows| rows.clamp(1, SAMPLED))
}

/// The tables that are shown, with their columns of which facts help.
fn tables<'c>(
    catalog: &'c Catalog,
    shown: &'c [Relevant],
) -> Box<dyn Iterator<Item = (&'c Table, Vec<&'c Column>)> + 'c> {
    if shown.is_empty() {
        return Box::new(
            catalog
                .tables
                .iter()
                .filter(|table| is_stored(table))
                .map(|table| (table, columns_to_measure(table, &[]))),
        );
    }
    Box::new(shown.iter().filter_map(|relevant| {
        let table = catalog.table(&relevant.table).filter(|table| is_stored(table))?;
        Some((table, columns_to_measure(table, &relevant.columns)))
    }))
}

/// Returns true if the table is no view, whose query may take any time.
fn is_stored(table: &Table) -> bool {
    table.extra.iter().all(|(key, value)| key != "kind" || value == "\"table\"")
}

/// The columns that are no keys, and whose values the catalog does not list.
fn columns_to_measure<'t>(table: &'t Table, shown: &[String]) -> Vec<&'t Column> {
    let is_key = |name: &String| {
        table.primary_key.contains(name)
            || table.foreign_keys.iter().any(|key| key.columns.contains(name))
    };
    fn is_unmeasured(column: &Column) -> bool {
        let sql_type = column.sql_type.to_lowercase();
        let word = sql_type.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        is_one_of(OTHERS, word) || sql_type.ends_with(']')
    }
    fn has_values(column: &Column) -> bool {
        column.extra.iter().any(|(key, _)| key == "values")
    }
    let columns =
        table.columns.iter().filter(|column| shown.is_empty() || shown.contains(&column.name));
    columns
        .filter(|column| !is_key(&column.name) && !is_unmeasured(column) && !has_values(column))
        .collect()
}

/// The facts about a table as a hit: those that fit into the bytes that are left.
fn facts(name: String, table: &Table, samples: &[Sample], left: &mut usize) -> Option<Hit> {
    let most = samples.iter().map(|sample| sample.frequent.len()).max().unwrap_or_default();
    let facts: Vec<String> = samples
        .iter()
        .filter_map(|sample: &Sample| fact(sample, rows(table), most))
        .filter(|fact: &String| {
            let rest = left.checked_sub(fact.len() + 2);
            *left = rest.unwrap_or(*left);
            rest.is_some()
        })
        .collect();
    if facts.is_empty() {
        return None;
    }
    // It is of a table and of no column, so that prompts show it whole.
    Some(Hit {
        corpus: Corpus::Cells,
        id: format!("facts of {name}"),
        path: format!("values of {}", table.name),
        table: Some(name),
        column: None,
        snippet: Some(facts.join("; ")),
        payload: None,
        score: 1.0,
    })
}

/// The values of a column with few, else the ends of numbers and dates, else frequent values;
/// `None` for texts of which none is frequent. The grant may show fewer values than there are:
/// these are all only where another column of the table shows more, `most` of them, or they are
/// those of all rows.
fn fact(sample: &Sample, rows: Option<u64>, most: usize) -> Option<String> {
    let Sample { column, least, greatest, frequent } = sample;
    let values =
        || frequent.iter().map(|(value, _)| write_value(value)).collect::<Vec<_>>().join(", ");
    let counted: u64 = frequent.iter().map(|(_, count)| count).sum();
    let are_all = frequent.len() < most || rows.is_some_and(|rows| counted >= rows);
    if has_few(sample, rows) {
        let often = if are_all { "" } else { "often " };
        return Some(format!("{column} is {often}{}", values()));
    }
    if is_measured(least) && is_measured(greatest) && least != greatest {
        return Some(format!("{column} from {} to {}", write_value(least), write_value(greatest)));
    }
    let rarest = frequent.last().map_or(0, |(_, count)| *count);
    let is_often = rows.is_some_and(|rows| rarest as f64 >= OFTEN * rows as f64);
    (can_show(sample) && is_often).then(|| format!("{column} is often {}", values()))
}

/// Returns true if a column has no more than a few values, all of which may be shown.
fn has_few(sample: &Sample, rows: Option<u64>) -> bool {
    let counted: u64 = sample.frequent.iter().map(|(_, count)| count).sum();
    let share = rows.map_or(0.0, |rows| counted as f64 / rows as f64);
    can_show(sample) && sample.frequent.len() <= FEW as usize && share >= ALL
}

/// Returns true if frequent values are short and no fractions, and occur more than once: a value
/// that occurs once describes a row, not a column.
fn can_show(sample: &Sample) -> bool {
    let counted: u64 = sample.frequent.iter().map(|(_, count)| count).sum();
    fn is_short(value: &Value) -> bool {
        !matches!(value, Value::Text(text) if text.chars().count() > 40)
    }
    let is_repeated = counted >= 2 * sample.frequent.len() as u64;
    is_repeated && sample.frequent.iter().all(|(value, _)| is_short(value) && !is_fraction(value))
}

fn is_fraction(value: &Value) -> bool {
    matches!(value, Value::Real(_) | Value::Decimal(_))
}

/// Returns true if a value is a number or a day.
fn is_measured(value: &Value) -> bool {
    match value {
        Value::Integer(_) | Value::Real(_) | Value::Decimal(_) | Value::Temporal(_) => true,
        Value::Text(text) => is_day(text),
        _ => false,
    }
}

/// Returns true if a text begins like `2024-05-11`.
fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && bytes.len() <= 35
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn write_value(value: &Value) -> String {
    if matches!(value, Value::Text(_)) { format!("'{}'", cell(value)) } else { cell(value) }
}
