//! The functions that the entries of the table name: they open the databases of each engine, and
//! ask it what `doctor` reports.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use secrecy::SecretString;
use syrch_adbc::{AdbcConfig, AdbcDatabase, duckdb_places, find_duckdb};
use syrch_core::ports::{Database, DatabaseError};
use syrch_core::types::{split_options, unquote_option};
use syrch_core::{DatabaseUrl, Limits};
use syrch_databricks::{DatabricksConfig, DatabricksEngine};
use syrch_postgres::{PostgresConfig, PostgresDatabase};
use syrch_spark::{SparkConfig, SparkEngine};
pub(crate) use syrch_sqlite::with_single_quotes;
use syrch_sqlite::{Journal, SqliteConfig, SqliteDatabase, ValueStore};
use syrch_sqlite_copies::{VariantConfig, VariantError, literals, make_variant, open_script};
use syrch_tabular::TabularConfig;

use super::{Condition, Copied, CopyRequest, OpenDatabase, ServerReport, database_name};
use crate::Error;
use crate::imports::{ImportProgress, ImportSettings};
use crate::settings::{DriverSettings, ServerSettings};

type Opened = Result<Arc<dyn Database>, DatabaseError>;

/// The name under which the configuration has DuckDB's library.
const DUCKDB: &str = "duckdb";

/// Opens a database by work that blocks.
async fn open_blocking(
    url: &DatabaseUrl,
    open: impl FnOnce() -> Result<SqliteDatabase, DatabaseError> + Send + 'static,
) -> Opened {
    let opened = tokio::task::spawn_blocking(open).await;
    Ok(Arc::new(opened.unwrap_or_else(|_| {
        let reason = "the thread that opens it failed".to_owned();
        Err(DatabaseError::Unavailable { path: url.to_string(), reason })
    })?))
}

/// Ends the reading of files when whoever waits for the database has left.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub(super) async fn open_tabular(database: OpenDatabase) -> Opened {
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

pub(super) fn tabular_condition(path: &Path) -> Condition {
    let sizes = syrch_tabular::sources(path)
        .into_iter()
        .filter_map(|file| Some(std::fs::metadata(file).ok()?.len()));
    let (count, bytes) = sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size));
    let files = syrch_core::text::count(count, "file");
    Condition { detail: format!("{files} of {} KiB", u64::div_ceil(bytes, 1024)), fix: None }
}

pub(super) async fn open_sqlite(database: OpenDatabase) -> Opened {
    let OpenDatabase { url, tables, limits, imports, .. } = database;
    let ImportSettings { folder, retained, retained_bytes, .. } = imports;
    let values = folder.map(|folder| ValueStore { folder, retained, retained_bytes });
    let config = SqliteConfig { tables, limits, values, ..SqliteConfig::new(url.path()) };
    open_blocking(&url, move || SqliteDatabase::open(config)).await
}

pub(super) async fn script(script: String, name: String, limits: Limits) -> Opened {
    open_blocking(&DatabaseUrl::parse(&name), move || open_script(&script, &name, limits)).await
}

/// Returns whether the address is the one that the user named. Only such an address gets
/// credentials of the environment.
fn is_named(url: &DatabaseUrl, servers: &ServerSettings) -> bool {
    servers.named.as_deref().map(DatabaseUrl::parse).as_ref() == Some(url)
}

/// Returns the configuration with which `psql` would connect to an address. What follows the scheme
/// is that of a URL, pairs such as `host=localhost dbname=shop`, or the name of a database.
pub(super) fn postgres_config(
    OpenDatabase { url, tables, limits, servers, .. }: OpenDatabase,
) -> PostgresConfig {
    let rest = url.rest();
    let given = if rest.starts_with("//") { format!("postgres:{rest}") } else { rest.to_owned() };
    let is_named = is_named(&url, &servers);
    PostgresConfig {
        is_on_command_line: is_named && servers.is_on_command_line,
        is_untrusted: !is_named,
        variables: servers.variables,
        os_user: servers.os_user.and_then(|name| name()),
        home: servers.home,
        tables,
        limits,
        ..PostgresConfig::new(given)
    }
}

pub(super) fn postgres_role(
    database: OpenDatabase,
    schemas: &[String],
) -> Result<String, DatabaseError> {
    syrch_postgres::role_sql_of(&postgres_config(database), schemas)
}

pub(super) async fn open_postgres(database: OpenDatabase) -> Opened {
    Ok(Arc::new(PostgresDatabase::open(postgres_config(database)).await?))
}

pub(super) async fn postgres_report(database: OpenDatabase) -> Result<ServerReport, DatabaseError> {
    let database = PostgresDatabase::open(postgres_config(database)).await?;
    let (version, how) = database.server().await?;
    let beyond_reading = database.role_findings().await?;
    Ok(ServerReport { detail: format!("PostgreSQL {version}, {how}"), beyond_reading })
}

pub(super) fn sqlite_copy(request: &CopyRequest) -> Result<Copied, Error> {
    let CopyRequest { source, target, seed, statements } = request;
    let config = VariantConfig {
        keep: literals(statements.iter().map(String::as_str)),
        ..VariantConfig::default()
    };
    let made = make_variant(source, target, *seed, &config).map_err(|error| match error {
        VariantError::Source(error) => Error::Database(error),
        error => {
            let cause = std::error::Error::source(&error)
                .map(|cause| format!(": {cause}"))
                .unwrap_or_default();
            Error::Config(format!("{error}{cause}"))
        }
    })?;
    Ok(Copied { rows: made.tables.values().sum(), skipped: made.skipped })
}

pub(super) fn sqlite_condition(path: &Path) -> Condition {
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

pub(super) fn size_condition(path: &Path) -> Condition {
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    Condition { detail: format!("a file of {} KiB", bytes.div_ceil(1024)), fix: None }
}

/// DuckDB's library is the driver `duckdb` of the configuration, or the one in the usual places of
/// its packages.
pub(super) async fn open_duckdb(database: OpenDatabase) -> Opened {
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

/// The address is the name of a driver of the configuration, and then options of the database with
/// semicolons between them.
pub(super) async fn open_adbc(database: OpenDatabase) -> Opened {
    let OpenDatabase { url, tables, limits, servers, .. } = database;
    let (name, options) = url.rest().split_once(';').unwrap_or((url.rest(), ""));
    let invalid = |reason: String| DatabaseError::Address { reason };
    // A driver decides by itself what it does with an address, so one that a suite names is not
    // opened.
    if !is_named(&url, &servers) {
        let reason = "a database of an ADBC driver is opened only where you name it yourself, by --db or in your configuration";
        return Err(invalid(reason.to_owned()));
    }
    let driver = servers.drivers.get(name).ok_or_else(|| {
        let known: Vec<&str> = servers.drivers.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        invalid(format!(
            "`{name}` is no driver of `drivers` in your configuration, which has {known}"
        ))
    })?;
    let mut options_of: BTreeMap<String, SecretString> = BTreeMap::new();
    for option in split_options(options).filter(|option| !option.trim().is_empty()) {
        let (key, value) = option.split_once('=').ok_or_else(|| {
            invalid("an option of the driver is not `name=value`: write `adbc:DRIVER;name=value;name=value`, and a value that has a semicolon in \
                 quotation marks".to_owned())
        })?;
        let is_quoted = value.starts_with(['"', '\'']);
        let value = if is_quoted { unquote_option(value) } else { Some(value.to_owned()) }
            .ok_or_else(|| {
                invalid(format!(
                    "the quotation mark before the value of `{}` has none after it",
                    key.trim()
                ))
            })?;
        options_of.insert(key.trim().to_owned(), value.into());
    }
    let DriverSettings { path, sha256, entrypoint, dialect } = driver.clone();
    let config = AdbcConfig {
        sha256: Some(sha256),
        entry: entrypoint,
        database: options_of,
        tables,
        limits,
        ..AdbcConfig::new(name, path, dialect)
    };
    Ok(Arc::new(AdbcDatabase::open(config).await?))
}

fn databricks_config(
    OpenDatabase { url, tables, limits, servers, .. }: OpenDatabase,
) -> DatabricksConfig {
    let is_named = is_named(&url, &servers);
    DatabricksConfig {
        is_on_command_line: is_named && servers.is_on_command_line,
        is_untrusted: !is_named,
        variables: servers.variables,
        tables,
        limits,
        ..DatabricksConfig::new(url.expose())
    }
}

pub(super) async fn open_databricks(database: OpenDatabase) -> Opened {
    Ok(Arc::new(syrch_databricks::open(databricks_config(database)).await?))
}

pub(super) async fn databricks_report(
    database: OpenDatabase,
) -> Result<ServerReport, DatabaseError> {
    let details = DatabricksEngine::new(&databricks_config(database))?.server().await?;
    let version = details.version.map(|version| format!(" {version}")).unwrap_or_default();
    let detail = format!(
        "Databricks SQL{version}, warehouse {}, as {}: guard tested, engine not tested",
        details.warehouse, details.user
    );
    Ok(ServerReport { detail, beyond_reading: details.beyond_reading })
}

pub(super) fn databricks_role(
    database: OpenDatabase,
    schemas: &[String],
) -> Result<String, DatabaseError> {
    syrch_databricks::role_sql_of(&databricks_config(database), schemas)
}

fn spark_config(OpenDatabase { url, tables, limits, servers, .. }: OpenDatabase) -> SparkConfig {
    let is_named = is_named(&url, &servers);
    SparkConfig {
        is_on_command_line: is_named && servers.is_on_command_line,
        is_untrusted: !is_named,
        variables: servers.variables,
        os_user: servers.os_user.and_then(|name| name()),
        tables,
        limits,
        ..SparkConfig::new(url.expose())
    }
}

pub(super) async fn open_spark(database: OpenDatabase) -> Opened {
    Ok(Arc::new(syrch_spark::open(spark_config(database)).await?))
}

pub(super) async fn spark_report(database: OpenDatabase) -> Result<ServerReport, DatabaseError> {
    let (version, how) = SparkEngine::connect(&spark_config(database)).await?.server().await?;
    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    let beyond_reading = vec![
        "guard tested, engine forbids nothing: Spark Connect has no users with rights of their own"
            .to_owned(),
    ];
    Ok(ServerReport { detail: format!("Spark{version}, {how}"), beyond_reading })
}
