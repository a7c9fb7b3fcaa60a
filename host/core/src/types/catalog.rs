//! What a database offers: tables, columns and keys, by their plain names.

use serde::{Deserialize, Serialize};

use super::Extras;

/// The SQL dialect of a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// The dialect of SQLite.
    Sqlite,
    /// The dialect of PostgreSQL.
    Postgres,
    /// The dialect of MySQL and MariaDB.
    Mysql,
    /// The dialect of DuckDB.
    Duckdb,
    /// The dialect of Databricks SQL.
    Databricks,
    /// The dialect of Spark SQL.
    Spark,
    /// The SQL of the standard.
    Ansi,
    /// Another dialect, by name.
    Other(String),
}

impl Dialect {
    /// A name in the quotes of the dialect, which may be any text: in backticks for MySQL, Spark and Databricks, else in double quotes.
    #[must_use]
    pub fn quoted(&self, name: &str) -> String {
        match self {
            Self::Mysql | Self::Databricks | Self::Spark => format!("`{}`", name.replace('`', "``")),
            _ => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }

    /// The type of texts of any length, for CAST.
    #[must_use]
    pub fn text_type(&self) -> &'static str {
        match self {
            Self::Sqlite | Self::Postgres => "TEXT",
            Self::Databricks | Self::Spark => "STRING",
            Self::Mysql => "CHAR",
            Self::Duckdb | Self::Ansi | Self::Other(_) => "VARCHAR",
        }
    }

    /// The dialect's name in prompts and output.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Duckdb => "duckdb",
            Self::Databricks => "databricks",
            Self::Spark => "spark",
            Self::Ansi => "ansi",
            Self::Other(name) => name,
        }
    }
}

/// A column of a table, a view or a result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Column {
    /// The name as the catalog spells it, without quotes.
    pub name: String,
    /// The declared type; empty when there is none.
    pub sql_type: String,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// The database's own comment.
    pub comment: Option<String>,
    /// Further properties, for versions to come.
    pub extra: Extras,
}

/// A foreign key: `columns` of this table refer to `ref_columns` of `ref_table`, pairwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The referring columns of this table.
    pub columns: Vec<String>,
    /// The table that they refer to, with its schema where several have a table of that name.
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
    /// Whether the index forbids duplicates.
    pub is_unique: bool,
    /// The access method, where the engine has several.
    pub method: Option<String>,
    /// The condition of a partial index.
    pub predicate: Option<String>,
}

/// A table or a view; a view has `("kind", "\"view\"")` in `extra`.
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
    /// Whether this is a view.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.extra.iter().any(|(key, value)| key == "kind" && value == "\"view\"")
    }

    /// The table with these columns alone, or with all where none is named, and with the keys and indexes over the columns that remain.
    fn narrowed(&self, columns: &[String]) -> Self {
        let mut table = self.clone();
        if columns.is_empty() {
            return table;
        }
        table.columns.retain(|column| columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name)));
        let left = table.columns.clone();
        let is_left = |name: &String| left.iter().any(|column| column.name.eq_ignore_ascii_case(name));
        if !table.primary_key.iter().all(is_left) {
            table.primary_key.clear();
        }
        table.foreign_keys.retain(|key| key.columns.iter().all(is_left));
        table.indexes.retain(|index| index.columns.iter().all(is_left));
        table
    }

    /// The column of that name, letter case aside.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
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
    /// What a table is called: its name, with its schema where another table has the same name.
    #[must_use]
    pub fn table_name(&self, table: &Table) -> String {
        let is_only = self.tables.iter().filter(|other| other.name.eq_ignore_ascii_case(&table.name)).count() == 1;
        match &table.schema_name {
            Some(schema) if !is_only => format!("{schema}.{}", table.name),
            _ => table.name.clone(),
        }
    }

    /// The table of that name, letter case aside; the schema may stand before it, as it does where several schemas have such a table.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        let is_full = |table: &&Table| {
            let rest = table.schema_name.as_deref().and_then(|schema| {
                let (start, rest) = name.split_at_checked(schema.len())?;
                start.eq_ignore_ascii_case(schema).then_some(rest)
            });
            rest.and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| table.name.eq_ignore_ascii_case(rest))
        };
        let found = self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name));
        found.or_else(|| self.tables.iter().find(is_full))
    }

    /// The catalog with only these tables, in this order, each with these columns or, where none is named, with all of them; keys to tables
    /// or columns that are left out are dropped. Names that the catalog lacks are ignored.
    #[must_use]
    pub fn narrowed<'a>(&self, tables: impl IntoIterator<Item = (&'a str, &'a [String])>) -> Self {
        let mut tables: Vec<Table> =
            tables.into_iter().filter_map(|(name, columns)| Some(self.table(name)?.narrowed(columns))).collect();
        let shown: Vec<(String, Vec<String>)> = tables
            .iter()
            .map(|table| (table.name.clone(), table.columns.iter().map(|column| column.name.clone()).collect()))
            .collect();
        let has = |table: &str, wanted: &[String]| {
            shown.iter().any(|(name, columns)| {
                name.eq_ignore_ascii_case(table)
                    && wanted.iter().all(|wanted| columns.iter().any(|column| column.eq_ignore_ascii_case(wanted)))
            })
        };
        for table in &mut tables {
            table.foreign_keys.retain(|key| has(&key.ref_table, &key.ref_columns));
        }
        Self { database: self.database.clone(), dialect: self.dialect.clone(), tables }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|&name| Column { name: name.into(), ..Column::default() }).collect();
        Table { name: name.into(), columns, primary_key: vec!["id".into()], ..Table::default() }
    }

    #[test]
    fn a_narrowed_catalog_has_the_named_tables_and_the_keys_between() {
        let key = |column: &str, to: &str| ForeignKey {
            columns: vec![column.into()],
            ref_table: to.into(),
            ref_columns: vec!["id".into()],
        };
        let orders = Table {
            foreign_keys: vec![key("customer", "customers"), key("shop", "shops")],
            ..table("orders", &["id", "customer", "shop", "total"])
        };
        let tables = vec![table("customers", &["id", "name"]), orders, table("shops", &["id"])];
        let catalog = Catalog { database: "db".into(), dialect: Dialect::Sqlite, tables };
        let columns = ["Customer".to_owned(), "total".to_owned()];
        let narrowed = catalog.narrowed([("ORDERS", &columns[..]), ("customers", &[]), ("people", &[])]);
        let names: Vec<&str> = narrowed.tables.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["orders", "customers"]);
        let orders = &narrowed.tables[0];
        assert_eq!(orders.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["customer", "total"]);
        assert_eq!(orders.primary_key, Vec::<String>::new());
        assert_eq!(orders.foreign_keys, [key("customer", "customers")]);
        assert_eq!(narrowed.tables[1].columns.len(), 2);
    }
}
