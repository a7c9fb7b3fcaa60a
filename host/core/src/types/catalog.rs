//! What a database offers: tables, columns and keys, by their plain names.

use serde::{Deserialize, Serialize};

use super::Extras;

/// The SQL that a database speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MySQL and MariaDB.
    Mysql,
    /// DuckDB.
    Duckdb,
    /// Databricks SQL.
    Databricks,
    /// Spark SQL.
    Spark,
    /// Standard SQL.
    Ansi,
    /// Another dialect, by name.
    Other(String),
}

impl Dialect {
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

/// A column. `sql_type` is the declared type, empty when there is none.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Column {
    /// The name as the catalog spells it, without quotes.
    pub name: String,
    /// The declared type.
    pub sql_type: String,
    /// Whether NULL is allowed.
    pub nullable: bool,
    /// The database's own comment.
    pub comment: Option<String>,
    /// Room to grow.
    pub extra: Extras,
}

/// A foreign key: `columns` of this table refer to `ref_columns` of `ref_table`, pairwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// Columns of this table.
    pub columns: Vec<String>,
    /// The table referred to.
    pub ref_table: String,
    /// Its columns.
    pub ref_columns: Vec<String>,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// Whether it forbids duplicates.
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
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key, in key order.
    pub primary_key: Vec<String>,
    /// Its foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Its indexes.
    pub indexes: Vec<Index>,
    /// About how many rows.
    pub row_estimate: Option<u64>,
    /// The database's own comment.
    pub comment: Option<String>,
    /// Room to grow.
    pub extra: Extras,
}

impl Table {
    /// Whether this is a view.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.extra.iter().any(|(key, value)| key == "kind" && value == "\"view\"")
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
    /// What it speaks.
    pub dialect: Dialect,
    /// Its tables and views.
    pub tables: Vec<Table>,
}

impl Catalog {
    /// The table of that name, letter case aside.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }
}
