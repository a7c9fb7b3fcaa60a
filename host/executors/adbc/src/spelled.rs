//! The types of a result's columns in the engine's own words. Some of them arrive in Arrow without
//! a part of their meaning: in DuckDB a time without its zone, bits without their number, and
//! integers that are too large for Arrow; in PostgreSQL money without its unit, and as the server's
//! bytes whatever the driver does not know. Such columns are read as the engine spells them.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use syrch_arrow_engine::cast_to_text;
use syrch_core::result_set::SQL_TYPE;
use syrch_core::text::clip;
use syrch_core::{Dialect, SqlError};

use crate::execute::Work;

/// Bytes of the names and types of a result's columns.
const NAMES: usize = 1 << 20;
/// Bytes of a type's name, which lists the members of an enumeration.
const TYPE: usize = 256;

/// Types of DuckDB, also within others, that lose a part.
const PARTIAL: [&str; 7] =
    ["TIME WITH TIME ZONE", "UHUGEINT", "BIT", "UNION", "BIGNUM", "VARIANT", "GEOMETRY"];

/// Types of PostgreSQL that arrive whole, as its driver names them; arrays of them begin with `_`.
const WHOLE: [&str; 20] = [
    "bool",
    "bpchar",
    "bytea",
    "char",
    "date",
    "float4",
    "float8",
    "int2",
    "int4",
    "int8",
    "interval",
    "json",
    "jsonb",
    "name",
    "numeric",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "varchar",
];

/// A column of a result.
pub(crate) struct Column {
    name: String,
    sql_type: String,
    /// True if Arrow's value loses a part of the column's value.
    is_partial: bool,
}

impl Column {
    fn duckdb(name: String, sql_type: String) -> Self {
        let without_stamps = sql_type.replace("TIMESTAMP WITH TIME ZONE", "");
        let is_partial = PARTIAL.iter().any(|part| words(&without_stamps, part));
        Self { name, sql_type, is_partial }
    }

    fn postgres(name: String, sql_type: String) -> Self {
        let is_partial = !WHOLE.contains(&sql_type.trim_start_matches('_'));
        Self { name, sql_type, is_partial }
    }
}

/// Returns true if a type's name has this part as a word of its own: `BIT[]`, and not
/// `"BITS" INTEGER`.
fn words(text: &str, part: &str) -> bool {
    fn is_word_char(c: char) -> bool {
        c.is_alphanumeric() || c == '_'
    }
    text.match_indices(part).any(|(start, _)| {
        !text[..start].ends_with(is_word_char)
            && !text[start + part.len()..].starts_with(is_word_char)
    })
}

/// The columns of a statement's result, where the engine can say them without running it.
pub(crate) fn columns(work: &mut Work<'_>, sql: &str) -> Result<Option<Vec<Column>>, SqlError> {
    match work.connector.config.dialect {
        Dialect::Duckdb => {
            let rows = work.rows(&format!("DESCRIBE {sql}"), &mut NAMES.clone())?;
            Ok(Some(
                rows.into_iter()
                    .map(|row: Vec<Option<String>>| {
                        let mut cells = row.into_iter().map(Option::unwrap_or_default);
                        Column::duckdb(
                            cells.next().unwrap_or_default(),
                            cells.next().unwrap_or_default(),
                        )
                    })
                    .collect(),
            ))
        }
        Dialect::Postgres => {
            let schema = work.describe(sql)?;
            Ok(Some(
                schema
                    .fields()
                    .iter()
                    .map(|field: &Arc<Field>| {
                        let sql_type =
                            field.metadata().get("POSTGRESQL:type").cloned().unwrap_or_default();
                        Column::postgres(field.name().clone(), sql_type)
                    })
                    .collect(),
            ))
        }
        _ => Ok(None),
    }
}

/// The statement with some columns as texts; `None` where no column needs that.
pub(crate) fn statement(sql: &str, columns: &[Column]) -> Option<String> {
    let is_cast: Vec<bool> = columns.iter().map(|column| column.is_partial).collect();
    cast_to_text(sql, &is_cast, |name| format!("CAST({name} AS VARCHAR)"))
}

/// The result's schema with the names and the types of the statement that was asked for.
pub(crate) fn schema(schema: &SchemaRef, columns: &[Column]) -> SchemaRef {
    if schema.fields().len() != columns.len() {
        return Arc::clone(schema);
    }
    Arc::new(Schema::new(
        schema
            .fields()
            .iter()
            .zip(columns)
            .map(|(field, column): (&Arc<Field>, &Column)| {
                let mut metadata = field.metadata().clone();
                metadata.insert(SQL_TYPE.to_owned(), clip(&column.sql_type, TYPE).to_owned());
                Field::new(&column.name, field.data_type().clone(), true).with_metadata(metadata)
            })
            .collect::<Vec<_>>(),
    ))
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn columns(types: &[&str]) -> Vec<Column> {
        types
            .iter()
            .map(|sql_type| Column::duckdb("a b".to_owned(), (*sql_type).to_owned()))
            .collect()
    }

    #[test]
    fn only_types_that_lose_a_part_are_spelled() {
        let whole =
            ["INTEGER", "TIMESTAMP WITH TIME ZONE", "STRUCT(\"BITS\" INTEGER)", "TIME", "HUGEINT"];
        assert_eq!(statement("SELECT 1", &columns(&whole)), None);
        for partial in
            ["BIT", "BIT[]", "UHUGEINT", "STRUCT(a TIME WITH TIME ZONE)", "UNION(k INTEGER)"]
        {
            let expected = "SELECT c0, CAST(c1 AS VARCHAR) FROM (SELECT 1, 2) AS syrch(c0, c1)";
            assert_eq!(
                statement("SELECT 1, 2", &columns(&["INTEGER", partial])).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn types_that_the_postgresql_driver_does_not_know_are_spelled() {
        fn is_partial(sql_type: &str) -> bool {
            Column::postgres("a".to_owned(), sql_type.to_owned()).is_partial
        }
        assert!(["int4", "_int4", "numeric", "timestamptz"].iter().all(|whole| !is_partial(whole)));
        assert!(
            ["money", "inet", "uuid", "_inet", "unnamed<oid:3904>", ""]
                .iter()
                .all(|partial| is_partial(partial))
        );
    }

    #[test]
    fn fields_have_the_names_and_types_of_the_statement() {
        let read = Arc::new(Schema::new(vec![Field::new("c0", DataType::Utf8, true)]));
        let schema = schema(&read, &columns(&["BIT"]));
        assert_eq!(
            (schema.field(0).name().as_str(), schema.field(0).metadata()[SQL_TYPE].as_str()),
            ("a b", "BIT")
        );
    }
}
