//! The schema of a database of the program, which its adapter writes as JSON.

use serde::Deserialize;
use syrch::own::engine::Schema;
use syrch::syrch_core::{Column, ForeignKey, Table};

/// A schema.
#[derive(Deserialize)]
struct Written {
    tables: Vec<WrittenTable>,
    #[serde(default)]
    path: Vec<String>,
}

#[derive(Deserialize)]
struct WrittenTable {
    name: String,
    #[serde(default)]
    schema: Option<String>,
    columns: Vec<WrittenColumn>,
    #[serde(default)]
    primary_key: Vec<String>,
    #[serde(default)]
    foreign_keys: Vec<WrittenKey>,
    #[serde(default)]
    comment: Option<String>,
    #[serde(default)]
    is_view: bool,
}

#[derive(Deserialize)]
struct WrittenColumn {
    name: String,
    #[serde(default, rename = "type")]
    sql_type: String,
    #[serde(default = "allows_null")]
    nullable: bool,
    #[serde(default)]
    comment: Option<String>,
}

#[derive(Deserialize)]
struct WrittenKey {
    columns: Vec<String>,
    table: String,
    ref_columns: Vec<String>,
}

fn allows_null() -> bool {
    true
}

/// Reads a schema.
///
/// # Errors
/// When it is not one; the text names the place.
pub(crate) fn read(json: &str) -> Result<Schema, serde_json::Error> {
    let Written { tables, path } = serde_json::from_str(json)?;
    let tables = tables.into_iter().map(WrittenTable::into_table).collect();
    Ok(Schema { tables, path, ..Schema::default() })
}

impl WrittenTable {
    fn into_table(self) -> Table {
        let Self { name, schema, columns, primary_key, foreign_keys, comment, is_view } = self;
        let columns = columns.into_iter().map(|column| Column {
            name: column.name,
            sql_type: column.sql_type,
            nullable: column.nullable,
            comment: column.comment,
            ..Column::default()
        });
        let keys =
            foreign_keys.into_iter().filter(|key| key.columns.len() == key.ref_columns.len());
        let keys = keys.map(|key| ForeignKey {
            columns: key.columns,
            ref_table: key.table,
            ref_columns: key.ref_columns,
        });
        let kind = is_view.then(|| ("kind".to_owned(), "\"view\"".to_owned()));
        Table {
            schema_name: schema,
            name,
            columns: columns.collect(),
            primary_key,
            foreign_keys: keys.collect(),
            comment,
            extra: kind.into_iter().collect(),
            ..Table::default()
        }
    }
}
