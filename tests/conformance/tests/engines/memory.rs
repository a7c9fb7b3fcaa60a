//! A second engine, small and in memory: SQLite's library without its executor, under the name of
//! standard SQL. It has no plans, statistics and keys, runs one statement after the other, and
//! cannot say whether it changed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use async_trait::async_trait;
use rusqlite::types::Value as Cell;
use rusqlite::{Connection, Error, ErrorCode, InterruptHandle};
use syrch_conformance::{Capabilities, Engine, FIXTURE};
use syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Plan, PortError, Sample,
    SqlQuery,
};
use syrch_core::{Catalog, Column, Dialect, Hit, Limits, ResultSet, SqlError, SqlErrorKind, Table};
use syrch_guard::{Guard, Unresolved};

pub(crate) struct MemoryEngine;

#[async_trait]
impl Engine for MemoryEngine {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            has_identity: false,
            has_keys: false,
            has_plans: false,
            has_statistics: false,
            is_concurrent: false,
            ..Capabilities::all(Dialect::Ansi)
        }
    }

    async fn open(&self, limits: Limits) -> Arc<dyn Database> {
        // Before the engine's first use, for the other engine of this process.
        syrch_sqlite::count_memory();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(FIXTURE).unwrap();
        connection.pragma_update(None, "query_only", true).unwrap();
        let catalog = Arc::new(catalog(&connection));
        let interrupt = connection.get_interrupt_handle();
        Arc::new(Memory {
            inner: Arc::new(Inner { connection: Mutex::new(connection), catalog, limits }),
            interrupt,
        })
    }

    async fn change(&self) {}
}

struct Memory {
    inner: Arc<Inner>,
    interrupt: InterruptHandle,
}

struct Inner {
    connection: Mutex<Connection>,
    catalog: Arc<Catalog>,
    limits: Limits,
}

fn catalog(connection: &Connection) -> Catalog {
    let mut tables: Vec<Table> = Vec::new();
    let sql = "SELECT m.name, c.name, c.type, c.\"notnull\" FROM sqlite_schema m, \
               pragma_table_info(m.name) c";
    let mut statement = connection.prepare(sql).unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let name: String = row.get(0).unwrap();
        let column = Column {
            name: row.get(1).unwrap(),
            sql_type: row.get(2).unwrap(),
            nullable: !row.get::<_, bool>(3).unwrap(),
            ..Column::default()
        };
        match tables.iter_mut().find(|table| table.name == name) {
            Some(table) => table.columns.push(column),
            None => tables.push(Table { name, columns: vec![column], ..Table::default() }),
        }
    }
    Catalog { database: "memory".to_owned(), dialect: Dialect::Ansi, tables }
}

impl Inner {
    fn guard(&self) -> Guard {
        Guard::new(Dialect::Ansi, self.limits.sql_bytes)
    }

    fn check(&self, query: &SqlQuery) -> Result<(Facts, String), SqlError> {
        let sql = self.guard().compose(query)?.text;
        match self.guard().facts(query, &self.catalog) {
            Ok(facts) => Ok((facts, sql)),
            Err(Unresolved::Unparsed(error) | Unresolved::Refused(error)) => Err(error),
        }
    }

    fn run(&self, sql: String) -> Result<ResultSet, SqlError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + self.limits.sql_deadline;
        let failed = |error: &Error| match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) if Instant::now() >= until => {
                SqlError::new(SqlErrorKind::Timeout, "the time is over").rule("deadline")
            }
            Some(ErrorCode::OperationInterrupted) => {
                SqlError::new(SqlErrorKind::Cancelled, "cancelled")
            }
            _ => SqlError::new(SqlErrorKind::Other, error.to_string()),
        };
        connection.progress_handler(1_000, Some(move || Instant::now() >= until)).unwrap();
        let mut statement = connection.prepare(&sql).map_err(|error| failed(&error))?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut columns: Vec<Vec<Cell>> = names.iter().map(|_| Vec::new()).collect();
        let mut bytes = 0;
        let mut warnings = Vec::new();
        let mut rows = statement.query([]).map_err(|error| failed(&error))?;
        while let Some(row) = rows.next().map_err(|error| failed(&error))? {
            let cells = (0..names.len()).map(|at| row.get(at)).collect::<Result<Vec<Cell>, _>>();
            let cells = cells.map_err(|error| failed(&error))?;
            for cell in &cells {
                let size = if let Cell::Text(text) = cell { text.len() } else { 0 };
                if size > self.limits.cell_bytes {
                    return Err(SqlError::new(SqlErrorKind::TooLarge, "a cell is too large")
                        .rule("cell-bytes"));
                }
                bytes += size + 24;
            }
            if columns.first().is_some_and(|column| column.len() as u64 >= self.limits.rows)
                || bytes > self.limits.result_bytes
            {
                warnings.push("the result was cut".to_owned());
                break;
            }
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        }
        let columns: Vec<ArrayRef> = columns.iter().map(|cells| array(cells)).collect();
        let fields = names
            .iter()
            .zip(&columns)
            .map(|(name, column)| Field::new(name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        Ok(ResultSet::new(schema, vec![batch], !warnings.is_empty(), warnings, sql))
    }
}

/// The column of one type that holds these cells; NULL where a cell has another type than the first
/// that is not NULL.
fn array(cells: &[Cell]) -> ArrayRef {
    let kind = cells.iter().find_map(|cell| match cell {
        Cell::Integer(_) => Some(DataType::Int64),
        Cell::Real(_) => Some(DataType::Float64),
        _ => None,
    });
    match kind {
        Some(DataType::Int64) => {
            Arc::new(Int64Array::from_iter(cells.iter().map(|cell| match cell {
                Cell::Integer(value) => Some(*value),
                _ => None,
            })))
        }
        Some(_) => Arc::new(Float64Array::from_iter(cells.iter().map(|cell| match cell {
            Cell::Real(value) => Some(*value),
            _ => None,
        }))),
        None => Arc::new(StringArray::from_iter(cells.iter().map(|cell| match cell {
            Cell::Text(text) => Some(text.as_str()),
            _ => None,
        }))),
    }
}

/// Interrupts the statement of a future that is dropped.
struct OnDrop<'a>(&'a InterruptHandle, bool);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.interrupt();
        }
    }
}

#[async_trait]
impl Database for Memory {
    fn name(&self) -> &str {
        "memory"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Ansi
    }

    async fn identity(&self) -> Option<String> {
        None
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::clone(&self.inner.catalog))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.inner.guard().compose(query).map(|spliced| spliced.text)
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        self.inner.check(query).map(|(facts, _)| facts)
    }

    async fn explain(&self, _: &SqlQuery) -> Result<Plan, SqlError> {
        Err(SqlError::new(SqlErrorKind::Other, "this engine has no plans"))
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let (_, sql) = self.inner.check(query)?;
        let inner = Arc::clone(&self.inner);
        let mut dropped = OnDrop(&self.interrupt, true);
        let result = tokio::task::spawn_blocking(move || inner.run(sql)).await.unwrap();
        dropped.1 = false;
        result
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl CellIndex for Memory {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        Err(PortError::Unsupported)
    }
}
