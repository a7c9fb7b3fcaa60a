//! The catalog of the session: its databases, their tables and views, and each one's columns.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, SchemaRef};
use futures::{StreamExt, TryStreamExt, stream};
use globset::GlobSet;
use proto::catalog::CatType;
use syrch_arrow_engine::{LeftOut, Schema};
use syrch_core::ports::DatabaseError;
use syrch_core::result_set::memory_size;
use syrch_core::{Column, Dialect, SqlError, SqlErrorKind, Table};
use tokio::time::Instant;

use crate::connect::Connection;
use crate::execute::{Receiver, Stopped, catalog, query, run};
use crate::proto::spark_connect as proto;
use crate::value::{comment, sql_type, text, texts};

/// Bytes of the catalog's names, types and comments.
const BYTES: usize = 64 << 20;
/// Bytes that a table, a column or what is left out takes besides its texts.
const ENTRY: usize = 256;
/// Bytes of the name of a database, of which each of its tables has a copy.
const NAME: usize = 64 << 10;
/// Tables and views of all databases.
const TABLES: usize = 20_000;
/// Tables that are described at once.
const AT_ONCE: usize = 8;
/// The reason of an error where there are more than [`BYTES`].
const TOO_LARGE: &str = "its catalog has more than 64 MiB";
/// The time limit for one request of the catalog.
const QUESTION: Duration = Duration::from_secs(60);
/// The time limit for all requests of the catalog together.
const ALL: Duration = Duration::from_secs(300);

/// The rows of one answer, or with no row the columns of a table.
#[derive(Default)]
struct Answer {
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
    bytes: usize,
    rows: usize,
}

impl Receiver for Answer {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), SqlError> {
        self.schema = Some(Arc::clone(schema));
        Ok(())
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<ControlFlow<()>, SqlError> {
        self.bytes += memory_size(std::slice::from_ref(batch));
        if self.bytes > BYTES {
            return Err(SqlError::new(SqlErrorKind::TooLarge, TOO_LARGE));
        }
        // Rows of no column, or of NULL alone, have no bytes.
        self.rows = self.rows.saturating_add(batch.num_rows());
        if self.rows > TABLES {
            let message = format!("a list of the catalog has more than {TABLES} rows");
            return Err(SqlError::new(SqlErrorKind::TooLarge, message));
        }
        if batch.num_rows() > 0 {
            self.batches.push(batch.clone());
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Answer {
    /// The rows, each as a batch and the number in it.
    fn rows(&self) -> impl Iterator<Item = (&RecordBatch, usize)> {
        self.batches.iter().flat_map(|batch| (0..batch.num_rows()).map(move |row| (batch, row)))
    }

    fn text(batch: &RecordBatch, column: usize, row: usize) -> Option<&str> {
        text(batch.columns().get(column)?, row)
    }
}

/// Reads the catalog within [`ALL`].
struct Reader<'a> {
    connection: &'a Arc<Connection>,
    globs: Option<&'a GlobSet>,
    until: Instant,
}

/// A table or view as the list of a database has it.
struct Listed {
    schema: Arc<str>,
    name: String,
    comment: Option<String>,
    is_view: bool,
}

impl Reader<'_> {
    fn catalog_error(&self, stopped: Stopped) -> DatabaseError {
        let path = self.connection.target.display_address();
        match stopped {
            Stopped::Server(failure) => failure.opening(path),
            Stopped::Client(error) => DatabaseError::Unavailable { path, reason: error.message },
            Stopped::Deadline => DatabaseError::Unavailable {
                path,
                reason: "its catalog could not be read in time".to_owned(),
            },
        }
    }

    async fn ask(&self, plan: &proto::Plan) -> Result<Answer, Stopped> {
        let mut answer = Answer::default();
        let deadline = (Instant::now() + QUESTION).min(self.until);
        run(self.connection, plan, deadline, &mut answer).await?;
        Ok(answer)
    }

    async fn tables(&self, schema: String) -> Result<(Vec<Listed>, Vec<LeftOut>), DatabaseError> {
        let question = proto::ListTables { db_name: Some(schema.clone()) };
        let answer = match self.ask(&catalog(CatType::ListTables(question))).await {
            Ok(answer) => answer,
            Err(Stopped::Server(failure)) if failure.is_answer() => {
                let reason = failure.analysing().message;
                return Ok((Vec::new(), vec![LeftOut { schema, name: "*".to_owned(), reason }]));
            }
            Err(stopped) => return Err(self.catalog_error(stopped)),
        };
        let mut tables = Vec::new();
        let mut left_out = Vec::new();
        // One text for all tables: a server may give it any length.
        let schema: Arc<str> = schema.into();
        for (batch, row) in answer.rows() {
            let Some(name) = Answer::text(batch, 0, row).map(str::to_owned) else { continue };
            let namespace =
                batch.columns().get(2).map(|column| texts(column, row)).unwrap_or_default();
            // Temporary views of the session stand in every list.
            let is_temporary = batch.columns().get(5).is_some_and(|column| {
                matches!(column.data_type(), DataType::Boolean) && column.as_boolean().value(row)
            });
            if is_temporary {
                continue;
            }
            if namespace.len() > 1 {
                let reason = "namespaces in namespaces are not supported".to_owned();
                left_out.push(LeftOut { schema: namespace.join("."), name, reason });
                continue;
            }
            let comment = Answer::text(batch, 3, row)
                .filter(|comment| !comment.is_empty())
                .map(str::to_owned);
            let is_view = Answer::text(batch, 4, row) == Some("VIEW");
            tables.push(Listed { schema: Arc::clone(&schema), name, comment, is_view });
        }
        Ok((tables, left_out))
    }

    /// The columns of a table, by a query that reads no row. A table that no pattern names gets
    /// none.
    async fn describe_table(
        &self,
        listed: Listed,
    ) -> Result<Result<Table, LeftOut>, DatabaseError> {
        let Listed { schema, name, comment: own, is_view } = listed;
        let schema = schema.to_string();
        let mut columns = Vec::new();
        let full = format!("{schema}.{name}");
        if self.globs.is_none_or(|globs| globs.is_match(&name) || globs.is_match(&full)) {
            let quoted = |name: &str| Dialect::Spark.quote(name);
            let sql = format!("SELECT * FROM {}.{}", quoted(&schema), quoted(&name));
            match self.ask(&query(&sql, Some(0))).await {
                Ok(answer) => {
                    let fields = answer.schema.iter().flat_map(|schema| schema.fields());
                    columns.extend(fields.map(|field| Column {
                        name: field.name().clone(),
                        sql_type: sql_type(field.data_type()),
                        nullable: field.is_nullable(),
                        comment: comment(field),
                        ..Column::default()
                    }));
                }
                Err(Stopped::Server(failure)) if failure.is_answer() => {
                    let reason = failure.analysing().message;
                    tracing::warn!(schema, name, reason, "a table or view is left out");
                    return Ok(Err(LeftOut { schema, name, reason }));
                }
                Err(stopped) => return Err(self.catalog_error(stopped)),
            }
        }
        let extra =
            is_view.then(|| ("kind".to_owned(), "\"view\"".to_owned())).into_iter().collect();
        Ok(Ok(Table {
            schema_name: Some(schema),
            name,
            columns,
            comment: own,
            extra,
            ..Table::default()
        }))
    }
}

/// The database in which names without one are searched.
///
/// # Errors
/// When the server cannot be asked.
pub(crate) async fn current(connection: &Arc<Connection>) -> Result<String, DatabaseError> {
    let reader = Reader { connection, globs: None, until: Instant::now() + QUESTION };
    let answer = reader.ask(&catalog(CatType::CurrentDatabase(proto::CurrentDatabase {}))).await;
    let answer = answer.map_err(|stopped| reader.catalog_error(stopped))?;
    let name =
        answer.rows().find_map(|(batch, row)| Answer::text(batch, 0, row).map(str::to_owned));
    name.ok_or_else(|| {
        let reason = "the server names no current database".to_owned();
        DatabaseError::Unavailable { path: connection.target.display_address(), reason }
    })
}

/// Reads the catalog. Only tables that `globs` names have columns.
///
/// # Errors
/// When the server cannot be asked, or the catalog is too large.
pub(crate) async fn read(
    connection: &Arc<Connection>,
    globs: Option<&GlobSet>,
) -> Result<Schema, DatabaseError> {
    let reader = Reader { connection, globs, until: Instant::now() + ALL };
    fn too_large(connection: &Arc<Connection>, what: String) -> DatabaseError {
        DatabaseError::Unavailable {
            path: connection.target.display_address(),
            reason: format!("{what}; name those to see by --tables"),
        }
    }
    let databases = reader.ask(&catalog(CatType::ListDatabases(proto::ListDatabases {}))).await;
    let databases = databases.map_err(|stopped| reader.catalog_error(stopped))?;
    let names: Vec<String> = databases
        .rows()
        .filter_map(|(batch, row)| Answer::text(batch, 0, row).map(str::to_owned))
        .collect();
    drop(databases);
    if names.iter().any(|name| name.len() > NAME) {
        return Err(too_large(
            connection,
            format!("the name of a database has more than {} KiB", NAME >> 10),
        ));
    }
    let mut lists =
        stream::iter(names.into_iter().map(|name| reader.tables(name))).buffered(AT_ONCE);
    let mut listed = Vec::new();
    let mut schema = Schema::default();
    let mut bytes = 0;
    while let Some((tables, left_out)) = lists.try_next().await? {
        bytes += tables
            .iter()
            .map(|table| table.name.len() + table.comment.as_ref().map_or(0, String::len))
            .sum::<usize>();
        bytes += left_out.iter().map(left_out_size).sum::<usize>();
        listed.extend(tables);
        schema.left_out.extend(left_out);
        if bytes > BYTES {
            return Err(too_large(connection, TOO_LARGE.to_owned()));
        }
        if listed.len() + schema.left_out.len() > TABLES {
            return Err(too_large(
                connection,
                format!("its catalog has more than {TABLES} tables"),
            ));
        }
    }
    drop(lists);
    let mut described = stream::iter(listed.into_iter().map(|table| reader.describe_table(table)))
        .buffered(AT_ONCE);
    let mut bytes = 0;
    while let Some(found) = described.try_next().await? {
        match found {
            Ok(table) => {
                bytes += size(&table);
                schema.tables.push(table);
            }
            Err(left_out) => {
                bytes += left_out_size(&left_out);
                schema.left_out.push(left_out);
            }
        }
        if bytes > BYTES {
            return Err(too_large(connection, TOO_LARGE.to_owned()));
        }
    }
    drop(described);
    schema.path = vec![current(connection).await?];
    Ok(schema)
}

fn size(table: &Table) -> usize {
    let own = ENTRY
        + table.schema_name.as_ref().map_or(0, String::len)
        + table.name.len()
        + table.comment.as_ref().map_or(0, String::len);
    own + table
        .columns
        .iter()
        .map(|column: &Column| {
            ENTRY
                + column.name.len()
                + column.sql_type.len()
                + column.comment.as_ref().map_or(0, String::len)
        })
        .sum::<usize>()
}

fn left_out_size(left_out: &LeftOut) -> usize {
    ENTRY + left_out.schema.len() + left_out.name.len() + left_out.reason.len()
}

#[cfg(test)]
mod tests {
    use arrow_array::RecordBatchOptions;
    use arrow_schema::Schema as ArrowSchema;

    use super::*;

    #[test]
    fn rows_that_cost_a_server_no_bytes_are_counted() {
        let batch = |rows| {
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            RecordBatch::try_new_with_options(Arc::new(ArrowSchema::empty()), Vec::new(), &options)
                .unwrap()
        };
        let mut answer = Answer::default();
        assert!(answer.push(&batch(TABLES)).is_ok());
        assert_eq!(answer.push(&batch(1)).unwrap_err().kind, SqlErrorKind::TooLarge);
        assert_eq!(
            Answer::default().push(&batch(usize::MAX)).unwrap_err().kind,
            SqlErrorKind::TooLarge
        );
    }
}
