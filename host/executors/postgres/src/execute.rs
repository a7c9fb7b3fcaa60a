//! Running one admitted statement in a transaction of its own, which only reads and is always
//! rolled back, into a result within its caps.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::TryStreamExt;
use syrch_arrow_engine::{BatchSink, cast_to_text, check_names, read_estimates};
use syrch_core::ports::Plan;
use syrch_core::{Limits, SqlError, SqlErrorKind};
use tokio_postgres::{Client, Error, IsolationLevel, Row, Statement, Transaction};

use crate::error;
use crate::session::Session;
use crate::value::{ColumnBuilder, Form, Raw, name};

/// The bytes that a cell counts for besides its contents: whoever prints a result needs memory for
/// each, even for a NULL.
const CELL: usize = 24;
/// The limit on what the server may send for the statement itself, its plan and its types, in
/// bytes.
const OWN: usize = 4 << 20;

/// A statement under way in a session.
pub(crate) struct Running<'a> {
    session: &'a mut Session,
    sql: &'a str,
    limits: &'a Limits,
}

impl<'a> Running<'a> {
    pub(crate) fn new(session: &'a mut Session, sql: &'a str, limits: &'a Limits) -> Self {
        let allowed = limits
            .result_bytes
            .saturating_add(limits.cell_bytes)
            .saturating_mul(2)
            .saturating_add(OWN);
        session.link.left.store(allowed, Ordering::Relaxed);
        Self { session, sql, limits }
    }

    /// Prepares the statement without running it.
    pub(crate) async fn check(self) -> Result<(), SqlError> {
        let sql = self.sql;
        let limits = self.limits;
        let preparing = |error: &Error| error::statement(error, sql, false, limits.sql_deadline);
        let transaction =
            begin(&mut self.session.link.client).await.map_err(|error| preparing(&error))?;
        let statement = transaction.prepare(sql).await.map_err(|error| preparing(&error))?;
        columns(&statement)?;
        transaction.rollback().await.map_err(|error| preparing(&error))
    }

    /// The server's plan of the statement, which does not run.
    pub(crate) async fn plan(self) -> Result<Plan, SqlError> {
        let limits = self.limits;
        let sql = format!("EXPLAIN {}", self.sql);
        let failed = |error: &Error| error::statement(error, &sql, false, limits.sql_deadline);
        let transaction =
            begin(&mut self.session.link.client).await.map_err(|error| failed(&error))?;
        let rows = transaction.query(&sql, &[]).await.map_err(|error| failed(&error))?;
        let plan = read_plan(&rows).map_err(|error| failed(&error))?;
        transaction.rollback().await.map_err(|error| failed(&error))?;
        Ok(plan)
    }

    /// Puts the result, cut at the caps, in a sink.
    pub(crate) async fn run(self, sink: &mut BatchSink) -> Result<(), SqlError> {
        let Self { session, sql, limits } = self;
        let left = Arc::clone(&session.link.left);
        let failed = |error: &Error| error::statement(error, sql, false, limits.sql_deadline);
        let running = |error: &Error| error::statement(error, sql, true, limits.sql_deadline);
        let Session { link, is_spent, .. } = session;
        let transaction = begin(&mut link.client).await.map_err(|error| failed(&error))?;
        let mut statement = transaction.prepare(sql).await.map_err(|error| failed(&error))?;
        let columns = columns(&statement)?;
        // What is read as the server spells it is cast by the server.
        let is_cast: Vec<bool> = columns.iter().map(|column| column.form.is_cast()).collect();
        let spelled = cast_to_text(sql, &is_cast, |name| format!("{name}::pg_catalog.text"));
        if let Some(spelled) = spelled {
            statement = transaction.prepare(&spelled).await.map_err(|error| running(&error))?;
        }
        let portal = transaction.bind(&statement, &[]).await.map_err(|error| running(&error))?;
        let most = i32::try_from(limits.rows.saturating_add(1)).unwrap_or(i32::MAX);
        let rows =
            transaction.query_portal_raw(&portal, most).await.map_err(|error| running(&error))?;
        let mut fetch = Fetch::new(columns, limits, sink);
        let mut rows = pin!(rows);
        // Until all that the server sends was read.
        *is_spent = true;
        let is_read = loop {
            match rows.try_next().await {
                Ok(Some(row)) if fetch.push(&row)? => {}
                Ok(Some(_)) => break false,
                Ok(None) => break true,
                Err(error) if left.load(Ordering::Relaxed) == 0 => {
                    fetch.overflow(&error)?;
                    break false;
                }
                Err(error) => {
                    *is_spent = error.as_db_error().is_none();
                    return Err(running(&error));
                }
            }
        };
        if is_read {
            transaction.rollback().await.map_err(|error| running(&error))?;
            *is_spent = false;
        }
        fetch.finish();
        Ok(())
    }
}

/// A transaction that only reads, with its snapshot taken, so that nothing can make it write any
/// more.
async fn begin(client: &mut Client) -> Result<Transaction<'_>, Error> {
    let builder = client.build_transaction();
    let transaction =
        builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true).start().await?;
    transaction.query_typed("SELECT 1", &[]).await?;
    Ok(transaction)
}

/// The plan in the lines of `EXPLAIN`.
///
/// # Errors
/// When they are not text.
pub(crate) fn read_plan(rows: &[Row]) -> Result<Plan, Error> {
    let lines =
        rows.iter().map(|row| row.try_get::<_, String>(0)).collect::<Result<Vec<_>, _>>()?;
    let text = lines.join("\n");
    let (cost, rows) = read_estimates(&text);
    Ok(Plan { format: "postgres-explain".to_owned(), text, cost, rows })
}

/// A column of a result: its name, the name of its type, and how it is read.
struct Output {
    name: String,
    sql_type: String,
    form: Form,
}

fn columns(statement: &Statement) -> Result<Vec<Output>, SqlError> {
    if !statement.params().is_empty() {
        return Err(SqlError::new(
            SqlErrorKind::Denied,
            "parameters cannot be bound: write the value",
        )
        .rule("parameters"));
    }
    let columns: Vec<Output> = statement
        .columns()
        .iter()
        .map(|column: &tokio_postgres::Column| Output {
            name: column.name().to_owned(),
            sql_type: name(column.type_()),
            form: Form::for_type(column.type_()),
        })
        .collect();
    check_names(columns.iter().map(|column| column.name.len() + column.sql_type.len()))?;
    Ok(columns)
}

/// A result under construction.
struct Fetch<'a> {
    outputs: Vec<Output>,
    columns: Vec<ColumnBuilder>,
    limits: &'a Limits,
    rows: u64,
    bytes: usize,
    sink: &'a mut BatchSink,
}

impl<'a> Fetch<'a> {
    fn new(outputs: Vec<Output>, limits: &'a Limits, sink: &'a mut BatchSink) -> Self {
        let columns = outputs.iter().map(|output| ColumnBuilder::new(output.form)).collect();
        Self { outputs, columns, limits, rows: 0, bytes: 0, sink }
    }

    /// Takes a row; false when a cap cuts the result before it.
    fn push(&mut self, row: &Row) -> Result<bool, SqlError> {
        if self.rows >= self.limits.rows {
            self.sink.cut(format!("only the first {} rows were read", self.limits.rows));
            return Ok(false);
        }
        fn value_error() -> SqlError {
            SqlError::new(
                SqlErrorKind::Other,
                "the server sent a value that its type does not have",
            )
        }
        let mut bytes = 0;
        // Each cell goes straight to its column. Those of a row that does not fit are cut off at
        // the end.
        for (index, column) in self.columns.iter_mut().enumerate() {
            let cell = row
                .try_get::<_, Option<Raw<'_>>>(index)
                .map_err(|_| value_error())?
                .map(|raw| raw.0);
            let size = cell.map_or(0, <[u8]>::len);
            if size > self.limits.cell_bytes {
                return Err(large_cell(Some(size), self.limits));
            }
            bytes += column.push(cell).ok_or_else(value_error)? + CELL;
        }
        // A column's text is addressed with 32 bits.
        let most = self.limits.result_bytes.min(1 << 30);
        if self.bytes + bytes > most {
            self.sink.cut(format!(
                "only the first {} rows were read: the result has more than {most} bytes",
                self.rows
            ));
            return Ok(false);
        }
        self.bytes += bytes;
        self.rows += 1;
        Ok(true)
    }

    /// The server sent more than is read: the rows before stay, unless a single row is that large.
    fn overflow(&mut self, error: &Error) -> Result<(), SqlError> {
        tracing::debug!(error = error::plain(error), "a result is larger than may be read");
        if self.rows == 0 {
            return Err(large_cell(None, self.limits));
        }
        self.sink
            .cut(format!("only the first {} rows were read: the next one is too large", self.rows));
        Ok(())
    }

    fn finish(self) {
        let rows = usize::try_from(self.rows).unwrap_or(usize::MAX);
        let columns = self.columns.into_iter().map(|column| column.finish(rows)).collect();
        let names = self.outputs.into_iter().map(|output| (output.name, output.sql_type));
        self.sink.put(names.collect(), columns, self.rows);
    }
}

fn large_cell(bytes: Option<usize>, limits: &Limits) -> SqlError {
    let what = bytes.map_or_else(|| "a row".to_owned(), |bytes| format!("a cell of {bytes} bytes"));
    let message = format!("{what} is too large: a cell may have {} bytes", limits.cell_bytes);
    SqlError::new(SqlErrorKind::TooLarge, message).rule("cell-bytes")
}
