//! The types of a result's columns in DuckDB's own words. Some of them arrive in Arrow without a part of their meaning: a time without its zone,
//! bits without their number, and integers that Arrow has no room for. Such columns are read as DuckDB spells them.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use syrch_core::result_set::SQL_TYPE;
use syrch_core::text::clip;
use syrch_core::{Dialect, SqlError};

use crate::execute::Work;

/// Bytes of the names and types of a result's columns.
const NAMES: usize = 1 << 20;
/// Bytes of a type's name, which lists the members of an enumeration.
const TYPE: usize = 256;

/// A column of a result.
pub(crate) struct Column {
    name: String,
    sql_type: String,
}

impl Column {
    /// Whether Arrow's value is less than the column's.
    fn is_spelled(&self) -> bool {
        let parts = ["TIME WITH TIME ZONE", "UHUGEINT", "BIT", "UNION", "BIGNUM", "VARIANT", "GEOMETRY"];
        let without_stamps = self.sql_type.replace("TIMESTAMP WITH TIME ZONE", "");
        parts.iter().any(|part| words(&without_stamps, part))
    }
}

/// Whether a type's name has this part as a word of its own: `BIT[]`, and not `"BITS" INTEGER`.
fn words(text: &str, part: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(part)
        .any(|(start, _)| !text[..start].ends_with(is_letter) && !text[start + part.len()..].starts_with(is_letter))
}

/// The columns of a statement's result, where the engine can say them without running it.
pub(crate) fn columns(work: &mut Work<'_>, sql: &str) -> Result<Option<Vec<Column>>, SqlError> {
    if work.connector.config.dialect != Dialect::Duckdb {
        return Ok(None);
    }
    let rows = work.rows(&format!("DESCRIBE {sql}"), &mut NAMES.clone())?;
    let column = |mut row: Vec<Option<String>>| {
        let sql_type = row.get_mut(1).and_then(Option::take).unwrap_or_default();
        let name = row.first_mut().and_then(Option::take).unwrap_or_default();
        Column { name, sql_type }
    };
    Ok(Some(rows.into_iter().map(column).collect()))
}

/// The statement with some columns as texts; `None` where no column needs that.
pub(crate) fn statement(sql: &str, columns: &[Column]) -> Option<String> {
    if !columns.iter().any(Column::is_spelled) {
        return None;
    }
    let names: Vec<String> = (0..columns.len()).map(|index| format!("c{index}")).collect();
    let read = names.iter().zip(columns).map(|(name, column)| match column.is_spelled() {
        true => format!("CAST({name} AS VARCHAR)"),
        false => name.clone(),
    });
    Some(format!("SELECT {} FROM ({sql}) AS syrch({})", read.collect::<Vec<_>>().join(", "), names.join(", ")))
}

/// The result's schema with the names and the types of the statement that was asked for.
pub(crate) fn schema(schema: &SchemaRef, columns: &[Column]) -> SchemaRef {
    if schema.fields().len() != columns.len() {
        return Arc::clone(schema);
    }
    let field = |(field, column): (&Arc<Field>, &Column)| {
        let mut metadata = field.metadata().clone();
        metadata.insert(SQL_TYPE.to_owned(), clip(&column.sql_type, TYPE).to_owned());
        Field::new(&column.name, field.data_type().clone(), true).with_metadata(metadata)
    };
    Arc::new(Schema::new(schema.fields().iter().zip(columns).map(field).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn columns(types: &[&str]) -> Vec<Column> {
        types.iter().map(|sql_type| Column { name: "a b".to_owned(), sql_type: (*sql_type).to_owned() }).collect()
    }

    #[test]
    fn only_types_that_lose_a_part_are_spelled() {
        let whole = ["INTEGER", "TIMESTAMP WITH TIME ZONE", "STRUCT(\"BITS\" INTEGER)", "TIME", "HUGEINT"];
        assert_eq!(statement("SELECT 1", &columns(&whole)), None);
        for partial in ["BIT", "BIT[]", "UHUGEINT", "STRUCT(a TIME WITH TIME ZONE)", "UNION(k INTEGER)"] {
            let expected = "SELECT c0, CAST(c1 AS VARCHAR) FROM (SELECT 1, 2) AS syrch(c0, c1)";
            assert_eq!(statement("SELECT 1, 2", &columns(&["INTEGER", partial])).as_deref(), Some(expected));
        }
    }

    #[test]
    fn fields_have_the_names_and_types_of_the_statement() {
        let read = Arc::new(Schema::new(vec![Field::new("c0", DataType::Utf8, true)]));
        let schema = schema(&read, &columns(&["BIT"]));
        assert_eq!((schema.field(0).name().as_str(), schema.field(0).metadata()[SQL_TYPE].as_str()), ("a b", "BIT"));
    }
}
