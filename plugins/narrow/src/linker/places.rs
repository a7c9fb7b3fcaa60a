//! Tables and columns by number: hits name them, and everything later counts them.

use std::collections::BTreeMap;

use syrch_plugin::prelude::*;

/// Tables of a catalog, and their columns, by their names in lower case; tables with their schema
/// and without.
pub(crate) struct Places {
    tables: BTreeMap<String, usize>,
    columns: BTreeMap<(usize, String), usize>,
}

impl Places {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let mut places = Self { tables: BTreeMap::new(), columns: BTreeMap::new() };
        for (number, table) in catalog.tables.iter().enumerate() {
            if let Some(schema) = &table.schema_name {
                places
                    .tables
                    .entry(format!("{schema}.{}", table.name).to_lowercase())
                    .or_insert(number);
            }
            for (at, column) in table.columns.iter().enumerate() {
                places.columns.entry((number, column.name.to_lowercase())).or_insert(at);
            }
        }
        // The host finds the first table of a plain name, too, and one that needs its schema only
        // where there is no other.
        let plain = |needs_schema: bool| {
            catalog
                .tables
                .iter()
                .enumerate()
                .filter(move |(_, table)| table.needs_schema() == needs_schema)
        };
        for (number, table) in plain(false).chain(plain(true)) {
            places.tables.entry(table.name.to_lowercase()).or_insert(number);
        }
        places
    }

    pub(crate) fn table(&self, name: &str) -> Option<usize> {
        self.tables.get(&name.to_lowercase()).copied()
    }

    /// The table that a hit names.
    pub(crate) fn table_of(&self, hit: &Hit) -> Option<usize> {
        self.table(hit.table.as_deref()?)
    }

    /// The column that a hit names, with its table.
    pub(crate) fn column_of(&self, hit: &Hit) -> Option<(usize, usize)> {
        let table = self.table_of(hit)?;
        let column = self.columns.get(&(table, hit.column.as_deref()?.to_lowercase()))?;
        Some((table, *column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_on_tables_of_one_name_are_told_apart_by_their_schema() {
        let table = |schema: &str, extra: &[(&str, &str)]| Table {
            schema_name: Some(schema.into()),
            name: "orders".into(),
            columns: vec![Column { name: format!("{schema}_id"), ..Column::default() }],
            extra: extra.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
            ..Table::default()
        };
        let tables = vec![table("archive", &[("needs_schema", "true")]), table("sales", &[])];
        let places = Places::new(&Catalog {
            database: "shop".into(),
            dialect: Dialect::Postgres,
            tables,
            ..Catalog::default()
        });
        assert_eq!(
            (places.table("Archive.orders"), places.table("sales.orders")),
            (Some(0), Some(1))
        );
        assert_eq!((places.table("orders"), places.table("old.orders")), (Some(1), None));
    }
}
