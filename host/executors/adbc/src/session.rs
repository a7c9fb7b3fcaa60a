//! The settings of connections by engine, so that they only read and take a bounded share of the
//! machine.

use std::path::Path;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use syrch_core::Dialect;

use crate::AdbcConfig;

/// Options of a DuckDB database that nothing may change: it only reads its one file, loads no
/// extension and stays as it is set up.
const DUCKDB: [(&str, &str); 6] = [
    ("access_mode", "READ_ONLY"),
    ("enable_external_access", "false"),
    ("autoinstall_known_extensions", "false"),
    ("autoload_known_extensions", "false"),
    ("allow_community_extensions", "false"),
    ("lock_configuration", "true"),
];

/// Options of a DuckDB database unless the configuration has others: without a folder for temporary
/// files nothing is written to disk, and a statement that needs more memory ends with an error.
const DUCKDB_DEFAULTS: [(&str, &str); 4] = [
    ("memory_limit", "1GB"),
    ("threads", "4"),
    ("temp_directory", ""),
    ("max_temp_directory_size", "0GB"),
];

/// Bytes of a batch of the PostgreSQL driver, roughly: its own default is 16 MiB.
const BATCH: &str = "1048576";

/// The options that a database is opened with. `file` is that of an embedded database, absolute and
/// without links.
pub(crate) fn options(config: &AdbcConfig, file: Option<&Path>) -> Vec<(String, SecretString)> {
    let mut options: Vec<(String, SecretString)> = Vec::new();
    let mut set = |name: &str, value: &str| {
        options.retain(|(known, _)| known != name);
        options.push((name.to_owned(), SecretString::from(value)));
    };
    if config.dialect == Dialect::Duckdb {
        for (name, value) in DUCKDB_DEFAULTS {
            set(name, value);
        }
    }
    for (name, value) in &config.database {
        set(name, value.expose_secret());
    }
    match (&config.dialect, file) {
        (Dialect::Duckdb, Some(file)) => {
            set("path", &file.to_string_lossy());
            for (name, value) in DUCKDB {
                set(name, value);
            }
        }
        (Dialect::Sqlite, Some(file)) => set("uri", &sqlite_uri(file)),
        _ => {}
    }
    options
}

/// A path as a URI that SQLite opens for reading.
fn sqlite_uri(file: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte))
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + "?mode=ro"
}

/// Options of a statement.
pub(crate) fn statement_options(
    dialect: &Dialect,
    sql: &str,
) -> &'static [(&'static str, &'static str)] {
    match dialect {
        // The driver reads results by COPY, which takes no plan.
        Dialect::Postgres if sql.starts_with("EXPLAIN ") => {
            &[("adbc.postgresql.use_copy", "false")]
        }
        Dialect::Postgres => &[("adbc.postgresql.batch_size_hint_bytes", BATCH)],
        _ => &[],
    }
}

/// Statements that set up a connection before the first one of a search.
pub(crate) fn setup(dialect: &Dialect, deadline: Duration) -> Vec<String> {
    match dialect {
        Dialect::Postgres => {
            let limit = deadline.as_millis().max(1).to_string();
            let settings = [
                ("default_transaction_read_only", "on"),
                ("search_path", "pg_catalog"),
                ("lock_timeout", "2s"),
                ("statement_timeout", limit.as_str()),
            ];
            let calls = settings
                .map(|(name, value)| format!("pg_catalog.set_config('{name}', '{value}', false)"));
            vec![format!("SELECT {}", calls.join(", "))]
        }
        _ => Vec::new(),
    }
}

/// The action that follows a statement on its connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum After {
    /// It is closed, since opening another one takes less than a millisecond.
    Close,
    /// These statements return it to the state in which it was opened, and then those of [`setup`]
    /// run again.
    Reset(Vec<String>),
}

pub(crate) fn statements_after(dialect: &Dialect) -> After {
    match dialect {
        Dialect::Duckdb | Dialect::Sqlite => After::Close,
        Dialect::Postgres => After::Reset(vec!["DISCARD ALL".to_owned()]),
        _ => After::Reset(Vec::new()),
    }
}

/// Returns true if every connection only reads, whatever the driver says of
/// `adbc.connection.readonly`.
pub(crate) fn only_reads(dialect: &Dialect) -> bool {
    matches!(dialect, Dialect::Duckdb | Dialect::Sqlite | Dialect::Postgres)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option_texts(config: &AdbcConfig, file: &str) -> Vec<(String, String)> {
        let options = options(config, Some(Path::new(file)));
        options.into_iter().map(|(name, value)| (name, value.expose_secret().to_owned())).collect()
    }

    #[test]
    fn the_configuration_changes_limits_of_duckdb_and_no_protection() {
        let mut config = AdbcConfig::duckdb("/opt/libduckdb.so", "shop.duckdb");
        for (name, value) in
            [("memory_limit", "8GB"), ("enable_external_access", "true"), ("path", "other.duckdb")]
        {
            config.database.insert(name.into(), value.into());
        }
        let options = option_texts(&config, "/data/shop.duckdb");
        let value = |wanted: &str| {
            let found: Vec<&str> = options
                .iter()
                .filter(|(name, _)| name == wanted)
                .map(|(_, value)| value.as_str())
                .collect();
            assert_eq!(found.len(), 1, "{wanted}: {found:?}");
            found[0]
        };
        assert_eq!(value("memory_limit"), "8GB");
        assert_eq!(value("temp_directory"), "");
        assert_eq!(value("path"), "/data/shop.duckdb");
        for (name, expected) in DUCKDB {
            assert_eq!(value(name), expected);
        }
    }

    #[test]
    fn sqlite_reads_its_file_by_a_uri_that_cannot_write() {
        let config = AdbcConfig {
            file: Some("x".into()),
            ..AdbcConfig::new("x", "/opt/a.so", Dialect::Sqlite)
        };
        let expected =
            [("uri".to_owned(), "file:/data/a%20b%3Fmode%3Drwc%23.sqlite?mode=ro".to_owned())];
        assert_eq!(option_texts(&config, "/data/a b?mode=rwc#.sqlite"), expected);
    }
}
