//! The database of the mock: SQLite, with an `information_schema` made from its own catalog.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::{CATALOG, SCHEMA};

/// The functions that the engine has and SQLite lacks, each as SQLite writes it.
const SPELLINGS: [(&str, &str); 7] = [
    ("current_catalog()", "'main'"),
    ("current_schema()", "'shop'"),
    ("current_user()", "'reader@example.com'"),
    ("current_version().dbsql_version", "'2025.15'"),
    ("is_account_group_member(grantee)", "0"),
    ("`main`.", ""),
    ("pg_catalog.", ""),
];

/// Tables of the information schema that are empty at first.
const TABLES: &str = "
    CREATE TABLE information_schema.tables(table_catalog, table_schema, table_name, \
      table_type, comment);
    CREATE TABLE information_schema.columns(table_catalog, table_schema, table_name, column_name, \
      ordinal_position, is_nullable, full_data_type, comment);
    CREATE TABLE information_schema.key_column_usage(constraint_catalog, constraint_schema, \
      constraint_name, table_catalog, table_schema, table_name, column_name, ordinal_position, \
      position_in_unique_constraint);
    CREATE TABLE information_schema.referential_constraints(constraint_catalog, constraint_schema, \
      constraint_name, unique_constraint_catalog, unique_constraint_schema, unique_constraint_name);
    CREATE TABLE information_schema.catalog_privileges(grantee, privilege_type);
    CREATE TABLE information_schema.schema_privileges(grantee, privilege_type, schema_name);
    CREATE TABLE information_schema.table_privileges(grantee, privilege_type, table_schema, \
      table_name);";

/// Opens a file as the schema, and describes it.
pub(super) fn open(file: &Path) -> Connection {
    let connection = Connection::open_with_flags(":memory:", OpenFlags::default())
        .expect("SQLite opens in memory");
    connection
        .execute("ATTACH ?1 AS shop", [file.to_string_lossy()])
        .expect("the file can be attached");
    connection
        .execute_batch("ATTACH ':memory:' AS information_schema")
        .expect("a schema can be attached");
    connection.execute_batch(TABLES).expect("the information schema can be made");
    let fill = format!(
        "INSERT INTO information_schema.tables SELECT '{CATALOG}', '{SCHEMA}', name, CASE type \
         WHEN 'view' THEN 'VIEW' ELSE 'MANAGED' END, NULL
           FROM shop.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%';
         INSERT INTO information_schema.columns SELECT '{CATALOG}', '{SCHEMA}', t.table_name, \
           c.name, c.cid, CASE WHEN c.\"notnull\" OR c.pk THEN 'NO' ELSE 'YES' END,
             CASE WHEN c.type LIKE '%INT%' THEN 'bigint' WHEN c.type LIKE '%REAL%' THEN 'double' \
               WHEN c.type LIKE '%BLOB%' THEN 'binary' ELSE 'string' END, NULL
           FROM information_schema.tables t, pragma_table_info(t.table_name, 'shop') c;
         INSERT INTO information_schema.key_column_usage SELECT '{CATALOG}', '{SCHEMA}', \
           t.table_name || '_pk', '{CATALOG}', '{SCHEMA}', t.table_name, c.name, c.pk, NULL
           FROM information_schema.tables t, pragma_table_info(t.table_name, 'shop') c \
             WHERE c.pk > 0;
         INSERT INTO information_schema.key_column_usage SELECT '{CATALOG}', '{SCHEMA}', \
           t.table_name || '_fk' || f.id, '{CATALOG}', '{SCHEMA}', t.table_name, f.\"from\", \
           f.seq + 1, f.seq + 1
           FROM information_schema.tables t, pragma_foreign_key_list(t.table_name, 'shop') f;
         INSERT INTO information_schema.referential_constraints SELECT DISTINCT '{CATALOG}', \
           '{SCHEMA}', t.table_name || '_fk' || f.id, '{CATALOG}', '{SCHEMA}', f.\"table\" || '_pk'
           FROM information_schema.tables t, pragma_foreign_key_list(t.table_name, 'shop') f;"
    );
    connection.execute_batch(&fill).expect("the information schema can be filled");
    connection
}

/// The kinds of columns, with the names of their types.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Long,
    Double,
    Text,
    Binary,
}

impl Kind {
    /// The base type and the whole type.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Long => ("LONG", "BIGINT"),
            Self::Double => ("DOUBLE", "DOUBLE"),
            Self::Text => ("STRING", "STRING"),
            Self::Binary => ("BINARY", "BINARY"),
        }
    }
}

/// A result: its columns with their kinds, and its rows.
pub(super) struct Table {
    pub(super) columns: Vec<(String, Kind)>,
    pub(super) rows: Vec<Vec<Value>>,
}

/// An error of the engine: its SQLSTATE and message.
pub(super) struct EngineError(pub(super) &'static str, pub(super) String);

/// Runs a statement on SQLite after translating Databricks' spellings; EXPLAIN gives a fixed plan.
pub(super) fn run(connection: &Connection, sql: &str) -> Result<Table, EngineError> {
    let sql =
        SPELLINGS.iter().fold(sql.to_owned(), |sql, (ours, theirs)| sql.replace(ours, theirs));
    let explained = ["EXPLAIN COST ", "EXPLAIN FORMATTED ", "EXPLAIN "]
        .iter()
        .find_map(|word| sql.strip_prefix(word));
    let mut statement =
        connection.prepare(explained.unwrap_or(&sql)).map_err(|error| engine_error(&error))?;
    if explained.is_some() {
        let lines = [
            "== Optimized Logical Plan ==",
            "Scan, Statistics(sizeInBytes=8.0 B, rowCount=4)",
            "",
            "== Physical Plan ==",
            "Scan",
        ];
        let rows = vec![vec![Value::Text(lines.join("\n"))]];
        return Ok(Table { columns: vec![("plan".to_owned(), Kind::Text)], rows });
    }
    let declared: Vec<(String, Option<String>)> = statement
        .columns()
        .map(|column| (column.name().to_owned(), column.decl_type().map(str::to_ascii_uppercase)))
        .collect();
    let count = declared.len();
    let mut rows = Vec::new();
    let mut cursor = statement.query([]).map_err(|error| engine_error(&error))?;
    while let Some(row) = cursor.next().map_err(|error| engine_error(&error))? {
        rows.push(
            (0..count)
                .map(|at| row.get::<_, Value>(at).expect("a cell has a value"))
                .collect::<Vec<_>>(),
        );
    }
    let kind = |at: usize, declared: &Option<String>| match declared.as_deref() {
        Some(text) if text.contains("INT") => Kind::Long,
        Some(text) if text.contains("REAL") => Kind::Double,
        Some(text) if text.contains("BLOB") => Kind::Binary,
        Some(_) => Kind::Text,
        None => match rows.iter().map(|row| &row[at]).find(|cell| **cell != Value::Null) {
            Some(Value::Integer(_)) => Kind::Long,
            Some(Value::Real(_)) => Kind::Double,
            Some(Value::Blob(_)) => Kind::Binary,
            _ => Kind::Text,
        },
    };
    let columns = declared
        .iter()
        .enumerate()
        .map(|(at, (name, text))| (name.clone(), kind(at, text)))
        .collect();
    Ok(Table { columns, rows })
}

fn engine_error(error: &rusqlite::Error) -> EngineError {
    let text = match error {
        rusqlite::Error::SqlInputError { msg, .. }
        | rusqlite::Error::SqliteFailure(_, Some(msg)) => msg.clone(),
        other => other.to_string(),
    };
    let (state, class) = match text.as_str() {
        text if text.contains("no such table") => ("42P01", "TABLE_OR_VIEW_NOT_FOUND"),
        text if text.contains("no such column") => {
            ("42703", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION")
        }
        text if text.contains("syntax error") => ("42601", "PARSE_SYNTAX_ERROR"),
        _ => ("XX000", "INTERNAL_ERROR"),
    };
    let name = text.rsplit(": ").next().unwrap_or_default().to_owned();
    EngineError(
        state,
        format!(
            "[{class}] A name or word cannot be resolved: `{name}`. SQLSTATE: {state}; line 1 pos \
             1;\n'Project"
        ),
    )
}

impl Table {
    /// A cell as JSON has it.
    pub(super) fn text(cell: &Value) -> Option<String> {
        match cell {
            Value::Null => None,
            Value::Integer(number) => Some(number.to_string()),
            Value::Real(number) => Some(format!("{number:?}")),
            Value::Text(text) => Some(text.clone()),
            Value::Blob(bytes) => Some(STANDARD.encode(bytes)),
        }
    }

    /// Some of the rows as an Arrow stream, in two batches.
    pub(super) fn stream(&self, rows: &[Vec<Value>]) -> Vec<u8> {
        let schema = Arc::new(Schema::new(
            self.columns
                .iter()
                .map(|(name, kind): &(String, Kind)| {
                    let data_type = match kind {
                        Kind::Long => DataType::Int64,
                        Kind::Double => DataType::Float64,
                        Kind::Text => DataType::Utf8,
                        Kind::Binary => DataType::Binary,
                    };
                    Field::new(name, data_type, true)
                })
                .collect::<Vec<_>>(),
        ));
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema)
            .expect("a stream can be begun");
        for rows in rows.chunks(rows.len().div_ceil(2).max(1)) {
            let columns = self
                .columns
                .iter()
                .enumerate()
                .map(|(at, (_, kind))| array(rows, at, *kind))
                .collect();
            let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
            let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), columns, &options);
            writer.write(&batch.expect("columns fit")).expect("a batch can be written");
        }
        writer.into_inner().expect("the stream ends")
    }
}

fn array(rows: &[Vec<Value>], at: usize, kind: Kind) -> ArrayRef {
    let cells = || rows.iter().map(|row| &row[at]);
    match kind {
        Kind::Long => Arc::new(
            cells()
                .map(|cell| if let Value::Integer(number) = cell { Some(*number) } else { None })
                .collect::<Int64Array>(),
        ),
        Kind::Double => Arc::new(
            cells()
                .map(|cell: &Value| match cell {
                    Value::Real(number) => Some(*number),
                    Value::Integer(number) => Some(*number as f64),
                    _ => None,
                })
                .collect::<Float64Array>(),
        ),
        Kind::Text => Arc::new(cells().map(Table::text).collect::<StringArray>()),
        Kind::Binary => Arc::new(
            cells()
                .map(
                    |cell| {
                        if let Value::Blob(bytes) = cell { Some(bytes.as_slice()) } else { None }
                    },
                )
                .collect::<BinaryArray>(),
        ),
    }
}
