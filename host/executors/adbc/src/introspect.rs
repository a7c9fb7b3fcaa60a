//! The catalog: tables and views with columns, keys, comments and estimates, by statements where
//! the engine is known and by the driver's list of objects elsewhere.

use std::collections::{BTreeSet, HashMap, HashSet};

use syrch_arrow_engine::Schema;
use syrch_core::text::clip;
use syrch_core::{Column, Dialect, ForeignKey, SqlError, SqlErrorKind, Table};
use syrch_guard::sets;

use crate::execute::Work;
use crate::objects;
use crate::value::{CATALOG, Row, cells};
use crate::views;

/// Bytes of a type's name, which may list the members of an enumeration.
const TYPE: usize = 256;

/// The statements that read an engine's catalog. All cells are texts.
struct Statements {
    /// The schemas in which names are searched, in order.
    path: &'static str,
    /// Schema, name, kind, number of rows, comment.
    tables: &'static str,
    /// Schema, table, name, type, whether NULL is allowed (`true` or `YES`), comment; in order.
    columns: &'static str,
    /// Schema, table, name of the key, `p` or `f`, column, and for `f` schema, table and column
    /// that it refers to; in order.
    keys: &'static str,
    /// Schema, table and condition of each CHECK constraint.
    checks: &'static str,
}

const DUCKDB: Statements = Statements {
    path: "SELECT current_schema()",
    tables: "SELECT schema_name, table_name, 'table', CAST(estimated_size AS VARCHAR), comment \
             FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal \
             AND NOT temporary UNION ALL SELECT schema_name, view_name, 'view', NULL, comment \
             FROM duckdb_views() WHERE database_name = current_database() AND NOT internal \
             AND NOT temporary ORDER BY 1, 2",
    columns: "SELECT schema_name, table_name, column_name, data_type, CAST(is_nullable AS \
              VARCHAR), comment FROM duckdb_columns() WHERE database_name = current_database() \
              AND NOT internal ORDER BY schema_name, table_name, column_index",
    keys: "SELECT schema_name, table_name, CAST(constraint_index AS VARCHAR), \
           CASE constraint_type WHEN 'PRIMARY KEY' THEN 'p' ELSE 'f' END, \
           constraint_column_names[place], schema_name, referenced_table, \
           referenced_column_names[place] FROM (SELECT *, unnest(generate_series(1, \
           len(constraint_column_names))) AS place FROM duckdb_constraints()) \
           WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', \
           'FOREIGN KEY') ORDER BY schema_name, table_name, constraint_index, place",
    checks: "SELECT schema_name, table_name, expression FROM duckdb_constraints() \
             WHERE database_name = current_database() AND constraint_type = 'CHECK' \
             ORDER BY schema_name, table_name, constraint_index",
};

/// All functions by name, and whether they are DuckDB's own.
const FUNCTIONS: &str =
    "SELECT DISTINCT function_name, CAST(internal AS VARCHAR) FROM system.main.duckdb_functions()";

/// Partitions are read through their table. A foreign table reads a file or another server.
const POSTGRES: Statements = Statements {
    path: "SELECT s::text FROM unnest(current_schemas(false)) WITH ORDINALITY u(s, place) \
           ORDER BY place",
    tables: "SELECT n.nspname::text, c.relname::text, \
             CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized-view' ELSE 'table' \
             END, CASE WHEN c.relkind <> 'v' AND c.reltuples > 0 THEN c.reltuples::bigint::text \
             END, obj_description(c.oid, 'pg_class') FROM pg_class c \
             JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm') \
             AND NOT c.relispartition AND NOT n.nspname LIKE 'pg\\_%' \
             AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE') \
             AND has_any_column_privilege(c.oid, 'SELECT') ORDER BY 1, 2",
    columns: "SELECT n.nspname::text, c.relname::text, a.attname::text, format_type(a.atttypid, \
              a.atttypmod), (NOT a.attnotnull)::text, col_description(c.oid, a.attnum) \
              FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
              JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', \
              'm') AND NOT n.nspname LIKE 'pg\\_%' AND n.nspname <> 'information_schema' \
              AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, \
              'SELECT') ORDER BY n.nspname, c.relname, a.attnum",
    keys: "SELECT n.nspname::text, c.relname::text, k.conname::text, k.contype::text, \
           a.attname::text, fn.nspname::text, fc.relname::text, fa.attname::text \
           FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid \
           JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL unnest(k.conkey, \
           k.confkey) WITH ORDINALITY u(number, other, place) JOIN pg_attribute a ON a.attrelid = \
           k.conrelid AND a.attnum = u.number LEFT JOIN pg_class fc ON fc.oid = k.confrelid LEFT \
           JOIN pg_namespace fn ON fn.oid = fc.relnamespace LEFT \
           JOIN pg_attribute fa ON fa.attrelid = k.confrelid AND fa.attnum = u.other \
           WHERE k.contype IN ('p', 'f') ORDER BY n.nspname, c.relname, k.conname, u.place",
    checks: "SELECT n.nspname::text, c.relname::text, pg_get_expr(k.conbin, k.conrelid) \
             FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid \
             JOIN pg_namespace n ON n.oid = c.relnamespace WHERE k.contype = 'c' \
             AND k.convalidated ORDER BY n.nspname, c.relname, k.conname",
};

/// Reads the catalog.
///
/// # Errors
/// The driver's error, or a message if the catalog is larger than 64 MiB.
pub(crate) fn read(work: &mut Work<'_>) -> Result<Schema, SqlError> {
    let statements = match work.connector.config.dialect {
        Dialect::Duckdb => DUCKDB,
        Dialect::Postgres => POSTGRES,
        _ => return objects::read(work),
    };
    let mut left = CATALOG;
    if work.connector.config.dialect == Dialect::Duckdb {
        refuse_shadows(work.rows(FUNCTIONS, &mut left)?)?;
    }
    let path: Vec<String> = work
        .rows(statements.path, &mut left)?
        .into_iter()
        .filter_map(|row| row.into_iter().next()?)
        .collect();
    let mut tables = Tables::default();
    for row in work.rows(statements.tables, &mut left)? {
        let [Some(schema), Some(name), Some(kind), rows, comment] = cells(row) else { continue };
        let row_estimate = rows.and_then(|rows| rows.parse().ok());
        tables.add(schema, name, &kind, row_estimate, comment);
    }
    for row in work.rows(statements.columns, &mut left)? {
        let [Some(schema), Some(table), Some(name), sql_type, nullable, comment] = cells(row)
        else {
            continue;
        };
        if let Some(table) = tables.get(&schema, &table) {
            let is_nullable = nullable.is_none_or(|text| matches!(text.as_str(), "true" | "YES"));
            table.columns.push(column(name, sql_type.unwrap_or_default(), is_nullable, comment));
        }
    }
    for row in work.rows(statements.keys, &mut left)? {
        let [
            Some(schema),
            Some(table),
            Some(key),
            Some(kind),
            Some(column),
            ref_schema,
            ref_table,
            ref_column,
        ] = cells(row)
        else {
            continue;
        };
        match (kind.as_str(), ref_schema, ref_table, ref_column) {
            ("p", ..) => tables.add_primary_column(&schema, &table, column),
            (_, Some(ref_schema), Some(ref_table), Some(ref_column)) => {
                tables.add_foreign_column(
                    (schema, table),
                    &key,
                    column,
                    (ref_schema, ref_table),
                    ref_column,
                );
            }
            _ => {}
        }
    }
    for row in work.rows(statements.checks, &mut left)? {
        let [Some(schema), Some(table), Some(condition)] = cells(row) else { continue };
        let Some(table) = tables.get(&schema, &table) else { continue };
        for (name, values) in sets::read_condition(&condition, &work.connector.config.dialect) {
            if let Some(column) =
                table.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(&name))
            {
                column.set_values(values, 0);
            }
        }
    }
    let (tables, left_out) = views::filter_views(work, tables.finish(), &path, &mut left)?;
    Ok(Schema { tables, path, left_out, ..Schema::default() })
}

/// Refuses a file of DuckDB that defines functions under names of DuckDB's own: they would be
/// called in their place, also for operators, and read whatever their author likes.
fn refuse_shadows(functions: Vec<Row>) -> Result<(), SqlError> {
    let mut own = HashSet::new();
    let mut of_file = BTreeSet::new();
    for row in functions {
        let [Some(name), Some(is_internal)] = cells(row) else { continue };
        let name = name.to_lowercase();
        let _ = if is_internal == "true" { own.insert(name) } else { of_file.insert(name) };
    }
    match of_file.into_iter().find(|name| own.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let name = clip(&name, 64);
            let message = format!(
                "it defines `{name}`, which is a function or operator of DuckDB itself: drop \
                 or rename it"
            );
            Err(SqlError::new(SqlErrorKind::Denied, message))
        }
    }
}

/// A column whose type's name has a bounded length.
pub(crate) fn column(
    name: String,
    sql_type: String,
    nullable: bool,
    comment: Option<String>,
) -> Column {
    let comment = comment.filter(|comment| !comment.is_empty());
    let labels = sets::read_enumeration(&sql_type);
    let mut column = Column {
        name,
        sql_type: clip(&sql_type, TYPE).to_owned(),
        nullable,
        comment,
        ..Column::default()
    };
    if let Some(labels) = labels {
        column.set_values(labels, 0);
    }
    column
}

type Name = (String, String);

/// A foreign key whose columns are still being read.
struct Link {
    from: Name,
    key: String,
    columns: Vec<String>,
    to: Name,
    ref_columns: Vec<String>,
}

/// A catalog under construction.
#[derive(Default)]
pub(crate) struct Tables {
    tables: Vec<Table>,
    places: HashMap<Name, usize>,
    links: Vec<Link>,
}

impl Tables {
    /// Adds a table of a kind such as `table` or `view`. An empty schema stands for an engine
    /// without schemas.
    pub(crate) fn add(
        &mut self,
        schema: String,
        name: String,
        kind: &str,
        row_estimate: Option<u64>,
        comment: Option<String>,
    ) {
        let extra = if kind == "table" {
            Vec::new()
        } else {
            vec![("kind".to_owned(), format!("\"{kind}\""))]
        };
        let comment = comment.filter(|comment| !comment.is_empty());
        self.places.insert((schema.clone(), name.clone()), self.tables.len());
        let schema_name = Some(schema).filter(|schema| !schema.is_empty());
        self.tables.push(Table {
            schema_name,
            name,
            row_estimate,
            comment,
            extra,
            ..Table::default()
        });
    }

    pub(crate) fn get(&mut self, schema: &str, name: &str) -> Option<&mut Table> {
        self.tables.get_mut(*self.places.get(&(schema.to_owned(), name.to_owned()))?)
    }

    /// Adds the next column of a table's primary key.
    pub(crate) fn add_primary_column(&mut self, schema: &str, name: &str, column: String) {
        if let Some(table) = self.get(schema, name) {
            table.primary_key.push(column);
        }
    }

    /// Adds the next pair of columns of a table's foreign key.
    pub(crate) fn add_foreign_column(
        &mut self,
        from: Name,
        key: &str,
        column: String,
        to: Name,
        ref_column: String,
    ) {
        match self.links.last_mut().filter(|link| link.from == from && link.key == key) {
            Some(link) => {
                link.columns.push(column);
                link.ref_columns.push(ref_column);
            }
            None => {
                let columns = vec![column];
                let ref_columns = vec![ref_column];
                self.links.push(Link { from, key: key.to_owned(), columns, to, ref_columns });
            }
        }
    }

    /// The tables, with the keys over columns that can be read. A table without columns cannot be.
    pub(crate) fn finish(mut self) -> Vec<Table> {
        let mut of_name: HashMap<String, usize> = HashMap::new();
        for table in &self.tables {
            *of_name.entry(table.name.to_lowercase()).or_default() += 1;
        }
        for Link { from, columns, to, ref_columns, .. } in std::mem::take(&mut self.links) {
            let (Some(place), Some(other)) = (self.places.get(&from), self.places.get(&to)) else {
                continue;
            };
            let other = &self.tables[*other];
            if !self.tables[*place].has_columns(&columns) || !other.has_columns(&ref_columns) {
                continue;
            }
            let is_only = of_name.get(&other.name.to_lowercase()) == Some(&1);
            let ref_table = match &other.schema_name {
                Some(schema) if !is_only => format!("{schema}.{}", other.name),
                _ => other.name.clone(),
            };
            self.tables[*place].foreign_keys.push(ForeignKey { columns, ref_table, ref_columns });
        }
        for table in &mut self.tables {
            let key = std::mem::take(&mut table.primary_key);
            table.primary_key =
                if key.iter().all(|name| table.column(name).is_some()) { key } else { Vec::new() };
        }
        self.tables.retain(|table| !table.columns.is_empty());
        self.tables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(schema: &str, table: &str) -> Name {
        (schema.to_owned(), table.to_owned())
    }

    fn tables() -> Tables {
        let mut tables = Tables::default();
        for (schema, table, kind) in
            [("s", "people", "table"), ("t", "People", "table"), ("s", "orders", "view")]
        {
            tables.add(schema.into(), table.into(), kind, None, Some(String::new()));
            for column in ["id", "person"] {
                let column = self::column(column.into(), "x".repeat(1_000), true, None);
                tables.get(schema, table).unwrap().columns.push(column);
            }
        }
        tables.add("s".into(), "hidden".into(), "table", Some(5), None);
        tables
    }

    #[test]
    fn keys_name_a_schema_where_the_table_alone_is_ambiguous() {
        let mut tables = tables();
        for (column, ref_column) in [("person", "id"), ("id", "person")] {
            tables.add_foreign_column(
                name("s", "orders"),
                "k",
                column.into(),
                name("s", "people"),
                ref_column.into(),
            );
        }
        tables.add_foreign_column(
            name("s", "people"),
            "k",
            "id".into(),
            name("s", "orders"),
            "id".into(),
        );
        tables.add_primary_column("s", "people", "id".into());
        let tables = tables.finish();
        fn key(columns: [&str; 2], ref_table: &str, ref_columns: [&str; 2]) -> ForeignKey {
            ForeignKey {
                columns: columns.map(str::to_owned).to_vec(),
                ref_table: ref_table.to_owned(),
                ref_columns: ref_columns.map(str::to_owned).to_vec(),
            }
        }
        assert_eq!(tables[2].foreign_keys, [key(["person", "id"], "s.people", ["id", "person"])]);
        assert_eq!(tables[0].foreign_keys[0].ref_table, "orders");
        assert_eq!(tables[0].primary_key, ["id"]);
        assert!(tables[2].is_view() && !tables[0].is_view());
        assert_eq!(
            (tables[0].columns[0].sql_type.len(), tables[0].comment.as_deref()),
            (TYPE, None)
        );
    }

    #[test]
    fn keys_over_what_cannot_be_read_are_left_out() {
        let mut tables = tables();
        tables.add_foreign_column(
            name("s", "orders"),
            "a",
            "person".into(),
            name("s", "hidden"),
            "id".into(),
        );
        tables.add_foreign_column(
            name("s", "orders"),
            "b",
            "secret".into(),
            name("s", "people"),
            "id".into(),
        );
        tables.add_primary_column("s", "people", "secret".into());
        let tables = tables.finish();
        assert_eq!(tables.len(), 3);
        assert!(
            tables
                .iter()
                .all(|table| table.foreign_keys.is_empty() && table.primary_key.is_empty())
        );
    }
}
