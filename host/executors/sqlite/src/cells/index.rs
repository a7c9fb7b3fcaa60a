//! The index of values: the different short texts of every granted table, which [`Values`] finds.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::ValueRef;
use syrch_core::{Dialect, SqlError, SqlErrorKind, Table, text};
use syrch_guard::values::{CHARACTERS, VALUES, Values};

use super::compile;
use crate::session::Session;
use crate::watch::Snapshot;

/// Rows of a table that are looked at.
const ROWS: u64 = 200_000;
/// Columns read by one statement and bytes of the statement, so that it stays within the engine's limits.
const COLUMNS: usize = 100;
const STATEMENT: usize = 60 << 10;

/// Reads the tables in the catalog's order until the index is full or the time is up. Views are left out: their values stand in tables.
pub(crate) fn build(session: &Session, snapshot: &Snapshot, time: Duration) -> Result<Values, SqlError> {
    let mut index = Values::new(time);
    for table in snapshot.catalog.tables.iter().filter(|table| !table.is_view()) {
        let mut left_out = Vec::new();
        for columns in statements(table) {
            read(&mut index, session, snapshot, &table.name, &columns, &mut left_out)?;
        }
        if !left_out.is_empty() {
            let columns = text::few(&left_out);
            tracing::warn!(table = table.name, columns, "values of a table are not indexed");
        }
        if index.is_full() {
            tracing::info!(table = table.name, "the index of values ends here");
            break;
        }
    }
    index.finish();
    Ok(index)
}

/// Reads columns by one statement, and each half of them by one of its own if it fails for a reason that may be that of one column. What
/// cannot be read is not found; that is better than no index at all.
fn read(
    index: &mut Values,
    session: &Session,
    snapshot: &Snapshot,
    table: &str,
    columns: &[String],
    left_out: &mut Vec<String>,
) -> Result<(), SqlError> {
    if index.is_full() {
        return Ok(());
    }
    let before = index.mark();
    let Err(error) = read_all(index, session, snapshot, table, columns) else { return Ok(()) };
    if is_of_all(&error) {
        return Err(error);
    }
    // It may have been too much memory or time for all.
    session.check_deadline()?;
    index.is_partial |= error.kind == SqlErrorKind::Unavailable;
    if columns.len() == 1 || error.kind == SqlErrorKind::Unavailable {
        left_out.extend(columns.iter().map(|column| format!("{} ({})", text::clip(column, 64), error.message)));
        return Ok(());
    }
    index.forget(before);
    let (first, second) = columns.split_at(columns.len() / 2);
    read(index, session, snapshot, table, first, left_out)?;
    read(index, session, snapshot, table, second, left_out)
}

fn read_all(
    index: &mut Values,
    session: &Session,
    snapshot: &Snapshot,
    table: &str,
    columns: &[String],
) -> Result<(), SqlError> {
    let list = columns.iter().map(|column| short(column)).collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT {list} FROM {} LIMIT {ROWS}", Dialect::Sqlite.quoted(table));
    let mut statement = compile(&sql, session, snapshot)?;
    let name: Arc<str> = table.into();
    let places: Vec<usize> = columns.iter().map(|column| index.place(&name, column)).collect();
    let mut seen: Vec<HashSet<u64>> = vec![HashSet::new(); columns.len()];
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
        for (column, seen) in seen.iter_mut().enumerate() {
            let Ok(ValueRef::Text(bytes)) = row.get_ref(column) else { continue };
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            let digest = index.digest(text);
            let is_new = seen.len() < VALUES && !text.trim().is_empty() && !seen.contains(&digest);
            if is_new && text.chars().count() <= CHARACTERS {
                seen.insert(digest);
                index.add(places[column], text);
            }
        }
        if index.is_full() {
            break;
        }
    }
    Ok(())
}

/// An expression for the values of a column that are looked at. The engine skips long texts and blobs by their header, without reading them.
fn short(column: &str) -> String {
    let name = Dialect::Sqlite.quoted(column);
    format!("CASE WHEN typeof({name}) = 'text' AND octet_length({name}) <= {} THEN {name} END", CHARACTERS * 4)
}

/// The columns of a table, as many together as one statement may read.
fn statements(table: &Table) -> Vec<Vec<String>> {
    let (mut all, mut bytes): (Vec<Vec<String>>, usize) = (Vec::new(), 0);
    for column in &table.columns {
        let more = short(&column.name).len() + 2;
        match all.last_mut() {
            Some(last) if last.len() < COLUMNS && bytes + more <= STATEMENT => last.push(column.name.clone()),
            _ => {
                all.push(vec![column.name.clone()]);
                bytes = Dialect::Sqlite.quoted(&table.name).len();
            }
        }
        bytes += more;
    }
    all
}

/// Whether nothing more can be read: otherwise it may be one column that cannot, or one table, such as one whose module is missing.
fn is_of_all(error: &SqlError) -> bool {
    matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::Cancelled)
}
