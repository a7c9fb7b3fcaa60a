//! What the columns of the shown tables hold: the frequent values of those with few, and the ends of numbers and dates.

use syrch_plugin::prelude::*;
use syrch_plugin::prompt::cell;
use syrch_plugin::text::is_one_of;

use crate::Settings;

/// Tables of which facts are given.
const TABLES: usize = 8;
/// Columns of one table.
const COLUMNS: usize = 12;
/// Bytes of all facts.
const BYTES: usize = 1_000;
/// Values of a column that count as few.
const FEW: u32 = 8;
/// The share of the rows from which on values count as all, and that from which on each counts as frequent.
const ALL: f64 = 0.9;
const OFTEN: f64 = 0.05;
/// Rows of a table that the host samples at most, and cells that it may read for one question, so that this takes no time that one notices.
const SAMPLED: u64 = 100_000;
const CELLS: u64 = 100_000;
/// Rows of a table whose number is unknown.
const UNKNOWN: u64 = 20_000;
/// Types whose values nobody names in a question.
const OTHERS: &str = "blob bytea json jsonb uuid xml array map struct binary variant";

/// A hit for each table with facts about its columns, as far as cells are granted.
pub(crate) fn find(host: &impl LinkerHost, settings: &Settings, catalog: &Catalog, shown: &[Relevant]) -> Vec<Hit> {
    // Each sample is a job of these engines, and takes seconds.
    if !settings.facts || matches!(catalog.dialect, Dialect::Spark | Dialect::Databricks) {
        return Vec::new();
    }
    // Under a grant without cells nothing is asked of the data, since plugins that are not built in would lose the model for it.
    if matches!(host.find(&[], &Match::Exact, 1), Err(PortError::Denied(_) | PortError::Unsupported)) {
        return Vec::new();
    }
    let mut cells = CELLS;
    let mut left = BYTES;
    let mut hits: Vec<Hit> = Vec::new();
    for (table, columns) in tables(catalog, shown).take(TABLES) {
        let name = catalog.table_name(table);
        let rows = table.row_estimate.unwrap_or(UNKNOWN).clamp(1, SAMPLED);
        let most = usize::try_from(cells / rows).unwrap_or(COLUMNS).min(COLUMNS);
        let columns: Vec<String> = columns.into_iter().take(most).map(|column| column.name.clone()).collect();
        if columns.is_empty() {
            continue;
        }
        cells -= rows * columns.len() as u64;
        match host.samples(&name, &columns, FEW + 1) {
            Ok(samples) => hits.extend(facts(name, table, &samples, &mut left)),
            Err(PortError::UnknownName(_)) => {}
            Err(PortError::Denied(_) | PortError::Unsupported) => return hits,
            Err(error) => {
                host.note(Level::Info, &port_failure(&error).message);
                return hits;
            }
        }
    }
    hits
}

/// The tables that are shown, with their columns of which facts help.
fn tables<'c>(
    catalog: &'c Catalog,
    shown: &'c [Relevant],
) -> Box<dyn Iterator<Item = (&'c Table, Vec<&'c Column>)> + 'c> {
    if shown.is_empty() {
        return Box::new(
            catalog.tables.iter().filter(|table| is_stored(table)).map(|table| (table, measured_columns(table, &[]))),
        );
    }
    Box::new(shown.iter().filter_map(|relevant| {
        let table = catalog.table(&relevant.table).filter(|table| is_stored(table))?;
        Some((table, measured_columns(table, &relevant.columns)))
    }))
}

/// Whether the table is no view, which may take any time.
fn is_stored(table: &Table) -> bool {
    table.extra.iter().all(|(key, value)| key != "kind" || value == "\"table\"")
}

/// The columns that are no keys, and whose values the catalog does not list.
fn measured_columns<'t>(table: &'t Table, shown: &[String]) -> Vec<&'t Column> {
    let is_key = |name: &String| {
        table.primary_key.contains(name) || table.foreign_keys.iter().any(|key| key.columns.contains(name))
    };
    let is_other = |column: &Column| {
        let sql_type = column.sql_type.to_lowercase();
        let word = sql_type.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        is_one_of(OTHERS, word) || sql_type.ends_with(']')
    };
    let is_listed = |column: &Column| column.extra.iter().any(|(key, _)| key == "values");
    let columns = table.columns.iter().filter(|column| shown.is_empty() || shown.contains(&column.name));
    columns.filter(|column| !is_key(&column.name) && !is_other(column) && !is_listed(column)).collect()
}

/// The facts about a table as a hit: those that fit into the bytes that are left.
fn facts(name: String, table: &Table, samples: &[Sample], left: &mut usize) -> Option<Hit> {
    let fits = |fact: &String| {
        let rest = left.checked_sub(fact.len() + 2);
        *left = rest.unwrap_or(*left);
        rest.is_some()
    };
    let rows = table.row_estimate.map(|rows| rows.clamp(1, SAMPLED));
    let facts: Vec<String> = samples.iter().filter_map(|sample| fact(sample, rows)).filter(fits).collect();
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

/// The values of a column with few, else the ends of numbers and dates, else frequent values; `None` for texts of which none is frequent.
/// The grant may show fewer values than there are: their share of the rows tells whether these are all.
fn fact(sample: &Sample, rows: Option<u64>) -> Option<String> {
    let Sample { column, least, greatest, frequent } = sample;
    let counted: u64 = frequent.iter().map(|(_, count)| count).sum();
    let share = rows.map_or(0.0, |rows| counted as f64 / rows as f64);
    let is_short = |value: &Value| !matches!(value, Value::Text(text) if text.chars().count() > 40);
    // What occurs once tells of a row, not of a column.
    let is_repeated = counted >= 2 * frequent.len() as u64;
    let is_shown = is_repeated && frequent.iter().all(|(value, _)| is_short(value) && !is_fraction(value));
    let values = || frequent.iter().map(|(value, _)| written(value)).collect::<Vec<_>>().join(", ");
    if is_shown && frequent.len() <= FEW as usize && share >= ALL {
        return Some(format!("{column} is {}", values()));
    }
    if is_measured(least) && is_measured(greatest) && least != greatest {
        return Some(format!("{column} from {} to {}", written(least), written(greatest)));
    }
    let rarest = frequent.last().map_or(0, |(_, count)| *count);
    let is_often = rows.is_some_and(|rows| rarest as f64 >= OFTEN * rows as f64);
    (is_shown && is_often).then(|| format!("{column} is often {}", values()))
}

fn is_fraction(value: &Value) -> bool {
    matches!(value, Value::Real(_) | Value::Decimal(_))
}

/// Whether a value is a number or a day.
fn is_measured(value: &Value) -> bool {
    match value {
        Value::Integer(_) | Value::Real(_) | Value::Decimal(_) | Value::Temporal(_) => true,
        Value::Text(text) => is_day(text),
        _ => false,
    }
}

/// Whether a text begins as `2024-05-11`.
fn is_day(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 10
        && bytes.len() <= 35
        && bytes[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

fn written(value: &Value) -> String {
    if matches!(value, Value::Text(_)) { format!("'{}'", cell(value)) } else { cell(value) }
}
