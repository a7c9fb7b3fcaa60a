//! SQLite: a file.

use std::path::Path;

use syrch_core::Dialect;
pub use syrch_sqlite::store::{clear, store_size};
pub(crate) use syrch_sqlite::with_single_quotes;
use syrch_sqlite::{Journal, SqliteConfig, SqliteDatabase, ValueStore};

use super::copies;
use super::entry::{Condition, Entry, FileEntry, OpenDatabase};
use super::open::{Opened, open_blocking};
use crate::imports::ImportSettings;

pub(super) static ENTRY: Entry = Entry {
    aliases: &[],
    summary: "a SQLite file",
    takes: "the path of a SQLite file",
    form: "PATH",
    dialect: Some(Dialect::Sqlite),
    telemetry: "sqlite",
    files: Some(FileEntry {
        endings: &["sqlite", "db", "sqlite3", "db3"],
        claims: |_| false,
        sources: |path| vec![path.to_owned()],
        name: |path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        beside: &["-wal", "-shm", "-journal"],
        content: &["-wal"],
        rescue: Some("sqlite3 FILE .recover"),
        condition: sqlite_condition,
        copy: copies::MAKE,
    }),
    server: None,
    open: |database| Box::pin(open_sqlite(database)),
};

async fn open_sqlite(database: OpenDatabase) -> Opened {
    let OpenDatabase { url, tables, limits, imports, .. } = database;
    let ImportSettings { folder, retained, retained_bytes, .. } = imports;
    let values = folder.map(|folder| ValueStore { folder, retained, retained_bytes });
    let config = SqliteConfig { tables, limits, values, ..SqliteConfig::new(url.path()) };
    open_blocking(&url, move || SqliteDatabase::open(config)).await
}

fn sqlite_condition(path: &Path) -> Condition {
    /// A write-ahead log of more bytes than this slows every reader down.
    const LARGE_LOG: u64 = 64 << 20;
    match Journal::read(path) {
        Journal::Rollback => Condition { detail: "rollback journal".to_owned(), fix: None },
        Journal::WriteAhead { bytes } => Condition {
            detail: format!("write-ahead log of {} KiB", bytes.div_ceil(1024)),
            fix: (bytes > LARGE_LOG)
                .then(|| format!("sqlite3 '{}' 'PRAGMA wal_checkpoint(TRUNCATE)'", path.display())),
        },
    }
}
