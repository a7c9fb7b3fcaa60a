//! DuckDB: a file, read by a library that is loaded.

use std::path::Path;
use std::sync::Arc;

use syrch_adbc::{AdbcConfig, AdbcDatabase, duckdb_places, find_duckdb};
use syrch_core::Dialect;
use syrch_core::ports::DatabaseError;

use super::entry::{Condition, Entry, FileEntry, OpenDatabase};
use super::open::Opened;
use crate::settings::DriverSettings;

/// The name under which the configuration has DuckDB's library.
const DUCKDB: &str = "duckdb";

pub(super) static ENTRY: Entry = Entry {
    aliases: &[],
    summary: "a DuckDB file",
    takes: "the path of a DuckDB file",
    form: "PATH",
    dialect: Some(Dialect::Duckdb),
    telemetry: "other_sql",
    files: Some(FileEntry {
        endings: &["duckdb", "ddb"],
        claims: |_| false,
        sources: |path| vec![path.to_owned()],
        name: |path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        beside: &[".wal"],
        content: &[".wal"],
        rescue: None,
        condition: size_condition,
        copy: None,
    }),
    server: None,
    open: |database| Box::pin(open_duckdb(database)),
};

/// DuckDB's library is the driver `duckdb` of the configuration, or the one in the usual places of
/// its packages.
async fn open_duckdb(database: OpenDatabase) -> Opened {
    let OpenDatabase { url, tables, limits, servers, .. } = database;
    let config = match servers.drivers.get(DUCKDB) {
        Some(DriverSettings { path, sha256, entrypoint, .. }) => {
            let config = AdbcConfig::duckdb(path, url.path());
            AdbcConfig {
                sha256: Some(sha256.clone()),
                entry: entrypoint.clone().or(config.entry.clone()),
                ..config
            }
        }
        None => {
            let places = duckdb_places(servers.home.as_deref());
            let library = find_duckdb(&places).ok_or_else(|| DatabaseError::Unavailable {
                path: url.to_string(),
                reason: "DuckDB's library was not found; docs/adbc.md says how to get it"
                    .to_owned(),
            })?;
            AdbcConfig::duckdb(library, url.path())
        }
    };
    Ok(Arc::new(AdbcDatabase::open(AdbcConfig { tables, limits, ..config }).await?))
}

fn size_condition(path: &Path) -> Condition {
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    Condition { detail: format!("a file of {} KiB", bytes.div_ceil(1024)), fix: None }
}
