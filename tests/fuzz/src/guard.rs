//! The guard of the engines that have no authorizer of their own.

use std::collections::BTreeSet;

use syrch_core::ports::{Relation, SqlQuery};
use syrch_core::{Catalog, Column, Dialect, SqlError, Table};
use syrch_guard::{Admitted, Granted, Guard, Kind, lex};

/// Bytes of a statement at most.
const BYTES: usize = 64 << 10;
/// The factor by which what is written again may be longer than the statement, and the bytes that
/// may be added to it: each name gets quotes and the parts before it, and each operand parentheses.
const GROWTH: usize = 64;
/// Bytes of the message of a refusal at most, with the hint behind it.
const MESSAGE: usize = SqlError::MESSAGE + 256;
/// Begins another task: a line with its name, and its statement.
const TASK: char = '\u{c}';

/// Words that only a statement that writes or locks has outside of quotes; every name that the
/// guard writes is in quotes.
const WRITES: [&str; 18] = [
    "alter", "analyze", "attach", "call", "copy", "create", "delete", "drop", "execute", "export",
    "grant", "import", "insert", "into", "merge", "pragma", "truncate", "update",
];

/// Functions that read files, settings or other databases, wait, or run code.
const HARMFUL: [&str; 24] = [
    "ai_query",
    "current_setting",
    "dblink",
    "getvariable",
    "http_request",
    "java_method",
    "load_extension",
    "lo_import",
    "parquet_scan",
    "pg_advisory_lock",
    "pg_read_file",
    "pg_sleep",
    "pg_terminate_backend",
    "query_to_xml",
    "read_csv",
    "read_files",
    "read_parquet",
    "read_text",
    "reflect",
    "secret",
    "set_config",
    "sqlite_scan",
    "try_reflect",
    "writefile",
];

pub(crate) fn check_ansi(input: &[u8]) {
    check(Dialect::Ansi, input);
}

pub(crate) fn check_databricks(input: &[u8]) {
    check(Dialect::Databricks, input);
}

pub(crate) fn check_duckdb(input: &[u8]) {
    check(Dialect::Duckdb, input);
}

pub(crate) fn check_postgres(input: &[u8]) {
    check(Dialect::Postgres, input);
}

pub(crate) fn check_spark(input: &[u8]) {
    check(Dialect::Spark, input);
}

/// The tables that statements may read.
pub(crate) fn catalog(dialect: Dialect, schema: &str) -> Catalog {
    let tables: [(&str, &[&str]); 3] = [
        ("customers", &["id", "name", "city"]),
        ("orders", &["id", "customer_id", "total", "ordered_on"]),
        ("events", &["id", "payload"]),
    ];
    let tables = tables.map(|(name, columns)| Table {
        schema_name: Some(schema.to_owned()),
        name: name.to_owned(),
        columns: columns
            .iter()
            .map(|name| Column { name: (*name).to_owned(), ..Column::default() })
            .collect(),
        ..Table::default()
    });
    Catalog { database: "shop".to_owned(), dialect, tables: tables.into() }
}

/// The query of an input: the statement, and the tasks that it may name.
pub(crate) fn query(input: &[u8]) -> SqlQuery {
    let text = String::from_utf8_lossy(input);
    let mut parts = text.split(TASK);
    let statement = parts.next().unwrap_or_default();
    let relations = parts.take(4).map(|part| {
        let (name, sql) = part.split_once('\n').unwrap_or(("task", part));
        Relation { name: name.to_owned(), sql: sql.to_owned(), columns: Vec::new() }
    });
    SqlQuery { relations: relations.collect(), ..SqlQuery::new(statement) }
}

fn check(dialect: Dialect, input: &[u8]) {
    let schema = if dialect == Dialect::Postgres { "public" } else { "main" };
    let catalog = catalog(dialect.clone(), schema);
    let granted = Granted::new(&catalog, vec![schema.to_owned()]);
    let granted = match dialect {
        Dialect::Databricks => granted.in_catalog("shop"),
        _ => granted,
    };
    let guard = Guard::new(dialect.clone(), BYTES);
    let query = query(input);
    check_composed(&guard, &query);
    let facts = guard.facts(&query, &catalog);
    let admitted = check_admitted(&guard, &granted, &dialect, &query);
    // Facts of a query leave the tables of its tasks to these.
    if let Some(admitted) = admitted.filter(|_| query.relations.is_empty()) {
        let again = guard.facts(&SqlQuery::new(&admitted.sql), &catalog);
        if let (Ok(facts), Ok(again)) = (facts, again) {
            assert_eq!(plain_names(&facts.tables), plain_names(&again.tables), "{}", admitted.sql);
        }
    }
}

/// The last parts of the names of tables.
fn plain_names(tables: &[String]) -> BTreeSet<&str> {
    tables.iter().filter_map(|table| table.rsplit('.').next()).collect()
}

/// Checks that composing what is composed changes nothing.
pub(crate) fn check_composed(guard: &Guard, query: &SqlQuery) {
    match guard.compose(query) {
        Ok(spliced) => {
            let all = query.relations.iter().map(|relation| relation.sql.len() + 64);
            let most = GROWTH * (64 + query.text.len() + all.sum::<usize>());
            assert!(spliced.text.len() <= most, "{} bytes", spliced.text.len());
            // A task's statement may be one that is refused.
            match guard.compose(&SqlQuery::new(&spliced.text)) {
                Ok(again) => assert_eq!(again.text, spliced.text, "{query:?}"),
                Err(error) => assert!(!query.relations.is_empty(), "{error:?}: {query:?}"),
            }
        }
        Err(error) => check_refusal(query, &error),
    }
}

/// Checks that what is admitted is one read of granted tables, that it is written in one way, and
/// that a refusal names its rule. Returns what is admitted.
pub(crate) fn check_admitted(
    guard: &Guard,
    granted: &Granted,
    dialect: &Dialect,
    query: &SqlQuery,
) -> Option<Admitted> {
    let admitted = match guard.admit(query, granted) {
        Ok(admitted) => admitted,
        Err(error) => {
            check_refusal(query, &error);
            return None;
        }
    };
    let again = guard.admit(&SqlQuery::new(&admitted.sql), granted);
    assert_eq!(again.as_ref(), Ok(&admitted), "{query:?}");
    let sql = &admitted.sql;
    let length: usize = query.relations.iter().map(|relation| relation.sql.len()).sum();
    let most = GROWTH * (64 + length + query.text.len());
    assert!(sql.len() <= most, "{} bytes of {query:?}", sql.len());
    for table in &admitted.tables {
        let name = table.rsplit('.').next().unwrap_or_default();
        assert!(["customers", "orders", "events"].contains(&name), "`{table}` in {sql}");
    }
    for function in &admitted.functions {
        assert!(!HARMFUL.contains(&function.as_str()), "`{function}` in {sql}");
    }
    let tokens = lex(sql, dialect, 0).expect("what is admitted has no open quote and no comment");
    for token in tokens.iter().filter(|token| token.is_significant()) {
        let text = token.text(sql);
        assert!(text != ";", "{sql}");
        // Names stay without quotes in the SQL of the standard, since an engine may fold them.
        let writes = WRITES.iter().any(|word| text.eq_ignore_ascii_case(word));
        let is_name = token.kind != Kind::Word || *dialect == Dialect::Ansi;
        // DuckDB's `UNPIVOT … INTO NAME` writes nothing.
        let is_unpivot = *dialect == Dialect::Duckdb
            && text.eq_ignore_ascii_case("into")
            && sql.to_ascii_lowercase().contains("unpivot");
        assert!(is_name || is_unpivot || !writes, "`{text}` in {sql}");
    }
    Some(admitted)
}

/// Checks that a refusal names its rule and a place of the statement, in a bounded message.
fn check_refusal(query: &SqlQuery, error: &SqlError) {
    let named = error.rule.as_deref().is_some_and(|rule| !rule.is_empty());
    assert!(named, "without a rule: {error:?}");
    assert!(error.message.len() <= MESSAGE, "{} bytes: {error:?}", error.message.len());
    assert!(!error.message.contains('\0'), "{error:?}");
    if let Some(position) = error.position.filter(|_| query.relations.is_empty()) {
        let is_place = query.text.is_char_boundary(position as usize);
        assert!(is_place, "byte {position} of {query:?}: {error:?}");
    }
}
