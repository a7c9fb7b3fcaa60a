//! Reading: the schema's declarations, and a sample of each table's rows.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::RngExt;
use rand_pcg::Pcg64;
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};
use syrch_core::{Dialect, ForeignKey, Table};
use syrch_sqlite::bounded::{OpenFile, schema_text};

use crate::VariantError;
use crate::keys::key_text;
use crate::literals::RetainedLiterals;
/// Rows of a table that are looked at.
const SCANNED: usize = 100_000;
/// Time for reading all that is read.
const READING: Duration = Duration::from_secs(60);
/// The least share of a table's rows that is taken over.
const LEAST: f64 = 0.5;
/// The number of rows that are retained for each constant that stands in a column.
const PER_CONSTANT: u32 = 2;
/// The size limit of the rows and keys that are retained, of all tables together, in bytes.
const RETAINED: usize = 256 << 20;
/// The bytes that each cell counts beside its text or blob, and each key beside its text.
const CELL: usize = 16;
const KEY: usize = 24;

/// One declaration of the schema.
pub(crate) struct Declaration {
    /// `table`, `index` or `view`.
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) sql: String,
}

/// A sample of a table.
pub(crate) struct Sampled {
    pub(crate) name: String,
    /// The names of its columns, without those that are generated.
    pub(crate) columns: Vec<String>,
    pub(crate) primary_key: Vec<usize>,
    /// Columns of each other unique index; with an expression none of them is known, and the list
    /// is empty.
    pub(crate) unique: Vec<Vec<usize>>,
    pub(crate) foreign_keys: Vec<Reference>,
    pub(crate) rows: Vec<Vec<Value>>,
    /// The keys that others may refer to, over all rows that were looked at: by columns, their
    /// cells as [`key_text`].
    pub(crate) seen: BTreeMap<Vec<usize>, HashSet<String>>,
}

/// A foreign key of a table.
pub(crate) struct Reference {
    pub(crate) columns: Vec<usize>,
    /// The other table, in lower case.
    pub(crate) table: String,
    /// Its columns, in lower case.
    pub(crate) others: Vec<String>,
}

impl Sampled {
    /// The places of columns by their names; `None` if one is missing.
    pub(crate) fn places(&self, names: &[String]) -> Option<Vec<usize>> {
        names
            .iter()
            .map(|name: &String| {
                self.columns.iter().position(|column| column.eq_ignore_ascii_case(name))
            })
            .collect()
    }
}

/// The database, open for reading.
pub(crate) struct Source {
    path: PathBuf,
    connection: Connection,
    declarations: Vec<Declaration>,
    schema: Vec<Table>,
    skipped: Vec<String>,
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, VariantError> {
        let OpenFile { path, connection, tables, internal } = OpenFile::open(path, READING)?;
        let declarations = declarations(&connection, &internal)
            .map_err(|source| VariantError::Read { path: path.clone(), source })?;
        let (schema, others): (Vec<Table>, Vec<Table>) =
            tables.into_iter().partition(|table| table.extra.is_empty());
        let skipped =
            others.into_iter().filter(|table| !table.is_view()).map(|table| table.name).collect();
        Ok(Self { path, connection, declarations, schema, skipped })
    }

    pub(crate) fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    pub(crate) fn omissions(&self) -> Vec<String> {
        self.skipped.clone()
    }

    /// A sample of every table.
    pub(crate) fn tables(
        &mut self,
        retained: &RetainedLiterals,
        limit: usize,
        random: impl Fn(&str) -> Pcg64,
    ) -> Result<Vec<Sampled>, VariantError> {
        let mut tables = Vec::new();
        let mut space = Space(RETAINED);
        for table in &self.schema {
            let mut sampled = empty(table);
            // Keys that somebody refers to, and all that are one column: what refers to them may
            // not be declared.
            let of_others = self.schema.iter().flat_map(|other| &other.foreign_keys);
            let referred = of_others.filter(|key| key.ref_table.eq_ignore_ascii_case(&table.name));
            let names = referred.map(|key| &key.ref_columns).chain([&table.primary_key]);
            sampled.seen = names
                .filter_map(|names| sampled.places(names))
                .map(|at| (at, HashSet::new()))
                .collect();
            sampled.seen.remove(&Vec::new());
            let read = read_rows(
                &self.connection,
                &mut sampled,
                retained,
                limit,
                &mut space,
                &mut random(&table.name),
            );
            read.map_err(|source| VariantError::Read { path: self.path.clone(), source })?;
            tables.push(sampled);
        }
        Ok(tables)
    }
}

/// The declarations, without those of virtual tables and of the tables in which these store their
/// content, and without what is not UTF-8.
fn declarations(
    connection: &Connection,
    internal: &HashSet<String>,
) -> rusqlite::Result<Vec<Declaration>> {
    let sql = "SELECT type, name, sql, tbl_name FROM sqlite_schema WHERE sql IS NOT NULL \
               AND type IN ('table', 'index', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               ORDER BY rowid";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut declarations = Vec::new();
    while let Some(row) = rows.next()? {
        let parts = [0, 1, 2, 3].map(|column| schema_text(row, column).ok()?);
        if let [Some(kind), Some(name), Some(sql), Some(table)] = parts
            && !internal.contains(&table.to_lowercase())
        {
            declarations.push(Declaration { kind, name, sql });
        }
    }
    Ok(declarations)
}

fn empty(table: &Table) -> Sampled {
    fn is_generated(extra: &[(String, String)]) -> bool {
        extra.iter().any(|(key, _)| key == "generated")
    }
    let columns = table
        .columns
        .iter()
        .filter(|column| !is_generated(&column.extra))
        .map(|column| column.name.clone());
    let mut sampled = Sampled {
        name: table.name.clone(),
        columns: columns.collect(),
        primary_key: Vec::new(),
        unique: Vec::new(),
        foreign_keys: Vec::new(),
        rows: Vec::new(),
        seen: BTreeMap::new(),
    };
    sampled.primary_key = sampled.places(&table.primary_key).unwrap_or_default();
    let unique = table.indexes.iter().filter(|index| index.is_unique);
    sampled.unique =
        unique.map(|index| sampled.places(&index.columns).unwrap_or_default()).collect();
    sampled.unique.retain(|columns| *columns != sampled.primary_key);
    sampled.foreign_keys = table
        .foreign_keys
        .iter()
        .filter_map(|key: &ForeignKey| {
            let others = key.ref_columns.iter().map(|name| name.to_lowercase()).collect();
            Some(Reference {
                columns: sampled.places(&key.columns)?,
                table: key.ref_table.to_lowercase(),
                others,
            })
        })
        .collect();
    sampled
}

/// Bytes that are left for what is retained.
struct Space(usize);

impl Space {
    /// Takes so many bytes, and returns true, if they fit.
    fn take(&mut self, bytes: usize) -> bool {
        self.swap(0, bytes)
    }

    /// Takes so many bytes in the place of others, and returns true, if they fit.
    fn swap(&mut self, old: usize, new: usize) -> bool {
        let left = self.0.saturating_add(old).checked_sub(new);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Returns the number of bytes that a row counts.
fn bytes(row: &[Value]) -> usize {
    let of = |cell: &Value| match cell {
        Value::Text(text) => text.len(),
        Value::Blob(bytes) => bytes.len(),
        Value::Null | Value::Integer(_) | Value::Real(_) => 0,
    };
    row.iter().map(|cell| CELL + of(cell)).sum()
}

/// Fills in rows: a uniform sample (reservoir sampling, Vitter 1985) of those that are looked at,
/// and those with constants. Rows and keys for which there is no space are left out.
fn read_rows(
    connection: &Connection,
    table: &mut Sampled,
    retained: &RetainedLiterals,
    limit: usize,
    space: &mut Space,
    random: &mut Pcg64,
) -> rusqlite::Result<()> {
    if table.columns.is_empty() {
        return Ok(());
    }
    let columns =
        table.columns.iter().map(|name| Dialect::Sqlite.quote(name)).collect::<Vec<_>>().join(", ");
    let sql =
        format!("SELECT {columns} FROM {} LIMIT {SCANNED}", Dialect::Sqlite.quote(&table.name));
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut found = BTreeMap::new();
    let mut sample = Vec::new();
    let mut constants = Vec::new();
    let mut place = 0_usize;
    let mut ordinary = 0_usize;
    while let Some(row) = rows.next()? {
        let cells = (0..table.columns.len())
            .map(|at| row.get_ref(at).map(to_value))
            .collect::<Result<Vec<_>, _>>()?;
        for (columns, seen) in &mut table.seen {
            if let Some(key) = key_text(&cells, columns)
                && !seen.contains(&key)
                && space.take(KEY + key.len())
            {
                seen.insert(key);
            }
        }
        let size = bytes(&cells);
        if is_wanted(&cells, retained, &mut found) && constants.len() < limit {
            if space.take(size) {
                constants.push((place, cells));
            }
        } else {
            ordinary += 1;
            if sample.len() < limit {
                if space.take(size) {
                    sample.push((place, cells));
                }
            } else if let Some(old) = sample.get_mut(random.random_range(0..ordinary))
                && space.swap(bytes(&old.1), size)
            {
                *old = (place, cells);
            }
        }
        place += 1;
    }
    // A sample of the sample: small tables lose some rows too.
    let share = random.random_range(LEAST..1.0);
    let least = sample.len().min(4);
    sample.sort_by_key(|(place, _)| *place);
    let mut chosen: Vec<(usize, Vec<Value>)> = Vec::new();
    let total = sample.len();
    for (at, row) in sample.into_iter().enumerate() {
        if random.random_bool(share) || total - at + chosen.len() <= least {
            chosen.push(row);
        }
    }
    chosen.truncate(limit.saturating_sub(constants.len()));
    chosen.append(&mut constants);
    chosen.sort_by_key(|(place, _)| *place);
    table.rows = chosen.into_iter().map(|(_, row)| row).collect();
    Ok(())
}

/// Returns true if a row holds a constant of which its column has not enough yet.
fn is_wanted(
    cells: &[Value],
    retained: &RetainedLiterals,
    found: &mut BTreeMap<(usize, usize), u32>,
) -> bool {
    let mut is_wanted = false;
    for (column, cell) in cells.iter().enumerate() {
        for constant in retained.find_matches(cell) {
            let count = found.entry((column, constant)).or_default();
            is_wanted |= *count < PER_CONSTANT;
            *count += 1;
        }
    }
    is_wanted
}

fn to_value(cell: ValueRef<'_>) -> Value {
    match cell {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// A table of 400 rows of 1,000 bytes, of which so many bytes are retained.
    fn read(bytes: usize) -> Sampled {
        let connection = Connection::open_in_memory().unwrap();
        let script = "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO t SELECT i, printf('%01000d', i) FROM n;";
        connection.execute_batch(script).unwrap();
        let mut table = Sampled {
            name: "t".to_owned(),
            columns: vec!["id".to_owned(), "word".to_owned()],
            primary_key: vec![0],
            unique: Vec::new(),
            foreign_keys: Vec::new(),
            rows: Vec::new(),
            seen: [(vec![0], HashSet::new()), (vec![1], HashSet::new())].into(),
        };
        let retained = RetainedLiterals::new(&[]);
        let mut space = Space(bytes);
        let mut random = Pcg64::seed_from_u64(1);
        read_rows(&connection, &mut table, &retained, 100, &mut space, &mut random).unwrap();
        table
    }

    #[test]
    fn rows_and_keys_beyond_the_space_are_left_out() {
        let all = read(RETAINED);
        let few = read(20_000);
        assert!(all.rows.len() >= 40 && all.seen.values().all(|seen| seen.len() == 400));
        let rows: usize = few.rows.iter().map(|row| bytes(row)).sum();
        let keys: usize = few.seen.values().flatten().map(|key| KEY + key.len()).sum();
        assert!(!few.rows.is_empty() && rows + keys <= 20_000, "{rows} {keys}");
    }

    #[test]
    fn long_keys_are_shortened() {
        let table = read(RETAINED);
        assert!(table.seen[&vec![1]].iter().all(|key| key.len() < 100));
    }

    #[test]
    fn space_is_taken_and_swapped() {
        let mut space = Space(10);
        assert!(
            space.take(6)
                && !space.take(5)
                && space.swap(6, 10)
                && !space.take(1)
                && !space.swap(10, 11)
        );
        assert!(space.swap(10, 0) && space.take(10));
    }
}
