//! The catalog: tables, views and virtual tables that the grant covers, read with pragmas in one
//! go.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use globset::GlobSet;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row};
use syrch_core::{Column, Dialect, ForeignKey, Index, Table};
use syrch_guard::{Kind, sets};

use crate::connect::{self, COLUMNS};
use crate::declaration;
use crate::error;
use crate::functions;
use crate::guard::Grant;

/// The tables and views of a database.
pub(crate) struct Schema {
    /// The tables and views that the grant covers and can be read.
    pub(crate) tables: Vec<Table>,
    pub(crate) grant: Grant,
    /// The width of the widest table, granted or not; views left out.
    pub(crate) columns: i32,
    /// Names of all tables and views that a grant could cover.
    pub(crate) names: Vec<String>,
    pub(crate) space: Space,
}

impl Schema {
    /// Takes tables or views out of the grant; names in lower case.
    pub(crate) fn hide<'a>(&mut self, hidden: impl IntoIterator<Item = &'a String>) {
        let hidden: HashSet<&String> = hidden.into_iter().collect();
        self.tables.retain(|table| !hidden.contains(&table.name.to_lowercase()));
        for name in hidden {
            self.grant.tables.remove(name);
            self.grant.others.insert(name.clone());
        }
    }
}

/// Bytes that the catalog may take. A declaration of a few bytes can repeat long names very often.
const CATALOG: usize = 64 << 20;

/// The bytes of [`CATALOG`] that are not taken yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space(usize);

impl Space {
    /// Takes so many bytes, or returns why it cannot.
    fn take(&mut self, bytes: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(bytes).ok_or_else(full)?;
        Ok(())
    }

    /// Takes all that is left.
    fn close(&mut self) {
        self.0 = 0;
    }

    pub(crate) fn is_closed(self) -> bool {
        self.0 == 0
    }
}

/// Returns the reason why something is left out for which no [`Space`] is left.
pub(crate) fn full() -> String {
    format!("the catalog would take more than {} MiB", CATALOG >> 20)
}

/// Bytes that names take in a list.
fn size<'a>(names: impl IntoIterator<Item = &'a String>) -> usize {
    names.into_iter().map(|name| size_of::<String>() + name.len()).sum()
}

/// A table or view of the schema.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// `table`, `view`, `virtual`, or `shadow` for a table in which a virtual table stores its
    /// content.
    pub(crate) kind: &'static str,
    /// The SQL text that declares it, from the schema's table.
    sql: String,
    /// The module of a virtual table, in lower case.
    module: Option<String>,
    /// True if the engine makes of the declaration what the schema's table states.
    is_as_declared: bool,
}

impl Entry {
    fn is_without_rowid(&self) -> bool {
        let has_word = self.sql.to_ascii_lowercase().contains("without");
        has_word
            && words(&self.sql)
                .rev()
                .take_while(|word| *word != ")")
                .any(|word| word.eq_ignore_ascii_case("without"))
    }
}

/// Tables of a schema whose rows are counted where there are no statistics of them.
const ESTIMATED: usize = 2_000;

/// Reads the schema. Views are granted by name here; whether what they read is granted too is for
/// the authorizer to say. A view has no columns here: the engine would have to compile it.
pub(crate) fn read(connection: &Connection, globs: Option<&GlobSet>) -> rusqlite::Result<Schema> {
    // Otherwise each of many short statements would take and give back the file's lock.
    let _reading = connection.unchecked_transaction()?;
    let entries = entries(connection)?;
    fn is_shadow(entry: &&Entry) -> bool {
        entry.kind == "shadow"
    }
    let visible: Vec<&Entry> = entries.iter().filter(|entry| !is_shadow(entry)).collect();
    let granted: Vec<&Entry> = visible
        .iter()
        .copied()
        .filter(|entry| globs.is_none_or(|globs| globs.is_match(&entry.name)))
        .collect();
    let mut grant = Grant::default();
    let statistics = statistics(connection)?;
    let declared = read_indexes(connection)?;
    let mut tables = Vec::with_capacity(granted.len());
    let mut estimates = ESTIMATED;
    let mut space = Space(CATALOG);
    for entry in granted {
        if !entry.is_as_declared {
            grant.refuse(
                &entry.name,
                "what the file says of it is not what its declaration makes".to_owned(),
            );
            continue;
        }
        let before = space;
        match table(connection, entry, &statistics, &declared, &mut estimates, &mut space)? {
            Ok(table) => {
                grant.tables.insert(entry.name.to_lowercase());
                tables.push(table);
            }
            Err(reason) => {
                grant.refuse(&entry.name, reason);
                space = before;
            }
        }
    }
    for name in entries.iter().map(|entry| entry.name.to_lowercase()).chain(modules(connection)?) {
        if !grant.tables.contains(&name) {
            grant.others.insert(name);
        }
    }
    grant.views = entries
        .iter()
        .filter(|entry| entry.kind == "view")
        .map(|entry| entry.name.to_lowercase())
        .collect();
    for entry in entries
        .iter()
        .filter(|entry| entry.module.as_ref().is_some_and(|module| module.starts_with("fts")))
    {
        grant.full_text.add(&entry.name, &entry.sql);
        if declaration::contents(&entry.sql).iter().any(|name| grant.views.contains(name)) {
            let name = entry.name.to_lowercase();
            if grant.tables.remove(&name) {
                grant.refuse(
                    &entry.name,
                    "its content is a view, whose searches nothing bounds".to_owned(),
                );
            }
            grant.others.insert(name);
        }
    }
    grant.shadows = entries
        .iter()
        .filter(is_shadow)
        .filter(|entry: &&Entry| {
            owner(&entry.name).is_some_and(|(owner, _)| grant.tables.contains(&owner))
        })
        .map(|entry| entry.name.to_lowercase())
        .collect();
    close_keys(&mut tables, &mut space);
    let names = visible.iter().map(|entry| entry.name.clone()).collect();
    Ok(Schema { tables, grant, columns: width(connection, &entries)?, names, space })
}

/// Tables and views in the order of their making. The schema's own table is read for it: the
/// engine's list of the tables compiles each view only to count its columns, and is a program whose
/// size is in proportion to the number of tables.
///
/// The engine compares kind and name with the declaration, letter case aside, and otherwise goes by
/// the declaration alone.
pub(crate) fn entries(connection: &Connection) -> rusqlite::Result<Vec<Entry>> {
    let sql = "SELECT CAST(name AS TEXT), CAST(type AS TEXT), CAST(rootpage AS INTEGER), CAST(sql \
               AS TEXT) FROM sqlite_schema WHERE lower(CAST(type AS TEXT)) IN ('table', 'view') \
               AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
    let mut entries = Vec::new();
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name = match connect::name(row, 0)? {
            Ok(name) => name,
            Err(name) => {
                tracing::warn!(name, "a table or view is left out: its name is not UTF-8");
                continue;
            }
        };
        let kind = text(row, 1)?;
        let sql = text(row, 3)?;
        let has_pages = row.get::<_, Option<i64>>(2)?.is_some_and(|page| page != 0);
        let declared = declaration::read(&sql);
        let made = declared.as_ref().map_or("", |declared| declared.kind);
        let is_kind = match made {
            "table" => kind == "table" && has_pages,
            "virtual" => kind == "table" && !has_pages,
            _ => kind == made && !has_pages,
        };
        let is_as_declared = is_kind
            && declared.as_ref().is_some_and(|declared| declared.declares(&name))
            // The engine's own word: it knows no views by this.
            && connection.table_exists(Some("main"), name.as_str())? == (made != "view");
        let kind = if matches!(made, "view" | "virtual") { made } else { "table" };
        entries.push(Entry {
            name,
            kind,
            sql,
            module: declared.and_then(|declared| declared.module),
            is_as_declared,
        });
    }
    let modules: HashMap<String, String> = entries
        .iter()
        .filter_map(|entry| Some((entry.name.to_lowercase(), entry.module.clone()?)))
        .collect();
    let is_shadow = |entry: &Entry| {
        owner(&entry.name).and_then(|(owner, suffix)| {
            Some(shadows(modules.get(&owner)?).contains(&suffix.as_str()))
        })
    };
    for entry in entries.iter_mut().filter(|entry| entry.kind == "table") {
        if is_shadow(entry) == Some(true) {
            entry.kind = "shadow";
        }
    }
    Ok(entries)
}

/// The virtual table that a shadow table with this name would belong to, and the rest of the name,
/// in lower case.
fn owner(name: &str) -> Option<(String, String)> {
    let (owner, suffix) = name.rsplit_once('_')?;
    Some((owner.to_lowercase(), suffix.to_lowercase()))
}

/// Returns the endings of the names of the tables that a module makes for itself.
fn shadows(module: &str) -> &'static [&'static str] {
    match module {
        "fts3" | "fts4" => &["content", "docsize", "segdir", "segments", "stat"],
        "fts5" => &["config", "content", "data", "docsize", "idx"],
        "rtree" | "rtree_i32" | "geopoly" => &["node", "parent", "rowid"],
        _ => &[],
    }
}

/// The columns of the widest table, granted or not, where that can be more than is allowed anyway.
/// Views are left out.
fn width(connection: &Connection, entries: &[Entry]) -> rusqlite::Result<i32> {
    // A column takes two bytes of a declaration at least. A virtual table may have a few more than
    // the table that it is about.
    let mut widest = 0;
    let mut count = connection.prepare("SELECT count(*) FROM pragma_table_xinfo(?1, 'main')")?;
    for entry in entries
        .iter()
        .filter(|entry: &&Entry| entry.kind != "view" && entry.sql.len() >= 2 * COLUMNS as usize)
    {
        widest = widest
            .max(unless_broken(entry, count.query_row([&entry.name], |row| row.get::<_, i32>(0)))?);
    }
    Ok(widest.saturating_add(8))
}

/// The tokens of a declaration.
fn words(sql: &str) -> impl DoubleEndedIterator<Item = &str> {
    syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX)
        .unwrap_or_default()
        .into_iter()
        .map(|token| token.text(sql))
}

/// Modules of virtual tables, which can be read by their own names; those that read only their
/// arguments left out.
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
    let mut most = HashMap::new();
    for entry in connection.prepare("SELECT tbl, stat FROM sqlite_stat1")?.query_map(
        [],
        |row: &Row<'_>| {
            let rows =
                text(row, 1)?.split(' ').next().and_then(|rows| rows.parse().ok()).unwrap_or(0);
            Ok((text(row, 0)?.to_lowercase(), rows))
        },
    )? {
        let (table, rows) = entry?;
        let known = most.entry(table).or_insert(rows);
        *known = rows.max(*known);
    }
    Ok(most)
}

/// Reads one table or view, or returns why it cannot be read.
fn table(
    connection: &Connection,
    entry: &Entry,
    statistics: &HashMap<String, u64>,
    declared: &Declared,
    estimates: &mut usize,
    space: &mut Space,
) -> rusqlite::Result<Result<Table, String>> {
    if let Err(reason) = space.take(size_of::<Table>() + entry.name.len()) {
        return Ok(Err(reason));
    }
    let is_view = entry.kind == "view";
    let read = if is_view { Ok(Default::default()) } else { columns(connection, entry, space)? };
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
    // The engine is asked only where there is something to report: a schema may have very many
    // tables.
    if entry.sql.to_ascii_lowercase().contains("references") {
        table.foreign_keys = foreign_keys(connection, &entry.name, space)?;
    }
    if entry.sql.to_ascii_lowercase().contains("check") {
        close_sets(&mut table, &entry.sql, space);
    }
    let name = entry.name.to_lowercase();
    if declared.tables.contains(&name) || entry.is_without_rowid() {
        table.indexes = indexes(connection, &entry.name, declared, space)?;
    }
    table.row_estimate = match statistics.get(&name) {
        Some(rows) => Some(*rows),
        None if *estimates == 0 => None,
        None => {
            *estimates -= 1;
            // A damaged table is reported when it is read, and the others stay usable.
            estimate(connection, entry).unwrap_or_default()
        }
    };
    Ok(Ok(table))
}

/// Notes the only texts that columns can have, by the constraints of the declaration.
fn close_sets(table: &mut Table, sql: &str, space: &mut Space) {
    for (name, values) in sets::read_declaration(sql) {
        let column =
            table.columns.iter_mut().find(|column| column.name.eq_ignore_ascii_case(&name));
        if let Some(column) = column.filter(|_| space.take(size(&values)).is_ok()) {
            column.set_values(values, 0);
        }
    }
}

/// The text that made a view.
pub(crate) fn declaration(connection: &Connection, view: &str) -> rusqlite::Result<String> {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?1";
    connection.query_row(sql, [view], |row| text(row, 0))
}

/// The columns of a view that was compiled, or why it cannot be read.
///
/// One for which there is no space takes all of it: the engine holds the columns of each view that
/// it has compiled, so no other is tried.
pub(crate) fn view_columns(
    connection: &Connection,
    name: &str,
    space: &mut Space,
) -> rusqlite::Result<Result<Vec<Column>, String>> {
    let entry = Entry { name: name.to_owned(), kind: "view", ..Entry::default() };
    Ok(columns(connection, &entry, space)?.map(|(columns, _)| columns))
}

/// The columns of a table, and the names of those of its primary key in its order.
type Columns = (Vec<Column>, Vec<String>);

/// Returns what was read of a table or view: nothing of a virtual table that cannot be connected,
/// of a view that cannot be compiled, and of what is damaged in the file. Any other error may be
/// gone when the schema is read again.
fn unless_broken<T: Default>(entry: &Entry, read: rusqlite::Result<T>) -> rusqlite::Result<T> {
    let is_damaged = |error| error::code(error) == Some(ErrorCode::DatabaseCorrupt);
    match read {
        Err(error) if matches!(entry.kind, "view" | "virtual") || is_damaged(&error) => {
            Ok(T::default())
        }
        read => read,
    }
}

/// The columns, or why they cannot be read. What is broken has none.
fn columns(
    connection: &Connection,
    entry: &Entry,
    space: &mut Space,
) -> rusqlite::Result<Result<Columns, String>> {
    let mut reason = None;
    let read = unless_broken(entry, lines(connection, entry, space, &mut reason))?;
    Ok(reason.map_or_else(|| Ok(build_columns(entry, read)), Err))
}

/// A column as the engine lists it: name, declared type, whether it excludes NULL, place in the
/// primary key, and whether it is hidden.
type Line = (String, String, bool, u32, u8);

/// The columns as far as they can be read; what is not readable for us is the `reason`.
fn lines(
    connection: &Connection,
    entry: &Entry,
    space: &mut Space,
    reason: &mut Option<String>,
) -> rusqlite::Result<Vec<Line>> {
    let sql = "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1, 'main') \
               ORDER BY cid";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([&entry.name])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        let is_utf8 = connect::name(row, 0)?.is_ok() && connect::name(row, 1)?.is_ok();
        let line: Line = (text(row, 0)?, text(row, 1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        // Only virtual tables have hidden columns.
        if line.4 == 1 && entry.kind != "virtual" {
            *reason = Some("the engine takes it for a virtual table".to_owned());
            break;
        }
        if line.4 == 1 {
            continue;
        }
        if !is_utf8 {
            *reason = Some(format!("the name or the type of its column `{}` is not UTF-8", line.0));
            break;
        }
        // The names of a primary key stand in the catalog twice.
        let names = size([&line.0, &line.1]) + if line.3 > 0 { size([&line.0]) } else { 0 };
        if let Err(full) = space.take(size_of::<Column>() + names) {
            space.close();
            *reason = Some(full);
            break;
        }
        lines.push(line);
    }
    Ok(lines)
}

fn build_columns(entry: &Entry, lines: Vec<Line>) -> Columns {
    let mut key: Vec<(u32, String)> =
        lines.iter().filter(|line| line.3 > 0).map(|line| (line.3, line.0.clone())).collect();
    key.sort();
    let single = key.len() == 1;
    let is_without_rowid = !key.is_empty() && entry.is_without_rowid();
    let has_descending = words(&entry.sql).any(|word| word.eq_ignore_ascii_case("desc"));
    (
        lines
            .into_iter()
            .map(|(name, declared, not_null, position, hidden): Line| {
                let sql_type = declared.trim_end_matches("GENERATED ALWAYS").trim_end().to_owned();
                // Only a rowid's other name and the key of a table without one exclude NULL on
                // their own. A descending key is no other name.
                let is_rowid = single
                    && position > 0
                    && sql_type.eq_ignore_ascii_case("integer")
                    && !has_descending;
                let nullable = !(not_null || is_rowid || (is_without_rowid && position > 0));
                let extra = if hidden > 1 {
                    vec![("generated".to_owned(), "true".to_owned())]
                } else {
                    Vec::new()
                };
                Column { name, sql_type, nullable, comment: None, extra }
            })
            .collect(),
        key.into_iter().map(|(_, name)| name).collect(),
    )
}

/// Different foreign keys; columns that the key leaves out are empty until [`close_keys`] knows the
/// other table.
fn foreign_keys(
    connection: &Connection,
    table: &str,
    space: &mut Space,
) -> rusqlite::Result<Vec<ForeignKey>> {
    // The engine lists the last one first, and would have to hold all of them to sort them.
    let sql = "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1, 'main')";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([table])?;
    let mut keys = Keys::default();
    let mut key = None;
    let mut last = None;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            // The engine lists them by a program that is the longer, the more there are.
            Err(error) if error::is_program(&error) => {
                tracing::warn!(table, "foreign keys are left out: the table has too many");
                break;
            }
            Err(error) => return Err(error),
        };
        let id: i64 = row.get(0)?;
        if last.replace(id) != Some(id) {
            let next = ForeignKey {
                columns: Vec::new(),
                ref_table: text(row, 1)?,
                ref_columns: Vec::new(),
            };
            if let Err(reason) = keys.add(key.replace(next), space) {
                tracing::warn!(table, reason, "foreign keys are left out");
                key = None;
                break;
            }
        }
        if let Some(key) = &mut key {
            key.columns.push(text(row, 2)?);
            if !matches!(row.get_ref(3)?, ValueRef::Null) {
                key.ref_columns.push(text(row, 3)?);
            }
        }
    }
    if let Err(reason) = keys.add(key, space) {
        tracing::warn!(table, reason, "a foreign key is left out");
    }
    keys.all.reverse();
    Ok(keys.all)
}

/// The foreign keys of one table, each once.
#[derive(Default)]
struct Keys {
    all: Vec<ForeignKey>,
    seen: HashSet<u64>,
    hasher: RandomState,
}

impl Keys {
    fn add(&mut self, key: Option<ForeignKey>, space: &mut Space) -> Result<(), String> {
        let Some(key) = key else { return Ok(()) };
        if self.seen.insert(self.hasher.hash_one((&key.columns, &key.ref_table, &key.ref_columns)))
        {
            let names = size(&key.columns) + size(&key.ref_columns) + key.ref_table.len();
            space.take(size_of::<ForeignKey>() + names)?;
            self.all.push(key);
        }
        Ok(())
    }
}

/// Drops keys to tables that are not granted, takes over their spelling, and fills in primary keys
/// that a declaration only implies.
fn close_keys(tables: &mut [Table], space: &mut Space) {
    let keys: HashMap<String, (String, Vec<String>)> = tables
        .iter()
        .map(|table| (table.name.to_lowercase(), (table.name.clone(), table.primary_key.clone())))
        .collect();
    for table in tables {
        let mut left_out = None;
        table.foreign_keys.retain_mut(|key| {
            let Some((name, primary_key)) = keys.get(&key.ref_table.to_lowercase()) else {
                return false;
            };
            key.ref_table.clone_from(name);
            if key.ref_columns.len() != key.columns.len() {
                if primary_key.len() != key.columns.len() {
                    return false;
                }
                if let Err(reason) = space.take(size(primary_key)) {
                    left_out = Some(reason);
                    return false;
                }
                key.ref_columns.clone_from(primary_key);
            }
            true
        });
        if let Some(reason) = left_out {
            tracing::warn!(table = table.name, reason, "foreign keys are left out");
        }
    }
}

/// The indexes of the schema, read in one go.
struct Declared {
    /// Tables that have any, in lower case.
    tables: HashSet<String>,
    /// The SQL texts of indexes by the names of the indexes.
    sql: HashMap<String, String>,
}

fn read_indexes(connection: &Connection) -> rusqlite::Result<Declared> {
    let mut declared = Declared { tables: HashSet::new(), sql: HashMap::new() };
    let sql = "SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'index'";
    for index in connection.prepare(sql)?.query_map([], |row: &Row<'_>| {
        Ok((text(row, 0)?.to_lowercase(), text(row, 1)?, text(row, 2)?))
    })? {
        let (table, name, sql) = index?;
        declared.tables.insert(table);
        declared.sql.insert(name, sql);
    }
    Ok(declared)
}

fn indexes(
    connection: &Connection,
    table: &str,
    declared: &Declared,
    space: &mut Space,
) -> rusqlite::Result<Vec<Index>> {
    let sql =
        "SELECT name, \"unique\", partial FROM pragma_index_list(?1, 'main') ORDER BY seq DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let lines = statement
        .query_map([table], |row: &Row<'_>| {
            Ok((connect::name(row, 0)?, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut columns = connection
        .prepare_cached("SELECT name FROM pragma_index_info(?1, 'main') ORDER BY seqno")?;
    let mut indexes = Vec::with_capacity(lines.len());
    for (name, is_unique, partial) in lines {
        // No statement can name an index whose name is not UTF-8, and none needs to.
        let Ok(name) = name else { continue };
        let columns = columns
            .query_map([&name], |row: &Row<'_>| match row.get_ref(0)? {
                ValueRef::Null => Ok("(expression)".to_owned()),
                _ => text(row, 0),
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let predicate = declared.sql.get(&name).filter(|_| partial).and_then(|sql| condition(sql));
        if let Err(reason) =
            space.take(size_of::<Index>() + size(columns.iter().chain([&name]).chain(&predicate)))
        {
            tracing::warn!(table, reason, "indexes are left out");
            break;
        }
        indexes.push(Index { name, columns, is_unique, method: None, predicate });
    }
    Ok(indexes)
}

/// The condition of a partial index, from its declaration.
fn condition(sql: &str) -> Option<String> {
    let tokens = syrch_guard::lex(sql, &Dialect::Sqlite, usize::MAX).ok()?;
    tokens
        .iter()
        .find(|token: &&syrch_guard::Token| {
            token.kind == Kind::Word && token.text(sql).eq_ignore_ascii_case("where")
        })
        .map(|token| sql[token.end..].trim().to_owned())
}

/// Estimates the number of rows, counted as far as that is cheap. It is never the greatest rowid:
/// where the key is an integer that is a cell, and the catalog is shown without the grant of rows.
fn estimate(connection: &Connection, entry: &Entry) -> rusqlite::Result<Option<u64>> {
    const COUNTED: u64 = 10_000;
    let sql = format!(
        "SELECT count(*) FROM (SELECT 1 FROM {} LIMIT {})",
        Dialect::Sqlite.quote(&entry.name),
        COUNTED + 1
    );
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
            let entry = Entry { name: "t".to_owned(), kind, ..Entry::default() };
            let read = columns(connection, &entry, &mut Space(CATALOG));
            read.map(|read| read.unwrap().0.len()).map_err(|error| error::code(&error))
        };
        for is_interrupted in [true, false] {
            connection.progress_handler(1, Some(move || is_interrupted)).unwrap();
            let expected =
                if is_interrupted { Err(Some(ErrorCode::OperationInterrupted)) } else { Ok(1) };
            assert_eq!(columns(&connection, "table"), expected);
            assert_eq!(columns(&connection, "virtual"), Ok(usize::from(!is_interrupted)));
        }
    }
}
