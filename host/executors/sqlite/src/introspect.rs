//! The catalog: tables, views and virtual tables that the grant covers, read with pragmas in one go.

use std::collections::{HashMap, HashSet};

use globset::GlobSet;
use rusqlite::{Connection, OptionalExtension, Row};
use syrch_core::{Column, Dialect, ForeignKey, Index, Table};
use syrch_guard::Kind;

use crate::connect::quoted;
use crate::functions;
use crate::guard::{Grant, Sentry};

/// What stands in a database.
pub(crate) struct Schema {
    /// What is granted.
    pub(crate) tables: Vec<Table>,
    pub(crate) grant: Grant,
    /// The width of the widest table, granted or not; views left out.
    pub(crate) columns: i32,
    /// Names of all tables and views that a grant could cover.
    pub(crate) names: Vec<String>,
}

impl Schema {
    /// Takes tables or views out of the grant; names in lower case.
    pub(crate) fn hide(&mut self, hidden: &HashSet<String>) {
        self.tables.retain(|table| !hidden.contains(&table.name.to_lowercase()));
        for name in hidden {
            self.grant.tables.remove(name);
            self.grant.others.insert(name.clone());
        }
    }
}

struct Entry {
    name: String,
    kind: String,
    without_rowid: bool,
    /// Of a view none that can be relied on.
    width: i32,
}

/// Reads the schema. Views are granted by name here; whether what they read is granted too is for the authorizer to say.
/// It has no columns here: the engine would have to compile it.
pub(crate) fn read(connection: &Connection, sentry: &Sentry, globs: Option<&GlobSet>) -> rusqlite::Result<Schema> {
    let entries = entries(connection, sentry)?;
    let is_shadow = |entry: &&Entry| entry.kind == "shadow";
    let visible: Vec<&Entry> = entries.iter().filter(|entry| !is_shadow(entry)).collect();
    let granted: Vec<&Entry> =
        visible.iter().copied().filter(|entry| globs.is_none_or(|globs| globs.is_match(&entry.name))).collect();
    let mut grant =
        Grant { tables: granted.iter().map(|entry| entry.name.to_lowercase()).collect(), ..Grant::default() };
    let owners: Vec<String> =
        granted.iter().filter(|e| e.kind == "virtual").map(|e| format!("{}_", e.name.to_lowercase())).collect();
    for name in entries.iter().map(|entry| entry.name.to_lowercase()).chain(modules(connection)?) {
        if !grant.tables.contains(&name) {
            grant.others.insert(name);
        }
    }
    let owned = |entry: &&Entry| owners.iter().any(|owner| entry.name.to_lowercase().starts_with(owner));
    grant.shadows = entries.iter().filter(is_shadow).filter(owned).map(|entry| entry.name.to_lowercase()).collect();

    let statistics = statistics(connection)?;
    let mut tables =
        granted.iter().map(|entry| table(connection, entry, &statistics)).collect::<rusqlite::Result<Vec<_>>>()?;
    close_keys(&mut tables);
    let names = visible.iter().map(|entry| entry.name.clone()).collect();
    let columns = entries.iter().map(|entry| entry.width).max().unwrap_or(0);
    Ok(Schema { tables, grant, columns, names })
}

/// Tables and views in the order of their making.
fn entries(connection: &Connection, sentry: &Sentry) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT l.name, l.type, l.wr, l.ncol FROM pragma_table_list() AS l JOIN sqlite_schema AS s \
               ON s.name = l.name AND s.type IN ('table', 'view') \
               WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid";
    let entry = |row: &Row<'_>| {
        Ok(Entry { name: text(row, 0)?, kind: text(row, 1)?, without_rowid: row.get(2)?, width: row.get(3)? })
    };
    let mut statement = connection.prepare(sql)?;
    sentry.list();
    let entries = statement.query_map([], entry).and_then(Iterator::collect);
    sentry.own();
    entries
}

/// Modules of virtual tables, which can be read by their own names; those that read only their arguments left out.
fn modules(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let name = |row: &Row<'_>| text(row, 0).map(|name| name.to_lowercase());
    let mut names: Vec<String> = connection
        .prepare("SELECT name FROM pragma_module_list()")?
        .query_map([], name)?
        .collect::<rusqlite::Result<_>>()?;
    // The engine registers these on first use.
    names.retain(|name| !functions::TABLES.contains(&name.as_str()));
    Ok(names)
}

/// Rows by table, as ANALYZE left them.
fn statistics(connection: &Connection) -> rusqlite::Result<HashMap<String, u64>> {
    let exists = "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'";
    if connection.query_row(exists, [], |_| Ok(())).optional()?.is_none() {
        return Ok(HashMap::new());
    }
    let line = |row: &Row<'_>| {
        let rows = text(row, 1)?.split(' ').next().and_then(|rows| rows.parse().ok()).unwrap_or(0);
        Ok((text(row, 0)?.to_lowercase(), rows))
    };
    let mut most = HashMap::new();
    for entry in connection.prepare("SELECT tbl, stat FROM sqlite_stat1")?.query_map([], line)? {
        let (table, rows) = entry?;
        let known = most.entry(table).or_insert(rows);
        *known = rows.max(*known);
    }
    Ok(most)
}

fn table(connection: &Connection, entry: &Entry, statistics: &HashMap<String, u64>) -> rusqlite::Result<Table> {
    let is_view = entry.kind == "view";
    let (columns, primary_key) = if is_view { Default::default() } else { columns(connection, entry)? };
    let mut table = Table { name: entry.name.clone(), columns, primary_key, ..Table::default() };
    match entry.kind.as_str() {
        "view" | "virtual" => table.extra.push(("kind".to_owned(), format!("\"{}\"", entry.kind))),
        _ => {
            table.foreign_keys = foreign_keys(connection, &entry.name)?;
            table.indexes = indexes(connection, &entry.name)?;
            table.row_estimate = match statistics.get(&entry.name.to_lowercase()) {
                Some(rows) => Some(*rows),
                // A damaged table is told when it is read, and the others stay usable.
                None => estimate(connection, entry).unwrap_or_default(),
            };
        }
    }
    Ok(table)
}

/// The text that made a view.
pub(crate) fn declaration(connection: &Connection, view: &str) -> rusqlite::Result<String> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?1";
    connection.query_row(sql, [view], |row| text(row, 0))
}

/// The columns of a view that was compiled.
pub(crate) fn view_columns(connection: &Connection, name: &str) -> rusqlite::Result<Vec<Column>> {
    let entry = Entry { name: name.to_owned(), kind: "view".to_owned(), without_rowid: false, width: 0 };
    columns(connection, &entry).map(|(columns, _)| columns)
}

/// Columns, and those of the primary key in its order. A virtual table that cannot be connected has none.
fn columns(connection: &Connection, entry: &Entry) -> rusqlite::Result<(Vec<Column>, Vec<String>)> {
    let sql =
        "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid";
    let mut statement = connection.prepare(sql)?;
    let lines = statement.query_map([&entry.name], |row| {
        Ok((text(row, 0)?, text(row, 1)?, row.get::<_, bool>(2)?, row.get::<_, u32>(3)?, row.get::<_, u8>(4)?))
    });
    let Ok(lines) = lines.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut key: Vec<(u32, String)> =
        lines.iter().filter(|line| line.3 > 0).map(|line| (line.3, line.0.clone())).collect();
    key.sort();
    let single = key.len() == 1;
    let column = |(name, declared, not_null, position, hidden): (String, String, bool, u32, u8)| {
        let sql_type = declared.trim_end_matches("GENERATED ALWAYS").trim_end().to_owned();
        // Only a rowid's other name and the key of a table without one exclude NULL on their own.
        let is_rowid = single && position > 0 && sql_type.eq_ignore_ascii_case("integer");
        let nullable = !(not_null || is_rowid || (entry.without_rowid && position > 0));
        let extra = if hidden > 1 { vec![("generated".to_owned(), "true".to_owned())] } else { Vec::new() };
        Column { name, sql_type, nullable, comment: None, extra }
    };
    Ok((lines.into_iter().map(column).collect(), key.into_iter().map(|(_, name)| name).collect()))
}

/// Foreign keys; columns that the key leaves out are empty until [`close_keys`] knows the other table.
fn foreign_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<ForeignKey>> {
    let sql = "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([table])?;
    let (mut keys, mut last) = (Vec::<ForeignKey>::new(), None);
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if last.replace(id) != Some(id) {
            keys.push(ForeignKey { columns: Vec::new(), ref_table: text(row, 1)?, ref_columns: Vec::new() });
        }
        if let Some(key) = keys.last_mut() {
            key.columns.push(text(row, 2)?);
            key.ref_columns.extend(row.get::<_, Option<String>>(3)?);
        }
    }
    Ok(keys)
}

/// Drops keys to tables that are not granted, takes over their spelling, and fills in primary keys that a declaration only implies.
fn close_keys(tables: &mut [Table]) {
    let keys: HashMap<String, (String, Vec<String>)> = tables
        .iter()
        .map(|table| (table.name.to_lowercase(), (table.name.clone(), table.primary_key.clone())))
        .collect();
    for table in tables {
        table.foreign_keys.retain_mut(|key| {
            let Some((name, primary_key)) = keys.get(&key.ref_table.to_lowercase()) else {
                return false;
            };
            key.ref_table.clone_from(name);
            if key.ref_columns.len() != key.columns.len() {
                key.ref_columns.clone_from(primary_key);
            }
            key.ref_columns.len() == key.columns.len()
        });
    }
}

fn indexes(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Index>> {
    let sql = "SELECT l.name, l.\"unique\", l.partial, s.sql FROM pragma_index_list(?1, 'main') AS l \
               LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = l.name ORDER BY l.seq DESC";
    let mut statement = connection.prepare(sql)?;
    let lines = statement
        .query_map([table], |row| {
            Ok((text(row, 0)?, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?, row.get::<_, Option<String>>(3)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut columns = connection.prepare("SELECT name FROM pragma_index_info(?1, 'main') ORDER BY seqno")?;
    let mut indexes = Vec::with_capacity(lines.len());
    for (name, is_unique, partial, sql) in lines {
        let names = columns.query_map([&name], |row| row.get::<_, Option<String>>(0))?;
        let columns = names
            .map(|name| name.map(|name| name.unwrap_or_else(|| "(expression)".to_owned())))
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let predicate = sql.filter(|_| partial).and_then(|sql| condition(&sql));
        indexes.push(Index { name, columns, is_unique, method: None, predicate });
    }
    Ok(indexes)
}

/// The condition of a partial index, from its declaration.
fn condition(sql: &str) -> Option<String> {
    let tokens = syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).ok()?;
    let is_where =
        |token: &&syrch_guard::Token| token.kind == Kind::Word && token.text(sql).eq_ignore_ascii_case("where");
    tokens.iter().find(is_where).map(|token| sql[token.end..].trim().to_owned())
}

/// How many rows, counted as far as that is cheap. Never the greatest rowid: where the key is an integer that is a cell, and the catalog
/// is shown without the grant of rows.
fn estimate(connection: &Connection, entry: &Entry) -> rusqlite::Result<Option<u64>> {
    const COUNTED: u64 = 10_000;
    let sql = format!("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {})", quoted(&entry.name), COUNTED + 1);
    let rows: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
    Ok(u64::try_from(rows).ok().filter(|rows| *rows <= COUNTED))
}

/// Text that need not be UTF-8.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(row
        .get_ref(column)?
        .as_bytes_or_null()?
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .unwrap_or_default())
}
