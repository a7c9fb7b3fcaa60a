//! The index of values: the different short texts of the granted tables, which [`Values`] finds. It is built when it is first asked, within a few
//! seconds and from the first rows of each table, and used for some minutes: the server is not read again for every question.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use syrch_core::{Limits, SqlError, SqlErrorKind, Table, Value};
use syrch_guard::values::{CHARACTERS, VALUES, Values};

use crate::database::{PostgresDatabase, Snapshot, quoted};

/// Rows of a table that are looked at.
const ROWS: u64 = 100_000;
/// How long building may take.
const INDEXING: Duration = Duration::from_secs(5);
/// How long an index is used.
const CURRENT: Duration = Duration::from_secs(600);
/// Columns of one statement, so that it stays small.
const COLUMNS: usize = 16;
/// Rows that are read of a statement.
const READ: u64 = 50_000;

/// Beginnings of the names of types whose values nobody names in a question by their text.
const NO_TEXT: [&str; 26] = [
    "bigint", "bit", "boolean", "box", "bytea", "circle", "date", "double", "inet", "int", "json", "line", "lseg",
    "macaddr", "money", "num", "oid", "path", "point", "polygon", "real", "smallint", "time", "ts", "uuid", "xml",
];

/// An index and when it was built.
pub(crate) struct Built {
    values: Arc<Values>,
    at: Instant,
}

impl PostgresDatabase {
    /// The index of values, built on first use and again after some minutes.
    pub(crate) async fn values_index(&self, snapshot: &Snapshot) -> Arc<Values> {
        let mut built = self.index.lock().await;
        if let Some(built) = built.as_ref().filter(|built| built.at.elapsed() < CURRENT) {
            return Arc::clone(&built.values);
        }
        let values = Arc::new(self.build(snapshot).await);
        *built = Some(Built { values: Arc::clone(&values), at: Instant::now() });
        values
    }

    /// Reads the small tables first, until the index is full or the time is up. A table that cannot be read is left out.
    async fn build(&self, snapshot: &Snapshot) -> Values {
        let time = self.limits().sql_deadline.min(INDEXING);
        let (mut values, until) = (Values::new(time), Instant::now() + time);
        let mut tables: Vec<&Table> = snapshot.catalog.tables.iter().filter(|table| !table.is_view()).collect();
        tables.sort_by_key(|table| table.row_estimate.unwrap_or(ROWS));
        for table in tables {
            let columns: Vec<&str> = table
                .columns
                .iter()
                .filter(|column| has_text(&column.sql_type))
                .map(|column| column.name.as_str())
                .collect();
            for columns in columns.chunks(COLUMNS) {
                let left = until.saturating_duration_since(Instant::now());
                if values.is_full() || left.is_zero() {
                    tracing::info!(table = table.name, "the index of values ends here");
                    values.finish();
                    return values;
                }
                if let Err(error) = self.add(&mut values, snapshot, table, columns, left).await {
                    values.is_partial |= matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::Unavailable);
                    tracing::warn!(table = table.name, %error, "values of a table are not indexed");
                }
            }
        }
        values.finish();
        values
    }

    async fn add(
        &self,
        values: &mut Values,
        snapshot: &Snapshot,
        table: &Table,
        columns: &[&str],
        time: Duration,
    ) -> Result<(), SqlError> {
        let limits = Limits { rows: READ, ..self.limits().clone() };
        let result = self.select(&statement(table, columns), &limits, time, snapshot).await?;
        let name: Arc<str> = snapshot.catalog.table_name(table).into();
        let places: Vec<usize> = columns.iter().map(|column| values.place(&name, column)).collect();
        for row in result.rows(0, u64::MAX) {
            let [Value::Integer(column), Value::Text(text)] = row.as_slice() else { continue };
            let place = usize::try_from(*column).ok().and_then(|column| places.get(column));
            if let Some(place) = place.filter(|_| !text.trim().is_empty()) {
                values.add(*place, text);
            }
        }
        Ok(())
    }
}

/// Whether the values of a type are found by their text: texts, and what users made, such as enumerations.
fn has_text(sql_type: &str) -> bool {
    !sql_type.ends_with(']') && !NO_TEXT.iter().any(|beginning| sql_type.starts_with(beginning))
}

/// The different values of these columns with the place of each column, the frequent ones first.
fn statement(table: &Table, columns: &[&str]) -> String {
    let from = format!("{}.{}", quoted(table.schema_name.as_deref().unwrap_or_default()), quoted(&table.name));
    let most = (READ / columns.len().max(1) as u64).min(VALUES as u64);
    let mut sql = String::new();
    for (at, column) in columns.iter().enumerate() {
        let separator = if at > 0 { " UNION ALL " } else { "" };
        let _ = write!(
            sql,
            "{separator}(SELECT {at} AS i, v FROM (SELECT {}::text AS v FROM {from} LIMIT {ROWS}) AS s \
             WHERE length(v) <= {CHARACTERS} GROUP BY v ORDER BY count(*) DESC, v LIMIT {most})",
            quoted(column)
        );
    }
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_types_of_users_are_indexed() {
        for (sql_type, expected) in [
            ("text", true),
            ("character varying(20)", true),
            ("sales.mood", true),
            ("citext", true),
            ("text[]", false),
            ("integer", false),
            ("numeric(10,2)", false),
            ("timestamp with time zone", false),
        ] {
            assert_eq!(has_text(sql_type), expected, "{sql_type}");
        }
        assert!(NO_TEXT.is_sorted());
    }
}
