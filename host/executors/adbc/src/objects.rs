//! The catalog of an engine that this crate does not know, from the list of objects that the
//! standard asks every driver for: catalogs with their schemas, with their tables, with their
//! columns and constraints, as lists within lists.

use adbc_core::options::{ObjectDepth, OptionConnection};
use adbc_core::{Connection as _, Optionable as _};
use arrow_array::cast::AsArray;
use arrow_array::types::Int16Type;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::ArrowError;
use syrch_arrow_engine::Schema;
use syrch_core::{Dialect, SqlError};

use crate::error::{self, Stage};
use crate::execute::Work;
use crate::introspect::{Tables, column};
use crate::value::{CATALOG, text, too_large};
use crate::views;

/// Schemas of the engines themselves.
const OWN: [&str; 4] = ["information_schema", "pg_catalog", "sys", "performance_schema"];

/// Reads the list of the connection's own catalog.
///
/// # Errors
/// The driver's error, or a message if the list is larger than 64 MiB.
pub(crate) fn read(work: &mut Work<'_>) -> Result<Schema, SqlError> {
    let connection = &work.connection;
    let current =
        |option| connection.get_option_string(option).ok().filter(|name| !name.is_empty());
    let catalog = current(OptionConnection::CurrentCatalog);
    let schema = current(OptionConnection::CurrentSchema);
    let config = &work.connector.config;
    let objects =
        connection.get_objects(ObjectDepth::All, catalog.as_deref(), None, None, None, None);
    let objects = objects.map_err(|error| error::statement(&error, Stage::Compiling, config))?;
    let mut tables = Tables::default();
    let mut left = CATALOG;
    for batch in objects {
        let batch = batch.map_err(|error| error::stream(&error, config))?;
        let size = batch.get_array_memory_size();
        left = left.checked_sub(size).ok_or_else(|| error::stream(&too_large(), config))?;
        add(&StructArray::from(batch), &config.dialect, &mut tables)
            .map_err(|error| error::stream(&error, config))?;
    }
    let tables = tables.finish();
    let path: Vec<String> =
        schema.or(catalog).or_else(|| tables.first()?.schema_name.clone()).into_iter().collect();
    let (tables, left_out) = views::filter_views(work, tables, &path, &mut left)?;
    Ok(Schema { tables, path, left_out, ..Schema::default() })
}

/// The fields of an object.
struct Object<'a> {
    fields: &'a StructArray,
    row: usize,
}

impl<'a> Object<'a> {
    fn field(&self, name: &str) -> Result<&'a ArrayRef, ArrowError> {
        self.fields.column_by_name(name).ok_or_else(|| {
            ArrowError::SchemaError(format!("the driver's list of objects has no field {name}"))
        })
    }

    fn text(&self, name: &str) -> Result<String, ArrowError> {
        Ok(text(self.field(name)?, self.row).unwrap_or_default().to_owned())
    }

    /// The objects within this one.
    fn visit_each(
        &self,
        name: &str,
        mut visit: impl FnMut(&Object<'_>) -> Result<(), ArrowError>,
    ) -> Result<(), ArrowError> {
        let lists = self.field(name)?;
        let lists = lists.as_list_opt::<i32>().ok_or_else(|| unlike(name))?;
        if lists.is_null(self.row) {
            return Ok(());
        }
        let items = lists.value(self.row);
        let fields = items.as_struct_opt().ok_or_else(|| unlike(name))?;
        (0..fields.len()).try_for_each(|row| visit(&Object { fields, row }))
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, ArrowError> {
        let lists = self.field(name)?.as_list_opt::<i32>().ok_or_else(|| unlike(name))?;
        if lists.is_null(self.row) {
            return Ok(Vec::new());
        }
        let items = lists.value(self.row);
        Ok((0..items.len()).filter_map(|row| text(&items, row).map(str::to_owned)).collect())
    }
}

fn unlike(name: &str) -> ArrowError {
    ArrowError::SchemaError(format!("the driver's list of objects has another type for {name}"))
}

fn add(catalogs: &StructArray, dialect: &Dialect, tables: &mut Tables) -> Result<(), ArrowError> {
    for row in 0..catalogs.len() {
        let catalog = Object { fields: catalogs, row };
        catalog.visit_each("catalog_db_schemas", |schema| {
            let name = schema.text("db_schema_name")?;
            // Where an engine has no schemas, a table is `catalog.table`, as in SQLite and MySQL.
            let name = if name.is_empty() { catalog.text("catalog_name")? } else { name };
            match OWN.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                true => Ok(()),
                false => schema.visit_each("db_schema_tables", |table| {
                    add_table(table, &name, dialect, tables)
                }),
            }
        })?;
    }
    Ok(())
}

fn add_table(
    object: &Object<'_>,
    schema: &str,
    dialect: &Dialect,
    tables: &mut Tables,
) -> Result<(), ArrowError> {
    let name = object.text("table_name")?;
    let kind = object.text("table_type")?.to_lowercase();
    // `TABLE`, `BASE TABLE`, `MATERIALIZED VIEW`, `SYSTEM TABLE`, `index`, …
    let kind = match kind.as_str() {
        kind if kind.contains("system") || kind.contains("temporary") => return Ok(()),
        kind if kind.contains("materialized") => "materialized-view",
        kind if kind.contains("view") => "view",
        kind if kind.contains("table") => "table",
        _ => return Ok(()),
    };
    if name.is_empty() || (*dialect == Dialect::Sqlite && name.starts_with("sqlite_")) {
        return Ok(());
    }
    tables.add(schema.to_owned(), name.clone(), kind, None, None);
    object.visit_each("table_columns", |found| {
        let nullable = found.field("xdbc_nullable")?;
        let nullable =
            nullable.as_primitive_opt::<Int16Type>().filter(|numbers| numbers.is_valid(found.row));
        let is_nullable = nullable.is_none_or(|numbers| numbers.value(found.row) != 0);
        let comment = Some(found.text("remarks")?);
        let column =
            column(found.text("column_name")?, found.text("xdbc_type_name")?, is_nullable, comment);
        if let Some(table) = tables.get(schema, &name) {
            table.columns.push(column);
        }
        Ok(())
    })?;
    let mut keys = 0;
    object.visit_each("table_constraints", |constraint| {
        let columns = constraint.texts("constraint_column_names")?;
        match constraint.text("constraint_type")?.as_str() {
            "PRIMARY KEY" => columns
                .into_iter()
                .for_each(|column| tables.add_primary_column(schema, &name, column)),
            "FOREIGN KEY" => {
                keys += 1;
                let mut columns = columns.into_iter();
                constraint.visit_each("constraint_column_usage", |usage| {
                    let to = usage.text("fk_db_schema")?;
                    let to = if to.is_empty() { schema.to_owned() } else { to };
                    let to = (to, usage.text("fk_table")?);
                    let ref_column = usage.text("fk_column_name")?;
                    if let Some(column) = columns.next() {
                        tables.add_foreign_column(
                            (schema.to_owned(), name.clone()),
                            &keys.to_string(),
                            column,
                            to,
                            ref_column,
                        );
                    }
                    Ok(())
                })?;
            }
            _ => {}
        }
        Ok(())
    })
}
