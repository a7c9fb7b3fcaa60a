//! The catalog: tables, views and virtual tables that the grant covers, read with pragmas in one go.

use std::collections::{HashMap, HashSet};

use globset::GlobSet;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};
use syrch_core::{Column, Dialect, ForeignKey, Index, Table};
use syrch_guard::Kind;

use crate::connect::{self, COLUMNS, quoted};
use crate::error;
use crate::functions;
use crate::guard::Grant;

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

/// A table or view of the schema.
pub(crate) struct Entry {
    pub(crate) name: String,
    /// `table`, `view`, `virtual`, or `shadow` for what a virtual table keeps its content in.
    pub(crate) kind: &'static str,
    /// Its declaration.
    sql: String,
}

impl Entry {
    fn is_without_rowid(&self) -> bool {
        let has_word = self.sql.to_ascii_lowercase().contains("without");
        has_word
            && words(&self.sql).rev().take_while(|word| *word != ")").any(|word| word.eq_ignore_ascii_case("without"))
    }
}

/// Tables of a schema whose rows are counted where no statistics tell how many they are.
const ESTIMATED: usize = 2_000;

/// Reads the schema. Views are granted by name here; whether what they read is granted too is for the authorizer to say.
/// A view has no columns here: the engine would have to compile it.
pub(crate) fn read(connection: &Connection, globs: Option<&GlobSet>) -> rusqlite::Result<Schema> {
    // Otherwise each of many short statements would take and give back the file's lock.
    let _reading = connection.unchecked_transaction()?;
    let entries = entries(connection)?;
    let is_shadow = |entry: &&Entry| entry.kind == "shadow";
    let visible: Vec<&Entry> = entries.iter().filter(|entry| !is_shadow(entry)).collect();
    let granted: Vec<&Entry> =
        visible.iter().copied().filter(|entry| globs.is_none_or(|globs| globs.is_match(&entry.name))).collect();
    let mut grant = Grant::default();
    let (statistics, declared) = (statistics(connection)?, declared_indexes(connection)?);
    let (mut tables, mut estimates) = (Vec::with_capacity(granted.len()), ESTIMATED);
    for entry in granted {
        match table(connection, entry, &statistics, &declared, &mut estimates)? {
            Ok(table) => {
                grant.tables.insert(entry.name.to_lowercase());
                tables.push(table);
            }
            Err(reason) => grant.refuse(&entry.name, reason),
        }
    }
    for name in entries.iter().map(|entry| entry.name.to_lowercase()).chain(modules(connection)?) {
        if !grant.tables.contains(&name) {
            grant.others.insert(name);
        }
    }
    grant.views = entries.iter().filter(|entry| entry.kind == "view").map(|entry| entry.name.to_lowercase()).collect();
    for entry in entries.iter().filter(|entry| module(&entry.sql).is_some_and(|module| module.starts_with("fts"))) {
        if entry.kind == "virtual" {
            grant.full_text.add(&entry.name, &entry.sql);
            if content(&entry.sql).is_some_and(|name| grant.views.contains(&name)) {
                grant.tables.remove(&entry.name.to_lowercase());
                grant.refuse(&entry.name, "its content is a view, whose searches nothing bounds".to_owned());
            }
        }
    }
    let owned = |entry: &&Entry| owner(&entry.name).is_some_and(|(owner, _)| grant.tables.contains(&owner));
    grant.shadows = entries.iter().filter(is_shadow).filter(owned).map(|entry| entry.name.to_lowercase()).collect();
    close_keys(&mut tables);
    let names = visible.iter().map(|entry| entry.name.clone()).collect();
    Ok(Schema { tables, grant, columns: width(connection, &entries)?, names })
}

/// Tables and views in the order of their making. The schema's own table is read for it: the engine's list of the tables compiles each view
/// only to count its columns, and is a program whose size is in proportion to the number of tables.
pub(crate) fn entries(connection: &Connection) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT name, type, rootpage, sql FROM sqlite_schema WHERE type IN ('table', 'view') \
               AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
    let entry = |row: &Row<'_>| {
        let kind = match (text(row, 1)?.as_str(), row.get::<_, Option<i64>>(2)?) {
            ("view", _) => "view",
            (_, None | Some(0)) => "virtual",
            _ => "table",
        };
        let sql = text(row, 3)?;
        Ok(connect::name(row, 0)?.map(|name| Entry { name, kind, sql }))
    };
    let mut entries = Vec::new();
    for entry in connection.prepare(sql)?.query_map([], entry)? {
        match entry? {
            Ok(entry) => entries.push(entry),
            Err(name) => tracing::warn!(name, "a table or view is left out: its name is not UTF-8"),
        }
    }
    let modules: HashMap<String, String> = entries
        .iter()
        .filter(|entry| entry.kind == "virtual")
        .filter_map(|entry| Some((entry.name.to_lowercase(), module(&entry.sql)?)))
        .collect();
    let is_shadow = |entry: &Entry| {
        owner(&entry.name).and_then(|(owner, suffix)| Some(shadows(modules.get(&owner)?).contains(&suffix.as_str())))
    };
    for entry in entries.iter_mut().filter(|entry| entry.kind == "table") {
        if is_shadow(entry) == Some(true) {
            entry.kind = "shadow";
        }
    }
    Ok(entries)
}

/// The virtual table that a shadow table with this name would belong to, and the rest of the name, in lower case.
fn owner(name: &str) -> Option<(String, String)> {
    let (owner, suffix) = name.rsplit_once('_')?;
    Some((owner.to_lowercase(), suffix.to_lowercase()))
}

/// The module of a virtual table, in lower case, from its declaration.
fn module(sql: &str) -> Option<String> {
    let tokens = syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).ok()?;
    let mut names = tokens.iter().filter(|token| matches!(token.kind, Kind::Word | Kind::Quoted));
    names.find(|token| token.kind == Kind::Word && token.text(sql).eq_ignore_ascii_case("using"))?;
    Some(names.next()?.name(sql)?.to_lowercase())
}

/// What a full-text table takes its content from (`content='name'`), in lower case.
fn content(sql: &str) -> Option<String> {
    let mut tokens = syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).ok()?;
    tokens.retain(syrch_guard::Token::is_significant);
    let at = tokens.iter().position(|token| token.text(sql).eq_ignore_ascii_case("content"))?;
    let named = tokens.get(at + 2).filter(|_| tokens.get(at + 1).is_some_and(|token| token.text(sql) == "="))?;
    Some(named.name(sql).unwrap_or_else(|| named.text(sql).trim_matches('\'').to_owned()).to_lowercase())
}

/// How the names of the tables end that a module makes for itself.
fn shadows(module: &str) -> &'static [&'static str] {
    match module {
        "fts3" | "fts4" => &["content", "docsize", "segdir", "segments", "stat"],
        "fts5" => &["config", "content", "data", "docsize", "idx"],
        "rtree" | "rtree_i32" | "geopoly" => &["node", "parent", "rowid"],
        _ => &[],
    }
}

/// The columns of the widest table, granted or not, where that can be more than is allowed anyway. Views are left out.
fn width(connection: &Connection, entries: &[Entry]) -> rusqlite::Result<i32> {
    // A column takes two bytes of a declaration at least. A virtual table may have a few more than the table that it is about.
    let may_be_wide = |entry: &&Entry| entry.kind != "view" && entry.sql.len() >= 2 * COLUMNS as usize;
    let mut widest = 0;
    let mut count = connection.prepare("SELECT count(*) FROM pragma_table_xinfo(?1, 'main')")?;
    for entry in entries.iter().filter(may_be_wide) {
        widest = widest.max(unless_broken(entry, count.query_row([&entry.name], |row| row.get::<_, i32>(0)))?);
    }
    Ok(widest.saturating_add(8))
}

/// The tokens of a declaration.
fn words(sql: &str) -> impl DoubleEndedIterator<Item = &str> {
    syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).unwrap_or_default().into_iter().map(|token| token.text(sql))
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

/// One table or view, or why it cannot be read.
fn table(
    connection: &Connection,
    entry: &Entry,
    statistics: &HashMap<String, u64>,
    declared: &Declared,
    estimates: &mut usize,
) -> rusqlite::Result<Result<Table, String>> {
    let is_view = entry.kind == "view";
    let read = if is_view { Ok(Default::default()) } else { columns(connection, entry)? };
    let (columns, primary_key) = match read {
        Ok(read) => read,
        Err(reason) => return Ok(Err(reason)),
    };
    let mut table = Table { name: entry.name.clone(), columns, primary_key, ..Table::default() };
    if entry.kind != "table" {
        table.extra.push(("kind".to_owned(), format!("\"{}\"", entry.kind)));
        return Ok(Ok(table));
    }
    if table.columns.is_empty() {
        return Ok(Err("the schema of the file is damaged there".to_owned()));
    }
    // The engine is asked only where there is something to tell: a schema may have very many tables.
    if entry.sql.to_ascii_lowercase().contains("references") {
        table.foreign_keys = foreign_keys(connection, &entry.name)?;
    }
    let name = entry.name.to_lowercase();
    if declared.tables.contains(&name) || entry.is_without_rowid() {
        table.indexes = indexes(connection, &entry.name, declared)?;
    }
    table.row_estimate = match statistics.get(&name) {
        Some(rows) => Some(*rows),
        None if *estimates == 0 => None,
        None => {
            *estimates -= 1;
            // A damaged table is told when it is read, and the others stay usable.
            estimate(connection, entry).unwrap_or_default()
        }
    };
    Ok(Ok(table))
}

/// The text that made a view.
pub(crate) fn declaration(connection: &Connection, view: &str) -> rusqlite::Result<String> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?1";
    connection.query_row(sql, [view], |row| text(row, 0))
}

/// The columns of a view that was compiled, or why it cannot be read.
pub(crate) fn view_columns(connection: &Connection, name: &str) -> rusqlite::Result<Result<Vec<Column>, String>> {
    let entry = Entry { name: name.to_owned(), kind: "view", sql: String::new() };
    Ok(columns(connection, &entry)?.map(|(columns, _)| columns))
}

/// The columns of a table, and the names of those of its primary key in its order.
type Columns = (Vec<Column>, Vec<String>);

/// What was read of a table or view: nothing of a virtual table that cannot be connected, of a view that cannot be compiled, and of what is
/// damaged in the file. Any other error may be gone when the schema is read again.
fn unless_broken<T: Default>(entry: &Entry, read: rusqlite::Result<T>) -> rusqlite::Result<T> {
    let is_damaged = |error| error::code(error) == Some(ErrorCode::DatabaseCorrupt);
    match read {
        Err(error) if matches!(entry.kind, "view" | "virtual") || is_damaged(&error) => Ok(T::default()),
        read => read,
    }
}

/// The columns, or why they cannot be read. What is broken has none.
fn columns(connection: &Connection, entry: &Entry) -> rusqlite::Result<Result<Columns, String>> {
    let sql =
        "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid";
    let mut statement = connection.prepare_cached(sql)?;
    let lines = statement.query_map([&entry.name], |row| {
        let is_utf8 = connect::name(row, 0)?.is_ok() && connect::name(row, 1)?.is_ok();
        let (name, declared) = (text(row, 0)?, text(row, 1)?);
        Ok((is_utf8, (name, declared, row.get::<_, bool>(2)?, row.get::<_, u32>(3)?, row.get::<_, u8>(4)?)))
    });
    let lines = unless_broken(entry, lines.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>))?;
    if let Some((_, (name, ..))) = lines.iter().find(|(is_utf8, _)| !is_utf8) {
        return Ok(Err(format!("the name or the type of its column `{name}` is not UTF-8")));
    }
    let lines: Vec<_> = lines.into_iter().map(|(_, line)| line).collect();
    let mut key: Vec<(u32, String)> =
        lines.iter().filter(|line| line.3 > 0).map(|line| (line.3, line.0.clone())).collect();
    key.sort();
    let (single, is_without_rowid) = (key.len() == 1, !key.is_empty() && entry.is_without_rowid());
    let column = |(name, declared, not_null, position, hidden): (String, String, bool, u32, u8)| {
        let sql_type = declared.trim_end_matches("GENERATED ALWAYS").trim_end().to_owned();
        // Only a rowid's other name and the key of a table without one exclude NULL on their own.
        let is_rowid = single && position > 0 && sql_type.eq_ignore_ascii_case("integer");
        let nullable = !(not_null || is_rowid || (is_without_rowid && position > 0));
        let extra = if hidden > 1 { vec![("generated".to_owned(), "true".to_owned())] } else { Vec::new() };
        Column { name, sql_type, nullable, comment: None, extra }
    };
    Ok(Ok((lines.into_iter().map(column).collect(), key.into_iter().map(|(_, name)| name).collect())))
}

/// Foreign keys; columns that the key leaves out are empty until [`close_keys`] knows the other table.
fn foreign_keys(connection: &Connection, table: &str) -> rusqlite::Result<Vec<ForeignKey>> {
    let sql = "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([table])?;
    let (mut keys, mut last) = (Vec::<ForeignKey>::new(), None);
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        if last.replace(id) != Some(id) {
            keys.push(ForeignKey { columns: Vec::new(), ref_table: text(row, 1)?, ref_columns: Vec::new() });
        }
        if let Some(key) = keys.last_mut() {
            key.columns.push(text(row, 2)?);
            if !matches!(row.get_ref(3)?, ValueRef::Null) {
                key.ref_columns.push(text(row, 3)?);
            }
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

/// The indexes of the schema, read in one go.
struct Declared {
    /// Tables that have any, in lower case.
    tables: HashSet<String>,
    /// Declarations by name.
    sql: HashMap<String, String>,
}

fn declared_indexes(connection: &Connection) -> rusqlite::Result<Declared> {
    let mut declared = Declared { tables: HashSet::new(), sql: HashMap::new() };
    let line = |row: &Row<'_>| Ok((text(row, 0)?.to_lowercase(), text(row, 1)?, text(row, 2)?));
    let sql = "SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'index'";
    for index in connection.prepare(sql)?.query_map([], line)? {
        let (table, name, sql) = index?;
        declared.tables.insert(table);
        declared.sql.insert(name, sql);
    }
    Ok(declared)
}

fn indexes(connection: &Connection, table: &str, declared: &Declared) -> rusqlite::Result<Vec<Index>> {
    let sql = "SELECT name, \"unique\", partial FROM pragma_index_list(?1, 'main') ORDER BY seq DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let line = |row: &Row<'_>| Ok((connect::name(row, 0)?, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?));
    let lines = statement.query_map([table], line)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut columns = connection.prepare_cached("SELECT name FROM pragma_index_info(?1, 'main') ORDER BY seqno")?;
    let mut indexes = Vec::with_capacity(lines.len());
    for (name, is_unique, partial) in lines {
        // No statement can name an index whose name is not UTF-8, and none needs to.
        let Ok(name) = name else { continue };
        let column = |row: &Row<'_>| match row.get_ref(0)? {
            ValueRef::Null => Ok("(expression)".to_owned()),
            _ => text(row, 0),
        };
        let columns = columns.query_map([&name], column)?.collect::<rusqlite::Result<Vec<_>>>()?;
        let predicate = declared.sql.get(&name).filter(|_| partial).and_then(|sql| condition(sql));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_whose_columns_cannot_be_read_now_is_not_taken_for_damaged() {
        crate::count_memory();
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE t(a)").unwrap();
        assert_eq!(read(&connection, None).unwrap().tables[0].columns.len(), 1);
        let columns = |connection: &Connection, kind| {
            let entry = Entry { name: "t".to_owned(), kind, sql: String::new() };
            columns(connection, &entry).map(|read| read.unwrap().0.len()).map_err(|error| error::code(&error))
        };
        for is_interrupted in [true, false] {
            connection.progress_handler(1, Some(move || is_interrupted)).unwrap();
            let expected = if is_interrupted { Err(Some(ErrorCode::OperationInterrupted)) } else { Ok(1) };
            assert_eq!(columns(&connection, "table"), expected);
            assert_eq!(columns(&connection, "virtual"), Ok(usize::from(!is_interrupted)));
        }
    }
}
