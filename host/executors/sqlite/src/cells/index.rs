//! The index of values: the different short texts of every granted table, which [`Values`] finds.

use std::collections::HashSet;
use std::sync::Arc;

use rusqlite::types::ValueRef;
use syrch_core::{Dialect, SqlError, SqlErrorKind, Table, text};
use syrch_guard::values::{CHARACTERS, VALUES, Values};

use super::compile;
use crate::session::Session;
use crate::watch::Snapshot;

/// Rows of a table that are looked at.
const ROWS: u64 = 200_000;
/// Columns read by one statement and bytes of the statement, so that it stays within the engine's
/// limits.
const COLUMNS: usize = 100;
const STATEMENT: usize = 60 << 10;

/// The way in which reading a table ended.
enum Ended {
    Whole,
    /// The time was up.
    Late,
    /// Somebody else's lock was in the way.
    Busy,
}

/// Reads the tables that an index lacks, the small ones first, until it is full or its time is up.
/// Views are left out: their values stand in tables. Returns the index, ready to be found in, and
/// how many tables it has more.
///
/// Each call has a table more at least: one for which all of its time is not enough has the values
/// that were found in it.
pub(crate) fn build(session: &Session, snapshot: &Snapshot, mut index: Values) -> (Values, usize) {
    let tables = tables(&mut index, snapshot);
    let mut read = 0;
    for (table, place) in &tables {
        if index.is_complete(&table.name) {
            continue;
        }
        match read_table(&mut index, session, snapshot, table, *place) {
            Ended::Busy => continue,
            Ended::Late if read > 0 => break,
            Ended::Late => {
                tracing::warn!(table = table.name, "the index of values has a part of a table")
            }
            Ended::Whole => {}
        }
        index.complete(&table.name.as_str().into());
        read += 1;
    }
    index.is_partial = tables.iter().any(|(table, _)| !index.is_complete(&table.name));
    if index.is_partial {
        tracing::info!(
            read,
            "the index of values ends here, and goes on when it is next asked for"
        );
    }
    index.finish();
    (index, read)
}

/// The tables, each with the place of its first column in the index, which are in the catalog's
/// order.
fn tables<'s>(index: &mut Values, snapshot: &'s Snapshot) -> Vec<(&'s Table, usize)> {
    let is_new = index.places() == 0;
    let mut next = 0;
    let mut tables = Vec::new();
    for table in snapshot.catalog.tables.iter().filter(|table| !table.is_view()) {
        tables.push((table, next));
        next += table.columns.len();
        if is_new {
            let name: Arc<str> = table.name.as_str().into();
            for column in &table.columns {
                index.place(&name, &column.name);
            }
        }
    }
    tables.sort_by_key(|(table, _)| table.row_estimate.unwrap_or(ROWS));
    tables
}

fn read_table(
    index: &mut Values,
    session: &Session,
    snapshot: &Snapshot,
    table: &Table,
    place: usize,
) -> Ended {
    let mut reading =
        Reading { session, snapshot, table: &table.name, left_out: Vec::new(), is_busy: false };
    let mut place = place;
    for columns in statements(table) {
        if reading.read(index, &columns, place).is_err() {
            return Ended::Late;
        }
        place += columns.len();
    }
    if !reading.left_out.is_empty() {
        let columns = text::few(&reading.left_out);
        tracing::warn!(table = table.name, columns, "values of a table are not indexed");
    }
    match reading.is_busy {
        true => Ended::Busy,
        false => Ended::Whole,
    }
}

/// The time is up, or nobody waits any more.
struct Over;

/// The reading of one table.
struct Reading<'r> {
    session: &'r Session,
    snapshot: &'r Snapshot,
    table: &'r str,
    left_out: Vec<String>,
    is_busy: bool,
}

impl Reading<'_> {
    /// Reads columns by one statement, and each half of them by one of its own if it fails for a
    /// reason that may be that of one column. What cannot be read is not found; that is better than
    /// no index at all.
    fn read(&mut self, index: &mut Values, columns: &[String], place: usize) -> Result<(), Over> {
        let before = index.mark();
        let Err(error) = self.read_all(index, columns, place) else {
            return if index.is_late() { Err(Over) } else { Ok(()) };
        };
        // It may have been too much memory or time for all.
        if is_of_all(&error) || self.session.check_deadline().is_err() {
            return Err(Over);
        }
        self.is_busy |= error.kind == SqlErrorKind::Unavailable;
        if columns.len() == 1 || error.kind == SqlErrorKind::Unavailable {
            self.left_out.extend(
                columns.iter().map(|column: &String| {
                    format!("{} ({})", text::clip(column, 64), error.message)
                }),
            );
            return Ok(());
        }
        index.forget(before);
        let (first, second) = columns.split_at(columns.len() / 2);
        self.read(index, first, place)?;
        self.read(index, second, place + first.len())
    }

    fn read_all(
        &self,
        index: &mut Values,
        columns: &[String],
        place: usize,
    ) -> Result<(), SqlError> {
        let list = columns.iter().map(|column| short_texts(column)).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {list} FROM {} LIMIT {ROWS}", Dialect::Sqlite.quote(self.table));
        let mut statement = compile(&sql, self.session, self.snapshot)?;
        let mut seen: Vec<HashSet<u64>> = vec![HashSet::new(); columns.len()];
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| self.session.step_error(&error))? {
            for (column, seen) in seen.iter_mut().enumerate() {
                let Ok(ValueRef::Text(bytes)) = row.get_ref(column) else { continue };
                let Ok(text) = std::str::from_utf8(bytes) else { continue };
                let digest = index.digest(text);
                let is_new =
                    seen.len() < VALUES && !text.trim().is_empty() && !seen.contains(&digest);
                if is_new && text.chars().count() <= CHARACTERS {
                    seen.insert(digest);
                    index.add(place + column, text);
                }
            }
            if index.is_full() {
                break;
            }
        }
        Ok(())
    }
}

/// An expression for the values of a column that are looked at. The engine skips long texts and
/// blobs by their header, without reading them.
fn short_texts(column: &str) -> String {
    let name = Dialect::Sqlite.quote(column);
    format!(
        "CASE WHEN typeof({name}) = 'text' AND octet_length({name}) <= {} THEN {name} END",
        CHARACTERS * 4
    )
}

/// The columns of a table, as many together as one statement may read.
fn statements(table: &Table) -> Vec<Vec<String>> {
    let (mut all, mut bytes): (Vec<Vec<String>>, usize) = (Vec::new(), 0);
    for column in &table.columns {
        let more = short_texts(&column.name).len() + 2;
        match all.last_mut() {
            Some(last) if last.len() < COLUMNS && bytes + more <= STATEMENT => {
                last.push(column.name.clone())
            }
            _ => {
                all.push(vec![column.name.clone()]);
                bytes = Dialect::Sqlite.quote(&table.name).len();
            }
        }
        bytes += more;
    }
    all
}

/// Returns true if the error means that nothing more can be read: otherwise it may be about one
/// column, or one table, such as one whose module is missing.
fn is_of_all(error: &SqlError) -> bool {
    matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::Cancelled)
}
