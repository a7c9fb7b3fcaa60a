//! Files of rows: comma-separated values, JSON Lines and Parquet, read into a private SQLite file.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use syrch_core::Dialect;
use syrch_tabular::TabularConfig;

use super::database_name;
use super::entry::{Condition, Entry, FileEntry, OpenDatabase};
use super::open::{Opened, open_blocking};
use crate::imports::{ImportProgress, ImportSettings};

pub(super) static ENTRY: Entry = Entry {
    aliases: &[],
    summary: "files of rows (.csv, .tsv, .jsonl, .parquet; also a folder or a pattern of them)",
    takes: "files of rows (CSV, TSV, JSON Lines or Parquet; also a folder or a pattern of them)",
    form: "PATH",
    dialect: Some(Dialect::Sqlite),
    telemetry: "sqlite",
    files: Some(FileEntry {
        endings: &[],
        claims: syrch_tabular::is_tabular,
        sources: syrch_tabular::sources,
        name: syrch_tabular::name,
        beside: &[],
        content: &[],
        rescue: None,
        condition: tabular_condition,
        copy: None,
    }),
    server: None,
    open: |database| Box::pin(open_tabular(database)),
};

/// Ends the reading of files when whoever waits for the database has left.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn open_tabular(database: OpenDatabase) -> Opened {
    let OpenDatabase { url, tables, limits, imports, .. } = database;
    let ImportSettings { folder, retained, retained_bytes, caps, options, progress } = imports;
    let progress = progress.map(|ImportProgress(progress)| progress);
    let path = url.path();
    let name = database_name(&url);
    let config = TabularConfig {
        path,
        name,
        tables,
        limits,
        caps,
        options,
        folder,
        retained_bytes,
        retained,
        progress,
    };
    let cancelled = CancelOnDrop(Arc::default());
    let seen = Arc::clone(&cancelled.0);
    open_blocking(&url, move || syrch_tabular::open(&config, &seen)).await
}

fn tabular_condition(path: &Path) -> Condition {
    let sizes = syrch_tabular::sources(path)
        .into_iter()
        .filter_map(|file| Some(std::fs::metadata(file).ok()?.len()));
    let (count, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
    let files = syrch_core::text::count(count, "file");
    Condition { detail: format!("{files} of {} KiB", u64::div_ceil(bytes, 1024)), fix: None }
}
