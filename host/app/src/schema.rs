//! A catalog as a document: `syrch.schema/1`.

use serde_json::{Value, json};
use syrch_core::{Catalog, Column, ForeignKey, Table};

/// The tables as the document `syrch.schema/1`, which `syrch-host schema --format json` prints.
#[must_use]
pub fn describe_tables(catalog: &Catalog, tables: &[&Table]) -> Value {
    json!({
        "schema": "syrch.schema/1",
        "database": catalog.database,
        "dialect": catalog.dialect.name(),
        "tables": tables.iter().map(|table| describe_table(table)).collect::<Vec<_>>(),
    })
}

fn describe_table(table: &Table) -> Value {
    json!({
        "name": table.name,
        "schema_name": table.schema_name,
        "kind": kind(table),
        "columns": table.columns.iter().map(describe_column).collect::<Vec<_>>(),
        "primary_key": table.primary_key,
        "foreign_keys": table.foreign_keys,
        "indexes": table.indexes,
        "row_estimate": table.row_estimate,
        "comment": table.comment,
    })
}

fn describe_column(column: &Column) -> Value {
    json!({
        "name": column.name,
        "type": column.sql_type,
        "nullable": column.nullable,
        "comment": column.comment,
        "values": column.values().map(|(values, _)| values),
    })
}

/// The word for the kind of a table: `table` or `view`.
#[must_use]
pub fn kind(table: &Table) -> &'static str {
    if table.is_view() { "view" } else { "table" }
}

/// Returns the columns that a column refers to, as `table.column`.
#[must_use]
pub fn references(table: &Table, column: &Column) -> Vec<String> {
    table
        .foreign_keys
        .iter()
        .flat_map(|key: &ForeignKey| {
            let pairs = key
                .columns
                .iter()
                .zip(&key.ref_columns)
                .filter(|(own, _)| own.eq_ignore_ascii_case(&column.name));
            pairs.map(|(_, other)| format!("{}.{other}", key.ref_table)).collect::<Vec<_>>()
        })
        .collect()
}
