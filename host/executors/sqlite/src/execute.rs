//! Running one compiled statement into a result, within its caps.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};
use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};
use syrch_core::ports::{Plan, SqlQuery};
use syrch_core::result_set::SQL_TYPE;
use syrch_core::{Limits, ResultSet, SqlError, SqlErrorKind};
use syrch_guard::Spliced;

use crate::error::{self, Context};
use crate::memory::{self, Refused};
use crate::session::Session;
use crate::value::{ColumnBuilder, size};
use crate::watch::Snapshot;

/// The bytes that a cell counts for besides its contents: whoever prints a result needs memory for
/// each, even for a NULL.
const CELL: usize = 24;
/// A batch ends once its cells count for this many bytes, since a buffer is copied each time that
/// it grows. It also keeps the texts of a column, which a batch addresses with 32 bits, far from
/// that limit.
const BATCH: usize = 4 << 20;
/// The size limit of a result's column names, with the types that the columns were declared with,
/// in bytes: lines and documents repeat them.
const NAMES: usize = 128 << 10;

/// A composed statement that the pre-lexer let through.
pub(crate) struct Composed<'a> {
    pub(crate) query: &'a SqlQuery,
    pub(crate) spliced: &'a Spliced,
}

impl Composed<'_> {
    pub(crate) fn compile<'s>(
        &self,
        session: &'s Session,
        snapshot: &Snapshot,
    ) -> Result<Statement<'s>, SqlError> {
        self.compile_as(&self.spliced.text, session, snapshot)
    }

    fn compile_as<'s>(
        &self,
        sql: &str,
        session: &'s Session,
        snapshot: &Snapshot,
    ) -> Result<Statement<'s>, SqlError> {
        let context =
            Context { query: self.query, spliced: self.spliced, catalog: &snapshot.catalog };
        session.compile(sql, &snapshot.grant, &context)
    }

    /// The engine's plan, as an indented tree.
    pub(crate) fn plan(&self, session: &Session, snapshot: &Snapshot) -> Result<Plan, SqlError> {
        drop(self.compile(session, snapshot)?);
        let sql = format!("EXPLAIN QUERY PLAN {}", self.spliced.text);
        let mut statement = self.compile_as(&sql, session, snapshot)?;
        let mut rows = statement.raw_query();
        let mut text = String::new();
        let mut depths = HashMap::<i64, usize>::new();
        while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
            let (id, parent, detail) =
                plan_line(row).map_err(|error| session.step_error(&error))?;
            let depth = depths.get(&parent).map_or(0, |depth| depth + 1);
            depths.insert(id, depth);
            let _ = writeln!(text, "{}{detail}", "  ".repeat(depth));
        }
        Ok(Plan { format: "sqlite-eqp".to_owned(), text, cost: None, rows: None })
    }

    /// The result, cut at the caps.
    pub(crate) fn run(
        &self,
        session: &Session,
        snapshot: &Snapshot,
        limits: &Limits,
    ) -> Result<ResultSet, SqlError> {
        let mut statement = self.compile(session, snapshot)?;
        let names = names(&statement)?;
        let mut fetch = Fetch::new(names.len(), limits);
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().map_err(|error| session.step_error(&error))? {
            if !fetch.push(row).map_err(|error| error.into_sql(session))? {
                break;
            }
        }
        // `snippet` goes on without the places that it got no memory for.
        if let Some(Refused::Places(most)) = memory::take_refusal() {
            return Err(error::places_error(most));
        }
        fetch.finish(names, self.spliced.text.clone())
    }
}

/// The names of the columns, and the types that they were declared with.
pub(crate) fn names(statement: &Statement<'_>) -> Result<Vec<(String, Option<String>)>, SqlError> {
    let mut bytes = 0;
    statement
        .columns()
        .map(|column: rusqlite::Column<'_>| {
            let name = column.name();
            let declared = column.decl_type();
            bytes += name.len() + declared.map_or(0, str::len);
            if bytes > NAMES {
                let message = format!(
                    "the names of the columns have more than {NAMES} bytes; give them \
                     shorter ones by AS"
                );
                return Err(SqlError::new(SqlErrorKind::TooLarge, message).rule("column-names"));
            }
            Ok((name.to_owned(), declared.map(str::to_owned)))
        })
        .collect()
}

/// Returns the number of bytes that a cell counts for, unless it is larger than any may be.
#[inline]
fn cell_cost(cell: &ValueRef<'_>, limits: &Limits) -> Result<usize, RowError> {
    let bytes = size(cell);
    if bytes <= limits.cell_bytes {
        return Ok(bytes + CELL);
    }
    let message = format!("a cell of {bytes} bytes; one may have {}", limits.cell_bytes);
    Err(RowError::Cap(SqlError::new(SqlErrorKind::TooLarge, message).rule("cell-bytes")))
}

fn plan_line(row: &Row<'_>) -> rusqlite::Result<(i64, i64, String)> {
    // It may name an index whose name is not UTF-8.
    Ok((
        row.get(0)?,
        row.get(1)?,
        String::from_utf8_lossy(row.get_ref(3)?.as_bytes()?).into_owned(),
    ))
}

/// The reason why a row was not taken.
enum RowError {
    Engine(rusqlite::Error),
    Cap(SqlError),
}

impl RowError {
    fn into_sql(self, session: &Session) -> SqlError {
        match self {
            Self::Engine(error) => session.step_error(&error),
            Self::Cap(error) => error,
        }
    }
}

/// A result under construction.
struct Fetch<'a> {
    columns: Vec<ColumnBuilder>,
    limits: &'a Limits,
    rows: u64,
    bytes: usize,
    /// The number of rows in each batch.
    batches: Vec<usize>,
    /// The number of bytes that the cells of the last batch count for.
    batch_bytes: usize,
    warnings: Vec<String>,
    truncated: bool,
}

impl<'a> Fetch<'a> {
    fn new(width: usize, limits: &'a Limits) -> Self {
        let columns = (0..width).map(|_| ColumnBuilder::new()).collect();
        let warnings = Vec::new();
        Self {
            columns,
            limits,
            rows: 0,
            bytes: 0,
            batches: vec![0],
            batch_bytes: 0,
            warnings,
            truncated: false,
        }
    }

    /// Takes a row; false when a cap cuts the result before it.
    fn push(&mut self, row: &Row<'_>) -> Result<bool, RowError> {
        if self.rows >= self.limits.rows {
            self.cut(format!("only the first {} rows were read", self.limits.rows));
            return Ok(false);
        }
        if self.batch_bytes >= BATCH {
            self.columns.iter_mut().for_each(ColumnBuilder::end_batch);
            self.batches.push(0);
            self.batch_bytes = 0;
        }
        let limits = self.limits;
        let most = limits.result_bytes;
        let largest = self.columns.len().saturating_mul(limits.cell_bytes.saturating_add(CELL));
        let mut bytes = 0;
        if largest <= most.saturating_sub(self.bytes) {
            // Any row fits, so its cells go to their columns as they come.
            for (index, column) in self.columns.iter_mut().enumerate() {
                match row.get_ref(index) {
                    Ok(ref cell) => {
                        bytes += cell_cost(cell, limits)?;
                        column.push(cell);
                    }
                    Err(error) => return Err(RowError::Engine(error)),
                }
            }
        } else {
            // Asked for once: the engine works each time a cell is read.
            let mut cells = Vec::with_capacity(self.columns.len());
            for index in 0..self.columns.len() {
                let cell = row.get_ref(index).map_err(RowError::Engine)?;
                bytes += cell_cost(&cell, limits)?;
                cells.push(cell);
            }
            if self.bytes + bytes > most {
                self.cut(format!(
                    "only the first {} rows were read: the result has more than {most} bytes",
                    self.rows
                ));
                return Ok(false);
            }
            for (column, cell) in self.columns.iter_mut().zip(cells) {
                column.push(&cell);
            }
        }
        self.bytes += bytes;
        self.batch_bytes += bytes;
        self.rows += 1;
        if let Some(rows) = self.batches.last_mut() {
            *rows += 1;
        }
        Ok(true)
    }

    fn cut(&mut self, warning: String) {
        self.truncated = true;
        self.warnings.push(warning);
    }

    fn finish(
        mut self,
        names: Vec<(String, Option<String>)>,
        sql: String,
    ) -> Result<ResultSet, SqlError> {
        let (columns, replaced): (Vec<Vec<ArrayRef>>, Vec<u64>) =
            self.columns.into_iter().map(|column| column.finish(&self.batches)).unzip();
        let replaced: u64 = replaced.iter().sum();
        if replaced > 0 {
            self.warnings.push(format!(
                "{replaced} cells held text that is not UTF-8; the broken bytes were replaced"
            ));
        }
        let fields: Vec<Field> = names
            .into_iter()
            .zip(&columns)
            .map(|((name, declared), column)| {
                let field = Field::new(
                    name,
                    column.first().map_or(DataType::Null, |batch| batch.data_type().clone()),
                    true,
                );
                match declared {
                    Some(declared) => {
                        field.with_metadata(HashMap::from([(SQL_TYPE.to_owned(), declared)]))
                    }
                    None => field,
                }
            })
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
        let mut batches = Vec::with_capacity(self.batches.len());
        for rows in self.batches {
            let arrays = columns.iter_mut().filter_map(Iterator::next).collect();
            if rows > 0 {
                let options = RecordBatchOptions::new().with_row_count(Some(rows));
                let batch =
                    RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
                        .map_err(|error| SqlError::new(SqlErrorKind::Other, error.to_string()))?;
                batches.push(batch);
            }
        }
        Ok(ResultSet::new(schema, batches, self.truncated, self.warnings, sql))
    }
}
