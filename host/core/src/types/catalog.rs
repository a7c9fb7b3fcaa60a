//! The catalog of a database: tables, columns and keys, by their plain names.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Dialect, Extras};

/// A column of a table, a view or a result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Column {
    /// The name as the catalog spells it, without quotes.
    pub name: String,
    /// The declared type; empty when there is none.
    pub sql_type: String,
    /// True if NULL is allowed.
    pub nullable: bool,
    /// The database's own comment.
    pub comment: Option<String>,
    /// Further properties, for versions to come.
    pub extra: Extras,
}

/// The key in a column's `extra` with the only texts that it can have, and the one with how many of
/// them are left out.
const VALUES: &str = "values";
const MORE_VALUES: &str = "more_values";
/// The key in a column's `extra` with the name of the enumeration that it is made of.
const ENUMERATION: &str = "enumeration";
/// Texts of a closed set that a catalog has of one column, and their bytes.
const LABELS: usize = 50;
const LABEL_BYTES: usize = 2_048;
/// Texts of a closed set that a prompt or a message shows, and their bytes.
const SHOWN: usize = 20;
const SHOWN_BYTES: usize = 110;

impl Column {
    /// States the only texts that this column can have besides NULL, such as the labels of an
    /// enumeration, of which `more` are not given. The first of them are kept, and the others
    /// counted. Called by executors for what the schema declares; cells do not belong there.
    pub fn set_values(&mut self, values: impl IntoIterator<Item = String>, more: usize) {
        let mut kept = Vec::new();
        let mut left = LABEL_BYTES;
        let mut more = more;
        for value in values {
            match left.checked_sub(value.len()).filter(|_| kept.len() < LABELS) {
                Some(rest) => {
                    left = rest;
                    kept.push(value);
                }
                None => more += 1,
            }
        }
        self.extra.retain(|(key, _)| key != VALUES && key != MORE_VALUES);
        self.extra.push((VALUES.to_owned(), serde_json::Value::from(kept).to_string()));
        if more > 0 {
            self.extra.push((MORE_VALUES.to_owned(), more.to_string()));
        }
    }

    /// States that this column is made of an enumeration, by the engine's name of it.
    pub fn set_enumeration(&mut self, name: &str) {
        self.extra.push((ENUMERATION.to_owned(), serde_json::Value::from(name).to_string()));
    }

    /// Returns whether this column is made of the enumeration of that name.
    #[must_use]
    pub fn is_of_enumeration(&self, name: &str) -> bool {
        self.property(ENUMERATION).is_some_and(|value| value == name)
    }

    /// The only texts that this column can have, as far as they are known, and how many more there
    /// are; `None` if others may occur.
    #[must_use]
    pub fn values(&self) -> Option<(Vec<String>, usize)> {
        let serde_json::Value::Array(values) = self.property(VALUES)? else { return None };
        let more = self.property(MORE_VALUES).and_then(|more| more.as_u64()).unwrap_or(0);
        let texts = values.into_iter().filter_map(|value| value.as_str().map(str::to_owned));
        Some((texts.collect(), usize::try_from(more).unwrap_or(usize::MAX)))
    }

    /// The only texts that this column can have in words, as in `one of 'FIRST', 'REMOTE' and 3
    /// more`; short, whatever they are.
    #[must_use]
    pub fn values_in_words(&self) -> Option<String> {
        let (values, more) = self.values()?;
        let mut text = String::from("one of ");
        let mut shown = 0;
        for value in &values {
            let value = format!("'{}'", value.replace('\'', "''"));
            if shown == SHOWN || text.len() + value.len() > SHOWN_BYTES {
                break;
            }
            text.push_str(if shown == 0 { "" } else { ", " });
            text.push_str(&value);
            shown += 1;
        }
        match values.len() - shown + more {
            0 => Some(text),
            _ if shown == 0 => None,
            more => Some(format!("{text} and {more} more")),
        }
    }

    fn property(&self, key: &str) -> Option<serde_json::Value> {
        let (_, value) = self.extra.iter().find(|(name, _)| name == key)?;
        serde_json::from_str(value).ok()
    }
}

/// A foreign key: `columns` of this table refer to `ref_columns` of `ref_table`, pairwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The referring columns of this table.
    pub columns: Vec<String>,
    /// The table that they refer to, by the name that [`Catalog::table`] finds: with its schema
    /// where several have a table of that name.
    pub ref_table: String,
    /// The columns that they refer to, in the same order.
    pub ref_columns: Vec<String>,
}

/// An index of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The name of the index in the database.
    pub name: String,
    /// The indexed columns, in order.
    pub columns: Vec<String>,
    /// True if the index forbids duplicates.
    pub is_unique: bool,
    /// The access method, where the engine has several.
    pub method: Option<String>,
    /// The condition of a partial index.
    pub predicate: Option<String>,
}

/// The key in a table's `extra` with the value `true` where the plain name does not mean it.
const NEEDS_SCHEMA: &str = "needs_schema";

/// A table or a view; a view has `("kind", "\"view\"")` in `extra`, and a table that its plain name
/// does not mean `("needs_schema", "true")`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Table {
    /// The schema, where the engine has several.
    pub schema_name: Option<String>,
    /// The name as the catalog spells it, without quotes.
    pub name: String,
    /// The columns, in order.
    pub columns: Vec<Column>,
    /// The columns of the primary key, in key order.
    pub primary_key: Vec<String>,
    /// The foreign keys of this table.
    pub foreign_keys: Vec<ForeignKey>,
    /// The indexes of this table.
    pub indexes: Vec<Index>,
    /// The approximate number of rows.
    pub row_estimate: Option<u64>,
    /// The database's own comment.
    pub comment: Option<String>,
    /// Further properties, for versions to come.
    pub extra: Extras,
}

impl Table {
    /// Returns whether this is a view.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.extra.iter().any(|(key, value)| key == "kind" && value == "\"view\"")
    }

    /// The table with these columns alone, or with all where none is named, and with the keys and
    /// indexes over the columns that remain.
    fn narrow(&self, columns: &[String]) -> Self {
        let mut table = self.clone();
        if columns.is_empty() {
            return table;
        }
        table
            .columns
            .retain(|column| columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name)));
        let left = table.columns.clone();
        let is_left =
            |name: &String| left.iter().any(|column| column.name.eq_ignore_ascii_case(name));
        if !table.primary_key.iter().all(is_left) {
            table.primary_key.clear();
        }
        table.foreign_keys.retain(|key| key.columns.iter().all(is_left));
        table.indexes.retain(|index| index.columns.iter().all(is_left));
        table
    }

    /// Returns whether the plain name of this table means another one, or none, so that its schema
    /// has to stand before it.
    #[must_use]
    pub fn needs_schema(&self) -> bool {
        self.extra.iter().any(|(key, value)| key == NEEDS_SCHEMA && value == "true")
    }

    /// Returns whether the other is this table, whatever is left of its columns.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.schema_name == other.schema_name
    }

    fn mark_schema(&mut self) {
        if self.schema_name.is_some() && !self.needs_schema() {
            self.extra.push((NEEDS_SCHEMA.to_owned(), "true".to_owned()));
        }
    }

    fn display_name(&self, is_only: bool) -> String {
        match &self.schema_name {
            Some(schema) if !is_only || self.needs_schema() => format!("{schema}.{}", self.name),
            _ => self.name.clone(),
        }
    }

    /// Returns the rank of a name for this table, 0 being the best match; `None` if it is the name
    /// of another.
    fn rank(&self, name: &str) -> Option<u8> {
        let plain = self.schema_name.as_deref().and_then(|schema| {
            let (start, rest) = name.split_at_checked(schema.len())?;
            let rest =
                rest.strip_prefix('.').filter(|rest| rest.eq_ignore_ascii_case(&self.name))?;
            start.eq_ignore_ascii_case(schema).then_some((start == schema, rest))
        });
        match plain {
            Some((true, rest)) if rest == self.name => Some(0),
            Some(_) => Some(1),
            None if !name.eq_ignore_ascii_case(&self.name) => None,
            None => Some(2 + 2 * u8::from(self.needs_schema()) + u8::from(name != self.name)),
        }
    }

    /// The column of that name, letter case aside.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// Returns true if each of these is the name of a column.
    #[must_use]
    pub fn has_columns(&self, names: &[String]) -> bool {
        names.iter().all(|name| self.column(name).is_some())
    }
}

/// The granted tables of one database. `database` is the host's name of it, never an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalog {
    /// The host's name of the database.
    pub database: String,
    /// The dialect of its statements.
    pub dialect: Dialect,
    /// The granted tables and views.
    pub tables: Vec<Table>,
}

impl Catalog {
    /// The table that a name means, with its schema before it or without; letter case decides only
    /// between names that are equal but for it. A name without a schema means the first table of
    /// that name, and one that needs its schema only where there is no other.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        let ranked = self.tables.iter().filter_map(|table| Some((table.rank(name)?, table)));
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, table)| table)
    }

    /// The name by which a table of this catalog is shown, and by which [`table`](Self::table)
    /// finds it, here and in a catalog narrowed from this one: its plain name, with its schema
    /// before it where several tables have that name or where it needs its schema.
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
        let mut count: HashMap<String, usize> = HashMap::new();
        self.tables
            .iter()
            .for_each(|table| *count.entry(table.name.to_ascii_lowercase()).or_default() += 1);
        let is_only = |table: &Table| {
            count.get(&table.name.to_ascii_lowercase()).is_none_or(|count| *count < 2)
        };
        self.tables.iter().map(|table| table.display_name(is_only(table))).collect()
    }

    /// The catalog as prompts show it: the comment of a column with a closed set of values begins
    /// with them.
    #[must_use]
    pub fn with_values_in_comments(mut self) -> Self {
        for column in self.tables.iter_mut().flat_map(|table| &mut table.columns) {
            if let Some(values) = column.values_in_words() {
                let comment =
                    column.comment.take().map(|comment| format!("; {comment}")).unwrap_or_default();
                column.comment = Some(values + &comment);
            }
        }
        self
    }

    /// Marks the tables that their plain names do not mean, as an engine with this search path
    /// reads them: those of a schema that is not the first of the path that has tables here.
    /// Foreign keys name their tables as [`table_name`](Self::table_name) does from then on. Called
    /// by executors whose engine has schemas, once the catalog is read, with `schema.table` in
    /// every `ref_table`.
    pub fn mark_schemas(&mut self, path: &[String]) {
        if let Some(first) = path.iter().find(|schema: &&String| {
            self.tables.iter().any(|table| table.schema_name.as_ref() == Some(schema))
        }) {
            let others =
                self.tables.iter_mut().filter(|table| table.schema_name.as_ref() != Some(first));
            others.for_each(Table::mark_schema);
        }
        let names = self.table_names();
        let shown: HashMap<String, String> = self
            .tables
            .iter()
            .zip(names)
            .filter_map(|(table, name)| {
                Some((format!("{}.{}", table.schema_name.as_ref()?, table.name), name))
            })
            .collect();
        for key in self.tables.iter_mut().flat_map(|table| &mut table.foreign_keys) {
            if let Some(name) = shown.get(&key.ref_table) {
                key.ref_table.clone_from(name);
            }
        }
    }

    /// The catalog with only these tables, in this order, each with these columns or, where none is
    /// named, with all of them; keys to tables or columns that are left out are dropped. Names that
    /// the catalog lacks are ignored. Tables keep the names by which they are shown.
    #[must_use]
    pub fn narrow<'a>(&self, tables: impl IntoIterator<Item = (&'a str, &'a [String])>) -> Self {
        let select = |(name, columns): (&str, &[String])| {
            let table = self.table(name)?;
            let mut narrowed = table.narrow(columns);
            if self.table_name(table) != table.name {
                narrowed.mark_schema();
            }
            Some(narrowed)
        };
        let mut narrowed = Self {
            database: self.database.clone(),
            dialect: self.dialect.clone(),
            tables: tables.into_iter().filter_map(select).collect(),
        };
        let leads = |key: &ForeignKey| {
            let target = self.table(&key.ref_table)?;
            let left = narrowed.tables.iter().find(|table| table.is_same(target))?;
            key.ref_columns.iter().all(|column| left.column(column).is_some()).then_some(())
        };
        let keys = |table: &Table| {
            table.foreign_keys.iter().filter(|key| leads(key).is_some()).cloned().collect()
        };
        let keys: Vec<Vec<ForeignKey>> = narrowed.tables.iter().map(keys).collect();
        for (table, keys) in narrowed.tables.iter_mut().zip(keys) {
            table.foreign_keys = keys;
        }
        narrowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_sets_are_bounded_wherever_they_are_shown() {
        let mut column =
            Column { name: "kind".into(), comment: Some("of visit".into()), ..Column::default() };
        assert_eq!((column.values(), column.values_in_words()), (None, None));
        column.set_values(["FIRST", "it's"].map(str::to_owned), 0);
        assert_eq!(column.values(), Some((vec!["FIRST".to_owned(), "it's".to_owned()], 0)));
        assert_eq!(column.values_in_words().as_deref(), Some("one of 'FIRST', 'it''s'"));
        let table = Table { name: "t".into(), columns: vec![column.clone()], ..Table::default() };
        let catalog =
            Catalog { database: "d".into(), dialect: Dialect::Postgres, tables: vec![table] };
        let shown = catalog.with_values_in_comments();
        assert_eq!(
            shown.tables[0].columns[0].comment.as_deref(),
            Some("one of 'FIRST', 'it''s'; of visit")
        );

        column.set_values((0..100_000).map(|n| format!("label {n}")), 7);
        let (values, more) = column.values().unwrap();
        assert_eq!((values.len(), more), (LABELS, 100_007 - LABELS));
        let words = column.values_in_words().unwrap();
        assert!(
            words.len() < 140
                && words.starts_with("one of 'label 0', ")
                && words.ends_with(" more"),
            "{words}"
        );
        column.set_values(["x".repeat(LABEL_BYTES + 1)], 0);
        assert_eq!((column.values(), column.values_in_words()), (Some((Vec::new(), 1)), None));
        column.set_enumeration("public.\"visit kind\"");
        assert!(
            column.is_of_enumeration("public.\"visit kind\"")
                && !column.is_of_enumeration("public")
        );
    }

    fn table(name: &str, columns: &[&str]) -> Table {
        let columns =
            columns.iter().map(|&name| Column { name: name.into(), ..Column::default() }).collect();
        Table { name: name.into(), columns, primary_key: vec!["id".into()], ..Table::default() }
    }

    #[test]
    fn a_narrowed_catalog_has_the_named_tables_and_the_keys_between() {
        fn key(column: &str, to: &str) -> ForeignKey {
            ForeignKey {
                columns: vec![column.into()],
                ref_table: to.into(),
                ref_columns: vec!["id".into()],
            }
        }
        let orders = Table {
            foreign_keys: vec![key("customer", "customers"), key("shop", "shops")],
            ..table("orders", &["id", "customer", "shop", "total"])
        };
        let tables = vec![table("customers", &["id", "name"]), orders, table("shops", &["id"])];
        let catalog = Catalog { database: "db".into(), dialect: Dialect::Sqlite, tables };
        let columns = ["Customer".to_owned(), "total".to_owned()];
        let narrowed =
            catalog.narrow([("ORDERS", &columns[..]), ("customers", &[]), ("people", &[])]);
        let names: Vec<&str> = narrowed.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["orders", "customers"]);
        let orders = &narrowed.tables[0];
        assert_eq!(
            orders.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
            ["customer", "total"]
        );
        assert_eq!(orders.primary_key, Vec::<String>::new());
        assert_eq!(orders.foreign_keys, [key("customer", "customers")]);
        assert_eq!(narrowed.tables[1].columns.len(), 2);
    }

    #[test]
    fn tables_of_one_name_are_told_apart_by_their_schema() {
        let of = |schema: &str, table: Table| Table { schema_name: Some(schema.into()), ..table };
        fn key(to: &str) -> ForeignKey {
            ForeignKey {
                columns: vec!["id".into()],
                ref_table: to.into(),
                ref_columns: vec!["id".into()],
            }
        }
        let archived =
            Table { foreign_keys: vec![key("sales.orders")], ..table("orders", &["id", "year"]) };
        let lines = Table {
            foreign_keys: vec![key("archive.orders"), key("Sales.Orders")],
            ..table("lines", &["id"])
        };
        let tables = vec![
            of("archive", archived),
            of(
                "archive",
                Table { foreign_keys: vec![key("sales.lines")], ..table("notes", &["id"]) },
            ),
            of("sales", lines),
            of("sales", table("orders", &["id", "total"])),
        ];
        let mut catalog = Catalog { database: "db".into(), dialect: Dialect::Postgres, tables };
        assert_eq!(catalog.table_names(), ["archive.orders", "notes", "lines", "sales.orders"]);
        assert_eq!(catalog.table("orders").unwrap().schema_name.as_deref(), Some("archive"));
        catalog.mark_schemas(&["nobody".into(), "sales".into(), "archive".into()]);
        let names = ["archive.orders", "archive.notes", "lines", "sales.orders"];
        assert_eq!(catalog.table_names(), names);
        assert_eq!(catalog.table("orders").unwrap().schema_name.as_deref(), Some("sales"));
        for (name, table) in names.iter().zip(&catalog.tables) {
            assert_eq!(catalog.table_name(table), *name);
            assert_eq!(catalog.table(&name.to_uppercase()), Some(table));
            // What is left of a narrowed catalog has the name that it has in the whole one.
            let narrowed = catalog.narrow([(*name, &[][..])]);
            assert_eq!(narrowed.table_names(), [*name]);
        }
        assert_eq!(catalog.table("notes").unwrap().name, "notes");
        assert_eq!(catalog.table("sales.notes"), None);
        assert_eq!(catalog.tables[2].foreign_keys[0], key("archive.orders"));
        assert_eq!(catalog.tables[1].foreign_keys, [key("lines")]);
        // Keys lead to the table of their schema alone.
        let narrowed = catalog.narrow([("lines", &[][..]), ("sales.orders", &[][..])]);
        assert_eq!(narrowed.tables[0].foreign_keys, [key("Sales.Orders")]);
        assert_eq!(narrowed.table("sales.orders").unwrap().columns[1].name, "total");
        let narrowed = catalog.narrow([("lines", &[][..]), ("archive.orders", &[][..])]);
        assert_eq!(narrowed.tables[0].foreign_keys, [key("archive.orders")]);
        assert_eq!(narrowed.tables[1].foreign_keys, []);
    }

    #[test]
    fn letter_case_decides_between_names_that_are_equal_but_for_it() {
        let tables = vec![table("orders", &["id"]), table("Orders", &["key"])];
        let catalog = Catalog { database: "db".into(), dialect: Dialect::Postgres, tables };
        assert_eq!(catalog.table("Orders").unwrap().columns[0].name, "key");
        assert_eq!(catalog.table("ORDERS").unwrap().columns[0].name, "id");
    }
}
