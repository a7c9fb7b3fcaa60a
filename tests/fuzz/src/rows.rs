//! Files of rows: comma-separated values and JSON Lines, as they are read into a private database.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use csv::{QuoteStyle, WriterBuilder};
use syrch_core::imports::{ImportCaps, Imported, Progress, ReadOptions};
use syrch_core::ports::{Database, DatabaseError, SqlQuery};
use syrch_core::{Limits, Value};
use syrch_tabular::TabularConfig;
use tokio::runtime::{Builder, Runtime};

/// Bytes and rows of a file at most.
const CAPS: ImportCaps = ImportCaps { bytes: 1 << 20, rows: 5_000 };
/// Columns of a table that is made of an input.
const COLUMNS: usize = 6;
/// The names of these.
const NAMES: [&str; COLUMNS] = ["one name", "two", "three", "four", "five", "six"];

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

/// A file that was read: what it has become, and its rows as texts.
struct Table {
    imported: Imported,
    rows: Vec<Vec<Value>>,
}

pub(crate) fn check_csv(input: &[u8]) {
    let _ = read("t.csv", input);
    check_written(input);
}

pub(crate) fn check_json_lines(input: &[u8]) {
    let read = read("t.jsonl", input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(table) = read
        && !text.starts_with('\u{feff}')
    {
        let lines = input.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.iter().all(u8::is_ascii_whitespace)).count();
        assert_eq!(table.imported.rows, lines as u64, "{text:?}");
    }
}

/// Reads a file, and checks that the database has as many rows as were counted.
fn read(name: &str, content: &[u8]) -> Result<Table, DatabaseError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("the file is written");
    let table = open(&path).inspect_err(|error| {
        let text = error.to_string();
        assert!(text.len() <= 4_000, "{} bytes: {text}", text.len());
    })?;
    let Table { imported, rows } = &table;
    assert_eq!(rows.len() as u64, imported.rows, "{content:?}");
    assert!(imported.columns.len() <= 2_000);
    let mut names: Vec<String> =
        imported.columns.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), imported.columns.len(), "{:?}", imported.columns);
    let left = fs::read_dir(folder.path()).expect("the folder is read").count();
    assert_eq!(left, 1, "reading a file wrote others");
    Ok(table)
}

fn open(path: &Path) -> Result<Table, DatabaseError> {
    let imported: Arc<Mutex<Option<Imported>>> = Arc::default();
    let report = Arc::clone(&imported);
    let limits = Limits { rows: CAPS.rows, ..Limits::default() };
    let config = TabularConfig {
        path: path.to_owned(),
        name: "t".to_owned(),
        tables: Vec::new(),
        limits,
        caps: CAPS,
        options: ReadOptions::default(),
        folder: None,
        retained_bytes: 0,
        retained: Duration::ZERO,
        progress: Some(Arc::new(move |progress: Progress<'_>| {
            if let Progress::Read(read) = progress {
                *report.lock().unwrap_or_else(PoisonError::into_inner) = Some(read.clone());
            }
        })),
    };
    let database = syrch_tabular::open(&config, &AtomicBool::new(false))?;
    let imported = imported.lock().unwrap_or_else(PoisonError::into_inner).take();
    let imported = imported.expect("what is open was read");
    // A table has more columns than an expression may have terms: they are cast one by one.
    let columns = imported
        .columns
        .iter()
        .take(COLUMNS)
        .map(|(name, _)| format!("CAST(\"{}\" AS TEXT)", name.replace('"', "\"\"")));
    let columns: Vec<String> = columns.collect();
    let sql = format!("SELECT {} FROM t", columns.join(", "));
    let rows = RUNTIME.block_on(database.run(&SqlQuery::new(sql.as_str())));
    let rows = rows.unwrap_or_else(|error| panic!("{error:?}: {sql}"));
    Ok(Table { imported, rows: rows.rows(0, u64::MAX) })
}

/// Writes a table of an input by the rules of RFC 4180, and checks that it is read with the same
/// rows, and with the same values where no note says what was changed.
fn check_written(input: &[u8]) {
    let text = String::from_utf8_lossy(input).replace('\0', " ");
    let written: Vec<Vec<&str>> = text.split('\n').take(50).map(split_cells).collect();
    let mut writer = WriterBuilder::new().quote_style(QuoteStyle::Always).from_writer(Vec::new());
    writer.write_record(NAMES).expect("a buffer takes bytes");
    for row in &written {
        writer.write_record(row).expect("a buffer takes bytes");
    }
    let file = writer.into_inner().expect("a buffer takes bytes");
    let shown = String::from_utf8_lossy(&file).into_owned();
    let Table { imported, rows } =
        read("t.csv", &file).unwrap_or_else(|error| panic!("{error}: {shown}"));
    if imported.notes.iter().any(|note| note.column.is_none()) {
        // A row of totals or a title is left out, which is said.
        return;
    }
    assert_eq!(rows.len(), written.len(), "{:?}: {shown}", imported.notes);
    for (at, (name, kind)) in imported.columns.iter().enumerate() {
        assert_eq!(name, NAMES[at], "{shown}");
        let is_noted = imported.notes.iter().any(|note| note.column.as_deref() == Some(name));
        if is_noted || !["TEXT", "INTEGER", "DATE"].contains(kind) {
            continue;
        }
        for (row, cells) in rows.iter().zip(&written) {
            // Blanks around the values of a column that is no text are no part of them.
            let text = if *kind == "TEXT" { cells[at] } else { cells[at].trim() };
            let expected = match text {
                "" => Value::Null,
                "-0" if *kind == "INTEGER" => Value::Text("0".to_owned()),
                text => Value::Text(text.to_owned()),
            };
            assert_eq!(row[at], expected, "{name} {kind}: {shown}");
        }
    }
}

/// The cells of a line, as many as there are columns.
fn split_cells(line: &str) -> Vec<&str> {
    line.split(',').chain(std::iter::repeat("")).take(COLUMNS).collect()
}
