//! Names of tables: how the host shows them, and which table a name means. The same rules as the
//! host's `Catalog`.

use std::collections::BTreeMap;

use crate::bindings::types::{Catalog, Table};

impl Table {
    /// Returns true if the plain name of this table is not enough, since it means another table or
    /// none, so that the schema must stand before it.
    #[must_use]
    pub fn needs_schema(&self) -> bool {
        self.extra.iter().any(|(key, value)| key == "needs_schema" && value == "true")
    }

    /// Returns true if the other is this table, whichever columns either of them still has.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.schema_name == other.schema_name
    }

    fn display_name(&self, is_only: bool) -> String {
        match &self.schema_name {
            Some(schema) if !is_only || self.needs_schema() => format!("{schema}.{}", self.name),
            _ => self.name.clone(),
        }
    }

    /// Returns how well a name fits this table, 0 being best; `None` if it is the name of another.
    fn rank(&self, name: &str) -> Option<u8> {
        let full = self.schema_name.as_deref().and_then(|schema| {
            let (start, rest) = name.split_at_checked(schema.len())?;
            let rest =
                rest.strip_prefix('.').filter(|rest| rest.eq_ignore_ascii_case(&self.name))?;
            start.eq_ignore_ascii_case(schema).then_some((start == schema, rest))
        });
        match full {
            Some((true, rest)) if rest == self.name => Some(0),
            Some(_) => Some(1),
            None if !name.eq_ignore_ascii_case(&self.name) => None,
            None => Some(2 + 2 * u8::from(self.needs_schema()) + u8::from(name != self.name)),
        }
    }
}

impl Catalog {
    /// The table that a name means, as hits, facts, foreign keys and models write it: with its
    /// schema before it or without.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(self.place(name)?)
    }

    /// The place in `tables` of the table that a name means.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        let ranked = self
            .tables
            .iter()
            .enumerate()
            .filter_map(|(place, table)| Some((table.rank(name)?, place)));
        ranked.min().map(|(_, place)| place)
    }

    /// The name by which the host shows and finds a table: its plain name, with its schema before
    /// it where several tables have that name or where it needs its schema. For what goes back to
    /// the host, such as a linker's selection; a statement has
    /// [`names::from_name`](crate::names::from_name).
    #[must_use]
    pub fn table_name(&self, table: &Table) -> String {
        let is_only =
            self.tables.iter().filter(|other| other.name.eq_ignore_ascii_case(&table.name)).count()
                < 2;
        table.display_name(is_only)
    }

    /// The [`table_name`](Self::table_name) of each table, in order.
    #[must_use]
    pub fn table_names(&self) -> Vec<String> {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        self.tables
            .iter()
            .for_each(|table| *count.entry(table.name.to_ascii_lowercase()).or_default() += 1);
        let is_only = |table: &Table| {
            count.get(&table.name.to_ascii_lowercase()).is_none_or(|count| *count < 2)
        };
        self.tables.iter().map(|table| table.display_name(is_only(table))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::types::Dialect;

    #[test]
    fn tables_of_one_name_are_told_apart_by_their_schema() {
        let table = |schema: &str, name: &str| Table {
            schema_name: Some(schema.into()),
            name: name.into(),
            ..Table::default()
        };
        let mut tables =
            vec![table("archive", "orders"), table("sales", "orders"), table("sales", "lines")];
        tables[0].extra.push(("needs_schema".into(), "true".into()));
        let mut catalog = Catalog {
            database: "db".into(),
            dialect: Dialect::Duckdb,
            tables,
            ..Catalog::default()
        };
        let names = ["archive.orders", "sales.orders", "lines"];
        assert_eq!(catalog.table_names(), names);
        for (place, name) in names.iter().enumerate() {
            assert_eq!(catalog.place(name), Some(place));
            assert_eq!(catalog.table_name(&catalog.tables[place]), *name);
        }
        let found = |name: &str| catalog.table(name).and_then(|table| table.schema_name.as_deref());
        assert_eq!((found("ORDERS"), found("Archive.Orders")), (Some("sales"), Some("archive")));
        assert_eq!(
            (found("sales.lines"), found("archive.lines"), found("people")),
            (Some("sales"), None, None)
        );
        // What the host narrowed keeps its name.
        catalog.tables.truncate(1);
        assert_eq!(catalog.table_names(), ["archive.orders"]);
    }
}
