//! The catalog: what `information_schema` says of the tables and views of the connection's catalog,
//! with keys and comments, within bounds.

use std::collections::HashMap;
use std::sync::Arc;

use syrch_arrow_engine::Schema;
use syrch_core::{Column, ForeignKey, SqlErrorKind, Table};
use tokio::time::Instant;

use crate::api::Api;
use crate::error::Failure;
use crate::execute::texts;
use crate::statement::Request;
use crate::wire::DataArray;

/// Tables of a catalog, and columns and columns of keys, at most.
const TABLES: u64 = 20_000;
const COLUMNS: u64 = 400_000;
/// Bytes of what is read of each kind; the service does not put more than 25 MiB into replies.
const BYTES: usize = 24 << 20;
/// Bytes of one reply: quotes and escapes make a text longer.
const REPLY: usize = 64 << 20;

/// A schema that was read, and what its user should know of it.
pub(crate) struct Introspected {
    pub(crate) schema: Schema,
    pub(crate) warning: Option<String>,
}

/// Reads the catalog.
///
/// # Errors
/// When the server cannot be asked, when the catalog has no `information_schema`, and when it is
/// too large.
pub(crate) async fn read(api: &Arc<Api>, deadline: Instant) -> Result<Introspected, Failure> {
    let (catalog, schema) = current(api, deadline).await?;
    if let Some(schema) = tables(api, None, &schema, deadline).await? {
        return Ok(Introspected { schema, warning: None });
    }
    let warning = format!(
        "the catalog `{catalog}` is too large to be read whole: only the tables of its schema \
         `{schema}` are offered"
    );
    match tables(api, Some(&schema), &schema, deadline).await? {
        Some(schema) => Ok(Introspected { schema, warning: Some(warning) }),
        None => Err(Failure::Unavailable(format!(
            "its schema `{schema}` has more than {TABLES} tables or {COLUMNS} columns; name a \
             smaller one by `schema=` in the address"
        ))),
    }
}

/// The catalog and the schema in which names are searched.
async fn current(api: &Arc<Api>, deadline: Instant) -> Result<(String, String), Failure> {
    if let (Some(catalog), Some(schema)) = (&api.target.catalog, &api.target.schema) {
        return Ok((catalog.clone(), schema.clone()));
    }
    let (rows, _) =
        texts(api, &request("SELECT current_catalog(), current_schema()", 1, deadline)).await?;
    let mut cells = rows.into_iter().flatten().map(Option::unwrap_or_default);
    Ok((cells.next().unwrap_or_default(), cells.next().unwrap_or_default()))
}

fn request(sql: &str, rows: u64, deadline: Instant) -> Request<'_> {
    Request { sql, rows, bytes: BYTES, reply: REPLY, is_inline: true, deadline }
}

/// The tables, of one schema or of all, and the path of names without a schema; `None` if there are
/// too many.
async fn tables(
    api: &Arc<Api>,
    only: Option<&str>,
    path: &str,
    deadline: Instant,
) -> Result<Option<Schema>, Failure> {
    // Texts of Databricks have escapes.
    let literal = only.map(|schema| schema.replace('\\', "\\\\").replace('\'', "\\'"));
    let within = |column: &str| match &literal {
        Some(literal) => format!("{column} = '{literal}'"),
        None => format!("{column} <> 'information_schema'"),
    };
    let tables = format!(
        "SELECT table_schema, table_name, table_type, comment FROM information_schema.tables \
         WHERE {} ORDER BY 1, 2",
        within("table_schema")
    );
    let columns = format!(
        "SELECT table_schema, table_name, column_name, full_data_type, is_nullable, comment \
         FROM information_schema.columns WHERE {} ORDER BY table_schema, table_name, \
         ordinal_position",
        within("table_schema")
    );
    let keys = format!(
        "SELECT k.table_schema, k.table_name, k.constraint_name, k.column_name, p.table_catalog, \
         p.table_schema, p.table_name, p.column_name, k.table_catalog \
         FROM information_schema.key_column_usage k LEFT \
         JOIN information_schema.referential_constraints r ON r.constraint_catalog = \
         k.constraint_catalog AND r.constraint_schema = k.constraint_schema \
         AND r.constraint_name = k.constraint_name LEFT JOIN information_schema.key_column_usage p \
         ON p.constraint_catalog = r.unique_constraint_catalog \
         AND p.constraint_schema = r.unique_constraint_schema \
         AND p.constraint_name = r.unique_constraint_name \
         AND p.ordinal_position = k.position_in_unique_constraint WHERE {} \
         ORDER BY k.table_schema, k.table_name, k.constraint_name, k.ordinal_position",
        within("k.table_schema")
    );
    let requests = [(&tables, TABLES), (&columns, COLUMNS), (&keys, COLUMNS)]
        .map(|(sql, rows)| request(sql, rows, deadline));
    let [tables, columns, keys] = &requests;
    let read = tokio::try_join!(texts(api, tables), texts(api, columns), texts(api, keys));
    let (tables, columns, keys) = read.map_err(|failure| {
        match failure {
        Failure::Statement(error) if error.kind == SqlErrorKind::UnknownTable =>
            Failure::Unavailable(
            "its catalog has no information_schema: name a catalog of Unity Catalog by `catalog=` \
             in the address"
                .to_owned(),
        ),
        failure => failure,
    }
    })?;
    if tables.1 || columns.1 || keys.1 {
        return Ok(None);
    }
    let tables = assemble_tables(tables.0, columns.0, keys.0);
    let path = vec![path.to_owned()];
    let catalog = api.target.catalog.clone();
    Ok(Some(Schema { tables, path, catalog, ..Schema::default() }))
}

/// A row's cells in order, with an empty text for NULL.
fn cells<const N: usize>(row: Vec<Option<String>>) -> Option<[String; N]> {
    row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().try_into().ok()
}

fn assemble_tables(tables: DataArray, columns: DataArray, keys: DataArray) -> Vec<Table> {
    let comment = |text: String| Some(text).filter(|text| !text.is_empty());
    let mut found: Vec<Table> = Vec::new();
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    for [schema, name, table_type, text] in tables.into_iter().filter_map(cells) {
        let kind = match table_type.as_str() {
            "VIEW" => Some("view"),
            "MATERIALIZED_VIEW" => Some("materialized-view"),
            "FOREIGN" => Some("foreign-table"),
            _ => None,
        };
        let extra =
            kind.map(|kind| ("kind".to_owned(), format!("\"{kind}\""))).into_iter().collect();
        places.insert((schema.clone(), name.clone()), found.len());
        found.push(Table {
            schema_name: Some(schema),
            name,
            comment: comment(text),
            extra,
            ..Table::default()
        });
    }
    for [schema, table, name, sql_type, nullable, text] in columns.into_iter().filter_map(cells) {
        if let Some(place) = places.get(&(schema, table)) {
            let column = Column {
                name,
                sql_type,
                nullable: nullable != "NO",
                comment: comment(text),
                ..Column::default()
            };
            found[*place].columns.push(column);
        }
    }
    let mut named: HashMap<String, usize> = HashMap::new();
    for table in &found {
        *named.entry(table.name.to_lowercase()).or_default() += 1;
    }
    let mut last: Option<(usize, String)> = None;
    for [
        schema,
        table,
        constraint,
        column,
        ref_catalog,
        ref_schema,
        ref_table,
        ref_column,
        catalog,
    ] in keys.into_iter().filter_map(cells)
    {
        let Some(&place) = places.get(&(schema, table)) else { continue };
        let is_same = last.as_ref().is_some_and(|(at, name)| *at == place && *name == constraint);
        if ref_table.is_empty() {
            found[place].primary_key.push(column);
        } else if ref_catalog == catalog
            && places.contains_key(&(ref_schema.clone(), ref_table.clone()))
        {
            let is_only = named.get(&ref_table.to_lowercase()) == Some(&1);
            let ref_table = if is_only { ref_table } else { format!("{ref_schema}.{ref_table}") };
            let keys = &mut found[place].foreign_keys;
            match keys.last_mut().filter(|_| is_same) {
                Some(key) => {
                    key.columns.push(column);
                    key.ref_columns.push(ref_column);
                }
                None => keys.push(ForeignKey {
                    columns: vec![column],
                    ref_table,
                    ref_columns: vec![ref_column],
                }),
            }
        }
        last = Some((place, constraint));
    }
    // A table without columns that may be seen cannot be read.
    found.retain(|table| !table.columns.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[&str]) -> DataArray {
        lines
            .iter()
            .map(|line| {
                line.split(' ').map(|cell: &str| (cell != "-").then(|| cell.to_owned())).collect()
            })
            .collect()
    }

    #[test]
    fn rows_of_the_information_schema_become_tables() {
        let tables = rows(&[
            "a items VIEW -",
            "a orders MANAGED What",
            "b items MANAGED -",
            "b empty MANAGED -",
        ]);
        let columns = rows(&[
            "a items id bigint YES -",
            "a orders id bigint NO Number",
            "a orders x int YES -",
            "a orders y int YES -",
            "b items x int NO -",
            "b items y int NO -",
            "c gone z int NO -",
        ]);
        let keys = rows(&[
            "a orders fk x c b items x c",
            "a orders fk y c b items y c",
            "a orders other x elsewhere b items x c",
            "a orders pk id - - - - c",
            "b items pk x - - - - c",
            "b items pk y - - - - c",
        ]);
        let tables = assemble_tables(tables, columns, keys);
        let names: Vec<_> = tables
            .iter()
            .map(|table| (table.schema_name.as_deref().unwrap(), table.name.as_str()))
            .collect();
        assert_eq!(names, [("a", "items"), ("a", "orders"), ("b", "items")]);
        assert!(tables[0].is_view() && !tables[1].is_view());
        assert_eq!(
            (tables[1].comment.as_deref(), tables[1].primary_key.as_slice()),
            (Some("What"), ["id".to_owned()].as_slice())
        );
        assert_eq!(
            (tables[1].columns[0].nullable, tables[1].columns[0].comment.as_deref()),
            (false, Some("Number"))
        );
        let key = ForeignKey {
            columns: vec!["x".into(), "y".into()],
            ref_table: "b.items".into(),
            ref_columns: vec!["x".into(), "y".into()],
        };
        assert_eq!(
            (tables[1].foreign_keys.as_slice(), tables[2].primary_key.len()),
            ([key].as_slice(), 2)
        );
    }
}
