//! The contents of columns: least, greatest and most frequent values, and statistics in the shape
//! of a planner's.

use std::collections::HashSet;

use rusqlite::types::ValueRef;
use syrch_core::ports::{ColumnStats, Sample};
use syrch_core::{Dialect, SqlError, Value, text};

use super::compile;
use crate::session::Session;
use crate::value::to_value;
use crate::watch::Snapshot;

/// Rows that samples read.
const SAMPLED: u64 = 100_000;
/// Rows that statistics read.
const COUNTED: u64 = 10_000;
/// Bytes of a sampled value.
const CLIP: usize = 1_024;

/// Least, greatest and most frequent values, which are cached with the snapshot: but not those of a
/// view, which may be others over the same data.
pub(crate) fn samples(
    session: &Session,
    snapshot: &Snapshot,
    table: &str,
    columns: &[String],
    limit: u32,
) -> Result<Vec<Sample>, SqlError> {
    let is_cacheable = snapshot.catalog.table(table).is_some_and(|table| !table.is_view());
    let mut samples = Vec::with_capacity(columns.len());
    session.check_deadline()?;
    for column in columns {
        if let Some(known) = snapshot.samples.find(table, column, limit) {
            samples.push(known);
            continue;
        }
        let sample = sample(session, snapshot, table, column, limit)?;
        if is_cacheable {
            snapshot.samples.put(table, limit, &sample);
        }
        samples.push(sample);
    }
    Ok(samples)
}

fn sample(
    session: &Session,
    snapshot: &Snapshot,
    table: &str,
    column: &str,
    limit: u32,
) -> Result<Sample, SqlError> {
    let name = Dialect::Sqlite.quote(column);
    let table = Dialect::Sqlite.quote(table);
    let first = format!("(SELECT {name} AS v FROM {table} LIMIT {SAMPLED})");
    let ends = rows(session, snapshot, &format!("SELECT min(v), max(v) FROM {first}"))?;
    let (least, greatest) = match ends.into_iter().next().as_deref() {
        Some([least, greatest]) => (least.clone(), greatest.clone()),
        _ => (Value::Null, Value::Null),
    };
    let sql = format!(
        "SELECT v, count(*) FROM {first} WHERE v IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 \
         LIMIT {limit}"
    );
    let frequent = rows(session, snapshot, &sql)?
        .into_iter()
        .filter_map(|row| match <[Value; 2]>::try_from(row).ok()? {
            [value, Value::Integer(count)] => Some((value, u64::try_from(count).ok()?)),
            _ => None,
        })
        .collect();
    Ok(Sample { column: column.to_owned(), least, greatest, frequent })
}

fn rows(session: &Session, snapshot: &Snapshot, sql: &str) -> Result<Vec<Vec<Value>>, SqlError> {
    session.check_deadline()?;
    let mut statement = compile(sql, session, snapshot)?;
    let width = statement.column_count();
    let mut rows = statement.raw_query();
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
        let cells = (0..width)
            .map(|column| row.get_ref(column).map(clip_value))
            .collect::<rusqlite::Result<Vec<_>>>();
        all.push(cells.map_err(|error| session.step_error(&error))?);
    }
    Ok(all)
}

fn clip_value(value: ValueRef<'_>) -> Value {
    match to_value(value).0 {
        Value::Text(whole) => Value::Text(text::clip(&whole, CLIP).to_owned()),
        Value::Bytes(mut bytes) => {
            bytes.truncate(CLIP);
            Value::Bytes(bytes)
        }
        other => other,
    }
}

/// Statistics over the first rows.
pub(crate) fn column_stats(
    session: &Session,
    snapshot: &Snapshot,
    table: &str,
    columns: &[String],
) -> Result<Vec<ColumnStats>, SqlError> {
    columns.iter().map(|column| stats(session, snapshot, table, column)).collect()
}

fn stats(
    session: &Session,
    snapshot: &Snapshot,
    table: &str,
    column: &str,
) -> Result<ColumnStats, SqlError> {
    let name = Dialect::Sqlite.quote(column);
    let table = Dialect::Sqlite.quote(table);
    let sql = format!(
        "SELECT r, octet_length(v) FROM (SELECT v, rank() OVER (ORDER BY v) AS r, p FROM \
         (SELECT {name} AS v, row_number() OVER () AS p FROM {table} LIMIT {COUNTED}) \
         WHERE v IS NOT NULL) ORDER BY p"
    );
    let present = rows(session, snapshot, &sql)?;
    let counted = format!("SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT {COUNTED})");
    let all = match rows(session, snapshot, &counted)?.first().and_then(|row| row.first()) {
        Some(Value::Integer(all)) => *all as f64,
        _ => 0.0,
    };
    let number = |value: Option<&Value>| match value {
        Some(Value::Integer(number)) => *number,
        _ => 0,
    };
    let ranks: Vec<i64> = present.iter().map(|row| number(row.first())).collect();
    let bytes: i64 = present.iter().map(|row| number(row.get(1))).sum();
    let count = present.len() as f64;
    Ok(ColumnStats {
        column: column.to_owned(),
        distinct: Some(ranks.iter().collect::<HashSet<_>>().len() as f64),
        null_fraction: (all > 0.0).then(|| 1.0 - count / all),
        correlation: correlation(&ranks),
        average_width: (count > 0.0).then(|| (bytes as f64 / count).round() as u32),
    })
}

/// Pearson's correlation of the values' ranks with the order of the rows; `None` if either never
/// changes.
fn correlation(ranks: &[i64]) -> Option<f64> {
    let count = ranks.len() as f64;
    let mean_place = (count - 1.0) / 2.0;
    let mean_rank = ranks.iter().map(|rank| *rank as f64).sum::<f64>() / count;
    let mut both = 0.0;
    let mut places = 0.0;
    let mut values = 0.0;
    for (place, rank) in ranks.iter().enumerate() {
        let x = place as f64 - mean_place;
        let y = *rank as f64 - mean_rank;
        both += x * y;
        places += x * x;
        values += y * y;
    }
    let scale = (places * values).sqrt();
    (scale > 0.0).then(|| both / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlation_is_one_for_order_and_none_for_constants() {
        assert_eq!(correlation(&[1, 2, 3, 4]), Some(1.0));
        assert_eq!(correlation(&[3, 2, 1]), Some(-1.0));
        assert_eq!(correlation(&[1, 1, 1]), None);
        assert_eq!(correlation(&[]), None);
    }
}
